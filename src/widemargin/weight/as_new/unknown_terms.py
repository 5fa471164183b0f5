"""How many terms of texts a vectorizer knows; of training documents, as if they were new.

Terms that no other training document has are unknown once their document is left out. So a training document
shows by itself how many unknown terms a new one has. Terms are those of the block of words, if there is one:
almost all character n-grams of any text are known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr
from widemargin._threads import thread_count
from widemargin.text.counting import Index
from widemargin.text.fields import Views, check_columns
from widemargin.text.word_source import WordSource
from widemargin.weight.block_counting import BlockRule
from widemargin.weight.given_vectors import GivenVectors
from widemargin.weight.term_vectors import TermVectors


class KnownTerms(NamedTuple):
    """Of every text, the share of unknown terms (1 without terms), and whether no term at all is known."""

    unknown: NDArray[np.float64]
    no_terms: NDArray[np.bool_]


def known_terms(vectorizer: Any, texts: Any, counts: Csr) -> KnownTerms | None:
    """What is known of `texts`, whose `counts` are given; None where terms are hashed, or are not counted.

    Examples
    --------
    >>> from widemargin import Vectorizer
    >>> vectorizer = Vectorizer().fit(["corn oil", "corn"])
    >>> texts = ["corn oil wheat wheat", "rye"]
    >>> known_terms(vectorizer, texts, vectorizer.counted(texts))
    KnownTerms(unknown=array([0.5, 1. ]), no_terms=array([False,  True]))
    """
    watched = watched_columns(vectorizer)
    if watched is None:
        return None
    return _shares(vectorizer, texts, counts, np.ones(len(counts.indices), dtype=bool), watched)


def known_as_new(
    vectorizer: Any,
    texts: Any,
    counts: Csr,
    known: NDArray[np.bool_] | None,
    total: NDArray[np.float64] | None = None,
) -> KnownTerms | None:
    """The same of training documents, where only some entries of `counts` are of `known` terms.

    `total` are the numbers of their terms (:func:`term_totals`), where the texts are not in memory.
    """
    watched = None if known is None else watched_columns(vectorizer)
    return None if watched is None else _shares(vectorizer, texts, counts, known, watched, total)


def term_totals(vectorizer: TermVectors, texts: Any) -> NDArray[np.float64] | None:
    """How many terms of the block that is watched each text has; `vectorizer` need not be fitted.

    Examples
    --------
    >>> from widemargin import Vectorizer
    >>> term_totals(Vectorizer(), ["corn oil wheat wheat", ""]).tolist()
    [4.0, 0.0]
    """
    watched = None if vectorizer.n_hashed is not None else _watched(vectorizer._rules())
    if watched is None:
        return None
    columns = getattr(vectorizer, "fields_", None) or check_columns(vectorizer.fields)
    views = Views(texts, columns, WordSource.of(vectorizer).prepare)
    return _totals(vectorizer._rules()[watched], views, vectorizer.n_jobs)


def watched_columns(vectorizer: Any) -> tuple[BlockRule, slice] | None:
    """The block of terms that is watched, and its columns of counts; None if there is none."""
    if not isinstance(vectorizer, TermVectors) or vectorizer.n_hashed is not None:
        return None
    rules = vectorizer._rules()
    found = _watched(rules)
    return None if found is None else (rules[found], list(vectorizer.layout.counted.values())[found])


def _watched(rules: list[BlockRule]) -> int | None:
    """The place of the block that is watched: the first one of words, or else of other terms."""
    terms = [place for place, rule in enumerate(rules) if not isinstance(rule.block, GivenVectors)]
    words = [place for place in terms if rules[place].block.units == "words"]
    return next(iter(words or terms), None)


def _totals(rule: BlockRule, views: Views, n_jobs: int | None) -> NDArray[np.float64]:
    # All terms hashed to one column: its count is that of all terms.
    every = Index(rule.text, rule.words, None, 1)
    return _row_sums(every.count(views.of(rule.block.field), thread_count(n_jobs)))


def _shares(
    vectorizer: TermVectors,
    texts: Any,
    counts: Csr,
    known: Any,
    watched: tuple[BlockRule, slice],
    total: NDArray[np.float64] | None = None,
) -> KnownTerms:
    rule, columns = watched
    total = _totals(rule, vectorizer.views(texts), vectorizer.n_jobs) if total is None else total
    given = vectorizer.given_columns
    seen = known & ~given[counts.indices]
    inside = seen & (counts.indices >= columns.start) & (counts.indices < columns.stop)
    share = np.divide(_row_sums(counts, inside), total, out=np.zeros(len(total)), where=total > 0)
    return KnownTerms(np.clip(1 - share, 0, 1), _row_sums(counts, seen) == 0)


def _row_sums(counts: Csr, some: Any = True) -> NDArray[np.float64]:
    row = np.repeat(np.arange(counts.n_rows), np.diff(counts.indptr))
    sums: NDArray[np.float64] = np.bincount(row, counts.data * some, counts.n_rows).astype(np.float64)
    return sums
