"""Pairs of labels that held-out decisions confuse, or that are on nearly the same documents: merge them?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin.measure import clopper_pearson

Signs = NDArray[np.int8]
FEWEST = 10  # examples of both labels
CONFUSED = 0.25  # share of the documents with one of the two labels that get the other instead
ALIKE = 0.8  # of the documents with any of two labels, the share with both


@dataclass(frozen=True)
class Confusion:
    """Two labels that are hard to keep apart.

    Attributes
    ----------
    first, second : the labels
    kind : "confused", or "alike" for labels that are on nearly the same documents
    documents : with one of the labels (confused), or with any (alike)
    share : of them that are confused, or that have both labels
    f1, merged_f1 : held-out F1 of both labels together as they are, and of one label for both
    """

    first: Any
    second: Any
    kind: str
    documents: int
    share: float
    f1: float
    merged_f1: float

    def to_dict(self) -> dict[str, Any]:
        rounded = {name: round(getattr(self, name), 4) for name in ("share", "f1", "merged_f1")}
        return {
            "first": self.first,
            "second": self.second,
            "kind": self.kind,
            "documents": self.documents,
            **rounded,
        }


def find_confusions(names: list[Any], truth: Signs, decided: Signs) -> list[Confusion]:
    """Pairs that are confused on a fourth of their documents, beyond chance, and pairs that are alike.

    Parameters
    ----------
    truth, decided : signs (n, labels), of the labels and of held-out decisions

    Examples
    --------
    >>> codes = np.repeat([0, 1, 2], 20)
    >>> guess = np.where(codes == 2, 2, np.tile([0, 1], 30))
    >>> signs = [np.where(np.arange(3) == one[:, None], 1, -1).astype(np.int8) for one in (codes, guess)]
    >>> [(found.first, found.second, found.share) for found in find_confusions(["a", "b", "c"], *signs)]
    [('a', 'b', 0.5)]
    """
    has, gets = truth > 0, decided > 0
    examples = has.sum(axis=0)
    # Documents with i and not j that get j and not i: candidates share a missed i and a wrong j.
    missed, wrong = _sparse(has & ~gets), _sparse(gets & ~has)
    together = sp.coo_array(missed.T @ wrong)
    pairs = {
        (min(i, j), max(i, j)) for i, j in zip(together.row.tolist(), together.col.tolist(), strict=True)
    }
    both = sp.coo_array(_sparse(has).T @ _sparse(has))
    for i, j, count in zip(both.row.tolist(), both.col.tolist(), both.data.tolist(), strict=True):
        if i < j and count >= ALIKE * (examples[i] + examples[j] - count):
            pairs.add((i, j))
    found = []
    for i, j in sorted(pairs):
        if i == j or min(examples[i], examples[j]) < FEWEST:
            continue
        one = has[:, i] != has[:, j]
        any_of = has[:, i] | has[:, j]
        alike = float((has[:, i] & has[:, j]).sum() / any_of.sum())
        swapped = one & (gets[:, i] == has[:, j]) & (gets[:, j] == has[:, i])
        share = float(swapped.sum() / max(one.sum(), 1))
        low = float(clopper_pearson(swapped.sum(), one.sum())[0])
        if alike < ALIKE and not (share >= CONFUSED and low >= CONFUSED / 2):
            continue
        kind, size, amount = ("alike", any_of, alike) if alike >= ALIKE else ("confused", one, share)
        merged = gets[:, i] | gets[:, j]
        f1 = _f1(has[:, [i, j]], gets[:, [i, j]])
        found.append(Confusion(names[i], names[j], kind, int(size.sum()), amount, f1, _f1(any_of, merged)))
    return sorted(found, key=lambda pair: -pair.share * pair.documents)


def _sparse(cells: NDArray[np.bool_]) -> sp.csr_array:
    return sp.csr_array(cells.astype(np.int32))


def _f1(truth: NDArray[np.bool_], decided: NDArray[np.bool_]) -> float:
    return float(2 * (truth & decided).sum() / max(truth.sum() + decided.sum(), 1))
