"""The three text collections of Joachims (2000), section 2.7, in the representation chosen there in 6.3.1.

Words as in 2.7.2 (every number one token), no stemming: `tfc` weights for Reuters-21578, binary weights for
WebKB, `tfc` weights without stop words for Ohsumed. Every category is a task of its own over all training
documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin.documents.collection import Collection
from widemargin.documents.corpora import load_corpus
from widemargin.labels import LabelSpace
from widemargin.weight.vectorizer import Vectorizer

Report = Callable[[str], None]

REUTERS_TOPICS = (
    "earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship", "wheat", "corn",
)  # fmt: skip
WEBKB_CLASSES = ("course", "faculty", "project", "student")
# The five most frequent ones, by the names that the thesis gives them.
OHSUMED_CATEGORIES = {
    "Pathology": "C23",
    "Cardiovascular": "C14",
    "Neoplasms": "C04",
    "Nervous System": "C10",
    "Immunologic": "C20",
}
OHSUMED_NOTE = (
    "The available copy of Ohsumed has only abstracts with one of the 23 categories: 7,065 training and "
    "6,864 test documents instead of 10,000 and 10,000, divided by their numbers. Every category is a larger "
    "share of fewer documents."
)
_MOVED = "301 Moved Permanently"


@dataclass(frozen=True)
class TextTask:
    """Weighted documents and, for every category, which of them belong to it.

    `in_train` has one column a category, `truth` the same for the test documents as +1 and -1; `names` maps
    the names that a published table uses to categories.
    """

    title: str
    categories: LabelSpace
    X_train: sp.csr_array
    X_test: sp.csr_array
    in_train: NDArray[np.bool_]
    truth: NDArray[np.int8]
    names: dict[str, str]
    notes: list[str]

    def column(self, name: str) -> int:
        """The column of a category, by the name that the published tables use."""
        return int(np.searchsorted(self.categories.classes, self.names[name]))

    def labels(self, name: str) -> NDArray[np.bool_]:
        """Which training documents belong to a category."""
        return self.in_train[:, self.column(name)]

    def first(self, n: int) -> TextTask:
        """The same task with the first `n` training documents only."""
        return replace(self, X_train=self.X_train[:n], in_train=self.in_train[:n])


def reuters(report: Report, vectorizer: Vectorizer | None = None) -> TextTask:
    """Reuters-21578, the ModApte split, the 90 topics with an example on both sides.

    Here and below, `vectorizer` stands for another representation than the chosen one.
    """
    report("Reading Reuters-21578, the ModApte split")
    corpus = load_corpus("reuters21578", "modapte")
    # Topics outside the 90, like no topic at all, make a document a negative example of all 90.
    task = _weighted(
        "Reuters-21578",
        vectorizer or Vectorizer(tokens="alnum", weighting="tfc"),
        texts_of(corpus.train),
        texts_of(corpus.test),
        corpus.categories_of("90"),
        {topic: topic for topic in REUTERS_TOPICS},
        report,
    )
    return replace(
        task,
        notes=[
            "The text of a document is its title and its body.",
            f"{task.X_train.shape[1]:,} distinct terms here, 27,658 in the published experiment.",
        ],
    )


def webkb(report: Report, vectorizer: Vectorizer | None = None) -> TextTask:
    """WebKB: the pages of Cornell University are the test documents, all others the training documents."""
    report("Reading WebKB, testing on the pages of Cornell")
    corpus = load_corpus("webkb", "cornell")
    train, test = (without_moved_pages(texts_of(part)) for part in (corpus.train, corpus.test))
    task = _weighted(
        "WebKB",
        vectorizer or Vectorizer(tokens="alnum", weighting="bxc"),
        train,
        test,
        WEBKB_CLASSES,
        {name: name for name in WEBKB_CLASSES},
        report,
    )
    return replace(
        task,
        notes=[
            f"{len(train):,} training and {len(test):,} test pages after {len(corpus.train) - len(train)} "
            "that only redirect; published are 3,957 and 229, more than Cornell has in the "
            "four classes.",
            "Two pairs of training pages have the same words but different classes: no class is "
            "separable here; all are in the published experiment.",
            f"{task.X_train.shape[1]:,} distinct terms here, 38,359 in the published experiment, which does "
            "not state how it removed HTML.",
        ],
    )


def ohsumed(report: Report, vectorizer: Vectorizer | None = None, *, split: str | None = "by-id") -> TextTask:
    """Ohsumed: medical abstracts in the 23 disease categories, the first half of the numbers for training."""
    report("Reading Ohsumed")
    corpus = load_corpus("ohsumed", split)
    train = texts_of(corpus.train)
    # Numbers go with time, and the thesis takes its documents in that order.
    task = _weighted(
        "Ohsumed",
        vectorizer or Vectorizer(tokens="alnum", weighting="tfc", stop_words="freewais"),
        train.subset(sorted(range(len(train)), key=lambda i: int(train.ids[i]))),
        texts_of(corpus.test),
        corpus.categories,
        OHSUMED_CATEGORIES,
        report,
    )
    return replace(task, notes=[OHSUMED_NOTE])


def texts_of(part: object) -> Collection:
    """A part of a collection that is distributed as texts."""
    assert isinstance(part, Collection)
    return part


def without_moved_pages(pages: Collection) -> Collection:
    """The pages of WebKB that have a text of their own."""
    return pages.subset([i for i, text in enumerate(pages.texts) if not text.startswith(_MOVED)])


def _weighted(
    title: str,
    vectorizer: Vectorizer,
    train: Collection,
    test: Collection,
    categories: Iterable[str],
    names: dict[str, str],
    report: Report,
) -> TextTask:
    report(f"Weighting the words of {len(train):,} and {len(test):,} documents")
    space = LabelSpace("multilabel", np.array(sorted(categories)))
    X_train = vectorizer.fit_transform(train.texts)
    in_train = space.encode(train.labels, unknown="ignore") > 0
    if len(test):
        X_test, truth = vectorizer.transform(test.texts), space.encode(test.labels, unknown="ignore")
    else:
        X_test, truth = X_train[:0], np.zeros((0, space.n_columns), np.int8)
    return TextTask(title, space, X_train, X_test, in_train, truth, names, [])
