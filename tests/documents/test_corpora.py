"""The collections have exactly the counts that the literature gives for them."""

from __future__ import annotations

import pytest

from widemargin.documents.corpora import list_corpora, load_corpus
from widemargin.errors import MissingFileError, UsageError


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


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(UsageError, match="Did you mean 'reuters21578'"):
        load_corpus("reuters")


def test_a_missing_corpus_says_where_it_was_searched(tmp_path, monkeypatch):
    monkeypatch.setenv("WIDEMARGIN_DATA", str(tmp_path / "named"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(MissingFileError, match=r"20news-bydate.*named.*widemargin corpus fetch 20newsgroups"):
        load_corpus("20newsgroups")
    assert not any(described.available for described in list_corpora())
