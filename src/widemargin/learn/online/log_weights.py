"""Weights ``mu exp(v)`` in log form, normalized or not: what both kinds of Zhang's Winnow share."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import LARGEST
from widemargin._parameters import POSITIVE, Expected, or_none, parameter
from widemargin._stored import Stored
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.learn.label_model import Arrays, State
from widemargin.learn.online.online_model import Floats, LogForm, OnlineModel
from widemargin.learn.online.stream_rows import Documents

# The prior mu: one number for all features, one per feature, or one per term.
StartWeight = float | Sequence[float] | NDArray[Any] | Mapping[str, float]
_USUAL = 0.01


def _is_vector(value: Any) -> bool:
    if not isinstance(value, np.ndarray | list | tuple):
        return False
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return bool(numbers.ndim == 1 and len(numbers) and ((numbers > 0) & (numbers <= LARGEST)).all())


_START_WEIGHT = Expected(
    "a positive number up to 1e100, one per feature, or a dict of terms and such numbers",
    lambda value: (
        POSITIVE.holds(value)
        or _is_vector(value)
        or (isinstance(value, Mapping) and len(value) > 0 and all(map(POSITIVE.holds, value.values())))
    ),
)


@dataclass(eq=False, repr=False, kw_only=True)
class LogWeights(OnlineModel):
    """Base class of learners whose state is log weights; parameters as in :class:`~widemargin.Winnow`."""

    normalize: bool = False
    start_weight: StartWeight = parameter(_USUAL, _START_WEIGHT)
    total_weight: float | None = parameter(None, or_none(POSITIVE))
    balanced: bool = True

    _constant_names = ("start_sum",)

    @property
    def _form(self) -> LogForm:  # type: ignore[override]
        total = self._constants["start_sum"] if self.total_weight is None else float(self.total_weight)
        return LogForm(self._mean_start, bool(self.balanced), bool(self.normalize), total)

    # ------------------------------------------------------------------ the prior

    @property
    def needs_terms(self) -> bool:
        """Whether the prior is a dict of terms, for which a vocabulary is needed."""
        return isinstance(self.start_weight, Mapping)

    def with_terms(self, terms: Sequence[str]) -> Self:
        """Look up a `start_weight` by term in the vocabulary, one term per feature."""
        if self.needs_terms:
            self._check_parameters()
            self.start_weight = _weights_of_terms(cast(Any, self.start_weight), terms, _USUAL)
        return self

    @property
    def _mean_start(self) -> float:
        """mu, or the mean of mu_j, which is also that of the constant feature and of features to come."""
        return float(np.mean(cast(Any, self.start_weight)))

    def _starts(self) -> Any:
        """The prior of every row of weights: one number, or a column of them."""
        given = given_weights(self.start_weight)
        if given is None:
            return self._mean_start
        rows = self.n_features_in_ + (self._bias_size > 0)
        return np.append(given, np.full(rows - len(given), self._mean_start))[:, None]

    def _prior(self) -> dict[str, Any]:
        """mu_j / mu for the core, if they differ."""
        starts = self._starts()
        return {"prior": starts[:, 0] / self._mean_start} if isinstance(starts, np.ndarray) else {}

    def _begin(self, space: Any, documents: Documents, unfilled: frozenset[str] = frozenset()) -> None:
        given, d = given_weights(self.start_weight), documents.csr.n_columns
        if self.needs_terms:
            raise UsageError(
                "start_weight by term needs a vocabulary: use TextClassifier.fit, or pass one number per "
                "feature."
            )
        if given is not None and len(given) != d:
            raise UsageError(f"start_weight has {len(given)} numbers, but X has {d} features. Pass {d}.")
        super()._begin(space, documents, unfilled)

    def _described(self) -> dict[str, Any]:
        described = super()._described()
        parameters = {**described["parameters"], "start_weight": self._mean_start}
        return {**described, "parameters": parameters}

    def get_state(self) -> State:
        config, arrays = super().get_state()
        given = given_weights(self.start_weight)
        return config, arrays if given is None else arrays | {"start_weights": given}

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        stored = Stored(config, arrays)
        if stored.has_array("start_weights"):
            given = stored.array("start_weights", (None,))
            if len(given) > stored.integer("n_features"):
                raise DataError("'start_weights' in arrays.safetensors has more numbers than features")
            stored.inner("parameters")  # an object
            config = {**config, "parameters": {**config["parameters"], "start_weight": np.array(given)}}
        return super().from_state(config, arrays)

    # ------------------------------------------------------------------ sums of weights

    def _constants_from(self, documents: Documents) -> dict[str, float]:
        return {"start_sum": self._starting_sum(documents.csr.n_columns)}

    def _starting_sum(self, n_features: int) -> float:
        """The sum of all initial weights: of the features (twice if balanced) and of the constant feature."""
        rows = n_features + (self._bias_size > 0)
        return self._mean_start * rows * (2 if self.balanced else 1)

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


def given_weights(start_weight: Any) -> Floats | None:
    """The numbers of a prior with one per feature; None for the same number for all."""
    if isinstance(start_weight, np.ndarray | list | tuple):
        return np.asarray(start_weight, dtype=np.float64)
    return None


def _weights_of_terms(by_term: Mapping[str, float], terms: Sequence[str], others: float) -> Floats:
    """One number per term of a vocabulary; warns of terms that are not in it.

    Parameters
    ----------
    by_term : terms and their numbers
    terms : the vocabulary
    others : the number of terms that `by_term` does not have

    Examples
    --------
    >>> _weights_of_terms({"corn": 0.5}, ["bank", "corn"], 0.01).tolist()
    [0.01, 0.5]
    """
    found = np.array([by_term.get(term, others) for term in terms], dtype=np.float64)
    unknown = sorted(set(by_term) - set(terms))
    if len(unknown) == len(by_term):
        raise UsageError(
            f"start_weight: none of its {len(by_term)} terms, such as {unknown[0]!r}, is in the vocabulary. "
            f"Terms are as `widemargin inspect` prints them, lower-cased and stemmed if training does so."
        )
    if unknown:
        shown = ", ".join(map(repr, unknown[:5])) + (", ..." if len(unknown) > 5 else "")
        warnings.warn(
            f"start_weight: {len(unknown)} of {len(by_term)} terms are not in the vocabulary and are "
            f"ignored ({shown}).",
            DataWarning,
            stacklevel=6,
        )
    return found
