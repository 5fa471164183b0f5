"""A first guess at the labels: which documents are about the same things, whatever their words.

The documents, labelled and not, are projected on the directions of their largest singular values (latent
semantic indexing; joachims 2.3.3), where documents are close whose words occur together elsewhere. A document
is ranked by how much nearer it is to the labelled positive ones than to the labelled negative ones there.

Whether this start is better than the inductive machine's depends on the documents: on Reuters-21578 with 17
labelled ones it was, by eight points of break-even, among training documents, and was not among the test
documents (``benchmarks/transduction.py``).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

_DIRECTIONS, _POWER_ITERATIONS = 50, 4


def latent_ranking(X: sp.csr_array, signs: NDArray[np.int8]) -> NDArray[np.float64]:
    """Scores of all documents, (columns, n).

    Parameters
    ----------
    X : (n, features)
    signs : (n, columns): +1 and -1 of labelled documents, 0 of the others

    Examples
    --------
    >>> X = sp.csr_array(np.array([[1.0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]]))
    >>> latent_ranking(X, np.array([[1], [0], [0], [0], [-1]], np.int8)).round(1).argsort().tolist()
    [[4, 3, 2, 1, 0]]
    """
    rank = min(_DIRECTIONS, *X.shape)
    left, values, _ = randomized_svd(
        X.astype(np.float64), rank, n_iter=_POWER_ITERATIONS, random_state=0, flip_sign=False
    )
    places = left * values
    lengths = np.linalg.norm(places, axis=1, keepdims=True)
    places = np.divide(places, lengths, out=np.zeros_like(places), where=lengths > 0)
    positive, negative = (signs > 0).astype(np.float64), (signs < 0).astype(np.float64)
    means = places.T @ (positive / positive.sum(axis=0) - negative / negative.sum(axis=0))
    return np.ascontiguousarray((places @ means).T)
