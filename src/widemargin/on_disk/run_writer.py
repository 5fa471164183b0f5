"""Documents of a stream to runs on disk, in chunks that fit into the memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from widemargin.on_disk.runs import Run, RunInfo, count_run, vectors_run, write_run
from widemargin.text.inputs import byte_lengths, listed

OnRun = Callable[[Run, Sequence[Any]], None]

# Bytes of text in the first chunk, which tells what others take.
_FIRST_CHUNK = 1 << 22
# The share of the memory that a chunk may take by the figures below; the rest is for whoever reads documents.
_SHARE = 0.5
# What a byte of text, a document, an entry and a distinct term take while they are counted, and a term that
# becomes a stem or a concept in Python.
_TEXT_FACTOR = 1.5
_DOCUMENT_BYTES = 400
_ENTRY_BYTES = 25
_TERM_BYTES = 80
_REPLACED_BYTES = 250
# Short documents count as so many bytes more, since each is an object.
_OVERHEAD = 100


class RunWriter:
    """Gathers documents, counts them when there are enough, and writes runs.

    The runs differ with `memory`; what is made of them does not.

    Parameters
    ----------
    vectorizer : Vectorizer, whose parameters say what is counted; None if documents are vectors
    directory : a folder for the runs
    memory : bytes that gathering and counting may take
    on_run : is called with every run and its texts, before it is written; those of vectors are empty

    Attributes
    ----------
    runs : those that were written
    """

    def __init__(self, vectorizer: Any, directory: Path, *, memory: int, on_run: OnRun | None = None) -> None:
        self._on_run = on_run
        self.runs: list[RunInfo] = []
        self.n_documents = 0
        self._vectorizer, self._directory, self._memory = vectorizer, directory, memory
        self._texts: list[Any] = []
        self._labels: list[Any] = []
        self._weights: list[float] = []
        self._weighted = False
        self._bytes = 0
        self._most = min(_FIRST_CHUNK, max(1, memory // 16))
        replaces = vectorizer is not None and (vectorizer.stemmer or vectorizer.thesaurus)
        self._replaced = _REPLACED_BYTES if replaces else 0

    def add(self, texts: Any, label_sets: Any, weights: Any = None) -> None:
        """Add documents, as :func:`count_run` takes them; several columns must be joined already."""
        texts = texts.to_pylist() if hasattr(texts, "to_pylist") else listed(texts)
        sizes = byte_lengths(texts)
        labels, weights = list(label_sets), None if weights is None else list(weights)
        start, total = 0, 0
        for stop, size in enumerate(sizes.tolist(), start=1):
            total += size + _OVERHEAD
            if self._bytes + total >= self._most:
                self._take(texts, labels, weights, start, stop, total)
                self.flush()
                start, total = stop, 0
        if start < len(texts):
            self._take(texts, labels, weights, start, len(texts), total)

    def _take(self, texts: Any, labels: Any, weights: Any, start: int, stop: int, size: int) -> None:
        self._texts += texts[start:stop]
        self._labels += labels[start:stop]
        self._weights += [1.0] * (stop - start) if weights is None else weights[start:stop]
        self._weighted |= weights is not None
        self._bytes += size

    def add_vectors(self, X: Any, label_sets: Any, weights: Any = None) -> None:
        """Write rows of a matrix as a run of their own."""
        self._write(vectors_run(X, label_sets, weights), [])

    def flush(self) -> None:
        """Count what was gathered."""
        if not self._labels:
            return
        weights = self._weights if self._weighted else None
        texts, labels, n_bytes = self._texts, self._labels, self._bytes
        self._texts, self._labels, self._weights, self._weighted, self._bytes = [], [], [], False, 0
        run = count_run(self._vectorizer, texts, labels, weights)
        n_terms = sum(terms.n_terms for terms in run.terms)
        used = (
            _TEXT_FACTOR * n_bytes
            + _DOCUMENT_BYTES * run.rows.n_rows
            + _ENTRY_BYTES * len(run.rows.csr.indices)
            + (_TERM_BYTES + self._replaced) * n_terms
        )
        # The next chunk by what this one took. Terms grow more slowly than texts.
        fitting = int(n_bytes * _SHARE * self._memory / used)
        self._most = max(1, min(fitting, 4 * max(self._most, n_bytes)))
        self._write(run, texts)

    def _write(self, run: Run, texts: Sequence[Any]) -> None:
        if self._on_run is not None:
            self._on_run(run, texts)
        self.n_documents += run.rows.n_rows
        self.runs.append(write_run(run, self._directory / f"run-{len(self.runs):06d}"))

    def close(self) -> list[RunInfo]:
        """Write the last run; returns all of them."""
        self.flush()
        return self.runs
