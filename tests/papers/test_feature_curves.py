"""Curves over numbers of features: the machinery on small data, and the figures on real documents."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from widemargin.papers.dasgupta import feature_curves
from widemargin.papers.dasgupta import figures_3 as dasgupta_3
from widemargin.papers.dasgupta import figures_5 as dasgupta_5
from widemargin.papers.joachims.chapter_4 import worst_words as joachims_4_2


@pytest.fixture
def task():
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 40), density=0.3, rng=rng, format="csr")
    signs = np.where(X.toarray()[:, :3] > 0.3, 1, -1).astype(np.int8)
    return feature_curves.FeatureTask(X[:40], X[40:], signs[:40], signs[40:])


def test_every_strategy_with_every_feature_is_the_whole(task):
    whole = task.learn(0.3)
    for name, make in dasgupta_3.STRATEGIES.items():
        everything = feature_curves.Whole(task, whole, 0.3)
        (found,) = everything.against_sizes(make(everything), [40], 2)
        if name != "SS (k = 10)":  # features outside ten directions are left out
            assert found.micro_f1 == pytest.approx(1)
            assert found.recall == pytest.approx(1)


def test_of_equally_good_lambdas_the_middle_one_is_taken(task, monkeypatch):
    points = [feature_curves.Measures(f1, 0.0, 0.0, 0.0) for f1 in (0.5, 0.9, 0.9, 0.9, 0.7)]
    monkeypatch.setattr(feature_curves, "LAMBDAS", (1.0, 2.0, 3.0, 4.0, 5.0))
    monkeypatch.setattr(feature_curves.FeatureTask, "path", lambda task: points)
    assert feature_curves.best_lambda(task)[1:] == (points[2], 3.0)


def test_samples_have_the_expected_number_of_features(task):
    for make in (feature_curves.weighted, feature_curves.uniform):
        strategy = make(task)
        sizes = [len(strategy.draw(12, seed).columns) for seed in range(300)]
        assert abs(np.mean(sizes) - 12) < 4 * np.std(sizes) / np.sqrt(300)
    assert len(feature_curves.document_frequency(task).draw(12, 0).columns) == 12


def test_the_measures_are_those_of_their_names():
    truth = np.array([[1, -1], [1, -1], [-1, -1], [-1, 1]], dtype=np.int8)
    scores = np.array([[2.0, -1], [-1, -1], [1, -1], [-1, -1]])
    found = feature_curves.measures(truth, scores)
    assert (found.micro_f1, found.macro_f1, found.precision, found.recall) == (0.4, 0.25, 0.5, 1 / 3)


@pytest.mark.slow
@pytest.mark.needs_corpus("20newsgroups")
@pytest.mark.paper("dasgupta-section-7")
def test_samples_suit_support_vector_machines_too():
    result = dasgupta_5.run(lambda line: None, "section-7", samples=1, sizes=(5000,))
    for row in ("least squares, micro-F1: 5,000", "SVM, micro-F1: 5,000"):
        assert result.cell(row, "SS (k = 1500)").ours > 88
        assert result.cell(row, "US").ours < result.cell(row, "RS").ours


@pytest.mark.slow
@pytest.mark.needs_corpus("reuters21578")
@pytest.mark.paper("joachims-figure-4.2")
def test_the_worst_words_are_better_than_chance():
    result = joachims_4_2.run(lambda line: None)
    values = [cell.ours for cell in result.cells]
    assert values[:-1] == sorted(values[:-1], reverse=True)
    assert min(values[:-1]) > 1.5 * values[-1]


@pytest.mark.slow
@pytest.mark.needs_corpus("20newsgroups")
@pytest.mark.paper("dasgupta-figure-3")
def test_small_tasks_behave_as_published():
    curves = dasgupta_3.run(lambda line: None, "3", tasks=4, splits=2, samples=2, sizes=(50, 500))
    for name in ("SS (k = rank)", "IG", "WS"):
        assert curves.cell("micro-F1: 500", name).ours > 80
        assert curves.cell("micro-F1: 500", name).ours > curves.cell("micro-F1: 500", "US").ours
    # Few singular vectors are best for few features.
    assert curves.cell("micro-F1: 50", "SS (k = 10)").ours > curves.cell("micro-F1: 50", "SS (k = rank)").ours
    # Long messages have common words in all of them, which tell nothing.
    assert (
        curves.cell("long messages, micro-F1: 50", "DF").ours
        < curves.cell("long messages, micro-F1: 50", "WS").ours
    )
    tasks = list(dasgupta_3.small_tasks(lambda line: None, 3, 1))
    cells, panels = dasgupta_3.distances_of(tasks, "")
    far = [cell.ours for cell in cells if cell.row in ("(c) k = 10", "(c) k = 40", "(c) k = 100")]
    assert far == sorted(far, reverse=True)
    assert len(panels) == 1


@pytest.mark.slow
@pytest.mark.needs_corpus("20newsgroups")
@pytest.mark.paper("dasgupta-figure-4")
def test_few_vectors_are_best_for_few_features_and_distances_fall_with_more():
    result = dasgupta_3.run(lambda line: None, "4", tasks=2, splits=1, samples=1, sizes=(50, 500))
    assert len(result.panels) == 6
    for kind in ("", "long messages, "):
        few, many = (
            {name: result.cell(f"(b) {kind}micro-F1: {size}", name).ours for name in dasgupta_3.SUBSPACES}
            for size in (50, 500)
        )
        assert few["k = 10"] > few["k = rank"]
        assert all(many[name] > few[name] for name in few)
        far = [result.cell(f"(c) {kind}k = {k}", "Hellinger distance").ours for k in (10, 20, 40, 60)]
        assert far == sorted(far, reverse=True)
        assert 0 < far[-1] < far[0] / 2
        for name in ("IG", "SS (k = rank)"):
            low, mean, high = (
                result.cell(f"(a) {kind}{row}", name).ours for row in ("lowest", "mean", "highest")
            )
            assert 80 < low <= mean <= high


@pytest.mark.slow
@pytest.mark.needs_corpus("20newsgroups", "reuters21578")
@pytest.mark.paper("dasgupta-figure-5")
def test_five_thousand_features_keep_about_nine_tenths():
    result = dasgupta_5.run(lambda line: None, "5", splits=1, samples=1, sizes=(5000,))
    assert len(result.cells) == 3 * len(dasgupta_5.STRATEGIES)
    for name in ("SS (k = 1500)", "IG"):
        cell = result.cell("20 Newsgroups, micro-F1: 5,000", name)
        # Published is "about 90 %"; five splits had 92.2 to 93.3 (docs/papers.md).
        assert cell.published == 90
        assert abs(cell.difference) < 5
    for row in ("20 Newsgroups, micro-F1", "Reuters-21578, micro-F1", "Reuters-21578, macro-F1"):
        kept = {name: result.cell(f"{row}: 5,000", name).ours for name in dasgupta_5.STRATEGIES}
        assert kept["US"] < min(value for name, value in kept.items() if name != "US") - 10


@pytest.mark.slow
@pytest.mark.needs_corpus("20newsgroups")
@pytest.mark.paper("dasgupta-figure-2")
def test_lambda_on_the_newsgroups():
    result = dasgupta_5.run(lambda line: None, "2")
    assert result.cell("lambda 0.4", "micro-f1").ours > 80
    assert result.cell("lambda 1", "recall").ours < result.cell("lambda 0.1", "recall").ours
