"""Profiles of character n-grams: chi-square kernels against `chi2_kernel`, languages against their detectors.

The kernel matrix of 5,000 profiles of relative frequencies: 14 sentences of news in one of 75 languages each
("languages"), or pieces of 26 KB of French novels ("novels"). `chi2_kernel` takes dense rows. It is timed on
fewer rows (1,000, or fewer if there are very many columns) and its time multiplied by the square of the
ratio: it computes all pairs, one after the other. Its memory is measured on these rows as well; that of its
dense rows grows with their number, that of its result with the square.

"MB" is what a process grows by while it makes its rows from the sparse counts and computes the matrix. That
one takes 191 MB itself, and 95 MB in the single precision of the peer; "MB besides the matrix" is the rest.

"identify" compares ProfileClassifier with py3langid and Lingua on strings of 20, 50 and 100 bytes (seconds
are for 10,000 strings), and prints its success on five languages with 5 KB of text each: see _languages.py.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from _compare import Check, Row, arguments, in_turns, report
from _languages import beside_peers, five_languages
from widemargin import Vectorizer, load_corpus
from widemargin._arrays import canonical_csr
from widemargin.learn.kernels import Kernel

PROFILES = 5_000
TASKS = ("languages", "novels", "identify")
PEER = "chi2_kernel"
# Pairs of rows x columns that the peer is timed on.
_MOST_CELLS = 2.7e10
# exp(-sum (x - z)^2 / (x + z)); ours has a factor of 2 before the sum.
_GAMMA = 1.0


def texts(task: str) -> Iterator[str]:
    """What a profile is made of."""
    if task == "languages":
        sentences = load_corpus("lingua-sentences", None).train
        together: dict[str, list[str]] = {}
        for text, labels in zip(sentences.texts, sentences.labels, strict=True):
            together.setdefault(labels[0], []).append(text)
        for lines in together.values():
            for first in range(0, len(lines), 14):
                yield " ".join(lines[first : first + 14])
        return
    novels = load_corpus("french-novels", None).train.texts
    size = sum(map(len, novels)) // (PROFILES + len(novels))
    for novel in novels:
        for first in range(0, len(novel) - size // 2, size):
            yield novel[first : first + size]


def profiles(task: str) -> Any:
    """The relative frequencies of trigrams."""
    vectorizer = Vectorizer(units="chars", ngram_range=(3, 3), weighting="txa")
    return vectorizer.fit_transform(list(islice(texts(task), PROFILES)))


def ours(X: Any) -> Any:
    return Kernel("chi2", _GAMMA / 2).gram(canonical_csr(X), None)


def peer(X: Any) -> Any:
    from sklearn.metrics.pairwise import chi2_kernel

    return chi2_kernel(X.toarray(), gamma=_GAMMA)  # in single precision, like X


def some(X: Any) -> Any:
    """The rows that the peer is timed on, evenly spaced."""
    n = min(1000, int(np.sqrt(_MOST_CELLS / X.shape[1])))
    return X[np.linspace(0, X.shape[0] - 1, n).astype(int)]


def memory_of(work: Callable[[Any], Any], X: Any, answer: Any) -> None:
    """Megabytes by which the work grows a process that has the rows as they come from the counts."""
    work(X[:10])
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far (Linux)
    before = megabytes("VmRSS")
    work(X)
    answer.put(megabytes("VmHWM") - before)


def megabytes(field: str) -> float:
    """A field of what the kernel says about this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def grown_by(work: Callable[[Any], Any], X: Any) -> float:
    """The same in a process of its own."""
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=memory_of, args=(work, X, answer))
    process.start()
    found = float(answer.get())
    process.join()
    return found


def gram(task: str, repeats: int) -> Row:
    """The kernel matrix of all profiles."""
    X = profiles(task)
    part = some(X)
    n, m = X.shape[0], part.shape[0]
    mine, other = in_turns(partial(ours, X), partial(peer, part), repeats=repeats, warm=False)
    matrix, peers_matrix, peers_part = 8 * n**2 / 2**20, 4 * n**2 / 2**20, 4 * m**2 / 2**20
    # Ours has its rows already: they count as well.
    mine_mb = grown_by(ours, X) + (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20
    other_mb = (grown_by(peer, part) - peers_part) * n / m + peers_matrix
    quality = {
        "columns": X.shape[1],
        "values per row": float(X.nnz / n),
        "peer's rows": m,
        "MB": mine_mb,
        "peer's MB": other_mb,
        "MB besides the matrix": mine_mb - matrix,
        "peer's MB besides the matrix": other_mb - peers_matrix,
    }
    checks = [Check("largest difference", float(np.abs(ours(part) - other.result).max()), 1e-5)]
    return Row(f"chi2 of {n:,} {task}", PEER, mine.seconds, other.seconds * (n / m) ** 2, checks, quality)


def rows(tasks: list[str], repeats: int) -> Iterator[Row]:
    for task in tasks:
        if task == "identify":
            yield from beside_peers(repeats)
        else:
            yield gram(task, repeats)


def main() -> int:
    options = arguments(__doc__, repeats=1, tasks=TASKS).parse_args()
    if "identify" in options.tasks:
        for line in five_languages():
            print(line, file=sys.stderr)
    return report(rows(options.tasks, options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
