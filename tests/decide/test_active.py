"""What to label next, against slow loops, against retraining, and on real topics."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import active as slow
from tests.reference import svm_dual
from widemargin.decide.active import (
    at_random,
    certainty,
    margin_change,
    next_to_label,
    relevance,
    uncertainty,
)
from widemargin.errors import DataError, UsageError


@st.composite
def collections(draw):
    """Values that differ and vectors with many angles of 0 and some rows of zeros."""
    n = draw(st.integers(1, 30))
    values = draw(st.permutations(range(n)))
    rows = draw(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=n, max_size=n))
    return np.array(values, dtype=float), np.array(rows, dtype=float)


@given(collections(), st.integers(1, 6), st.sampled_from([0.25, 0.5, 1.0]), st.booleans())
def test_every_pick_is_the_best_by_the_loops(documents, count, diversity, sparse):
    values, rows = documents
    chosen = next_to_label(
        values, count, sp.csr_array(rows) if sparse else rows, diversity=diversity
    ).tolist()
    assert len(chosen) == min(count, len(values))
    for number, pick in enumerate(chosen):
        worths = slow.worths(values.tolist(), rows.tolist(), chosen[:number], count, diversity)
        assert worths[pick] >= max(worths.values()) - 1e-9


@given(collections(), st.integers(1, 40), st.integers(0, 2**31), st.booleans())
def test_a_batch_holds_each_unknown_document_at_most_once(documents, count, seed, with_vectors):
    values, rows = documents
    known = np.random.default_rng(seed).random(len(values)) < 0.5
    chosen = next_to_label(values, count, rows if with_vectors else None, known=known, random_state=seed)
    assert len(set(chosen.tolist())) == len(chosen) == min(count, np.count_nonzero(~known))
    assert not known[chosen].any()


@given(collections(), st.integers(1, 6))
def test_without_diversity_the_values_decide(documents, count):
    values, rows = documents
    expected = np.argsort(-values)[:count].tolist()
    assert next_to_label(values, count).tolist() == expected
    assert next_to_label(values, count, rows, diversity=0).tolist() == expected
    assert next_to_label(values, count, rows)[0] == expected[0], "the first pick is the most valuable"


@given(collections(), st.sampled_from([0.25, 8.0]), st.integers(1, 6))
def test_neither_the_scale_nor_the_order_matters(documents, scale, count):
    values, rows = documents
    chosen = next_to_label(values, count, rows)
    assert next_to_label(scale * values, count, scale * rows).tolist() == chosen.tolist()
    order = np.random.default_rng(0).permutation(len(values))
    moved = next_to_label(values[order], count, rows[order])
    np.testing.assert_array_equal(values[order][moved], values[chosen])


def test_a_batch_avoids_repetition():
    rows = np.repeat(np.eye(4), 5, axis=0)
    values = np.arange(20.0)
    assert next_to_label(values, 4).tolist() == [19, 18, 17, 16], "all of one kind"
    assert sorted(i // 5 for i in next_to_label(values, 4, rows, diversity=0.9)) == [0, 1, 2, 3]


def test_chance_decides_between_equals_and_the_seed_fixes_it():
    chosen = [tuple(next_to_label(np.zeros(50), 5, random_state=seed)) for seed in (0, 0, 1)]
    assert chosen[0] == chosen[1] != chosen[2]
    np.testing.assert_array_equal(at_random(9, 3), at_random(9, 3))
    assert len(set(at_random(100, 1).round(12))) == 100


@given(st.lists(st.lists(st.floats(-3, 3), min_size=3, max_size=3), min_size=1, max_size=8))
def test_certainty_of_the_loops(table):
    for kind in ("multilabel", "multiclass"):
        expected = [slow.boundary_distance(row, kind == "multiclass") for row in table]
        assert certainty(table, kind).tolist() == pytest.approx(expected)
        np.testing.assert_array_equal(uncertainty(table, kind), -certainty(table, kind))


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=8))
def test_two_classes_in_one_column_or_in_two(scores):
    both = np.column_stack([scores, np.negative(scores)])
    assert certainty(scores).tolist() == pytest.approx(certainty(both, "multiclass").tolist())
    assert relevance(both).tolist() == pytest.approx(np.abs(scores).tolist())
    assert relevance(both, 0).tolist() == scores


@settings(max_examples=25)
@given(st.integers(0, 2**31), st.sampled_from([0.1, 1.0, 10.0]), st.booleans())
def test_margin_change_is_what_retraining_adds_at_least(seed, C, positive):
    """The objective of the machine that is trained with the document, minus that of the one without it."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(7, 4)).astype(float)
    y = np.where(rng.random(7) < 0.5, 1.0, -1.0)
    new, label = X[6], 1.0 if positive else -1.0
    before, w, _ = svm_dual.solve(X[:6], y[:6], np.full(6, C), bias=None)
    after, _, _ = svm_dual.solve(X, np.append(y[:6], label), np.full(7, C), bias=None)
    change = margin_change([new @ w], new[None], C=C, chances=[float(positive)])[0]
    assert -1e-9 <= change <= after - before + 1e-5 * (1 + after)


def test_margin_change_of_several_labels_is_their_sum():
    rng = np.random.default_rng(0)
    scores, X = rng.normal(size=(5, 3)), rng.random((5, 4))
    each = [margin_change(column, X, C=2.0) for column in scores.T]
    np.testing.assert_allclose(margin_change(scores, sp.csr_array(X), C=2.0), np.sum(each, axis=0))


def test_margin_change_weighs_the_two_labels_by_their_chances():
    X = np.array([[1.0]])
    for_sure = [margin_change([0.5], X, chances=[chance])[0] for chance in (0.0, 1.0)]
    assert margin_change([0.5], X, chances=[0.25])[0] == pytest.approx(
        0.75 * for_sure[0] + 0.25 * for_sure[1]
    )
    assert for_sure[1] == pytest.approx(0.5**2 / 2), "(7.17)"
    assert for_sure[0] == pytest.approx(1.5 - 0.5), "the multiplier ends at C"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: certainty([[np.nan]]), DataError, "NaN"),
        (lambda: certainty([1.0], "multiclass"), UsageError, "one column each"),
        (lambda: margin_change([1.0], np.eye(2)), UsageError, "1 rows of scores and 2 vectors"),
        (lambda: margin_change([1.0], np.eye(1), C=0), UsageError, "positive cost"),
        (lambda: margin_change([1.0], np.eye(1), chances=[2.0]), UsageError, "from 0 to 1"),
        (lambda: next_to_label([[1.0]]), DataError, "one finite value per document"),
        (lambda: next_to_label([1.0], 0), UsageError, "a count of at least 1"),
        (lambda: next_to_label([1.0], known=[True, False]), DataError, "one entry per document"),
    ],
)
def test_what_cannot_be_valued(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.needs_corpus("reuters21578")
def test_uncertain_documents_teach_more_than_random_ones(corpus):
    """Ten labels a round on 2,000 stories, acq against the rest, averaged over three beginnings."""
    from widemargin.learn.svm.linear_svm import LinearSVM
    from widemargin.measure import prbep
    from widemargin.weight.vectorizer import Vectorizer

    documents = corpus("reuters21578", "modapte").train
    X = Vectorizer().fit_transform(documents.texts[:2000])
    y = np.array([1 if "acq" in labels else -1 for labels in documents.labels[:2000]])
    quality = {"uncertainty": [], "random": []}
    for name, results in quality.items():
        for seed in range(3):
            known = np.zeros(len(y), dtype=bool)
            rng = np.random.default_rng(seed)
            known[[rng.choice(np.flatnonzero(y == sign)) for sign in (-1, 1)]] = True
            for _ in range(6):
                scores = LinearSVM(C=10).fit(X[known], y[known]).decision_function(X)
                values = uncertainty(scores) if name == "uncertainty" else at_random(len(y), rng)
                known[next_to_label(values, 10, X, known=known)] = True
            scores = LinearSVM(C=10).fit(X[known], y[known]).decision_function(X)
            results.append(float(prbep(y[~known], scores[~known])))
    assert np.mean(quality["uncertainty"]) > np.mean(quality["random"]) + 0.02, quality
