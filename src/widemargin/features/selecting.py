"""The best features by a score: a transformer in front of any learner."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import Csr, checked_csr, is_sparse
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import COUNT, FINITE, PERCENTAGE, check_declared, one_of, or_none, parameter
from widemargin._stored import Stored
from widemargin.errors import DataError, UsageError
from widemargin.features.kept_columns import stored_columns, unit_rows
from widemargin.features.scores import count_terms, score_function
from widemargin.labels import Labels

Floats = NDArray[np.float64]

COMBINATIONS = ("max", "average", "sum", "round-robin", "joint")
# Entries of the table of labels and terms in memory at a time.
_ENTRIES_AT_ONCE = 2**23


@dataclass(eq=False, repr=False)
class SelectFeatures(SelectorMixin, BaseEstimator):
    """Keep the features with the highest scores.

    Parameters
    ----------
    criterion : "ig" (information gain), "gini", "chi2", "odds", "bns" or "df", see
        :mod:`widemargin.features.scores`. A feature occurs in a document if its value is not 0. Only
        "df" works without labels.
    n_features : number of features to keep; default 1000, or all if there are fewer
    threshold : keep features with at least this score (instead of `n_features`)
    percentile : keep this percentage of the features, from 0 to 100 (instead of `n_features`)
    combine : how the scores of several labels are combined: "max", "average" (weighted by label frequency) or
        "sum"; "round-robin" lets labels choose in turn; "joint" scores the class as one multiclass variable
        ("ig", "gini", "chi2")
    unit_length : scale the reduced documents to length 1. Otherwise removing features shortens them, which
        has the effect of a smaller C.

    Attributes
    ----------
    scores_ : (features,) the combined scores; for "round-robin" the largest
    n_features_in_ : number of features before selection

    Examples
    --------
    >>> X = np.array([[1, 1, 0], [2, 0, 1], [0, 1, 0], [0, 0, 3]])
    >>> selection = SelectFeatures("chi2", n_features=1).fit(X, ["ham", "ham", "spam", "spam"])
    >>> selection.scores_.tolist(), selection.transform(X).ravel().tolist()
    ([4.0, 0.0, 0.0], [1, 2, 0, 0])
    """

    criterion: str = "ig"
    n_features: int | None = parameter(None, or_none(COUNT._replace(words="a number of features")))
    _: KW_ONLY
    threshold: float | None = parameter(None, or_none(FINITE))
    percentile: float | None = parameter(None, or_none(PERCENTAGE))
    combine: Literal["max", "average", "sum", "round-robin", "joint"] = parameter(
        "max", one_of(*COMBINATIONS)
    )
    unit_length: bool = False

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any = None) -> Self:
        """Score the features.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in any form that :mod:`widemargin.labels` accepts; not needed for "df"
        """
        self._check_parameters()
        csr = checked_csr(self, X, first=True)
        if self.criterion == "df":
            self.scores_ = np.bincount(csr.indices[csr.data != 0], minlength=csr.n_columns).astype(np.float64)
            return self._keep(np.argsort(-self.scores_, kind="stable"))
        space, signs = Labels.of(y, csr.n_rows).space_and_signs
        if self.combine == "joint" and space.kind == "multilabel":
            raise UsageError(
                'combine="joint" requires one class per document. Pass "max", "average" or "sum".'
            )
        joint = self.combine == "joint" and space.kind == "multiclass"
        order = self._score(csr, signs, joint)
        return self._keep(np.argsort(-self.scores_, kind="stable") if order is None else order)

    def _score(self, csr: Csr, signs: NDArray[np.int8], joint: bool) -> NDArray[np.intp] | None:
        """Set the combined scores; return the order of the features for "round-robin", else None."""
        function = score_function(self.criterion, joint=joint)
        if joint:
            self.scores_ = function(count_terms(csr, signs))
            return None
        n_labels = signs.shape[1]
        chunk = max(1, _ENTRIES_AT_ONCE // max(1, csr.n_columns))
        parts, choices, weights = [], [], 0
        for first in range(0, n_labels, chunk):
            counts = count_terms(csr, signs[:, first : first + chunk])
            scores = function(counts)[counts.telling]
            if not len(scores):
                continue
            if self.combine == "average":
                frequencies = counts.labels[counts.telling]
                weights += int(frequencies.sum())
                parts.append(frequencies @ scores)
            else:
                parts.append(scores.sum(axis=0) if self.combine == "sum" else scores.max(axis=0))
            if self.combine == "round-robin":
                choices.append(np.argsort(-scores, axis=1, kind="stable")[:, : self._wanted(csr.n_columns)])
        together = np.array(parts)
        if self.combine in ("average", "sum"):
            self.scores_ = together.sum(axis=0) / (weights if self.combine == "average" else 1)
        else:
            self.scores_ = together.max(axis=0)
        return _in_turn(np.concatenate(choices)) if choices else None

    def _keep(self, order: NDArray[np.intp]) -> Self:
        if self.threshold is not None:
            self._kept = self.scores_ >= self.threshold
            if not self._kept.any():
                raise DataError(
                    f"No feature has a score of {self.threshold:g} or more; the highest is "
                    f"{self.scores_.max():g}. Lower the threshold."
                )
            return self
        self._kept = np.zeros(len(self.scores_), dtype=bool)
        self._kept[order[: self._wanted(len(self.scores_))]] = True
        return self

    def _wanted(self, n_features: int) -> int:
        if self.percentile is not None:
            return max(1, math.ceil(n_features * float(self.percentile) / 100))
        return min(n_features, 1000 if self.n_features is None else int(self.n_features))

    def _check_parameters(self) -> None:
        score_function(self.criterion)
        check_declared(self)
        if self.combine == "joint" and self.criterion != "df":
            score_function(self.criterion, joint=True)
        given = [
            name for name in ("n_features", "threshold", "percentile") if getattr(self, name) is not None
        ]
        if len(given) > 1:
            raise UsageError(f"{given[0]} and {given[1]} both set the number of features. Pass one of them.")
        if self.combine == "round-robin" and self.threshold is not None:
            raise UsageError(
                'combine="round-robin" chooses a number of features: pass n_features, not threshold.'
            )

    def transform(self, X: Any) -> Any:
        """The kept features, in their original order."""
        kept = super().transform(checked_csr(self, X, first=False).matrix if is_sparse(X) else X)
        return unit_rows(kept) if self.unit_length else kept

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "scores_")
        return self._kept

    @property
    def uses_labels(self) -> bool:
        """Whether the selection depends on the labels."""
        return self.criterion != "df"

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The state for :meth:`from_state`: a configuration for JSON, and arrays."""
        check_is_fitted(self, "scores_")
        kept = np.flatnonzero(self._kept)
        config = {"parameters": self.get_params(), "n_features": self.n_features_in_}
        return config, {"columns": kept.astype(np.int32), "scores": self.scores_[kept]}

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """A fitted selection from the result of `get_state`; the scores of dropped features are NaN."""
        stored = Stored(config, arrays)
        self: Self = stored.estimator(cls)
        self.n_features_in_, columns = stored_columns(stored)
        scores = stored.array("scores", columns.shape, infinite=True)
        self._kept = np.zeros(self.n_features_in_, dtype=bool)
        self._kept[columns] = True
        self.scores_ = np.full(self.n_features_in_, np.nan)
        self.scores_[columns] = scores
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.criterion != "df"
        return tags


def _in_turn(choices: NDArray[np.intp]) -> NDArray[np.intp]:
    """Features in round-robin order: the next choice of every row in turn, each feature once.

    Examples
    --------
    >>> _in_turn(np.array([[4, 2, 0], [4, 1, 2]])).tolist()
    [4, 2, 1, 0]
    """
    turns = choices.T.ravel()
    _, first = np.unique(turns, return_index=True)
    return turns[np.sort(first)]
