"""The base of online learners: `partial_fit`, new labels, saving and loading.

The state is the weights, a few arrays of the same shape that only updates use, and a few numbers per label.
The compiled core updates them in place. `fit` starts from scratch and makes several passes over the
documents, `partial_fit` makes one more pass.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import Csr, refuse_infinite
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import COUNT, parameter, probable_cause, require_finite
from widemargin._stored import Stored
from widemargin.errors import DataError, UsageError
from widemargin.labels import Labels, LabelSpace
from widemargin.labels.growing import Arrival, receive, whole_batch
from widemargin.learn.label_model import Arrays, State
from widemargin.learn.linear_model import LinearModel
from widemargin.learn.online.stream_rows import Documents, check_documents
from widemargin.progress import watch

Floats = NDArray[np.float64]


# Arrays of labels x features; the others are features x labels, since all labels are scored together, and a
# frequent feature is updated for many. The constant feature, if there is one, comes last. The two parts of a
# weight stand side by side.
LABEL_BY_LABEL = frozenset(["sums", "links"])
PAIRS = frozenset(["parts"])
_POSITIVE = float(np.finfo(float).tiny)
# What counts something, or is a sum of what is positive.
_COUNTS = frozenset(["seen", "mistakes", "updates", "clock", "normalizer", "peak"])


class LogForm(NamedTuple):
    """The form of Winnow's log weights; `total` is W of the normalized ones. Other learners have none."""

    mu: float = 0.0
    balanced: bool = False
    normalized: bool = False
    total: float = 0.0


@dataclass(eq=False, repr=False, kw_only=True)
class OnlineParameters:
    """The parameters of every online learner, as in :class:`~widemargin.Perceptron`."""

    max_iter: int = parameter(50, COUNT)
    shuffle: bool = False
    random_state: Any = 0
    n_jobs: int | None = None
    verbose: bool = False


class OnlineModel(OnlineParameters, LinearModel):
    """Base class of online learners. Subclasses define the initial state, the updates and the resulting
    weights.

    Attributes
    ----------
    documents_seen_, documents_wrong_ : number of documents of `partial_fit`, and how many of them were
        predicted wrongly just before they were learned
    """

    documents_seen_: int
    documents_wrong_: int
    _cells: Arrays
    _columns: Arrays  # one value per label
    _constants: dict[str, float]  # numbers that depend on the first documents
    _final: tuple[Any, Floats] | None

    # ------------------------------------------------------------------ what subclasses provide

    def _constants_from(self, documents: Documents) -> dict[str, float]:
        """Numbers that depend on the first documents, such as the starting weight."""
        return {}

    @abstractmethod
    def _fresh_cells(self) -> dict[str, tuple[Any, type]]:
        """The initial value and the type of the weights and of the arrays of their shape."""

    def _fresh_columns(self) -> dict[str, tuple[float, type]]:
        """The arrays with one value per label."""
        return {}

    @abstractmethod
    def _learn(self, csr: Csr, batch: Arrival, *, passes: int, scores: Floats, weights: Any = None) -> None:
        """Pass over the documents. `scores` (n, labels) is filled; if it is empty, the state is fresh."""

    @abstractmethod
    def _rule(self) -> tuple[Floats, Floats]:
        """The weights (features, labels) and the thresholds."""

    def _scale(self) -> Floats | None:
        """The factor on the weights of each label."""
        return None

    _form = LogForm()

    def _prior(self) -> dict[str, Any]:
        """The starting weights of the features relative to each other, if they differ."""
        return {}

    # What `_constants_from` returns.
    _constant_names: tuple[str, ...] = ()

    # Whether `fit` looks at the values before it learns; otherwise `_learn` refuses what is not finite.
    _checks_values = True

    # Arrays of numbers that `_learn` fills itself when the state is fresh: its threads do that together.
    _filled_by_core: frozenset[str] = frozenset()

    @property
    def documents_to_begin(self) -> int:
        """How many documents the first `partial_fit` should get, where it fixes something by them.

        The same number each time gives the same model, however a stream is cut into batches after that.
        """
        return 1

    @property
    def _bias_size(self) -> float:
        """The size of the constant feature, 0 for none."""
        bias = getattr(self, "bias", None)
        return 0.0 if bias is None else float(bias)

    def _check_documents(self, documents: Documents) -> None:
        """Raise an error for documents that the learner cannot use."""

    def _as_learned(self, csr: Csr) -> Csr:
        """Checked documents, with the values that the learner uses."""
        return csr

    # ------------------------------------------------------------------ learning

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any) -> Self:
        """Train on documents and their labels, in several passes.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in any form that :mod:`widemargin.labels` accepts
        """
        self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any, weights: Any = None) -> Csr:
        self._check_parameters()
        documents = check_documents(self, X, first=True, check_values=self._checks_values)
        csr = documents.csr
        space, signs = Labels.of(y, csr.n_rows).space_and_signs
        self._check_documents(documents)
        csr = self._as_learned(csr)
        self._begin(space, documents, unfilled=self._filled_by_core)
        batch = whole_batch(space, signs)
        try:
            self._learn(csr, batch, passes=int(self.max_iter), scores=np.zeros((0, 0)), weights=weights)
        except BaseException as error:
            self._begin(space, documents)  # learned in place: what was interrupted is at its start again
            if isinstance(error, DataError) and not self._checks_values:
                refuse_infinite(documents.csr)  # which is the reason then
            raise
        self._final = self._finite_rule(csr)
        return csr

    @one_fit_at_a_time
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Continue training: one pass over these documents, in their order.

        A new label gets weights from its first document on, so the model does not depend on how documents are
        divided into batches.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in the form of the first call
        classes : sequence of labels, optional
            Expected labels, in the first call. Two of them make the task binary; by default every label has
            a column.
        """
        first = not hasattr(self, "label_space_")
        self._check_parameters()
        documents = check_documents(self, X, first=first)
        csr = documents.csr
        batch = receive(None if first else self.label_space_, y, classes, n=csr.n_rows)
        self._check_documents(documents)
        csr = self._as_learned(csr)
        if first:
            self._begin(batch.space, documents)
        elif batch.space is not self.label_space_:
            self._add_columns(batch)
        scores = np.empty((csr.n_rows, batch.space.n_columns))
        self._learn(csr, batch, passes=1, scores=scores)
        self._final = None
        self.documents_seen_ += csr.n_rows
        self.documents_wrong_ += _wrong(batch, scores)
        return self

    @one_fit_at_a_time
    def grow(self, n_features: int) -> Self:
        """Add columns for new features."""
        check_is_fitted(self, "label_space_")
        more = n_features - self.n_features_in_
        if more < 0:
            raise UsageError(f"The model has {self.n_features_in_} features; it cannot have fewer.")
        for name, (start, _) in self._fresh_cells().items():
            places, axis = [self.n_features_in_] * more, 1 if name in LABEL_BY_LABEL else 0
            each = start.mean() if isinstance(start, np.ndarray) else start
            self._cells[name] = np.insert(self._cells[name], places, each, axis=axis)
        self.n_features_in_ = n_features
        self._final = None
        return self

    def _begin(self, space: LabelSpace, documents: Documents, unfilled: frozenset[str] = frozenset()) -> None:
        self.label_space_ = space
        self.documents_seen_ = self.documents_wrong_ = 0
        self._constants = self._constants_from(documents)
        cells, columns = self._fresh_cells(), self._fresh_columns()
        self._cells, self._final = {}, None  # an earlier model makes room for this one
        for name, made in cells.items():
            shape = self._shape(name)
            self._cells[name] = np.empty(shape) if name in unfilled else _filled(shape, *made)
        self._columns = {name: np.full(self._n_columns, *made) for name, made in columns.items()}

    @property
    def _n_columns(self) -> int:
        """The number of columns of the state."""
        return self.label_space_.n_columns

    def _shape(self, name: str) -> tuple[int, ...]:
        rows, columns = self.n_features_in_ + (self._bias_size > 0), self._n_columns
        if name in LABEL_BY_LABEL:
            return columns, rows
        return (rows, columns, 2) if name in PAIRS else (rows, columns)

    def _add_columns(self, batch: Arrival) -> None:
        """Add columns to the state: move old columns to their new positions and start new ones."""
        self.label_space_ = batch.space
        for name, made in self._fresh_cells().items():
            wider = _filled(self._shape(name), *made)
            wider[batch.kept if name in LABEL_BY_LABEL else (slice(None), batch.kept)] = self._cells[name]
            self._cells[name] = wider
        for name, made in self._fresh_columns().items():
            longer: NDArray[Any] = np.full(batch.space.n_columns, *made)
            longer[batch.kept] = self._columns[name]
            self._columns[name] = longer

    @contextmanager
    def _watched(self, labels_done: NDArray[Any], csr: Csr, cure: str) -> Iterator[None]:
        """Show progress over the labels; weights that overflow raise an error with the probable cause."""
        show, total = None if self.verbose else False, self.label_space_.n_columns
        with watch(labels_done, "Training", total=total, unit="labels", enabled=show):
            try:
                yield
            except OverflowError as error:
                refuse_infinite(csr)  # the cause, if there is one
                names = [*map(repr, self.label_space_.column_names.tolist()), "new labels"]
                cause = probable_cause(self, csr, otherwise=cure)
                raise DataError(f"The weights of {names[int(str(error))]} overflow. {cause}") from None

    def _with_constant(self, weights: Floats) -> tuple[Floats, Floats]:
        """The weights of the features, and what the constant feature adds."""
        d = self.n_features_in_
        return weights[:d], self._bias_size * weights[d] if self._bias_size else np.zeros(weights.shape[1])

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    # ------------------------------------------------------------------ the rule

    def _finite_rule(self, csr: Csr | None) -> tuple[Any, Floats]:
        weights, thresholds = self._rule()
        require_finite(self, csr, coef_=weights, intercept_=thresholds)
        return weights, thresholds

    def _finished(self) -> tuple[Any, Floats]:
        check_is_fitted(self, "label_space_")
        if self._final is None:
            self._final = self._finite_rule(None)
        return self._final

    @property
    def coef_(self) -> Any:
        """Weights, labels x features."""
        return self._finished()[0].T

    @property
    def intercept_(self) -> Floats:  # type: ignore[override]
        """The intercept of each label: the weight of the constant feature minus the threshold."""
        return self._finished()[1]

    # ------------------------------------------------------------------ on disk

    def get_state(self) -> State:
        """The state for prediction and further training: a configuration for JSON, and arrays."""
        config = {
            **self._described(),
            "documents_seen": self.documents_seen_,
            "documents_wrong": self.documents_wrong_,
            "constants": self._constants,
        }
        arrays: Arrays = {f"column_{name}": values for name, values in self._columns.items()}
        starts = self._fresh_cells()
        for name, values in self._cells.items():
            # Most weights keep their initial value; the others take sixteen bytes each.
            changed = np.flatnonzero(values != starts[name][0])
            if len(changed) * (8 + values.itemsize) < values.nbytes:
                arrays[f"changed_{name}"] = changed.astype(np.int64)
                arrays[f"values_{name}"] = values.reshape(-1)[changed]
            else:
                arrays[f"cells_{name}"] = values
        return config, arrays

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        """A learner from the result of `get_state`; training can continue."""
        stored = Stored(config, arrays)
        learner = cls._from_description(stored)
        learner.documents_seen_ = stored.integer("documents_seen", most=2**62)
        learner.documents_wrong_ = stored.integer("documents_wrong", most=learner.documents_seen_)
        constants = stored.inner("constants")
        learner._constants = {
            name: constants.number(name, least=_POSITIVE) for name in learner._constant_names
        }
        learner._final = None
        learner._read_layout(stored)
        learner._cells, learner._columns = {}, {}
        for name, (start, kind) in learner._fresh_cells().items():
            shape = learner._shape(name)
            if stored.has_array(f"cells_{name}"):
                learner._cells[name] = np.array(stored.array(f"cells_{name}", shape, kind))
                continue
            stored.check_room("n_features", *shape)
            places = stored.array(f"changed_{name}", (None,), np.int64, least=0, most=math.prod(shape) - 1)
            values = _filled(shape, start, kind)
            values.reshape(-1)[places] = stored.array(f"values_{name}", places.shape, kind)
            learner._cells[name] = values
        for name, (_, kind) in learner._fresh_columns().items():
            least = 0 if name in _COUNTS else None
            values = stored.array(f"column_{name}", (learner._n_columns,), kind, least=least)
            learner._columns[name] = np.array(values)
        return learner

    def _read_layout(self, stored: Stored) -> None:
        """Read what the shapes of the state depend on."""

    def _check_rule(self) -> None:
        """Raise an error if the weights from a file are not finite."""
        with np.errstate(all="ignore"):
            sound = all(np.isfinite(part).all() for part in self._finished())
        if not sound:
            raise DataError("the arrays in arrays.safetensors give weights that are not finite")


def _filled(shape: tuple[int, ...], start: Any, kind: type) -> NDArray[Any]:
    """An array of one value, of one value per row, or of one pair of values, which NumPy fills as fast only
    as complex numbers."""
    if isinstance(start, np.ndarray):
        return np.array(np.broadcast_to(start, shape), dtype=kind)
    if isinstance(start, tuple):
        return np.full(shape[:-1], complex(*start)).view(kind).reshape(shape)
    return np.full(shape, start, dtype=kind)


def _wrong(batch: Arrival, scores: Floats) -> int:
    """The number of documents for which the labels with positive scores are not the right ones."""
    known = ~batch.new[None, :] | (batch.first_row[None, :] < np.arange(len(scores))[:, None])
    truth = batch.signs.T > 0
    if batch.space.kind == "multiclass":
        best = np.where(known, scores, -np.inf).argmax(axis=1)
        rows = np.arange(len(scores))
        return int(np.count_nonzero(~(truth[rows, best] & known[rows, best])))
    return int(np.count_nonzero((((scores > 0) & known) != truth).any(axis=1)))
