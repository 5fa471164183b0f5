"""The result of a linear learner in plain arrays: enough to score and to explain, without scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr, is_sparse, row_squares, times
from widemargin._stored import Stored
from widemargin._threads import thread_count
from widemargin.errors import DataError
from widemargin.labels import LabelSpace


class LinearWeights:
    """One weight vector and one threshold per column of labels: scores are X @ coef_.T + intercept_.

    Attributes
    ----------
    label_space_ : LabelSpace
    coef_ : columns x features, dense or sparse; dense weights lie features x columns in memory
    intercept_ : (columns,)
    n_features_in_ : number of features
    """

    label_space_: LabelSpace
    coef_: Any
    intercept_: NDArray[np.float64]
    n_features_in_: int
    n_jobs: int | None = None

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """What the `get_state` of a linear learner described; the parameters of the learner are ignored."""
        self = cls()
        self._read_weights(Stored(config, arrays))
        return self

    def as_scored(self, csr: Csr) -> Csr:
        """The rows that the weights are multiplied by: the documents themselves."""
        return csr

    def _read_weights(self, stored: Stored) -> None:
        space = self.label_space_ = LabelSpace.from_dict(stored.value("labels"))
        n_features = self.n_features_in_ = stored.integer("n_features")
        self.intercept_ = stored.array("intercept", (space.n_columns,))
        self.coef_ = stored_coef(stored, space.n_columns, n_features)


class CosineWeights(LinearWeights):
    """Linear weights for documents that are scaled to length 1."""

    def as_scored(self, csr: Csr) -> Csr:
        """Scale documents to length 1; empty ones are not changed."""
        values = csr.data.astype(np.float64)
        squares = row_squares(csr)
        factors = np.divide(1.0, np.sqrt(squares), out=np.zeros(csr.n_rows), where=squares > 0)
        return csr._replace(data=np.repeat(factors, np.diff(csr.indptr)) * values)


def stored_coef(stored: Stored, n_columns: int, n_features: int) -> Any:
    """Weights of columns x features that are in a file as "coef", dense or sparse."""
    if stored.has_array("coef"):
        return stored.array("coef", (n_features, n_columns)).T
    csr = stored.csr("coef", (n_columns, n_features), np.float64)
    if stored.flag("sparse_coef"):
        return csr.matrix
    stored.check_room("n_features", n_features, n_columns)
    weights = np.zeros((n_features, n_columns))
    weights[csr.indices, np.repeat(np.arange(csr.n_rows), np.diff(csr.indptr))] = csr.data
    return weights.T


def linear_scores(learner: Any, csr: Csr) -> NDArray[np.float64]:
    """Scores (n, columns) of rows by a learner's `coef_` and `intercept_`."""
    if csr.n_columns != learner.coef_.shape[1]:
        raise DataError(
            f"X has {csr.n_columns} features, but the classifier learned {learner.coef_.shape[1]}."
        )
    if is_sparse(learner.coef_):
        scores: NDArray[np.float64] = (csr.matrix @ learner.coef_.T.tocsr()).toarray() + learner.intercept_
        return scores
    n_threads = 1 if csr.n_rows == 1 else thread_count(getattr(learner, "n_jobs", None))
    return times(csr, learner.coef_.T, n_threads, plus=learner.intercept_)
