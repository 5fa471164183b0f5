"""Rules of the core against the same written out on dense data, and their readable form."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learn.trees.test_growing import NONE, tasks
from tests.reference import c45 as reference
from widemargin._arrays import canonical_csr
from widemargin.learn.trees.forest import Growing
from widemargin.learn.trees.rule_lists import RuleLists


def grown(X, positive, weights=NONE, **options):
    signs = np.where(positive, 1, -1).astype(np.int8)[:, None]
    return RuleLists.grown(canonical_csr(sp.csr_array(X)), signs, weights, Growing(**options), 1)


def flat(rules):
    """(conditions, n, positive) of the rules of the first list."""
    counts = zip(rules.n.tolist(), rules.positive.tolist(), strict=True)
    return [
        ([tuple(each) for each in rules.conditions(rule)], n, positive)
        for rule, (n, positive) in enumerate(counts)
    ]


@settings(max_examples=150)
@given(tasks(), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.25, 0.5]), st.booleans())
def test_the_same_rules_as_written_out(task, seed, confidence, weighted):
    X, positive = task
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 33, len(X)) / 8 if weighted else np.ones(len(X))
    options = {"min_objects": 1.0, "penalty": False}
    tree = reference.grow(X.astype(float), positive, weights, **options)
    expected = reference.rules(X.astype(float), positive, weights, tree, confidence)
    found = grown(X, positive, weights if weighted else NONE, confidence=confidence, **options)
    assert flat(found) == expected
    scores = found.scores(canonical_csr(sp.csr_array(X)), 1)[:, 0]
    for x, score in zip(X, scores, strict=True):
        fired = next(k for k, (kept, *_) in enumerate(expected) if reference.covered(x[None], kept)[0])
        assert score == found.rule_scores[fired]
        columns = np.flatnonzero(x)
        start, steps = found.steps(0, columns, x[columns])
        assert [tuple(step.condition) for step in steps] == expected[fired][0]
        assert (steps[-1].score if steps else start) == pytest.approx(score)


def test_a_condition_that_does_not_matter_is_dropped():
    """By hand: x0 decides, but the tree tests x1 first where all its examples are positive."""
    X = np.array([[1, 1]] * 6 + [[1, 0]] * 2 + [[0, 0]] * 8, dtype=float)
    positive = X[:, 0] > 0
    kept, rate = reference.generalized(
        X, positive, np.ones(16), [(1, False, 0.0), (0, True, 0.0)], True, 0.25
    )
    assert kept == [(0, True, 0.0)]  # 8 examples without error, not 2
    assert rate == pytest.approx(1 - 0.25 ** (1 / 8))
    words = [line.words("it", ["a", "b"].__getitem__, terms=True) for line in grown(X, positive).outline(0)]
    assert words == ['"a": it (8 of 8)', 'no "a": not it (0 of 8)', "otherwise: not it (8 of 16)"]


def test_rules_in_order_and_otherwise():
    """A rule that covers nothing new is left out."""
    rng = np.random.default_rng(0)
    X = (rng.random((400, 20)) < 0.3).astype(float)
    positive = (X[:, 0] > 0) & (X[:, 1] > 0) | (X[:, 2] > 0) & (X[:, 3] == 0)
    rules = grown(X, positive)
    lines = rules.outline(0)
    assert len(lines) > 4
    assert all(len(line.conditions) > 0 for line in lines[:-1])
    assert lines[-1].conditions == ()
    assert (rules.scores(canonical_csr(X), 1)[:, 0] > 0).tolist() == positive.tolist()
