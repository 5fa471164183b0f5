"""The table of learners by name: how texts are weighted for each, and what `compare` tries of it.

A new learner needs one entry. The command line reads the table before anything else is loaded, so it imports
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Setting = Mapping[str, Any]
ANY_TASK = ("binary", "multiclass", "multilabel")
ONE_LABEL = ("binary", "multiclass")
# Fewer documents are not enough to tune or to estimate anything, unless it is asked for.
FEWEST = 5


@dataclass(frozen=True)
class Work:
    """The predicted work of one training, in the units of :mod:`widemargin._work`.

    Attributes
    ----------
    passes : passes over all values, for every label
    rows : rows of a kernel matrix of all documents, as a share of them; one row is a pass for one label
    cubes : units per cube of the number of documents, for dense systems of equations
    """

    passes: float = 0.0
    rows: float = 0.0
    cubes: float = 0.0

    def units(self, documents: int, values: int, columns: int) -> float:
        """The units for a matrix with so many rows and non-zero values, and so many columns of labels.

        Examples
        --------
        >>> Work(passes=5).units(100, 2_000, 3), Work(rows=0.5).units(100, 2_000, 3)
        (30000.0, 100000.0)
        """
        return float(
            self.passes * values * columns + self.rows * documents * values + self.cubes * documents**3
        )


@dataclass(frozen=True)
class LearnerEntry:
    """One learner.

    Attributes
    ----------
    text : parameters of :class:`~widemargin.Vectorizer` that suit it
    settings : what `compare` chooses from; the first of several that are equally good is chosen
    tasks : the kinds of tasks that it can learn
    work : of one training; measured on Reuters-21578 (9,603 documents, 115 labels)
    only_texts : whether it is only for texts, and not for vectors
    tuned : whether it is tuned unless something else is asked for
    """

    text: Mapping[str, Any] = field(default_factory=lambda: {"weighting": "ltc"})
    settings: tuple[Setting, ...] = ({},)
    tasks: tuple[str, ...] = ANY_TASK
    work: Work = Work(passes=5)
    only_texts: bool = False
    tuned: bool = False


def _values(name: str, *values: Any) -> tuple[Setting, ...]:
    return tuple({name: value} for value in values)


_COUNTS = {"weighting": "txx"}
_BINARY = {"weighting": "bxx"}  # Zhang's learners
_ROOTS = {"weighting": "sxx"}  # Dagan's winnows take square roots of counts
_OWN_OR_AVERAGED: tuple[Setting, ...] = ({}, {"average": "averaged"})

# Cheap learners first: the order in which a budget is spent.
ENTRIES: dict[str, LearnerEntry] = {
    "naive-bayes": LearnerEntry(
        _COUNTS,
        settings=(
            {"smoothing": 1.0},
            {"smoothing": 0.1},
            {"event_model": "complement", "smoothing": 1.0},
            {"event_model": "complement", "smoothing": 0.1},
        ),
        work=Work(passes=0.1),
    ),
    "rocchio": LearnerEntry(settings=_values("negative_weight", 1.0, 0.25, 0.0), work=Work(passes=0.2)),
    "nearest-neighbors": LearnerEntry(
        settings=({}, {"n_neighbors": 10}, {"n_neighbors": 1}),
        work=Work(rows=0.04),  # of scoring as many documents
    ),
    "linear-svm": LearnerEntry(settings=_values("C", 1.0, 0.2, 5.0), work=Work(passes=3), tuned=True),
    "label-weighted-svm": LearnerEntry(settings=_values("mix", 0.3, 0.6), work=Work(passes=5)),
    "average-of": LearnerEntry(work=Work(passes=8)),
    "logistic-regression": LearnerEntry(
        settings=_values("C", 10.0, 1.0, 100.0), work=Work(passes=3), tuned=True
    ),
    "multiclass-svm": LearnerEntry(
        settings=_values("C", 1.0, 0.2, 5.0), tasks=ONE_LABEL, work=Work(passes=5)
    ),
    "arow": LearnerEntry(settings=_values("r", 0.5, 0.2, 1.0), work=Work(passes=0.5)),
    "perceptron": LearnerEntry(_BINARY, settings=_OWN_OR_AVERAGED),
    "positive-winnow": LearnerEntry(_ROOTS, settings=_OWN_OR_AVERAGED),
    "balanced-winnow": LearnerEntry(_ROOTS, settings=_OWN_OR_AVERAGED),
    "balanced-winnow-plus": LearnerEntry(_COUNTS, settings=_OWN_OR_AVERAGED),  # takes the roots itself
    "winnow": LearnerEntry(_BINARY, settings=_OWN_OR_AVERAGED),
    "boosted-trees": LearnerEntry(
        _BINARY,
        settings=({"n_estimators": 100}, {"base": "stumps", "n_estimators": 300}),
        work=Work(passes=110),
    ),
    "kernel-svm": LearnerEntry(
        settings=({"C": 1.0, "gamma": 1.0}, {"C": 10.0, "gamma": 0.1}), work=Work(rows=0.4)
    ),
    # Chosen on validation sentences of 75 languages: benchmarks/profiles.py.
    "profiles": LearnerEntry(
        {"units": "chars", "ngram_range": (1, 4), "weighting": "txx", "min_count": 2},
        tasks=ONE_LABEL,
        work=Work(passes=1),
        only_texts=True,
    ),
    "least-squares": LearnerEntry(settings=_values("regularization", 1.0, 0.3), work=Work(passes=20)),
    "c45": LearnerEntry(settings=({}, {"output": "rules"}), work=Work(passes=30)),
    "dual-svm": LearnerEntry(_BINARY, settings=_values("C", 1.0, 0.1), work=Work(passes=25)),
    "large-margin-winnow": LearnerEntry(_BINARY, work=Work(passes=70)),
    "chi-square-network": LearnerEntry(
        {"units": "chars", "ngram_range": (3, 3), "weighting": "txa"},
        work=Work(rows=5, cubes=0.03),
        only_texts=True,
    ),
}


def text_options(learner: str | None) -> dict[str, Any]:
    """The parameters of :class:`~widemargin.Vectorizer` that suit a learner.

    Examples
    --------
    >>> text_options("naive-bayes"), text_options("chi-square-network")["ngram_range"]
    ({'weighting': 'txx'}, (3, 3))
    """
    return dict(ENTRIES.get(learner or "", LearnerEntry()).text)


def automatic_effort(learner: str | None, *, reduced: bool, documents: int = FEWEST) -> str | None:
    """How much is tuned if nothing is asked for: "fast", or None for nothing.

    Parameters
    ----------
    learner : its name in this table; None for a learner of another library
    reduced : whether features are selected or made; representations are compared for all features
    documents : the number of labeled documents

    Examples
    --------
    >>> automatic_effort("linear-svm", reduced=False), automatic_effort("rocchio", reduced=False)
    ('fast', None)
    """
    tuned = learner in ENTRIES and ENTRIES[learner].tuned
    return "fast" if tuned and not reduced and documents >= FEWEST else None
