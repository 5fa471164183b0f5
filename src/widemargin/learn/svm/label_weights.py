"""What a `LabelWeightedSVM` learned, in plain arrays: to score and to explain without scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr
from widemargin._stored import Stored
from widemargin._threads import thread_count
from widemargin.errors import DataError
from widemargin.labels import LabelSpace
from widemargin.learn.linear_weights import stored_coef

Floats = NDArray[np.float64]


class LabelWeights:
    """Weights, factors and a threshold per column of labels.

    The score of a document x is sum_j x_j v_j / sqrt(sum_j x_j^2 f_j^2) + b. A document without terms scores
    b.

    Attributes
    ----------
    label_space_ : LabelSpace
    term_weights_ : v, columns x features; in memory features x columns
    squared_factors_ : f^2, columns x features; in memory features x columns
    intercept_ : (columns,)
    n_features_in_ : number of features
    """

    label_space_: LabelSpace
    term_weights_: Floats
    squared_factors_: NDArray[np.float32]
    intercept_: Floats
    n_features_in_: int
    n_jobs: int | None = None

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """What the `get_state` of the learner described; its parameters are ignored."""
        self = cls()
        self._read_weights(Stored(config, arrays))
        return self

    def row_scores(self, csr: Csr) -> Floats:
        """Scores (n, columns) of rows."""
        if csr.n_columns != self.n_features_in_:
            raise DataError(
                f"X has {csr.n_columns} features, but the classifier learned {self.n_features_in_}."
            )
        scores = np.empty((csr.n_rows, len(self.intercept_)))
        n_threads = 1 if csr.n_rows == 1 else thread_count(self.n_jobs)
        _core.score_factored_rows(
            csr.native(), self.term_weights_.T, self.squared_factors_.T, self.intercept_, scores, n_threads
        )
        return scores

    def score_parts(self, row: Csr) -> tuple[Floats, Floats]:
        """What each value of a row adds to the scores: the intercepts, and values x columns."""
        values = row.data.astype(np.float64)[:, None]
        squares = (values**2 * self.squared_factors_.T[row.indices]).sum(axis=0)
        lengths = np.where(squares > 0, np.sqrt(squares), 1.0)
        return self.intercept_, values * self.term_weights_.T[row.indices] / lengths

    def _read_weights(self, stored: Stored) -> None:
        space = self.label_space_ = LabelSpace.from_dict(stored.value("labels"))
        n_features = self.n_features_in_ = stored.integer("n_features")
        self.intercept_ = stored.array("intercept", (space.n_columns,))
        shape = (n_features, space.n_columns)
        self.squared_factors_ = stored.array("squared_factors", shape, np.float32, least=0.0).T
        self.term_weights_ = stored_coef(stored, space.n_columns, n_features)
