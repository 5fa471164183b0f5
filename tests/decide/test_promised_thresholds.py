"""Promised precision and recall, kept as often as stated over repeated random samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from widemargin import LinearSVM, Vectorizer
from widemargin.decide import precision_thresholds, recall_thresholds
from widemargin.errors import DataWarning, UsageError
from widemargin.estimate.held_out import leave_one_out

REPEATS, CONFIDENCE = 600, 0.9
# What chance takes from a rate of 90 % over 600 samples, at three standard errors.
LEAST = CONFIDENCE - 3 * np.sqrt(0.09 / REPEATS)


def samples(n, share, distance, seed):
    """A column a sample: scores of positive examples are normal around `distance`, others around 0."""
    generator = np.random.default_rng(seed)
    truth = np.where(generator.random((n, REPEATS)) < share, 1, -1)
    return generator.normal(size=truth.shape) + distance * (truth > 0), truth


def true_precision(threshold, share, distance):
    hits, false = share * norm.sf(threshold - distance), (1 - share) * norm.sf(threshold)
    return hits / (hits + false)


@pytest.mark.filterwarnings("ignore::widemargin.errors.DataWarning")  # some samples prove nothing
@pytest.mark.parametrize(("n", "share", "distance"), [(200, 0.5, 1.5), (1000, 0.2, 2.5), (1000, 0.05, 3.0)])
@pytest.mark.parametrize("target", [0.6, 0.8])
def test_precision_is_kept(n, share, distance, target):
    scores, truth = samples(n, share, distance, seed=n)
    thresholds = precision_thresholds(scores, truth, target, CONFIDENCE)
    kept = true_precision(np.minimum(thresholds, 30), share, distance) >= target
    assert (kept | np.isinf(thresholds)).mean() >= LEAST
    # A promise that is never made is easily kept.
    assert np.isfinite(thresholds).mean() > 0.5


@pytest.mark.filterwarnings("ignore::widemargin.errors.DataWarning")
@pytest.mark.parametrize("n", [100, 300, 1000])
@pytest.mark.parametrize("end", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("target", [0.7, 0.9])
def test_precision_just_below_the_target_is_rarely_promised(n, end, target):
    """The least favorable case: every threshold down to the share `end` is wrong, and as hard to tell from
    a right one as can be."""
    generator = np.random.default_rng(n)
    place = generator.random((n, 2000))
    truth = np.where(generator.random(place.shape) < np.where(place < end, target - 1e-9, 0.0), 1, -1)
    promised = np.isfinite(precision_thresholds(-place, truth, target, CONFIDENCE)).mean()
    assert promised <= 1 - CONFIDENCE + 3 * np.sqrt(0.09 / 2000)
    if n * end >= 300:
        assert promised > 0.06  # the level is used


@pytest.mark.filterwarnings("ignore::widemargin.errors.DataWarning")
def test_a_promise_survives_errors_at_the_top():
    """The two highest scores belong to negative examples."""
    truth = np.repeat([1, -1], [300, 700])
    truth[:2] = -1
    assert precision_thresholds(-np.arange(1000.0), truth, 0.9) < -250


@pytest.mark.filterwarnings("ignore::widemargin.errors.DataWarning")
@pytest.mark.parametrize(("n", "share"), [(100, 0.5), (1000, 0.05), (1000, 0.3)])
@pytest.mark.parametrize("target", [0.5, 0.9])
def test_recall_is_kept_and_hardly_more(n, share, target):
    scores, truth = samples(n, share, 2.0, seed=n)
    thresholds = recall_thresholds(scores, truth, target, CONFIDENCE)
    recall = norm.sf(thresholds - 2.0)
    assert (recall >= target).mean() >= LEAST
    if n * share > 100:
        assert np.median(recall) < target + 0.1


@pytest.mark.parametrize("target", [0.8, 0.9])
def test_recall_of_dependent_scores(target):
    """Every example occurs twice, which doubles the variance of every share."""
    scores, _ = samples(200, 0.5, 0.0, seed=5)
    scores, truth = np.repeat(scores, 2, axis=0), np.ones((400, REPEATS))
    unaware, aware = (recall_thresholds(scores, truth, target, CONFIDENCE, dependence=d) for d in (1, 2))
    assert (norm.sf(unaware) >= target).mean() < CONFIDENCE - 0.03
    assert (norm.sf(aware) >= target).mean() >= LEAST
    assert (aware <= unaware).all()


@pytest.mark.filterwarnings("ignore::widemargin.errors.DataWarning")  # ties hide some proofs
def test_rounded_scores_keep_it_too():
    """Ties: one decimal, so that many examples share a score."""
    scores, truth = samples(400, 0.5, 2.0, seed=3)
    scores = scores.round(0)
    recall = recall_thresholds(scores, truth, 0.9, CONFIDENCE)
    assert (norm.sf(np.ceil(recall) - 0.5 - 2.0) >= 0.9).mean() >= LEAST
    precision = precision_thresholds(scores, truth, 0.75, CONFIDENCE)
    above = np.floor(precision) + 0.5  # who rounds to more than the threshold
    assert ((true_precision(np.minimum(above, 30), 0.5, 2.0) >= 0.75) | np.isinf(above)).mean() >= LEAST
    assert np.isfinite(above).mean() > 0.9


@given(st.integers(0, 2**32 - 1))
def test_more_is_harder_to_promise(seed):
    generator = np.random.default_rng(seed)
    truth = np.where(generator.random(300) < 0.5, 1, -1)
    scores = generator.normal(size=300) + 3 * (truth > 0)
    assert recall_thresholds(scores, truth, 0.6) >= recall_thresholds(scores, truth, 0.8)
    assert recall_thresholds(scores, truth, 0.8, 0.8) >= recall_thresholds(scores, truth, 0.8, 0.95)


def test_too_few_examples_promise_nothing():
    scores, truth = np.arange(20.0).reshape(10, 2), np.ones((10, 2))
    with pytest.warns(DataWarning, match=r"2 of 2 labels \(column 0, 1\); they are assigned to no document"):
        assert precision_thresholds(scores, truth, 0.9).tolist() == [np.inf, np.inf]
    with pytest.warns(DataWarning, match="every document"):
        assert recall_thresholds(scores, truth, 0.9).tolist() == [-np.inf, -np.inf]
    with pytest.warns(DataWarning, match="recall of 0.5"):
        assert recall_thresholds(scores, -truth, 0.5).tolist() == [-np.inf, -np.inf]
    # Five hits in five are proof of a recall of 1/2 (1/32 is below 5 %), four are not.
    assert recall_thresholds(np.arange(5.0), np.ones(5), 0.5) == pytest.approx(0.0)
    with pytest.warns(DataWarning):
        assert recall_thresholds(np.arange(4.0), np.ones(4), 0.5) == -np.inf


def test_what_makes_no_sense():
    with pytest.raises(UsageError, match="target=90"):
        precision_thresholds(np.zeros(3), np.ones(3), 90)
    with pytest.raises(UsageError, match="confidence"):
        recall_thresholds(np.zeros(3), np.ones(3), 0.9, 1.0)
    with pytest.raises(UsageError, match="dependence"):
        recall_thresholds(np.zeros(3), np.ones(3), 0.9, dependence=0.5)


@pytest.mark.needs_corpus("reuters21578")
@pytest.mark.filterwarnings("ignore::widemargin.errors.DataWarning")  # rare topics promise nothing
def test_kept_on_the_rest_of_a_collection(corpus):
    """1,000 stories drawn at random, thresholds from their leave-one-out scores, measured on the others."""
    stories, splits, target = corpus("reuters21578").train, 10, 0.8
    names, counts = np.unique([t for topics in stories.labels for t in topics], return_counts=True)
    largest = names[np.argsort(-counts)[:10]]
    Y = np.array([[t in topics for t in largest] for topics in stories.labels], dtype=int)
    X = Vectorizer().fit_transform(stories.texts)
    kept, made = {"precision": [], "recall": []}, {"precision": [], "recall": []}
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(Y))
        sample, rest = order[:1000], order[1000:]
        svm = LinearSVM().fit(X[sample], Y[sample])
        scores = leave_one_out(svm, X[sample], Y[sample]).scores
        truth, positive = np.where(Y[sample], 1, -1), Y[rest] > 0
        thresholds = precision_thresholds(scores, truth, target, CONFIDENCE)
        given = svm.decision_function(X[rest]) > thresholds
        kept["precision"] += list((given & positive).sum(0) >= target * given.sum(0))
        made["precision"] += list(np.isfinite(thresholds))
        thresholds = recall_thresholds(scores, truth, target, CONFIDENCE)
        given = svm.decision_function(X[rest]) > thresholds
        kept["recall"] += list((given & positive).sum(0) >= target * positive.sum(0))
        made["recall"] += list(np.isfinite(thresholds))
    for what in kept:
        # A label that is given to no document, or to every one, keeps its promise without merit.
        promised = np.array(kept[what])[made[what]]
        assert promised.mean() >= CONFIDENCE - 3 * np.sqrt(0.09 / len(promised))
        assert np.mean(made[what]) > 0.25  # the rest have too few positive stories among 1,000
