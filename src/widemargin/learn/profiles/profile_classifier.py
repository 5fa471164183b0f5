"""Nearest n-gram profiles (Teytaud and Jalam, Kernel-based text categorization)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

import widemargin._core as _core
from widemargin._arrays import Csr, documents_with_value_check, place_of
from widemargin._one_fit import one_fit_at_a_time, require_not_fitting
from widemargin._parameters import (
    COUNT,
    POSITIVE,
    either,
    one_of,
    or_none,
    parameter,
    require_finite,
)
from widemargin._stored import Stored
from widemargin.errors import DataError, UsageError
from widemargin.labels import Labels
from widemargin.learn.label_model import Arrays, LabelModel, State
from widemargin.learn.profiles.dissimilarities import DIRECTIONS, DISSIMILARITIES, Dissimilarity, Profiles
from widemargin.learn.profiles.gathering import CLASS, gathered

Floats = NDArray[np.float64]

# Dissimilarities in memory at a time.
_VALUES_AT_ONCE = 4_000_000


@dataclass(eq=False, repr=False)
class ProfileClassifier(LabelModel):
    """The class of the nearest profiles: sums of the n-gram counts of training texts.

    X holds counts, for example those of ``Vectorizer(units="chars", ngram_range=(3, 3), weighting=None)``;
    n-grams that no training text has are not counted. Short texts are compared best with one profile per
    class, by "kl" from profile to text. Classes are exclusive.

    With one neighbor, the score of a class is how much nearer its nearest profile is than the nearest
    profiles of all classes on average, so it is a sum over n-grams (`explain`). With more, it is
    the number of votes; the nearer class wins a tie. Ties of distances are broken by the order of the
    profiles: sorted classes, then training texts.

    Parameters
    ----------
    dissimilarity : {"kl", "kl-all", "ct", "cosine", "chi2", "chi2-asymmetric"}
        See :mod:`widemargin.learn.profiles.dissimilarities`.
    direction : {"profile-to-text", "text-to-profile"}
        The order of the arguments; "cosine" and "chi2" are symmetric.
    gather : "class" or int
        How many texts of a class are added up to one profile: all, or so many in the order of X; 1 compares
        with every text.
    parts : int, optional
        The number of profiles per class instead, of equally many texts each, for example 50.
    n_neighbors : int
        The number of nearest profiles that vote.
    unseen : float
        The count that replaces 0 in logarithms and denominators.
    max_rank, missing_rank : int
        NMAX and DMAX of "ct": the number of n-grams that are compared, and the rank of a missing one.
    n_jobs : int, optional
        As in :class:`~widemargin.LinearSVM`.

    Attributes
    ----------
    profiles_ : sparse array, profiles x n-grams, of counts
    profile_classes_ : the class of every profile, as a position in `classes_`

    Examples
    --------
    >>> from widemargin import Vectorizer
    >>> trigrams = Vectorizer(units="chars", ngram_range=(3, 3), weighting=None)
    >>> X = trigrams.fit_transform(["the weather in the north", "das Wetter in der Nacht"])
    >>> model = ProfileClassifier("kl").fit(X, ["en", "de"])
    >>> model.predict(trigrams.transform(["the nether", "der Schacht"])).tolist()
    ['en', 'de']
    """

    dissimilarity: str = parameter("kl", one_of(*DISSIMILARITIES))
    _: KW_ONLY
    direction: str = parameter("profile-to-text", one_of(*DIRECTIONS))
    gather: int | str = parameter(CLASS, either(one_of(CLASS), COUNT))
    parts: int | None = parameter(None, or_none(COUNT))
    n_neighbors: int = parameter(1, COUNT)
    unseen: float = parameter(0.1, POSITIVE)
    max_rank: int = parameter(500, COUNT)
    missing_rank: int = parameter(1000, COUNT)
    n_jobs: int | None = None

    @one_fit_at_a_time
    def fit(self, X: Any, y: Any) -> Self:
        """Add up the profiles.

        Parameters
        ----------
        X : sparse or dense matrix (n, n-grams) of counts, not negative
        y : one label per row, in any form that :mod:`widemargin.labels` accepts
        """
        self._check_parameters()
        csr = self._counts(X, first=True)
        labels = Labels.of(y, csr.n_rows)
        space = labels.space
        if space.kind == "multilabel":
            raise UsageError(
                "A ProfileClassifier chooses one of several classes, but y has label sets. "
                "Use another learner, such as LinearSVM."
            )
        counts, owners = gathered(csr, labels.codes, self.gather, self.parts)
        self._learn(counts, owners)
        self.label_space_ = space
        return self

    def dissimilarities(self, X: Any) -> Floats:
        """The dissimilarities of texts and profiles, (n, profiles)."""
        check_is_fitted(self, "label_space_")
        require_not_fitting(self)
        csr = self._counts(X, first=False)
        return self._found(csr, self._profiles.between(csr, self.n_jobs))

    def decision_function(self, X: Any) -> Floats:
        """Scores of the classes: (n,) for two, otherwise (n, classes).

        Parameters
        ----------
        X : sparse or dense matrix (n, n-grams) of counts
        """
        check_is_fitted(self, "label_space_")
        require_not_fitting(self)
        csr = self._counts(X, first=False)
        scores = np.empty((csr.n_rows, len(self.classes_)))
        step = max(_VALUES_AT_ONCE // self._profiles.counts.n_rows, 1)
        for first in range(0, csr.n_rows, step):
            some = _rows(csr, first, first + step)
            distances = self._found(some, self._profiles.between(some, self.n_jobs))
            scores[first : first + step] = self._scores(distances)
        return scores[:, 1] - scores[:, 0] if self.label_space_.kind == "binary" else scores

    @property
    def reads_texts(self) -> bool:
        """Whether `scores_of_texts` gives the scores: one profile per class, by "kl" from profile to text."""
        check_is_fitted(self, "label_space_")
        by_kl = self.dissimilarity == "kl" and self.direction == "profile-to-text"
        return by_kl and self.n_neighbors == 1 and len(self.profile_classes_) == len(self.classes_)

    def scores_of_texts(self, texts: _core.Texts, terms: _core.TermIndex) -> Floats:
        """The scores of texts whose counted terms are the rows: as `decision_function`, up to rounding.

        No rows are made, which is faster.
        """
        check_is_fitted(self, "label_space_")
        require_not_fitting(self)
        scores = self._scores(self._profiles.between_texts(texts, terms, self.n_jobs))
        return scores[:, 1] - scores[:, 0] if self.label_space_.kind == "binary" else scores

    def _scores(self, distances: Floats) -> Floats:
        one_each = len(self._starts) == distances.shape[1]
        nearest = distances if one_each else np.minimum.reduceat(distances, self._starts, axis=1)
        if self.n_neighbors == 1:
            found: Floats = nearest.mean(axis=1, keepdims=True) - nearest
            return found
        k = min(self.n_neighbors, distances.shape[1])
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        votes = np.zeros(nearest.shape)
        np.add.at(votes, (np.arange(len(votes))[:, None], self.profile_classes_[order]), 1.0)
        return votes + 0.5 - np.arctan(nearest) / np.pi  # below 1: decides between equal numbers of votes

    def score_parts(self, row: Csr) -> tuple[Floats, Floats]:
        """The scores of one text as sums: a constant per column, and a part per n-gram and column.

        Raises
        ------
        UsageError
            Scores are votes, with more than one neighbor.
        """
        check_is_fitted(self, "label_space_")
        if self.n_neighbors != 1:
            raise UsageError(
                f"Scores of {self.n_neighbors} neighbors are votes, not sums over n-grams, so they cannot be "
                f"explained. Train with n_neighbors=1."
            )
        base, parts = self._profiles.parts(row)
        total = base + parts.sum(axis=0)
        bounds = zip(self._starts, [*self._starts[1:], len(total)], strict=True)
        nearest = [first + int(total[first:end].argmin()) for first, end in bounds]
        base, parts = base[nearest], parts[:, nearest]
        base, parts = base.mean() - base, parts.mean(axis=1, keepdims=True) - parts
        if self.label_space_.kind == "binary":
            return base[1:] - base[:1], parts[:, 1:] - parts[:, :1]
        return base, parts

    def get_state(self) -> State:
        """The state for prediction: a configuration for JSON, and arrays."""
        config = self._described()
        counts = self._profiles.counts
        small = counts.data.astype(np.float32)
        return config, {
            "profiles_data": small if np.array_equal(small, counts.data) else counts.data,
            "profiles_indices": counts.indices,
            "profiles_indptr": counts.indptr,
            "profile_classes": self.profile_classes_.astype(np.int32),
        }

    @classmethod
    def from_state(cls, config: dict[str, Any], arrays: Arrays) -> Self:
        """A fitted learner from the result of `get_state`."""
        stored = Stored(config, arrays)
        learner = cls._from_description(stored)
        space = learner.label_space_
        if space.kind == "multilabel":
            raise DataError("'labels.kind' in manifest.json is 'multilabel', but profiles choose one class")
        n_classes = len(space.classes)
        owners = stored.array("profile_classes", (None,), np.int32, least=0, most=n_classes - 1)
        if (np.diff(owners) < 0).any() or len(np.unique(owners)) != n_classes:
            raise DataError("'profile_classes' in arrays.safetensors does not list every class in order")
        counts = stored.csr("profiles", (len(owners), learner.n_features_in_), np.float32, np.float64)
        if len(counts.data) and counts.data.min() <= 0:
            raise DataError("'profiles_data' in arrays.safetensors holds counts that are not positive")
        learner._learn(counts._replace(data=counts.data.astype(np.float64)), owners.astype(np.intp))
        return learner

    def _learn(self, counts: Csr, owners: NDArray[np.intp]) -> None:
        rule = Dissimilarity(
            self.dissimilarity, self.direction, self.unseen, self.max_rank, self.missing_rank
        )
        self._profiles = Profiles(counts, rule)
        self.profile_classes_ = owners
        self._starts = np.flatnonzero(np.diff(owners, prepend=-1))

    @property
    def profiles_(self) -> Any:
        check_is_fitted(self, "label_space_")
        return self._profiles.counts.matrix

    def _counts(self, X: Any, first: bool) -> Csr:
        csr, found = documents_with_value_check(self, X, first=first)
        if found.least < 0:
            row, column = place_of(csr, int(csr.data.argmin()))
            raise DataError(
                f"Negative values in data passed to ProfileClassifier: X holds {found.least:g} in row {row}, "
                f"column {column}. Pass counts."
            )
        return csr

    def _found(self, csr: Csr, distances: Floats) -> Floats:
        require_finite(self, csr, dissimilarities=distances)
        return distances

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "_profiles" in state:  # structs of the core are made again from the counts
            state["_profiles"] = Profiles(state["_profiles"].counts, state["_profiles"].rule)
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.multi_label = False
        tags.classifier_tags.poor_score = True  # meant for counts: the length of a row does not matter
        return tags


def _rows(csr: Csr, first: int, end: int) -> Csr:
    """Rows from `first` to `end`, which share memory with all of them."""
    if first == 0 and end >= csr.n_rows:
        return csr
    indptr = csr.indptr[first : end + 1]
    some = slice(indptr[0], indptr[-1])
    return csr._replace(indptr=indptr - indptr[0], indices=csr.indices[some], data=csr.data[some])
