"""The training of a linear machine on rows on disk: its costs, its options, and what it comes to."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from widemargin._threads import thread_count
from widemargin.estimate.by_blocks.weighed_rows import WeighedRows
from widemargin.labels import LabelSpace
from widemargin.learn.costs import costs_by_totals
from widemargin.learn.svm.by_blocks.coded_alphas import CodedAlphas
from widemargin.learn.svm.by_blocks.solving import BlockOptions, BlockSolution, solve_by_blocks
from widemargin.weight.left_out import RemainingTerms

if TYPE_CHECKING:
    from widemargin.learn.svm.linear_svm import LinearSVM
    from widemargin.on_disk.row_store import RowStore

Floats = NDArray[np.float64]
LeftOut = Callable[[int], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class BlockTask:
    """Rows on disk, and the machine that learns from them.

    Attributes
    ----------
    store : counts or vectors, with labels
    vectorizer : fitted, or None for vectors
    learner : a `LinearSVM`, of which only parameters are used
    space : the labels
    memory : bytes that the solver may use; results do not depend on it
    nodes : of labels that are paths, as for :class:`WeighedRows`
    totals_of_terms : the occurrences of every term in all documents; None for vectors and hashed terms
    """

    store: RowStore
    vectorizer: Any
    learner: LinearSVM
    space: LabelSpace
    memory: int
    nodes: Sequence[Sequence[int]] | None = None
    totals_of_terms: NDArray[np.int64] | None = None

    @property
    def occurrences(self) -> Floats | None:
        """The occurrences of every term, if the vectorizer prunes by them."""
        if self.totals_of_terms is None or self.vectorizer is None or self.vectorizer.min_count <= 1:
            return None
        return self.totals_of_terms.astype(np.float64)

    @property
    def rows(self) -> WeighedRows:
        """The rows by the vectorizer of all documents."""
        return self.rows_by(None)

    def rows_by(self, without: RemainingTerms | None) -> WeighedRows:
        """The rows by a vectorizer that knows only some terms."""
        return WeighedRows(self.store, self.vectorizer, without, self.nodes)

    def totals(self, left_out: LeftOut | None = None) -> tuple[Floats, Floats]:
        """The weights of the positive examples of every column, and of all examples."""
        total, everything, rows = np.zeros(self.space.n_columns), 0.0, self.rows
        for block in range(self.store.n_blocks):
            indptr, columns = rows.labels(block)
            weights = self.store.weights(block)
            each = np.ones(len(indptr) - 1) if weights is None else weights
            if left_out is not None:
                each = np.where(left_out(block), 0.0, each)
            everything += float(each.sum())
            total += np.bincount(columns, np.repeat(each, np.diff(indptr)), len(total))
        return total, np.full(len(total), everything)

    def costs(self, left_out: LeftOut | None = None) -> tuple[Floats, Floats]:
        """The costs of errors on positive and on negative examples of every column."""
        return costs_by_totals(self.learner, self.space, *self.totals(left_out))

    def solve(
        self,
        rows: WeighedRows | None = None,
        *,
        left_out: LeftOut | None = None,
        start: BlockSolution | None = None,
        times_tol: float = 1.0,
        verbose: bool = False,
    ) -> BlockSolution:
        """The machines of all labels.

        Parameters
        ----------
        rows : by another vectorizer than that of all documents
        left_out : which rows of a block are left out; costs are those of the others
        start : a solution to begin at
        times_tol : a factor on the tolerance
        """
        learner = self.learner
        options = BlockOptions(
            bias=0.0 if learner.bias is None else float(learner.bias),
            squared_loss=learner.loss == "squared_hinge",
            tol=float(learner.tol) * times_tol,
            max_iter=int(learner.max_iter),
            seed=int(check_random_state(learner.random_state).randint(2**31 - 1)),
        )
        return self.solved(
            self.rows if rows is None else rows,
            self.costs(left_out),
            options,
            left_out=left_out,
            start=None if start is None else start.alphas,
            verbose=verbose and bool(learner.verbose),
        )

    def solved(
        self,
        rows: WeighedRows,
        costs: tuple[Floats, Floats],
        options: BlockOptions,
        *,
        left_out: LeftOut | None,
        start: CodedAlphas | None,
        verbose: bool,
    ) -> BlockSolution:
        """The machines of all labels, in this process."""
        return solve_by_blocks(
            rows,
            np.arange(self.space.n_columns, dtype=np.int32),
            *costs,
            options,
            left_out=left_out,
            start=start,
            n_threads=thread_count(self.learner.n_jobs),
            memory=self.memory,
            verbose=verbose,
        )

    def machine(self, found: BlockSolution) -> LinearSVM:
        """The fitted learner, without dual variables."""
        binary = self.space.kind == "binary"
        made: LinearSVM = clone(self.learner)
        made.label_space_, made.n_features_in_ = self.space, int(found.coef.shape[1])
        made.coef_, made.intercept_ = found.coef, found.intercept
        made.objective_ = float(found.objective[0]) if binary else found.objective
        made.duality_gap_ = float(found.gap[0]) if binary else found.gap
        made.n_iter_ = int(found.passes[0]) if binary else found.passes
        return made

    def warn(self, found: BlockSolution) -> None:
        """Say which labels did not converge."""
        converged = np.asarray(found.converged, dtype=bool)
        if converged.all():
            return
        names = self.space.column_names[~converged].tolist()
        worst = float(np.max((found.gap / np.maximum(found.objective, 1e-300))[~converged]))
        warnings.warn(
            f"{len(names)} of {len(converged)} labels ({', '.join(map(repr, names[:3]))}"
            f"{', ...' if len(names) > 3 else ''}) did not converge in {self.learner.max_iter} passes; the "
            f"largest duality gap is {worst:.2g} of the objective. Raise max_iter or tol, or lower C.",
            ConvergenceWarning,
            stacklevel=3,
        )
