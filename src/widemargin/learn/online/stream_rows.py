"""Documents for an online learner: a canonical matrix, and statistics of its values."""

from __future__ import annotations

from typing import Any, NamedTuple

from widemargin._arrays import Csr, documents_with_value_check


class Documents(NamedTuple):
    """A matrix of documents.

    Attributes
    ----------
    csr : its arrays
    least : smallest stored value, 0 if there are none
    n_nonzero : number of values other than 0
    """

    csr: Csr
    least: float
    n_nonzero: int


def check_documents(learner: Any, X: Any, *, first: bool, check_values: bool = True) -> Documents:
    """Check `X`.

    Parameters
    ----------
    learner : the estimator, which stores the number of features
    X : sparse or dense matrix (n, features)
    first : whether these are the first documents that the learner sees
    check_values : whether to compute the statistics; if not, the learner checks that values are finite
    """
    csr, found = documents_with_value_check(learner, X, first=first, finite=check_values)
    return Documents(csr, *found)
