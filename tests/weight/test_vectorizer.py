"""The vectorizer as a scikit-learn transformer: parameters, state, statistics, bad input."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from widemargin import Vectorizer
from widemargin.errors import DataError, UsageError
from widemargin.weight.smart import weigh

TRAIN = ["Wheat up 3%", "Corn up, wheat down", "", "Oil & gas: corn oil"]
TEST = ["wheat and corn", "nothing known here", "", "OIL oil Oil"]
SETTINGS = [
    {},
    {"weighting": None},
    {"ngram_range": (1, 2), "stop_words": {"up"}, "weighting": "ltc"},
    {"stemmer": "porter", "stop_words": "freewais"},
    {"units": "chars", "ngram_range": (2, 3), "min_df": 2},
    {"n_hashed": 32, "weighting": "ntx"},
]


def equal(a, b) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and (a != b).nnz == 0


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_every_way_to_the_same_weights(settings):
    found = Vectorizer(**settings)
    matrix = found.fit_transform(TRAIN)
    assert equal(matrix, Vectorizer(**settings).fit(TRAIN).transform(TRAIN))
    if found.weighting is not None:
        counts = Vectorizer(**{**settings, "weighting": None}).fit_transform(TRAIN)
        assert equal(matrix, weigh(counts, found.weighting))
    unseen = found.transform(TEST)
    for i, text in enumerate(TEST):
        assert equal(found.transform([text]), unseen[[i]])
    assert matrix.dtype == (np.int32 if found.weighting is None else np.float32)
    assert matrix.has_canonical_format


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_other_weights_of_the_same_counts(settings):
    counting = Vectorizer(**{**settings, "weighting": None})
    counts = counting.fit_transform(TRAIN)
    before = counts.copy()
    for weighting in ("bxc", "tfc", "ltc", None):
        expected = Vectorizer(**{**settings, "weighting": weighting})
        matrix = expected.fit_transform(TRAIN)
        found = counting.reweighted(weighting)
        assert found.get_params() == expected.get_params()
        assert equal(found.weigh(counts), matrix)
        assert equal(found.transform(TEST), expected.transform(TEST))
    assert counting.weighting is None
    assert equal(counts, before)
    with pytest.raises(UsageError, match="no weighting 'xyz'"):
        counting.reweighted("xyz")
    with pytest.raises(DataError, match=r"1 columns, but the vectorizer has \d+ terms"):
        counting.weigh(counts[:, :1])
    with pytest.raises(NotFittedError):
        Vectorizer(**settings).reweighted("tfc")


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_state(settings):
    found = Vectorizer(**settings).fit(TRAIN)
    config, arrays = found.get_state()
    restored = Vectorizer.from_state(json.loads(json.dumps(config)), arrays)
    expected = found.transform(TEST)
    for other in (restored, pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert equal(other.transform(TEST), expected)
        assert other.n_documents_ == found.n_documents_
    assert restored.get_params()["ngram_range"] == found.ngram_range


def test_read_only_arrays():
    # A model may be a memory map.
    config, arrays = Vectorizer(ngram_range=(1, 2)).fit(TRAIN).get_state()
    for array in arrays.values():
        array.setflags(write=False)
    assert Vectorizer.from_state(config, arrays).transform(TEST).nnz > 0


def test_damaged_states_are_refused():
    config, arrays = Vectorizer().fit(TRAIN).get_state()
    for name, damaged in [
        ("document_frequencies", arrays["document_frequencies"][:-1]),
        ("vocabulary_offsets", arrays["vocabulary_offsets"] + 1),
        ("vocabulary_offsets", arrays["vocabulary_offsets"][::-1].copy()),
        ("vocabulary", arrays["vocabulary"][:-1]),
    ]:
        with pytest.raises(DataError, match=r"'document_frequencies'|vocabulary's offsets"):
            Vectorizer.from_state(config, {**arrays, name: damaged})


def test_scikit_learn_contract():
    found = Vectorizer(min_df=2, stop_words=["a"], weighting="bxc")
    copied = clone(found)
    assert copied.get_params() == found.get_params()
    assert clone(found.fit(TRAIN)).set_params(min_df=1).min_df == 1
    assert make_pipeline(Vectorizer()).fit(TRAIN).transform(TEST).shape == (4, 7)
    assert Vectorizer(ngram_range=(3, 1)).ngram_range == (3, 1)  # refused in fit, not before
    for method in (Vectorizer().transform, Vectorizer().locate):
        with pytest.raises(NotFittedError, match="Call fit first"):
            method("text" if method.__name__ == "locate" else ["text"])


def test_fitting_again_forgets():
    found = Vectorizer().fit(TRAIN)
    found.transform(TEST)
    found.fit(["other words"])
    assert list(found.vocabulary_) == ["other", "words"]
    assert found.transform(["words"]).shape == (1, 2)
    assert not hasattr(found.set_params(n_hashed=8).fit(TRAIN), "vocabulary_")


class TestPartialFit:
    @pytest.mark.parametrize("n_hashed", [None, 64])
    def test_statistics_add_up(self, n_hashed):
        more = ["wheat wheat", "gas unseen", ""]
        found = Vectorizer(n_hashed=n_hashed).partial_fit(TRAIN).partial_fit(more)
        counts = Vectorizer(n_hashed=n_hashed, weighting=None).fit(TRAIN)
        every = counts.transform(TRAIN + more)
        frequencies = np.bincount(every.indices, minlength=every.shape[1])
        assert np.array_equal(found.document_frequencies_, frequencies)
        assert found.n_documents_ == 7
        expected = weigh(counts.transform(TEST), "tfc", frequencies, 7)
        assert equal(found.transform(TEST), expected)

    def test_columns_stay(self):
        found = Vectorizer().fit(TRAIN)
        before = list(found.vocabulary_)
        assert list(found.partial_fit(["brand new words"]).vocabulary_) == before


class TestBadInput:
    @pytest.mark.parametrize(
        ("texts", "message"),
        [
            ("one text", "found one str"),
            (b"one text", "found one bytes"),
            (["a", None, "b"], r"Document 1 \(counting from 0\) is None"),
            (["a", "b", float("nan")], "Document 2 .* is nan"),
            (["a", ["b"]], "Document 1 .* is of type list"),
            (np.array([["a", "b"]]), r"an array of shape \(1, 2\)"),
            (np.array("a"), "single value"),
            (7, "found int"),
            ([], "no documents"),
            (["", " ", "..."], "3 documents contain no terms"),
        ],
        ids=str,
    )
    def test_refused_with_the_place_and_a_cure(self, texts, message):
        with pytest.raises(DataError, match=message):
            Vectorizer().fit(texts)

    def test_arrow(self):
        pa = pytest.importorskip("pyarrow")
        with pytest.raises(DataError, match=r"Document 2 .* is null"):
            Vectorizer().fit(pa.chunked_array([["a"], ["b", None]]))
        with pytest.raises(DataError, match="holds int64"):
            Vectorizer().fit(pa.array([1, 2]))

    @pytest.mark.parametrize(
        "settings",
        [
            {"units": "sentences"},
            {"tokens": "words"},
            {"ngram_range": (2, 1)},
            {"ngram_range": (0, 1)},
            {"ngram_range": 2},
            {"ngram_range": (1, 256)},
            {"ngram_range": (1.0, 2.0)},
            {"min_token_length": 0},
            {"weighting": "tf-idf"},
            {"n_jobs": 0},
        ],
        ids=str,
    )
    def test_settings_without_a_meaning(self, settings):
        with pytest.raises(UsageError, match=next(iter(settings))):
            Vectorizer(**settings).fit(TRAIN)

    def test_other_containers(self):
        expected = Vectorizer().fit_transform(TRAIN)
        for texts in (tuple(TRAIN), iter(TRAIN), np.array(TRAIN), np.array(TRAIN, dtype=object)):
            assert equal(Vectorizer().fit_transform(texts), expected)

    def test_documents_without_any_known_term_are_zero(self):
        found = Vectorizer().fit(TRAIN).transform(["", "unknown", "?!"])
        assert found.shape == (3, 7)
        assert found.nnz == 0


@pytest.mark.parametrize(
    ("count", "words"),
    [(-1, "-1"), (0.5, "0.5"), (np.nan, "NaN"), (np.inf, "infinity"), (2.0**31, "2.147"), (2**40, "1.099")],
)
@pytest.mark.parametrize("weighting", ["tfc", "nxc", "bxx", None])
def test_counts_that_are_no_counts_are_refused_with_their_place(count, words, weighting):
    counting = Vectorizer(weighting=None)
    counts = counting.fit_transform(["wheat corn", "corn oil"]).astype(np.asarray(count).dtype)
    counts.data[2] = count  # row 1, column 0 is corn
    with pytest.raises(DataError, match="row 1, column 0") as error:
        counting.reweighted(weighting).weigh(counts)
    assert words in str(error.value)


def test_whole_counts_of_any_type_weigh_the_same():
    counting = Vectorizer(weighting=None)
    counts = counting.fit_transform(["wheat corn corn", "corn oil"])
    expected = counting.reweighted("tfc").weigh(counts).toarray()
    for dtype in (np.int8, np.int64, np.float32, np.float64):
        np.testing.assert_array_equal(
            counting.reweighted("tfc").weigh(counts.astype(dtype)).toarray(), expected
        )


def test_damaged_counts_are_refused():
    counting = Vectorizer(weighting=None)
    counts = counting.fit_transform(["wheat corn corn", "corn oil"])
    counts.indices[0] = 10**8
    with pytest.raises(DataError, match="100000000"):
        counting.reweighted("tfc").weigh(counts)
