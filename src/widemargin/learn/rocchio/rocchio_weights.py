"""Rocchio in plain arrays: sums of documents, and the linear rule that follows from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._stored import Stored
from widemargin.errors import DataError
from widemargin.labels import LabelSpace
from widemargin.learn.class_counts import ClassCounts
from widemargin.learn.linear_weights import CosineWeights, LinearWeights
from widemargin.learn.rocchio.centroids import centroid_rule

Floats = NDArray[np.float64]


class RocchioWeights(CosineWeights):
    """Linear weights by sums of documents. A file holds the sums, which can be added to.

    Attributes
    ----------
    sums_ : ClassCounts of the documents, each of length 1; None if a file holds weights only
    negative_weight_ : beta
    """

    sums_: ClassCounts | None
    negative_weight_: float
    _rule: tuple[Floats, Floats] | None = None

    @property
    def coef_(self) -> Any:
        """Weights of length 1, columns x features."""
        return self._linear_rule()[0].T

    @property
    def intercept_(self) -> Floats:  # type: ignore[override]
        """Minus the threshold of each column."""
        return self._linear_rule()[1]

    def _linear_rule(self) -> tuple[Floats, Floats]:
        if self._rule is None:
            assert self.sums_ is not None
            self._rule = centroid_rule(self.sums_, self.negative_weight_)
        return self._rule

    def _read_weights(self, stored: Stored) -> None:
        space = self.label_space_ = LabelSpace.from_dict(stored.value("labels"))
        n_features = self.n_features_in_ = stored.integer("n_features")
        if stored.has_array("intercept"):  # written before files held sums
            weights = LinearWeights()
            weights._read_weights(stored)
            self.sums_, self._rule = None, (weights.coef_.T, weights.intercept_)
            return
        self.negative_weight_ = stored.number("negative_weight", least=0.0, most=1e100)
        stored.check_room("n_features", n_features, space.n_columns)
        self.sums_ = ClassCounts.read(stored, space.n_columns, n_features, signed=True)
        with np.errstate(all="ignore"):
            sound = all(np.isfinite(part).all() for part in self._linear_rule())
        if not sound:
            raise DataError("the arrays in arrays.safetensors give weights that are not finite")
