"""Pairs of words against the slow oracle, in counts, in texts, in held-out rows and in explanations."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import terms as reference
from tests.text.test_counts import assert_counts, texts, vectorizer
from tests.text.test_large_collections import MIXED
from widemargin import TextClassifier, Vectorizer
from widemargin.errors import DataError, UsageError
from widemargin.text.pairs import is_pair, parse_pairs
from widemargin.weight.left_out import rows_as_new, rows_without

pair_rules = st.fixed_dictionaries(
    {
        "pairs": st.sampled_from(["after:0:min=1", "after:2:min=1", "near:0:min=1", "near:3:min=1"]),
        "tokens": st.sampled_from(["alnum", "unicode"]),
        "ngram_range": st.sampled_from([(1, 1), (1, 2), (2, 3)]),
        "min_length": st.sampled_from([1, 2]),
    }
)
few = st.lists(st.sampled_from(["oil", "Öl", "中文", "~", "...", "42", "zé", "_", "\n"]), max_size=14)
any_texts = texts | st.lists(few.map(" ".join), min_size=1, max_size=6)


@settings(max_examples=300, deadline=None)
@given(texts=any_texts, rule=pair_rules)
def test_any_text(texts, rule):
    vocabulary, rows = reference.counts(texts, **rule)
    found = vectorizer(rule)
    if not vocabulary:
        with pytest.raises(DataError, match="contain no terms"):
            found.fit(texts)
        return
    assert_counts(found, found.fit_transform(texts), vocabulary, rows)
    assert_counts(found, found.transform(texts), vocabulary, rows)
    assert is_pair(found.vocabulary_).tolist() == [" ... " in term or " ~ " in term for term in vocabulary]
    for i, text in enumerate(texts):
        located = found.locate(text)
        assert np.array_equal(
            np.bincount(located.columns, minlength=len(vocabulary)), found.transform([text]).toarray()[0]
        )
        gaps = located.gap_starts < located.ends
        assert np.array_equal(gaps, is_pair(found.vocabulary_)[located.columns])
        assert rows[i].total() == len(located.columns)


@settings(max_examples=100, deadline=None)
@given(train=any_texts, test=any_texts, rule=pair_rules)
def test_unseen_text_ignores_unknown_pairs(train, test, rule):
    vocabulary, _ = reference.counts(train, **rule)
    if not vocabulary:
        return
    _, rows = reference.counts(test, **rule)
    rows = [{term: n for term, n in row.items() if term in set(vocabulary)} for row in rows]
    found = vectorizer(rule).fit(train)
    assert_counts(found, found.transform(test), vocabulary, rows)


@pytest.mark.parametrize("pairs", ["after:3", "near:3", "near:3:min=1", "after:40:min=3"])
@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2)])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_large_collections(pairs, ngram_range, n_jobs):
    fewest = parse_pairs(pairs).fewest
    vocabulary, rows = reference.counts(MIXED, pairs=pairs, ngram_range=ngram_range, stop_words=["the"])
    frequency = Counter(term for row in rows for term in row)
    kept = [
        term for term in vocabulary if frequency[term] >= (fewest if " ... " in term or " ~ " in term else 1)
    ]
    known = set(kept)
    rows = [{term: row[term] for term in row if term in known} for row in rows]
    found = Vectorizer(
        pairs=pairs, ngram_range=ngram_range, stop_words=["the"], weighting=None, n_jobs=n_jobs
    )
    assert_counts(found, found.fit_transform(MIXED), kept, rows)
    assert_counts(found, found.transform(MIXED), kept, rows)


def test_a_window_does_not_end_pairs():
    text = " ".join(f"w{i % 997}" for i in range(20_000))
    found = Vectorizer(pairs="after:5:min=1", weighting=None).fit([text])
    assert found.transform([text]).sum() == 20_000 + sum(20_000 - d for d in range(1, 7))


@pytest.mark.parametrize("kind", ["after", "near"])
def test_pairs_are_hashed(kind):
    words = ["oil", "price", "oil", "up"]
    found = Vectorizer(pairs=f"{kind}:1", n_hashed=512, weighting=None).fit([" ".join(words)])
    expected = np.zeros(512, dtype=int)
    mark = {"after": "...", "near": "~"}[kind]
    for word in words:
        expected[reference.hash_column([word], 512)] += 1
    for i, j in ((0, 1), (0, 2), (1, 2), (1, 3), (2, 3)):
        pair = [words[i], words[j]]
        if kind == "near":
            pair.sort(key=reference.hash_unit)
        expected[reference.hash_column([pair[0], mark, pair[1]], 512)] += 1
    assert found.transform([" ".join(words)]).toarray()[0].tolist() == expected.tolist()
    with pytest.raises(UsageError, match="cannot be pruned"):
        Vectorizer(pairs="near:1:min=2", n_hashed=512).fit(["oil"])


@pytest.mark.parametrize(
    "pairs", ["near", "near:", "near:-1", "next:3", "near:3:5", "near:3:min=0", "near:300", 3]
)
def test_what_is_not_a_rule(pairs):
    with pytest.raises(UsageError, match="such as near:3"):
        Vectorizer(pairs=pairs).fit(["oil price"])
    with pytest.raises(UsageError, match="units"):
        Vectorizer(pairs="near:3", units="chars").fit(["oil price"])


TEXTS = ["oil price up", "price of oil", "the oil and the price", "corn up", "corn and oil", "up up corn"]


def test_a_held_out_document_does_not_keep_its_pairs():
    vectorizer = Vectorizer(pairs="near:3:min=2", weighting="bxx", n_jobs=1)
    counts = vectorizer.fit_counts(TEXTS)
    assert "oil ~ price" in list(vectorizer.vocabulary_)
    new = rows_as_new(vectorizer, counts).rows.toarray()
    every = np.arange(len(TEXTS))
    for i in every:
        out = every == i
        others = Vectorizer(pairs="near:3:min=2", weighting="bxx").fit([TEXTS[k] for k in every if k != i])
        known = set(others.vocabulary_) & set(reference.terms(TEXTS[i], pairs="near:3"))
        for rows in (new, rows_without(vectorizer, counts, TEXTS, out).matrix.toarray()):
            assert {vectorizer.vocabulary_.term(c) for c in np.flatnonzero(rows[i])} == known


def test_an_explanation_marks_both_words(tmp_path):
    labels = ["a", "a", "a", "b", "b", "b"]
    fitted = TextClassifier(Vectorizer(pairs="near:3", stemmer="porter"), estimate=None, tune=None).fit(
        TEXTS, labels
    )
    fitted.save(tmp_path / "model.wm")
    text = "Oil, at any Prices"
    for classifier in (fitted, TextClassifier.load(tmp_path / "model.wm")):
        found = classifier.explain(text)
        (pair,) = [part for part in found.contributions if part.term == "oil ~ price"]
        assert [text[start:end] for start, end in pair.spans] == ["Oil", "Prices"]
        assert pair.text == "Oil ... Prices"
        assert pair.to_dict()["spans"] == [[0, 3], [12, 18]]
        assert found.bias + sum(part.value for part in found.contributions) == pytest.approx(found.score)
        assert "spans" not in next(part for part in found.contributions if part.term == "oil").to_dict()
