"""A first guess at the labels: a walk from the labelled documents, by the words that documents share.

A document hands its label on to its words and these to the other documents that hold them, again and again,
while the labelled documents keep saying what they are: ``F = (1 - a) (I - a S)^-1 Y`` for the cosine-like
similarities ``S = D^-1/2 X X' D^-1/2``, D being the row sums of X X' (Zhou et al., *Learning with local and
global consistency*, NIPS 2003; ours needs no neighbours, since X X' is never formed). So a document is ranked
high that is about the same things as the positive ones, whatever its words.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

# How much of a document's label comes from the others. After that many steps a thousandth is left to hand on.
SHARE = 0.7
_STEPS = 20


def diffused_ranking(X: sp.csr_array, signs: NDArray[np.int8]) -> NDArray[np.float64]:
    """Scores of all documents, (columns, n).

    Parameters
    ----------
    X : (n, features), no value negative
    signs : (n, columns): +1 and -1 of labelled documents, 0 of the others

    Examples
    --------
    >>> X = sp.csr_array(np.array([[1.0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]]))
    >>> diffused_ranking(X, np.array([[1], [0], [0], [0], [-1]], np.int8)).argsort().tolist()
    [[4, 3, 2, 1, 0]]
    """
    sums = X @ (X.T @ np.ones(X.shape[0]))
    weights = np.divide(1.0, np.sqrt(sums), out=np.zeros(len(sums)), where=sums > 0)[:, None]
    positive, negative = (signs > 0).astype(np.float64), (signs < 0).astype(np.float64)
    given = (1 - SHARE) * (positive / positive.sum(axis=0) - negative / negative.sum(axis=0))
    told = given
    for _ in range(_STEPS):
        told = given + SHARE * (weights * (X @ (X.T @ (weights * told))))
    # Per similarity: a long document is not more positive for knowing many others.
    return np.ascontiguousarray((weights * told).T)
