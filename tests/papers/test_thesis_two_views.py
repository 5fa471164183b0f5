"""Section 7.6.2: links between pages, co-training, and transductive SVMs on two views."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from widemargin.papers.joachims.chapter_7 import co_training
from widemargin.papers.joachims.chapter_7.anchor_texts import anchor_texts, canonical
from widemargin.papers.joachims.chapter_7.co_training import (
    BAYES,
    BOTH,
    CO_TRAINING,
    LIGHTER,
    SVM,
    TSVM,
    VIEWS,
    Pages,
    Parts,
)


def silent(stage: str) -> None:
    pass


class TestAnchorTexts:
    ADDRESSES = ("http://a.edu/", "http://a.edu/x/y.html", "http://b.edu/z/index.html")

    def linked(self, *pages):
        return anchor_texts(self.ADDRESSES, pages)

    def test_links_of_all_forms(self):
        first = (
            '<A HREF="x/y.html">one</A> <a class=b href=/x/y.html>two &amp; three</a>'
            "<a href='http://B.edu:80/z/#part'>four\n<img src=f.gif> five</a>"
        )
        assert self.linked(first, "", "") == [[], ["one", "two & three"], ["four five"]]

    def test_paths_are_relative_to_the_page(self):
        assert self.linked("", '<a href="../">up</a>', '<a href="../z/">itself</a>') == [["up"], [], []]

    def test_what_is_no_link_to_a_page(self):
        nothing = "<a name=top>top</a> <a href=mailto:x@a.edu>mail</a> <a href=x/y.html><img src=f.gif></a>"
        assert self.linked("", "", f"{nothing} <a href='http://[bad'>broken</a>") == [[], [], []]

    def test_one_page_at_two_addresses(self):
        found = anchor_texts(["http://a.edu/x", "http://a.edu/x/", "http://b.edu/"], ["", "",
                             "<a href=http://a.edu/x/index.html>both</a>"])  # fmt: skip
        assert found == [["both"], ["both"], []]

    def test_queries_are_part_of_an_address(self):
        assert canonical("http://a.edu/x?y=1") != canonical("http://a.edu/x?y=2")


def toy(n=400, seed=0):
    """Two views with words of their own; each word is of one class, and the views agree only in the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4 == 0
    views = []
    for words in (30, 12):
        counts = np.zeros((n, 2 * words))
        for i in range(n):
            own, other = (np.arange(words), words + np.arange(words))[:: 1 if y[i] else -1]
            counts[i, rng.choice(own, 4)] += 1
            counts[i, rng.choice(other, 1)] += 1
        views.append(sp.csr_array(counts))
    return Pages((views[0], views[1]), y)


class TestCoTraining:
    def test_parts(self):
        pages = toy()
        parts = co_training.divide(pages.y, 0)
        assert len(parts.test) == 100
        assert pages.y[parts.labeled].tolist() == [True] * 3 + [False] * 9
        everything = np.concatenate([parts.labeled, parts.unlabeled, parts.test])
        np.testing.assert_array_equal(np.sort(everything), np.arange(400))

    def test_words_without_a_training_page_do_not_count(self):
        counts = sp.csr_array(np.array([[1.0, 0, 0], [0, 1, 0]]))
        rule = co_training.Bayes.of(counts, np.array([True, False]))
        assert rule.words.tolist() == [0, 1]
        before, after = rule.scores(sp.csr_array(np.array([[1.0, 0, 0], [1, 0, 9]])))
        assert before == after > 0

    def test_no_rounds_are_the_labeled_pages_alone(self):
        pages = toy()
        parts = co_training.divide(pages.y, 0)
        known = pages.y[parts.labeled]
        rules = co_training.co_train(pages.views, parts, known, 0, rounds=0)
        for rule, view in zip(rules, pages.views, strict=True):
            alone = co_training.Bayes.of(view[parts.labeled], known)
            np.testing.assert_array_equal(rule.scores(view), alone.scores(view))

    def test_a_round_adds_what_both_are_surest_of(self):
        pages = toy()
        parts = co_training.divide(pages.y, 1)
        known = pages.y[parts.labeled]
        rules = co_training.co_train(pages.views, parts, known, 0, rounds=1, pool_size=10**6)
        first = [co_training.Bayes.of(view[parts.labeled], known) for view in pages.views]
        pool = np.random.default_rng(0).permutation(parts.unlabeled)
        added = {}
        for rule, view in zip(first, pages.views, strict=True):
            ranked = pool[np.argsort(rule.scores(view[pool]), kind="stable")]
            for row in ranked[-1:]:
                added.setdefault(int(row), True)
            for row in ranked[:3]:
                added.setdefault(int(row), False)
        rows, y = [*parts.labeled, *added], [*known, *added.values()]
        assert 12 + 4 <= len(rows) <= 12 + 8
        for rule, view in zip(rules, pages.views, strict=True):
            expected = co_training.Bayes.of(view[rows], np.array(y))
            np.testing.assert_allclose(rule.scores(view), expected.scores(view))

    def test_it_ends_when_nothing_is_left(self):
        pages = toy(40)
        parts = Parts(np.array([0, 1, 2, 3]), np.arange(4, 30), np.arange(30, 40))
        co_training.co_train(pages.views, parts, pages.y[:4], 0, rounds=30, pool_size=5)

    @pytest.mark.paper("joachims-section-7.6.2")
    def test_unlabeled_pages_help_where_views_agree(self):
        result = co_training.run(silent, samples=5, pages=toy())
        rows = list(dict.fromkeys(cell.row for cell in result.cells))
        assert rows == [BAYES, CO_TRAINING, SVM, TSVM, LIGHTER]
        error = {row: result.cell(row, BOTH).ours for row in rows}
        assert error[CO_TRAINING] < error[BAYES]
        assert error[TSVM] < error[SVM]
        assert result.cell(CO_TRAINING, BOTH).published == 5.0


@pytest.mark.slow
@pytest.mark.needs_corpus("webkb")
@pytest.mark.paper("joachims-section-7.6.2")
def test_web_pages():
    pages = co_training.webkb_pages(silent)
    # Blum and Mitchell: 1,051 pages, 230 of them courses.
    assert abs(len(pages.y) - 1051) < 30
    assert abs(pages.y.sum() - 230) < 15
    result = co_training.run(silent, samples=5, pages=pages)
    for view in VIEWS:
        assert abs(result.cell(BAYES, view).difference) < 5
    assert result.cell(CO_TRAINING, BOTH).ours < result.cell(BAYES, BOTH).ours
    assert result.cell(TSVM, BOTH).ours < result.cell(SVM, BOTH).ours
