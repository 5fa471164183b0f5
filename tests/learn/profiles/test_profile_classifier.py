"""Profiles: dissimilarities against their definitions, gathering, neighbors, short and odd texts."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference.dissimilarities import ct
from tests.reference.dissimilarities import dissimilarity as reference
from widemargin import ProfileClassifier, TextClassifier, Vectorizer
from widemargin._arrays import canonical_csr
from widemargin.errors import DataError, UsageError
from widemargin.learn.profiles.dissimilarities import DIRECTIONS, DISSIMILARITIES, Dissimilarity, Profiles

EVERY = [(name, direction) for name in DISSIMILARITIES for direction in DIRECTIONS]


@parametrize_with_checks(
    [
        ProfileClassifier(),
        ProfileClassifier("kl-all", gather=1),
        ProfileClassifier("ct", direction="text-to-profile"),
        ProfileClassifier("chi2", gather=2, n_neighbors=3),
        ProfileClassifier("cosine", parts=3),
        ProfileClassifier("chi2-asymmetric"),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def histograms(rng, n, columns=30, empty=True):
    X = rng.poisson(rng.choice([0.1, 1.0, 4.0], (n, 1)), (n, columns)).astype(float)
    if empty:
        X[0] = 0
    return X


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(EVERY), st.integers(0, 10**6), st.sampled_from([1, 4, 2000]), st.sampled_from([3, 1000])
)
def test_every_dissimilarity_is_its_definition(kind, seed, n_max, d_max):
    name, direction = kind
    rng = np.random.default_rng(seed)
    texts, profiles = histograms(rng, 5), histograms(rng, 4, empty=False) * rng.choice([1, 100])
    profiles[:, 0] += 1  # not empty
    rule = Dissimilarity(name, direction, max_rank=n_max, missing_rank=d_max)
    made = canonical_csr(sp.csr_array(profiles))
    found = Profiles(made, rule).between(canonical_csr(sp.csr_array(texts)), 1)
    first = direction == "text-to-profile"
    for i, text in enumerate(texts):
        for p, profile in enumerate(profiles):
            if name == "ct":
                arguments = (text, profile) if first else (profile, text)
                expected = ct(*arguments, n_max=n_max, d_max=d_max)
            else:
                expected = reference(name, text, profile, text_first=first)
            assert found[i, p] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_dense_lines_of_many_profiles_change_nothing():
    """n-grams of many profiles are added by vector loops, all of them in single precision."""
    rng = np.random.default_rng(7)
    texts, profiles = histograms(rng, 20), histograms(rng, 50, empty=False)
    profiles[:, 0] += 1
    profiles[:, 10:] *= rng.random((50, 20)) < 0.1  # some n-grams of few profiles
    found = Profiles(canonical_csr(profiles), Dissimilarity("kl"))
    shares = (profiles > 0).mean(axis=0)
    assert (shares > 0.5).any()
    assert ((shares > 0) & (shares < 0.2)).any()
    values = found.between(canonical_csr(texts), 1)
    for i, text in enumerate(texts):
        expected = [reference("kl", text, profile, text_first=False) for profile in profiles]
        np.testing.assert_allclose(values[i], expected, atol=1e-6)


@pytest.mark.parametrize(("name", "direction"), EVERY)
def test_the_parts_sum_to_the_whole(name, direction):
    rng = np.random.default_rng(1)
    profiles = Profiles(canonical_csr(histograms(rng, 6)), Dissimilarity(name, direction, max_rank=8))
    for row in histograms(rng, 4):
        text = canonical_csr(row[None])
        base, parts = profiles.parts(text)
        np.testing.assert_allclose(base + parts.sum(axis=0), profiles.between(text, 1)[0], atol=1e-10)


@pytest.mark.parametrize(("name", "direction"), EVERY)
def test_threads_do_not_change_anything(name, direction):
    rng = np.random.default_rng(2)
    X = sp.random_array((3000, 400), density=0.05, rng=rng, format="csr")
    profiles = Profiles(canonical_csr(X[:500]), Dissimilarity(name, direction))
    one, three = (profiles.between(canonical_csr(X), n) for n in (1, 3))
    np.testing.assert_array_equal(one, three)


def test_gathering_by_one_by_some_and_by_all():
    rng = np.random.default_rng(3)
    X, y = histograms(rng, 17, empty=False), np.array(list("abc" * 6))[:17]
    alone = ProfileClassifier(gather=1).fit(X, y)
    np.testing.assert_array_equal(alone.profiles_.toarray(), np.vstack([X[y == c] for c in "abc"]))
    together = ProfileClassifier().fit(X, y)
    np.testing.assert_array_equal(together.profiles_.toarray(), [X[y == c].sum(axis=0) for c in "abc"])
    by_four = ProfileClassifier(gather=4).fit(X, y)
    expected = [X[y == c][k : k + 4].sum(axis=0) for c in "abc" for k in (0, 4)]
    np.testing.assert_array_equal(by_four.profiles_.toarray(), expected)
    assert by_four.profile_classes_.tolist() == [0, 0, 1, 1, 2, 2]
    parts = ProfileClassifier(parts=4).fit(X, y)
    expected = [part.sum(axis=0) for c in "abc" for part in np.array_split(X[y == c], 4)]
    np.testing.assert_array_equal(parts.profiles_.toarray(), expected)
    # More parts than texts: one profile per text.
    np.testing.assert_array_equal(
        ProfileClassifier(parts=50).fit(X, y).profiles_.toarray(), alone.profiles_.toarray()
    )


@pytest.mark.parametrize("k", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("name", ["kl", "ct", "chi2"])
def test_neighbors_against_brute_force(name, k):
    rng = np.random.default_rng(4)
    X, y = histograms(rng, 40), np.sort(rng.choice(list("abcd"), 40))
    tests = histograms(rng, 30)
    model = ProfileClassifier(name, gather=1, n_neighbors=k).fit(X, y)
    # The dissimilarities are tested above; adding up in another order would break their ties.
    for distances, found in zip(model.dissimilarities(tests), model.predict(tests), strict=True):
        order = sorted(range(40), key=lambda i: (distances[i], i))[:k]
        votes = Counter(y[i] for i in order)
        nearest = {c: distances[y == c].min() for c in votes}
        assert found == min(votes, key=lambda c: (-votes[c], nearest[c], c))


@pytest.mark.parametrize(("name", "direction"), EVERY)
def test_an_empty_profile_is_not_near_to_anything(name, direction):
    rng = np.random.default_rng(6)
    X = histograms(rng, 5)
    model = ProfileClassifier(name, direction=direction).fit(X, ["none", "a", "b", "c", "d"])
    found = model.dissimilarities(X)
    assert np.isfinite(found).all()
    if name == "kl" and direction == "profile-to-text":
        empty = model.classes_.tolist().index("none")
        others = np.delete(found[1:], empty, axis=1)
        assert (found[1:, [empty]] > others.min(axis=1, keepdims=True)).all()


def test_ties_go_to_the_first_class():
    X, y = np.eye(3), ["c", "a", "b"]
    model = ProfileClassifier("chi2").fit(X, y)
    assert model.predict(np.zeros((1, 3))).tolist() == ["a"]
    two = ProfileClassifier("chi2").fit(np.eye(2), ["b", "a"])
    assert two.predict(np.zeros((1, 2))).tolist() == ["a"]


LANGUAGES = {
    "en": ["the weather in the north is cold", "this is the way that we sing"],
    "de": ["das Wetter im Norden ist kalt", "so singen wir das Lied der Nacht"],
    "fr": ["le temps dans le nord est froid"],
}


def language_model(**learner):
    texts = [text for some in LANGUAGES.values() for text in some]
    labels = [name for name, some in LANGUAGES.items() for _ in some]
    vectorizer = Vectorizer(units="chars", ngram_range=(1, 3), weighting=None)
    return TextClassifier(vectorizer, ProfileClassifier(**learner), estimate=None).fit(texts, labels)


ODD = ["", "x", "\x00", "日本", "the", "  ", "\udcff", "nord nord nord"]


@pytest.mark.parametrize(("name", "direction"), EVERY)
def test_odd_texts_have_defined_results(name, direction):
    model = language_model(dissimilarity=name, direction=direction)
    scores = model.decision_function(ODD)
    assert np.isfinite(scores).all()
    assert set(model.predict(ODD)) <= set(LANGUAGES)
    one_by_one = np.vstack([model.decision_function([text]) for text in ODD])
    np.testing.assert_array_equal(scores, one_by_one)


def test_bytes_that_are_not_utf_8_separate_n_grams():
    model = language_model()
    broken = model.vectorizer_.transform([b"the\xff\xfenorth"])
    whole = model.vectorizer_.transform(["the"]) + model.vectorizer_.transform(["north"])
    np.testing.assert_array_equal(broken.toarray(), whole.toarray())
    assert np.isfinite(model.learner_.decision_function(broken)).all()


@pytest.mark.parametrize(("name", "direction"), EVERY)
def test_saved_loaded_and_pickled(tmp_path, name, direction):
    model = language_model(dissimilarity=name, direction=direction, gather=1)
    model.save(tmp_path / "m.wm")
    texts = ["the north", "der Norden", "le nord", ""]
    expected = model.decision_function(texts)
    np.testing.assert_array_equal(TextClassifier.load(tmp_path / "m.wm").decision_function(texts), expected)
    copied = pickle.loads(pickle.dumps(model.learner_))
    np.testing.assert_array_equal(copied.decision_function(model.vectorizer_.transform(texts)), expected)


@pytest.mark.parametrize(("name", "direction"), EVERY)
def test_an_explanation_sums_to_the_score(name, direction):
    model = language_model(dissimilarity=name, direction=direction)
    text = "the north wind sings"
    scores = model.decision_function([text])[0]
    for place, label in enumerate(model.classes_.tolist()):
        found = model.explain(text, label)
        assert found.score == pytest.approx(scores[place], abs=1e-9)
        assert found.bias + sum(part.value for part in found.contributions) == pytest.approx(found.score)


def test_the_n_grams_of_the_language_speak_for_it():
    model = language_model()
    found = model.explain("the sings")
    assert found.label == "en"
    best = [term for term, value, _ in found.by_term() if value > 0]
    assert "the" in best[:8]


def test_two_classes_are_explained_too():
    texts, labels = [*LANGUAGES["en"], *LANGUAGES["de"]], ["en", "en", "de", "de"]
    vectorizer = Vectorizer(units="chars", ngram_range=(3, 3), weighting=None)
    model = TextClassifier(vectorizer, ProfileClassifier("kl"), estimate=None).fit(texts, labels)
    for label in ("en", "de"):
        found = model.explain("the weather", label)
        assert found.bias + sum(part.value for part in found.contributions) == pytest.approx(found.score)
    assert model.explain("the weather").label == "en"


def test_votes_are_not_explained():
    with pytest.raises(UsageError, match="n_neighbors=1"):
        language_model(gather=1, n_neighbors=3).explain("the")


def test_what_is_refused():
    X = np.eye(3)
    with pytest.raises(DataError, match=r"Negative values .* row 1, column 1"):
        ProfileClassifier().fit(X - 3 * np.diag([0, 1, 0]), ["a", "b", "c"])
    with pytest.raises(UsageError, match="label sets"):
        ProfileClassifier().fit(X, [["a"], ["a", "b"], []])
    with pytest.raises(UsageError, match="dissimilarity"):
        ProfileClassifier("euclid").fit(X, ["a", "b", "c"])
    with pytest.raises(UsageError, match="gather"):
        ProfileClassifier(gather="all").fit(X, ["a", "b", "c"])


def test_many_profiles_are_compared_piece_by_piece(monkeypatch):
    from widemargin.learn.profiles import profile_classifier

    rng = np.random.default_rng(5)
    X, y = histograms(rng, 50), rng.choice(list("abc"), 50)
    model = ProfileClassifier("chi2", gather=1).fit(X, y)
    whole = model.decision_function(X)
    monkeypatch.setattr(profile_classifier, "_VALUES_AT_ONCE", 120)
    np.testing.assert_array_equal(model.decision_function(X), whole)
