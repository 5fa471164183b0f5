"""A search space that is a product: representations of texts, learners, and values of C."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from widemargin._arrays import Csr
from widemargin.errors import UsageError
from widemargin.learn.averages.columns import told_blocks
from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.text.inputs import together
from widemargin.text.patterns import CompiledPattern
from widemargin.weight.blocks import Block
from widemargin.weight.smart import canonical
from widemargin.weight.vectorizer import Vectorizer

# Joachims 6.3.1 and 6.3.2.
WEIGHTINGS = ("bxc", "txc", "tfc")
COSTS = (0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 1000.0)
_WEIGHING = ("weighting", "idf_power")  # parameters that do not change counts

Representation = Mapping[str, Any]


def representations(base: Representation | None = None) -> list[dict[str, Any]]:
    """The variants of a vectorizer's parameters that the thesis chooses from, `base` first.

    With and without stemming, with and without a stop list, and the three weightings of the thesis: twelve
    (6.3.1). A stemmer or stop list in `base` replaces the thesis's; another weighting is added. Characters
    are neither stemmed nor stopped.

    Examples
    --------
    >>> len(representations()), representations()[0]
    (12, {'weighting': 'tfc', 'stemmer': None, 'stop_words': None})
    >>> [found["weighting"] for found in representations({"units": "chars", "weighting": "ltc"})]
    ['ltc', 'bxc', 'txc', 'tfc']
    """
    given = {"weighting": "tfc", **(base or {})}
    given["weighting"] = canonical(given["weighting"])
    weightings = dict.fromkeys([given["weighting"], *WEIGHTINGS])
    if given.get("units", "words") != "words":
        return [{**given, "weighting": weighting} for weighting in weightings]
    stemmer, stop_words = given.get("stemmer"), given.get("stop_words")
    stemmers = [stemmer, "porter" if stemmer is None else None]
    stop_lists = [stop_words, "freewais" if stop_words is None else None]
    return [
        {**given, "stemmer": stem, "stop_words": stop, "weighting": weighting}
        for stem, stop, weighting in product(stemmers, stop_lists, weightings)
    ]


@dataclass(frozen=True)
class Space:
    """Every combination of a representation, a learner and a value of C is a candidate.

    Parameters
    ----------
    representations : parameters of :class:`~widemargin.Vectorizer`; by default those of the thesis
    learners : unfitted estimators; each kernel with its parameters is a separate learner, such as
    ``KernelSVM(kernel="rbf", gamma=0.1)``
    costs : values of C, for the learners that have one

    Examples
    --------
    >>> len(Space().candidates()), len(Space(representations=[{}], costs=[1.0]).candidates())
    (84, 1)
    """

    representations: Sequence[Representation] = field(default_factory=representations)
    learners: Sequence[Any] = field(default_factory=lambda: (LinearSVM(),))
    costs: Sequence[float] = COSTS

    def __post_init__(self) -> None:
        for name in ("representations", "learners", "costs"):
            if len(getattr(self, name)) == 0:
                raise UsageError(f"There are no {name} to choose from. Name at least one.")

    def quiet(self) -> Space:
        """The same without the learners' progress bars, for work that shows its own."""
        silent = []
        for learner in self.learners:
            shows = "verbose" in learner.get_params()
            silent.append(clone(learner).set_params(verbose=False) if shows else learner)
        return Space(self.representations, silent, self.costs)

    def candidates(self, *, vectors: bool = False) -> list[Candidate]:
        """All candidates, with C varying fastest; for `vectors` there is no representation to choose."""
        places: list[int | None] = [None] if vectors else list(range(len(self.representations)))
        return [
            Candidate(self, place, number, C)
            for place in places
            for number, learner in enumerate(self.learners)
            for C in (sorted(self.costs) if "C" in learner.get_params() else [None])
        ]


@dataclass(eq=False)
class Candidate:
    """One combination, and what is known about it.

    Attributes
    ----------
    space : what has `representations` and `learners`
    representation, learner : positions in them; no representation for vectors
    C : None for a learner without C
    held_out : the measure in the race of fast tuning; None if the race did not reach it
    estimate, by_label : the value of the criterion, for all labels and for each; None if not estimated
    method : the estimate that was used: "leave-one-out", "k-fold" or "xi-alpha"
    outcomes : of held-out documents in the race and in the estimate, None where there was none
    seconds : spent on this candidate
    once, work : predicted work of training it and of estimating it, see :mod:`widemargin.tune.budget`
    """

    space: Any
    representation: int | None
    learner: int
    C: float | None
    held_out: float | None = None
    estimate: float | None = None
    by_label: Any = None
    method: str | None = None
    outcomes: list[Any] = field(default_factory=lambda: [None, None])
    seconds: float = 0.0
    once: float = 0.0
    work: float = 0.0

    def new_learner(self, vectorizer: Any = None, **parameters: Any) -> Any:
        """The unfitted learner; one that needs to know the blocks of terms is told those of `vectorizer`."""
        if self.C is not None:
            parameters = {"C": self.C, **parameters}
        made = clone(self.space.learners[self.learner]).set_params(**parameters)
        return told_blocks(made, getattr(vectorizer, "blocks_", None))

    @property
    def parameters(self) -> dict[str, Any]:
        """The configuration of this candidate, as values for JSON: the vectorizer's parameters, and those of
        the learner that are not defaults.
        """
        found: dict[str, Any] = {}
        if self.representation is not None:
            given = self.space.representations[self.representation]
            found |= {key: plain(value) for key, value in given.items() if key != "n_jobs"}
        learner = self.space.learners[self.learner]
        usual = type(learner)().get_params()
        found["learner"] = type(learner).__name__
        found |= {
            key: plain(value)
            for key, value in learner.get_params().items()
            if value != usual[key] and key not in ("n_jobs", "verbose", "C")
        }
        if self.C is not None:
            found["C"] = float(self.C)
        return found


class Represented:
    """Texts in the representations of a space; representations that differ only in weighting share the
    counts.

    Parameters
    ----------
    texts : list of str, or a matrix of vectors, which has no representation to choose
    space : what has `representations`
    keep : keep the counts for later use; otherwise only those of one group of weightings are in memory at a
    time
    beside : other texts that vectorizers are fitted on too; they have counts after those of `texts`, but no
    rows in the matrix
    """

    def __init__(self, texts: Any, space: Any, *, keep: bool = False, beside: Any = None) -> None:
        self._texts = texts
        self._beside = beside
        self._space = space
        self._keep = keep
        self._counted: dict[str, tuple[Vectorizer, Csr]] = {}

    def matrices(
        self, wanted: set[int | None]
    ) -> Iterator[tuple[int | None, Vectorizer | None, Csr | None, Any]]:
        """The fitted vectorizer, the counts and the matrix of every wanted representation."""
        if None in wanted:
            yield None, None, None, self._texts
            return
        groups: dict[str, list[int]] = {}
        for place in sorted(place for place in wanted if place is not None):
            groups.setdefault(_counting(self._space.representations[place]), []).append(place)
        for group, places in groups.items():
            if group not in self._counted:
                if not self._keep:
                    self._counted.clear()
                counting = Vectorizer(**{**self._space.representations[places[0]], "weighting": None})
                texts = together(self._texts, self._beside)
                self._counted[group] = counting, counting.fit_counts(texts)
            counting, counts = self._counted[group]
            for place in places:
                wanted_here = Vectorizer(**self._space.representations[place])
                vectorizer = counting.reweighted(wanted_here.weighting, wanted_here.idf_power, counts)
                own = counts if self._beside is None else counts.rows(0, len(self._texts))
                X = vectorizer.weighed(own).matrix
                yield place, vectorizer, counts, X if X.dtype.kind == "f" else X.astype(np.float32)


def _counting(representation: Representation) -> str:
    """A key that is equal for representations with the same counts."""
    full = Vectorizer(**representation).get_params()
    return repr(sorted((key, plain(value)) for key, value in full.items() if key not in _WEIGHING))


def plain(value: Any) -> Any:
    """A parameter's value for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Block):
        return value.plain()
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, BaseEstimator):
        usual = type(value)().get_params(deep=False)
        own = {k: plain(v) for k, v in value.get_params(deep=False).items() if v != usual[k]}
        return {"learner": type(value).__name__, **own}
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, CompiledPattern):
        return value.pattern
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return value
