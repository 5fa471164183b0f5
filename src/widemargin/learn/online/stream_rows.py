"""Documents as an online learner takes them: a canonical matrix, and what one look at its values found."""

from __future__ import annotations

from typing import Any, NamedTuple

from widemargin._arrays import Csr, surveyed_documents


class Documents(NamedTuple):
    """A matrix of documents.

    Attributes
    ----------
    csr : its arrays
    least : the least value that is stored, 0 when there are none
    n_nonzero : how many values are not 0
    """

    csr: Csr
    least: float
    n_nonzero: int


def check_documents(learner: Any, X: Any, *, first: bool, survey: bool = True) -> Documents:
    """`X` as the gate checks it.

    Parameters
    ----------
    learner : the estimator, which remembers the number of features
    X : sparse or dense matrix (n, features)
    first : whether these are the first documents that the learner sees
    survey : whether to look at the values; without it whoever learns from them says whether they are finite
    """
    csr, found = surveyed_documents(learner, X, first=first, finite=survey)
    return Documents(csr, *found)
