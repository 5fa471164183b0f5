"""The whole diagnosis: what it holds for every kind of task, and what it refuses."""

from __future__ import annotations

import importlib
import json

import numpy as np
import pytest

import widemargin
from widemargin.diagnose.in_words import sections
from widemargin.diagnose.plotting import panels
from widemargin.documents.collection import Collection, Vectors
from widemargin.errors import DataError, DataWarning, UsageError


def in_text(found, **options):
    lines = []
    for section in sections(found, **options):
        lines += section.lines
        lines += [section.table.plain()] if section.table is not None else []
    return "\n".join(lines)


@pytest.fixture(scope="module")
def faulty(clean):
    """A copy with another label, ten wrong labels, a header, a rare label, empty and foreign documents."""
    texts, labels = clean(330, topics=3)
    labels = labels.copy()
    texts = [
        f"memo zxcvb {text}" if label == "topic-1" and i % 3 else text
        for i, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]
    wrong = list(range(0, 30, 3))  # of topic 0
    for i in wrong:
        labels[i] = "topic-2"
    french = [
        "la banque a dit que les taux ne sont pas dans la zone qui est prévue par le plan",
        "il est venu avec nous dans une ville qui ne se trouve pas sur les cartes de cette époque",
        "elle leur a dit que ce qui est dans le coffre n'est pas pour vous mais pour les autres",
    ]
    texts += [texts[300], *french, "", "? !"]
    labels += ["topic-1", "topic-0", "topic-1", "topic-2", "topic-0", "topic-1"]
    texts += [f"xylophone zither {word} harp" for word in ("loud", "soft", "old", "new")]
    labels += ["rare"] * 4
    return Collection([f"d{i}" for i in range(len(texts))], texts, [(label,) for label in labels]), wrong


@pytest.fixture(scope="module")
def found(faulty, clean):
    texts, labels = clean(60, seed=9)
    texts[1], labels[1] = faulty[0].texts[7], "topic-1"
    test = Collection([f"t{i}" for i in range(60)], texts, [(label,) for label in labels])
    return widemargin.diagnose(faulty[0], test=test)


class TestFaults:
    def test_sizes(self, found):
        assert (found.documents, found.test_documents, found.unlabeled, found.task) == (
            340,
            60,
            0,
            "multiclass",
        )

    def test_every_kind_of_advice(self, found):
        kinds = [advice.kind for advice in found.advice]
        assert kinds[:3] == ["leak", "give-away", "contradiction"]
        assert {"suspects", "empty", "language", "label"} <= set(kinds)

    def test_copies(self, found):
        assert [group.test for group in found.copies.leaks] == [["t1"]]
        assert [group.documents for group in found.copies.contradictory] == [["d300", "d330"]]

    def test_give_away(self, found):
        assert {(one.label, one.kind) for one in found.give_aways} == {("topic-1", "place")}
        assert found.give_aways[0].terms == ["memo", "zxcvb"]

    def test_wrong_labels(self, found, faulty):
        planted = {f"d{i}" for i in faulty[1]}
        suspected = [one.document for one in found.suspects if one.document in planted]
        assert len(suspected) >= 0.7 * len(planted)

    def test_documents_without_words_and_in_french(self, found):
        assert found.empty == ["d334", "d335"]
        assert found.languages.others == {"French": ["d331", "d332", "d333"]}

    def test_a_rare_label_is_not_enough_to_say(self, found):
        rare = found.categories[-1]
        assert (rare.label, rare.examples, rare.enough, rare.needed, rare.doubled) == (
            "rare",
            4,
            False,
            None,
            None,
        )
        assert rare.concept[0].startswith("not enough to say")
        assert rare.to_dict()["needed"] == "not enough to say"
        assert "not enough to say" in in_text(found)

    def test_every_label(self, found):
        for one in found.categories[:-1]:
            assert one.enough
            assert 0 <= one.now.low <= one.now.value <= one.now.high <= 1
            assert one.vocabulary > 100
            assert one.margin > 0
            assert one.error <= one.bounds["xi_alpha"] <= one.bounds["expected"] + 1e-6
            assert one.weighting in ("tfc", "txc")
            assert len(one.curve) == 4
        assert found.categories[:-1] == sorted(found.categories[:-1], key=lambda one: one.f1)

    def test_json(self, found):
        state = json.loads(json.dumps(found.to_dict()))
        assert [one["label"] for one in state["categories"]] == [str(one.label) for one in found.categories]
        assert len(state["advice"]) == len(found.advice)
        assert state["copies"]["leaked_exact"] + state["copies"]["leaked_near"] == 1

    def test_in_words(self, found):
        text = in_text(found, labels=2, described=["topic-1"])
        assert text.startswith("340 documents, 4 labels (one label per document)")
        assert "What to do next:\n  1. Remove 1 test document" in text
        assert "topic-1: 110" in text or "topic-1: 11" in text
        assert "words mark this category" in text
        assert "2 more labels: --top 4" in text
        with pytest.raises(UsageError, match="no such label"):
            in_text(found, described=["nothing"])

    def test_plot(self, found):
        curves, labels = panels(found)
        assert curves.lines[0].x[-1] < found.documents < curves.lines[1].x[-1]
        assert len(labels.lines[0].y) == 3


class TestClean:
    def test_no_alarm(self, clean):
        texts, labels = clean(600, topics=3, seed=4)
        healthy = widemargin.diagnose(texts[:450], labels[:450], texts[450:], labels[450:])
        assert healthy.copies.groups == []
        assert healthy.give_aways == []
        assert healthy.confusions == []
        assert not healthy.drift.found
        assert len(healthy.suspects) <= 0.01 * 450
        kinds = {advice.kind for advice in healthy.advice}
        assert kinds <= {"label", "suspects", "rethink"}

    def test_the_same_for_any_number_of_threads(self, clean):
        texts, labels = clean(150)
        one, two = (widemargin.diagnose(texts, labels, n_jobs=jobs).to_dict() for jobs in (1, 2))
        one.pop("seconds"), two.pop("seconds")
        assert one == two


class TestForms:
    def test_two_classes(self, clean):
        texts, labels = clean(200, topics=2)
        found = widemargin.diagnose(texts, labels)
        assert found.task == "binary"
        assert {one.label for one in found.categories} == {"topic-0", "topic-1"}
        assert found.confusions == []

    def test_label_sets(self, clean):
        texts, labels = clean(300)
        sets = [[label, "all"] if label != "topic-0" else [] for label in labels]
        found = widemargin.diagnose(texts, sets)
        assert found.task == "multilabel"
        assert {one.label for one in found.categories} == {"topic-1", "topic-2", "all"}

    def test_labels_to_merge(self, clean):
        texts, labels = clean(400, topics=2)
        generator = np.random.default_rng(0)
        labels = [label if label == "topic-0" else generator.choice(["left", "right"]) for label in labels]
        found = widemargin.diagnose(texts, labels)
        assert [(one.first, one.second) for one in found.confusions] == [("left", "right")]
        assert found.confusions[0].merged_f1 > found.confusions[0].f1 + 0.2
        assert any(advice.kind == "merge" and advice.labels == ["left", "right"] for advice in found.advice)

    def test_unlabeled_documents_are_left_out(self, clean):
        texts, labels = clean(150)
        with pytest.warns(DataWarning, match="10 of 150"):
            found = widemargin.diagnose(texts, [*labels[:140], *[None] * 10])
        assert (found.documents, found.unlabeled) == (140, 10)

    def test_test_labels(self, clean):
        texts, labels = clean(200)
        found = widemargin.diagnose(texts[:150], labels[:150], texts[150:], [None, *labels[151:]])
        assert found.test_documents == 50

    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize(
        ("texts", "labels"),
        [
            (["a b c", "d e f"], ["x", "y"]),
            (["a b c", "d e f", "g h"], [["x"], ["y"], []]),
            (["a b c d"] * 10 + ["a b c d e"] * 10, ["x", "y"] * 10),
            ([f"a b {word}" for word in "cdefgh"], list("uvwxyz")),
            ([f"a b {word}" for word in "cdefgh"], [["all", "some"], ["all"]] * 3),
            ([b"a b c", b"d e f", b"", b"g h"], [0, 1, 0, 1]),
        ],
    )
    def test_hardly_any_documents(self, texts, labels):
        found = widemargin.diagnose(texts, labels, texts[:2])
        assert found.documents == len(texts)
        assert found.copies.leaked >= 2
        assert json.dumps(found.to_dict())
        assert in_text(found)

    def test_all_documents_are_few(self):
        found = widemargin.diagnose(["wheat up", "oil down", "corn up", "gas down"], ["a", "b", "a", "b"])
        assert not any(one.enough for one in found.categories)

    def test_function_and_package_share_a_name(self, clean):
        texts, labels = clean(60)
        importlib.import_module("widemargin.diagnose.copies")
        from widemargin import diagnose

        assert diagnose(texts, labels).documents == 60
        assert widemargin.diagnose(texts, labels).documents == 60


class TestBadInput:
    def test_vectors(self):
        with pytest.raises(DataError, match="vectors"):
            widemargin.diagnose(np.eye(4), ["a", "b", "a", "b"])
        import scipy.sparse as sp

        rows = Vectors(["1", "2"], sp.csr_array(np.eye(2)), [("a",), ("b",)])
        with pytest.raises(DataError, match="vectors"):
            widemargin.diagnose(rows)
        with pytest.raises(DataError, match="vectors"):
            widemargin.diagnose(["a b", "c d"], ["a", "b"], np.eye(2))

    def test_one_class(self):
        with pytest.raises(DataError, match="one class"):
            widemargin.diagnose(["a", "b"], ["x", "x"])

    def test_no_labels(self):
        with pytest.raises(UsageError, match="target y is None"):
            widemargin.diagnose(["a", "b"])

    @pytest.mark.parametrize("target", [0, 1, 90, "high"])
    def test_target(self, target):
        with pytest.raises(UsageError, match="target"):
            widemargin.diagnose(["a", "b"], ["x", "y"], target=target)

    def test_test_set(self):
        with pytest.raises(UsageError, match="no test documents"):
            widemargin.diagnose(["a", "b"], ["x", "y"], None, ["x"])
        with pytest.raises(DataError, match="no documents"):
            widemargin.diagnose(["a", "b"], ["x", "y"], [])
        with pytest.raises(DataError, match="not a text"):
            widemargin.diagnose(["a", "b"], ["x", "y"], ["a", None])

    def test_no_words(self):
        with pytest.raises(DataError, match="no terms"):
            widemargin.diagnose(["!", "?"], ["x", "y"])
