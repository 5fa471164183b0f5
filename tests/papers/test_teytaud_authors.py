"""Teytaud's authors: every book is left out of one matrix as if its method had been trained without it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import network
from widemargin import KernelSVM
from widemargin.documents.collection import Collection
from widemargin.documents.record import Document
from widemargin.learn.kernels import Kernel
from widemargin.learn.profiles.dissimilarities import Dissimilarity
from widemargin.papers.teytaud import authors

# The multi-class machines are trained again for every book, which takes minutes.
QUICK = [row for row in authors.METHODS if not row.startswith("multi-class")]


def quietly(stage: str) -> None:
    pass


@pytest.fixture(scope="module")
def books():
    """Random texts of five authors, each with letters of their own taste; one author has a single text."""
    rng = np.random.default_rng(0)
    tastes = rng.dirichlet(np.full(8, 10.0), 5)
    documents = [
        Document(str(k), "".join(rng.choice(list("abcdefgh"), 120, p=tastes[k % 5])), (f"author {k % 5}",))
        for k in range(30)
    ]
    alone = Document("alone", "hgfedcba" * 10, ("somebody",))
    return authors.Books.of(Collection.of([*documents, alone]))


def test_authors_with_one_book_are_left_out(books):
    assert (books.counts.shape[0], len(np.unique(books.authors))) == (30, 5)
    np.testing.assert_allclose(books.frequencies.sum(axis=1), 1.0)


def test_at_most_so_many_books_of_an_author():
    documents = [Document(str(k), "abcd" * (k + 1), ("few" if k < 2 else "many",)) for k in range(12)]
    books = authors.Books.of(Collection.of(documents), most=3)
    assert books.authors.tolist() == [0, 0, 1, 1, 1]
    # The first, the last and one between them.
    assert books.counts.sum(axis=1).tolist() == [4 * (k + 1) - 2 for k in (0, 1, 2, 6, 11)]


@pytest.mark.parametrize("power", [1.0, 0.5])
def test_networks(books, power):
    X = books.frequencies.toarray()
    signs = np.where(books.authors[:, None] == np.arange(5), 1.0, -1.0)
    expected = network.left_out_scores(X, signs, authors.GAMMA, power).argmax(axis=1) == books.authors
    np.testing.assert_array_equal(authors.network(books, power), expected)
    assert 5 < expected.sum() < 30


@pytest.mark.parametrize("kernel", [Kernel("chi2", 0.1), Kernel("linear")])
def test_support_vector_machines(books, kernel):
    gram = kernel.gram(books.rows, 1)
    gram /= gram.diagonal().mean()
    expected = []
    for i in range(30):
        rest = np.flatnonzero(np.arange(30) != i)
        machine = KernelSVM(np.inf, kernel="precomputed", tol=1e-8).fit(
            gram[np.ix_(rest, rest)], books.authors[rest]
        )
        expected.append(machine.predict(gram[i : i + 1, rest])[0] == books.authors[i])
    np.testing.assert_array_equal(authors.one_against_all(books, kernel), expected)


def test_multi_class_machines(books):
    """Random texts are told apart about as well by all machines."""
    right = authors.all_authors_together(books, Kernel("chi2", 0.1))
    assert abs(int(right.sum()) - int(authors.one_against_all(books, Kernel("chi2", 0.1)).sum())) <= 6


def test_nearest_neighbors(books):
    X = books.frequencies.toarray()
    distances = [
        [2 * np.nansum((a - b) ** 2 / np.where(a + b > 0, a + b, np.nan)) for b in X] for a in X
    ] + np.diag(np.full(30, np.inf))
    expected = books.authors[distances.argmin(axis=1)] == books.authors
    np.testing.assert_array_equal(authors.nearest(books, Dissimilarity("chi2")), expected)


@pytest.mark.needs_corpus("french-novels")
@pytest.mark.paper("teytaud-authors")
def test_the_authors_of_novels():
    result = authors.run(quietly, "authors", QUICK)
    rows = {cell.row for cell in result.cells}
    assert rows == set(QUICK)
    for column in ("success rate", "all books"):
        rate = {row: result.cell(row, column).ours for row in rows}
        # What holds of the published order; machines of one author against all are not behind.
        assert rate["RBF chi2"] > rate["1-NN chi2"] > rate["1-NN KL"] > rate["1-NN KL, text first"]
        assert rate["RBF chi2"] >= rate["RBF (chi2)^1/2"] > rate["RBF (chi2)^1/8"]
        assert abs(rate["RBF chi2"] - rate["SVM chi2"]) < 4
        for row in rows:
            assert result.cell(row, f"{column}, 95 % from").ours < rate[row]
            assert result.cell(row, f"{column}, 95 % to").ours > rate[row]


@pytest.mark.needs_corpus("french-novels")
@pytest.mark.paper("teytaud-significance")
def test_the_significance_of_their_order():
    result = authors.run(quietly, "significance", QUICK)
    assert result.cell("RBF chi2 > 1-NN chi2", "p").ours < 0.05
    assert result.cell("linear SVM > 1-NN KL", "p").ours < 0.05
    assert result.cell("RBF chi2 > SVM chi2", "p").ours > 0.15


@pytest.mark.slow
@pytest.mark.needs_corpus("french-novels")
@pytest.mark.paper("teytaud-authors")
def test_multi_class_machines_are_as_good_as_networks():
    result = authors.run(quietly, "authors", ["RBF chi2", "multi-class SVM chi2", "multi-class linear SVM"])
    for row in ("multi-class SVM chi2", "multi-class linear SVM"):
        assert abs(result.cell(row, "success rate").ours - result.cell("RBF chi2", "success rate").ours) < 6
