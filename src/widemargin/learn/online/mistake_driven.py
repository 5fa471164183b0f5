"""The base of mistake-driven learners: passes, averages and votes (core/online/mistake_driven.hpp)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

import widemargin._core as _core
from widemargin._arrays import Csr, checked_csr
from widemargin._parameters import one_of, parameter
from widemargin._stored import Stored
from widemargin._threads import thread_count
from widemargin.errors import DataError
from widemargin.labels.growing import Arrival
from widemargin.learn.label_model import Arrays, State
from widemargin.learn.online.online_model import Floats, OnlineModel
from widemargin.learn.online.stream_rows import Documents

Average = Literal["averaged", "voted"] | None
_LINKED, DISCARDED = 1, 2


class Start(NamedTuple):
    """The starting weight of a feature, and its positive and negative part if there are two."""

    weight: float
    plus: float = 0.0
    minus: float = 0.0


@dataclass(eq=False, repr=False, kw_only=True)
class MistakeDriven(OnlineModel):
    """Base class of learners that update their weights only after a mistake.

    Attributes
    ----------
    mistakes_ : mistakes in training, for each label; with a threshold range, scores within it count
    n_iter_ : number of passes for each label
    """

    average: Average = parameter(None, one_of(None, "averaged", "voted"))

    # ------------------------------------------------------------------ what subclasses provide

    _kind: ClassVar[_core.MistakeRule]

    def _rates(self) -> tuple[float, float]:
        """The factors (or steps) of a promotion and a demotion."""
        raise NotImplementedError

    def _start(self) -> Start:
        raise NotImplementedError

    def _filtering_range(self) -> tuple[float, float]:
        """The weights of features that are discarded."""
        raise NotImplementedError

    def _thresholds(self) -> tuple[float, float, float]:
        """theta-, theta and theta+."""
        return 0.0, 0.0, 0.0

    def _offsets(self) -> Any:
        """What every score contains besides the weights of the features."""
        return 0.0

    _divides_documents = False  # whether every document is divided by the sum of its strengths
    _sums_of_kept = False  # whether features that a label has discarded leave that sum
    _by_strength = False  # whether additive steps are multiplied by the strength

    # ------------------------------------------------------------------ state

    _filled_by_core = frozenset(["weights", "parts", "logs"])

    def _fresh_cells(self) -> dict[str, tuple[Any, type]]:
        start = self._start() if self._links_all else Start(0.0)
        cells: dict[str, tuple[Any, type]] = {"weights": (start.weight, float)}
        if self._kind in (_core.MistakeRule.balanced_winnow, _core.MistakeRule.complement_winnow):
            cells["parts"] = ((start.plus, start.minus), float)
        if self._kind == _core.MistakeRule.log_winnow:
            cells["logs"] = (0.0, float)
        if self.average == "averaged":
            cells["sums"] = (0.0, float)
        if self._needs_links:
            cells["links"] = (_LINKED if self._links_all else 0, np.uint8)
        return cells

    def _fresh_columns(self) -> dict[str, tuple[float, type]]:
        columns: dict[str, tuple[float, type]] = {"clock": (0.0, float)}
        columns |= {"seen": (0, np.int64), "mistakes": (0, np.int64)}
        return columns

    def _begin(self, space: Any, documents: Documents, unfilled: frozenset[str] = frozenset()) -> None:
        super()._begin(space, documents, unfilled)
        self._history: list[tuple[NDArray[Any], ...]] = []

    @property
    def _links_all(self) -> bool:
        return getattr(self, "link", "all") == "all"

    @property
    def _needs_links(self) -> bool:
        return not self._links_all or getattr(self, "discard_below", None) is not None

    @property
    def mistakes_(self) -> Any:
        """Mistakes in training: one number for a binary task, otherwise one for each label."""
        check_is_fitted(self, "label_space_")
        mistakes = self._columns["mistakes"]
        return int(mistakes[0]) if self.label_space_.kind == "binary" else mistakes.copy()

    @property
    def n_discarded_(self) -> NDArray[np.int64]:
        """The number of discarded features of each label."""
        check_is_fitted(self, "label_space_")
        if "links" not in self._cells:
            return np.zeros(self.label_space_.n_columns, dtype=np.int64)
        counts: NDArray[np.int64] = np.count_nonzero(self._cells["links"] == DISCARDED, axis=1)
        return counts

    # ------------------------------------------------------------------ learning

    def _learn(self, csr: Csr, batch: Arrival, *, passes: int, scores: Floats, weights: Any = None) -> None:
        n_labels = batch.space.n_columns
        promotion, demotion = self._rates()
        low, theta, high = self._thresholds()
        fitting = scores.size == 0  # `partial_fit` keeps all features and the order of the documents
        share = float(getattr(self, "discard_below", None) or 0.0) if fitting else 0.0
        narrow, wide = self._filtering_range() if share else (0.0, 0.0)
        start = self._start()
        problem = _core.MistakeProblem(signs=batch.signs, first_row=batch.first_row)
        options = _core.MistakeOptions(
            **self._form._asdict(),
            rule=self._kind,
            promotion=promotion,
            demotion=demotion,
            by_strength=self._by_strength,
            theta_low=low,
            theta_high=high,
            bias=self._bias_size,
            normalized_strength=self._divides_documents,
            sums_of_kept=self._sums_of_kept,
            link_on_sight=not self._links_all,
            start=start.weight,
            start_plus=start.plus,
            start_minus=start.minus,
            discard_below=share * csr.n_rows,
            discard_low=narrow,
            discard_high=wide,
            max_passes=passes,
            shuffle=bool(self.shuffle) and fitting,
            seed=self._seed() if self.shuffle else 0,
        )
        fresh = fitting and bool(self._filled_by_core)
        state = _core.MistakeState(fresh=fresh, **self._cells, **self._columns, **self._prior())
        results = _core.MistakeResults.zeros(labels=n_labels, scores=scores)
        with self._watched(results.labels_done, csr, "Choose rates nearer to 1, or a smaller eta."):
            n_threads, history = thread_count(self.n_jobs), self.average == "voted"
            changes: Any = _core.learn_from_mistakes(
                csr.native(), problem, options, state, results, history, n_threads
            )
        if changes is not None:
            self._history.append(changes)
        scores -= theta
        self.n_iter_: Any = int(results.passes[0]) if batch.space.kind == "binary" else results.passes

    # ------------------------------------------------------------------ the rule

    def _rule(self) -> tuple[Floats, Floats]:
        weights = self._cells["weights"]
        scale = self._scale()
        if self.average == "averaged":
            seen = np.maximum(self._columns["seen"], 1)
            weights = np.ascontiguousarray(weights * self._columns["clock"] - self._cells["sums"].T) / seen
        elif scale is not None:
            weights = weights * scale
        theta = self._thresholds()[1]
        features, constant = self._with_constant(weights)
        return features, constant - theta + self._offsets()

    @property
    def coef_(self) -> Any:
        """Weights, labels x features; there are none where many rules vote."""
        if self.average == "voted":
            raise AttributeError('there is no one rule with average="voted"')
        return super().coef_

    def as_scored(self, csr: Csr) -> Csr:
        """The documents as the weights see them: with normalized strength, rows that sum to 1."""
        csr = self._as_learned(csr)
        if not self._divides_documents:
            return csr
        sums = np.asarray(csr.matrix.sum(axis=1), dtype=np.float64).reshape(-1)
        factors = np.divide(1.0, sums, out=np.zeros(len(sums)), where=sums > 0)
        return csr._replace(data=np.repeat(factors, np.diff(csr.indptr)) * csr.data)

    def decision_function(self, X: Any) -> Floats:
        """Scores of the documents: (n,) for a binary task, otherwise (n, labels).

        With ``average="voted"`` the votes for the label less those against it, as a share of all.
        """
        check_is_fitted(self, "label_space_")
        if self.average != "voted":
            return super().decision_function(X)
        csr = self._as_learned(checked_csr(self, X, first=False))
        keys, times, weights = self._sorted_history()
        votes = np.empty((csr.n_rows, self.label_space_.n_columns))
        task = _core.VoteTask(
            keys=keys,
            times=times,
            weights=weights,
            start=self._start().weight if self._links_all else 0.0,
            bias=self._bias_size,
            theta=self._thresholds()[1],
            seen=self._columns["seen"],
            votes=votes,
        )
        _core.vote_rows(csr.native(), task, self._divides_documents, thread_count(self.n_jobs))
        return votes[:, 0] if self.label_space_.kind == "binary" else votes

    def _sorted_history(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        label, feature, time, weight = self._whole_history()
        keys = label.astype(np.int64) * (self.n_features_in_ + 1) + feature
        order = np.lexsort((time, keys))  # stable: changes of one document stay in their order
        return keys[order], time[order], weight[order]

    def _whole_history(self) -> tuple[NDArray[Any], ...]:
        types = (np.int32, np.int32, np.int64, np.float64)
        if not self._history:
            return tuple(np.zeros(0, dtype=kind) for kind in types)
        return tuple(np.concatenate(parts) for parts in zip(*self._history, strict=True))

    def _add_columns(self, batch: Arrival) -> None:
        super()._add_columns(batch)
        self._history = [(batch.kept[label].astype(np.int32), *rest) for label, *rest in self._history]

    def grow(self, n_features: int) -> Self:
        old = getattr(self, "n_features_in_", 0)
        super().grow(n_features)
        moved = []
        for label, feature, *rest in self._history:  # the constant feature stands behind all others
            moved.append((label, np.where(feature == old, n_features, feature).astype(np.int32), *rest))
        self._history = moved
        return self

    # ------------------------------------------------------------------ on disk

    def get_state(self) -> State:
        config, arrays = super().get_state()
        if self.average == "voted":
            names = ("label", "feature", "time", "weight")
            arrays |= {f"history_{n}": a for n, a in zip(names, self._whole_history(), strict=True)}
        return config, arrays

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        learner = super().from_state(config, arrays)
        learner._history = []
        if learner.average != "voted":
            learner._check_rule()
            return learner
        stored, seen = Stored(config, arrays), learner._columns["seen"]
        weight = stored.array("history_weight", (None,))
        most = learner.n_features_in_ - (0 if learner._bias_size else 1)  # the constant feature is the last
        feature = stored.array("history_feature", weight.shape, np.int32, least=0, most=most)
        label = stored.array("history_label", weight.shape, np.int32, least=0, most=len(seen) - 1)
        time = stored.array("history_time", weight.shape, np.int64, least=0)
        if (time > seen[label]).any():
            raise DataError("'history_time' in arrays.safetensors holds times after the last document")
        learner._history = [(label.copy(), feature.copy(), time.copy(), weight.copy())]
        return learner
