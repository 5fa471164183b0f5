"""BalancedWinnow+, the combination that Dagan, Karov and Roth found best (section 5)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from widemargin._arrays import Csr, is_sparse
from widemargin._parameters import check_parameters, one_of
from widemargin.errors import DataError
from widemargin.learn.online.balanced_winnow import BalancedWinnow
from widemargin.learn.online.mistake_driven import Average
from widemargin.learn.online.threshold_range import Link

Strength = Literal["sqrt", "given"]


class BalancedWinnowPlus(BalancedWinnow):
    """Balanced Winnow with square roots of counts, a threshold range and discarding.

    Parameters
    ----------
    strength : strength of a feature in a document: "sqrt" for the square root of its value, if documents are
        counts; "given" for its value, if they are square roots already (``Vectorizer(weighting="sxx")``) or
        weighted otherwise
    promotion, demotion, threshold, threshold_range, document_length, discard_below, link, average, max_iter,
    shuffle, random_state, n_jobs, verbose : as in :class:`~widemargin.BalancedWinnow`

    Examples
    --------
    >>> import numpy as np
    >>> counts, y = np.array([[4, 0], [1, 1], [0, 9]]), [0, 0, 1]
    >>> BalancedWinnowPlus(discard_below=None).fit(counts, y).predict(counts).tolist()
    [0, 0, 1]
    """

    def __init__(
        self,
        promotion: float = 1.1,
        demotion: float = 0.9,
        *,
        strength: Strength = "sqrt",
        threshold: float = 1.0,
        threshold_range: tuple[float, float] | None = (0.9, 1.1),
        document_length: float | None = None,
        discard_below: float | None = 0.01,
        link: Link = "all",
        average: Average = None,
        max_iter: int = 50,
        shuffle: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            promotion,
            demotion,
            threshold=threshold,
            threshold_range=threshold_range,
            document_length=document_length,
            discard_below=discard_below,
            link=link,
            average=average,
            max_iter=max_iter,
            shuffle=shuffle,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.strength = strength

    def _as_learned(self, csr: Csr) -> Csr:
        return csr if self.strength == "given" else csr._replace(data=_roots(csr.data))

    @property
    def _scored_as_given(self) -> bool:
        return self.strength == "given"

    def as_scored(self, X: Any) -> Any:
        """The strengths of the features: square roots, or the values if strength="given"."""
        if self.strength == "given":
            return X
        if not is_sparse(X):
            return _roots(np.asarray(X, dtype=np.float64))
        X = sp.csr_array(X, copy=True)
        X.sum_duplicates()
        X.data = _roots(X.data)
        return X

    def _check_parameters(self) -> None:
        check_parameters(self, strength=one_of("sqrt", "given"))
        super()._check_parameters()


def _roots(values: Any) -> Any:
    if values.size and values.min() < 0:
        raise DataError("Negative values have no square root. Pass counts, or strength='given'.")
    return np.sqrt(values)
