"""Out of memory equals in memory: the same terms, frequencies, labels and weights, from any split of a
collection, in any order, with any memory."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.on_disk.collections import all_keys, all_rows, build, keys_of, write_runs
from widemargin import Vectorizer
from widemargin.errors import DataError
from widemargin.labels import Labels

WORDS = [
    "oil",
    "price",
    "prices",
    "rising",
    "the",
    "wheat",
    "corn",
    "Zürich",
    "naïve",
    "日本語",
    "3",
    "a",
    "motor",
    "car",
]
SETTINGS = {
    "words": {},
    "bigrams": {"ngram_range": (1, 2)},
    "min_df": {"min_df": 3, "max_df": 0.4},
    "share": {"min_df": 0.1},
    "max_features": {"max_features": 7, "ngram_range": (1, 2)},
    "min_count": {"min_count": 6},
    "stop words": {"stop_words": ["the", "price"]},
    "stemmer": {"stemmer": "porter", "ngram_range": (1, 2)},
    "thesaurus": {"thesaurus": {"auto": ["car", "motor car"]}},
    "pairs": {"pairs": "near:2", "max_features": 40},
    "pairs after": {"pairs": "after:1:min=3", "ngram_range": (1, 2), "stemmer": "english"},
    "phrases": {"phrases": 0.5},
    "phrases of 3": {"phrases": 0.2, "ngram_range": (1, 3), "pairs": "near:3"},
    "chars": {"units": "chars", "ngram_range": (1, 3), "min_df": 2},
    "bytes": {"units": "bytes", "ngram_range": (1, 2)},
    "hashed": {"n_hashed": 64},
    "blocks": {"blocks": ["words", "bigrams:0.5:min=2", "chars:0.5", "title:0.3"], "min_df": 2},
    "hashed blocks": {"n_hashed": 64, "blocks": ["words", "chars:2-3:0.5"]},
    "pattern": {"token_pattern": r"[^ ]+", "weighting": None},
    "fields": {"fields": ("title", "body"), "blocks": ["title", "body:0.5"], "idf_power": 0.5},
}  # fmt: skip

# Enough for every block of terms to have some.
SOME = [("oil price", ["a"], None), ("oil price", ["b"], None)]


def collection(n: int, seed: int, separator: str = "\n"):
    """(text, labels, weight) of n documents; some are copies, empty, unlabeled or weighted."""
    rng = random.Random(seed)
    documents = []
    for _ in range(n):
        words = rng.choices(WORDS, k=rng.choice([0, 1, 3, 8, 20]))
        cut = rng.randint(0, len(words))
        text = separator.join([" ".join(words[:cut]), " ".join(words[cut:])])
        labels = None if rng.random() < 0.1 else rng.sample(["a", "b", "ü", "c"], rng.randint(0, 2))
        documents.append((text, labels, rng.choice([None, None, 1.0, 2.5])))
    return documents + rng.sample(documents, n // 5)


def chunks_of(documents, rng):
    """The documents in another order, in chunks of any size."""
    documents = rng.sample(documents, len(documents))
    cuts = sorted(rng.choices(range(len(documents) + 1), k=rng.randint(0, 5)))
    return [documents[begin:end] for begin, end in zip([0, *cuts], [*cuts, None], strict=True)]


@pytest.mark.parametrize("name", SETTINGS)
def test_equal_to_memory(name, tmp_path):
    options = SETTINGS[name]
    documents = collection(60, 1, "\x1f" if "fields" in options else "\n")
    labeled = [document for document in documents if document[1] is not None]
    runs = write_runs(tmp_path, Vectorizer(**options), chunks_of(documents, random.Random(2)))
    store, merged, _ = build(tmp_path, Vectorizer(**options), runs)
    expected = Vectorizer(**options)
    weights = expected.fit_transform([text for text, *_ in labeled])
    fitted = merged.fit(Vectorizer(**options))
    assert store.n_blocks > 3
    if "n_hashed" not in options:
        assert list(fitted.vocabulary_) == list(expected.vocabulary_)
        assert fitted.vocabulary_ == expected.vocabulary_
    np.testing.assert_array_equal(fitted.document_frequencies_, expected.document_frequencies_)
    if merged.totals is not None:
        counted = Vectorizer(**{**options, "weighting": None}).fit_transform([text for text, *_ in labeled])
        np.testing.assert_array_equal(merged.totals, counted.sum(axis=0))
    assert fitted.document_frequencies_.dtype == expected.document_frequencies_.dtype
    assert fitted.n_documents_ == expected.n_documents_ == len(labeled)
    assert fitted.fields_ == expected.fields_
    assert fitted.blocks_ == expected.blocks_

    keys = keys_of(Vectorizer(**options), labeled)
    places = {key: place for place, key in enumerate(keys.tolist())}
    order = [places[key] for key in all_keys(store).tolist()]
    found = fitted.weighed(all_rows(store))
    wanted = weights[order]
    np.testing.assert_array_equal(found.indptr, wanted.indptr)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    np.testing.assert_array_equal(found.data, wanted.data)
    assert found.data.dtype == wanted.data.dtype

    space, signs = Labels.of_documents([labels for _, labels, _ in labeled]).space_and_signs
    assert merged.space == space
    decoded = np.full(signs.shape, -1)
    of_weights = []
    for block in range(store.n_blocks):
        indptr, labels = store.labels(block)
        rows = np.repeat(np.arange(store.first_rows[block], store.first_rows[block + 1]), np.diff(indptr))
        decoded[rows, labels] = 1
        of_weights += store.weights(block).tolist()
    np.testing.assert_array_equal(decoded, signs[order])
    assert of_weights == [labeled[i][2] or 1.0 for i in order]
    assert merged.n_unlabeled == len(documents) - len(labeled)


@given(st.integers(0, 2**32), st.sampled_from(["words", "pairs", "hashed", "blocks"]), st.integers(14, 20))
@settings(max_examples=25, deadline=None)
def test_the_bytes_depend_on_the_set_of_documents_only(tmp_path_factory, seed, name, memory):
    rng = random.Random(seed)
    documents = [*collection(rng.randint(1, 40), seed), *SOME]
    found = []
    for size in (1 << 26, 1 << memory):
        folder = tmp_path_factory.mktemp("store")
        vectorizer = Vectorizer(**{**SETTINGS[name], "min_df": 1})
        runs = write_runs(folder, vectorizer, chunks_of(documents, rng))
        found.append(build(folder, vectorizer, runs, memory=size).files)
    assert found[0] == found[1]


def test_rows_with_the_same_key_are_ordered_by_content(tmp_path, monkeypatch):
    """As if all documents had the same hash: what differs still has one order."""
    documents = collection(30, 5)
    found = []
    for seed in (1, 2, 3):
        folder = tmp_path / str(seed)
        folder.mkdir()
        with monkeypatch.context() as patch:
            patch.setattr("widemargin._core.hash_texts", lambda texts, keys, n_threads: keys.fill(7))
            patch.setattr("widemargin.on_disk.label_lists._hash", lambda label, seed: 1)
            runs = write_runs(folder, Vectorizer(), chunks_of(documents, random.Random(seed)))
        found.append(build(folder, Vectorizer(), runs))
    assert found[0].files == found[1].files == found[2].files
    assert len(set(all_keys(found[0].store).tolist())) < 10


@pytest.mark.parametrize(
    ("label_sets", "multilabel"),
    [
        ([["a"], ["b"], ["a"]], False),
        ([["a"], ["b"], ["c"]], False),
        ([["a"], ["b"], ["a"]], True),
        ([["a"], [], ["b"]], False),
        ([["a"], None, ["b"]], False),
        ([["a", "b"], ["b"], ["c"]], False),
        ([["a", "a"], ["b"], ["c"]], False),
        ([[3], [10], [2]], False),
        ([["10"], ["9"], ["x" * 300]], False),
        ([["a"], ["a"], ["a"]], False),
        ([["a"], ["a"], ["a"]], True),
        ([[], [], []], False),
        ([None, None, None], False),
    ],
    ids=str,
)
def test_labels_are_read_as_in_memory(tmp_path, label_sets, multilabel):
    documents = [(f"oil {i}", labels, None) for i, labels in enumerate(label_sets)]
    runs = write_runs(tmp_path, Vectorizer(tokens="unicode"), [documents[:1], documents[1:]])
    refused = None
    try:
        expected = Labels.of_documents(label_sets, multilabel=multilabel)
    except DataError as error:
        refused = str(error)
    if refused is not None:
        with pytest.raises(DataError, match=re.escape(refused)):
            build(tmp_path, Vectorizer(tokens="unicode"), runs, multilabel=multilabel)
        return
    store, merged, _ = build(tmp_path, Vectorizer(tokens="unicode"), runs, multilabel=multilabel)
    assert merged.space == expected.space
    assert merged.space.classes.dtype == expected.space.classes.dtype
    signs = np.full((store.n_rows, merged.space.n_columns), -1)
    for block in range(store.n_blocks):
        indptr, labels = store.labels(block)
        signs[np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)) + store.first_rows[block], labels] = 1
    labeled = [labels is not None for labels in label_sets]
    assert sorted(signs.tolist()) == sorted(expected.signs[labeled].tolist())
