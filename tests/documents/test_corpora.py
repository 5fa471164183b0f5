"""The collections have exactly the counts that the literature gives for them."""

from __future__ import annotations

import lzma

import numpy as np
import pytest

from widemargin.documents.corpora import list_corpora, load_corpus
from widemargin.documents.corpora.webkb import plain_text
from widemargin.errors import DataError, MissingFileError, UsageError


@pytest.mark.needs_corpus("reuters21578")
class TestReuters:
    @pytest.mark.parametrize(
        ("split", "train", "test"),
        [
            ("modapte", 9_603, 3_299),
            ("modlewis", 13_625, 6_188),
            ("modhayes", 20_856, 722),
            (None, 21_578, 0),
        ],
    )
    def test_sizes(self, corpus, split, train, test):
        reuters = corpus("reuters21578", split)
        assert (len(reuters.train), len(reuters.test)) == (train, test)

    def test_topic_lists(self, corpus):
        reuters = corpus("reuters21578")
        assert reuters.split == "modapte"
        for which, size in {"both": 90, "either": 118, "train": 115, "test": 93}.items():
            assert len(reuters.categories_of(which)) == size
            assert reuters.categories_of(str(size)) == reuters.categories_of(which)
        assert len(reuters.categories) == 118
        assert set(reuters.categories_of("90")) < set(reuters.categories_of("118"))

    def test_ten_largest(self, corpus):
        reuters = corpus("reuters21578")
        train, test = reuters.train.label_counts(), reuters.test.label_counts()
        assert [(name, train[name], test[name]) for name in reuters.categories_of("10")] == [
            ("earn", 2877, 1087),
            ("acq", 1650, 719),
            ("money-fx", 538, 179),
            ("grain", 433, 149),
            ("crude", 389, 189),
            ("trade", 369, 117),
            ("interest", 347, 131),
            ("wheat", 212, 71),
            ("ship", 197, 89),
            ("corn", 181, 56),
        ]

    def test_documents_without_topics_are_known_to_be_in_none(self, corpus):
        reuters = corpus("reuters21578")
        assert sum(labels == () for labels in reuters.train.labels) == 1_828
        assert sum(labels == () for labels in reuters.test.labels) == 280
        assert None not in reuters.train.labels

    def test_text_is_title_then_body_with_entities_decoded(self, corpus):
        everything = corpus("reuters21578", None).train
        assert everything.ids[0] == "1"
        assert everything.texts[0].startswith("BAHIA COCOA REVIEW\nShowers continued")
        joined = "\n".join(everything.texts)
        for left_over in ("&lt;", "&amp;", "&#", "<TITLE>", "\x03"):
            assert left_over not in joined
        # One telegram of the distribution is blank.
        assert [document.id for document in everything if not document.text] == ["12793"]

    def test_other_lists_and_splits_are_refused(self, corpus):
        with pytest.raises(UsageError, match="no list of categories '9999'"):
            corpus("reuters21578").categories_of("9999")
        with pytest.raises(UsageError, match="modapte, modlewis, modhayes, all"):
            load_corpus("reuters21578", "modapt")


@pytest.mark.needs_corpus("20newsgroups")
def test_newsgroups(corpus):
    news = corpus("20newsgroups")
    assert (len(news.train), len(news.test), len(news.categories)) == (11_314, 7_532, 20)
    assert all(len(labels) == 1 for labels in news.train.labels)
    assert news.train.texts[0].startswith("From: ")
    assert len(corpus("20newsgroups", None).train) == 18_846


@pytest.mark.needs_corpus("ohsumed")
@pytest.mark.parametrize(
    ("split", "train", "test"), [("distribution", 6_286, 7_643), ("by-id", 7_065, 6_864), (None, 13_929, 0)]
)
def test_ohsumed(corpus, split, train, test):
    ohsumed = corpus("ohsumed", split)
    assert (len(ohsumed.train), len(ohsumed.test), len(ohsumed.categories)) == (train, test, 23)


@pytest.mark.needs_corpus("ohsumed")
def test_ohsumed_documents_have_several_categories(corpus):
    train = corpus("ohsumed").train
    assert train.label_counts()["C23"] == 1_799
    assert sum(map(len, train.labels)) == 10_433


@pytest.mark.needs_corpus("webkb")
class TestWebKB:
    @pytest.mark.parametrize(
        ("split", "train", "test", "classes"),
        [
            ("cornell", 3_973, 226, 4),
            ("texas", 3_947, 252, 4),
            ("washington", 3_944, 255, 4),
            ("wisconsin", 3_891, 308, 4),
            ("cornell-7", 7_415, 867, 7),
            ("raw-7", 8_282, 0, 7),
            (None, 8_282, 0, 7),
        ],
    )
    def test_sizes(self, corpus, split, train, test, classes):
        webkb = corpus("webkb", split)
        assert (len(webkb.train), len(webkb.test), len(webkb.categories)) == (train, test, classes)

    def test_raw_pages_keep_header_and_tags(self, corpus):
        raw, plain = corpus("webkb", "raw-7").train, corpus("webkb", None).train
        assert raw.ids == plain.ids
        for mark in ("content-type:", "</"):
            assert mark in raw.texts[0].lower()
            assert mark not in plain.texts[0].lower()

    def test_cornell_is_the_standard_split(self, corpus):
        webkb = corpus("webkb")
        assert webkb.split == "cornell"
        assert webkb.test.label_counts() == {"course": 44, "faculty": 34, "project": 20, "student": 128}
        assert all("/cornell/" in identifier for identifier in webkb.test.ids)
        assert not any("/cornell/" in identifier for identifier in webkb.train.ids)

    def test_pages_are_text(self, corpus):
        train = corpus("webkb").train
        text = next(document.text for document in train if document.id.endswith("1.html"))
        assert text
        joined = "\n".join(train.texts).lower()
        for markup in ("<html", "<body", "</a>", "<!--", "&nbsp;", "&amp;", "\0"):
            # A few pages write about HTML, and spell its tags with entities.
            assert joined.count(markup) < 10, markup
        assert sum("content-length:" in text.lower()[:500] for text in train.texts) == 0


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("Date: x\nServer: y\n\n<html><title>A</title>B", "A B"),
        ("Date: x\r\nServer: y\r\n\r\n<p>A", "A"),
        ("<html>no header\n\n<b>bold</b>", "no header bold"),
        ("Date: x\n\na<br>b<script>var x = '<p>';</script>c<STYLE>p {}</style>d", "a b c d"),
        ("Date: x\n\n<!-- <p> hidden\n -->shown <!-- never closed > still shown", "shown still shown"),
        ("Date: x\n\n1 < 2 &lt; 3 &eacute; &amp; <a href='x' unclosed", "1 < 2 < 3 é &"),
        ("Date: x\n\n" + "<" * 100_000, "<" * 100_000),
    ],
)
def test_markup_of_pages_is_removed(raw, words):
    assert plain_text(raw).split() == words.split()


@pytest.mark.needs_corpus("udhr", "lingua-words")
@pytest.mark.parametrize(
    ("name", "documents", "classes"),
    [
        ("udhr", 30_788, 532),
        ("lingua-sentences", 74_141, 75),
        ("lingua-word-pairs", 74_613, 75),
        ("lingua-words", 74_036, 75),
    ],
)
def test_languages(name, documents, classes):
    languages = load_corpus(name)
    assert languages.split is None
    assert (len(languages.train), len(languages.test), len(languages.categories)) == (documents, 0, classes)
    assert len(set(languages.train.ids)) == documents


@pytest.mark.needs_corpus("french-novels", "french-plays")
@pytest.mark.parametrize(
    ("name", "documents", "authors"),
    [
        ("french-prose", 157, 80),
        ("french-cidre", 131, 11),
        pytest.param("french-novels", 276, 82, marks=pytest.mark.slow),
        ("french-plays", 567, 43),
    ],
)
def test_french_authors(name, documents, authors):
    french = load_corpus(name)
    assert (len(french.train), len(french.categories)) == (documents, authors)
    assert len(set(french.train.ids)) == documents


@pytest.mark.needs_corpus("sms-spam", "clinc150", "imdb")
class TestModern:
    def test_sms_spam(self):
        sms = load_corpus("sms-spam")
        assert sms.split is None
        assert sms.train.label_counts() == {"ham": 4_827, "spam": 747}

    def test_a_random_split_is_the_same_in_every_run_and_a_third(self):
        sms, again = load_corpus("sms-spam", "random"), load_corpus("sms-spam", "random")
        assert sms.test.ids == again.test.ids
        assert len(sms.train) + len(sms.test) == 5_574
        assert 0.30 < len(sms.test) / 5_574 < 0.37

    @pytest.mark.parametrize(
        ("split", "train", "test", "classes"),
        [
            ("standard", 15_000, 4_500, 150),
            ("validation", 15_000, 3_000, 150),
            ("out-of-scope", 15_100, 5_500, 151),
            (None, 23_700, 0, 151),
        ],
    )
    def test_clinc150(self, split, train, test, classes):
        clinc = load_corpus("clinc150", split)
        assert (len(clinc.train), len(clinc.test), len(clinc.categories)) == (train, test, classes)

    def test_imdb(self):
        imdb = load_corpus("imdb")
        assert imdb.train.label_counts() == imdb.test.label_counts() == {"neg": 2_500, "pos": 2_500}


@pytest.mark.needs_corpus("a1a", "w1a")
@pytest.mark.parametrize(
    ("name", "train", "test", "positive"),
    [
        ("a1a", 1_605, 30_956, (395, 7_446)),
        ("a9a", 32_561, 16_281, (7_841, 3_846)),
        ("w1a", 2_477, 47_272, (72, 1_407)),
        ("w8a", 49_749, 14_951, (1_479, 454)),
    ],
)
def test_adult_and_web(name, train, test, positive):
    vectors = load_corpus(name)
    width = 123 if name.startswith("a") else 300
    assert vectors.train.X.shape == (train, width)
    assert vectors.test.X.shape == (test, width)
    assert (vectors.train.label_counts()["1"], vectors.test.label_counts()["1"]) == positive
    assert vectors.categories == ("-1", "1")
    assert set(np.unique(vectors.train.X.data)) == {1.0}


@pytest.mark.needs_corpus("a1a")
def test_adult_without_a_split():
    everything = load_corpus("a1a", None)
    assert everything.train.X.shape == (32_561, 123)
    assert (len(everything.test), everything.test.X.shape) == (0, (0, 123))
    assert len(set(everything.train.ids)) == 32_561


@pytest.mark.needs_corpus("rcv1-sample")
def test_rcv1_sample():
    rcv1 = load_corpus("rcv1-sample")
    assert rcv1.train.X.shape == (1_000, 47_236)
    assert rcv1.test.X.shape == (500, 47_236)
    assert (rcv1.train.label_counts()["1"], rcv1.test.label_counts()["1"]) == (459, 245)
    # The rows are documents of unit length.
    np.testing.assert_allclose(np.sqrt(rcv1.train.X.power(2).sum(axis=1)), 1, atol=1e-3)


@pytest.mark.slow
def test_descriptions_say_what_loading_gives():
    for described in list_corpora():
        if not described.available:
            continue
        everything = load_corpus(described.name, "all")
        assert len(everything.train) == described.documents
        assert len(everything.categories) == described.classes
        assert (described.kind == "vectors") == hasattr(everything.train, "X")


def test_damaged_files_are_told(tmp_path):
    path = tmp_path / "20newsgroups" / "20news-bydate.jsonl.xz"
    path.parent.mkdir()
    path.write_bytes(lzma.compress(b'{"id": "1", "split": "train", "label": "a", "text": "b"}\n{"id"\n'))
    with pytest.raises(DataError, match=r"20news-bydate.jsonl.xz, line 2: damaged"):
        load_corpus("20newsgroups", data_home=tmp_path)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DataError, match="damaged"):
        load_corpus("20newsgroups", data_home=tmp_path)


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(UsageError, match="Did you mean 'reuters21578'"):
        load_corpus("reuters")


def test_a_missing_corpus_says_where_it_was_searched(tmp_path, monkeypatch):
    monkeypatch.setenv("WIDEMARGIN_DATA", str(tmp_path / "named"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(MissingFileError, match=r"20news-bydate.*named.*widemargin corpus fetch 20newsgroups"):
        load_corpus("20newsgroups")
    assert not any(described.available for described in list_corpora())
