"""Naive Bayes, Rocchio, C4.5 and k-NN over the grid of Joachims (2000), 6.3.4.

All combinations of: the 500 to 10,000 best features by mutual information, or all; stemming; a stop list; and
what a method has to choose. The thesis prints the setting that is best on the test documents. Here stands
beside it the setting that is best by cross-validation on the training documents. Words are counted once for
every choice of stemming and stop list; a method learns all categories at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin._arrays import canonical_csr
from widemargin.decide import proportional_scores
from widemargin.estimate.cross_validation import stratified_folds
from widemargin.features.scores import count_terms, information_gain
from widemargin.learn.bayes.naive_bayes import NaiveBayes
from widemargin.learn.neighbors.nearest_neighbors import NearestNeighbors
from widemargin.learn.rocchio.centroids import NEGATIVE_WEIGHTS
from widemargin.learn.rocchio.rocchio import Rocchio
from widemargin.learn.trees.c45 import C45
from widemargin.measure import micro_prbep, prbep
from widemargin.papers.joachims.text_tasks import Documents, Report
from widemargin.weight.smart import weigh
from widemargin.weight.vectorizer import Vectorizer

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]

SIZES = (500, 1000, 2000, 5000, 10000, None)
NEIGHBORS = (1, 15, 30, 45, 60)
TREE_WEIGHTS = {"binary": "bxx", "TFIDF": "tfc"}
FOLDS = 3


@dataclass(frozen=True, eq=False)
class Split:
    """Counts of words in training and test documents, and the categories of these as +1 and -1."""

    counts: sp.csr_array
    test_counts: sp.csr_array
    signs: Signs
    truth: Signs

    @cached_property
    def frequencies(self) -> NDArray[np.int64]:
        """In how many training documents each word is."""
        return np.bincount(self.counts.indices, minlength=self.counts.shape[1])

    @cached_property
    def ranking(self) -> NDArray[np.intp]:
        """The words of training documents, by their largest mutual information with a category."""
        gains = information_gain(count_terms(canonical_csr(self.counts), self.signs)).max(axis=0)
        order = np.argsort(-gains, kind="stable")
        return order[self.frequencies[order] > 0]

    @cached_property
    def shares(self) -> Floats:
        """The share of training documents in each category."""
        found: Floats = np.mean(self.signs > 0, axis=0)
        return found

    def words(self, n: int | None) -> NDArray[np.intp]:
        """The columns of the `n` best words, or of all."""
        return np.sort(self.ranking[:n])

    def kept(self, n: int | None) -> tuple[sp.csr_array, sp.csr_array]:
        """The counts of the `n` best words in training and test documents."""
        columns = self.words(n)
        return self.counts[:, columns], self.test_counts[:, columns]

    def weighted(self, n: int | None, weighting: str = "tfc") -> tuple[sp.csr_array, sp.csr_array]:
        """The same, weighted by the document frequencies of the training documents."""
        frequencies, n_documents = self.frequencies[self.words(n)], len(self.signs)
        train, test = (weigh(part, weighting, frequencies, n_documents) for part in self.kept(n))
        return train, test

    def folds(self) -> Iterator[Split]:
        """Parts of the training documents as test documents of the others."""
        fold = stratified_folds(self.signs, FOLDS)
        for number in range(FOLDS):
            out, rest = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
            yield Split(self.counts[rest], self.counts[out], self.signs[rest], self.signs[out])


# Scores of the test documents by the best `n` words, for every value of what a method has to choose.
Method = Callable[[Split, int | None], Iterable[tuple[str, Floats]]]


def bayes(split: Split, n: int | None) -> Iterator[tuple[str, Floats]]:
    """The multinomial model of 2.5.1."""
    train, test = split.kept(n)
    yield "", NaiveBayes().fit(train, split.signs > 0).decision_function(test)


def rocchio(split: Split, n: int | None) -> Iterator[tuple[str, Floats]]:
    """Cosines, made comparable by proportional assignment (2.6.4)."""
    train, test = split.weighted(n)
    for beta in NEGATIVE_WEIGHTS:
        cosines = Rocchio(beta).fit(train, split.signs > 0).decision_function(test)
        yield f"beta={beta:g}", proportional_scores(cosines, split.shares)


def neighbors(split: Split, n: int | None) -> Iterator[tuple[str, Floats]]:
    """The weighted votes (2.24) of the nearest documents."""
    train, test = split.weighted(n)
    for k in NEIGHBORS:
        learner = NearestNeighbors(n_neighbors=min(k, len(split.signs)))
        yield f"k={k}", learner.fit(train, split.signs > 0).decision_function(test)


def rules(
    split: Split, n: int | None, most: int = 5000, weightings: Mapping[str, str] = TREE_WEIGHTS
) -> Iterator[tuple[str, Floats]]:
    """C4.5 with rule post-pruning (2.5.4), on at most so many features; the thesis excludes more of them."""
    if n is None or n > most:
        return
    for name, weighting in weightings.items():
        train, test = split.weighted(n, weighting)
        yield name, C45(output="rules").fit(train, split.signs > 0).decision_function(test)


METHODS: dict[str, Method] = {"Bayes": bayes, "Rocchio": rocchio, "C4.5": rules, "k-NN": neighbors}


@dataclass(frozen=True, eq=False)
class Figures:
    """What a setting reaches on test documents, in percent.

    Attributes
    ----------
    micro : break-even point over all categories, one threshold lowered over all of them
    each : (categories,) break-even point of each
    error : of the category with the highest score, if a document is in one
    """

    micro: float
    each: Floats
    error: float

    @classmethod
    def of(cls, truth: Signs, scores: Floats) -> Figures:
        right = truth[np.arange(len(truth)), scores.argmax(axis=1)] > 0
        return cls(
            100 * micro_prbep(truth, scores), 100 * prbep(truth, scores), 100 * float(1 - right.mean())
        )


@dataclass(frozen=True, eq=False)
class Settings:
    """All settings of a method: figures on the test documents, and micro-averages by cross-validation."""

    figures: dict[str, Figures]
    validated: dict[str, float]

    @property
    def best(self) -> str:
        """The setting with the best micro-average on the test documents, as published."""
        return max(self.figures, key=lambda name: self.figures[name].micro)

    @property
    def chosen(self) -> str:
        """The one with the best mean of the folds."""
        return max(self.validated, key=self.validated.__getitem__)


def splits_of(documents: Documents, report: Report) -> dict[str, Split]:
    """The counts of a collection for every choice of stemming and stop list."""
    signs, truth = (
        documents.space.encode(part.labels, unknown="ignore") for part in (documents.train, documents.test)
    )
    found = {}
    for stemmer in (None, "porter"):
        for stop_words in (None, "freewais"):
            name = ", ".join(
                word for word, given in (("stemmed", stemmer), ("stop list", stop_words)) if given
            )
            report(f"Counting the words of {documents.title}{': ' if name else ''}{name}")
            vectorizer = Vectorizer(tokens="alnum", weighting=None, stemmer=stemmer, stop_words=stop_words)
            train = vectorizer.fit_transform(documents.train.texts).astype(np.float64)
            test = vectorizer.transform(documents.test.texts).astype(np.float64)
            found[name] = Split(train, test, signs, truth)
    return found


def compared(
    name: str,
    splits: Mapping[str, Split],
    report: Report,
    sizes: Iterable[int | None] = SIZES,
    method: Method | None = None,
) -> Settings:
    """All settings of the method called `name`, or of `method` under that name."""
    method = method or METHODS[name]
    figures: dict[str, Figures] = {}
    validated: dict[str, float] = {}
    for text, split in splits.items():
        report(f"{name}{': ' if text else ''}{text}, all numbers of features")
        for setting, scores in _scores(method, split, text, sizes):
            figures[setting] = Figures.of(split.truth, scores)
        for fold in split.folds():
            for setting, scores in _scores(method, fold, text, sizes):
                share = 100 * micro_prbep(fold.truth, scores) / FOLDS
                validated[setting] = validated.get(setting, 0.0) + share
    return Settings(figures, validated)


def _scores(
    method: Method, split: Split, text: str, sizes: Iterable[int | None]
) -> Iterator[tuple[str, Floats]]:
    """Every setting in words, and its scores of the test documents."""
    for n in sizes:
        if n is None or n <= len(split.ranking):
            features = "all features" if n is None else f"{n:,} features"
            for values, scores in method(split, n):
                yield ", ".join(word for word in (features, text, values) if word), scores
