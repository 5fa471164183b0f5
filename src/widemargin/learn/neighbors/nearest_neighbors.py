"""The classes of the most similar training documents (joachims 2.5.3)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import Csr, checked_csr
from widemargin._one_fit import one_fit_at_a_time, require_not_fitting
from widemargin._parameters import COUNT, one_of, or_none, parameter
from widemargin._stored import Stored
from widemargin.errors import DataError, UsageError
from widemargin.labels import Labels
from widemargin.labels.growing import receive
from widemargin.learn.costs import sample_weights
from widemargin.learn.label_model import Arrays, LabelModel, State
from widemargin.learn.neighbors.kept_documents import KeptDocuments, unit_rows
from widemargin.learn.neighbors.votes import Nearest, Voters
from widemargin.measure.held_out_scores import HeldOutScores, LeftOutCost
from widemargin.weight.left_out import AsNew

Floats = NDArray[np.float64]

# The middle of the grid of the thesis: 1, 15, 30, 45, 60 (6.3.4).
USUAL_NEIGHBORS = 30
# Work per posting of a term that two documents share, and per pair of documents: measured on Reuters-21578.
_PER_POSTING, _PER_PAIR = 0.25, 0.4


class Voter(NamedTuple):
    """A training document that voted.

    Attributes
    ----------
    document : its position among the training documents, from 0
    labels : what it voted for
    cosine : its similarity
    share : its share of all votes
    """

    document: int
    labels: list[Any]
    cosine: float
    share: float


@dataclass(eq=False, repr=False)
class NearestNeighbors(LabelModel):
    """The votes of the training documents with the largest cosines, for two or more classes or label sets.

    The score of a label is the sum of the votes for it less those against it, divided by all votes (2.24): a
    number from -1 to 1, where 0 is as many for as against it. Scores of all labels and documents compare. All
    labels take one search, which is exact.

    Of documents with equal cosines, those that came first in training are nearer. A cosine is that of rows
    rounded to 32 bits, added up in the order of the features, so that equal rows have equal cosines. Only
    documents with a positive cosine vote, even if these are fewer than `n_neighbors`. Where there is none,
    all training documents have the same vote.

    Parameters
    ----------
    n_neighbors : number of documents that vote; None for 30, or for all of a smaller collection
    vote : "weighted": a vote counts as much as the cosine; "equal": all votes count the same
    n_jobs : number of threads, None for all cores; the result does not depend on it

    Attributes
    ----------
    documents_ : the training documents at length 1, sparse (n, features)

    Examples
    --------
    >>> X, y = np.array([[2, 0, 1], [1, 1, 0], [0, 2, 0], [0, 1, 3]]), ["a", "a", "b", "b"]
    >>> model = NearestNeighbors(n_neighbors=3).fit(X, y)
    >>> model.predict(np.array([[3, 1, 0], [0, 2, 1]])).tolist()
    ['a', 'b']
    >>> model.nearest(np.array([[3, 1, 0]])).cosines.round(3).tolist()
    [[0.894, 0.849, 0.316]]
    >>> model.decision_function(np.array([[3, 1, 0]])).round(3).tolist()  # (0.316 - 0.894 - 0.849) / 2.06
    [-0.693]
    """

    n_neighbors: int | None = parameter(None, or_none(COUNT))
    _: KW_ONLY
    vote: Literal["weighted", "equal"] = parameter("weighted", one_of("weighted", "equal"))
    n_jobs: int | None = None

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the documents and build their index.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in any form that :mod:`widemargin.labels` accepts
        sample_weight : (n,) how often each document counts, also among the `n_neighbors`
        """
        self._check_parameters()
        csr = checked_csr(self, X, first=True)
        space, signs = Labels.of(y, csr.n_rows).space_and_signs
        kept = KeptDocuments.of(csr, signs, sample_weights(sample_weight, csr.n_rows))
        self._require_enough(kept)
        self.label_space_, self._parts = space, [kept]
        self._voters: Voters | None = Voters(kept)
        return self

    @one_fit_at_a_time
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add documents; the result is that of one `fit` on all of them.

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        y : labels in the form of the first call; earlier documents do not have labels that are new
        classes : sequence of labels, optional
            Expected labels, in the first call. Two of them make the task binary; by default every label has
            a column.
        sample_weight : (n,) how often each document counts
        """
        first = not hasattr(self, "label_space_")
        self._check_parameters()
        csr = checked_csr(self, X, first=first)
        batch = receive(None if first else self.label_space_, y, classes, n=csr.n_rows)
        kept = KeptDocuments.of(csr, batch.signs.T, sample_weights(sample_weight, csr.n_rows))
        before = [] if first else [part.placed(batch.kept) for part in self._parts]
        # Joined when they are searched, so that many small batches are not copied again and again.
        self.label_space_, self._parts, self._voters = batch.space, [*before, kept], None
        return self

    def decision_function(self, X: Any) -> Floats:
        """Scores from -1 to 1: (n,) for a binary task, otherwise (n, labels).

        Parameters
        ----------
        X : sparse or dense matrix (n, features)
        """
        check_is_fitted(self, "label_space_")
        require_not_fitting(self)
        queries = unit_rows(checked_csr(self, X, first=False))
        scores = self._scores(queries)
        return scores[:, 0] if self.label_space_.kind == "binary" else scores

    def predict_proba(self, X: Any) -> Floats:
        """The share of the votes for each label, documents x `classes_`.

        The `calibration` of a :class:`~widemargin.TextClassifier` gives probabilities to rely on.
        """
        shares = (1 + self.decision_function(X)) / 2
        if self.label_space_.kind == "binary":
            return np.column_stack([1 - shares, shares])
        return np.asarray(shares)

    def nearest(self, X: Any) -> Nearest:
        """The training documents that vote on each row of `X`, and their cosines."""
        check_is_fitted(self, "label_space_")
        require_not_fitting(self)
        queries = unit_rows(checked_csr(self, X, first=False))
        return self._searched().nearest(queries, k=self._k, n_jobs=self.n_jobs)

    def left_out_scores(
        self, X: Any, y: Any, sample_weight: Any = None, *, as_new: AsNew | None = None, **_: Any
    ) -> HeldOutScores:
        """Scores of all training documents by the votes of the others, exactly.

        Each is searched without itself; nothing is learned again. Where all documents vote, one fewer does.
        `sample_weight` is that of `fit`. What else learners take here is about ways that are not exact.
        """
        check_is_fitted(self, "label_space_")
        rows = unit_rows(checked_csr(self, X, first=False))
        labels = Labels.of(y, rows.n_rows, space=self.label_space_)
        kept = self._kept()
        if not kept.are(rows):
            raise DataError(
                f"Leave-one-out takes the {kept.n} training documents in their order, but X differs from "
                f"them. Pass the X of `fit`."
            )
        queries = rows if as_new is None else unit_rows(checked_csr(self, as_new.rows, first=False))
        scores = self._scores(queries, np.arange(kept.n, dtype=np.int32))
        return HeldOutScores.of_closed_form(scores, labels.signs)

    def left_out_cost(self, X: Any) -> LeftOutCost:
        """What `left_out_scores` is predicted to take on `X`."""
        check_is_fitted(self, "label_space_")
        frequencies = np.bincount(self._kept().rows.indices).astype(np.float64)
        pairs = float(X.shape[0]) ** 2
        return LeftOutCost(
            _PER_POSTING * float(frequencies @ frequencies) + _PER_PAIR * pairs,
            "nearest neighbors would search among all documents for each of them",
        )

    def score_parts(self, row: Csr) -> tuple[Floats, Floats]:
        """The scores of one document as sums: a constant per column, and a part per term and column.

        A vote is divided among the terms by what they add to the cosine. Without neighbors, there are only
        constants.
        """
        check_is_fitted(self, "label_space_")
        query, n_columns = unit_rows(row), self.label_space_.n_columns
        found, shares = self._votes(query)
        if not len(shares):
            return self._scores(query)[0], np.zeros((len(query.data), n_columns))
        kept = self._kept()
        signs = kept.signs(found.documents[0], n_columns) * (shares / found.cosines[0])[:, None]
        terms: Any = kept.rows.matrix[found.documents[0]].astype(np.float64)[:, query.indices]
        return np.zeros(n_columns), query.data[:, None] * (terms.T @ signs)

    def voters(self, row: Csr) -> list[Voter]:
        """The training documents that vote on one document, the nearest first."""
        check_is_fitted(self, "label_space_")
        found, shares = self._votes(unit_rows(row))
        space, kept = self.label_space_, self._kept()
        signs = kept.signs(found.documents[0], space.n_columns)
        names = space.classes.tolist()
        labels = [[names[place] for place in np.flatnonzero(sign > 0)] for sign in signs]
        if space.kind == "binary":
            labels = [[names[int(sign[0] > 0)]] for sign in signs]
        columns = (found.documents[0].tolist(), labels, found.cosines[0].tolist(), shares.tolist())
        return [Voter(*each) for each in zip(*columns, strict=True)]

    @property
    def documents_(self) -> Any:
        check_is_fitted(self, "label_space_")
        return self._kept().rows.matrix

    def get_state(self) -> State:
        """The state for prediction and further training: a configuration for JSON, and arrays."""
        config = self._described()
        return config, self._searched().documents.arrays()

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        """A learner from the result of `get_state`; training can continue."""
        stored = Stored(config, arrays)
        learner = cls._from_description(stored)
        space = learner.label_space_
        kept = KeptDocuments.read(stored, space.n_columns, learner.n_features_in_)
        if space.kind == "multiclass" and (np.diff(kept.label_indptr) != 1).any():
            raise DataError("'labels_indptr' in arrays.safetensors does not give every document one class")
        if learner._k > kept.total and learner.n_neighbors is not None:
            raise DataError(
                f"'parameters.n_neighbors' in manifest.json is {learner._k}; expected at most the "
                f"{kept.total:g} documents in arrays.safetensors"
            )
        learner._parts, learner._voters = [kept], None
        return learner

    @property
    def _k(self) -> int:
        return USUAL_NEIGHBORS if self.n_neighbors is None else int(self.n_neighbors)

    def _scores(self, queries: Csr, left_out: NDArray[np.int32] | None = None) -> Floats:
        others = {} if left_out is None else {"left_out": left_out}
        return self._searched().scores(
            queries,
            self.label_space_.n_columns,
            k=self._k,
            by_cosine=self.vote == "weighted",
            n_jobs=self.n_jobs,
            **others,
        )

    def _votes(self, query: Csr) -> tuple[Nearest, Floats]:
        """The neighbors of one row, and the share of the votes of each."""
        found = self._searched().nearest(query, k=self._k)
        here = found.documents[0] >= 0
        found = Nearest(found.documents[:, here], found.cosines[:, here], found.counts[:, here])
        votes = found.counts[0] * (found.cosines[0] if self.vote == "weighted" else 1.0)
        return found, votes / votes.sum() if len(votes) else votes

    def _kept(self) -> KeptDocuments:
        """All documents."""
        if len(self._parts) > 1:
            self._parts = [KeptDocuments.joined(self._parts)]
        return self._parts[0]

    def _searched(self) -> Voters:
        """The index of all documents, built when it is needed."""
        self._require_enough(self._kept())
        if self._voters is None:
            self._voters = Voters(self._kept())
        return self._voters

    def _require_enough(self, kept: KeptDocuments) -> None:
        if self.n_neighbors is None or self.n_neighbors <= kept.total:
            return
        counted = " by their weights" if len(kept.weights) else ""
        raise UsageError(
            f"n_neighbors={self.n_neighbors}, but there are only {kept.total:g} training documents{counted}. "
            f"Pass at most that many, or None for 30 or as many as there are."
        )

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "_voters" in state:  # structs of the core are made again
            state["_voters"] = None
        return state
