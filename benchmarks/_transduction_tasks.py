"""Tasks with a few labeled documents: samples of three collections, as in chapter 7 of the thesis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin import Vectorizer, load_corpus
from widemargin.papers.joachims.text_tasks import (
    OHSUMED_CATEGORIES,
    REUTERS_TOPICS,
    WEBKB_CLASSES,
    without_moved_pages,
)
from widemargin.weight.smart import weigh

# "All words that occur at least 5 times in the whole sample" (7.4).
MIN_COUNT = 5
# Labeled and unlabeled documents, and the published macro-averages of SVM and TSVM.
PUBLISHED = {"reuters": (17, 48.4, 60.8), "webkb": (9, 57.2, 62.4), "ohsumed": (120, 48.6, 53.5)}


@dataclass(frozen=True)
class Pool:
    """Counts and categories of all documents; the first `n_train` may be labeled, the rest are not."""

    counts: sp.csr_array
    member: NDArray[np.bool_]
    ids: list[str]
    categories: tuple[str, ...]
    n_train: int


@dataclass(frozen=True)
class Sample:
    """Weighted documents, the labeled ones first, and their categories."""

    X: sp.csr_array
    member: NDArray[np.bool_]
    n_labeled: int

    @property
    def truth(self) -> NDArray[np.int8]:
        """Signs of the unlabeled documents."""
        return np.where(self.member[self.n_labeled :], 1, -1).astype(np.int8)

    @property
    def marked(self) -> NDArray[np.float64]:
        """The indicator with NaN for unlabeled documents."""
        Y = self.member.astype(np.float64)
        Y[self.n_labeled :] = np.nan
        return Y

    @property
    def positives(self) -> list[int]:
        """The true numbers of positive unlabeled documents."""
        return [int(count) for count in self.member[self.n_labeled :].sum(axis=0)]


@lru_cache(maxsize=1)
def pool(name: str) -> Pool:
    """Reuters: the ModApte split. WebKB: trained on Cornell. Ohsumed: the first and the second half."""
    if name == "reuters":
        corpus, categories = load_corpus("reuters21578", "modapte"), tuple(REUTERS_TOPICS)
        train, test = corpus.train, corpus.test
    elif name == "webkb":
        corpus, categories = load_corpus("webkb", "cornell"), tuple(WEBKB_CLASSES)
        train, test = (without_moved_pages(part) for part in (corpus.test, corpus.train))
    else:
        corpus, categories = load_corpus("ohsumed", "by-id"), tuple(OHSUMED_CATEGORIES.values())
        train, test = corpus.train, corpus.test
    vectorizer = Vectorizer(stop_words="freewais", stemmer="porter", weighting=None)
    counts = vectorizer.fit_transform(train.texts + test.texts)
    column = {category: c for c, category in enumerate(categories)}
    member = np.zeros((counts.shape[0], len(categories)), dtype=bool)
    for row, labels in enumerate(train.labels + test.labels):
        for label in labels or ():
            if label in column:
                member[row, column[label]] = True
    return Pool(counts, member, train.ids + test.ids, categories, len(train.ids))


def draw(documents: Pool, n_labeled: int, seed: int) -> list[int]:
    """One labeled document of each category, the rest at random."""
    generator = np.random.default_rng(seed)
    chosen: list[int] = []
    train = documents.member[: documents.n_train]
    for category in range(train.shape[1]):
        candidates = np.setdiff1d(np.flatnonzero(train[:, category]), chosen)
        chosen.append(int(generator.choice(candidates)))
    others = np.setdiff1d(np.arange(documents.n_train), chosen)
    return chosen + generator.choice(others, n_labeled - len(chosen), replace=False).tolist()


def sample(documents: Pool, labeled: list[int], min_count: int = MIN_COUNT, weighting: str = "tfc") -> Sample:
    """These labeled documents and all unlabeled ones; frequencies over both, as in 2.7.2."""
    rows = [*labeled, *range(documents.n_train, len(documents.member))]
    counts = documents.counts[rows]
    total = np.bincount(counts.indices, weights=counts.data, minlength=counts.shape[1])
    X = weigh(counts[:, np.flatnonzero(total >= min_count)], weighting)
    return Sample(X, documents.member[rows], len(labeled))


def resampled(documents: Pool, labeled: list[int], k: int, seed: int = 0) -> Sample:
    """`k` unlabeled documents, drawn with replacement; every count is drawn from a Poisson distribution
    around it."""
    generator = np.random.default_rng(seed)
    rows = generator.integers(0, len(documents.member), k)
    counts = documents.counts[rows]
    counts.data = generator.poisson(counts.data).astype(counts.data.dtype)
    counts.eliminate_zeros()
    joined = sp.csr_array(sp.vstack([documents.counts[labeled], counts]))
    total = np.bincount(joined.indices, weights=joined.data, minlength=joined.shape[1])
    X = weigh(joined[:, np.flatnonzero(total >= MIN_COUNT)], "tfc")
    return Sample(X, np.vstack([documents.member[labeled], documents.member[rows]]), len(labeled))
