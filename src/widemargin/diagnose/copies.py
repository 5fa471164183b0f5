"""Copies among documents: wasted labels, labels that contradict each other, test documents in training."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from widemargin.diagnose.parts import Part
from widemargin.documents.near_duplicates import NearDuplicates, near_duplicates


@dataclass(frozen=True)
class CopyGroup:
    """Documents that are copies of each other, or nearly.

    Attributes
    ----------
    documents : names of the training documents
    test : names of the test documents
    labels : of the training documents, then of the test documents; None where there are none
    exact : whether all texts are the same
    similarity : the smallest similarity of a pair that holds the group together
    """

    documents: list[Any]
    test: list[Any]
    labels: list[tuple[Any, ...] | None]
    exact: bool
    similarity: float

    @property
    def contradictory(self) -> bool:
        """Whether two of the documents have different labels."""
        return len({labels for labels in self.labels if labels is not None}) > 1

    def to_dict(self) -> dict[str, Any]:
        labels = [None if one is None else list(one) for one in self.labels]
        return {
            "documents": self.documents,
            "test": self.test,
            "labels": labels,
            "exact": self.exact,
            "similarity": round(self.similarity, 4),
        }


@dataclass(frozen=True)
class Copies:
    """All groups of copies.

    Attributes
    ----------
    groups : the groups, those of the most documents first
    exact, near : training documents that repeat an earlier one, exactly or nearly
    leaked_exact, leaked_near : test documents with a copy among the training documents
    """

    groups: list[CopyGroup] = field(default_factory=list)
    exact: int = 0
    near: int = 0
    leaked_exact: int = 0
    leaked_near: int = 0

    @property
    def contradictory(self) -> list[CopyGroup]:
        """Groups whose documents have different labels."""
        return [group for group in self.groups if group.contradictory]

    @property
    def leaks(self) -> list[CopyGroup]:
        """Groups with training and test documents."""
        return [group for group in self.groups if group.documents and group.test]

    @property
    def leaked(self) -> int:
        """Test documents with an exact or near copy among the training documents."""
        return self.leaked_exact + self.leaked_near

    def to_dict(self) -> dict[str, Any]:
        return {
            "exact": self.exact,
            "near": self.near,
            "leaked_exact": self.leaked_exact,
            "leaked_near": self.leaked_near,
            "contradictory": len(self.contradictory),
            "groups": [group.to_dict() for group in self.groups],
        }


def find_copies(train: Part, test: Part | None, *, n_jobs: int | None = None) -> Copies:
    """Copies within the training documents, and between them and the test documents.

    Examples
    --------
    >>> texts = ["corn is up", "corn is up", "oil fell again"]
    >>> train = Part(["a", "b", "c"], texts, [("x",), ("y",), ("y",)])
    >>> found = find_copies(train, Part(["t"], ["Oil fell again."], [("y",)]))
    >>> found.exact, found.leaked_near, [group.documents for group in found.contradictory]
    (1, 1, [['a', 'b']])
    """
    texts = train.texts + (test.texts if test is not None else [])
    found = near_duplicates(texts, n_jobs=n_jobs)
    n = len(train)
    groups = [_group(found, members, train, test) for members in found.groups()]
    groups.sort(key=lambda group: -(len(group.documents) + len(group.test)))
    seen: dict[str, int] = {}
    same = np.array([seen.setdefault(text, i) < i for i, text in enumerate(texts)], dtype=bool)
    counted = found.group >= 0  # documents without a word are no copies
    first: dict[int, int] = {}
    for i, group in enumerate(found.group[:n].tolist()):
        first.setdefault(group, i)
    again = np.array([first[group] < i for i, group in enumerate(found.group[:n].tolist())], dtype=bool)
    again &= counted[:n]
    exact = int(np.count_nonzero(again & same[:n]))
    leaked = np.array([group >= 0 and group in first for group in found.group[n:].tolist()], dtype=bool)
    known = set(train.texts)
    leaked_exact = sum(text in known for text, one in zip(texts[n:], leaked, strict=True) if one)
    return Copies(
        groups, exact, int(again.sum()) - exact, leaked_exact, int(np.count_nonzero(leaked)) - leaked_exact
    )


def _group(found: NearDuplicates, members: Any, train: Part, test: Part | None) -> CopyGroup:
    n = len(train)
    ours, others = members[members < n].tolist(), (members[members >= n] - n).tolist()
    labels = [train.label_sets[i] for i in ours]
    names: list[Any] = []
    if test is not None:
        labels += [test.label_sets[i] for i in others]
        names = [test.names[i] for i in others]
    # Pairs are in the order of their first documents.
    low, high = np.searchsorted(found.pairs[:, 0], [members[0], members[-1] + 1])
    inside = low + np.flatnonzero(found.group[found.pairs[low:high, 0]] == found.group[members[0]])
    return CopyGroup(
        [train.names[i] for i in ours],
        names,
        labels,
        bool(found.exact[inside].all()),
        float(found.similarity[inside].min()),
    )
