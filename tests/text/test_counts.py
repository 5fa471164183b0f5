"""Counts against the slow oracle, on texts that nobody would write and on texts that people did."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import terms as reference
from widemargin import Vectorizer
from widemargin.errors import DataError

# Characters that have gone wrong somewhere: folding that lengthens, marks, digits of other scripts, white
# space, connectors, separators, astral letters, lone surrogates, scripts without spaces with their
# digits and marks.
HARD = (
    "aAzZ019 \n\t_-'.ßẞİıſŉΐﬃΣςµªº²½Ⅳ٣०éE\u0301\u0345\u00a0\u0085\u2028\u200d"
    "‿中語한ไทย𝔸𐐀😀\x00\x1c\x7fÿ\ud800\udfff"
    "々〇〡かァーｱ\u3099\ufe00𠀀\U000e0100ป็้๔ລາວ໑ខ្មែ៤မြန်၇"
)
texts = st.lists(st.text(st.sampled_from(HARD) | st.characters(), max_size=90), min_size=1, max_size=6)
rules = st.fixed_dictionaries(
    {
        "units": st.sampled_from(["words", "chars", "chars_in_words"]),
        "tokens": st.sampled_from(["alnum", "unicode"]),
        "ngram_range": st.sampled_from([(1, 1), (1, 2), (2, 2), (1, 4), (3, 3), (4, 6)]),
        "min_length": st.sampled_from([1, 2, 3]),
    }
)


def vectorizer(rule: dict[str, object], **more: object) -> Vectorizer:
    arguments = {**rule, **more}
    arguments["min_token_length"] = arguments.pop("min_length", 1)
    return Vectorizer(weighting=None, **arguments)


def assert_counts(found: Vectorizer, matrix, vocabulary, rows) -> None:
    assert list(found.vocabulary_) == vocabulary
    assert matrix.shape == (len(rows), len(vocabulary))
    assert matrix.dtype == np.int32
    assert matrix.indices.dtype == np.int32
    for i, row in enumerate(rows):
        line = slice(matrix.indptr[i], matrix.indptr[i + 1])
        columns = matrix.indices[line].tolist()
        assert columns == sorted(set(columns))
        assert dict(zip([vocabulary[c] for c in columns], matrix.data[line].tolist(), strict=True)) == row


@settings(max_examples=400, deadline=None)
@given(texts=texts, rule=rules)
def test_any_text(texts, rule):
    vocabulary, rows = reference.counts(texts, **rule)
    found = vectorizer(rule)
    if not vocabulary:
        with pytest.raises(DataError, match="contain no terms"):
            found.fit(texts)
        return
    assert_counts(found, found.fit_transform(texts), vocabulary, rows)
    assert_counts(found, found.transform(texts), vocabulary, rows)
    frequency = [sum(term in row for row in rows) for term in vocabulary]
    assert found.document_frequencies_.tolist() == frequency
    assert found.n_documents_ == len(texts)


@settings(max_examples=150, deadline=None)
@given(train=texts, test=texts, rule=rules)
def test_unseen_text_ignores_unknown_terms(train, test, rule):
    vocabulary, _ = reference.counts(train, **rule)
    if not vocabulary:
        return
    _, rows = reference.counts(test, **rule)
    rows = [{term: n for term, n in row.items() if term in set(vocabulary)} for row in rows]
    found = vectorizer(rule).fit(train)
    assert_counts(found, found.transform(test), vocabulary, rows)
