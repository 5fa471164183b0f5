"""Vectorizers with patterns and callables, against Python's `re` and scikit-learn's CountVectorizer."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from widemargin import TextClassifier, Vectorizer
from widemargin.errors import DataError, UsageError

TEXTS = [
    "Hello <b>World</b>, see https://example.org/page for foo-bar",
    "It's a well-known FACT: 42 of 7",
    "world fact hello Straße",
    "naïve façade 中文 <i>hello</i>",
]
LABELS = ["a", "b", "a", "b"]
WORD, IGNORED = r"[^\W\d_]+(?:['-][^\W\d_]+)*", r"<[^>]*>|https?://\S+"


def terms(texts, pattern, ignored=None, fold=str.casefold):
    """The terms of all texts, by `re`."""
    if ignored is not None:
        texts = [re.sub(ignored, lambda match: " " * len(match[0]), text) for text in texts]
    return sorted({word for text in texts for word in re.findall(pattern, fold(text))})


class TestPatterns:
    @settings(max_examples=40, deadline=None)
    @given(texts=st.lists(st.text(alphabet="abC<>'-/ ßé中:.1", max_size=25), min_size=1, max_size=5))
    def test_as_re(self, texts):
        texts = [*texts, "word"]
        found = Vectorizer(weighting=None, token_pattern=WORD, ignore_pattern=IGNORED)
        counts = found.fit_transform(texts).toarray()
        assert list(found.vocabulary_) == terms(texts, WORD, IGNORED)
        for text, row in zip(texts, counts, strict=True):
            cleared = re.sub(IGNORED, lambda match: " " * len(match[0]), text)
            words = re.findall(WORD, cleared.casefold())
            assert {term: words.count(term) for term in set(words)} == {
                term: count for term, count in zip(found.vocabulary_, row, strict=True) if count
            }
        for form in (np.array(texts), [text.encode() for text in texts]):
            assert (
                Vectorizer(weighting=None, token_pattern=WORD, ignore_pattern=IGNORED)
                .fit_transform(form)
                .toarray()
                == counts
            ).all()

    def test_as_count_vectorizer(self):
        theirs = CountVectorizer().fit(TEXTS[:2])
        ours = Vectorizer(token_pattern=r"(?u)\b\w\w+\b", weighting="counts").fit(TEXTS[:2])
        assert list(ours.vocabulary_) == theirs.get_feature_names_out().tolist()
        assert (ours.transform(TEXTS).toarray() == theirs.transform(TEXTS).toarray()).all()

    def test_saved_as_compiled(self, tmp_path):
        classifier = TextClassifier(Vectorizer(token_pattern=WORD, ignore_pattern=IGNORED)).fit(TEXTS, LABELS)
        classifier.save(tmp_path / "m.wm")
        loaded = TextClassifier.load(tmp_path / "m.wm")
        assert (loaded.decision_function(TEXTS) == classifier.decision_function(TEXTS)).all()
        assert loaded.vectorizer_.token_pattern.pattern == WORD
        again = TextClassifier(loaded.vectorizer_).fit(TEXTS, LABELS)
        assert (again.learner_.coef_ == classifier.learner_.coef_).all()
        again.save(tmp_path / "n.wm")
        assert (tmp_path / "n.wm").read_bytes() == (tmp_path / "m.wm").read_bytes()

    def test_explained_where_they_stand(self):
        classifier = TextClassifier(
            Vectorizer(token_pattern=WORD, ignore_pattern=IGNORED, ngram_range=(1, 2))
        )
        found = classifier.fit(TEXTS, LABELS).explain(TEXTS[0], "a")
        assert {"hello", "world", "see", "for", "foo-bar", "hello world"} == {
            part.term
            for part in found.contributions
            if part.term not in ("world see", "see for", "for foo-bar")
        }
        for part in found.contributions:
            if " " not in part.term:
                assert TEXTS[0][part.start : part.end].casefold() == part.term

    @pytest.mark.parametrize("blocks", [["words", "bigrams:0.5"], ["words", "chars:0.5"]])
    def test_blocks_streams_and_tuning(self, blocks):
        plain = Vectorizer(token_pattern=WORD, blocks=blocks)
        X = plain.fit_transform(TEXTS)
        assert (Vectorizer(token_pattern=WORD, blocks=blocks).fit(TEXTS).transform(TEXTS) != X).nnz == 0
        hashed = Vectorizer(token_pattern=WORD, n_hashed=256, weighting="counts")
        assert hashed.partial_fit(TEXTS[:2]).transform(["foo-bar"]).nnz == 1
        tuned = TextClassifier(Vectorizer(token_pattern=WORD), tune="fast").fit(TEXTS * 5, LABELS * 5)
        assert tuned.vectorizer_.token_pattern == WORD
        assert "foo-bar" in tuned.vectorizer_.vocabulary_

    def test_case_is_kept(self):
        found = Vectorizer(lowercase=False, weighting="counts").fit(TEXTS)
        assert {"Hello", "hello", "FACT", "Straße", "naïve"} <= set(found.vocabulary_)
        by_pattern = Vectorizer(lowercase=False, token_pattern=r"\w+").fit(TEXTS)
        assert list(by_pattern.vocabulary_) == terms(TEXTS, r"\w+", fold=str)

    def test_ignored_characters(self):
        units = {"units": "chars", "ngram_range": (2, 2), "weighting": "counts"}
        found = Vectorizer(ignore_pattern=r"\d+", **units).fit(["ab12cd"])
        assert list(found.vocabulary_) == [" c", "ab", "b ", "cd"]

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"token_pattern": "a(?=b)"}, "token_pattern='a.*look-around"),
            ({"ignore_pattern": 7}, "ignore_pattern=7: expected a regular expression"),
            ({"token_pattern": "a", "units": "chars"}, "Tokens do not apply to units='chars'"),
            ({"ignore_pattern": "a", "units": "bytes"}, "units='bytes' are as they are"),
            ({"lowercase": "no"}, "lowercase='no'"),
            ({"tokenizer": "split"}, "tokenizer='split': expected a callable"),
            ({"tokenizer": str.split, "token_pattern": "a"}, "Use either token_pattern or tokenizer"),
            ({"analyzer": str.split, "stemmer": "porter"}, "Use either stemmer or analyzer"),
            ({"analyzer": str.split, "ngram_range": (1, 2)}, "do not apply to an analyzer"),
        ],
    )
    def test_refused(self, parameters, message):
        with pytest.raises(UsageError, match=message):
            Vectorizer(**parameters).fit(TEXTS)


def exclaim(text):
    return text.replace("<", " ").replace(">", " ").upper()


class TestCallables:
    @pytest.mark.parametrize(
        "parameters",
        [
            {"tokenizer": str.split},
            {"tokenizer": str.split, "ngram_range": (1, 2)},
            {"tokenizer": str.split, "lowercase": False},
            {"tokenizer": str.split, "preprocessor": exclaim},
            {"tokenizer": lambda text: re.findall(r"\S+", text), "stop_words": ["a", "of"]},
            {"analyzer": lambda text: list(text.split("e"))[1:]},
        ],
    )
    def test_as_count_vectorizer(self, parameters):
        texts = [text.replace("ß", "s") for text in TEXTS]  # lower() and casefold() differ in it
        theirs = CountVectorizer(token_pattern=None, **parameters)
        ours = Vectorizer(weighting="counts", **parameters)
        X, Y = ours.fit_transform(texts), theirs.fit_transform(texts)
        names = theirs.get_feature_names_out().tolist()
        kept = [i for i, name in enumerate(names) if name]  # an empty term is none
        assert sorted(ours.vocabulary_) == sorted(names[i] for i in kept)
        order = np.argsort([names[i] for i in kept])
        mine = np.argsort(list(ours.vocabulary_))
        assert (X.toarray()[:, mine] == Y.toarray()[:, np.array(kept)[order]]).all()

    def test_a_preprocessor_replaces_case_folding(self):
        found = Vectorizer(preprocessor=exclaim, weighting="counts").fit(TEXTS[:1])
        assert "WORLD" in found.vocabulary_
        assert "world" not in found.vocabulary_

    @pytest.mark.parametrize("parameters", [{"tokenizer": str.split}, {"preprocessor": str.lower}])
    def test_explained_where_they_stand(self, parameters):
        classifier = TextClassifier(Vectorizer(**parameters)).fit(TEXTS, LABELS)
        found = classifier.explain(TEXTS[1], "b")
        assert found.score == pytest.approx(classifier.decision_function([TEXTS[1]])[0])
        marked = {part.term: TEXTS[1][part.start : part.end] for part in found.contributions}
        assert marked["a"] == "a"
        assert marked["fact" if "preprocessor" in parameters else "fact:"].casefold().startswith("fact")

    def test_not_saved(self, tmp_path):
        for name in ("preprocessor", "tokenizer", "analyzer"):
            call = str.lower if name == "preprocessor" else str.split
            classifier = TextClassifier(Vectorizer(**{name: call})).fit(TEXTS, LABELS)
            with pytest.raises(
                UsageError, match=f"a callable \\({name}\\), and a model file contains no code"
            ):
                classifier.save(tmp_path / "m.wm")

    def test_tuned(self):
        for name in ("tokenizer", "analyzer"):
            tuned = TextClassifier(Vectorizer(**{name: str.split}), tune="fast").fit(TEXTS * 5, LABELS * 5)
            assert getattr(tuned.vectorizer_, name) is str.split
            assert any("foo-bar" in term for term in tuned.vectorizer_.vocabulary_)

    def test_wrong_results(self):
        for call, message in ((lambda text: "words", "one str"), (lambda text: [1], "a int among words")):
            with pytest.raises(DataError, match=f"The tokenizer returned {message}"):
                Vectorizer(tokenizer=call).fit(TEXTS)
        with pytest.raises(DataError, match="The preprocessor returned list"):
            Vectorizer(preprocessor=str.split).fit(TEXTS)
