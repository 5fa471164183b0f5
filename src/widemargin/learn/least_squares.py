"""Regularized least squares classification, on all features or on a sample of them (dasgupta 2.1 and 3)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_consistent_length, validate_data

from widemargin._arrays import Csr, canonical_csr, times
from widemargin.errors import DataError, UsageError
from widemargin.labels import LabelSpace, learn_labels
from widemargin.learn.costs import sample_weights
from widemargin.learn.linear_rule import LinearRule
from widemargin.learn.normal_equations import Form, NormalEquations, Rows, make_rows
from widemargin.learn.shifted_cg import shifted_cg
from widemargin.select.sampling import SampleFeatures

Floats = NDArray[np.float64]

# Matrices of this many rows are factorised by solver="auto": for one lambda, and for many (eigenvectors).
_FACTORISED, _DECOMPOSED = 2000, 700
# And of this many for exact leave-one-out, where nothing else serves: 1.2 gigabytes.
LARGEST_MATRIX = 12_000


class RegularizedLeastSquares(LinearRule):
    """Least squares on labels of +1 and -1, with a penalty on the weights; all labels in one solve.

    Minimises ``sum_i c_i (w.x_i + b - y_i)^2 + regularization * w.w``.

    Parameters
    ----------
    regularization : lambda of the paper. At 0 the solution with the smallest weights is taken.
    bias : size of the constant feature whose weight is the threshold, regularised with the others; None for
        hyperplanes through the origin, as in the paper; "unregularized" for a threshold that costs nothing
    solver : "dual" (a matrix of documents x documents) or "primal" (features x features) factorise;
        "iterative" takes conjugate gradients over the sparse data; "auto" factorises the smaller matrix where
        it is small
    tol : of the iterative solver: the residual of the equations, relative to their right-hand side
    max_iter : of the iterative solver: most passes
    n_jobs : native threads, None for every core

    Attributes
    ----------
    coef_ : (labels, features); one row for a binary task
    intercept_ : (labels,)
    alpha_ : the x of (5), dual variables of the training examples: (n,) binary, else (n, labels); None at
        regularization 0
    objective_ : what is minimised, for each label
    n_iter_ : passes of the iterative solver; 1 where a matrix was factorised

    Examples
    --------
    >>> X = np.array([[0, 1], [1, 1], [3, 0], [4, 1]])
    >>> model = RegularizedLeastSquares(0.1).fit(X, ["ham", "ham", "spam", "spam"])
    >>> model.predict(np.array([[5, 0], [0, 0]])).tolist()
    ['spam', 'ham']
    """

    alpha_: Any
    objective_: Any
    n_iter_: int

    def __init__(
        self,
        regularization: float = 1.0,
        *,
        bias: float | Literal["unregularized"] | None = 1.0,
        solver: Literal["auto", "dual", "primal", "iterative"] = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        n_jobs: int | None = None,
    ) -> None:
        self.regularization = regularization
        self.bias = bias
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from documents and their labels.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in any form that :mod:`widemargin.labels` takes
        sample_weight : (n,) factors on the squared errors of the examples
        """
        self._fit_all([self], X, y, sample_weight)
        return self

    def path(self, X: Any, y: Any, regularizations: Iterable[float], sample_weight: Any = None) -> list[Self]:
        """One fitted model for each value of `regularization`, all from one factorisation or iteration.

        Examples
        --------
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
        >>> models = RegularizedLeastSquares(bias=None).path(X, y, [0.1, 10])
        >>> [round(float(model.coef_[0, 0]), 4) for model in models]
        [0.1418, 0.0833]
        """
        models = [clone(self).set_params(regularization=value) for value in regularizations]
        if not models:
            raise UsageError("regularizations is empty. Pass at least one number.")
        self._fit_all(models, X, y, sample_weight)
        return models

    def left_out_scores(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """Scores of the training examples by the rules learned without them, (n, columns), in closed form.

        Costs one factorisation of the smaller matrix, whatever solver `fit` used.
        """
        return self.path_left_out([self.regularization], X, y, sample_weight)[0]

    def path_left_out(
        self, regularizations: Sequence[float], X: Any, y: Any, sample_weight: Any = None
    ) -> list[Floats]:
        """The same for several values of `regularization`, from one matrix of eigenvectors."""
        _, signs, weights, csr = self._input(X, y, sample_weight)
        rows, roots = make_rows(csr, self.bias, weights, self.n_jobs)
        form = self._form(rows)
        if min(rows.csr.n_rows, rows.csr.n_columns) > LARGEST_MATRIX:
            raise DataError(
                f"Exact leave-one-out needs a matrix of {min(rows.csr.n_rows, rows.csr.n_columns)} rows; at "
                f"most {LARGEST_MATRIX} are factorised. Select features, or cross-validate."
            )
        targets = rows.project(roots[:, None] * signs)
        system = NormalEquations(rows, form)
        found: list[Floats] = []
        for value, inverse in zip(regularizations, system.inverses(regularizations), strict=True):
            _, _, errors = self._rule(rows, roots, signs, system.weights(inverse, targets), csr)
            without = system.left_out(inverse, value, targets, roots[:, None] * errors)
            # An example of weight 0 was never in.
            unscaled = np.divide(without, roots[:, None], out=errors.copy(), where=roots[:, None] > 0)
            found.append(np.asarray(signs - unscaled, dtype=np.float64))
        return found

    def _fit_all(self, models: Sequence[Self], X: Any, y: Any, sample_weight: Any) -> None:
        for model in models:
            model._check_parameters()
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32))
        space, signs, weights, csr = self._input(X, y, sample_weight)
        rows, roots = make_rows(csr, self.bias, weights, self.n_jobs)
        targets = rows.project(roots[:, None] * signs)
        values = [float(model.regularization) for model in models]
        smaller = min(rows.csr.n_rows, rows.csr.n_columns)
        most = _FACTORISED if len(values) == 1 and values[0] > 0 else _DECOMPOSED
        n_iter = 1
        if self.solver == "iterative" or (self.solver == "auto" and smaller > most):
            solutions, n_iter = self._iterate(rows, targets, values)
        else:
            system = NormalEquations(rows, self._form(rows))
            solutions = [system.weights(inverse, targets) for inverse in system.inverses(values)]
        for model, solution in zip(models, solutions, strict=True):
            coef, intercept, errors = self._rule(rows, roots, signs, solution, csr)
            model._keep(space, self.n_features_in_, coef, intercept, errors, roots, n_iter)

    def _input(self, X: Any, y: Any, sample_weight: Any) -> tuple[LabelSpace, NDArray[np.int8], Floats, Csr]:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        space, signs = learn_labels(y)
        check_consistent_length(X, signs)
        csr = canonical_csr(X)
        return space, signs, sample_weights(sample_weight, csr.n_rows), csr

    def _form(self, rows: Rows) -> Form:
        if self.solver == "dual" or self.solver == "primal":
            return self.solver
        return "dual" if rows.csr.n_rows <= rows.csr.n_columns else "primal"

    def _iterate(self, rows: Rows, targets: Floats, values: Sequence[float]) -> tuple[Sequence[Floats], int]:
        transposed, n_threads = rows.transposed, rows.n_threads
        dual = rows.csr.n_rows <= rows.csr.n_columns
        if dual:
            found = shifted_cg(rows.gram_product(), targets, values, float(self.tol), int(self.max_iter))
        else:

            def down(V: Floats) -> Floats:
                return times(transposed, rows.project(times(rows.csr, V, n_threads)), n_threads)

            b = times(transposed, targets, n_threads)
            found = shifted_cg(down, b, values, float(self.tol), int(self.max_iter))
        if (found.residuals > self.tol).any():
            warnings.warn(
                f"Conjugate gradients left a residual of {found.residuals.max():.2g} after {found.n_iter} "
                f"passes. Raise max_iter, tol or regularization.",
                ConvergenceWarning,
                stacklevel=4,
            )
        if dual:
            return [times(transposed, solution, n_threads) for solution in found.solutions], found.n_iter
        return list(found.solutions), found.n_iter

    def _rule(
        self, rows: Rows, roots: Floats, signs: NDArray[np.int8], solution: Floats, csr: Csr
    ) -> tuple[Floats, Floats, Floats]:
        """Weights (features, labels), thresholds and errors from the solution.

        Its last row may be the weights of the bias.
        """
        coef = np.ascontiguousarray(solution[: csr.n_columns])
        errors = signs - times(csr, coef, rows.n_threads)
        if self.bias is None:
            return coef, np.zeros(signs.shape[1]), errors
        if isinstance(self.bias, str):
            intercept = np.asarray(roots**2 / (roots @ roots) @ errors)
        else:
            intercept = float(self.bias) * solution[csr.n_columns]
        errors -= intercept
        return coef, intercept, errors

    def _keep(
        self,
        space: LabelSpace,
        n_features: int,
        coef: Floats,
        intercept: Floats,
        errors: Floats,
        roots: Floats,
        n_iter: int,
    ) -> None:
        self.label_space_, self.n_features_in_ = space, n_features
        self.coef_, self.intercept_, self.n_iter_ = coef.T, intercept, n_iter
        penalty = np.einsum("ij,ij->j", coef, coef)
        if self.bias is not None and not isinstance(self.bias, str):
            penalty = penalty + (intercept / float(self.bias)) ** 2
        weighted = roots[:, None] ** 2 * errors
        objective = np.einsum("ij,ij->j", weighted, errors) + self.regularization * penalty
        alpha = weighted / self.regularization if self.regularization > 0 else None
        binary = space.kind == "binary"
        self.objective_ = float(objective[0]) if binary else objective
        self.alpha_ = alpha[:, 0] if binary and alpha is not None else alpha

    def _check_parameters(self) -> None:
        value = self.regularization
        if not isinstance(value, Real) or not 0 <= float(value) < np.inf:
            raise UsageError(f"regularization={value!r}: expected a number of at least 0.")
        sized = isinstance(self.bias, Real) and 0 < float(self.bias) < np.inf
        if not (self.bias is None or sized or self.bias == "unregularized"):
            raise UsageError(
                f"bias={self.bias!r}: expected a positive number (the size of the constant feature), "
                f'"unregularized", or None.'
            )
        if self.solver not in ("auto", "dual", "primal", "iterative"):
            raise UsageError(f'solver={self.solver!r}: expected "auto", "dual", "primal" or "iterative".')
        if not isinstance(self.tol, Real) or not 0 < float(self.tol) < 1:
            raise UsageError(f"tol={self.tol!r}: expected a number between 0 and 1.")
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise UsageError(f"max_iter={self.max_iter!r}: expected a positive integer.")


class SampledLeastSquares(RegularizedLeastSquares):
    """Regularized least squares on a random sample of the features, rescaled: the SRLS algorithm.

    Parameters
    ----------
    r : the features to expect at most, see :class:`widemargin.select.sampling.SampleFeatures`
    sampling : "subspace", "weighted" or "uniform"
    k : of subspace sampling: how many singular vectors
    random_state : seed of the sample
    regularization, bias, solver, tol, max_iter, n_jobs : as in :class:`RegularizedLeastSquares`

    Attributes
    ----------
    sampling_ : the fitted sampling, with its probabilities and counts
    coef_ : (labels, features) sparse, over all features: documents are scored as they are

    Examples
    --------
    >>> X = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]])
    >>> model = SampledLeastSquares(2, sampling="weighted", random_state=0).fit(X, [1, 1, 0, 0])
    >>> model.sampling_.n_kept_, model.coef_.shape
    (2, (1, 3))
    """

    sampling_: SampleFeatures

    def __init__(
        self,
        r: int = 1000,
        *,
        sampling: Literal["subspace", "weighted", "uniform"] = "subspace",
        k: int | float | None = None,
        regularization: float = 1.0,
        bias: float | Literal["unregularized"] | None = 1.0,
        solver: Literal["auto", "dual", "primal", "iterative"] = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(regularization, bias=bias, solver=solver, tol=tol, max_iter=max_iter, n_jobs=n_jobs)
        self.r = r
        self.sampling = sampling
        self.k = k
        self.random_state = random_state

    def _fit_all(self, models: Sequence[Self], X: Any, y: Any, sample_weight: Any) -> None:
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32))
        sampling = SampleFeatures(self.r, sampling=self.sampling, k=self.k, random_state=self.random_state)
        sampled = sampling.fit_transform(X)
        n_features = self.n_features_in_
        plain = [RegularizedLeastSquares(**_plain_parameters(model)) for model in models]
        plain[0]._fit_all(plain, sampled, y, sample_weight)
        for model, fitted in zip(models, plain, strict=True):
            for name in ("label_space_", "intercept_", "alpha_", "objective_", "n_iter_"):
                setattr(model, name, getattr(fitted, name))
            model.sampling_, model.n_features_in_ = sampling, n_features
            model.coef_ = sampling.spread(fitted.coef_)

    def path_left_out(
        self, regularizations: Sequence[float], X: Any, y: Any, sample_weight: Any = None
    ) -> list[Floats]:
        """As of the learner on all features; the sample of features is that of all examples."""
        plain = RegularizedLeastSquares(**_plain_parameters(self))
        return plain.path_left_out(regularizations, self.sampling_.transform(X), y, sample_weight)


def _plain_parameters(model: SampledLeastSquares) -> dict[str, Any]:
    names = ("regularization", "bias", "solver", "tol", "max_iter", "n_jobs")
    return {name: getattr(model, name) for name in names}
