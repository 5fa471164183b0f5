"""What drift is measured against: in how many left-out training documents each property is found.

A property is something that a document has or has not: a label, a score below a limit, more unknown terms
than a limit, no known term at all. Limits are quantiles of some of the documents, and the others are counted,
so that limits do not depend on what is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from widemargin._stored import Stored
from widemargin.errors import DataError, UsageError
from widemargin.monitor.observed import Observed

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

GROUPS = ("labels", "scores", "unknown terms", "no known terms")
# By how much the odds of a property may differ from those of left-out documents before it counts as drift.
# Left-out documents are scored by models of slightly fewer documents.
TOLERANCES = {"labels": 1.2, "scores": 1.3, "unknown terms": 1.3, "no known terms": 1.3}
SCORE_QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
UNKNOWN_QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
# Labels that are watched one by one, the most frequent ones; the others together.
MOST_LABELS = 200
# Documents, or the part of few documents, that limits are taken from.
_FOR_LIMITS, _PART = 500, 0.2


@dataclass(frozen=True, eq=False)
class Reference:
    """Counts of properties in left-out documents.

    Attributes
    ----------
    labels : the columns of labels that are watched one by one
    label_counts : documents with each of them; of many labels also with any other one, and where there are
        several columns also with no label
    n_labels : of how many documents
    exclusive : whether every document has exactly one label of several
    score_limits, score_counts, n_scores : documents whose best score is below each limit
    unknown_limits, unknown_counts, n_unknown : documents whose share of unknown terms is above each limit
    no_terms : documents without a known term, of `n_unknown`
    """

    labels: NDArray[np.int64]
    label_counts: Counts
    n_labels: int
    exclusive: bool
    score_limits: Floats
    score_counts: Counts
    n_scores: int
    unknown_limits: Floats
    unknown_counts: Counts
    n_unknown: int
    no_terms: int

    @classmethod
    def of(cls, seen: Observed, seed: int = 0) -> Self:
        """Of training documents as if they were new.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> seen = Observed(score=rng.random(1000), unknown=rng.random(1000) / 2, no_terms=np.zeros(1000) > 0)
        >>> reference = Reference.of(seen)
        >>> reference.groups, reference.n_scores, bool((np.diff(reference.score_counts) > 0).all())
        (['scores', 'unknown terms', 'no known terms'], 800, True)
        """
        labels, label_counts, n_labels, exclusive = np.empty(0, np.int64), np.empty(0, np.int64), 0, False
        if seen.decided is not None:
            frequent = np.argsort(-seen.decided.sum(axis=0), kind="stable")[:MOST_LABELS]
            labels, n_labels = np.sort(frequent).astype(np.int64), len(seen.decided)
            label_counts = _of_labels(seen.decided, labels).sum(axis=0)
            exclusive = len(labels) > 1 and bool((seen.decided.sum(axis=1) == 1).all())
        rng = np.random.default_rng(seed)
        limits, counts, sizes = [], [], []
        for values, quantiles, sign in (
            (seen.score, SCORE_QUANTILES, 1.0),
            (seen.unknown, UNKNOWN_QUANTILES, -1.0),
        ):
            if values is None or len(values) < 2:
                limits.append(np.empty(0))
                counts.append(np.empty(0, np.int64))
                sizes.append(0)
                continue
            order = rng.permutation(len(values))
            few = min(_FOR_LIMITS, max(1, round(_PART * len(values))))
            cuts = np.unique(np.quantile(values[order[:few]], quantiles))
            rest = values[order[few:]]
            limits.append(cuts)
            counts.append(_beyond(rest, cuts, sign).sum(axis=0))
            sizes.append(len(rest))
        no_terms = 0 if seen.no_terms is None else int(seen.no_terms.sum())
        if seen.no_terms is not None:  # the documents that gave limits are not counted
            no_terms = int(seen.no_terms[order[few:]].sum()) if sizes[1] else 0
        return cls(
            labels,
            label_counts,
            n_labels,
            exclusive,
            limits[0],
            counts[0],
            sizes[0],
            limits[1],
            counts[1],
            sizes[1],
            no_terms,
        )

    @property
    def groups(self) -> list[str]:
        """The kinds of properties that are known."""
        sizes = (self.n_labels, self.n_scores, self.n_unknown, self.n_unknown)
        return [name for name, size in zip(GROUPS, sizes, strict=True) if size]

    @property
    def counts(self) -> dict[str, tuple[Counts, int]]:
        """By group, how many documents have each property, and of how many."""
        found = {
            "labels": (self.label_counts, self.n_labels),
            "scores": (self.score_counts, self.n_scores),
            "unknown terms": (self.unknown_counts, self.n_unknown),
            "no known terms": (np.array([self.no_terms]), self.n_unknown),
        }
        return {name: found[name] for name in self.groups}

    def observed(self, seen: Observed) -> dict[str, Counts]:
        """By group, how many of some documents have each property."""
        parts = {"labels": seen.decided, "scores": seen.score, "unknown terms": seen.unknown}
        parts["no known terms"] = seen.no_terms
        found: dict[str, Counts] = {}
        for name in self.groups:
            values: Any = parts[name]
            if values is None:
                raise UsageError(f"Drift of {name} is watched, and these documents were observed without.")
            if name == "labels":
                if values.ndim != 2 or (len(self.labels) and values.shape[1] <= self.labels.max()):
                    raise UsageError(f"Decisions have shape {values.shape}; expected a column per label.")
                has = _of_labels(values, self.labels)
            elif name == "scores":
                has = _beyond(values, self.score_limits, 1.0)
            elif name == "unknown terms":
                has = _beyond(values, self.unknown_limits, -1.0)
            else:
                has = np.asarray(values, dtype=bool)[:, None]
            found[name] = has.sum(axis=0, dtype=np.int64)
        return found

    def names(self, labels: list[Any]) -> dict[str, list[str]]:
        """What properties are called, by group; `labels` are those of all columns."""
        every = {
            "labels": [*(str(labels[j]) for j in self.labels.tolist()), *_more(len(self.labels))],
            "scores": [f"below {limit:.4g}" for limit in self.score_limits.tolist()],
            "unknown terms": [f"above {limit:.0%}" for limit in self.unknown_limits.tolist()],
            "no known terms": ["no known term"],
        }
        return {name: every[name] for name in self.groups}

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """A configuration and arrays, as `from_state` takes them."""
        config = {name: getattr(self, name) for name in (*_SIZES, "exclusive")}
        return config, {name: getattr(self, name) for name in (*_INTEGERS, *_LIMITS)}

    @classmethod
    def from_state(cls, stored: Stored, columns: int) -> Self:
        """The reference in a model of so many columns of labels; everything is checked."""
        sizes: dict[str, Any] = {name: stored.integer(name, most=2**62) for name in _SIZES}
        arrays: dict[str, Any] = {name: stored.array(name, (None,)) for name in _LIMITS}
        for name in arrays:
            if (np.diff(arrays[name]) <= 0).any():
                raise DataError(f"{name!r} in arrays.safetensors is not sorted")
        for name, size in zip(_INTEGERS, (columns - 1, *(sizes[key] for key in _SIZES[:3])), strict=True):
            arrays[name] = stored.array(name, (None,), np.int64, least=0, most=max(size, 0))
        made = cls(**sizes, **arrays, exclusive=stored.flag("exclusive"))
        shapes = (
            (len(made.label_counts), len(made.labels) + len(_more(len(made.labels)))),
            (len(made.score_counts), len(made.score_limits)),
            (len(made.unknown_counts), len(made.unknown_limits)),
        )
        if (
            any(found != expected for found, expected in shapes)
            or made.no_terms > made.n_unknown
            or _overlap(made)
        ):
            raise DataError("The counts of left-out documents do not fit together")
        return made


_SIZES = ("n_labels", "n_scores", "n_unknown", "no_terms")
_INTEGERS = ("labels", "label_counts", "score_counts", "unknown_counts")
_LIMITS = ("score_limits", "unknown_limits")


def _overlap(made: Reference) -> bool:
    """Whether labels that exclude each other are on more documents than there are."""
    return made.exclusive and int(made.label_counts.sum()) != made.n_labels


def _of_labels(decided: NDArray[Any], labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether documents have each of `labels`, and what `_more` adds."""
    has = np.asarray(decided) > 0
    watched = has[:, labels]
    others = has.sum(axis=1) - watched.sum(axis=1)
    more = {"other labels": others > 0, "no label": ~has.any(axis=1)}
    return np.column_stack([watched, *(more[name] for name in _more(len(labels)))])


def _more(watched: int) -> list[str]:
    """What is counted beside so many labels. One column is of two classes: all documents have one of them."""
    return ["other labels"] * (watched == MOST_LABELS) + ["no label"] * (watched > 1)


def _beyond(values: Any, limits: Floats, sign: float) -> NDArray[np.bool_]:
    """Whether values are below each limit, or above it if `sign` is negative."""
    found: NDArray[np.bool_] = sign * np.asarray(values, dtype=np.float64)[:, None] < sign * limits
    return found
