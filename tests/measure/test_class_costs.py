"""Costs between classes: forms and refusals, the average cost, and the coverage of its interval."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import class_costs as reference
from widemargin.errors import DataError, DataWarning, MissingFileError, UsageError
from widemargin.measure import AverageCost, ClassCosts, average_cost, contingency, cost, cost_interval

MATRIX = [[0.0, 10.0, 2.5], [1.0, 0.0, 3.0], [4.0, 5.0, 0.0]]
NAMES = ["ham", "spam", "été, 1"]
FILES = {
    "matrix.csv": 'truth,ham,spam,"été, 1"\nham,0,10,2.5\nspam,1,,3\n\n"été, 1",4,5,0\n',
    "other-order.csv": '"","été, 1",spam,ham\nspam,3,0,1\n"été, 1",0,5,4\nham,2.5,10,0\n',
    "matrix.tsv": "\tham\tspam\tété, 1\nham\t0\t10\t2.5\nspam\t1\t0\t3\nété, 1\t4\t5\t0\n",
    "semicolons.csv": ";ham;spam;été, 1\r\nham;0;10;2.5\r\nspam;1;0;3\r\nété, 1;4;5;0\r\n",
    "list.csv": '\ufefftruth,decision,cost\nham,spam,10\nham,"été, 1",2.5\nspam,ham,1\n'
    'spam,"été, 1",3\n"été, 1",ham,4\n"été, 1",spam,5\n',
    "list.tsv": "Cost\tTruth\tDecision\n10\tham\tspam\n2.5\tham\tété, 1\n1\tspam\tham\n3\tspam\tété, 1\n"
    "4\tété, 1\tham\n5\tété, 1\tspam\n0\tham\tham\n",
    "nested.json": '{"ham": {"spam": 10, "été, 1": 2.5}, "spam": {"ham": 1, "été, 1": 3}, '
    '"été, 1": {"ham": 4, "spam": 5, "été, 1": 0}}',
    "list.json": json.dumps(
        [
            {"truth": NAMES[i], "decision": NAMES[j], "cost": MATRIX[i][j]}
            for i in range(3)
            for j in range(3)
            if i != j
        ]
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_every_form_of_a_file(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FILES[name].encode())
    costs = ClassCosts.of(ClassCosts.read(path), NAMES)
    assert costs.matrix.tolist() == MATRIX
    assert costs.classes == tuple(NAMES)
    assert costs.source == str(path)


WRONG = {
    "empty": ("", "is empty"),
    "blank": (" \n\n", "is empty"),
    "one column": ("ham\n0\n", "one column only"),
    "short line": ("t,a,b\na,0\nb,1,0\n", "line 2: 2 cells where the header has 3"),
    "long line": ("t,a,b\na,0,1,2\nb,1,0\n", "line 2: 4 cells where the header has 3"),
    "two columns": ("t,a,a\na,0,1\n", "two columns are called 'a'"),
    "no name": ("t,a,\na,0,1\n", "a column has no name"),
    "two lines": ("t,a,b\na,0,1\nb,1,0\na,0,1\n", "line 4: a second line for 'a'"),
    "a word": ("t,a,b\na,0,much\nb,1,0\n", "line 2, column b: 'much' is not a number"),
    "an empty cell": ("t,a,b\na,0,\nb,1,0\n", "line 2, column b: an empty cell is not a number"),
    "negative": ("t,a,b\na,0,-1\nb,1,0\n", "deciding 'b' for a document of 'a' costs -1.0"),
    "nan": ("t,a,b\na,0,nan\nb,1,0\n", "costs nan; expected a number from 0 upward"),
    "infinite": ("t,a,b\na,0,inf\nb,1,0\n", "costs inf"),
    "too large": ("t,a,b\na,0,1e999\nb,1,0\n", "costs inf"),
    "infinite and right": ("t,a,b\na,inf,1\nb,1,0\n", "costs inf"),
    "no row": ("t,a,b\na,0,1\n", "'b' has a cost as a decision for 'a', but none as a truth"),
    "no column": ("t,a\na,0\nb,1\n", "no cost for deciding 'b' for a document of 'a'"),
    "no differences": ("t,a,b\na,0,0\nb,1,1\n", "all decisions cost the same"),
    "quote": ('t,a,b\na,0,"1\nb,1,0\n', "Check the quotes"),
    "missing pair": (
        "truth,decision,cost\na,b,1\nb,c,1\nc,a,1\n",
        "no cost for deciding 'c' for a document of 'a'",
    ),
    "pair twice": (
        "truth,decision,cost\na,b,1\nb,a,1\na,b,2\n",
        "line 4: a second cost for deciding 'b' for 'a'",
    ),
    "cells": ("truth,decision,cost\na,b\n", "line 2: 2 cells; expected truth, decision, cost"),
    "no JSON": ('{"a": ', "not valid JSON"),
    "JSON numbers": ('{"a": 1}', "'a' has no costs of decisions"),
    "JSON twice": ('{"a": {"b": 1, "b": 2}, "b": {"a": 1}}', "'b' is named twice"),
    "JSON word": ('{"a": {"b": "much"}, "b": {"a": 1}}', "'much' is not a number"),
    "JSON true": ('{"a": {"b": true}, "b": {"a": 1}}', "True is not a number"),
    "JSON list": ("[[0, 1], [1, 0]]", "entry 1: expected an object with the keys truth, decision, cost"),
    "one class": ("t,a\na,0\n", "two classes or more"),
}


@pytest.mark.parametrize("name", WRONG)
def test_files_that_are_refused(tmp_path, name):
    text, message = WRONG[name]
    path = tmp_path / "costs.csv"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        ClassCosts.read(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(MissingFileError, match="no such file"):
        ClassCosts.read(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes("t,é\n".encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8"):
        ClassCosts.read(tmp_path / "latin.csv")


def test_classes_of_a_task():
    costs = ClassCosts.of({"a": {"b": 1}, "b": {"a": 2}}, source="c.csv")
    with pytest.raises(DataError, match=r"c\.csv: there are no costs for c\. Add a row"):
        ClassCosts.of(costs, ["a", "b", "c"])
    with pytest.raises(DataError, match=r"c\.csv: b is not among the 2 classes of the task: a, B"):
        ClassCosts.of(
            {"a": {"b": 1, "B": 1}, "b": {"a": 2, "B": 1}, "B": {"a": 1, "b": 1}}, ["a", "B"], "c.csv"
        )
    # Labels of a file are strings, and those of a task may be numbers.
    numbered = ClassCosts.of({"1": {"2": 3}, "2": {"1": 4}}, [2, 1])
    assert numbered.classes == (2, 1)
    assert numbered.matrix.tolist() == [[0, 4], [3, 0]]


def test_matrices():
    assert ClassCosts.of(MATRIX, NAMES).matrix.tolist() == MATRIX
    assert ClassCosts.of(np.array(MATRIX)).classes == (0, 1, 2)
    with pytest.raises(DataError, match="costs -1"):
        ClassCosts.of([[0, -1], [1, 0]], ["a", "b"])
    with pytest.raises(DataError, match="2 rows, and the task 3 classes"):
        ClassCosts.of([[0, 1], [1, 0]], NAMES)
    for wrong in (5, "costs.csv", [1, 2], [[1, 2, 3], [1, 2, 3]], [["a", "b"], ["c", "d"]]):
        with pytest.raises(UsageError, match="square matrix"):
            ClassCosts.of(wrong, NAMES)
    with pytest.raises(DataError, match="named twice"):
        ClassCosts.of({1: {"1": 2}, "1": {1: 2}})
    with pytest.raises(DataError, match="costs 'x'"):
        ClassCosts.of({"a": {"b": "x"}, "b": {"a": 1}})


def test_right_decisions_may_cost_something():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        costs = ClassCosts.of({"a": {"a": 0.5, "b": 2}, "b": {"a": 1}})
    assert costs.matrix.tolist() == [[0.5, 2], [1, 0]]
    with pytest.warns(DataWarning, match="deciding 'b' is cheaper than deciding 'a'"):
        ClassCosts.of({"a": {"a": 3, "b": 2}, "b": {"a": 1}})


@st.composite
def decisions(draw):
    k, n = draw(st.integers(2, 4)), draw(st.integers(1, 30))
    whole = st.integers(0, 9)
    costs = draw(st.lists(st.lists(whole, min_size=k, max_size=k), min_size=k, max_size=k))
    codes = st.lists(st.integers(0, k - 1), min_size=n, max_size=n)
    return costs, draw(codes), draw(codes), draw(codes)


@settings(max_examples=100, deadline=None)
@given(decisions())
def test_average_cost_by_hand(case):
    costs, truth, decided, other = case
    k = len(costs)
    made = ClassCosts(tuple(range(k)), np.array(costs, dtype=float))
    found = average_cost(made, truth, decided, by_scores=other)
    assert found.average.value == pytest.approx(reference.average_cost(costs, truth, decided), abs=1e-6)
    assert found.by_scores == pytest.approx(reference.average_cost(costs, truth, other), abs=1e-6)
    always, name = reference.cheapest_class(costs, truth)
    assert found.always == pytest.approx(always, abs=1e-6)
    assert found.always_class == name
    assert np.sum(found.totals) == pytest.approx(found.average.value * len(truth), abs=1e-3)
    assert found.average.low <= found.average.value <= found.average.high
    for pair in found.costliest:
        assert pair.documents == sum(
            (i, j) == (pair.truth, pair.decision) for i, j in zip(truth, decided, strict=True)
        )
        assert pair.cost == pytest.approx(pair.documents * costs[pair.truth][pair.decision])
    assert AverageCost.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False))) == found


def test_two_classes_are_equation_2_27():
    rng = np.random.default_rng(0)
    truth, decided = rng.integers(0, 2, (2, 200))
    table = contingency(2 * truth - 1, 2 * decided - 1)
    # Definition 3 has the decision in rows, positive first.
    expected = cost(table, [[0, 10], [1, 0]])
    made = ClassCosts.of({0: {1: 10}, 1: {0: 1}})
    assert average_cost(made, truth, decided).average.value == pytest.approx(float(expected), abs=1e-6)


def test_unknown_classes_are_left_out():
    made = ClassCosts.of(MATRIX, NAMES)
    found = average_cost(made, [0, -1, 1], [0, 0, 0])
    assert found.n == 2
    assert found.average.value == 0.5
    assert "1 of 3 documents have an unknown class" in found.notes[0]
    with pytest.raises(DataError, match="nothing to measure"):
        average_cost(made, [-1], [0])
    with pytest.raises(UsageError, match="expected one each"):
        average_cost(made, [0, 1], [0])


@pytest.mark.parametrize(
    ("k", "n", "share", "dear"), [(2, 200, 0.1, 1), (2, 400, 0.05, 10), (5, 200, 0.1, 5), (10, 300, 0.2, 5)]
)
def test_intervals_cover(k, n, share, dear):
    """The true cost is inside in about 95 of 100 samples."""
    rng = np.random.default_rng(0)
    costs = np.where(rng.random((k, k)) < 0.5, 1.0, dear)
    np.fill_diagonal(costs, 0)
    chances = np.full((k, k), share / (k - 1) / k)
    np.fill_diagonal(chances, (1 - share) / k)
    truth = float((chances * costs).sum())
    inside = 0
    for seed in range(400):
        low, high = cost_interval(costs, rng.multinomial(n, chances.ravel()).reshape(k, k), seed=seed)
        inside += low <= truth <= high
    assert 0.91 <= inside / 400 <= 0.99


def test_no_error_seen_is_no_proof_of_none():
    low, high = cost_interval([[0, 1], [1, 0]], [[10, 0], [0, 10]])
    assert 0 <= low < 0.01
    assert high > 0.05
