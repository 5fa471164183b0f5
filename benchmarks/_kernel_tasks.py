"""The tasks of the kernel benchmarks, and objectives of any solution, recomputed from the data."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVC

from _compare import Check
from widemargin import KernelSVM, LinearSVM, Vectorizer, load_corpus

THREADS = 2
PEER = "SVC"
GRAM_PEER = "SVC, precomputed"
CACHE = 2000  # megabytes for both sides: all rows that either may need again
EPSILON = 1e-3
# How far our primal objective may be above the peer's, and our dual one below, as a fraction of it.
WITHIN = 1e-3

Floats = NDArray[np.float64]


@dataclass
class Task:
    """Vectors and an indicator of labels; `gamma` None is the linear kernel."""

    name: str
    X: sp.csr_array
    X64: sp.csr_matrix  # X as the peer converts it, so that the conversion is not timed
    Y: NDArray[np.int64]
    labels: list[str]
    C: float
    gamma: float | None

    def part(self, n: int) -> Task:
        """The first n examples."""
        return replace(self, X=self.X[:n], X64=self.X64[:n], Y=self.Y[:n])

    def label(self, k: int) -> Task:
        """A single label."""
        return replace(self, Y=self.Y[:, [k]], labels=[self.labels[k]])

    def kernel(self, C: float, gamma: float | None) -> Task:
        return replace(self, C=C, gamma=gamma)


@dataclass(frozen=True)
class Solution:
    """Signed alphas (labels, n) and intercepts (labels,); the time for a Gram matrix."""

    coef: Floats
    intercept: Floats
    gram_s: float = 0.0


def texts(name: str, split: str | None, largest: int, documents: int | None = None) -> Task:
    """The largest categories of a collection's training documents, as tfc vectors."""
    corpus = load_corpus(name, split) if split else load_corpus(name)
    some = slice(documents)
    X = Vectorizer(n_jobs=THREADS).fit_transform(corpus.train.texts[some])
    sets = corpus.train.labels[some]
    categories = corpus.categories
    Y = np.array([[category in labels for category in categories] for labels in sets]).astype(np.int64)
    order = np.argsort(-Y.sum(axis=0), kind="stable")[:largest]
    return _task(name, X, Y[:, order], [categories[k] for k in order])


def vectors(name: str) -> Task:
    """One of the adult and web sets."""
    train = load_corpus(name).train
    positive = np.array([[labels == ("1",)] for labels in train.labels]).astype(np.int64)
    return _task(name, train.X, positive, [name])


def _task(name: str, X: sp.csr_array, Y: NDArray[np.int64], labels: list[str]) -> Task:
    X64 = sp.csr_matrix(X, dtype=np.float64)
    X64.indices, X64.indptr = X64.indices.astype(np.int32), X64.indptr.astype(np.int32)
    return Task(name, X, X64, Y, labels, 1.0, None)


def our_solution(task: Task, cache: float = CACHE, threads: int = THREADS) -> Solution:
    """Our machine on all labels of a task: LinearSVM for the linear kernel."""
    binary = task.Y.shape[1] == 1
    y = task.Y[:, 0] if binary else task.Y
    if task.gamma is None:
        model = LinearSVM(
            task.C, bias="unregularized", balance=0, tol=EPSILON, n_jobs=threads, max_iter=10_000_000
        )
    else:
        model = KernelSVM(task.C, gamma=task.gamma, balance=0, tol=EPSILON, cache=cache, n_jobs=threads)
    model.fit(task.X, y)
    alpha: Floats = model.alpha_[:, None] if binary else model.alpha_
    return Solution((alpha * (2.0 * task.Y - 1)).T, model.intercept_)


def peer_solution(task: Task, cache: float = CACHE, threads: int = 1) -> Solution:
    """LIBSVM on one label after the other, or on several at a time, since it releases the GIL."""
    kernel = {"kernel": "linear"} if task.gamma is None else {"kernel": "rbf", "gamma": task.gamma}
    return _by_label(task, task.X64, {"cache_size": cache, **kernel}, threads)


def gram_solution(task: Task, cache: float = CACHE, threads: int = 1) -> Solution:
    """LIBSVM on a Gram matrix that all labels share; computing it is part of the work."""
    start = time.perf_counter()
    if task.gamma is None:
        gram = linear_kernel(task.X64, dense_output=True)
    else:
        gram = rbf_kernel(task.X64, gamma=task.gamma)
    taken = time.perf_counter() - start
    solution = _by_label(task, gram, {"cache_size": cache, "kernel": "precomputed"}, threads)
    return replace(solution, gram_s=taken)


def _by_label(task: Task, X: object, options: dict[str, object], threads: int) -> Solution:
    def solve(y: NDArray[np.int64]) -> tuple[Floats, float]:
        model = SVC(C=task.C, tol=EPSILON, **options).fit(X, y)
        coef = np.zeros(task.X.shape[0])
        dual = model.dual_coef_
        coef[model.support_] = np.asarray(dual.todense() if sp.issparse(dual) else dual).ravel()
        return coef, float(model.intercept_[0])

    with ThreadPoolExecutor(threads) as pool:
        solved = list(pool.map(solve, task.Y.T))
    return Solution(np.array([coef for coef, _ in solved]), np.array([bias for _, bias in solved]))


def objectives(task: Task, solutions: list[Solution]) -> list[tuple[float, float]]:
    """Primal and dual value of each solution, summed over its labels, from blocks of kernel rows."""
    X = sp.csr_array(task.X64)
    dense = X.toarray() if X.shape[1] <= 1000 else None  # few features: the dense product is faster
    signs = 2.0 * task.Y.T - 1
    lengths = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    values = [[0.0, 0.0] for _ in solutions]
    for first in range(0, X.shape[0], 1000):
        rows = slice(first, min(first + 1000, X.shape[0]))
        K = (X[rows] @ X.T).toarray() if dense is None else dense[rows] @ dense.T
        if task.gamma is not None:
            K = np.exp(-task.gamma * (lengths[rows, None] + lengths[None, :] - 2 * K))
        for value, solution in zip(values, solutions, strict=True):
            s = (K @ solution.coef.T).T
            squared = np.sum(solution.coef[:, rows] * s)
            xi = np.maximum(0, 1 - signs[:, rows] * (s + solution.intercept[:, None]))
            value[0] += 0.5 * squared + task.C * xi.sum()
            value[1] += np.abs(solution.coef[:, rows]).sum() - 0.5 * squared
    return [tuple(value) for value in values]


def same_job(task: Task, ours: Solution, peer: Solution) -> list[Check]:
    """Checks that our primal objective is at most 0.1 % above the peer's, and our dual one at most 0.1 %
    below."""
    (primal, dual), (peer_primal, peer_dual) = objectives(task, [ours, peer])
    return [
        Check("primal above the peer's", primal / peer_primal - 1, WITHIN),
        Check("dual below the peer's", 1 - dual / peer_dual, WITHIN),
    ]
