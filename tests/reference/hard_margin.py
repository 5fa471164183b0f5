"""The maximum-margin labeling by trying them all; margins by Lawson and Hanson's least-distance method."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import lsq_linear


def inverse_margin(X, y):
    """w.w of the shortest w with y_i w.x_i >= 1 for all i: one over the squared margin; inf if there is none.

    The least-distance problem min |w| with A w >= 1 is the non-negative least-squares problem
    min |[A 1]' u - (0, ..., 0, 1)|, whose residual r gives w = -r / r_last (Lawson and Hanson, 1974, 23.4).
    """
    A = X * y[:, None]
    E = np.vstack([A.T, np.ones(len(y))])
    target = np.zeros(len(E))
    target[-1] = 1.0
    # SciPy's nnls now and then stops at a point that is not the best one (scipy/scipy#25389).
    u = lsq_linear(E, target, (0, np.inf), method="bvls", tol=1e-13).x
    residual = E @ u - target
    if np.linalg.norm(residual) < 1e-9:
        return np.inf
    w = -residual[:-1] / residual[-1]
    return float(w @ w)


def labelings(known):
    """Every way to fill the zeros of `known` with +1 and -1."""
    known = np.asarray(known, dtype=float)
    places = np.flatnonzero(known == 0)
    for signs in itertools.product((-1.0, 1.0), repeat=len(places)):
        y = known.copy()
        y[places] = signs
        yield y


def best_labelings(X, known, margin=inverse_margin):
    """All labelings with the largest margin, as rows."""
    found = [(margin(X, y), y) for y in labelings(known)]
    smallest = min(value for value, _ in found)
    return np.array([y for value, y in found if value <= smallest * (1 + 1e-7)])
