"""Weights ``mu exp(v)`` in log form, normalized or not: what both kinds of Zhang's Winnow share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from widemargin._parameters import POSITIVE, or_none, parameter
from widemargin.learn.online.online_model import Floats, LogForm, OnlineModel
from widemargin.learn.online.stream_rows import Documents


@dataclass(eq=False, repr=False, kw_only=True)
class LogWeights(OnlineModel):
    """Base class of learners whose state is log weights; parameters as in :class:`~widemargin.Winnow`."""

    normalize: bool = False
    start_weight: float = parameter(0.01, POSITIVE)
    total_weight: float | None = parameter(None, or_none(POSITIVE))
    balanced: bool = True

    _constant_names = ("start_sum",)

    @property
    def _form(self) -> LogForm:  # type: ignore[override]
        total = self._constants["start_sum"] if self.total_weight is None else float(self.total_weight)
        return LogForm(float(self.start_weight), bool(self.balanced), bool(self.normalize), total)

    def _constants_from(self, documents: Documents) -> dict[str, float]:
        return {"start_sum": self._starting_sum(documents.csr.n_columns)}

    def _starting_sum(self, n_features: int) -> float:
        """The sum of all initial weights: of the features (twice if balanced) and of the constant feature."""
        rows = n_features + (self._bias_size > 0)
        return float(np.sum(self.start_weight) * rows * (2 if self.balanced else 1))

    def _fresh_columns(self) -> dict[str, tuple[float, type]]:
        start = (self._constants["start_sum"], float)
        return super()._fresh_columns() | {"normalizer": start, "peak": start}

    def _scale(self) -> Floats | None:
        if not self.normalize:
            return None
        scale: Floats = self._form.total / self._columns["normalizer"]
        return scale

    def grow(self, n_features: int) -> Self:
        check_is_fitted(self, "label_space_")
        more = self._starting_sum(n_features) - self._starting_sum(self.n_features_in_)
        super().grow(n_features)
        self._constants["start_sum"] += more
        # Dual updates divide sums by exp(shift).
        scale: Any = np.exp(-self._columns["shift"]) if "shift" in self._columns else 1.0
        for name in ("normalizer", "peak"):
            self._columns[name] += more * scale
        return self
