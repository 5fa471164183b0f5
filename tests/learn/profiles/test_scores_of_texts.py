"""Profiles that read texts themselves: the scores are those of rows of counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.dissimilarities import dissimilarity as reference
from widemargin import ProfileClassifier, SelectFeatures, TextClassifier, Vectorizer

ALPHABET = "abcdeé中 A"
texts = st.lists(st.text(st.sampled_from(ALPHABET + "xyz😀\ud800"), max_size=40), min_size=1, max_size=8)


def random_texts(n: int, seed: int) -> list[str]:
    """Texts of classes that prefer different characters, and have some n-grams of their own."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        shares = rng.dirichlet(np.full(len(ALPHABET), 0.4))
        found.append("".join(rng.choice(list(ALPHABET), 60, p=shares)) + chr(0x400 + i) * 3)
    return found


def fitted(n_classes: int, vectorizer: Vectorizer, learner: ProfileClassifier, **more: object):
    trained = random_texts(2 * n_classes, 3)
    model = TextClassifier(vectorizer, learner, estimate=None, **more).fit(
        trained, [f"{i // 2:03}" for i in range(len(trained))]
    )
    return model.scorer


def by_rows(scorer, texts):
    return scorer.learner.decision_function(scorer.representation.rows(texts).matrix)


@settings(max_examples=80, deadline=None)
@given(
    texts=texts,
    n_classes=st.sampled_from([2, 3, 15, 16, 40]),
    units=st.sampled_from(["chars", "bytes", "chars_in_words", "words"]),
    lengths=st.sampled_from([(1, 1), (1, 4), (3, 3)]),
    weighting=st.sampled_from([None, "txx"]),
)
def test_texts_score_as_their_rows(texts, n_classes, units, lengths, weighting):
    vectorizer = Vectorizer(units=units, ngram_range=lengths, weighting=weighting)
    scorer = fitted(n_classes, vectorizer, ProfileClassifier(unseen=0.1))
    assert scorer.learner.reads_texts
    assert scorer.representation.read(texts) is not None
    np.testing.assert_allclose(scorer.scores(texts), by_rows(scorer, texts), rtol=0, atol=1e-9)


@pytest.mark.parametrize("n_classes", [5, 20])
def test_scores_are_differences_of_dissimilarities(n_classes):
    vectorizer = Vectorizer(units="bytes", ngram_range=(1, 3), weighting=None)
    scorer = fitted(n_classes, vectorizer, ProfileClassifier(unseen=0.5))
    texts = random_texts(9, 8)
    counts = scorer.representation.rows(texts).matrix.toarray()
    profiles = scorer.learner.profiles_.toarray()
    for text, found in zip(counts, scorer.scores(texts), strict=True):
        far = np.array([reference("kl", text, profile, text_first=False) for profile in profiles])
        np.testing.assert_allclose(found, far.mean() - far, atol=1e-6)


def test_empty_and_unknown_texts_have_equal_scores():
    """Profiles of the same size: nothing is known of the text."""
    scorer = fitted(20, Vectorizer(units="bytes", ngram_range=(1, 4), weighting=None), ProfileClassifier())
    assert np.array_equal(scorer.scores(["", "?", b"\xff\xfe"]), np.zeros((3, 20)))


@pytest.mark.parametrize("units", ["chars", "bytes"])
def test_any_number_of_threads(units):
    texts = random_texts(700, 4)
    found = []
    for n in (1, 3):
        vectorizer = Vectorizer(units=units, ngram_range=(1, 4), weighting=None)
        found.append(fitted(20, vectorizer, ProfileClassifier(n_jobs=n)).scores(texts))
    assert np.array_equal(*found)


@pytest.mark.parametrize(
    ("text_options", "options", "more"),
    [
        ({"weighting": "tfc"}, {}, {}),
        ({"weighting": None, "n_hashed": 512}, {}, {}),
        ({"weighting": None, "units": "words", "stemmer": "porter"}, {}, {}),
        ({"weighting": None}, {}, {"features": SelectFeatures("df", 40)}),
        ({"weighting": None}, {"dissimilarity": "chi2"}, {}),
        ({"weighting": None}, {"direction": "text-to-profile"}, {}),
        ({"weighting": None}, {"gather": 1}, {}),
        ({"weighting": None}, {"n_neighbors": 2}, {}),
    ],
)
def test_everything_else_is_scored_by_rows(text_options, options, more):
    vectorizer = Vectorizer(**{"units": "chars", "ngram_range": (1, 2), **text_options})
    scorer = fitted(18, vectorizer, ProfileClassifier(**options), **more)
    texts = random_texts(5, 1)
    assert not scorer.learner.reads_texts or scorer.representation.read(texts) is None
    assert np.array_equal(scorer.scores(texts), by_rows(scorer, texts))
