"""Relevance feedback on topics of Reuters-21578: a small run, and what it compares."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin.papers.joachims.chapter_7 import feedback


def silent(stage: str) -> None:
    pass


def test_feedback_is_measured_on_what_is_left():
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 3 == 0
    X = rng.random((60, 8)) * 0.3
    X[truth, :3] += rng.random((20, 3))
    query = np.eye(8)[:1]
    found = feedback.feedback(X, query, truth, 10)
    assert set(found) == set(feedback.METHODS)
    first = np.argsort(-X[:, 0] / np.linalg.norm(X, axis=1), kind="stable")[:10]
    rest = np.setdiff1d(np.arange(60), first)
    cosines = X[rest, 0] / np.linalg.norm(X[rest], axis=1)
    best = rest[np.argsort(-cosines)[:10]]
    assert found["query"][0] == pytest.approx(100 * truth[best].mean())
    assert found["TSVM"][2] > found["query"][2]


@pytest.mark.slow
@pytest.mark.needs_corpus("reuters21578")
@pytest.mark.paper("joachims-section-7-feedback")
def test_marks_improve_the_ranking_by_the_query():
    topics = ("crude", "ship", "sugar", "gnp", "nat-gas")
    result = feedback.run(silent, {topic: feedback.QUERIES[topic] for topic in topics})
    for n_marks in feedback.MARKS:
        row = f"mean, {n_marks} marks, average precision"
        by = {name: result.cell(row, name).ours for name in feedback.METHODS}
        assert by["TSVM"] > by["query"] + 5
        assert by["SVM"] > by["query"] + 5
        assert min(by.values()) > 0
        assert max(by.values()) < 100
    assert any("5 topics" in note for note in result.notes)
