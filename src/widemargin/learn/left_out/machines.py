"""What a support vector machine knows of the rules that are learned without one of its examples."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import canonical_csr, is_sparse, row_squares
from widemargin.errors import UsageError
from widemargin.labels import Labels
from widemargin.learn.as_new import Seen, kernel_as_new, linear_as_new
from widemargin.learn.kernels import Kernel
from widemargin.learn.left_out.one_step import step_work
from widemargin.learn.left_out.winners import Finder, find_winners
from widemargin.measure.held_out_scores import HeldOutScores, LeftOutCost, Method
from widemargin.measure.xi_alpha import Hyperplane, leave_one_out_risk
from widemargin.weight.left_out import AsNew

Floats = NDArray[np.float64]

# Units of work for an example, a support vector and a step of training, in the leave-one-out of a kernel
# machine: 0.1 to 0.6 ns each, measured on documents and on noise, between 500 and 2,000 of them.
_STEP = 0.2


@dataclass(frozen=True)
class LeaveOut:
    """How to leave examples out: to which accuracy (infinite: only signs), on how many threads, and so on."""

    accuracy: float = 0.3
    n_jobs: int | None = None
    random_state: Any = 0
    verbose: bool = False


def _can_leave_out(learner: Any) -> bool:
    """Whether examples can be left out one at a time: unless the learner says why not."""
    why = getattr(learner, "no_left_out", None)
    if why is not None:
        raise AttributeError(why)
    return True


class LeavesOut:
    """Of machines with dual variables: leave-one-out, what it costs, and the bound that costs nothing."""

    alpha_: Any
    xi_: Any
    n_iter_: Any
    n_support_: Any
    support_: Any
    label_space_: Any
    bias: Any

    @available_if(_can_leave_out)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def left_out_scores(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        scores: bool = True,
        accuracy: float = 0.3,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: bool = False,
        as_new: AsNew | None = None,
        one_step: bool = False,
    ) -> HeldOutScores:
        """Score every example by the rule that is learned without it.

        Most examples are proven harmless by the solution on all of them; the others are retrained from that
        solution until the score is certain (thesis, 5.3). Where the largest score decides, close ones are
        refined until the winner is certain. The parameters are those of :func:`widemargin.leave_one_out`;
        `X`, `y` and `sample_weight` those of `fit`; `as_new` the same examples as a vectorizer sees new
        documents; `one_step` asks for approximate scores (:mod:`widemargin.learn.left_out.one_step`).
        """
        self._require_examples(X)
        labels = Labels.of(y, X.shape[0], space=self.label_space_)
        how = LeaveOut(float(accuracy) if scores else np.inf, n_jobs, random_state, verbose)
        find, undecided = self._leave_out(X, labels, sample_weight, how), None
        seen = Seen() if as_new is None else self._as_new(X, labels.signs, as_new)
        if one_step:
            values, within, *counts = find.one_step()
        elif self.label_space_.kind == "multiclass":
            (values, within, *counts), undecided = find_winners(find, how.accuracy, labels.signs, seen)
        else:
            values, within, *counts = find()
        if find.converges and not one_step:
            _warn_of_uncertain(values, within)
        values, within = seen(values, within)
        retrained, unstable = counts
        method: Method = "one-step" if one_step else "leave-one-out"
        return HeldOutScores(values, labels.signs, method, within, retrained, unstable, undecided=undecided)

    def _leave_out(self, X: Any, y: Labels, sample_weight: Any, how: LeaveOut) -> Finder:
        """What scores examples by rules that are learned without them."""
        raise NotImplementedError

    def _as_new(self, X: Any, signs: NDArray[np.int8], new: AsNew) -> Seen:
        """How the score of a new document follows from that of the training document."""
        kernel = getattr(self, "_kernel", Kernel("linear"))
        if kernel.name == "linear":
            return linear_as_new(self, signs.shape[1], new)
        alpha = self.alpha_.toarray() if is_sparse(self.alpha_) else self.alpha_
        return kernel_as_new(self, kernel, X, alpha.reshape(signs.shape) * signs, new)

    @available_if(_can_leave_out)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def left_out_cost(self, X: Any) -> LeftOutCost:
        """What `left_out_scores` is predicted to take on `X`, from counts of the solution alone."""
        check_is_fitted(self, "label_space_")
        alpha, n = getattr(self, "alpha_", None), X.shape[0]
        if alpha is None or alpha.shape[0] != n or not self._has_a_rule_per_label:
            return LeftOutCost(np.inf)
        return self._left_out_cost(X)

    def _left_out_cost(self, X: Any) -> LeftOutCost:
        return cost_of_retraining(self, X)

    @available_if(_can_leave_out)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def left_out_risk(self, X: Any, *, risk_factor: float | None = None) -> Any:
        """The leave-one-out risk of every example (:mod:`widemargin.measure.xi_alpha`), shaped as
        `alpha_`."""
        self._require_examples(X)
        hyperplane, bias_size = self._hyperplane
        norms, spread = kernel_range(getattr(self, "_kernel", Kernel("linear")), X)
        return leave_one_out_risk(
            self.alpha_,
            self.xi_,
            norms,
            hyperplane=hyperplane,
            bias_size=bias_size,
            kernel_range=spread,
            risk_factor=risk_factor,
        )

    @available_if(_can_leave_out)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def risk_constants(self, X: Any) -> tuple[int, float]:
        """rho and R^2 of bounds on leave-one-out errors (joachims, Theorem 1), for the matrix of the fit.

        A biased hyperplane has rho = 2, and R^2 = max K - min K or a bound on it. Others have rho = 1, and
        R^2 = max K(x, x), which includes the bias feature or the artificial examples.
        """
        self._require_examples(X)
        hyperplane, bias_size = self._hyperplane
        norms, spread = kernel_range(getattr(self, "_kernel", Kernel("linear")), X)
        if hyperplane == "biased":
            return 2, spread
        return 1, float(norms.max(initial=0.0)) + (0.0 if hyperplane == "unbiased" else bias_size**2)

    @property
    def _hyperplane(self) -> tuple[Hyperplane, float]:
        """Of which kind the hyperplane is, and the size of its bias feature or artificial examples."""
        bias_size = float(getattr(self, "stabilizer_size", 1.0))
        if self.bias == "unregularized":
            return "biased", bias_size
        if self.bias == "stabilized":
            return "stabilized", bias_size
        if isinstance(self.bias, Real):
            return "bias-feature", float(self.bias)
        return "unbiased", bias_size

    def _require_examples(self, X: Any) -> None:
        """Refuse a machine that does not know its examples, or not by labels."""
        check_is_fitted(self, "label_space_")
        if not hasattr(self, "alpha_"):
            raise UsageError(
                "The dual variables are not there: only a learner that was just fitted has them, "
                "not one that was loaded from a file."
            )
        if not self._has_a_rule_per_label:
            raise UsageError(
                f'scheme="{self._scheme}": a vote over pairs of classes has no leave-one-out of its own, '
                f"and no "
                f'bounds on it. Use scheme="one-vs-rest", or cross-validation.'
            )
        if self.alpha_.shape[0] != X.shape[0]:
            raise UsageError(
                f"The learner was fitted on {self.alpha_.shape[0]} examples; X has {X.shape[0]} rows. "
                f"Pass the matrix that it was fitted on."
            )

    @property
    def _scheme(self) -> str:
        return getattr(self, "scheme", "one-vs-rest")

    @property
    def _has_a_rule_per_label(self) -> bool:
        return self._scheme == "one-vs-rest" or self.label_space_.kind == "binary"


def cost_of_retraining(learner: Any, X: Any) -> LeftOutCost:
    """The cost where every one of the support vectors may have to leave and the machine be trained again.

    That takes many steps where the first training took many: on labels that the examples do not explain, at
    a high cost.
    """
    n, alpha = X.shape[0], learner.alpha_
    supports = np.asarray((alpha > 0).sum(axis=0)).reshape(-1)
    steps = np.sum(supports * np.asarray(learner.n_iter_, dtype=np.float64))
    in_all = np.count_nonzero(np.asarray((alpha > 0).reshape((n, -1)).sum(axis=1)))
    # Who is between the bounds costs most; here that may be everybody.
    n_values = X.nnz if is_sparse(X) else np.size(X)
    kernel = getattr(learner, "_kernel", Kernel("linear"))
    dimensions = X.shape[1] if kernel.name == "linear" else np.inf
    one_step = step_work(supports, np.zeros_like(supports), n, n_values, dimensions)
    if learner.bias == "stabilized":
        one_step = np.inf
    why = f"{in_all:,} of {n:,} are support vectors"
    return LeftOutCost(n * float(steps) * _STEP, why, one_step)


def _warn_of_uncertain(scores: Floats, accuracy: Floats) -> None:
    uncertain = np.count_nonzero(accuracy >= np.maximum(np.abs(scores), 1e-7))
    if uncertain:
        warnings.warn(
            f"The signs of {uncertain} of {scores.size} leave-one-out scores are not proven: retraining did "
            f"not converge, or they are nearer to 0 than rounding allows to tell. Lower C, or scale X.",
            ConvergenceWarning,
            stacklevel=5,
        )


def kernel_range(kernel: Kernel, X: Any) -> tuple[Floats, float]:
    """K(x, x) of every row, and a bound on R_Delta^2 = max K - min K that one pass over the data gives.

    The exact minimum would cost all pairs. Rows without negative values have inner products of at least 0,
    and are never farther apart than at a right angle.

    Examples
    --------
    >>> norms, spread = kernel_range(Kernel("linear"), np.array([[1.0, 0.0], [0.0, 2.0]]))
    >>> norms.tolist(), spread
    ([1.0, 4.0], 4.0)
    >>> kernel_range(Kernel("linear"), np.array([[1.0, 0.0], [0.0, -2.0]]))[1]
    8.0
    """
    if kernel.name == "precomputed":
        gram = np.asarray(X, dtype=np.float64)
        return gram.diagonal().copy(), float(gram.max() - gram.min())
    csr = canonical_csr(X)
    squares = row_squares(csr)
    largest = float(squares.max(initial=0.0))
    least = 0.0 if csr.data.min(initial=0.0) >= 0 else -largest
    if kernel.name == "linear":
        return squares, largest - least
    if kernel.name == "rbf":
        return np.ones(csr.n_rows), 1 - float(np.exp(-kernel.gamma * 2 * (largest - least)))
    if kernel.name == "chi2":
        return np.ones(csr.n_rows), 1.0
    if kernel.name == "sigmoid":
        norms = np.tanh(kernel.gamma * squares + kernel.coef0)
        return norms, float(
            np.tanh(kernel.gamma * largest + kernel.coef0) - np.tanh(kernel.gamma * least + kernel.coef0)
        )
    # A polynomial over an interval: largest at an end, least at an end or where it is 0.
    ends = np.array([kernel.gamma * value + kernel.coef0 for value in (least, largest)])
    norms = (kernel.gamma * squares + kernel.coef0) ** kernel.degree
    powers = ends**kernel.degree
    lowest = 0.0 if ends[0] < 0 < ends[1] and not (powers < 0).any() else powers.min()
    return norms, float(powers.max() - lowest)
