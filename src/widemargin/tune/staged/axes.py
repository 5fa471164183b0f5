"""The default search space of tuning: one axis of choices at a time, around a starting point.

The product of all axes has thousands of candidates. Most axes hardly interact, so they are searched one after
the other: the alternatives on an axis are compared at the best point so far, and the best one is kept
(:mod:`widemargin.tune.staged.search`). Cheap axes with large gains come first; character n-grams, which
multiply the work of what follows, come late, and so do corpus vectors, which every fold learns again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone

from widemargin.errors import UsageError
from widemargin.learn.averages.average_of import AverageOf
from widemargin.learn.svm.label_weighted_svm import LabelWeightedSVM
from widemargin.learn.svm.linear.multivariate import MULTIVARIATE
from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.tune.search_space import plain
from widemargin.weight.blocks import Block, parse_block, parse_blocks
from widemargin.weight.smart import canonical, parse_scheme
from widemargin.weight.vectorizer import Vectorizer

COSTS = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0)
# What blocks beside words are multiplied by.
_HALF, _WHOLE = 0.5, 1.0
# From this number of documents on, n-grams must occur in two of them, which halves the number of columns.
_MANY = 1000
_TF, _IDF_POWERS, _BALANCES = "lbt", (0.5, 1.0, 1.3), (0.0, 0.15, 0.3)
# Terms of other kinds than words are kept as they are.
_TERMS = ("blocks", "units", "ngram_range", "phrases", "pairs", "thesaurus", "n_hashed", "analyzer")
_EVERYWHERE = ("n_jobs", "random_state", "verbose")
_SHARED = (*_EVERYWHERE, "C", "balance")


@dataclass(frozen=True)
class Point:
    """One representation, as parameters of a :class:`~widemargin.Vectorizer`, and one unfitted learner."""

    representation: Mapping[str, Any]
    learner: Any

    def but(self, representation: Mapping[str, Any] | None = None, **parameters: Any) -> Point:
        """The point with other parameters of the representation, or of the learner."""
        learner = clone(self.learner).set_params(**parameters) if parameters else self.learner
        return Point({**self.representation, **(representation or {})}, learner)

    @property
    def learns_vectors(self) -> bool:
        """Whether a block is of corpus vectors."""
        return any(block.dims is not None for block in _blocks(self))

    @property
    def key(self) -> str:
        """Equal for equal points."""
        own = (type(self.learner).__name__, *sorted(_plain_items(self.learner.get_params(deep=False))))
        return repr((sorted(_plain_items(self.representation)), own))


@dataclass(frozen=True)
class Axis:
    """Alternatives of one kind: `around(point)` are the other points on it.

    `at_cost` asks for a point whose learner has the C that was found to be best.
    """

    name: str
    around: Callable[[Point], list[Point]]
    at_cost: bool = False


@dataclass(frozen=True)
class Documents:
    """What the choice of axes needs to know of the documents.

    Attributes
    ----------
    number : of documents
    vectors : there is no representation to choose
    multilabel : labels are sets
    english : English words are common, so that its stop list and stemmer apply
    fields : blocks such as "title" or "subject" that the documents have
    short : most documents have a few dozen words, so that corpus vectors know more about them
    """

    number: int = 0
    vectors: bool = False
    multilabel: bool = False
    english: bool = True
    fields: tuple[str, ...] = ()
    short: bool = False


@dataclass(frozen=True, eq=False)
class Axes:
    """A starting point, and what may be changed about it.

    Parameters
    ----------
    vectorizer, learner : the starting point
    kept : names of parameters that are not tuned
    free_learner : other learners may replace the learner
    costs : values of C to climb; by default 7 from 0.05 to 20 and the learner's own
    left_out : names of axes that are not searched

    Examples
    --------
    >>> [axis.name for axis in Axes(kept=["idf_power"]).of(Documents(english=False, fields=("title",)))]
    ['title', 'bigrams', 'tf', 'loss', 'chars', 'title']
    """

    vectorizer: Vectorizer = field(default_factory=Vectorizer)
    learner: Any = field(default_factory=LinearSVM)
    kept: Collection[str] = ()
    free_learner: bool = True
    costs: Sequence[float] = COSTS
    left_out: Collection[str] = ()

    def __post_init__(self) -> None:
        if len(self.costs) == 0:
            raise UsageError("There are no costs to choose from. Name at least one.")

    @classmethod
    def around(
        cls,
        vectorizer: Vectorizer | None = None,
        learner: Any = None,
        *,
        given: Collection[str] = (),
        free_learner: bool | None = None,
    ) -> Axes:
        """The axes around a vectorizer and a learner, without what is given explicitly.

        Parameters
        ----------
        given : names of further parameters to keep, whatever their values
        free_learner : whether other learners may replace `learner`; by default if it is None

        Notes
        -----
        A parameter that is given explicitly is never tuned. Explicit means a value other than the class's
        default, or any value set by :meth:`TextClassifier.set_params
        <widemargin.TextClassifier.set_params>`, which the command line uses for every option. Explicit terms
        (`ngram_range`, `units`, `phrases`, `pairs`, `thesaurus`, `n_hashed`) also fix the blocks.

        Examples
        --------
        >>> axes = Axes.around(Vectorizer(ngram_range=(1, 2)), LinearSVM(C=3), given=["idf_power"])
        >>> [axis.name for axis in axes.of(Documents())], axes.costs
        (['tf', 'stemmer', 'stop_words', 'loss'], (3.0,))
        """
        free_learner = learner is None if free_learner is None else free_learner
        vectorizer = Vectorizer() if vectorizer is None else vectorizer
        learner = LinearSVM() if learner is None else learner
        if np.ndim(getattr(learner, "C", 0.0)) > 0:
            raise UsageError("C is given for each label already: pass tune=None, or one C for all labels.")
        own = {float(learner.C)} if "C" in learner.get_params() else set()
        changed = [name for name in _not_default(learner) if name not in _EVERYWHERE]
        kept = {*given, *_not_default(vectorizer), *changed}
        if kept.intersection(_TERMS):
            kept.add("blocks")
        free_learner = free_learner and not changed and not kept.intersection(learner.get_params())
        costs = own if "C" in kept and own else {*COSTS, *own}
        return cls(vectorizer, clone(learner), frozenset(kept), free_learner, tuple(sorted(costs)))

    @property
    def start(self) -> Point:
        """Where the search begins, without progress bars of the learner."""
        learner = clone(self.learner)
        if "verbose" in learner.get_params():
            learner.set_params(verbose=False)
        return Point(self.vectorizer.get_params(), learner)

    def costs_of(self, learner: Any) -> list[float | None]:
        """The values of C of a learner, in ascending order; None alone if it has no C."""
        return [*sorted(self.costs)] if "C" in learner.get_params() else [None]

    def of(self, documents: Documents) -> list[Axis]:
        """The axes that apply to these documents, in the order of the search."""
        return [axis for axis in self._axes(documents) if axis.name not in self.left_out]

    def is_single(self, documents: Documents) -> bool:
        """Whether there is nothing to choose."""
        return len(self.costs_of(self.learner)) == 1 and not self.of(documents)

    def _axes(self, documents: Documents) -> Iterator[Axis]:
        if documents.multilabel and self.free_learner and type(self.learner) is LinearSVM:
            yield Axis("learner", _other_learner)
        if not documents.vectors:
            yield from self._of_texts(documents)
        if self._free_in_learner("loss") and type(self.learner) is LinearSVM and _may_square(self.learner):
            yield Axis("loss", lambda point: _others(point, "loss", ("hinge", "squared_hinge"), "hinge"))
        # The weights of classes exclude a balance; a loss of all documents together has no costs to balance.
        fixed = self.learner.get_params().get("class_weight") is not None
        fixed = fixed or getattr(self.learner, "loss", "") in MULTIVARIATE
        if documents.multilabel and self._free_in_learner("balance") and not fixed:
            yield Axis("balance", lambda point: _others(point, "balance", _BALANCES, 0.15))
        if not documents.vectors and self._blocks_are_free:
            yield Axis("chars", partial(_with_chars, min_df=_min_df(documents)))
            # A field that does not help words may help characters.
            for name in documents.fields:
                yield Axis(name, partial(_with_block, name=name))
            if documents.short:
                yield Axis("vectors", partial(_with_block, name="vectors"))
        if documents.multilabel and self.free_learner and type(self.learner) is LinearSVM:
            yield Axis("average", _averages, at_cost=True)

    def _of_texts(self, documents: Documents) -> Iterator[Axis]:
        free = set(self.vectorizer.get_params()).difference(self.kept)
        weighting = canonical(self.vectorizer.weighting)
        if self._blocks_are_free:
            for name in documents.fields:
                yield Axis(name, partial(_with_block, name=name))
            weights = (_HALF, _WHOLE)
            yield Axis(
                "bigrams", partial(_with_block, name="bigrams", weights=weights, min_df=_min_df(documents))
            )
        by_idf = weighting is not None and parse_scheme(weighting).collection != "none"
        if "idf_power" in free and by_idf:
            yield Axis("idf_power", lambda point: _other_values(point, "idf_power", _IDF_POWERS))
        if "weighting" in free and weighting is not None:
            schemes = tuple(letter + weighting[1:] for letter in _TF)
            yield Axis("tf", lambda point: _other_values(point, "weighting", schemes))
        if documents.english and self.vectorizer.units == "words" and self.vectorizer.analyzer is None:
            if "stemmer" in free:
                yield Axis("stemmer", lambda point: _other_values(point, "stemmer", (None, "porter")))
            if "stop_words" in free:
                yield Axis("stop_words", lambda point: _other_values(point, "stop_words", (None, "freewais")))

    @property
    def _blocks_are_free(self) -> bool:
        parameters = self.vectorizer.get_params()
        # Blocks of equal length have no use for a scheme that does not normalize.
        normal = (canonical(self.vectorizer.weighting) or "x")[-1] == "c"
        return "blocks" in parameters and "blocks" not in self.kept and normal

    def _free_in_learner(self, name: str) -> bool:
        return name in self.learner.get_params() and name not in self.kept


def _min_df(documents: Documents) -> int | None:
    return 2 if documents.number >= _MANY else None


def _blocks(point: Point) -> tuple[Block, ...]:
    representation = point.representation
    return parse_blocks(representation.get("blocks") or ("words",), representation.get("fields"))


def _with_block(
    point: Point, name: str, weights: Sequence[float] = (_HALF,), min_df: int | None = None
) -> list[Point]:
    """One more block, with each of the weights; or the block that is there with the others of them."""
    blocks = _blocks(point)
    made = replace(parse_block(name, point.representation.get("fields")), min_df=min_df)
    others = tuple(block for block in blocks if block.name != name)
    wanted = [replace(made, weight=weight) for weight in weights]
    return [point.but({"blocks": (*others, block)}) for block in wanted if block not in blocks]


def _with_chars(point: Point, min_df: int | None = None) -> list[Point]:
    """Characters beside all blocks so far, and instead of bigrams."""
    blocks = _blocks(point)
    fewer = tuple(block for block in blocks if block.name != "bigrams")
    beside = _with_block(point, "chars", min_df=min_df)
    return [
        *beside,
        *(_with_block(point.but({"blocks": fewer}), "chars", min_df=min_df) if fewer != blocks else []),
    ]


def _other_values(point: Point, name: str, values: Sequence[Any]) -> list[Point]:
    own = plain(point.representation.get(name))
    return [point.but({name: value}) for value in values if plain(value) != own]


def _may_square(learner: LinearSVM) -> bool:
    """Whether slacks may be squared: not with an unregularized threshold, a hard margin, or the l1 norm."""
    hard = np.isinf(float(np.max(learner.C)))
    return learner.penalty == "l2" and not isinstance(learner.bias, str) and not hard


def _others(point: Point, name: str, values: Sequence[Any], auto: Any) -> list[Point]:
    """Other values of a learner's parameter, of which "auto" means one."""
    if name not in point.learner.get_params():
        return []
    own = getattr(point.learner, name)
    own = auto if own == "auto" else own
    return [point.but(**{name: value}) for value in values if value != own]


def _other_learner(point: Point) -> list[Point]:
    """Weights for each label in place of a LinearSVM, or the other way round, with the same parameters."""
    if not isinstance(point.learner, LinearSVM | LabelWeightedSVM):
        return []
    made = (LabelWeightedSVM if type(point.learner) is LinearSVM else LinearSVM)()
    shared = {name: value for name, value in point.learner.get_params().items() if name in _SHARED}
    return [Point(point.representation, made.set_params(**shared))]


def _averages(point: Point) -> list[Point]:
    """The mean of machines with weights for each label and without."""
    if not isinstance(point.learner, LinearSVM | LabelWeightedSVM):
        return []
    shared = {name: value for name, value in point.learner.get_params().items() if name in ("C", "balance")}
    members = [(None, made.set_params(**shared)) for made in (LabelWeightedSVM(), LinearSVM())]
    everywhere = {name: getattr(point.learner, name) for name in _EVERYWHERE}
    return [Point(point.representation, AverageOf(members, **everywhere))]


def _not_default(part: Any) -> list[str]:
    """The parameters with values other than the defaults of their class."""
    usual = signature(type(part)).parameters
    return [
        name
        for name, value in part.get_params(deep=False).items()
        if name in usual and plain(value) != plain(usual[name].default)
    ]


def _plain_items(parameters: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, repr(plain(value))) for name, value in parameters.items()]
