"""BalancedWinnow+, the combination that Dagan, Karov and Roth found best (section 5)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np

from widemargin._arrays import Csr
from widemargin._parameters import one_of, parameter
from widemargin.errors import DataError
from widemargin.learn.online.balanced_winnow import BalancedWinnow

Strength = Literal["sqrt", "given"]


@dataclass(eq=False, repr=False)
class BalancedWinnowPlus(BalancedWinnow):
    """Balanced Winnow with square roots of counts, a threshold range and discarding.

    Parameters
    ----------
    strength : strength of a feature in a document: "sqrt" for the square root of its value, if documents are
        counts; "given" for its value, if they are square roots already (``Vectorizer(weighting="sxx")``) or
        weighted otherwise
    promotion, demotion, updates, threshold, threshold_range, document_length, discard_below, filtering_range,
    link, average, max_iter, shuffle, random_state, n_jobs, verbose :
        as in :class:`~widemargin.BalancedWinnow`

    Examples
    --------
    >>> import numpy as np
    >>> counts, y = np.array([[4, 0], [1, 1], [0, 9]]), [0, 0, 1]
    >>> BalancedWinnowPlus(discard_below=None).fit(counts, y).predict(counts).tolist()
    [0, 0, 1]
    """

    _: KW_ONLY
    strength: Strength = parameter("sqrt", one_of("sqrt", "given"))
    threshold_range: tuple[float, float] | None = (0.9, 1.1)
    discard_below: float | None = 0.01

    def _as_learned(self, csr: Csr) -> Csr:
        return csr if self.strength == "given" else csr._replace(data=_roots(csr.data))


def _roots(values: Any) -> Any:
    if values.size and values.min() < 0:
        raise DataError("Negative values have no square root. Pass counts, or strength='given'.")
    return np.sqrt(values)
