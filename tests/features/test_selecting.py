"""The transformer that keeps the best features."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from widemargin import LinearSVM, SelectFeatures
from widemargin._arrays import canonical_csr
from widemargin.errors import DataError, UsageError
from widemargin.features import selecting as features
from widemargin.features.kept_columns import KeptColumns
from widemargin.features.scores import SCORES, count_terms
from widemargin.labels import Labels


@parametrize_with_checks(
    [
        SelectFeatures(),
        SelectFeatures("df", 2),
        SelectFeatures("chi2", percentile=50, combine="round-robin"),
        SelectFeatures("gini", combine="joint", unit_length=True),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def task():
    rng = np.random.default_rng(3)
    X = sp.random_array((60, 40), density=0.2, rng=rng, format="csr")
    return X, [
        [f"l{c}" for c in np.flatnonzero(row)] for row in rng.random((60, 5)) < [0.5, 0.3, 0.2, 0.1, 0.05]
    ]


def test_labels_are_combined_as_said(task):
    X, y = task
    counts = count_terms(canonical_csr(X), Labels.of(y).signs)
    by_label = SCORES["ig"](counts)
    shares = counts.labels / counts.labels.sum()
    expected = {"max": by_label.max(axis=0), "sum": by_label.sum(axis=0), "average": shares @ by_label}
    for combine, scores in expected.items():
        selection = SelectFeatures("ig", 7, combine=combine).fit(X, y)
        np.testing.assert_allclose(selection.scores_, scores)
        best = np.sort(np.argsort(-scores, kind="stable")[:7])
        assert selection.get_support(indices=True).tolist() == best.tolist()


def test_labels_choose_in_turn(task):
    X, y = task
    by_label = SCORES["bns"](count_terms(canonical_csr(X), Labels.of(y).signs))
    chosen: list[int] = []
    for turn in range(40):
        for scores in by_label:
            wish = int(np.argsort(-scores, kind="stable")[turn])
            if wish not in chosen and len(chosen) < 9:
                chosen.append(wish)
    selection = SelectFeatures("bns", 9, combine="round-robin").fit(X, y)
    assert selection.get_support(indices=True).tolist() == sorted(chosen)


def test_many_labels_are_scored_some_at_a_time(task, monkeypatch):
    X, y = task
    whole = [SelectFeatures("chi2", 9, combine=c).fit(X, y) for c in ("max", "average", "sum", "round-robin")]
    monkeypatch.setattr(features, "_ENTRIES_AT_ONCE", 80)
    for selection in whole:
        parts = SelectFeatures("chi2", 9, combine=selection.combine).fit(X, y)
        np.testing.assert_allclose(parts.scores_, selection.scores_)
        assert (parts.get_support() == selection.get_support()).all()


def test_how_many_features_are_kept(task):
    X, y = task
    assert SelectFeatures("df", 10**6).fit_transform(X).shape == X.shape
    assert SelectFeatures("ig", percentile=10).fit_transform(X, y).shape[1] == 4
    frequent = SelectFeatures("df", threshold=12).fit(X)
    assert (frequent.get_support() == ((X != 0).sum(axis=0) >= 12)).all()
    with pytest.raises(DataError, match="the highest is"):
        SelectFeatures("df", threshold=61).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_features": 0}, "a number of features"),
        ({"n_features": 5, "percentile": 3}, "both set"),
        ({"percentile": 0}, "share"),
        ({"percentile": 101}, "expected a number"),
        ({"criterion": "best"}, "expected one of"),
        ({"combine": "min"}, "expected one of"),
        ({"combine": "joint"}, "one class per document"),
        ({"combine": "joint", "criterion": "odds"}, "no joint form"),
        ({"combine": "round-robin", "threshold": 1.0}, "pass n_features"),
    ],
)
def test_mistakes_are_told(task, parameters, message):
    with pytest.raises(UsageError, match=message):
        SelectFeatures(**parameters).fit(*task)


def test_labels_with_no_or_every_example_have_no_say():
    X = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]])
    y = np.array([[1, 0, 1], [1, 0, 1], [0, 0, 1], [0, 0, 1]])
    scores = SelectFeatures("odds").fit(X, y).scores_
    assert scores[0] > 0 > scores[1]
    assert scores[2] == 0


def test_in_front_of_a_learner_and_back_from_its_state(task):
    X, y = task
    model = make_pipeline(SelectFeatures("ig", 5), LinearSVM()).fit(X, y)
    assert model[1].coef_.shape == (5, 5)
    again = SelectFeatures.from_state(*model[0].get_state())
    assert (again.transform(X) != model[0].transform(X)).nnz == 0
    config, state = model[0].get_state()
    with pytest.raises(DataError, match=r"'columns' in arrays.safetensors"):
        SelectFeatures.from_state(config, {**state, "columns": state["columns"] + 36})


def test_what_is_left_of_a_document_may_have_length_one(task):
    X, y = task
    plain, scaled = (SelectFeatures("ig", 8, unit_length=unit).fit(X, y) for unit in (False, True))
    kept, lengths = plain.transform(X).toarray(), np.linalg.norm(plain.transform(X).toarray(), axis=1)
    assert 0 in lengths
    expected = kept / np.where(lengths > 0, lengths, 1)[:, None]
    np.testing.assert_allclose(scaled.transform(X).toarray(), expected)
    np.testing.assert_allclose(scaled.transform(X.toarray()), expected)
    np.testing.assert_allclose(KeptColumns.of(scaled).apply(canonical_csr(X)).matrix.toarray(), expected)
