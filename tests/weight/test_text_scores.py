"""One call of the core from texts to scores gives exactly what counting, weighting, selecting columns and
multiplying give one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import widemargin._core as _core
from widemargin import LinearSVM, SelectFeatures, TextClassifier, Vectorizer
from widemargin._arrays import times
from widemargin.classifier import Scorer
from widemargin.features.kept_columns import KeptColumns
from widemargin.weight.text_scores import TextScores

WORDS = [
    *[
        "wheat",
        "corn",
        "harvest",
        "crops",
        "bank",
        "rates",
        "loan",
        "profit",
        "oil",
        "gas",
        "the",
        "of",
        "and",
        "1987",
        "12.5",
        "blé",
        "Öl",
    ],
    "油",
]
rng = np.random.default_rng(0)
TEXTS = [
    "\n".join(" ".join(rng.choice(WORDS, size=rng.integers(1, 9))) for _ in range(rng.integers(1, 4)))
    for _ in range(40)
]
COLUMNS = [{"title": text.split("\n")[0], "body": text, "note": None} for text in TEXTS]
THESAURUS = {"CEREALS": ["wheat", "corn", "harvest crops"], "MONEY": ["bank rates", "loan"]}

REPRESENTATIONS: dict[str, dict[str, Any]] = {
    "words": {},
    "stop words": {"stop_words": "freewais"},
    "n-grams": {"ngram_range": (1, 3)},
    "characters": {"units": "chars", "ngram_range": (2, 4)},
    "characters in words": {"units": "chars_in_words", "ngram_range": (3, 4)},
    "bytes": {"units": "bytes", "ngram_range": (1, 3)},
    "hashed": {"n_hashed": 50, "ngram_range": (1, 2)},
    "hashed blocks": {"n_hashed": 50, "blocks": "words,title"},
    "pairs": {"pairs": "near:3"},
    "a pattern": {"token_pattern": r"[a-z]{3}"},
    "a callable": {"preprocessor": str.upper},
    "stems": {"stemmer": "porter", "stop_words": "freewais"},
    "thesaurus": {"thesaurus": THESAURUS},
    "thesaurus of stems": {"thesaurus": THESAURUS, "stemmer": "porter"},
    "blocks": {"blocks": "words,bigrams:0.5,chars:2"},
    "many blocks": {"blocks": "words,bigrams,chars:2-3:2,title,first-line:0.3"},
    "a block without terms": {"blocks": "words,subject"},
}
SCHEMES = ["ltc", "bxx", "txx", "nfc", "spa", "tpc", "lfx", None]
PIECES = st.one_of(
    st.sampled_from([*WORDS, "unknown", "\n", "", "Wheat", "\x1f", "\ud800"]), st.text(max_size=6)
)
DOCUMENTS = st.lists(st.lists(PIECES, max_size=12).map(" ".join), max_size=70)


def fitted(weighting: str | None, texts: Any = TEXTS, **parameters: Any) -> Vectorizer:
    return Vectorizer(weighting=weighting, **parameters).fit(texts)


def rules(n_columns: int, n_labels: int) -> tuple[Any, Any]:
    made = np.random.default_rng(n_labels)
    return made.normal(size=(n_columns, n_labels)), made.normal(size=n_labels)


def one_after_another(vectorizer: Any, texts: Any, weights: Any, intercept: Any, kept: Any = None) -> Any:
    rows = vectorizer.rows(texts)
    rows = rows._replace(data=rows.data.astype(np.float32))
    return times(rows if kept is None else kept.apply(rows), weights, 1, plus=intercept)


@pytest.mark.filterwarnings("ignore:Block 'subject' is empty:widemargin.errors.DataWarning")
@pytest.mark.parametrize("name", REPRESENTATIONS)
@given(scheme=st.sampled_from(SCHEMES), documents=DOCUMENTS, n_labels=st.sampled_from([1, 3, 20, 37]))
@settings(max_examples=12, deadline=None)
def test_one_call_equals_the_steps(name, scheme, documents, n_labels):
    vectorizer = fitted(scheme, **REPRESENTATIONS[name])
    weights, intercept = rules(vectorizer.n_columns, n_labels)
    found = TextScores.of(vectorizer, weights, intercept)(documents)
    expected = one_after_another(vectorizer, documents, weights, intercept)
    np.testing.assert_array_equal(found, expected)


@given(documents=DOCUMENTS, factored=st.booleans(), seed=st.integers(0, 9))
@settings(max_examples=25, deadline=None)
def test_dropped_columns(documents, factored, seed):
    vectorizer = fitted("ltc", blocks="words,bigrams")
    made = np.random.default_rng(seed)
    columns = np.flatnonzero(made.random(vectorizer.n_columns) < 0.5)
    factors = made.random(len(columns)) if factored else None
    kept = KeptColumns.at(columns, vectorizer.n_columns, factors)
    weights, intercept = rules(len(columns), 5)
    found = TextScores.of(vectorizer, weights, intercept, kept.place, kept.factors)(documents)
    expected = one_after_another(vectorizer, documents, weights, intercept, kept)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_many_long_documents_on_threads(threads):
    documents = [" ".join(TEXTS[i % 40] for _ in range(i % 30)) for i in range(300)]
    vectorizer = fitted("ltc", n_jobs=threads, blocks="words,title")
    weights, intercept = rules(vectorizer.n_columns, 7)
    found = TextScores.of(vectorizer, weights, intercept)(documents)
    np.testing.assert_array_equal(found, one_after_another(vectorizer, documents, weights, intercept))


def test_columns_of_text():
    vectorizer = fitted("ltc", COLUMNS, fields=("title", "body", "note"), blocks="words,title,body:0.4")
    weights, intercept = rules(vectorizer.n_columns, 4)
    found = TextScores.of(vectorizer, weights, intercept)(COLUMNS)
    np.testing.assert_array_equal(found, one_after_another(vectorizer, COLUMNS, weights, intercept))


def test_vectors_take_the_steps():
    vectorizer = fitted("ltc", blocks="words,vectors:dims=4:min=1")
    assert TextScores.of(vectorizer, *rules(vectorizer.n_columns, 2)) is None


@pytest.mark.parametrize("features", [None, SelectFeatures("chi2", 9)])
def test_the_scorer_uses_it(features, monkeypatch):
    labels = ["grain" if "wheat" in text or "corn" in text else "other" for text in TEXTS]
    model = TextClassifier(features=features, estimate=None, tune=None).fit(TEXTS, labels)
    expected = model.decision_function(TEXTS)
    calls = []
    call = TextScores.__call__
    monkeypatch.setattr(TextScores, "__call__", lambda self, texts: calls.append(1) or call(self, texts))
    np.testing.assert_array_equal(model.decision_function(TEXTS), expected)
    assert calls
    parts = model.scorer
    rows = parts.representation.rows(TEXTS)
    np.testing.assert_array_equal(model.learner_.decision_function(rows.matrix), expected)


def test_what_has_learned_since_is_noticed():
    vectorizer, learner = Vectorizer(), LinearSVM()
    labels = ["grain" if "wheat" in text or "corn" in text else "other" for text in TEXTS]
    model = TextClassifier(vectorizer, learner, estimate=None, tune=None).fit(TEXTS, labels)
    scorer: Scorer = model.scorer
    before = scorer.scores(TEXTS)
    scorer.learner.intercept_ = scorer.learner.intercept_ + 1
    np.testing.assert_allclose(scorer.scores(TEXTS), before + 1, rtol=0, atol=1e-12)


def test_mismatched_arrays_are_refused():
    """Nothing reaches the core that it would read past."""
    vectorizer = fitted("ltc")
    n = vectorizer.n_columns
    weights, intercept = rules(n, 2)
    with pytest.raises(ValueError, match=r"weights|columns"):
        TextScores(vectorizer, weights[:-1], intercept)
    with pytest.raises(ValueError, match=r"intercept|weights"):
        TextScores(vectorizer, weights, intercept[:-1])
    for wrong in (np.full(n, n, np.int32), np.arange(n, dtype=np.int32)[::-1].copy()):
        with pytest.raises(ValueError, match="place"):
            TextScores(vectorizer, weights, intercept, wrong)
    with pytest.raises(ValueError, match="place"):
        TextScores(vectorizer, weights, intercept, np.zeros(n - 1, np.int32))


def test_blocks_must_fit_the_rules():
    small, large = fitted("ltc"), fitted("ltc", ngram_range=(1, 2))
    scores = TextScores(small, *rules(small.n_columns, 2))
    blocks = large.index.blocks(large.views(TEXTS), 1)
    out = np.empty((len(TEXTS), 2))
    for given_blocks, target in (
        (blocks, out),
        ([], out),
        (small.index.blocks(small.views(TEXTS), 1), out[:3]),
    ):
        with pytest.raises(ValueError, match="blocks"):
            scores._scorer.score(given_blocks, target, 1)
    assert isinstance(scores._scorer, _core.TextScorer)
