"""Blocks and fields: several kinds of terms side by side, each weighted by itself."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tests.reference.blocks import block_rows
from widemargin import Vectorizer
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.tune.search_space import plain
from widemargin.weight.blocks import Block, parse_block, parse_blocks
from widemargin.weight.left_out import rows_as_new, rows_without

TRAIN = [
    "Subject: Wheat prices\n\nWheat up 3%, wheat exports up",
    "Corn up\nwheat down, corn prices",
    "",
    "\n\nOil & gas: corn oil\nprices of oil",
    "Subject: Oil\n prices\n\noil exports down",
]
TEST = ["wheat and corn prices", "nothing known here", "", "Subject: OIL oil Oil\n\nwheats"]
BLOCKS = ["words", "bigrams:0.5", "chars:0.5", "title:0.25", "subject:2"]
POOL = [
    Block("words"),
    Block("bigrams", ngram_range=(2, 2), weight=0.5),
    Block("chars", units="chars_in_words", ngram_range=(3, 5), weight=0.7),
    Block("first", field="first-line", ngram_range=(1, 2)),
    Block("subject", field="subject", weight=3),
    Block("raw", units="chars", ngram_range=(2, 2), min_df=2),
]
WORDS = ["wheat", "corn", "oil", "up", "Down", "3", "Subject: oil", "\n", "\n  ", "\n\n", "é", "..."]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), min_size=1, max_size=7)


def equal(a, b) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and (a != b).nnz == 0


def quiet(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return function(*args)


class TestAgainstSeparateVectorizers:
    @settings(max_examples=150, deadline=None)
    @given(
        train=texts,
        new=texts,
        blocks=st.lists(st.sampled_from(POOL), min_size=1, max_size=5, unique=True),
        weighting=st.sampled_from(["tfc", "ltc", "nfc", "bxa", "tfa", "lpc", "txx", None]),
        more=st.sampled_from([{}, {"min_df": 2}, {"stop_words": ["up"], "stemmer": "porter"}]),
        n_jobs=st.sampled_from([1, 3]),
    )
    def test_the_same_rows(self, train, new, blocks, weighting, more, n_jobs):
        found = Vectorizer(blocks=blocks, weighting=weighting, n_jobs=n_jobs, **more)
        try:
            quiet(found.fit, train)
        except DataError:
            with pytest.raises(DataError, match=r"no terms|fewer than"):
                quiet(found.fit, train)
            return
        names, expected = block_rows(blocks, {"weighting": weighting, **more}, train, [*train, *new])
        matrix = found.transform([*train, *new])
        np.testing.assert_allclose(matrix.toarray(), expected, rtol=1e-5, atol=1e-7)
        assert matrix.dtype == (np.int32 if weighting is None else np.float32)
        assert matrix.indices.dtype == np.int32
        assert matrix.has_canonical_format
        assert list(found.get_feature_names_out()) == names
        assert len(set(names)) == len(names)
        again = Vectorizer(blocks=blocks, weighting=weighting, **more)
        assert equal(quiet(again.fit_transform, train), matrix[: len(train)])

    def test_the_order_of_blocks_is_that_of_columns(self):
        one = Vectorizer(blocks=BLOCKS).fit(TRAIN)
        other = Vectorizer(blocks=BLOCKS[::-1]).fit(TRAIN)
        assert list(one.blocks_) == list(other.blocks_)[::-1]
        for name, columns in one.blocks_.items():
            ours, theirs = one.transform(TEST)[:, columns], other.transform(TEST)[:, other.blocks_[name]]
            np.testing.assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-6)
        assert one.blocks_["words"].start == 0
        assert one.blocks_["subject"].stop == len(one.document_frequencies_)

    def test_large_matrices_are_joined_in_groups_of_rows(self, monkeypatch):
        monkeypatch.setattr("widemargin.weight.block_columns._AT_ONCE", 3)
        few = Vectorizer(blocks=BLOCKS).fit_transform(TRAIN)
        monkeypatch.undo()
        assert equal(few, Vectorizer(blocks=BLOCKS).fit_transform(TRAIN))

    def test_texts_are_read_once(self):
        expected = Vectorizer(blocks=BLOCKS).fit_transform(TRAIN)
        assert equal(Vectorizer(blocks=BLOCKS).fit_transform(text for text in TRAIN), expected)
        in_bytes = [text.encode() for text in TRAIN]
        assert equal(Vectorizer(blocks=BLOCKS).fit_transform(in_bytes), expected)
        pa = pytest.importorskip("pyarrow")
        assert equal(Vectorizer(blocks=BLOCKS).fit_transform(pa.array(TRAIN)), expected)

    def test_an_empty_block_leaves_the_others_at_length_1(self):
        found = Vectorizer(blocks=["words", "subject:5"], weighting="txc").fit(TRAIN)
        rows = found.transform(["corn oil", "Subject: oil", "unknown"]).toarray()
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 1, 0], rtol=1e-6)
        assert rows[0, found.vocabulary_.index("corn")] == pytest.approx(0.5**0.5)


class TestAsAnEstimator:
    def test_without_blocks_all_columns_are_words(self):
        assert Vectorizer().fit(TRAIN).blocks_ == {"words": slice(0, 11)}
        assert Vectorizer(units="chars").fit(["ab"]).blocks_ == {"words": slice(0, 2)}
        one = Vectorizer(blocks=["words"])
        assert equal(one.fit_transform(TRAIN), Vectorizer().fit_transform(TRAIN))
        assert one.fit_counts(TRAIN).n_columns == 11
        assert one.counted_terms is None

    @pytest.mark.parametrize("more", [{}, {"n_hashed": 16}, {"weighting": None}], ids=str)
    def test_state(self, more):
        blocks = [
            *BLOCKS[:3],
            Block("both", field="first-line", ngram_range=(1, 2)),
            Block("empty", min_df=9),
        ]
        blocks = blocks if not more else blocks[:4]
        found = Vectorizer(blocks=blocks, **more)
        quiet(found.fit, TRAIN)
        config, arrays = found.get_state()
        restored = Vectorizer.from_state(json.loads(json.dumps(config)), arrays)
        for other in (restored, pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
            assert equal(other.transform(TEST), found.transform(TEST))
            assert other.blocks_ == found.blocks_
            if "n_hashed" not in more:
                assert other.vocabulary_ == found.vocabulary_
        assert restored.get_state()[0] == config

    def test_damaged_states_are_refused(self):
        config, arrays = Vectorizer(blocks=["words", "title"]).fit(TRAIN).get_state()
        for damage in [
            {"block_columns": [1, 2]},
            {"block_columns": [-1, 16]},
            {"block_columns": 3},
            {"block_columns": [15]},
            {"blocks": [{"name": "words"}]},
            {"blocks": ["words", "title"]},
            {"blocks": [config["blocks"][0], {**config["blocks"][1], "weight": -1}]},
            {"blocks": [config["blocks"][0], {**config["blocks"][1], "field": "x"}]},
            {"blocks": [config["blocks"][0], {**config["blocks"][1], "ngram_range": [1]}]},
            {"blocks": [config["blocks"][0], {**config["blocks"][1], "more": 1}]},
            {"blocks": []},
            {"fields": "title"},
            {"fields": [1]},
        ]:
            with pytest.raises(DataError, match=f"{next(iter(damage))}|Block"):
                Vectorizer.from_state({**config, **damage}, arrays)
        del config["block_columns"]
        with pytest.raises(DataError, match=r"'block_columns' in manifest\.json is missing"):
            Vectorizer.from_state(config, arrays)

    def test_parameters(self):
        found = Vectorizer(blocks=[Block("words"), "chars:2-3:0.5"])
        copied = clone(found)
        assert copied.get_params() == found.get_params()
        assert equal(copied.fit_transform(TRAIN), clone(found.fit(TRAIN)).fit_transform(TRAIN))
        assert json.dumps(plain(found.blocks)) == json.dumps(plain(copied.blocks))
        assert Vectorizer(blocks="words,chars:2-3:0.5").fit(TRAIN).blocks_ == copied.blocks_

    def test_other_weights_of_the_same_counts(self):
        counting = Vectorizer(blocks=BLOCKS, weighting=None)
        counts = counting.fit_transform(TRAIN)
        for weighting in ("bxc", "tfc", "lfa"):
            expected = Vectorizer(blocks=BLOCKS, weighting=weighting)
            matrix = expected.fit_transform(TRAIN)
            found = counting.reweighted(weighting)
            assert equal(found.weigh(counts), matrix)
            assert equal(found.transform(TEST), expected.transform(TEST))
            assert found.blocks_ == expected.blocks_

    @settings(max_examples=60, deadline=None)
    @given(
        train=texts,
        blocks=st.lists(st.sampled_from(POOL), min_size=1, max_size=5, unique=True),
        weights=st.lists(st.sampled_from([0.5, 2.0]), min_size=5, max_size=5),
        data=st.data(),
    )
    def test_some_blocks_of_the_same_counts(self, train, blocks, weights, data):
        every = Vectorizer(blocks=blocks)
        some = data.draw(st.permutations(blocks))[: data.draw(st.integers(1, len(blocks)))]
        some = [replace(block, weight=weight) for block, weight in zip(some, weights, strict=False)]
        expected = Vectorizer(blocks=some)
        try:
            counts = quiet(every.fit_counts, train)
            matrix = quiet(expected.fit_transform, train)
        except DataError:
            return
        found, taken = every.restricted_to(some, counts)
        assert equal(found.weighed(taken).matrix, matrix)
        assert equal(found.transform(train), matrix)
        assert found.blocks_ == expected.blocks_
        assert found.vocabulary_ == expected.vocabulary_

    def test_blocks_that_were_not_counted(self):
        found = Vectorizer(blocks=["words", "chars"])
        counts = found.fit_counts(TRAIN)
        for wanted in ("bigrams", "chars:2-3"):
            with pytest.raises(UsageError, match="was not counted; blocks are words, chars"):
                found.restricted_to([wanted], counts)
        hashed = Vectorizer(blocks=["words", "chars"], n_hashed=8)
        one, counts = hashed.restricted_to(["chars"], hashed.fit_counts(TRAIN))
        alone = Vectorizer(blocks=["chars"], n_hashed=8).fit_transform(TRAIN)
        assert equal(one.weighed(counts).matrix, alone)

    def test_documents_that_come_later(self):
        found = Vectorizer(blocks=BLOCKS).partial_fit(TRAIN).partial_fit(TEST)
        counts = Vectorizer(blocks=BLOCKS, weighting=None).fit(TRAIN).transform(TRAIN + TEST)
        assert np.array_equal(
            found.document_frequencies_, np.bincount(counts.indices, minlength=counts.shape[1])
        )
        assert found.n_documents_ == len(TRAIN + TEST)

    def test_hashed_blocks_have_columns_of_their_own(self):
        found = Vectorizer(blocks=["words", "title"], n_hashed=8, weighting=None).fit(TRAIN)
        assert found.blocks_ == {"words": slice(0, 8), "title": slice(8, 16)}
        alone = Vectorizer(n_hashed=8, weighting=None).fit(TRAIN)
        assert equal(found.transform(TEST)[:, :8], alone.transform(TEST))
        titles = ["wheat and corn prices", "nothing known here", "", "Subject: OIL oil Oil"]
        assert equal(found.transform(TEST)[:, 8:], alone.transform(titles))

    def test_names(self):
        found = Vectorizer(
            blocks=[
                Block("words", ngram_range=(1, 2)),
                Block("more", ngram_range=(2, 3)),
                Block("three", ngram_range=(3, 3)),
                Block("chars", units="chars"),
            ]
        ).fit(["corn oil up"])
        assert list(found.vocabulary_)[:8] == [
            *["corn", "corn oil", "oil", "oil up", "up"],
            *["more:corn oil", "more:corn oil up", "more:oil up"],
        ]
        assert found.vocabulary_.term(8) == "corn oil up"
        assert found.vocabulary_.term(9) == "chars: "
        for column, name in enumerate(found.vocabulary_):
            assert found.vocabulary_.term(column) == name
            assert found.vocabulary_.index(name) == column
        assert found.vocabulary_.index("title:corn") == -1
        with pytest.raises(IndexError):
            found.vocabulary_.term(len(found.vocabulary_))
        assert "4 blocks" in repr(found.vocabulary_)


class TestLeftOut:
    @settings(max_examples=60, deadline=None)
    @given(
        train=texts.filter(lambda found: len(found) > 1),
        blocks=st.lists(st.sampled_from(POOL), min_size=1, max_size=4, unique=True),
        weighting=st.sampled_from(["tfc", "ltc", "bxa", None]),
        more=st.sampled_from([{}, {"min_df": 2}, {"min_count": 2}, {"max_df": 0.6}, {"max_features": 3}]),
        data=st.data(),
    )
    def test_rows_of_folds_are_those_of_a_new_fit(self, train, blocks, weighting, more, data):
        found = Vectorizer(blocks=blocks, weighting=weighting, **more)
        out = np.array(data.draw(st.lists(st.booleans(), min_size=len(train), max_size=len(train))))
        again = clone(found)
        try:
            counts = quiet(found.fit_counts, train)
            quiet(again.fit, [text for text, gone in zip(train, out, strict=True) if not gone])
        except DataError:
            return
        rows = quiet(rows_without, found, counts, train, out).matrix
        columns_of = again if {"max_df", "max_features"} & set(more) else found
        assert _by_name(columns_of, rows) == _by_name(again, again.transform(train))

    @settings(max_examples=60, deadline=None)
    @given(
        train=texts.filter(lambda found: len(found) > 1),
        blocks=st.lists(st.sampled_from(POOL), min_size=1, max_size=4, unique=True),
        weighting=st.sampled_from(["tfc", "ltc", "bxa", None]),
        more=st.sampled_from([{}, {"min_df": 2}, {"min_count": 2}]),
    )
    def test_documents_as_new_ones_are_those_of_a_new_fit(self, train, blocks, weighting, more):
        found = Vectorizer(blocks=blocks, weighting=weighting, **more)
        try:
            counts = quiet(found.fit_counts, train)
        except DataError:
            return
        new = rows_as_new(found, counts)
        for i, text in enumerate(train):
            again = clone(found)
            try:
                quiet(again.fit, train[:i] + train[i + 1 :])
            except DataError:
                assert new.rows[[i]].nnz == 0
                continue
            assert _by_name(found, new.rows[[i]]) == _by_name(again, again.transform([text]))


def _by_name(vectorizer, rows):
    """The weights of every row by the names of their terms."""
    names = list(vectorizer.vocabulary_)
    found = []
    for i in range(rows.shape[0]):
        row = rows[[i]]
        parts = zip(row.indices.tolist(), row.data.tolist(), strict=True)
        found.append({names[column]: pytest.approx(value, rel=1e-5) for column, value in parts if value})
    return found


class TestWithoutTerms:
    def test_a_block_without_terms_has_no_columns(self):
        found = Vectorizer(blocks=["words", Block("rare", field="subject", min_df=4), "chars"])
        with pytest.warns(DataWarning, match="Block 'rare' is empty: After pruning, no terms remain"):
            matrix = found.fit_transform(TRAIN)
        columns = found.blocks_["rare"]
        assert columns.start == columns.stop == 11
        assert equal(matrix, Vectorizer(blocks=["words", "chars"]).fit_transform(TRAIN))
        assert equal(found.transform(TEST), Vectorizer(blocks=["words", "chars"]).fit(TRAIN).transform(TEST))
        with pytest.warns(DataWarning, match="'subject' is empty: The 1 documents contain no terms"):
            Vectorizer(blocks=["subject", "words"]).fit(["corn"])

    def test_all_blocks_without_terms(self):
        for blocks in (["words"], ["words", "title"]):
            with pytest.raises(DataError, match="2 documents contain no terms"):
                quiet(Vectorizer(blocks=blocks).fit, ["", "..."])
        with pytest.raises(DataError, match="There are no documents"):
            Vectorizer(blocks=["words", "chars"]).fit([])


class TestBadInput:
    @pytest.mark.parametrize(
        ("blocks", "message"),
        [
            (["word"], "There is no block 'word'. Blocks are words, bigrams, chars, title"),
            (["words", "words:2"], "two blocks 'words'"),
            (["words:0"], "'words' has the weight 0.0: expected a number above 0"),
            (["words:-1"], "weight -1.0"),
            (["words:inf"], "weight inf"),
            (["words:nan"], "Block 'words:nan': expected a name, optionally"),
            (["words:a"], "Block 'words:a': expected a name"),
            (["words:min=x"], "Block 'words:min=x': expected a name"),
            (["words:min=2:0.5"], "Block 'words:min=2:0.5': expected a name"),
            (["words:1:2"], "Block 'words:1:2': expected a name"),
            (["words:2-1"], "Block 'words': ngram_range"),
            ([Block("words", weight=True)], "weight True"),
            ([Block("words", min_df=-1)], "Block 'words': min_df=-1"),
            ([Block("a b")], "cannot be called 'a b'"),
            ([Block("a", units="letters")], "Block 'a': units='letters'"),
            ([Block("a", field="body")], "'a' has the field 'body': expected title, subject, first-line"),
            ([], "There are no blocks"),
            ([3], "Block 3: expected a name"),
            (3, "blocks=3: expected a list"),
        ],
        ids=str,
    )
    def test_blocks(self, blocks, message):
        with pytest.raises(UsageError, match=message.replace("(", r"\(")):
            Vectorizer(blocks=blocks).fit(TRAIN)

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            ({"units": "chars"}, "either blocks or units and ngram_range"),
            ({"ngram_range": (1, 2)}, "either blocks or units and ngram_range"),
            ({"phrases": 10.83}, "either phrases or blocks"),
            ({"pairs": "near:2"}, "either pairs or blocks"),
            ({"n_hashed": 2**30}, "below 2"),
        ],
        ids=str,
    )
    def test_beside_other_parameters(self, more, message):
        with pytest.raises(UsageError, match=message):
            Vectorizer(blocks=["words", "chars"], **more).fit(TRAIN)

    def test_words_for_blocks(self):
        assert parse_block("chars:0.5") == parse_block("chars:3-5:0.5")
        assert parse_block("body:2", ("body",)) == Block("body", field="body", weight=2)
        assert parse_blocks("words, bigrams")[1].ngram_range == (2, 2)
