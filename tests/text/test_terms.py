"""Stop lists, stems, pruning, hashing: which terms a collection ends up with."""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from tests.reference import terms as reference
from tests.text.test_counts import rules, texts
from tests.text.test_large_collections import MIXED
from widemargin import Vectorizer
from widemargin.errors import DataError, UsageError
from widemargin.text.stop_lists import stop_list

DOCUMENTS = [
    "Connection of the connected connections",
    "the wheat the corn the 12 the 1987",
    "wheat corn wheat aren't",
    "corn of wheat inc. and co.",
]


GOLDEN = {"wheat": 318787, "wheat corn": 212229, "donaudampfschifffahrtsgesellschaft": 1039408}


def names(vectorizer: Vectorizer) -> list[str]:
    return list(vectorizer.get_feature_names_out())


class TestStopWords:
    def test_the_freewais_list(self):
        words = stop_list("freewais")
        assert len(words) == 389
        assert {"a", "yourselves", "aren't", "co.", "inc.", "co"} <= words

    def test_entries_with_punctuation_remove_nothing(self):
        found = Vectorizer(stop_words="freewais", weighting=None).fit(["aren't inc. co.", "won"])
        assert names(found) == ["aren", "inc", "won"]  # "t" and "co" are entries of their own

    def test_removed_before_ngrams_are_formed(self):
        for n_jobs in (1, 2):
            found = Vectorizer(stop_words=["The", "of"], ngram_range=(1, 2), weighting=None, n_jobs=n_jobs)
            matrix = found.fit_transform(DOCUMENTS)
            vocabulary, rows = reference.counts(DOCUMENTS, ngram_range=(1, 2), stop_words=["the", "of"])
            assert names(found) == vocabulary
            assert "corn wheat" in vocabulary
            assert (found.transform(DOCUMENTS) != matrix).nnz == 0
            assert matrix.sum() == sum(row.total() for row in rows)

    def test_the_number_token_can_be_a_stop_word(self):
        assert "<number>" not in names(Vectorizer(stop_words=["<number>"]).fit(DOCUMENTS))

    @pytest.mark.parametrize("words", ["english", ["the", 3]])
    def test_unknown_lists_are_refused(self, words):
        with pytest.raises(UsageError, match="stop"):
            Vectorizer(stop_words=words).fit(DOCUMENTS)


class TestStemming:
    @pytest.mark.parametrize("n_hashed", [None, 512])
    def test_like_stemming_every_word(self, n_hashed):
        texts = DOCUMENTS * 30
        arguments = {"ngram_range": (1, 2), "weighting": None, "n_hashed": n_hashed}
        stemmed = Vectorizer(stemmer="porter", stop_words=["the", "do"], **arguments)
        matrix = stemmed.fit_transform(texts)
        stem = Stemmer.Stemmer("porter").stemWord
        plain = [
            " ".join(
                "123" if word == reference.NUMBER else stem(word)
                for word in reference.terms(text)
                if word not in ("the", "do")
            )
            for text in texts
        ]
        expected = Vectorizer(**arguments)
        assert (expected.fit_transform(plain) != matrix).nnz == 0
        assert (stemmed.transform(texts) != matrix).nnz == 0
        if n_hashed is None:
            assert names(stemmed) == names(expected)

    def test_a_stem_may_be_a_stop_word(self):
        # "doing" is no stop word, though its stem "do" is one.
        found = Vectorizer(stemmer="english", stop_words=["do"], weighting=None).fit(["doing do does"])
        assert names(found) == ["do", "doe"]
        assert found.transform(["do doing"]).toarray().tolist() == [[1, 0]]

    def test_unknown_stemmers_are_refused(self):
        with pytest.raises(UsageError, match=r"no stemmer 'klingon'.*porter"):
            Vectorizer(stemmer="klingon").fit(DOCUMENTS)

    def test_lemmas_instead_of_stems(self):
        lemmas = Vectorizer(stemmer="lemma:en", stop_words=["the"], weighting=None)
        matrix = lemmas.fit_transform(["The harvests of 1987 were good", "a better harvest is 3% up"])
        assert names(lemmas) == ["<number>", "a", "be", "good", "harvest", "of", "up"]
        assert matrix.toarray().tolist() == [[1, 0, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 0, 1]]
        assert lemmas.transform(["harvests was best"]).toarray().tolist() == [[0, 0, 1, 1, 1, 0, 0]]
        assert Vectorizer.from_state(*lemmas.get_state()).transform(["were"]).sum() == 1

    def test_lemmas_that_dictionaries_capitalize_are_in_lower_case(self):
        # Luxembourgish, whose dictionary is small: Haiser, houses, is listed under Haus.
        assert names(Vectorizer(stemmer="lemma:lb", weighting=None).fit(["Haiser"])) == ["haus"]

    def test_a_language_without_lemmas_is_told(self):
        with pytest.raises(UsageError, match=r"no lemmas for the language 'xx'.*\ben\b"):
            Vectorizer(stemmer="lemma:xx").fit(DOCUMENTS)

    def test_the_extra_is_named_where_it_is_missing(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "simplemma.strategies.dictionaries.dictionary_factory", None)
        with pytest.raises(UsageError, match=r"pip install widemargin\[lemmas\]"):
            Vectorizer(stemmer="lemma:en").fit(DOCUMENTS)

    def test_only_words_have_stems_and_stop_words(self):
        with pytest.raises(UsageError, match="units='words'"):
            Vectorizer(units="chars", stemmer="porter").fit(DOCUMENTS)


class TestPruning:
    @pytest.mark.parametrize(
        "bounds",
        [{"min_df": 3}, {"max_df": 2}, {"min_df": 0.1, "max_df": 0.5}, {"min_df": 0.2}, {"max_features": 7}],
        ids=str,
    )
    @pytest.mark.parametrize(
        "rule", [{}, {"ngram_range": (1, 3)}, {"units": "chars", "ngram_range": (2, 3)}], ids=str
    )
    def test_like_count_vectorizer(self, bounds, rule):
        texts = [text for text in MIXED if text.isascii()]
        if rule.get("units") == "chars":
            texts = [" ".join(text.split()) for text in texts]
            theirs = CountVectorizer(analyzer="char", ngram_range=rule["ngram_range"], **bounds)
        else:
            theirs = CountVectorizer(token_pattern=r"\w+", **rule, **bounds)
        ours = Vectorizer(tokens="unicode", weighting=None, n_jobs=2, **rule, **bounds)
        found, expected = ours.fit_transform(texts), theirs.fit_transform(texts)
        if "max_features" in bounds:  # which of equally frequent terms stay differs
            assert sorted(found.sum(axis=0)) == sorted(np.asarray(expected.sum(axis=0)).ravel())
        else:
            assert names(ours) == list(theirs.get_feature_names_out())
            assert (found != expected).nnz == 0
        assert (ours.transform(texts) != found).nnz == 0
        assert np.array_equal(
            ours.document_frequencies_, np.bincount(found.indices, minlength=found.shape[1])
        )

    def test_collection_frequency(self):
        total = sum((Counter(reference.terms(text)) for text in DOCUMENTS), Counter())
        found = Vectorizer(min_count=4, weighting=None).fit(DOCUMENTS)
        assert names(found) == sorted(term for term, n in total.items() if n >= 4)

    def test_equally_frequent_terms_are_kept_in_order(self):
        assert names(Vectorizer(max_features=3).fit(["d c b a b"])) == ["a", "b", "c"]

    def test_nothing_left(self):
        with pytest.raises(
            DataError, match=r"After pruning, no terms remain\. Try a lower min_df or a higher max_df\."
        ):
            Vectorizer(min_df=4, max_df=4).fit(DOCUMENTS)

    @pytest.mark.parametrize(
        ("bounds", "message"),
        [
            ({"min_df": 5, "max_df": 2}, "max_df=2"),
            ({"min_df": 1.5}, "min_df=1.5"),
            ({"min_df": -1}, "min_df=-1"),
            ({"max_df": "all"}, "max_df='all'"),
            ({"min_df": True}, "min_df=True"),
            ({"min_count": 0}, "min_count=0"),
            ({"max_features": 2.5}, "max_features=2.5"),
        ],
    )
    def test_impossible_bounds_are_refused(self, bounds, message):
        with pytest.raises((UsageError, DataError), match=message):
            Vectorizer(**bounds).fit(DOCUMENTS)


class TestHashing:
    @settings(max_examples=150, deadline=None)
    @given(texts=texts, rule=rules, n_hashed=st.sampled_from([1, 7, 1024, 2**20]))
    def test_columns_are_those_of_the_documented_hash(self, texts, rule, n_hashed):
        arguments = dict(rule)
        arguments["min_token_length"] = arguments.pop("min_length")
        found = Vectorizer(weighting=None, n_hashed=n_hashed, **arguments)
        matrix = found.fit_transform(texts)
        assert (found.transform(texts) != matrix).nnz == 0
        low, high = rule["ngram_range"]
        for i, text in enumerate(texts):
            expected: Counter[int] = Counter()
            for units in reference.sequences(text, rule["units"], rule["tokens"], rule["min_length"]):
                lengths = range(low, high + 1)
                if rule["units"] == "chars_in_words" and 0 < len(units) < low:
                    lengths = range(len(units), len(units) + 1)
                for n in lengths:
                    for start in range(len(units) - n + 1):
                        expected[reference.hash_column(units[start : start + n], found.n_hashed)] += 1
            row = matrix[[i]]
            assert dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) == expected

    def test_the_hash_never_changes(self):
        # Models depend on these columns.
        found = Vectorizer(n_hashed=2**20, ngram_range=(1, 2), weighting=None)
        matrix = found.fit_transform(["wheat", "wheat corn", "donaudampfschifffahrtsgesellschaft", "ß"])
        rows = [matrix[[i]].indices.tolist() for i in range(4)]
        columns = [reference.hash_column(units, 2**20) for units in (["wheat"], ["corn"], ["wheat", "corn"])]
        assert rows[0] == [columns[0]] == [GOLDEN["wheat"]]
        assert rows[1] == sorted(columns)
        assert GOLDEN["wheat corn"] in rows[1]
        assert rows[2] == [GOLDEN["donaudampfschifffahrtsgesellschaft"]]
        assert rows[3] == [reference.hash_column(["ss"], 2**20)]

    def test_frequencies_and_threads(self):
        matrices = []
        for n_jobs in (1, 3):
            found = Vectorizer(n_hashed=64, weighting=None, n_jobs=n_jobs)
            matrices.append(found.fit_transform(MIXED))
            frequencies = (matrices[-1].toarray() > 0).sum(axis=0)
            assert np.array_equal(found.document_frequencies_, frequencies)
        assert (matrices[0] != matrices[1]).nnz == 0

    def test_no_terms_are_kept(self):
        found = Vectorizer(n_hashed=64).fit(DOCUMENTS)
        with pytest.raises(UsageError, match="Hashed terms"):
            found.get_feature_names_out()
        assert not hasattr(found, "vocabulary_")

    @pytest.mark.parametrize(
        "arguments", [{"n_hashed": 0}, {"n_hashed": 2**31}, {"n_hashed": 8, "min_df": 2}]
    )
    def test_impossible_settings_are_refused(self, arguments):
        with pytest.raises(UsageError, match="n_hashed"):
            Vectorizer(**arguments).fit(DOCUMENTS)
