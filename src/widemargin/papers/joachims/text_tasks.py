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
from widemargin.documents.corpora import corpus_available, load_corpus
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


@dataclass(frozen=True)
class Documents:
    """The texts of a collection and the categories in question; `names` as in :class:`TextTask`.

    `omitted` is the number of training documents that have no text of their own; `notes` are about the copy.
    """

    title: str
    train: Collection
    test: Collection
    categories: Iterable[str]
    names: dict[str, str]
    omitted: int = 0
    notes: tuple[str, ...] = ()

    @property
    def space(self) -> LabelSpace:
        return LabelSpace("multilabel", np.array(sorted(self.categories)))

    def columns(self) -> dict[str, int]:
        """The columns of the named categories in the label space."""
        classes = self.space.classes
        return {name: int(np.searchsorted(classes, category)) for name, category in self.names.items()}

    def counted(self, vectorizer: Vectorizer) -> tuple[sp.csr_array, NDArray[np.bool_]]:
        """The counts of all documents, training documents first, and which categories they belong to."""
        member = self.space.encode([*self.train.labels, *self.test.labels], unknown="ignore") > 0
        return vectorizer.fit_transform([*self.train.texts, *self.test.texts]), member


def reuters_documents(report: Report, categories: str = "90") -> Documents:
    """Reuters-21578, the ModApte split."""
    report("Reading Reuters-21578, the ModApte split")
    corpus = load_corpus("reuters21578", "modapte")
    chosen, names = corpus.categories_of(categories), {topic: topic for topic in REUTERS_TOPICS}
    return Documents("Reuters-21578", texts_of(corpus.train), texts_of(corpus.test), chosen, names)


def webkb_documents(report: Report) -> Documents:
    """WebKB without pages that only redirect: test on the pages of Cornell University."""
    report("Reading WebKB")
    corpus = load_corpus("webkb", "cornell")
    train, test = (without_moved_pages(texts_of(part)) for part in (corpus.train, corpus.test))
    names = {name: name for name in WEBKB_CLASSES}
    return Documents("WebKB", train, test, WEBKB_CLASSES, names, len(corpus.train) - len(train))


def ohsumed_documents(report: Report, split: str | None = "by-id") -> Documents:
    """Ohsumed: medical abstracts in the 23 disease categories; all of 1991 where these are on this machine.

    `split` is one of the distribution without abstracts outside of the categories, or None for all documents
    as training documents. The split of the complete collection is that of the thesis.
    """
    complete = corpus_available("ohsumed-1991")
    report(f"Reading Ohsumed, {'all abstracts of 1991' if complete else 'abstracts in the 23 categories'}")
    if complete:
        corpus = load_corpus("ohsumed-1991", split if split is None else "first-20000")
    else:
        corpus = load_corpus("ohsumed", split)
    train, test = texts_of(corpus.train), texts_of(corpus.test)
    sizes = f"{len(train):,} training and {len(test):,} test documents"
    if complete:
        note = f"Ohsumed is the complete collection of 1991: {sizes}, in the order of the file."
    else:
        note = (
            f"The available copy of Ohsumed has only abstracts with one of the 23 categories: {sizes} "
            f"instead of 10,000 and 10,000. Every category is a larger share of fewer documents."
        )
    return Documents("Ohsumed", train, test, corpus.categories, OHSUMED_CATEGORIES, notes=(note,))


def reuters(report: Report, vectorizer: Vectorizer | None = None, categories: str = "90") -> TextTask:
    """Reuters-21578, the ModApte split, the 90 topics with an example on both sides.

    Here and below, `vectorizer` stands for another representation than the chosen one.
    """
    # Topics outside the 90, like no topic at all, make a document a negative example of all 90.
    documents = reuters_documents(report, categories)
    task = weighted_task(documents, vectorizer or Vectorizer(tokens="alnum", weighting="tfc"), report)
    task.notes.append("The text of a document is its title and its body.")
    task.notes.append(f"{task.X_train.shape[1]:,} distinct terms here, 27,658 in the published experiment.")
    return task


def webkb(report: Report, vectorizer: Vectorizer | None = None) -> TextTask:
    """WebKB: the pages of Cornell University are the test documents, all others the training documents."""
    documents = webkb_documents(report)
    task = weighted_task(documents, vectorizer or Vectorizer(tokens="alnum", weighting="bxc"), report)
    task.notes.extend(
        [
            f"{len(documents.train):,} training and {len(documents.test):,} test pages after "
            f"{documents.omitted} that only redirect; published are 3,957 and 229, more than Cornell has in "
            "the four classes.",
            "Two pairs of training pages have the same words but different classes: no class is "
            "separable here; all are in the published experiment.",
            f"{task.X_train.shape[1]:,} distinct terms here, 38,359 in the published experiment, which does "
            "not state how it removed HTML.",
        ]
    )
    return task


def ohsumed(report: Report, vectorizer: Vectorizer | None = None, *, split: str | None = "by-id") -> TextTask:
    """Ohsumed: medical abstracts in the 23 disease categories, the first half of the numbers for training."""
    documents = ohsumed_documents(report, split)
    train = documents.train
    if not corpus_available("ohsumed-1991"):
        # Numbers go with time, and the thesis takes its documents in that order.
        train = train.subset(sorted(range(len(train)), key=lambda i: int(train.ids[i])))
    vectorizer = vectorizer or Vectorizer(tokens="alnum", weighting="tfc", stop_words="freewais")
    task = weighted_task(replace(documents, train=train), vectorizer, report)
    task.notes.extend(documents.notes)
    return task


def texts_of(part: object) -> Collection:
    """A part of a collection that is distributed as texts."""
    assert isinstance(part, Collection)
    return part


def without_moved_pages(pages: Collection) -> Collection:
    """The pages of WebKB that have a text of their own."""
    return pages.subset([i for i, text in enumerate(pages.texts) if not text.startswith(_MOVED)])


def weighted_task(documents: Documents, vectorizer: Vectorizer, report: Report) -> TextTask:
    """The documents in the representation of `vectorizer`, which sees the training documents only."""
    train, test, space = documents.train, documents.test, documents.space
    report(f"Weighting the words of {len(train):,} and {len(test):,} documents")
    X_train = vectorizer.fit_transform(train.texts)
    in_train = space.encode(train.labels, unknown="ignore") > 0
    if len(test):
        X_test, truth = vectorizer.transform(test.texts), space.encode(test.labels, unknown="ignore")
    else:
        X_test, truth = X_train[:0], np.zeros((0, space.n_columns), np.int8)
    return TextTask(documents.title, space, X_train, X_test, in_train, truth, documents.names, [])
