"""Naive Bayes in plain arrays: counts, and the linear rule that follows from them, without scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr, place_of
from widemargin._stored import Stored
from widemargin.errors import DataError
from widemargin.labels import LabelSpace
from widemargin.learn.bayes.event_models import EVENT_MODELS, PRIORS, Settings, linear_rule
from widemargin.learn.class_counts import ClassCounts
from widemargin.learn.linear_weights import LinearWeights

Floats = NDArray[np.float64]


class BayesWeights(LinearWeights):
    """Linear weights by counts. A file holds the counts, which are smaller and can be added to.

    Attributes
    ----------
    counts_ : ClassCounts
    """

    event_model: Any
    smoothing: float
    prior: Any
    counts_: ClassCounts
    _rule: tuple[Floats, Floats] | None = None

    @property
    def _settings(self) -> Settings:
        """What the rule depends on, besides the counts."""
        exclusive = self.label_space_.kind == "multiclass"
        return Settings(self.event_model, float(self.smoothing), self.prior == "documents", exclusive)

    def as_scored(self, csr: Csr) -> Csr:
        """Bernoulli: 1 for every term that occurs; otherwise the documents themselves.

        Negative values are refused here, where all documents pass: learned, scored or left out.
        """
        if len(csr.data) and csr.data.min() < 0:
            place = int(np.argmax(csr.data < 0))
            row, column = place_of(csr, place)
            raise DataError(
                f"Negative values in data: X holds {csr.data[place]:g} in row {row}, column {column}. Naive "
                f"Bayes learns from counts: pass counts, or weights of at least 0."
            )
        if self.event_model != "bernoulli":
            return csr
        return csr._replace(data=(csr.data > 0).astype(np.float64))

    @property
    def coef_(self) -> Any:
        """Weights, columns x features."""
        return self._linear_rule()[0].T

    @property
    def intercept_(self) -> Floats:  # type: ignore[override]
        """The intercept of each column."""
        return self._linear_rule()[1]

    def _linear_rule(self) -> tuple[Floats, Floats]:
        if self._rule is None:
            self._rule = linear_rule(self.counts_, self._settings)
        return self._rule

    def _read_weights(self, stored: Stored) -> None:
        given = stored.inner("parameters")
        self.event_model = given.choice("event_model", EVENT_MODELS)
        self.prior = given.choice("prior", PRIORS)
        given.number("smoothing", least=float(np.finfo(float).smallest_subnormal))
        self.smoothing = given.value("smoothing")
        space = self.label_space_ = LabelSpace.from_dict(stored.value("labels"))
        n_features = self.n_features_in_ = stored.integer("n_features")
        stored.check_room("n_features", n_features, space.n_columns)
        self.counts_ = ClassCounts.read(stored, space.n_columns, n_features)
        with np.errstate(all="ignore"):
            sound = self.counts_.documents.any() or self.counts_.n > 0
            sound = sound and all(np.isfinite(part).all() for part in self._linear_rule())
        if not sound:
            raise DataError("the arrays in arrays.safetensors give weights that are not finite")
