"""The base of online learners that update dual variables (core/online/dual_updates.hpp)."""

from __future__ import annotations

import math
import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import (
    BETWEEN_0_AND_1,
    POSITIVE,
    POSITIVE_OR_INFINITE,
    SIZE_OF_BIAS,
    either,
    one_of,
    or_none,
    parameter,
    require_finite,
)
from widemargin._threads import thread_count
from widemargin.errors import DataWarning, UsageError
from widemargin.labels.growing import Arrival
from widemargin.learn.costs import label_costs, sample_weights
from widemargin.learn.online.online_model import Floats, OnlineModel

Eta = float | Literal["newton"]
# Without a `tol`, a smallest margin of 1 less this is one: the passes of the paper end somewhere.
_HARD_ENOUGH = 1e-3


@dataclass(eq=False, repr=False)
class DualUpdates(OnlineModel):
    """Base class of learners that update one dual variable at a time, within [0, C].

    Attributes
    ----------
    alpha_ : dual variables of the documents of `fit`: (n,) binary, else (n, labels)
    objective_, duality_gap_ : primal objective and duality gap of each label, after `fit`
    smallest_margin_ : the smallest margin of a document, at most 1, for each label after `fit`
    n_iter_ : number of passes for each label
    """

    C: float = parameter(1.0, POSITIVE_OR_INFINITE)
    _: KW_ONLY
    eta: Eta = parameter("newton", either(one_of("newton"), POSITIVE))
    bias: float | None = parameter(1.0, SIZE_OF_BIAS)
    class_weight: Any = None
    tol: float | None = parameter(None, or_none(BETWEEN_0_AND_1))
    max_iter: int = 200

    def _fresh_cells(self) -> dict[str, tuple[Any, type]]:
        return {"weights": (0.0, float)}

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on documents and their labels, in several passes.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in any form that :mod:`widemargin.labels` accepts
        sample_weight : (n,) factors on the costs of the examples
        """
        self._fit(X, y, sample_weight)
        return self

    def _learn(self, csr: Csr, batch: Arrival, *, passes: int, scores: Floats, weights: Any = None) -> None:
        from_start = scores.size == 0
        n, n_labels = csr.n_rows, batch.space.n_columns
        if not from_start and isinstance(self.class_weight, str):
            raise UsageError('class_weight="balanced" needs all documents: use `fit`, or pass a dict.')
        factors = sample_weights(weights, n)
        positive, negative = label_costs(
            float(self.C), self.class_weight, batch.space, batch.signs.T, factors
        )
        problem = _core.DualProblem(
            signs=batch.signs,
            first_row=batch.first_row,
            cost_positive=positive,
            cost_negative=negative,
            sample_weights=factors,
        )
        options = _core.DualOptions(
            **self._form._asdict(),
            eta=0.0 if isinstance(self.eta, str) else float(self.eta),
            bias=self._bias_size,
            least_mu=float(np.min(getattr(self, "start_weight", 0.0))),
            tol=float(self.tol or 0.0),
            max_passes=passes,
            shuffle=bool(self.shuffle) and from_start,
            seed=self._seed() if self.shuffle else 0,
        )
        state = _core.DualState(from_start=from_start, **self._cells, **self._columns, **self._prior())
        results = _core.DualResults.zeros(labels=n_labels, examples=n, scores=scores)
        cure = 'Lower C, scale the documents down, or use eta="newton".'
        with self._watched(results.labels_done, csr, cure):
            n_threads = thread_count(self.n_jobs)
            _core.learn_by_dual_updates(csr.native(), problem, options, state, results, n_threads)
        alpha, objective, gap, n_iter = results.alpha, results.objective, results.gap, results.passes
        hard = math.isinf(self.C)
        if from_start:
            require_finite(self, csr, alpha_=alpha)
            if not hard:  # a hard margin that does not exist has an infinite objective
                require_finite(self, csr, objective_=objective, duality_gap_=gap)
        binary = batch.space.kind == "binary"
        self.n_iter_: Any = int(n_iter[0]) if binary else n_iter
        if results.overshoots.any():
            self._warn_of_overshoots(results.overshoots)
        if not from_start:
            return
        self.alpha_: Any = alpha[0] if binary else alpha.T
        self.objective_: Any = float(objective[0]) if binary else objective
        self.duality_gap_: Any = float(gap[0]) if binary else gap
        self.smallest_margin_: Any = float(results.margin[0]) if binary else results.margin
        if hard:
            self._warn_of_margins(results.margin)
        elif self.tol and not results.converged.all():
            self._warn(results.converged)

    def _warn_of_margins(self, margins: Floats) -> None:
        """Warn of labels without the hard margin: not separated, or not at the solution yet."""
        names = self.label_space_.column_names
        apart, short = margins > 0, margins < 1 - (self.tol or _HARD_ENOUGH)
        for which, words in (
            (~apart, "are not separated. If no weights do that, pass a finite C; otherwise raise max_iter"),
            (apart & short, "did not reach the hard margin: see smallest_margin_. Raise max_iter"),
        ):
            if which.any():
                cure = ", or raise total_weight." if self._form.normalized else "."
                text = f"C=inf: {_listed(names[which].tolist(), len(names))} {words}{cure}"
                warnings.warn(text, ConvergenceWarning, stacklevel=6)

    def _warn(self, converged: NDArray[np.uint8]) -> None:
        names = self.label_space_.column_names[converged == 0].tolist()
        warnings.warn(
            f"{_listed(names, len(converged))} did not reach tol={self.tol} in {self.max_iter} passes; "
            f"see duality_gap_. Raise max_iter or tol, or lower C.",
            ConvergenceWarning,
            stacklevel=6,
        )

    def _warn_of_overshoots(self, overshoots: NDArray[np.int64]) -> None:
        names = self.label_space_.column_names[overshoots > 0].tolist()
        warnings.warn(
            f"eta={self.eta} overshoots: {overshoots.sum():,} steps for {_listed(names, len(overshoots))} "
            f'decreased the dual objective, on long documents. Use eta="newton", lower eta, or scale the '
            f"documents to one length.",
            DataWarning,
            stacklevel=6,
        )

    def _rule(self) -> tuple[Floats, Floats]:
        scale = self._scale()
        weights = self._cells["weights"]
        return self._with_constant(weights if scale is None else weights * scale)

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        learner = super().from_state(config, arrays)
        learner._check_rule()
        return learner


def _listed(names: list[Any], of: int) -> str:
    """Some labels of all, by name."""
    shown = ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
    return f"{len(names)} of {of} labels ({shown})"
