"""What a report says, against the same figures found another way; its size, its bounds and its errors."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import widemargin
from tests.model_report.tasks import HOSTILE, documents
from widemargin import TextClassifier
from widemargin.classifier import Scorer
from widemargin.decide.sorted_scores import SortedScores
from widemargin.documents.collection import Collection
from widemargin.errors import DataError, UsageError
from widemargin.measure import contingency, f_measure, mcnemar
from widemargin.model_report.comparing import compare_models
from widemargin.model_report.copies import copies_across, copies_by_hash
from widemargin.model_report.errors import cases_of, confusions_of, doubts_of, explained_of
from widemargin.model_report.measuring import measure
from widemargin.model_report.reporting import LoadedModel, gather
from widemargin.model_report.tradeoffs import above_thresholds, calibrated, tradeoffs

PLAIN = {"tune": None, "estimate": None, "thresholds": None}
KINDS = ("binary", "multiclass", "multilabel")


@pytest.fixture(scope="module")
def measured(tasks):
    return {kind: measure(Scorer.load(task.model), task.test) for kind, task in tasks.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_every_threshold_does_what_its_row_says(measured, kind):
    found = measured[kind]
    truth = found.by_class(found.truth) > 0
    for j, one in enumerate(tradeoffs(found)):
        name = str(found.scorer.space.classes[j])
        assert one.now_given == int((found.by_class(found.chosen)[:, j] > 0).sum())
        for row in range(len(one.thresholds)):
            rule = found.scorer.rule.with_thresholds({name: one.thresholds[row]})
            decided = found.by_class(rule.choose(found.scores))[:, j] > 0
            assert (decided.sum(), (decided & truth[:, j]).sum()) == (one.given[row], one.hits[row])


@pytest.mark.parametrize("kind", KINDS)
def test_no_threshold_is_better_than_the_useful_ones(measured, kind):
    """For every number of hits, no other threshold assigns less often."""
    found = measured[kind]
    truth = found.by_class(found.truth) > 0
    values = above_thresholds(found)[0] if kind == "multiclass" else found.scorer.rule.by_label(found.scores)
    ranked = SortedScores.of(values, truth)
    for j, one in enumerate(tradeoffs(found)):
        best = {}
        for row in np.flatnonzero(ranked.cut[:, j]).tolist():
            best.setdefault(int(ranked.hits[row, j]), row)
        best.pop(0)
        assert dict(zip(one.hits, one.given, strict=True)) == best


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=12))
def test_how_far_a_class_is_ahead(rows):
    from widemargin.model_report.tradeoffs import _ahead

    preferences = np.array(rows, dtype=float)
    for row, found in zip(preferences, _ahead(preferences), strict=True):
        assert found.tolist() == [row[j] - max(np.delete(row, j)) for j in range(3)]


@pytest.mark.parametrize("kind", KINDS)
def test_confusions_count_every_document(measured, kind):
    found = measured[kind]
    cases = cases_of(found)
    cells = confusions_of(found, cases).cells
    truth, chosen = found.by_class(found.truth) > 0, found.by_class(found.chosen) > 0
    table = contingency(truth, chosen)
    for j in range(truth.shape[1]):
        assert len(cells.get((j, j), [])) == table.true_positive[j]
        missed = {i for (a, b), numbers in cells.items() if a == j != b for i in numbers}
        wrong = {i for (a, b), numbers in cells.items() if b == j != a for i in numbers}
        assert (len(missed), len(wrong)) == (table.false_negative[j], table.false_positive[j])
    if kind != "multilabel":
        assert sum(map(len, cells.values())) == len(truth)


def test_calibration(measured):
    found = measured["multilabel"]
    calibration = calibrated(found)
    chances = found.scorer.probabilities(found.collection, found.scores)
    assert calibration.of == "probability"
    assert sum(calibration.counts) == chances.size
    assert calibration.brier == pytest.approx(float(np.mean((chances - (found.truth > 0)) ** 2)))
    some = (chances >= 0.9).ravel()
    assert calibration.shares[-1] == pytest.approx((found.truth > 0).ravel()[some].mean(), abs=1e-4)
    assert calibration.middles == sorted(calibration.middles)


@pytest.mark.parametrize("kind", KINDS)
def test_explained_documents_are_what_they_say(measured, kind):
    found = measured[kind]
    labels = found.scorer.space.classes.tolist()
    explained = explained_of(found, labels)
    assert {one.why for one in explained} >= {"assigned by mistake", "right"}
    for one in explained:
        assert (one.label in one.truth) == (one.why != "assigned by mistake")
        assert (one.label in one.decided) == (one.why != "missed")
    assert len({one.name for one in explained}) == len(explained)


def test_doubts_contradict_the_labels(measured, tasks):
    found, test = measured["multiclass"], tasks["multiclass"].test
    doubts = doubts_of(found)
    assert doubts, "a tenth of the labels are wrong"
    for one in doubts:
        assert test.labels[test.ids.index(one.name)] == (one.given,)
        assert one.suggested != one.given
        assert one.margin >= 1
        assert one.text == test.texts[test.ids.index(one.name)]


def test_copies_across():
    train, test = documents(40, "binary", 3), documents(20, "binary", 4)
    test.texts[5] = train.texts[7]
    test.texts[6] = train.texts[8] + " indeed"
    found = copies_across(train, test)
    named = {(group.test[0], group.training[0]) for group in found.groups}
    assert (test.ids[5], train.ids[7]) in named
    assert found.documents >= 1


def test_copies_that_a_model_recognizes_by_hashes():
    train, test = documents(40, "binary", 3), documents(10, "binary", 4)
    test.texts[3], test.texts[7] = train.texts[5].upper(), train.texts[6]
    flat = [labels[0] for labels in train.labels]
    found = copies_by_hash(TextClassifier(**PLAIN).fit(train.texts, flat).scorer, test)
    assert [group.test for group in found.groups] == [[test.ids[3]], [test.ids[7]]]
    assert found.documents == 2
    forgets = TextClassifier(keep_hashes=False, **PLAIN).fit(train.texts, flat)
    assert copies_by_hash(forgets.scorer, test) is None


def test_two_models(tasks, measured):
    task = tasks["multilabel"]
    other = measure(Scorer.load(task.other), task.test)
    models = [LoadedModel(path, None) for path in (task.model, task.other)]
    reports = [gather(model, task.test, None, "t", 0, None)[0] for model in models]
    found = compare_models(measured["multilabel"], other, tuple(reports), "t")
    mine = measured["multilabel"]
    truth, a, b = mine.truth > 0, mine.chosen > 0, other.chosen > 0
    for j, row in enumerate(found.categories):
        assert row.first.value == pytest.approx(f_measure(contingency(truth[:, j], a[:, j])), abs=1e-6)
        assert row.second.value == pytest.approx(f_measure(contingency(truth[:, j], b[:, j])), abs=1e-6)
        assert row.p_value == mcnemar(a[:, j] == truth[:, j], b[:, j] == truth[:, j]).p_value
        assert row.corrected >= row.p_value
    right = [(truth == one).all(axis=1) for one in (a, b)]
    assert [one.first for one in found.overall[:1]] == [right[0].mean()]
    wins = [winner for winner, _, _ in found.apart]
    assert (wins.count(1), wins.count(2)) == ((right[0] & ~right[1]).sum(), (right[1] & ~right[0]).sum())
    for winner, case, decided in found.apart:
        assert sorted(case.truth) == sorted(decided)
        assert case.decided != case.truth
        assert winner in (1, 2)


def test_a_model_does_not_differ_from_itself(tasks, measured):
    task = tasks["multiclass"]
    report = gather(LoadedModel(task.model, None), task.test, None, "t", 0, None)[0]
    found = compare_models(measured["multiclass"], measured["multiclass"], (report, report), "t")
    assert all(one.better is None and one.p_value == 1 for one in found.overall)
    assert found.apart == []


def test_learning_curve_ends_at_the_model(tasks, measured):
    """With all documents, several classes are decided as the model decides them."""
    task = tasks["multiclass"]
    found, _ = gather(LoadedModel(task.model, None), task.test, task.train, "t", 0, None)
    assert found.learned.sizes == sorted(found.learned.sizes)
    assert found.learned.sizes[-1] == len(task.train)
    accuracy = measured["multiclass"].summary.accuracy
    assert found.learned.measures["micro-F1"][-1] == pytest.approx(accuracy, abs=0.02)
    without, _ = gather(LoadedModel(task.model, None), None, task.train, "", 0, None)
    assert "cross-validation" in without.learned.where


def test_without_test_documents_the_page_says_what_is_missing(tasks):
    page = widemargin.report(tasks["multilabel"].model).render()
    assert "need labeled test documents" in page
    assert "Estimated from 160 training documents by cross-validation." in page
    assert 'id="chooser"' not in page


def test_a_fitted_classifier_and_a_pair(tmp_path):
    train, test = documents(60, "multilabel", 5), documents(30, "multilabel", 6)
    classifier = TextClassifier(**PLAIN).fit(train.texts, train.labels)
    page = widemargin.report(classifier, (test.texts, test.labels))
    size = page.save(tmp_path / "page.html")
    content = (tmp_path / "page.html").read_bytes()
    assert len(content) == size
    shown = page._repr_html_()
    assert shown.startswith("<iframe")
    assert "<script" not in shown
    assert "the model was given in memory" in content.decode()


def test_vectors(tmp_path):
    import scipy.sparse as sp

    from widemargin.documents.collection import Vectors

    random = np.random.default_rng(0)
    X = sp.csr_array((random.random((80, 6)) > 0.5).astype(np.float32))
    labels = [(str(int(row)),) for row in X.toarray()[:, 0]]
    vectors = Vectors([str(i) for i in range(80)], X, labels)
    classifier = TextClassifier(**PLAIN).fit(X, [one[0] for one in labels])
    page = widemargin.report(classifier, vectors, train=vectors).render()
    assert "Precision and recall" in page


def test_a_hierarchy_and_costs_have_no_chooser():
    train = documents(120, "multiclass", 7)
    paths = [f"{'land' if labels[0] in ('grain', 'money') else 'sea'}/{labels[0]}" for labels in train.labels]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = TextClassifier(label_path="/", **PLAIN).fit(train.texts, paths)
        page = widemargin.report(tree, (train.texts, paths)).render()
        assert "decided together" in page
        flat = [labels[0] for labels in train.labels]
        names = sorted(set(flat))
        costs = {a: {b: float(i != j) for j, b in enumerate(names)} for i, a in enumerate(names)}
        by_cost = TextClassifier(costs=costs, **PLAIN).fit(train.texts, flat)
        page = widemargin.report(by_cost, (train.texts, flat)).render()
    assert "decides by costs between classes" in page
    assert 'id="chooser"' not in page


@pytest.mark.parametrize("learner", ["C45", "NearestNeighbors", "KernelSVM"])
def test_other_learners(learner):
    train = documents(60, "multiclass", 8)
    flat = [labels[0] for labels in train.labels]
    model = getattr(widemargin, learner)(**({"kernel": "rbf"} if learner == "KernelSVM" else {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier = TextClassifier(learner=model, **PLAIN).fit(train.texts, flat)
        page = widemargin.report(classifier, (train.texts, flat)).render()
    assert "Confusions" in page


def test_many_categories_and_documents_stay_small():
    """90 categories and 10,000 documents in less than 3 MB."""
    random = np.random.default_rng(0)
    names = [f"category {i}" for i in range(90)]
    words = [f"word{i}" for i in range(400)]
    texts, labels = [], []
    for _ in range(10_000):
        j = int(random.integers(90))
        own = [f"term{j}"] if random.random() < 0.6 else []
        texts.append(" ".join([*random.choice(words, 120), *own]))
        labels.append((names[j],))
    classifier = TextClassifier(**PLAIN).fit(texts[:2000], labels[:2000])
    test = Collection([f"document-{i}" for i in range(10_000)], texts, labels)
    page = widemargin.report(classifier, test)
    assert len(page.render().encode()) < 3_000_000


@pytest.mark.parametrize(
    ("test", "options", "error", "says"),
    [
        (None, {"other": "x.wm"}, UsageError, "needs test documents"),
        (([], []), {}, DataError, "no documents"),
        (3, {}, UsageError, "a pair of texts and labels"),
        ((["a"], [None]), {}, DataError, "has a label"),
    ],
)
def test_mistakes(tasks, test, options, error, says):
    with pytest.raises(error, match=says):
        widemargin.report(tasks["multilabel"].model, test, **options)


def test_something_else_is_no_model():
    with pytest.raises(UsageError, match="expected a model file"):
        widemargin.report(3)


def test_the_public_name_is_a_function_however_it_is_imported():
    import widemargin.report.tables
    from widemargin import report

    assert callable(report)
    assert callable(widemargin.report)
    assert widemargin.report.tables is not None


def test_data_cannot_end_its_element():
    from widemargin.report.html.page import data_json

    text = data_json({"labels": HOSTILE, "odd": "\ud800"})
    assert not re.search("[<>&\u2028\u2029\ud800]", text)
    assert json.loads(text)["labels"] == HOSTILE
