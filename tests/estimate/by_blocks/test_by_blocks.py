"""Estimates over blocks against the same in memory."""

from __future__ import annotations

import numpy as np
import pytest

from tests.classifier.large.conftest import documents
from widemargin import LinearSVM, Vectorizer
from widemargin._arrays import canonical_csr, row_squares
from widemargin.estimate.by_blocks.bounds import xi_alpha_by_blocks
from widemargin.estimate.by_blocks.folds import LEAST_DOCUMENTS, MOST_CELLS, MOST_DOCUMENTS, Folds
from widemargin.estimate.by_blocks.held_out import held_out_by_blocks
from widemargin.estimate.by_blocks.left_out import left_out_by_blocks, left_out_margins
from widemargin.estimate.by_blocks.task import BlockTask
from widemargin.estimate.cross_validation import scores_of_rule
from widemargin.estimate.training_rows import TrainingRows
from widemargin.estimate.xi_alpha import xi_alpha_of
from widemargin.labels import Labels
from widemargin.learn.costs import training_costs, upper_bounds
from widemargin.on_disk import build_store, count_run, merge_runs, write_run

TIGHT = {"tol": 1e-9, "max_iter": 20_000}


class Both:
    """A task on disk, and the same in memory with the rows in the order of the store."""

    def __init__(self, folder, kind, options, learner, block_entries=400):
        records = documents(150, kind)
        texts, labels = [r["text"] for r in records], [r["labels"] for r in records]
        vectorizer = Vectorizer(**options)
        runs = [write_run(count_run(vectorizer, texts, labels), folder / "run")]
        merged = merge_runs(runs, vectorizer, folder, memory=10**8)
        store = build_store(runs, merged, folder / "store", memory=10**8, block_entries=block_entries)
        self.learner = LinearSVM(**{**TIGHT, **learner})
        self.task = BlockTask(
            store, merged.fit(vectorizer), self.learner, merged.space, 10**9, None, merged.totals
        )
        keys = count_run(vectorizer, texts, labels).rows.keys
        order = np.argsort(keys, kind="stable")
        self.keys = keys[order]
        self.texts = [texts[i] for i in order]
        self.y = Labels.of_documents([tuple(labels[i]) for i in order])
        self.fitted = Vectorizer(**options)
        counts = self.fitted.fit_counts(self.texts)
        self.rows = TrainingRows(self.fitted.weighed(counts).matrix, self.y, self.texts, self.fitted, counts)
        self.machine = LinearSVM(**{**TIGHT, **learner}).fit(self.rows.X, self.y)


CASES = {
    "sets": ("sets", {}, {}),
    "classes": ("classes", {"min_df": 2, "ngram_range": (1, 2)}, {"bias": None}),
    "two": ("binary", {"min_count": 2}, {"loss": "squared_hinge", "C": 0.5}),
}


@pytest.fixture(scope="module", params=CASES)
def both(request, tmp_path_factory) -> Both:
    return Both(tmp_path_factory.mktemp("both"), *CASES[request.param])


def test_same_folds_give_the_same_scores(both):
    task, folds = both.task, Folds(100, 3, seed=5)
    found = held_out_by_blocks(task, folds, task.solve())
    fold = folds.numbers(both.keys, 0)
    assert np.array_equal(found.fold, fold[:100])
    assert np.array_equal(found.truth, both.y.signs[:100])
    for number in range(3):
        out = fold == number
        X = both.rows.without(out)
        expected = scores_of_rule(both.machine, X, both.y, (~out).astype(np.int64), out)
        np.testing.assert_allclose(found.scores[np.flatnonzero(out)], expected, atol=2e-3)


def test_hold_out_is_of_one_rule(both):
    folds = Folds(30, 1)
    found = held_out_by_blocks(both.task, folds, both.task.solve())
    assert found.method == "hold-out"
    out = np.arange(150) < 30
    X = both.rows.without(out)
    expected = scores_of_rule(both.machine, X, both.y, (~out).astype(np.int64), out)
    np.testing.assert_allclose(found.scores, expected, atol=2e-3)


def test_xi_alpha_bounds(both):
    table = xi_alpha_by_blocks(both.task, both.task.solve())
    expected = xi_alpha_of(both.machine, both.rows.X, both.y)
    for name in ("true_positive", "false_positive", "false_negative", "true_negative"):
        assert np.array_equal(getattr(table, name), getattr(expected, name))


def test_bounds_on_margins_hold(both):
    machine, y = both.machine, both.y
    exact = machine.left_out_scores(both.rows.X, y, accuracy=1e-3)
    alpha = machine.alpha_.reshape(len(y), -1)
    margins = y.signs * machine.decision_function(both.rows.X).reshape(len(y), -1)
    bias = 0.0 if machine.bias is None else machine.bias
    norms = row_squares(canonical_csr(both.rows.X))[:, None] + bias**2
    costs = training_costs(machine, y.space, y.signs, np.zeros(0))
    upper = upper_bounds(y.signs.T, costs, np.zeros(0)).T
    low, high = left_out_margins(alpha, margins, norms, upper, squared=machine.loss == "squared_hinge")
    found = y.signs * exact.scores
    slack = exact.accuracy + 1e-3
    assert (found >= low - slack).all()
    assert (found <= high + slack).all()
    assert (np.where(alpha == 0, low - margins, 0) == 0).all()
    assert (low < high).any()


def test_leave_one_out_by_blocks(both):
    task, folds = both.task, Folds(150, 10)
    solution = task.solve()
    by_folds = held_out_by_blocks(task, folds, solution)
    found = left_out_by_blocks(task, solution, folds, by_folds)
    exact = both.machine.left_out_scores(both.rows.X, both.y, as_new=both.rows.as_new())
    assert found.method == "leave-one-out"
    same = np.mean((found.scores > 0) == (exact.scores > 0))
    assert same >= np.mean((by_folds.scores > 0) == (exact.scores > 0))
    assert same > 0.9
    alpha = both.machine.alpha_.reshape(exact.scores.shape)
    free = alpha == 0
    assert free.any()
    np.testing.assert_allclose(found.scores[free], exact.scores[free], atol=0.01)


def test_sizes_of_samples():
    for n, n_columns in ((100, 3), (10**5, 3), (10**6, 20), (10**8, 20), (10**6, 5000), (1, 1)):
        folds = Folds.of(n, n_columns)
        assert folds.size <= min(n, MOST_DOCUMENTS)
        assert folds.size * n_columns <= max(MOST_CELLS, LEAST_DOCUMENTS * n_columns)
        assert folds.number >= 1
        # Every rule learns from most documents.
        assert n < 10 or folds.size / folds.number <= 0.16 * n
        held = Folds.of(n, n_columns, "hold-out")
        assert held.number == 1
        assert held.size <= max(0.2 * n, 1)


def test_folds_are_random_and_stable():
    keys = np.sort(np.random.default_rng(0).integers(0, 2**64 - 1, 20_000, dtype=np.uint64))
    folds = Folds(10_000, 10, seed=3)
    numbers = folds.numbers(keys, 0)
    assert (numbers[10_000:] == -1).all()
    assert np.bincount(numbers[:10_000], minlength=10).min() > 850
    assert np.array_equal(np.concatenate([folds.numbers(keys[:7], 0), folds.numbers(keys[7:], 7)]), numbers)
    assert not np.array_equal(Folds(10_000, 10, seed=4).numbers(keys, 0), numbers)
