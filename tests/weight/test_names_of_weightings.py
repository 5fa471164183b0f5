"""Weightings by name: the same as by three letters."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin import TextClassifier, Vectorizer
from widemargin.errors import UsageError

TEXTS = ["wheat wheat corn", "corn oil", "oil oil oil price", "wheat price"]
LABELS = ["grain", "fuel", "fuel", "grain"]


@pytest.mark.parametrize(("name", "letters"), [("tfidf", "ltc"), ("counts", None), ("binary", "bxx")])
class TestNames:
    def test_weights(self, name, letters):
        named, plain = Vectorizer(weighting=name), Vectorizer(weighting=letters)
        X, expected = named.fit_transform(TEXTS), plain.fit_transform(TEXTS)
        assert X.dtype == expected.dtype
        assert (expected != X).nnz == 0
        assert named.get_params()["weighting"] == name
        counted = Vectorizer(weighting=None)
        counts = counted.fit_transform(TEXTS)
        assert (counted.reweighted(name).weigh(counts) != expected).nnz == 0
        assert (Vectorizer(weighting=name).partial_fit_transform(TEXTS) != X).nnz == 0 or name == "tfidf"

    def test_models_record_the_letters(self, name, letters, tmp_path):
        classifier = TextClassifier(Vectorizer(weighting=name), tune=None, estimate=None).fit(TEXTS, LABELS)
        classifier.save(tmp_path / "m.wm")
        loaded = TextClassifier.load(tmp_path / "m.wm")
        assert loaded.vectorizer_.weighting == letters
        assert (loaded.decision_function(TEXTS) == classifier.decision_function(TEXTS)).all()
        assert loaded.explain(TEXTS[0]).score == pytest.approx(classifier.explain(TEXTS[0]).score)

    def test_blocks_and_tuning(self, name, letters):
        blocks = ["words", "bigrams:0.5"]
        named = TextClassifier(Vectorizer(weighting=name, blocks=blocks), tune=None, estimate=None).fit(
            TEXTS, LABELS
        )
        plain = TextClassifier(Vectorizer(weighting=letters, blocks=blocks), tune=None, estimate=None).fit(
            TEXTS, LABELS
        )
        assert (named.learner_.coef_ == plain.learner_.coef_).all()
        tuned = TextClassifier(Vectorizer(weighting=name), tune="fast", estimate=None)
        tuned.fit(TEXTS * 5, LABELS * 5)
        assert tuned.vectorizer_.scheme == letters
        assert np.isfinite(tuned.decision_function(TEXTS)).all()


@pytest.mark.parametrize("name", ["TFIDF", "tf-idf", "count", 7, ""])
def test_unknown_names(name):
    with pytest.raises(UsageError, match="tfidf, counts or binary, or three letters"):
        Vectorizer(weighting=name).fit(TEXTS)
