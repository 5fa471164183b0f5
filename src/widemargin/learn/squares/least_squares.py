"""Regularized least squares classification, on all features or on a sample of them (dasgupta 2.1 and 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import Csr, checked_csr
from widemargin._one_fit import one_fit_at_a_time
from widemargin._parameters import (
    AT_LEAST_0,
    BETWEEN_0_AND_1,
    COUNT,
    SIZE_OF_BIAS,
    either,
    one_of,
    parameter,
    refuse_result,
    require_finite,
)
from widemargin.errors import DataError, UsageError
from widemargin.features.sampling import SampleFeatures
from widemargin.labels import Labels, LabelSpace
from widemargin.learn.as_new import linear_as_new
from widemargin.learn.costs import label_costs, sample_weights
from widemargin.learn.linear_model import LinearModel
from widemargin.learn.squares import problem
from widemargin.learn.squares.problem import LeastSquaresProblem, Solution
from widemargin.measure.held_out_scores import HeldOutScores, LeftOutCost
from widemargin.weight.left_out import AsNew

Floats = NDArray[np.float64]

# Units of work to factorize a matrix, for every row cubed: 4e10 of these take a second.
_WORK = 0.01


@dataclass(eq=False, repr=False)
class RegularizedLeastSquares(LinearModel):
    """Least squares on labels of +1 and -1, with a penalty on the weights; all labels in one solve.

    Minimizes ``sum_i c_i (w.x_i + b - y_i)^2 + regularization * w.w``.

    Parameters
    ----------
    regularization : lambda of the paper; 0 gives the solution with the smallest norm
    bias : size of the constant feature whose weight is the intercept, regularized like the others; None for
        hyperplanes through the origin, as in the paper; "unregularized" for an unregularized intercept
    solver : "dual" (a matrix of documents x documents) or "primal" (features x features) factorize;
        "iterative" uses block conjugate gradients over the sparse data; "auto" factorizes the smaller matrix
        if it is small enough
    tol : for the iterative solver, the relative residual of the equations
    max_iter : for the iterative solver, the maximum number of passes
    class_weight : None; "balanced" gives the examples with and without each label the same total weight; a
        dict multiplies the squared errors of a label's examples (binary: of each class). Each label is then
        solved separately.
    n_jobs : number of threads, None for all cores

    Attributes
    ----------
    coef_ : (labels, features); one row for a binary task
    intercept_ : (labels,)
    alpha_ : the x of (5), dual variables of the training examples: (n,) binary, else (n, labels); None if
        regularization is 0
    objective_ : value of the objective, for each label
    n_iter_ : number of passes of the iterative solver; 1 if a matrix was factorized

    Examples
    --------
    >>> X = np.array([[0, 1], [1, 1], [3, 0], [4, 1]])
    >>> model = RegularizedLeastSquares(0.1).fit(X, ["ham", "ham", "spam", "spam"])
    >>> model.predict(np.array([[5, 0], [0, 0]])).tolist()
    ['spam', 'ham']
    """

    regularization: float = parameter(1.0, AT_LEAST_0)
    _: KW_ONLY
    bias: float | Literal["unregularized"] | None = parameter(
        1.0, either(SIZE_OF_BIAS, one_of("unregularized"))
    )
    solver: Literal["auto", "dual", "primal", "iterative"] = parameter(
        "auto", one_of("auto", "dual", "primal", "iterative")
    )
    tol: float = parameter(1e-6, BETWEEN_0_AND_1)
    max_iter: int = parameter(1000, COUNT)
    class_weight: Any = None
    n_jobs: int | None = None

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on documents and their labels.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in any form that :mod:`widemargin.labels` accepts
        sample_weight : (n,) factors on the squared errors of the examples
        """
        self._fit_all([self], X, y, sample_weight)
        return self

    def path(self, X: Any, y: Any, regularizations: Iterable[float], sample_weight: Any = None) -> list[Self]:
        """One fitted model for each value of `regularization`, all from one factorization or iteration.

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

    def left_out_scores(
        self, X: Any, y: Any, sample_weight: Any = None, *, as_new: AsNew | None = None, **_: Any
    ) -> HeldOutScores:
        """Scores of the training examples by the rules learned without them, in closed form.

        Costs one factorization of the smaller matrix, whatever solver `fit` used. Class weights stay those
        of all examples. What else learners take here is about ways that are not exact.
        """
        labels = Labels.of(y, X.shape[0])
        scores = self.path_left_out([self.regularization], X, labels, sample_weight)[0]
        if as_new is not None:
            scores = linear_as_new(self, scores.shape[1], as_new)(scores, np.zeros_like(scores))[0]
        return HeldOutScores.of_closed_form(scores, labels.signs)

    def left_out_cost(self, X: Any) -> LeftOutCost:
        """What `left_out_scores` is predicted to take on `X`."""
        check_is_fitted(self, "label_space_")
        rows = min(X.shape[0], self.n_features_in_)
        matrices = 1 if self.class_weight is None else self.label_space_.n_columns
        why = f"least squares would factorize a matrix of {rows:,} rows"
        possible = min(X.shape) < problem.LARGEST_MATRIX
        return LeftOutCost(matrices * float(rows) ** 3 * _WORK if possible else np.inf, why)

    def path_left_out(
        self, regularizations: Sequence[float], X: Any, y: Any, sample_weight: Any = None
    ) -> list[Floats]:
        """The same for several values of `regularization`, from one matrix of eigenvectors."""
        _, problems = self._problems(checked_csr(self, X, first=False), y, sample_weight)
        parts = [problem.left_out(regularizations) for problem in problems]
        scores = [np.hstack(columns) for columns in zip(*parts, strict=True)]
        for values in scores:
            require_finite(self, problems[0].csr, left_out_scores=values)
        return scores

    def _fit_all(self, models: Sequence[Self], X: Any, y: Any, sample_weight: Any) -> None:
        for model in models:
            model._check_parameters()
        csr = checked_csr(self, X, first=True)
        space, problems = self._problems(csr, y, sample_weight)
        values = [float(model.regularization) for model in models]
        try:
            parts = [problem.solve(values, float(self.tol), int(self.max_iter)) for problem in problems]
        except np.linalg.LinAlgError:  # of a matrix that is not finite
            refuse_result(self, csr, "the equations")
        for model, columns in zip(models, zip(*parts, strict=True), strict=True):
            model._keep(space, csr, columns)

    def _problems(self, csr: Csr, y: Any, sample_weight: Any) -> tuple[LabelSpace, list[LeastSquaresProblem]]:
        """One problem for all columns of labels, or one per column if class weights differ."""
        space, signs = Labels.of(y, csr.n_rows).space_and_signs
        weights = sample_weights(sample_weight, csr.n_rows)
        positive, negative = label_costs(1.0, self.class_weight, space, signs, weights)
        if (positive == 1).all() and (negative == 1).all():
            return space, [LeastSquaresProblem(csr, signs, weights, self.bias, self.solver, self.n_jobs)]
        own = weights if len(weights) else np.ones(csr.n_rows)
        problems = []
        for k in range(signs.shape[1]):
            of_column = own * np.where(signs[:, k] > 0, positive[k], negative[k])
            if not of_column.any():
                raise DataError(
                    f"class_weight is 0 for every example of {space.column_names[k]!r}: there is nothing to "
                    f"learn from."
                )
            some = np.ascontiguousarray(signs[:, k : k + 1])
            problems.append(LeastSquaresProblem(csr, some, of_column, self.bias, self.solver, self.n_jobs))
        return space, problems

    def _keep(self, space: LabelSpace, csr: Csr, columns: Sequence[Solution]) -> None:
        def together(parts: Sequence[Any]) -> Any:
            return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)

        for column in columns:
            results = {"coef_": column.coef, "intercept_": column.intercept, "alpha_": column.alpha}
            require_finite(self, csr, **results, objective_=column.objective)
        self.label_space_, self.n_features_in_ = space, csr.n_columns
        self.coef_ = together([column.coef for column in columns]).T
        self.intercept_ = together([column.intercept for column in columns])
        self.n_iter_ = max(column.n_iter for column in columns)
        objective = together([column.objective for column in columns])
        alphas = [column.alpha for column in columns]
        alpha = None if alphas[0] is None else together(alphas)
        binary = space.kind == "binary"
        self.objective_: Any = float(objective[0]) if binary else objective
        self.alpha_: Any = alpha[:, 0] if binary and alpha is not None else alpha


@dataclass(eq=False, repr=False)
class SampledLeastSquares(RegularizedLeastSquares):
    """Regularized least squares on a random sample of the features, rescaled: the SRLS algorithm.

    Parameters
    ----------
    n_features : expected number of kept features, at most; see :class:`~widemargin.SampleFeatures`
    sampling : "subspace", "ridge" (with the same regularization), "weighted" or "uniform"
    rank : for subspace sampling, the number of singular vectors
    random_state : random seed of the sample
    regularization, bias, solver, tol, max_iter, class_weight, n_jobs : as in :class:`RegularizedLeastSquares`

    Attributes
    ----------
    sampling_ : the fitted sampling, with its probabilities and counts
    coef_ : (labels, features) sparse, for the original features

    Examples
    --------
    >>> X = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]])
    >>> model = SampledLeastSquares(2, sampling="weighted", random_state=0).fit(X, [1, 1, 0, 0])
    >>> model.sampling_.n_kept_, model.coef_.shape
    (2, (1, 3))
    """

    n_features: int = 1000
    _: KW_ONLY
    sampling: Literal["subspace", "ridge", "weighted", "uniform"] = "subspace"
    rank: int | float | None = None
    regularization: float = 1.0
    random_state: Any = 0

    def _fit_all(self, models: Sequence[Self], X: Any, y: Any, sample_weight: Any) -> None:
        csr = checked_csr(self, X, first=True)
        sampling = SampleFeatures(
            self.n_features,
            sampling=self.sampling,
            rank=self.rank,
            regularization=self.regularization,
            random_state=self.random_state,
        )
        sampled = sampling.fit_transform(csr.matrix)
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
        """Like the base class; the sample of features is that of all examples."""
        check_is_fitted(self, "sampling_")
        plain = RegularizedLeastSquares(**_plain_parameters(self))
        return plain.path_left_out(regularizations, self.sampling_.transform(X), y, sample_weight)


def _plain_parameters(model: SampledLeastSquares) -> dict[str, Any]:
    return {each.name: getattr(model, each.name) for each in fields(RegularizedLeastSquares)}
