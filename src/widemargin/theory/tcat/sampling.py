"""Documents drawn from a TCat-concept, with noise and with lengths that vary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin.errors import UsageError
from widemargin.theory.laws import ZipfLaw

Integers = NDArray[np.int64]

# Random numbers in memory at a time while documents of distinct words are drawn.
_BLOCK = 4_000_000


@dataclass(frozen=True)
class Drawing:
    """How documents are drawn; see :meth:`TCatConcept.sample`."""

    distinct: bool = False
    attribute_noise: float = 0.0
    label_noise: float = 0.0
    longest: int = 1
    length_exponent: float = 2.0
    word_law: ZipfLaw | None = None

    def __post_init__(self) -> None:
        for name in ("attribute_noise", "label_noise"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name}={getattr(self, name)!r}: expected a probability.")
        if self.longest < 1:
            raise UsageError(f"longest={self.longest!r}: expected a number of at least 1.")
        if self.distinct and self.word_law is not None:
            raise UsageError("Distinct words are equally frequent: use either distinct or word_law.")


def draw_documents(
    sets: Sequence[tuple[float, float, int]],
    n_positive: int,
    n_negative: int,
    drawing: Drawing,
    random_state: Any,
) -> tuple[sp.csr_array, NDArray[np.int8]]:
    """Word counts and labels of documents; `sets` are triples (p, n, f)."""
    rng = np.random.default_rng(random_state)
    y = np.repeat(np.array([1, -1], dtype=np.int8), [n_positive, n_negative])
    taken = _words_per_set(rng, sets, y, drawing)
    rows, columns = [], []
    first = 0
    for (p, n, f), counts in zip(sets, taken.T, strict=True):
        if drawing.distinct:
            if counts.max(initial=0) > f:
                raise UsageError(
                    f"[{p:g} : {n:g} : {f}]: a document cannot have {counts.max()} of {f} different words."
                )
            found = _distinct(rng, counts, f)
        elif drawing.word_law is None:
            found = rng.integers(f, size=counts.sum())
        else:
            shares = np.cumsum(drawing.word_law.frequencies(np.arange(1, f + 1)))
            found = np.searchsorted(shares, rng.random(counts.sum()) * shares[-1], side="right").clip(
                max=f - 1
            )
        rows.append(np.repeat(np.arange(len(y)), counts))
        columns.append(first + found)
        first += f
    row, column = np.concatenate(rows), np.concatenate(columns)
    words = sp.coo_array((np.ones(len(row), dtype=np.int32), (row, column)), shape=(len(y), first))
    if drawing.label_noise:
        y = np.where(rng.random(len(y)) < drawing.label_noise, -y, y).astype(np.int8)
    return words.tocsr(), y


def _words_per_set(
    rng: np.random.Generator, sets: Sequence[tuple[float, float, int]], y: NDArray[np.int8], drawing: Drawing
) -> Integers:
    """How many words every document has of every set: (documents, sets)."""
    table = np.array([(p, n) for p, n, _ in sets], dtype=np.float64)
    if (table != np.floor(table)).any():
        raise UsageError(
            "Documents have whole numbers of words, and this concept has fractions. Use concept.rounded()."
        )
    taken = np.where((y > 0)[:, None], table[:, 0], table[:, 1]).astype(np.int64)
    if drawing.longest > 1:
        sizes = np.arange(1, drawing.longest + 1)
        chances = sizes ** -float(drawing.length_exponent)
        taken *= rng.choice(sizes, size=len(y), p=chances / chances.sum())[:, None]
    if drawing.attribute_noise and table.sum() > 0:
        lost = rng.binomial(taken, drawing.attribute_noise)
        shares = table.sum(axis=1) / table.sum()
        taken += rng.multinomial(lost.sum(axis=1), shares) - lost
    return taken


def _distinct(rng: np.random.Generator, counts: Integers, f: int) -> NDArray[np.intp]:
    """Different numbers below f for every document, `counts` of them, one document after the other."""
    found = np.empty(int(counts.sum()), dtype=np.intp)
    starts = np.cumsum(counts) - counts
    for take in np.unique(counts[counts > 0]):
        documents = np.flatnonzero(counts == take)
        step = max(_BLOCK // f, 1)
        for begin in range(0, len(documents), step):
            some = documents[begin : begin + step]
            chosen = np.argpartition(rng.random((len(some), f)), take - 1, axis=1)[:, :take]
            found[starts[some][:, None] + np.arange(take)] = chosen
    return found
