"""Vectors of the user's own as a block: against a dense reference, in folds, saved, and with mistakes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from widemargin import LinearSVM, TextClassifier, Vectorizer
from widemargin.classifier import Scorer
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.tune.race import Split
from widemargin.tune.staged.race_rows import RaceRows
from widemargin.weight.blocks import parse_blocks
from widemargin.weight.document_vectors import DocumentVectors
from widemargin.weight.given_vectors import GivenVectors
from widemargin.weight.left_out import rows_without

TEXTS = [
    "wheat corn wheat",
    "corn prices up",
    "oil prices down down",
    "crude oil",
    "the wheat and the corn",
    "barrel of crude",
]
LABELS = ["grain", "grain", "oil", "oil", "grain", "oil"]
NEW = ["barley up", "gasoline down", "corn", "of the", "", "zebra"]
RNG = np.random.default_rng(3)
VECTORS = {
    word: RNG.normal(size=4).astype(np.float32)
    for word in ["the", "of", "wheat", "corn", "oil", "crude", "barley", "gasoline", "prices", "down"]
}


def encode(texts: list[str]) -> np.ndarray:
    """A callable that pickles: lengths and letters."""
    return np.array([[len(text), text.count("o"), text.count("e"), 1.0] for text in texts], dtype=np.float32)


class Counting:
    """A callable that remembers what it was asked."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls = 0

    def __call__(self, texts: list[str]) -> np.ndarray:
        assert isinstance(texts, list)
        self.calls += 1
        self.texts += texts
        return encode(texts)


def unit(rows: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Rows of length 1; 0 where nothing is known."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.where(known[:, None] & (length > 0), rows / np.where(length > 0, length, 1), 0)


def reference(
    train: list[str], texts: list[str], vectors: dict[str, np.ndarray], weight: float
) -> tuple[np.ndarray, np.ndarray]:
    """Words and the vectors of documents side by side, densely and slowly, with the weighting ltc.

    And which documents are clearly away from the mean, so that their vectors have a direction.
    """
    df: dict[str, int] = {}
    for text in train:
        for word in set(text.split()):
            df[word] = df.get(word, 0) + 1

    def weights(text: str, terms: list[str]) -> np.ndarray:
        found = text.split()
        row = np.zeros(len(terms))
        for place, term in enumerate(terms):
            if term in found:
                idf = np.log(len(train) / max(df.get(term, 0), 1))
                row[place] = (1 + np.log(found.count(term))) * idf
        length = np.linalg.norm(row)
        return row / length if length else row

    terms, given_terms = sorted(df), sorted(vectors)
    table = np.array([vectors[term] for term in given_terms], dtype=np.float64)

    def sums(some: list[str]) -> np.ndarray:
        return np.array([weights(text, given_terms) @ table for text in some])

    of_texts = sums(texts)
    apart = of_texts - sums(train).mean(axis=0)
    words = np.array([weights(text, terms) for text in texts])
    vectors_of = unit(apart, of_texts.any(axis=1))
    whole = np.hstack([words, weight * vectors_of])
    clear = ~of_texts.any(axis=1) | (np.linalg.norm(apart, axis=1) > 1e-3)
    return unit(whole, np.ones(len(texts), dtype=bool)), clear


def vectorizer_of(weight: float = 0.7, **more: Any) -> Vectorizer:
    return Vectorizer(blocks=["words", GivenVectors(VECTORS, name="given", weight=weight)], **more)


def test_word_vectors_against_a_dense_reference() -> None:
    vectorizer = vectorizer_of().fit(TEXTS)
    for texts in (TEXTS, NEW):
        expected, clear = reference(TEXTS, texts, VECTORS, 0.7)
        assert clear.all()
        np.testing.assert_allclose(vectorizer.transform(texts).toarray(), expected, atol=1e-6)
    assert vectorizer.blocks_["given"] == slice(11, 15)
    assert vectorizer.get_feature_names_out()[-4:].tolist() == [f"given:{i}" for i in (1, 2, 3, 4)]
    # Words that only new documents have are known.
    assert np.abs(vectorizer.transform(NEW).toarray()[:2, 11:]).sum(axis=1).min() > 0
    again = vectorizer_of().fit_transform(TEXTS)
    np.testing.assert_array_equal(again.toarray(), vectorizer.transform(TEXTS).toarray())


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.lists(st.sampled_from(["wheat", "corn", "oil", "zebra", "the"]), min_size=1, max_size=5),
        min_size=2,
        max_size=6,
    ),
    st.lists(st.sampled_from(["wheat", "corn", "the", "gasoline"]), max_size=4, unique=True),
    st.integers(1, 3),
    st.floats(0.1, 2),
)
def test_word_vectors_of_any_documents(
    documents: list[list[str]], others: list[str], dims: int, weight: float
) -> None:
    texts = ["oil", *(" ".join(document) for document in documents)]
    rng = np.random.default_rng(dims)
    vectors = {word: rng.normal(size=dims).astype(np.float32) for word in ["oil", *others]}
    block = GivenVectors(vectors, name="given", weight=weight)
    found = Vectorizer(blocks=["words", block]).fit_transform(texts).toarray()
    expected, clear = reference(texts, texts, vectors, weight)
    np.testing.assert_allclose(found[clear], expected[clear], atol=1e-4)


def test_encoded_texts_against_a_dense_reference() -> None:
    block = GivenVectors(encode, name="encoded", weight=0.5)
    vectorizer = Vectorizer(blocks=[block, "words"]).fit(TEXTS)
    alone = Vectorizer().fit(TEXTS)
    for texts in (TEXTS, ["Oil, a lot of it.", "e"]):
        dense = unit(encode(texts) - encode(TEXTS).mean(axis=0, dtype=np.float64), np.ones(len(texts), bool))
        whole = np.hstack([alone.transform(texts).toarray(), 0.5 * dense])
        expected = unit(whole, np.ones(len(texts), bool))
        np.testing.assert_allclose(vectorizer.transform(texts).toarray(), expected, atol=1e-6)
    assert vectorizer.blocks_ == {"words": slice(0, 11), "encoded": slice(11, 15)}
    only = Vectorizer(blocks=[block]).fit(TEXTS)
    dense = unit(encode(TEXTS) - encode(TEXTS).mean(axis=0, dtype=np.float64), np.ones(len(TEXTS), bool))
    np.testing.assert_allclose(only.transform(TEXTS).toarray(), dense, atol=1e-6)


def test_a_text_whose_vector_is_zero_has_none() -> None:
    block = GivenVectors(lambda texts: [[text.count("o"), text.count("w")] for text in texts], name="some")
    X = Vectorizer(blocks=["words", block]).fit_transform(["oil two", "wheat", "a"]).toarray()
    assert not X[2, -2:].any()
    assert X[0, -2:].any()


def test_both_kinds_of_vectors_beside_learned_ones() -> None:
    blocks = [GivenVectors(encode, name="encoded"), "vectors:dims=2:min=1", GivenVectors(VECTORS), "words"]
    vectorizer = Vectorizer(blocks=blocks)
    X = vectorizer.fit_transform(TEXTS)
    assert list(vectorizer.blocks_) == ["words", "vectors", "words-given", "encoded"]
    np.testing.assert_allclose(np.sqrt(np.square(X.toarray()).sum(axis=1)), 1, atol=1e-6)
    alone = [Vectorizer(blocks=["words", one]).fit_transform(TEXTS) for one in blocks[:3]]
    for one, made in zip(("encoded", "vectors", "words-given"), alone, strict=True):
        expected = made[:, 11:].toarray() * np.sqrt(2) / 2
        np.testing.assert_allclose(X[:, vectorizer.blocks_[one]].toarray(), expected, atol=1e-6)


# ---------------------------------------------------------------------------------------------- folds


def refitted(vectorizer: Vectorizer, out: np.ndarray) -> np.ndarray:
    seen = [text for text, left in zip(TEXTS, out, strict=True) if not left]
    return clone(vectorizer).fit(seen).transform(TEXTS).toarray()


@pytest.mark.parametrize("more", [{}, {"min_count": 2}, {"max_features": 8}, {"idf_power": 0.5}])
@pytest.mark.parametrize("keep", [0, 3, None])
def test_folds_are_as_refits(keep: int | None, more: dict[str, Any]) -> None:
    blocks = [
        "words",
        GivenVectors(VECTORS, name="given", weight=0.7, keep=keep),
        GivenVectors(encode, name="encoded", weight=0.3),
    ]
    vectorizer = Vectorizer(blocks=blocks, **more)
    counts = vectorizer.fit_counts(TEXTS)
    out = np.array([False, True, False, False, False, True])
    found = rows_without(vectorizer, counts, TEXTS, out).matrix.toarray()
    expected = refitted(vectorizer, out)
    # Words of the documents that are out have columns of zeros in the one and none in the other.
    used = found[:, found.any(axis=0)]
    np.testing.assert_allclose(used, expected[:, expected.any(axis=0)], atol=1e-6)


def test_an_encoder_is_asked_once_for_every_fit() -> None:
    encoder = Counting()
    block = GivenVectors(encoder, name="encoded")
    classifier = TextClassifier(
        Vectorizer(blocks=["words", block]), LinearSVM(), estimate="k-fold", tune=None
    )
    classifier.fit(TEXTS * 4, LABELS * 4)
    assert sorted(encoder.texts) == sorted(TEXTS * 4)
    encoder.texts.clear()
    classifier.predict(NEW)
    assert encoder.texts == NEW


def test_an_encoder_is_asked_once_even_if_terms_are_counted_again() -> None:
    encoder = Counting()
    vectorizer = Vectorizer(blocks=["words", GivenVectors(encoder, name="encoded")], max_features=5)
    counts = vectorizer.fit_counts(TEXTS)
    encoder.texts.clear()
    rows_without(vectorizer, counts, TEXTS, np.array([True] + [False] * 5))
    assert encoder.texts == []


# ---------------------------------------------------------------------------------- saved and copied


def trained(*blocks: Any, **more: Any) -> TextClassifier:
    vectorizer = Vectorizer(blocks=["words", *blocks], **more)
    return TextClassifier(vectorizer, LinearSVM(), tune=None, estimate=None).fit(TEXTS, LABELS)


def test_saved_word_vectors_score_the_same(tmp_path: Path) -> None:
    path = tmp_path / "tiny.vec"
    rows = "".join(f"{word} {' '.join(map(repr, row.tolist()))}\n" for word, row in VECTORS.items())
    path.write_text(rows)
    classifier = trained(GivenVectors(path, weight=0.7))
    classifier.save(tmp_path / "m.wm")
    path.unlink()  # a model needs no other file
    wanted = classifier.decision_function(NEW)
    loaded = TextClassifier.load(tmp_path / "m.wm")
    np.testing.assert_array_equal(loaded.decision_function(NEW), wanted)
    np.testing.assert_array_equal(Scorer.load(tmp_path / "m.wm").scores(NEW), wanted)
    loaded.save(tmp_path / "again.wm")
    assert (tmp_path / "again.wm").read_bytes() == (tmp_path / "m.wm").read_bytes()
    assert loaded.vectorizer_.blocks[1].name == "tiny"
    np.testing.assert_array_equal(
        classifier.decision_function(NEW), trained(GivenVectors(VECTORS, weight=0.7)).decision_function(NEW)
    )


def test_a_model_with_a_callable_cannot_be_saved(tmp_path: Path) -> None:
    classifier = trained(GivenVectors(encode, name="sentences"))
    with pytest.raises(UsageError, match=r"Block 'sentences' has a callable.* cannot be saved\. Pickle"):
        classifier.save(tmp_path / "m.wm")
    assert not (tmp_path / "m.wm").exists()
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.decision_function(NEW), classifier.decision_function(NEW))


def test_vectors_of_documents_are_found_by_their_texts(tmp_path: Path) -> None:
    known = DocumentVectors(TEXTS, encode(TEXTS))
    classifier = trained(GivenVectors(known, name="rows"))
    by_callable = trained(GivenVectors(encode, name="rows"))
    np.testing.assert_array_equal(classifier.decision_function(TEXTS), by_callable.decision_function(TEXTS))
    with pytest.raises(DataError, match=r"Document 0 .* has no vector: .*--vectors FILE\.npy"):
        classifier.predict(NEW)
    classifier.save(tmp_path / "m.wm")
    loaded = TextClassifier.load(tmp_path / "m.wm")
    source = loaded.vectorizer_.blocks[1].source
    with pytest.raises(DataError, match="Document 0"):
        loaded.predict(NEW)
    source.add(NEW, encode(NEW))
    np.testing.assert_array_equal(loaded.decision_function(NEW), by_callable.decision_function(NEW))
    source.clear()
    source.add(NEW, encode(NEW)[:, :3])
    with pytest.raises(DataError, match="have 3 numbers, but earlier ones had 4"):
        loaded.predict(NEW)


def test_clones_share_the_source() -> None:
    encoder = Counting()
    vectorizer = Vectorizer(blocks=["words", GivenVectors(encoder, name="encoded")])
    copied = clone(vectorizer)
    assert copied.blocks[1].source is encoder
    assert copied.blocks[1] == vectorizer.blocks[1]


def test_grid_search() -> None:
    model = make_pipeline(vectorizer_of(), LinearSVM())
    search = GridSearchCV(
        model,
        {
            "vectorizer__blocks": [
                ["words"],
                ["words", GivenVectors(VECTORS, name="given")],
                ["words", GivenVectors(encode, name="encoded", weight=0.5)],
            ]
        },
        cv=3,
    )
    search.fit(TEXTS * 3, LABELS * 3)
    assert search.best_score_ == 1.0


@pytest.mark.parametrize("weighting", ["txc", "bfx", "ltc"])
def test_reweighted_and_restricted(weighting: str) -> None:
    blocks = ["words", GivenVectors(VECTORS, name="given"), GivenVectors(encode, name="encoded")]
    counting = Vectorizer(blocks=blocks, weighting=None)
    counts = counting.fit_counts(TEXTS)
    made = counting.reweighted(weighting, counts=counts).weighed(counts).matrix.toarray()
    expected = Vectorizer(blocks=blocks, weighting=weighting).fit_transform(TEXTS).toarray()
    np.testing.assert_array_equal(made, expected)
    whole = Vectorizer(blocks=blocks, weighting=weighting)
    counts = whole.fit_counts(TEXTS)
    for some in ([blocks[1]], [blocks[2], "words"], [blocks[2]]):
        part, some_counts = whole.restricted_to(some, counts)
        alone = Vectorizer(blocks=some, weighting=weighting).fit_transform(TEXTS).toarray()
        np.testing.assert_array_equal(part.weighed(some_counts).matrix.toarray(), alone)
        np.testing.assert_array_equal(part.transform(TEXTS).toarray(), alone)


# -------------------------------------------------------------------------------------- explanations


@pytest.mark.parametrize("text", ["barley and oil prices", "zebra", ""])
def test_explanations_add_up(text: str) -> None:
    given_words = GivenVectors(VECTORS, name="given")
    classifier = trained(given_words, GivenVectors(encode, name="sentences", weight=0.5))
    found = classifier.explain(text)
    assert found.bias + sum(part.value for part in found.contributions) == pytest.approx(
        found.score, abs=1e-6
    )
    whole = [part for part in found.contributions if part.block == "sentences"]
    assert [(part.start, part.end, part.term) for part in whole] == [(0, len(text), "sentences")]
    if text.startswith("barley"):
        words = [part.term for part in found.contributions if part.block == "given"]
        assert words == ["given:barley", "given:oil", "given:prices"]


def test_top_terms_name_the_words() -> None:
    classifier = trained(GivenVectors(VECTORS, name="given"))
    terms = [term for term, _ in classifier.top_terms("oil", 40).positive]
    assert "given:gasoline" in terms or "given:barley" in terms or "given:crude" in terms


# ------------------------------------------------------------------------------------- which words


def test_words_are_read_as_tokens(tmp_path: Path) -> None:
    path = tmp_path / "cased.txt"
    path.write_text("The 1 0\nNew_York 9 9\nthe 5 5\nPrices 0 1\n. 7 7\n1984 2 2\nprice 3 3\n")
    plain = Vectorizer(blocks=[GivenVectors(path)]).fit(["the prices", "prices"])
    assert list(plain.vocabulary_) == ["cased:<number>", "cased:price", "cased:prices", "cased:the"]
    assert plain.vectors_["cased"].words.tolist() == [[2, 2], [3, 3], [0, 1], [1, 0]]
    stemmed = Vectorizer(blocks=[GivenVectors(path)], stemmer="porter").fit(["the prices", "prices"])
    assert list(stemmed.vocabulary_) == ["cased:<number>", "cased:price", "cased:the"]
    assert stemmed.vectors_["cased"].words.tolist() == [[2, 2], [0, 1], [1, 0]]
    stopped = Vectorizer(blocks=[GivenVectors(path)], stop_words=["the"]).fit(["the prices", "prices"])
    assert "cased:the" not in list(stopped.vocabulary_)


def test_which_words_are_kept() -> None:
    for keep, words in ((0, ["corn", "wheat"]), (3, ["a", "b", "corn", "wheat"]), (None, None)):
        vectors = {word: [1.0, 2.0] for word in ["a", "b", "wheat", "c", "corn"]}
        vectorizer = Vectorizer(blocks=[GivenVectors(vectors, keep=keep, name="given")]).fit(["wheat corn"])
        wanted = sorted(vectors) if words is None else words
        assert list(vectorizer.vocabulary_) == [f"given:{word}" for word in wanted]


def test_how_many_words_were_found() -> None:
    vectorizer = vectorizer_of().fit(TEXTS)
    words = " ".join(TEXTS).split()
    assert vectorizer.given_["given"].found == sum(word in VECTORS for word in words) / len(words)
    with pytest.warns(DataWarning, match=r"Block 'words-given': only 0.0% of the words .*tokens, stemmer"):
        Vectorizer(blocks=["words", GivenVectors({"zzz": [1.0]})]).fit(TEXTS)


# ------------------------------------------------------------------------------------------ mistakes


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda texts: np.zeros((1, 3)), r"float64 of shape \(1, 3\); expected an array of 6 rows"),
        (lambda texts: np.zeros(len(texts)), r"shape \(6,\)"),
        (lambda texts: np.zeros((len(texts), 0)), r"shape \(6, 0\)"),
        (lambda texts: [[1.0, 2.0]] * 5 + [[1.0]], "cannot be read"),
        (lambda texts: np.full((len(texts), 2), np.nan), r"the vector of text 0 .* is not finite"),
        (lambda texts: np.full((len(texts), 2), 1e60), "is not finite"),
        (lambda texts: [["a"]] * len(texts), "<U1 of shape"),
        (lambda texts: None, "object of shape"),
        (lambda texts: sp.csr_array((6, 2)), "sparse matrix"),
    ],
)
def test_wrong_results_of_a_callable(result: Any, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        Vectorizer(blocks=["words", GivenVectors(result, name="encoder")]).fit(TEXTS)
    assert "Block 'encoder'" in str(caught.value)


def test_a_callable_whose_width_changes() -> None:
    widths = iter([3, 2])
    block = GivenVectors(lambda texts: np.ones((len(texts), next(widths))), name="encoder")
    vectorizer = Vectorizer(blocks=["words", block]).fit(TEXTS)
    with pytest.raises(DataError, match="'encoder': the vectors have 2 numbers, but earlier ones had 3"):
        vectorizer.transform(NEW)


def test_wrong_parameters() -> None:
    for block, message in (
        (GivenVectors(3), "of type int; expected a file, a mapping"),  # type: ignore[arg-type]
        (GivenVectors(np.zeros((6, 2))), r"DocumentVectors\(texts, matrix\)"),  # type: ignore[arg-type]
        (GivenVectors(VECTORS, name="a b"), "cannot be called 'a b'"),
        (GivenVectors(VECTORS, weight=0), "has the weight 0"),
        (GivenVectors(VECTORS, keep=-1), "keep=-1"),
        (GivenVectors(VECTORS, field="body"), "has the field 'body'"),
    ):
        with pytest.raises(UsageError, match=message):
            Vectorizer(blocks=["words", block]).fit(TEXTS)
    with pytest.raises(UsageError, match="two blocks 'words-given'"):
        parse_blocks([GivenVectors(VECTORS), GivenVectors(VECTORS)])
    with pytest.raises(UsageError, match="Hashed terms have no vectors"):
        Vectorizer(blocks=["words", GivenVectors(VECTORS)], n_hashed=64).fit(TEXTS)
    with pytest.raises(UsageError, match="are not counts"):
        Vectorizer(blocks=["words", GivenVectors(encode)], weighting=None).fit_transform(TEXTS)
    for wrong in ({}, {1: [1.0]}, {"a": [1.0], "b": [1.0, 2.0]}, {"a": 1.0}):
        with pytest.raises(DataError, match="'words-given': expected"):
            Vectorizer(blocks=[GivenVectors(wrong)]).fit(TEXTS)
    with pytest.raises(DataError, match="word 'b': value 2 is nan"):
        Vectorizer(blocks=[GivenVectors({"a": [1.0, 2.0], "b": [1.0, np.nan]})]).fit(TEXTS)


def test_wrong_vectors_of_documents() -> None:
    with pytest.raises(DataError, match="2 vectors for 1 documents"):
        DocumentVectors(["a"], np.ones((2, 3)))
    known = DocumentVectors(["a"], np.ones((1, 3)))
    with pytest.raises(DataError, match="have 2 numbers, but earlier ones had 3"):
        known.add(["b"], np.ones((1, 2)))
    with pytest.warns(DataWarning, match="1 documents have the text of another one, but another vector"):
        known.add(["b", "a"], np.array([[1, 2, 3], [4, 5, 6]]))
    assert known(["a", "b"]).tolist() == [[1, 1, 1], [1, 2, 3]]
    assert len(known) == 2


def test_fields_and_columns() -> None:
    block = GivenVectors(encode, name="titles", field="title")
    documents = {"title": ["Wheat", "Oil"], "body": ["Prices up.", "Down."]}
    vectorizer = Vectorizer(blocks=["words", block]).fit(documents)
    dense = unit(encode(["Wheat", "Oil"]) - encode(["Wheat", "Oil"]).mean(axis=0), np.ones(2, bool))
    X = vectorizer.transform(documents)[:, vectorizer.blocks_["titles"]].toarray() * np.sqrt(2)
    np.testing.assert_allclose(X, dense, atol=1e-6)
    encoder = Counting()
    Vectorizer(blocks=[GivenVectors(encoder)]).fit(documents)
    assert encoder.texts == ["Wheat\nPrices up.", "Oil\nDown."]


def test_texts_are_encoded_in_batches() -> None:
    encoder = Counting()
    Vectorizer(blocks=[GivenVectors(encoder)]).fit(TEXTS * 1000)
    assert encoder.calls == 2
    assert encoder.texts == TEXTS * 1000


def test_tuning_makes_the_rows_of_a_refit() -> None:
    """A race counts every block once, and weights it by the documents that are trained on."""
    encoder = Counting()
    words = GivenVectors(VECTORS, name="given", weight=0.7, keep=2)
    in_race, alone = (
        ["words", words, GivenVectors(source, name="encoded", weight=0.3)] for source in (encoder, encode)
    )
    seen, unseen = np.array([0, 2, 3, 4]), np.array([1, 5])
    rows = RaceRows(TEXTS, [Split(seen, unseen)])
    for weighting in ("ltc", "txc"):
        ((train, test),) = rows.parts({"blocks": in_race, "weighting": weighting})
        again = Vectorizer(blocks=alone, weighting=weighting).fit([TEXTS[i] for i in seen])
        found = np.vstack([train.toarray(), test.toarray()])
        expected = again.transform([TEXTS[i] for i in (*seen, *unseen)]).toarray()
        # Words that only other documents have are columns of zeros.
        found, expected = (X[:, X.any(axis=0)] for X in (found, expected))
        np.testing.assert_allclose(found, expected, atol=1e-6)
    assert encoder.calls == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda config, arrays: config["blocks"][1].update(given="callable"), "'blocks.given'"),
        (lambda config, arrays: config["blocks"][1].update(dims=3), "vectors_1_center|3 dimensions"),
        (lambda config, arrays: config["blocks"][1].update(dims=0), "'blocks.dims'"),
        (lambda config, arrays: config["blocks"][1].update(keep=-1), "'blocks.keep'"),
        (lambda config, arrays: config["blocks"][1].update(weight=-1.0), "has the weight -1"),
        (lambda config, arrays: config["blocks"][1].update(name="a b"), "cannot be called"),
        (lambda config, arrays: config["blocks"][1].pop("field"), "'blocks.field'"),
        (lambda config, arrays: arrays.pop("vectors_1_center"), "vectors_1_center"),
        (lambda config, arrays: arrays.update(vectors_1_center=np.full(4, np.nan)), "vectors_1_center"),
    ],
)
def test_a_damaged_state_of_vectors_of_documents(change: Any, message: str) -> None:
    block = GivenVectors(DocumentVectors(TEXTS, encode(TEXTS)), name="rows")
    config, arrays = Vectorizer(blocks=["words", block]).fit(TEXTS).get_state()
    change(config, arrays)
    with pytest.raises(DataError, match=message):
        Vectorizer.from_state(config, arrays)


def test_a_vector_at_the_mean_has_no_direction() -> None:
    mean = np.full((1, 3), 0.1, dtype=np.float32)
    away = np.array([[0.5, 0, 0]], dtype=np.float32)
    rows = np.concatenate([mean, mean + away, mean - away])
    block = GivenVectors(DocumentVectors(["a", "b", "c"], rows), name="rows")
    X = Vectorizer(blocks=[block]).fit_transform(["a", "b", "c"]).toarray()
    np.testing.assert_allclose(X, [[0, 0, 0], [1, 0, 0], [-1, 0, 0]], atol=1e-6)
