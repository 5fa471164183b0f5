"""Corpus vectors against scikit-learn: seconds and accuracy with few labels, on 20 Newsgroups and CLINC150.

words      word vectors from counts, against a sparse product of SciPy and `TruncatedSVD` of the same matrix
           of positive pointwise mutual information (3,000 contexts, 100 dimensions, as many passes). Both
           sides must capture the same part of the matrix, up to 1 %.
documents  texts to document vectors, against latent semantic analysis: `TfidfVectorizer`, `TruncatedSVD` and
           `Normalizer`. A linear SVM learns from 8 labels a class, drawn five times, and is measured on the
           other training documents; ours may not be less accurate. Its accuracy on words, and on words and
           vectors, stands beside it.

Vectors are learned from all training documents without labels; test documents are not used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from _compare import Check, Row, arguments, in_turns, report
from widemargin import LinearSVM, Vectorizer, load_corpus
from widemargin._arrays import Csr
from widemargin.weight.corpus_vectors import CONTEXTS, SMOOTHING, word_vectors

DIMS, MIN_DF, N_ITER, SPARE = 100, 3, 3, 28
LABELS, DRAWS = 8, 5


def associations(counts: Csr) -> sp.csr_array:
    """Positive pointwise mutual information of words and contexts, by SciPy."""
    B = counts.matrix.astype(np.float64)
    B.data[:] = 1.0
    frequencies = np.asarray(B.sum(axis=0)).ravel()
    contexts = np.sort(np.argsort(-frequencies, kind="stable")[:CONTEXTS])
    shared = sp.diags_array(1.0 / np.maximum(np.diff(B.indptr), 1)) @ B.tocsc()[:, contexts]
    together = (B.T.tocsr() @ shared.tocsr()).tocoo()
    share = frequencies[contexts] ** SMOOTHING
    of_words = np.bincount(together.row, together.data, together.shape[0])
    values = np.log(together.data / (of_words[together.row] * (share / share.sum())[together.col]))
    some = values > 1e-9
    return sp.csr_array((values[some], (together.row[some], together.col[some])), shape=together.shape)


def by_sklearn(counts: Csr) -> tuple[sp.csr_array, NDArray[np.float64]]:
    M = associations(counts)
    svd = TruncatedSVD(DIMS, n_iter=N_ITER, n_oversamples=SPARE, random_state=0)
    return M, svd.fit_transform(M) / np.sqrt(svd.singular_values_)


def captured(M: sp.csr_array, vectors: NDArray[np.float64]) -> float:
    """The share of the squared values of M that lies in the space of the vectors."""
    basis = np.linalg.qr(vectors)[0]
    return float(np.square(M.T @ basis).sum() / np.square(M.data).sum())


def accuracy(X: Any, y: NDArray[Any]) -> float:
    """In percent, of a linear SVM that is trained on a few labels of each class; on the other documents."""
    X, found = sp.csr_array(X).astype(np.float32), []
    for draw in range(DRAWS):
        order = np.random.default_rng(draw).permutation(len(y))
        seen = np.concatenate([order[y[order] == label][:LABELS] for label in np.unique(y)])
        unseen = np.setdiff1d(order, seen)
        found.append(np.mean(LinearSVM(C=10, tol=0.01).fit(X[seen], y[seen]).predict(X[unseen]) == y[unseen]))
    return 100 * float(np.mean(found))


def rows(tasks: list[str], repeats: int) -> Iterator[Row]:
    for name in tasks:
        train = load_corpus(name).train
        texts, y = list(train.texts), np.array([labels[0] for labels in train.labels])
        counts = Vectorizer(weighting=None, min_df=MIN_DF).fit_counts(texts)
        ours, peer = in_turns(
            lambda counts=counts: word_vectors(counts, DIMS, 2),
            lambda counts=counts: by_sklearn(counts),
            repeats=repeats,
            warm=False,
        )
        M, of_peer = peer.result
        shares = captured(M, ours.result), captured(M, of_peer)
        checks = [Check("relative loss of the approximation", 1 - shares[0] / shares[1], 0.01)]
        quality: dict[str, Any] = {
            "associations": M.nnz,
            "captured": shares[0],
            "captured by peer": shares[1],
        }
        yield Row(f"{name} words", "SciPy + TruncatedSVD", ours.seconds, peer.seconds, checks, quality)
        del M, of_peer, peer

        def lsa() -> Any:
            return make_pipeline(
                TfidfVectorizer(sublinear_tf=True), TruncatedSVD(DIMS, random_state=0), Normalizer()
            )

        ours, peer = in_turns(
            lambda texts=texts: Vectorizer(blocks=["vectors"], n_jobs=2).fit_transform(texts),
            lambda texts=texts: lsa().fit_transform(texts),
            repeats=repeats,
            warm=False,
        )
        words = Vectorizer().fit_transform(texts)
        alone, semantic = accuracy(ours.result, y), accuracy(peer.result, y)
        quality = {
            "vectors": alone,
            "LSA": semantic,
            "words": accuracy(words, y),
            "words and vectors": accuracy(sp.hstack([words, ours.result]), y),
            "words and LSA": accuracy(sp.hstack([words, sp.csr_array(peer.result)]), y),
        }
        checks = [Check("points less accurate than LSA", semantic - alone, 0.0)]
        yield Row(f"{name} documents", "sklearn LSA", ours.seconds, peer.seconds, checks, quality)


def main() -> int:
    options = arguments(__doc__, repeats=3, tasks=("20newsgroups", "clinc150")).parse_args()
    return report(rows(options.tasks, options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
