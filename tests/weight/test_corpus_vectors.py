"""The block of vectors: words that occur together get similar vectors, and so do their documents."""

from __future__ import annotations

import json
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tests.reference.corpus_vectors import associations, document_products, word_products
from widemargin import Block, LinearSVM, PositiveWinnow, SelectFeatures, TextClassifier, Vectorizer
from widemargin._arrays import canonical_csr
from widemargin.classifier.scorer import Scorer
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.estimate.held_out import leave_one_out
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels
from widemargin.tune.race import Split
from widemargin.tune.staged.race_rows import RaceRows
from widemargin.weight import corpus_vectors
from widemargin.weight.blocks import parse_block
from widemargin.weight.corpus_vectors import CONTEXTS, SMOOTHING, word_vectors
from widemargin.weight.left_out import rows_and_blocks_without, rows_as_new
from widemargin.weight.term_vectors import TermVectors

GRAINS = [
    "wheat corn harvest",
    "corn harvest rain",
    "wheat rain field",
    "field corn wheat",
    "harvest field rain",
]
MONEY = ["bank loan rate", "rate bank credit", "loan credit bank", "credit rate money", "money loan bank"]
TRAIN = [*GRAINS, *MONEY, "wheat bank", "", "corn money corn"]
BLOCKS = ["words", "vectors:dims=4:0.5:min=2"]
matrices = st.integers(1, 9).flatmap(
    lambda n_words: st.lists(
        st.lists(st.integers(0, 2), min_size=n_words, max_size=n_words), min_size=1, max_size=12
    ).map(np.array)
)


def fitted(blocks=BLOCKS, **settings) -> Vectorizer:
    return Vectorizer(blocks=blocks, **settings).fit(TRAIN)


def dense(vectorizer: Vectorizer, texts) -> np.ndarray:
    return vectorizer.transform(texts).toarray().astype(np.float64)


def gram(vectorizer: Vectorizer, texts) -> np.ndarray:
    rows = dense(vectorizer, texts)
    return rows @ rows.T


class TestWordVectors:
    @settings(max_examples=150, deadline=None)
    @given(counts=matrices, dims=st.integers(1, 10))
    def test_inner_products_are_those_of_a_dense_reference(self, counts, dims) -> None:
        expected = word_products(counts, counts.shape[1], CONTEXTS, SMOOTHING)
        everything = word_vectors(canonical_csr(counts), max(dims, counts.shape[1]), 1)
        np.testing.assert_allclose(everything @ everything.T, expected, atol=1e-6)
        some = word_vectors(canonical_csr(counts), dims, 1)
        S = np.square(some).sum(axis=0)  # singular values
        reference = np.linalg.norm(everything, axis=0) ** 2
        np.testing.assert_allclose(S, np.pad(reference, (0, dims))[:dims], atol=1e-6)

    @settings(max_examples=60, deadline=None)
    @given(counts=matrices, n_contexts=st.integers(1, 6))
    def test_contexts_are_the_most_frequent_words(self, counts, n_contexts) -> None:
        expected = word_products(counts, counts.shape[1], n_contexts, SMOOTHING)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(corpus_vectors, "CONTEXTS", n_contexts)
            found = word_vectors(canonical_csr(counts), counts.shape[1], 1)
        np.testing.assert_allclose(found @ found.T, expected, atol=1e-6)

    @settings(max_examples=60, deadline=None)
    @given(counts=matrices, data=st.data())
    def test_neither_the_order_of_documents_nor_empty_columns_matter(self, counts, data) -> None:
        order = data.draw(st.permutations(range(len(counts))))
        wide = np.insert(counts, 1, 0, axis=1)
        found = word_vectors(canonical_csr(counts), 3, 1)
        again = word_vectors(canonical_csr(counts[order]), 3, 1)
        np.testing.assert_allclose(np.abs(again), np.abs(found), atol=1e-7)
        np.testing.assert_array_equal(np.delete(word_vectors(canonical_csr(wide), 3, 1), 1, axis=0), found)


@pytest.fixture(scope="module")
def counts() -> np.ndarray:
    """700 documents on 12 subjects with 500 words."""
    rng = np.random.default_rng(3)
    subjects = rng.dirichlet(np.full(500, 0.05), 12) + 2e-4
    shares = subjects / subjects.sum(axis=1, keepdims=True)
    documents = [rng.multinomial(rng.integers(5, 60), shares[rng.integers(12)]) for _ in range(700)]
    return np.array(documents)


class TestManyWords:
    """More words than dimensions and spare vectors, so that subspace iteration finds the vectors."""

    def test_nearly_all_of_the_best_approximation(self, counts) -> None:
        M = associations(counts, CONTEXTS, SMOOTHING)
        S = np.linalg.svd(M, compute_uv=False)[:20]
        found = np.square(word_vectors(canonical_csr(counts), 20, 2)).sum(axis=0)
        np.testing.assert_allclose(found[:10], S[:10], rtol=1e-3)
        np.testing.assert_allclose(found, S, rtol=0.05)

    def test_any_number_of_threads(self, counts) -> None:
        csr = canonical_csr(counts)
        found = [word_vectors(csr, 40, n_threads) for n_threads in (1, 2, 3, 7)]
        for other in found[1:]:
            np.testing.assert_array_equal(other, found[0])

    def test_any_order_of_documents(self, counts) -> None:
        order = np.random.default_rng(0).permutation(len(counts))
        texts = [" ".join(f"w{word:03}" for word in np.repeat(np.arange(500), row)) for row in counts]
        first = Vectorizer(blocks=["vectors:dims=30"]).fit(texts)
        other = Vectorizer(blocks=["vectors:dims=30"]).fit([texts[i] for i in order])
        np.testing.assert_allclose(gram(other, texts[:200]), gram(first, texts[:200]), atol=1e-5)

    def test_columns_are_a_part_of_those_of_a_larger_collection(self, counts) -> None:
        """A word that no document has changes nothing, to the last bit: folds are refits."""
        wide = np.zeros((len(counts), 600), dtype=counts.dtype)
        wide[:, 50:550] = counts
        found = word_vectors(canonical_csr(wide), 30, 2)
        np.testing.assert_array_equal(found[50:550], word_vectors(canonical_csr(counts), 30, 2))
        assert not found[:50].any()


class TestRows:
    @settings(max_examples=80, deadline=None)
    @given(
        train=st.lists(
            st.lists(st.sampled_from("abcdefg"), max_size=6).map(" ".join), min_size=1, max_size=10
        ),
        new=st.lists(
            st.lists(st.sampled_from("abcdefgxyz"), max_size=6).map(" ".join), min_size=1, max_size=5
        ),
        scheme=st.sampled_from(["ltc", "tfc", "bxx", "txa", "lpc"]),
    )
    def test_documents_against_the_reference(self, train, new, scheme) -> None:
        if not any(train):
            return
        vectorizer = Vectorizer(blocks=["vectors:dims=20:min=1"], weighting=scheme)
        counts = vectorizer.fit_counts(train)
        plain = Vectorizer(weighting=scheme).fit(train)
        products = word_products(counts.matrix.toarray(), 20, CONTEXTS, SMOOTHING)
        expected = document_products(dense(plain, train), dense(plain, new), products)
        np.testing.assert_allclose(gram(vectorizer, new), expected, atol=1e-5)

    def test_columns_come_last_and_have_the_weight_of_the_block(self) -> None:
        vectorizer = fitted(["vectors:dims=4:0.5:min=2", "words"])
        n_words = len(Vectorizer().fit(TRAIN).vocabulary_)
        assert vectorizer.blocks_ == {"words": slice(0, n_words), "vectors": slice(n_words, n_words + 4)}
        rows = vectorizer.transform(TRAIN)
        assert rows.shape == (len(TRAIN), n_words + 4)
        assert rows.dtype == np.float32
        length = np.linalg.norm(rows[:, vectorizer.blocks_["vectors"]].toarray(), axis=1)
        np.testing.assert_allclose(length[:5], 0.5 / np.sqrt(1.25), rtol=1e-6)
        np.testing.assert_allclose(np.linalg.norm(rows.toarray(), axis=1)[:5], 1.0, rtol=1e-6)

    def test_documents_on_one_subject_are_similar_without_a_shared_word(self) -> None:
        _, grain, money = gram(fitted(["vectors:dims=2:min=2"]), ["wheat", "rain field", "loan"])[0]
        assert grain > 0.3 > 0 > money

    def test_names(self) -> None:
        vectorizer = fitted()
        names = vectorizer.get_feature_names_out()
        assert list(names[-4:]) == ["vectors:1", "vectors:2", "vectors:3", "vectors:4"]
        assert list(names[:-4]) == list(Vectorizer().fit(TRAIN).vocabulary_)
        assert len(names) == vectorizer.transform(TRAIN).shape[1] == vectorizer.n_columns

    def test_unknown_words_are_ignored(self) -> None:
        vectorizer = fitted()
        known, more = dense(vectorizer, ["wheat corn", "wheat zzz corn"])
        np.testing.assert_array_equal(known, more)
        assert not dense(vectorizer, ["Weizen und Mais", ""]).any()

    def test_any_number_of_threads(self) -> None:
        rows = [fitted(n_jobs=n_jobs).transform(TRAIN).toarray() for n_jobs in (1, 2, 5)]
        np.testing.assert_array_equal(rows[0], rows[1])
        np.testing.assert_array_equal(rows[0], rows[2])

    def test_any_order_of_documents(self) -> None:
        order = np.random.default_rng(0).permutation(len(TRAIN))
        other = Vectorizer(blocks=BLOCKS).fit([TRAIN[i] for i in order])
        np.testing.assert_allclose(gram(other, TRAIN), gram(fitted(), TRAIN), atol=1e-5)

    def test_fit_transform_is_fit_and_transform(self) -> None:
        at_once = Vectorizer(blocks=BLOCKS).fit_transform(TRAIN)
        np.testing.assert_array_equal(at_once.toarray(), fitted().transform(TRAIN).toarray())

    def test_fewer_words_than_dimensions_leave_columns_empty(self) -> None:
        rows = Vectorizer(blocks=["vectors:min=1"]).fit_transform(["corn wheat", "wheat"])
        assert rows.shape == (2, 100)
        assert rows.nnz <= 4

    @pytest.mark.parametrize("texts", [["corn"], ["corn", "corn"], ["corn", ""], ["corn wheat", "oil gas"]])
    def test_tiny_collections(self, texts) -> None:
        rows = Vectorizer(blocks=["words", "vectors:min=1"]).fit_transform(texts)
        assert rows.shape[0] == len(texts)
        assert np.isfinite(rows.data).all()

    def test_no_word_is_frequent_enough(self) -> None:
        vectorizer = Vectorizer(blocks=["words", "vectors"])
        with pytest.warns(DataWarning, match="'vectors' is empty"):
            rows = vectorizer.fit_transform(["corn wheat", "oil gas"])
        assert rows.shape == (2, 104)
        assert vectorizer.blocks_["vectors"] == slice(4, 104)
        with pytest.raises(DataError, match="min_df"):
            Vectorizer(blocks=["vectors"]).fit(["corn wheat", "oil gas"])

    def test_vectors_of_a_field(self) -> None:
        texts = {"title": ["corn", "corn rain", "bank", "bank loan"], "body": ["a", "b", "c", "d"]}
        blocks = ["words", Block("subjects", field="title", dims=2, min_df=1)]
        vectorizer = Vectorizer(blocks=blocks).fit(texts)
        assert list(vectorizer.get_feature_names_out()[-2:]) == ["subjects:1", "subjects:2"]
        rows = vectorizer.transform({"title": ["corn"], "body": ["loan"]}).toarray()
        same = vectorizer.transform({"title": ["corn"], "body": ["bank"]}).toarray()
        at = vectorizer.blocks_["subjects"]
        np.testing.assert_array_equal(rows[:, at], same[:, at])


class TestBlocks:
    @pytest.mark.parametrize(
        ("text", "dims", "weight", "min_df"),
        [
            ("vectors", 100, 1.0, 3),
            ("vectors:0.5", 100, 0.5, 3),
            ("vectors:dims=200", 200, 1.0, 3),
            ("vectors:dims=200:0.5", 200, 0.5, 3),
            ("vectors:dims=20:2:min=5", 20, 2.0, 5),
        ],
    )
    def test_written(self, text, dims, weight, min_df) -> None:
        assert parse_block(text) == Block("vectors", weight=weight, min_df=min_df, dims=dims)

    @pytest.mark.parametrize(
        "text", ["vectors:dim=3", "vectors:dims=0", "vectors:dims=9999", "vectors:0.5:dims=3", "words:dims=3"]
    )
    def test_mistakes(self, text) -> None:
        with pytest.raises(UsageError, match=r"dims|dimensions|lengths"):
            Vectorizer(blocks=[text]).fit(TRAIN)

    def test_hashed_terms_have_none(self) -> None:
        with pytest.raises(UsageError, match="Omit n_hashed"):
            Vectorizer(blocks=["words", "vectors:min=1"], n_hashed=16).fit(TRAIN)

    def test_restricted(self) -> None:
        every = Vectorizer(blocks=["words", "bigrams", "vectors:dims=4:min=2"])
        counts = every.fit_counts(TRAIN)
        for blocks in (["words"], BLOCKS, ["vectors:dims=4:min=2"]):
            some, own = every.restricted_to(blocks, counts)
            alone = Vectorizer(blocks=blocks)
            expected = alone.fit_transform(TRAIN)
            np.testing.assert_array_equal(some.weighed(own).matrix.toarray(), expected.toarray())
            assert some.blocks_ == alone.blocks_
        with pytest.raises(UsageError, match="was not counted"):
            every.restricted_to(["vectors:dims=5:min=2"], counts)

    def test_reweighted(self) -> None:
        counting = Vectorizer(blocks=BLOCKS, weighting=None)
        counts = counting.fit_counts(TRAIN)
        assert counting.transform(TRAIN).dtype == np.int32
        expected = fitted(weighting="tfc").transform(TRAIN).toarray()
        for start in (counting, fitted()):
            found = start.reweighted("tfc", counts=counts).weighed(counts).matrix.toarray()
            np.testing.assert_array_equal(found, expected)
        with pytest.raises(UsageError, match="counts"):
            counting.reweighted("tfc")

    def test_more_documents_leave_the_vectors_of_words(self) -> None:
        vectorizer = fitted()
        words = vectorizer.vectors_["vectors"].words
        vectorizer.partial_fit(["corn corn", "unseen words"])
        assert vectorizer.vectors_["vectors"].words is words
        assert vectorizer.n_documents_ == len(TRAIN) + 2

    def test_copies(self) -> None:
        vectorizer = fitted()
        for other in (clone(vectorizer).fit(TRAIN), pickle.loads(pickle.dumps(vectorizer))):
            np.testing.assert_array_equal(dense(other, TRAIN), dense(vectorizer, TRAIN))


class TestLeftOut:
    def test_folds_are_refits(self) -> None:
        vectorizer = Vectorizer(blocks=BLOCKS)
        counts = vectorizer.fit_counts(TRAIN)
        out = np.arange(len(TRAIN)) % 3 == 0
        rows, blocks = rows_and_blocks_without(vectorizer, counts, TRAIN, out)
        again = Vectorizer(blocks=BLOCKS).fit(
            [text for text, is_out in zip(TRAIN, out, strict=True) if not is_out]
        )
        at, expected = blocks["vectors"], dense(again, TRAIN)[:, again.blocks_["vectors"]]
        np.testing.assert_allclose(rows.matrix.toarray()[:, at], expected, atol=1e-6)

    def test_splits_of_a_race_are_refits(self) -> None:
        seen, unseen = np.arange(0, 9), np.arange(9, len(TRAIN))
        rows = RaceRows(TRAIN, [Split(seen, unseen)])
        ((train, test),) = rows.parts({"blocks": BLOCKS, "weighting": "ltc", "idf_power": 1.0})
        again = Vectorizer(blocks=BLOCKS).fit(TRAIN[:9])
        for found, texts in ((train, TRAIN[:9]), (test, TRAIN[9:])):
            expected = dense(again, texts)[:, again.blocks_["vectors"]]
            np.testing.assert_allclose(found.toarray()[:, -4:], expected, atol=1e-6)

    def test_no_document_is_left_out_alone(self) -> None:
        vectorizer = Vectorizer(blocks=BLOCKS)
        counts = vectorizer.fit_counts(TRAIN)
        with pytest.raises(UsageError, match="k-fold"):
            rows_as_new(vectorizer, counts)
        X, y = vectorizer.weighed(counts).matrix, Labels.of([i % 2 for i in range(len(TRAIN))])
        rows = TrainingRows(X, y, TRAIN, vectorizer, counts)
        found = leave_one_out(LinearSVM().fit(X, y), X, y, folds=3, rows=rows)
        assert found.method == "k-fold"


class TestClassifier:
    labels = ["grain"] * 5 + ["money"] * 5

    def classifier(self, **settings) -> TextClassifier:
        settings = {"tune": None, "estimate": None, **settings}
        made = TextClassifier(vectorizer=Vectorizer(blocks=BLOCKS), **settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            return made.fit([*GRAINS, *MONEY], self.labels)

    def test_saved_and_loaded(self, tmp_path) -> None:
        classifier = self.classifier()
        classifier.save(tmp_path / "model.wm")
        texts = [*TRAIN, "unknown", "wheat unknown"]
        scores = classifier.decision_function(texts)
        loaded = TextClassifier.load(tmp_path / "model.wm")
        np.testing.assert_array_equal(loaded.decision_function(texts), scores)
        np.testing.assert_array_equal(Scorer.load(tmp_path / "model.wm").scores(texts), scores)
        assert loaded.explain("wheat loan", "money") == classifier.explain("wheat loan", "money")
        assert (tmp_path / "model.wm").stat().st_size < 50_000

    def test_state_is_plain(self) -> None:
        vectorizer = fitted()
        config, arrays = vectorizer.get_state()
        loaded = TermVectors.from_state(json.loads(json.dumps(config)), arrays)
        np.testing.assert_array_equal(loaded.rows(TRAIN).data, vectorizer.rows(TRAIN).data)
        arrays["vectors_1_words"] = arrays["vectors_1_words"][:, :3]
        with pytest.raises(DataError, match="vectors_1_words"):
            TermVectors.from_state(config, arrays)
        del arrays["vectors_1_words"]
        with pytest.raises(DataError, match="missing"):
            TermVectors.from_state(config, arrays)

    @pytest.mark.parametrize("estimate", ["auto", "leave-one-out", "one-step"])
    def test_estimates_are_by_folds(self, estimate) -> None:
        found = self.classifier(estimate=estimate).training_summary_["estimates"]
        assert found["method"] == "k-fold"

    def test_explanation_names_words(self) -> None:
        classifier = self.classifier()
        text = "wheat rain loan unknown wheat"
        explanation = classifier.explain(text, "money")
        parts = explanation.contributions
        assert {(part.term, part.block) for part in parts} == {
            (prefix + word, block)
            for word in ("wheat", "rain", "loan")
            for prefix, block in (("", "words"), ("vectors:", "vectors"))
        }
        total = explanation.bias + sum(part.value for part in parts)
        np.testing.assert_allclose(total, explanation.score, atol=1e-6)
        value = {part.term: part.value for part in parts}
        assert value["vectors:loan"] > 0 > value["vectors:wheat"]

    def test_top_terms_are_words(self) -> None:
        top = self.classifier().top_terms("money", 30)
        names = {name for name, _ in top.positive}
        assert {"vectors:bank", "vectors:loan", "bank"} <= names
        assert {"vectors:rain", "vectors:corn"} <= {name for name, _ in top.negative}
        assert "vectors:1" not in names

    def test_selected_features(self) -> None:
        classifier = self.classifier(features=SelectFeatures("ig", 6))
        explanation = classifier.explain("wheat loan", "money")
        total = explanation.bias + sum(part.value for part in explanation.contributions)
        np.testing.assert_allclose(total, explanation.score, atol=1e-6)

    def test_learners_of_terms_refuse_it(self) -> None:
        with pytest.raises(UsageError, match="Omit the block"):
            self.classifier(learner=PositiveWinnow(normalize=False))
