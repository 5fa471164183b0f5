"""The job of the end-to-end benchmarks: Reuters-21578, raw text to the scores of 90 topics."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

from widemargin import LinearSVM, TextClassifier, Vectorizer, load_corpus
from widemargin.labels import LabelSpace

C = 1.0
THREADS = 2
PEER = "TfidfVectorizer + OneVsRest(LinearSVC)"


@dataclass
class Job:
    """Texts, and an indicator of the 90 topics that have an example on both sides of the ModApte split."""

    train: list[str]
    test: list[str]
    Y_train: NDArray[np.int64]
    Y_test: NDArray[np.int64]

    def part(self, share: float) -> Job:
        """The first `share` of the documents, with the topics that still have an example."""
        n = round(share * len(self.train))
        present = self.Y_train[:n].any(axis=0)
        return Job(self.train[:n], self.test, self.Y_train[:n, present], self.Y_test[:, present])


def reuters() -> Job:
    corpus = load_corpus("reuters21578", "modapte")
    topics = LabelSpace("multilabel", np.array(corpus.categories_of("90")))
    Y_train, Y_test = (
        (topics.encode(part.labels, unknown="ignore") > 0).astype(np.int64)
        for part in (corpus.train, corpus.test)
    )
    return Job(corpus.train.texts, corpus.test.texts, Y_train, Y_test)


def quiet_peer() -> None:
    """With default settings LinearSVC does not converge on a few labels; its worker processes print
    warnings."""
    os.environ["PYTHONWARNINGS"] = "ignore::UserWarning"


def ours(threads: int = THREADS) -> TextClassifier:
    return TextClassifier(
        Vectorizer(n_jobs=threads), LinearSVM(C=C, balance=0, n_jobs=threads), estimate=None
    )


def peer(tol: float = 1e-4) -> Pipeline:
    learner = LinearSVC(C=C, loss="hinge", tol=tol)
    return make_pipeline(TfidfVectorizer(), OneVsRestClassifier(learner, n_jobs=THREADS))


def primal_objective(
    X: sp.csr_array, Y: NDArray[np.int64], weights: NDArray[np.float64], bias: NDArray[np.float64]
) -> float:
    """The sum over labels of ``(|w|^2 + b^2) / 2 + C sum of hinge losses``, computed with NumPy."""
    scores = X @ weights.T + bias
    losses = np.maximum(0, 1 - np.where(Y > 0, 1, -1) * scores)
    return float(0.5 * (np.sum(weights**2) + np.sum(bias**2)) + C * np.sum(losses))
