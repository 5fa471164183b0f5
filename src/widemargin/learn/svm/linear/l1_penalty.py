"""Linear SVMs with an L1 penalty, which leaves most weights at zero (core/linear/l1_svm.hpp)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

import widemargin._core as _core
from widemargin._arrays import Csr, is_sparse
from widemargin._threads import thread_count
from widemargin.errors import UsageError
from widemargin.learn.svm.linear.linear_solution import LinearSolution, dense
from widemargin.progress import watch

Floats = NDArray[np.float64]

# Labels whose weights are dense at a time.
_LABELS_AT_ONCE = 64


def check_l1(learner: Any) -> None:
    """Refuse parameters that do not go with ``penalty="l1"``."""
    if learner.loss not in ("auto", "squared_hinge"):
        raise UsageError(
            f'penalty="l1" requires loss="squared_hinge", not {learner.loss!r}: the solver needs a smooth '
            f'loss. Omit loss, or use penalty="l2".'
        )
    if isinstance(learner.bias, str):
        raise UsageError('penalty="l1" requires a regularized bias: pass a size, such as bias=1.0, or None.')
    if learner.stop != "gap":
        raise UsageError(f'stop={learner.stop!r} requires penalty="l2".')


def solve_l1(
    learner: Any, csr: Csr, signs: NDArray[np.int8], costs: tuple[Floats, Floats], weights: Floats, start: Any
) -> LinearSolution:
    """The machines of all labels.

    Parameters
    ----------
    learner : a `LinearSVM`
    signs : (n, labels)
    costs : of positive and of negative examples, for each label
    weights : of the examples; empty for none
    start : (labels, features + 1) weights to begin at, that of the bias feature last; or None
    """
    n_labels = signs.shape[1]
    columns = _transposed(csr).native()
    options = _core.L1Options(
        bias=0.0 if learner.bias is None else float(learner.bias),
        tol=float(learner.tol),
        max_passes=int(learner.max_iter),
        seed=int(check_random_state(learner.random_state).randint(2**31 - 1)),
    )
    done = np.zeros(1, np.int64)
    coefs: list[sp.csr_array] = []
    found: list[tuple[NDArray[Any], ...]] = []
    with watch(done, "Training", total=n_labels, unit="labels", enabled=None if learner.verbose else False):
        for first in range(0, n_labels, _LABELS_AT_ONCE):
            some = slice(first, min(first + _LABELS_AT_ONCE, n_labels))
            problem = _core.L1Problem(
                signs=np.ascontiguousarray(signs[:, some].T),
                cost_positive=np.ascontiguousarray(costs[0][some]),
                cost_negative=np.ascontiguousarray(costs[1][some]),
                sample_weights=weights,
                start=None if start is None else dense(start[some]),
            )
            results = _core.L1Results.zeros(
                labels=some.stop - first,
                examples=csr.n_rows,
                columns_and_bias=csr.n_columns + 1,
                labels_done=done,
            )
            _core.train_l1_svm(columns, problem, options, results, thread_count(learner.n_jobs))
            coefs.append(sp.csr_array(results.weights[:, :-1]))
            intercept = results.weights[:, -1] * options.bias
            found.append((intercept, results.objective, results.gap, results.passes, results.converged))
    coef = sp.csr_array(sp.vstack(coefs))
    # Dense weights lie features x labels in memory, the order in which documents are scored.
    kept = coef if learner.sparse_coef else coef.T.toarray(order="C").T
    return LinearSolution(kept, *map(np.concatenate, zip(*found, strict=True)))


def l1_start(learner: Any) -> Any:
    """The weights of the last solution, that of the bias feature last."""
    coef: Any = learner.coef_
    size = 0.0 if learner.bias is None else float(learner.bias)
    last: Any = (learner.intercept_ / size if size else np.zeros(len(learner.intercept_)))[:, None]
    return sp.csr_array(sp.hstack([coef, last])) if is_sparse(coef) else np.hstack([coef, last])


def _transposed(csr: Csr) -> Csr:
    """Features as rows, made once for all labels."""
    turned = csr.matrix.T.tocsr()
    indptr = np.ascontiguousarray(turned.indptr, dtype=np.int64)
    return Csr(indptr, np.ascontiguousarray(turned.indices, dtype=np.int32), turned.data, csr.n_rows)
