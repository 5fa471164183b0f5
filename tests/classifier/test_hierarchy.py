"""A `TextClassifier` of labels that are paths."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from widemargin import (
    BalancedWinnow,
    KernelSVM,
    LinearSVM,
    MulticlassSVM,
    NaiveBayes,
    ProfileClassifier,
    TextClassifier,
    Vectorizer,
)
from widemargin.classifier import Scorer
from widemargin.errors import DataError, UsageError

WORDS = {
    "science/physics/optics": "lens light laser prism mirror",
    "science/physics": "mass energy force momentum gravity",
    "science/biology": "cell gene protein enzyme tissue",
    "sport/ball": "goal pitch kick referee league",
    "sport/water": "swim pool dive wave board",
    "news": "election minister vote law court",
}
rng = np.random.default_rng(1)
COMMON = "the and of a to in is it"
LABELS = [str(label) for label in rng.choice(list(WORDS), size=240)]


def text_of(*labels):
    words = " ".join([*(WORDS[label] for label in labels), COMMON])
    return " ".join(rng.choice(words.split(), size=14))


TEXTS = [text_of(label) for label in LABELS]
SETS = [
    sorted({label, str(rng.choice(list(WORDS)))}) if i % 3 == 0 else [label] for i, label in enumerate(LABELS)
]
SET_TEXTS = [text_of(*labels) for labels in SETS]
NEW = ["laser light and a lens", "force and energy", "the pool and a wave", "nothing known", ""]


@pytest.fixture(scope="module")
def single():
    return TextClassifier(label_path="/", estimate="leave-one-out", calibration="platt", tune=None).fit(
        TEXTS, LABELS
    )


@pytest.fixture(scope="module")
def several():
    classifier = TextClassifier(
        label_path="/", estimate="leave-one-out", thresholds="f1", calibration="platt", tune=None
    )
    return classifier.fit(SET_TEXTS, SETS)


def test_one_path_per_document(single):
    found = single.predict(NEW)
    assert found.tolist()[:3] == ["science/physics/optics", "science/physics", "sport/water"]
    assert set(single.predict(TEXTS).tolist()) <= set(LABELS)
    assert single.classes_.tolist() == sorted({*WORDS, "science", "sport", "science/physics/"}, key=str)
    assert single.score(TEXTS, LABELS) > 0.95


def test_one_path_is_what_separate_classes_choose(single):
    # The nodes of a tree are label sets to the learner.
    flat = TextClassifier(learner=LinearSVM(balance=0.15), tune=None, estimate=None).fit(TEXTS, LABELS)
    leaves = single.rule_.candidates
    assert [label for _, label in leaves] == sorted(WORDS)
    columns = [column for column, _ in leaves]
    scores = single.decision_function(NEW)[:, columns]
    np.testing.assert_allclose(scores, flat.decision_function(NEW), atol=0.02)
    np.testing.assert_array_equal(single.predict(TEXTS), flat.predict(TEXTS))


def test_label_sets(several):
    found = several.predict(NEW)
    assert found[:3] == [("science/physics/optics",), ("science/physics",), ("sport/water",)]
    for labels in several.predict(SET_TEXTS):
        assert not any(other.startswith(label + "/") for label in labels for other in labels)
    assert several.rule_.hierarchy.name == "max-sum"
    assert several.classes_.tolist() == sorted({*WORDS, "science", "sport"})


@pytest.mark.parametrize("which", ["single", "several"])
def test_a_loaded_model_decides_the_same(which, request, tmp_path):
    classifier = request.getfixturevalue(which)
    path = tmp_path / "m.wm"
    classifier.save(path)
    loaded, scorer = TextClassifier.load(path), Scorer.load(path)
    texts = TEXTS + SET_TEXTS + NEW
    expected = classifier.rule_.label_lists(classifier.decision_function(texts))
    for other in (loaded.scorer, scorer):
        assert other.rule.label_lists(other.scores(texts)) == expected
        np.testing.assert_array_equal(other.probabilities(texts), classifier.predict_proba(texts))
    assert (loaded.label_path, loaded.hierarchy) == ("/", classifier.rule_.hierarchy.name)
    assert loaded.training_summary_["levels"] == classifier.training_summary_["levels"]
    again = clone(loaded).fit(TEXTS, LABELS) if which == "single" else clone(loaded).fit(SET_TEXTS, SETS)
    assert again.rule_.label_lists(again.decision_function(texts)) == expected
    again.save(tmp_path / "again.wm")
    assert (tmp_path / "again.wm").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("which", ["single", "several"])
def test_estimates_by_level_are_those_of_consistent_held_out_decisions(which, request):
    classifier = request.getfixturevalue(which)
    summary = classifier.training_summary_
    levels = {level["level"]: level for level in summary["levels"]}
    assert list(levels) == ["1", "2", "3", "all", "most specific"]
    assert [levels[k]["labels"] for k in "123"] == [3, 4, 1]
    accuracy = summary["estimates"]["accuracy"]["value"]
    assert levels["all"]["right"] == levels["most specific"]["right"] == pytest.approx(accuracy, abs=1e-6)
    # A document is wrong on the way down if it is wrong above.
    if which == "single":
        flat = TextClassifier(estimate="leave-one-out", tune=None).fit(TEXTS, LABELS).training_summary_
        assert accuracy == pytest.approx(flat["estimates"]["accuracy"]["value"], abs=0.02)
        assert levels["1"]["right"] >= accuracy
        assert all(row["threshold"] is None for row in summary["estimates"]["labels"])
    assert summary["hierarchy"] == {
        "separator": "/",
        "levels": 3,
        "labels": 8,
        "one_path": which == "single",
        "rule": "bottom-up" if which == "single" else "max-sum",
    }


def test_suspects_of_one_path_are_whole_paths():
    labels = list(LABELS)
    wrong = LABELS.index("sport/ball")
    labels[wrong] = "science/physics"
    found = TextClassifier(label_path="/", estimate="leave-one-out", tune=None).fit(TEXTS, labels)
    first = found.training_summary_["suspects"][0]
    assert (first["document"], first["given"], first["suggested"]) == (wrong, "science/physics", "sport/ball")


def test_explanations_are_of_nodes(single):
    found = single.explain("laser light and a lens")
    assert found.label == "science/physics/optics"
    inner = single.explain("laser light and a lens", "science")
    assert inner.label == "science"
    assert inner.score > 0
    assert single.top_terms("science", 5).positive


@pytest.mark.parametrize("rule", ["bottom-up", "top-down", "max-sum"])
@pytest.mark.parametrize(
    "learner",
    [LinearSVM(), NaiveBayes(), KernelSVM(kernel="rbf"), BalancedWinnow()],
    ids=lambda x: type(x).__name__,
)
def test_rules_and_learners(rule, learner):
    classifier = TextClassifier(
        learner=learner, label_path="/", hierarchy=rule, tune=None, estimate=None
    ).fit(SET_TEXTS, SETS)
    tree = classifier.rule_.hierarchy.tree
    chosen = classifier.rule_.choose(classifier.decision_function(SET_TEXTS + NEW)) > 0
    np.testing.assert_array_equal(tree.with_ancestors(chosen), chosen)
    one = TextClassifier(learner=learner, label_path="/", hierarchy=rule, tune=None, estimate=None).fit(
        TEXTS, LABELS
    )
    assert one.score(TEXTS, LABELS) > 0.9


@pytest.mark.parametrize("goal", ["precision:0.5", "recall:0.5", "f1-per-label", "cost:1,2", "proportional"])
@pytest.mark.filterwarnings("ignore:No threshold promises:widemargin.errors.DataWarning")
def test_goals(goal):
    classifier = TextClassifier(label_path="/", thresholds=goal, tune=None, estimate=None).fit(
        SET_TEXTS, SETS
    )
    tree = classifier.rule_.hierarchy.tree
    chosen = classifier.rule_.choose(classifier.decision_function(SET_TEXTS)) > 0
    np.testing.assert_array_equal(tree.with_ancestors(chosen), chosen)


def test_bounds_are_of_nodes():
    found = (
        TextClassifier(label_path="/", estimate="xi-alpha", tune=None).fit(TEXTS, LABELS).training_summary_
    )
    assert "levels" not in found
    assert any("each node's own machine" in note for note in found["estimates"]["notes"])


@pytest.mark.parametrize("method", ["hold-out", "bootstrap-632", "k-fold"])
def test_other_estimates_decide_along_the_tree(method, single):
    found = TextClassifier(label_path="/", estimate=method, tune=None).fit(TEXTS, LABELS).training_summary_
    accuracy = single.training_summary_["estimates"]["accuracy"]["value"]
    assert found["estimates"]["accuracy"]["value"] == pytest.approx(accuracy, abs=0.08)
    assert ("levels" in found) == (method != "bootstrap-632")


def test_tuning():
    classifier = TextClassifier(label_path="/", tune=1.0, estimate="k-fold").fit(TEXTS, LABELS)
    assert classifier.score(TEXTS, LABELS) > 0.95


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"hierarchy": "top-down"}, "Pass label_path"),
        ({"label_path": "/", "hierarchy": "sideways"}, "expected one of auto"),
        ({"label_path": ""}, "label_path=''"),
        ({"label_path": "/", "thresholds": "f1"}, "every document gets one path"),
        ({"label_path": "/", "calibration": "length"}, "Use platt or isotonic"),
        ({"label_path": "/", "learner": MulticlassSVM()}, "MulticlassSVM chooses one.*LinearSVM"),
        ({"label_path": "/", "learner": ProfileClassifier()}, "ProfileClassifier chooses one.*LinearSVM"),
        ({"label_path": "/", "learner": KernelSVM(scheme="pairwise")}, "KernelSVM chooses one.*LinearSVM"),
    ],
)
def test_what_does_not_apply_is_refused(parameters, error):
    with pytest.raises(UsageError, match=error):
        TextClassifier(**parameters).fit(TEXTS, LABELS)


def test_bad_paths_are_refused():
    with pytest.raises(DataError, match="Document 0: the label 'news//' has an empty part"):
        TextClassifier(label_path="/", tune=None, estimate=None).fit(TEXTS, ["news//", *LABELS[1:]])
    with pytest.raises(DataError, match=r"None of the 6 labels .* contains '>'"):
        TextClassifier(label_path=">", tune=None, estimate=None).fit(TEXTS, LABELS)
    with pytest.raises(UsageError, match="`label_path` requires all documents at once"):
        TextClassifier(
            Vectorizer(n_hashed=64, weighting="sxx"), BalancedWinnow(), label_path="/", estimate=None
        ).partial_fit(TEXTS, LABELS)
