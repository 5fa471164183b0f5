"""AROW: a large-margin learner for one pass, with a confidence for every weight (core/online/arow.hpp)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

import widemargin._core as _core
from widemargin._arrays import Csr, times
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import (
    AT_LEAST_0,
    POSITIVE,
    SIZE_OF_BIAS,
    Expected,
    at_least,
    or_none,
    parameter,
)
from widemargin._stored import Stored
from widemargin._threads import thread_count
from widemargin.errors import DataError, UsageError
from widemargin.labels import LabelSpace
from widemargin.labels.growing import Arrival
from widemargin.learn.label_model import Arrays, ScoresRows, State
from widemargin.learn.online.online_model import Floats, OnlineModel
from widemargin.learn.online.stream_rows import Documents

# More weights than this, seen or not, are returned as a sparse matrix.
_MOST_DENSE = 2**24
_FORGETTING = Expected(
    "a number from 0 up to, not including, 1", lambda value: AT_LEAST_0.holds(value) and value < 1
)


@dataclass(eq=False, repr=False)
class Arow(ScoresRows, OnlineModel):
    """Adaptive regularization of weights: one pass over the documents is as good as many.

    Every weight has a confidence, which grows with the documents that used it: rare terms still move in large
    steps when frequent ones have settled. A document is learned if its margin is below 1. Of Crammer, Kulesza
    and Dredze (2009), with one variance per weight.

    Parameters
    ----------
    r : how much a single document counts: the larger, the smaller the steps. Documents of length 1 are
        expected, as a :class:`~widemargin.Vectorizer` makes them
    bias : size of the constant feature; None for no bias
    forgetting : the share of its information that a weight forgets with every update, from 0 to less than 1:
        what it knows then comes from its last ``1 / forgetting`` updates or so. For streams that change;
        0.01 costs nothing if they do not. 0 keeps everything
    rivals : where every document has one of several classes, a wrong class learns from a document only if its
        score comes within `rivals` of that of the right class, or is higher. None: each class learns from
        every document, as each label of a label set does
    max_iter : number of passes of `fit`; one is usually best
    shuffle : whether `fit` visits documents in random order
    random_state, n_jobs, verbose : as in :class:`~widemargin.LinearSVM`

    Attributes
    ----------
    coef_, intercept_ : weights and intercepts; sparse if there are very many
    variance_ : of the weights, labels x features: 1 for a feature that was never learned, towards 0 for a
        weight that many documents confirm
    updates_ : how many documents were learned, for each label
    n_iter_ : number of passes
    documents_seen_, documents_wrong_ : documents of `partial_fit`, and how many were predicted wrongly before

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1]]), ["ham", "ham", "spam"]
    >>> Arow().fit(X, y).predict(X).tolist()
    ['ham', 'ham', 'spam']
    >>> stream = Arow().partial_fit(X, y).partial_fit([[0, 3]], ["eggs"])
    >>> stream.classes_.tolist(), stream.documents_wrong_
    (['eggs', 'ham', 'spam'], 3)
    """

    r: float = parameter(0.5, at_least(1e-12))
    _: KW_ONLY
    bias: float | None = parameter(1.0, SIZE_OF_BIAS)
    forgetting: float = parameter(0.0, _FORGETTING)
    rivals: float | None = parameter(0.5, or_none(POSITIVE))
    max_iter: int = 1
    shuffle: bool = True

    # ------------------------------------------------------------------ state

    def _fresh_cells(self) -> dict[str, tuple[Any, type]]:
        return {"weights": (0.0, float), "information": (0.0, float)}

    def _fresh_columns(self) -> dict[str, tuple[float, type]]:
        return {"updates": (0, np.int64)}

    @property
    def _n_columns(self) -> int:
        """The number of columns of the state.

        Where labels may arrive later, the last column is one of no document so far: a new label starts with
        its weights, so that the model is the same as if all labels had been known from the start.
        """
        return self.label_space_.n_columns + (self.label_space_.kind != "binary")

    def _shape(self, name: str) -> tuple[int, ...]:
        return self._n_rows + (self._bias_size > 0), self._n_columns

    def _begin(self, space: LabelSpace, documents: Documents, unfilled: frozenset[str] = frozenset()) -> None:
        self._set_features(np.zeros(0, dtype=np.int32))
        super()._begin(space, documents, unfilled)

    def _add_columns(self, batch: Arrival) -> None:
        self.label_space_ = batch.space
        source = np.full(self._n_columns, -1)  # the last column, unless the label is known
        source[batch.kept] = np.arange(len(batch.kept))
        self._cells = {name: np.ascontiguousarray(old[:, source]) for name, old in self._cells.items()}
        self._columns = {name: old[source] for name, old in self._columns.items()}

    def _set_features(self, features: NDArray[np.int32]) -> None:
        """Let the state have rows for these features.

        Row 0 belongs to all others, spare rows follow the used ones, and the constant feature has the last.
        """
        self._slots: NDArray[np.int32] = np.zeros(self.n_features_in_, dtype=np.int32)
        self._slots[features] = np.arange(1, len(features) + 1)
        self._n_used: int = len(features) + 1
        self._n_rows: int = self._n_used  # without the constant feature

    def _add_features(self, features: NDArray[np.int32]) -> None:
        self._slots[features] = np.arange(self._n_used, self._n_used + len(features))
        self._n_used += len(features)
        if self._n_used <= self._n_rows:
            return
        used, with_bias = self._n_rows, self._bias_size > 0
        self._n_rows = min(max(self._n_used, 2 * self._n_rows), self.n_features_in_ + 1)
        for name, old in self._cells.items():
            more = np.zeros(self._shape(name))
            more[:used] = old[:used]
            if with_bias:
                more[-1] = old[-1]
            self._cells[name] = more

    def _rows_of(self, csr: Csr) -> Csr:
        """The documents with rows of the state instead of features."""
        return csr._replace(indices=self._slots[csr.indices], n_columns=self._n_rows)

    @one_fit_at_a_time
    def grow(self, n_features: int) -> Self:
        """Add columns for new features."""
        check_is_fitted(self, "label_space_")
        more = n_features - self.n_features_in_
        if more < 0:
            raise UsageError(f"The model has {self.n_features_in_} features; it cannot have fewer.")
        self._slots = np.concatenate([self._slots, np.zeros(more, dtype=np.int32)])
        self.n_features_in_ = n_features
        self._final = None
        return self

    # ------------------------------------------------------------------ learning

    def _learn(self, csr: Csr, batch: Arrival, *, passes: int, scores: Floats, weights: Any = None) -> None:
        fitting = scores.size == 0
        new = csr.indices[self._slots[csr.indices] == 0]
        if len(new):
            self._add_features(np.unique(new))
        exclusive = batch.space.kind == "multiclass" and self.rivals is not None
        signs = np.full((self._n_columns, csr.n_rows), -1, dtype=np.int8)
        signs[: batch.space.n_columns] = batch.signs
        problem = _core.ArowProblem(signs=signs)
        options = _core.ArowOptions(
            r=float(self.r),
            forgetting=float(self.forgetting),
            rivals=float(self.rivals or 0.0) if exclusive else math.inf,
            bias=self._bias_size,
            max_passes=passes,
            shuffle=bool(self.shuffle) and fitting,
            seed=self._seed() if self.shuffle else 0,
        )
        state = _core.ArowState(**self._cells, **self._columns)
        before = np.empty((0, 0)) if fitting else np.empty((csr.n_rows, self._n_columns))
        results = _core.ArowResults.zeros(labels=self._n_columns, scores=before)
        with self._watched(results.labels_done, csr, "Scale the documents down, or raise r."):
            n_threads = thread_count(self.n_jobs)
            _core.learn_confident_weights(
                self._rows_of(csr).native(), problem, options, state, results, n_threads
            )
        if not fitting:
            scores[:] = before[:, : batch.space.n_columns]
        self.n_iter_ = passes

    @property
    def updates_(self) -> Any:
        """Learned documents: one number for a binary task, otherwise one for each label."""
        check_is_fitted(self, "label_space_")
        updates = self._columns["updates"]
        n_labels = self.label_space_.n_columns
        return int(updates[0]) if self.label_space_.kind == "binary" else updates[:n_labels].copy()

    # ------------------------------------------------------------------ the rule

    def row_scores(self, csr: Csr) -> Floats:
        """Scores (n, columns) of checked documents."""
        check_is_fitted(self, "label_space_")
        weights, intercept = self._cells["weights"], np.zeros(self._n_columns)
        if self._bias_size:
            weights, intercept = weights[:-1], self._bias_size * weights[-1]
        n_threads = 1 if csr.n_rows == 1 else thread_count(self.n_jobs)
        scores = times(self._rows_of(csr), weights, n_threads, plus=intercept)
        return scores[:, : self.label_space_.n_columns]

    def _rule(self) -> tuple[Any, Floats]:
        n_features, n_labels = shape = self.n_features_in_, self.label_space_.n_columns
        cells = self._cells["weights"][:, :n_labels]
        intercept = self._bias_size * cells[-1] if self._bias_size else np.zeros(n_labels)
        used = np.flatnonzero(self._slots)
        weights = cells[self._slots[used]]
        if n_features * n_labels > _MOST_DENSE:
            part = sp.coo_array(weights)
            return sp.csr_array((part.data, (used[part.row], part.col)), shape=shape), intercept
        every = np.zeros(shape)
        every[used] = weights
        return every, intercept

    @property
    def variance_(self) -> Floats:
        """The variance of every weight, labels x features."""
        check_is_fitted(self, "label_space_")
        information = self._cells["information"][self._slots, : self.label_space_.n_columns]
        return (1 / (1 + information)).T

    # ------------------------------------------------------------------ on disk

    def get_state(self) -> State:
        """The state for prediction and further training: a configuration for JSON, and arrays."""
        check_is_fitted(self, "label_space_")
        learned = (self._cells["information"] != 0).any(axis=1)
        features = np.flatnonzero(learned[self._slots]).astype(np.int32)
        rows = [0, *self._slots[features].tolist()] + [self._n_rows] * (self._bias_size > 0)
        cells = {name: values[rows] for name, values in self._cells.items()}
        self._set_features(features)  # those that nothing was learned of have no rows from now on
        self._cells = cells
        config, arrays = super().get_state()
        return config, {**arrays, "features": features}

    def _read_layout(self, stored: Stored) -> None:
        features = stored.array("features", (None,), np.int32, least=0, most=self.n_features_in_ - 1)
        if (np.diff(features) <= 0).any():
            raise DataError("'features' in arrays.safetensors is not in ascending order")
        stored.check_room("n_features", self.n_features_in_)
        self._set_features(features)

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        learner = super().from_state(config, arrays)
        if (learner._cells["information"] < 0).any():
            raise DataError("the arrays in arrays.safetensors hold negative information")
        learner._check_rule()
        return learner
