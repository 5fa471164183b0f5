"""Networks of radial basis functions on chi-square distances between distributions (teytaud, section 4)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import Csr, canonical_csr, checked_csr
from widemargin._one_fit import one_fit_at_a_time, require_not_fitting
from widemargin._parameters import (
    ABOVE_0_TO_1,
    AT_LEAST_0,
    POSITIVE,
    parameter,
    refuse_result,
    require_finite,
)
from widemargin._stored import Stored
from widemargin.labels import Labels
from widemargin.learn.kernel_rows import kernel_scores, refuse_negative, row_arrays
from widemargin.learn.kernels import Kernel
from widemargin.learn.label_model import Arrays, LabelModel, State
from widemargin.learn.network_equations import NetworkEquations
from widemargin.measure.held_out_scores import HeldOutScores, LeftOutCost
from widemargin.weight.left_out import AsNew

Floats = NDArray[np.float64]

# Units of work to decompose a matrix, for every row cubed, and to compute a kernel value, for every value of
# the row.
_WORK, _VALUE_WORK = 1.0, 0.3


@dataclass(eq=False, repr=False)
class ChiSquareNetwork(LabelModel):
    """A network with one radial basis function per training document, on chi-square distances.

    The score of a document is ``sum_i w_i exp(-gamma chi2(x, x_i)^power) + b``, where ``chi2(x, z) = 2 sum (x
    - z)^2 / (x + z)`` is a distance between distributions: rows hold relative frequencies, such as those of
    character trigrams (``Vectorizer(units="chars", ngram_range=(3, 3), weighting="txa")``, which is what
    :class:`~widemargin.TextClassifier` takes by default). The weights of a label solve the equations "score =
    +1 for documents with the label, -1 for others"; of all solutions they are the smallest one, or with
    `regularization` the one that minimizes ``sum (score - sign)^2 + regularization (w.w + b^2)``.

    Training takes time that grows with the cube of the number of documents, and memory with its square: it is
    for hundreds or thousands of documents, which may be long. Authors of books are the document's example.

    Parameters
    ----------
    gamma : 1 / sigma^2 of the document; for long texts, any value of up to about 1 gives similar results
    power : at most 1, where the kernel is positive semi-definite; the document takes 1 and 1/2 to 1/32
    regularization : penalty on squared weights; 0 reproduces the training labels unless documents are equal
    n_jobs : number of threads for kernel values, None for all cores

    Attributes
    ----------
    centers_ : the training documents, one row each
    dual_coef_ : (labels, centers) the weights; one row for a binary task
    intercept_ : (labels,)

    Examples
    --------
    >>> X = np.array([[0.8, 0.2, 0.0], [0.7, 0.1, 0.2], [0.1, 0.1, 0.8], [0.0, 0.3, 0.7]])
    >>> network = ChiSquareNetwork().fit(X, ["Balzac", "Balzac", "Zola", "Zola"])
    >>> network.predict(np.array([[0.9, 0.1, 0.0], [0.1, 0.2, 0.7]])).tolist()
    ['Balzac', 'Zola']
    >>> network.decision_function(X).round(6).tolist()
    [-1.0, -1.0, 1.0, 1.0]
    """

    gamma: float = parameter(0.1, POSITIVE)
    _: KW_ONLY
    power: float = parameter(1.0, ABOVE_0_TO_1)
    regularization: float = parameter(0.0, AT_LEAST_0)
    n_jobs: int | None = None

    # What a Vectorizer should make of texts.
    text_options: ClassVar[dict[str, Any]] = {"units": "chars", "ngram_range": (3, 3), "weighting": "txa"}

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any) -> Self:
        """Train on documents and their labels.

        Parameters
        ----------
        X : sparse or dense matrix (n, features) without negative values; rows of relative frequencies
        y : labels in any form that :mod:`widemargin.labels` accepts
        """
        self._check_parameters()
        csr = self._checked(X, first=True)
        space, signs = Labels.of(y, csr.n_rows).space_and_signs
        try:
            weights = self._equations(csr).weights(signs.astype(np.float64), float(self.regularization))
        except np.linalg.LinAlgError:
            refuse_result(self, csr, "the equations")
        require_finite(self, csr, dual_coef_=weights)
        self.label_space_ = space
        self.centers_ = csr.matrix
        self.dual_coef_ = np.ascontiguousarray(weights[:-1].T)
        self.intercept_ = weights[-1].copy()
        return self

    def decision_function(self, X: Any) -> Floats:
        """Scores of the documents: (n,) for a binary task, otherwise (n, labels).

        Parameters
        ----------
        X : sparse or dense matrix (n, features) without negative values
        """
        check_is_fitted(self, "label_space_")
        require_not_fitting(self)
        rows = self._checked(X, first=False).matrix
        scores = kernel_scores(self._kernel, rows, self.centers_, self.dual_coef_, self.n_jobs)
        scores += self.intercept_
        require_finite(self, None, scores=scores)
        return scores[:, 0] if self.label_space_.kind == "binary" else scores

    def left_out_scores(
        self, X: Any, y: Any, sample_weight: Any = None, *, as_new: AsNew | None = None, **_: Any
    ) -> HeldOutScores:
        """Scores of the training documents by the networks trained without them, in closed form.

        A network without a document lacks its equation and its basis function
        (:mod:`widemargin.learn.network_equations`). Costs as much as training.
        """
        csr = self._checked(X, first=False)
        signs = Labels.of(y, csr.n_rows).signs
        equations, change = self._equations(csr), None
        if as_new is not None:
            change = self._kernel.between(canonical_csr(as_new.rows), csr, self.n_jobs)
            change -= self._kernel.gram(csr, self.n_jobs)
        scores = equations.left_out(signs.astype(np.float64), float(self.regularization), change)
        require_finite(self, csr, left_out_scores=scores)
        return HeldOutScores.of_closed_form(scores, signs)

    def left_out_cost(self, X: Any) -> LeftOutCost:
        """What `left_out_scores` is predicted to take on `X`."""
        return LeftOutCost(
            self.training_work(X), f"a network would decompose a matrix of {X.shape[0]:,} rows"
        )

    def training_work(self, X: Any) -> float:
        """What `fit` took on `X` by prediction, in units of :mod:`widemargin._work`."""
        check_is_fitted(self, "label_space_")
        n, values = float(X.shape[0]), float(X.nnz if hasattr(X, "nnz") else np.size(X))
        return n**3 * _WORK + n * values * _VALUE_WORK

    def get_state(self) -> State:
        """The state for prediction: a configuration for JSON, and arrays."""
        return self._described(), row_arrays(self.dual_coef_, self.intercept_, self.centers_)

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        """A fitted network from the result of `get_state`."""
        stored = Stored(config, arrays)
        network = cls._from_description(stored)
        n_columns = network.label_space_.n_columns
        network.dual_coef_ = stored.array("dual_coef", (n_columns, None))
        network.intercept_ = stored.array("intercept", (n_columns,))
        shape = (network.dual_coef_.shape[1], network.n_features_in_)
        network.centers_ = stored.csr("support", shape, np.float32, np.float64).matrix
        stored.array("support_data", (None,), np.float32, np.float64, least=0)
        return network

    @property
    def _kernel(self) -> Kernel:
        return Kernel("chi2", float(self.gamma), power=float(self.power))

    def _equations(self, csr: Csr) -> NetworkEquations:
        return NetworkEquations(self._kernel.gram(csr, self.n_jobs))

    def _checked(self, X: Any, *, first: bool) -> Csr:
        csr = checked_csr(self, X, first=first)
        refuse_negative(csr.matrix)
        return csr

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
