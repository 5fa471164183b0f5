"""Scripts without spaces: n-grams of characters in place of words, in everything that reads words."""

from __future__ import annotations

import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import terms as reference
from tests.text.test_counts import assert_counts, vectorizer
from widemargin import TextClassifier, Vectorizer
from widemargin.errors import DataError
from widemargin.text.stemming import stem
from widemargin.text.tokens import is_spaceless

CHINESE, JAPANESE, THAI = "机器学习服务器", "東京タワーに行きました", "ภาษาไทยเป็นภาษา"
# Runs in which everything stands beside everything.
PARTS = [
    *("gpu", "Straße", "42", "二〇", "〇", "服务器", "食べる", "コンピュータ", "ไทย", "เป็น", "๑๒", "ຂອງ"),
    *("ភាសា", "မြန်", "한국어", "\u3099", "\u0301", "\ufe00", "_", " ", "-", "𠀀𠀁", "2026年"),
]
runs = st.lists(st.sampled_from(PARTS), max_size=12).map("".join)
rules = st.fixed_dictionaries(
    {
        "tokens": st.sampled_from(["alnum", "unicode"]),
        "ngram_range": st.sampled_from([(1, 1), (1, 2), (2, 3)]),
        "min_length": st.sampled_from([1, 3]),
    }
)


def terms_of(text, **parameters):
    """The terms of a text in the order of their places, and what each covers."""
    found = Vectorizer(weighting=None, **parameters).fit([text])
    columns, starts, ends, *_ = found.locate(text)
    return [(found.vocabulary_.term(c), text[s:e]) for c, s, e in zip(columns, starts, ends, strict=True)]


@pytest.mark.parametrize("tokens", ["alnum", "unicode"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CHINESE, ["机器", "器学", "学习", "习服", "服务", "务器"]),
        (JAPANESE, ["東京", "京タ", "タワ", "ワー", "ーに", "に行", "行き", "きま", "まし", "した"]),
        (THAI[:7], ["ภาษ", "าษา", "ษาไ", "าไท", "ไทย"]),
        ("中", ["中"]),
        ("ไท", ["ไท"]),
        ("我, 你们", ["我", "你们"]),
        ("GPU服务器Ti", ["gpu", "服务", "务器", "ti"]),
        ("คนไทย中文", ["คนไ", "นไท", "ไทย", "中文"]),
        ("한국어 우리말", ["한국어", "우리말"]),
        ("か\u3099く", ["か\u3099", "\u3099く"]),
    ],
)
def test_pieces(text, expected, tokens):
    assert [term for term, _ in terms_of(text, tokens=tokens)] == expected
    assert [covered.casefold() for _, covered in terms_of(text, tokens=tokens)] == expected


def test_numbers_beside_them():
    assert [term for term, _ in terms_of("2026年3月 ๑๒คน 二〇二六")] == [
        "<number>", "年", "<number>", "月", "<number>", "คน", "二〇", "〇二", "二六",
    ]  # fmt: skip
    assert terms_of("２０２６年", tokens="unicode") == [("２０２６", "２０２６"), ("年", "年")]


def test_the_shortest_word_is_not_the_shortest_piece():
    assert [term for term, _ in terms_of("a gpu 中 中文 ไท", min_token_length=3)] == [
        "gpu",
        "中",
        "中文",
        "ไท",
    ]


def test_every_character_has_the_script_of_the_reference():
    letters = [chr(c) for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c))[0] in "LMN"]
    text = " ".join(4 * letter for letter in letters)
    found = Vectorizer(weighting=None, tokens="unicode").fit([text])
    assert list(found.vocabulary_) == sorted(set(reference.terms(text, tokens="unicode")))
    for letter in letters:
        if unicodedata.category(letter)[0] != "N":
            assert is_spaceless(letter) == (reference.piece_length(letter, 0) > 0), hex(ord(letter))


@settings(max_examples=300, deadline=None)
@given(st.lists(runs, min_size=1, max_size=5), rules)
def test_counts_and_places(texts, rule):
    vocabulary, rows = reference.counts(texts, **rule)
    found = vectorizer(rule)
    if not vocabulary:
        with pytest.raises(DataError, match="contain no terms"):
            found.fit(texts)
        return
    assert_counts(found, found.fit_transform(texts), vocabulary, rows)
    assert_counts(found, found.transform([text.encode() for text in texts]), vocabulary, rows)
    words = vectorizer({**rule, "ngram_range": (1, 1)}).fit([*texts, "a word"])
    for text in texts:
        columns, starts, ends, *_ = words.locate(text)
        for column, start, end in zip(columns, starts, ends, strict=True):
            term = words.vocabulary_.term(column)
            assert term == reference.NUMBER or text[start:end].casefold() == term


@settings(max_examples=60, deadline=None)
@given(st.lists(runs, min_size=1, max_size=3))
def test_hashed_terms_are_the_same(texts):
    n = 2**12
    matrix = Vectorizer(weighting=None, n_hashed=n, ngram_range=(1, 2)).fit(texts).transform(texts)
    for row, text in zip(matrix.toarray(), texts, strict=True):
        (units,) = reference.sequences(text, "words", "alnum", 1)
        expected = np.zeros(n)
        for length in (1, 2):
            for i in range(len(units) - length + 1):
                expected[reference.hash_column(units[i : i + length], n)] += 1
        np.testing.assert_array_equal(row, expected)


def test_stop_words_and_entries_are_cut_alike():
    assert [term for term, _ in terms_of(CHINESE, stop_words=["器学", "习服"])] == [
        "机器", "学习", "服务", "务器",
    ]  # fmt: skip
    found = terms_of(f"我爱{CHINESE}", thesaurus={"ml": ["机器学习"]})
    assert ("<ml>", "机器学习") in found
    assert ("务器", "务器") in found


def test_stemmers_leave_pieces_alone():
    # A suffix of two of the languages, by chance, is not a suffix of a piece.
    tokens = ["running", "服务", "ไทย", "<number>", "べる"]
    assert stem(tokens, "english") == ["run", *tokens[1:]]
    assert [term for term, _ in terms_of("Running 服务器", stemmer="porter")] == ["run", "服务", "务器"]


def test_pairs_of_pieces_that_overlap_have_no_gap():
    found = Vectorizer(weighting=None, pairs="after:2:min=1").fit(["服务器的"])
    columns, starts, ends, gap_starts, gap_ends = found.locate("服务器的")
    spans = {
        found.vocabulary_.term(c): (int(s), int(e), int(b), int(t))
        for c, s, e, b, t in zip(columns, starts, ends, gap_starts, gap_ends, strict=True)
    }
    assert spans["服务 ... 务器"] == (0, 3, 3, 3)
    assert spans["服务 ... 器的"] == (0, 4, 2, 2)


def test_explanations_mark_the_pieces_and_add_up():
    texts = ["服务器很慢", "服务器坏了", "天气很好", "天气晴朗"]
    model = TextClassifier(tune=None, estimate=None).fit(texts, ["it", "it", "weather", "weather"])
    text = "我的服务器坏了!"
    explained = model.explain(text, "it")
    assert {text[each.start : each.end] for each in explained.contributions} <= {
        text[i : i + 2] for i in range(len(text))
    }
    assert all(text[each.start : each.end] == each.term for each in explained.contributions)
    total = sum(each.value for each in explained.contributions)
    assert total + explained.bias == pytest.approx(explained.score, abs=1e-5)


def test_classes_of_texts_without_spaces_can_be_learned():
    rng = np.random.default_rng(0)
    words = {"it": ["服务器", "电脑", "网络", "硬盘"], "weather": ["天气", "下雨", "晴朗", "台风"]}
    labels = [label for label in words for _ in range(30)]
    texts = ["今天" + "".join(rng.choice(words[label], 3)) + "了" for label in labels]
    model = TextClassifier(tune=None, estimate=None).fit(texts[::2], labels[::2])
    assert model.score(texts[1::2], labels[1::2]) == 1.0
