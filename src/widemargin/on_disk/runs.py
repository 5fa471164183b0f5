"""Runs: chunks of a collection, counted with vocabularies of their own.

A run is made in memory (:func:`count_run`, :func:`vectors_run`), where it can be sent between machines, or
written to a folder (:func:`write_run`), where it is read in parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr, canonical_csr
from widemargin._threads import thread_count
from widemargin.errors import DataError, UsageError
from widemargin.on_disk.chunk_counting import count_chunk
from widemargin.on_disk.label_lists import LabelLists
from widemargin.on_disk.row_files import append_block, read_blocks
from widemargin.on_disk.rows import Keys, Rows, ValueType, encode
from widemargin.on_disk.scratch import writing_to
from widemargin.on_disk.terms import Terms, read_terms, write_terms
from widemargin.text.inputs import as_texts

# Keys begin with this number; a model depends on it through the order of documents.
_KEY_SEED = 0x77696465_6D617267
# Entries of a run that are encoded together, and so read together.
_ENTRIES = 1 << 20


class Run(NamedTuple):
    """Some documents that were counted together.

    Attributes
    ----------
    terms : of every block of terms; empty if terms are hashed, or if documents are vectors
    rows : the columns are those of `terms`, block after block; the labels are places in `labels`
    labels : sorted
    one_label_each : whether every document has exactly one label
    n_unlabeled : how many documents were left out because they have no label
    columns : the names of the columns of the documents, if they have several
    """

    terms: tuple[Terms, ...]
    rows: Rows
    labels: tuple[Any, ...]
    one_label_each: bool
    n_unlabeled: int
    columns: tuple[str, ...] | None

    @property
    def info(self) -> RunInfo:
        """What is known of it, without its documents."""
        counts = np.bincount(self.rows.labels, minlength=len(self.labels))
        weights = self.rows.weights
        return RunInfo(
            "",
            self.rows.n_rows,
            len(self.rows.csr.indices),
            self.rows.csr.n_columns,
            self.rows.values,
            weights is not None and bool((weights != 1).any()),
            dict(zip(self.labels, counts.tolist(), strict=True)),
            self.one_label_each,
            self.n_unlabeled,
            tuple(terms.n_terms for terms in self.terms),
            self.columns,
        )


@dataclass(frozen=True)
class RunInfo:
    """A run in a folder, or only its figures.

    Attributes
    ----------
    n_columns : of its own rows
    label_counts : how many documents have each label
    n_terms : of every block of terms
    row_bytes, term_bytes : the sizes of its files
    """

    directory: str
    n_rows: int
    n_entries: int
    n_columns: int
    values: ValueType
    has_weights: bool
    label_counts: dict[Any, int]
    one_label_each: bool
    n_unlabeled: int
    n_terms: tuple[int, ...]
    columns: tuple[str, ...] | None
    row_bytes: int = 0
    term_bytes: int = 0

    @property
    def labels(self) -> tuple[Any, ...]:
        return tuple(self.label_counts)

    @property
    def rows_path(self) -> Path:
        return Path(self.directory, "rows")

    def terms_path(self, block: int) -> Path:
        """The file of the terms of a block of terms."""
        return Path(self.directory, f"terms-{block}")

    def rows(self) -> Iterator[Rows]:
        """The rows, in parts."""
        return read_blocks(self.rows_path, self.n_rows)

    def terms(self, block: int) -> Iterator[Terms]:
        """The terms of a block of terms, in pages."""
        return read_terms(self.terms_path(block), self.n_terms[block])


def count_run(vectorizer: Any, texts: Any, label_sets: Sequence[Any], weights: Any = None) -> Run:
    """Count some documents.

    Parameters
    ----------
    vectorizer : Vectorizer, whose parameters say what is counted; it need not be fitted
    texts : documents, as :meth:`~widemargin.Vectorizer.fit` takes them
    label_sets : one per document: labels, or a single one; None for unlabeled documents, which are left out
    weights : sample weights, or None

    Examples
    --------
    >>> from widemargin import Vectorizer
    >>> run = count_run(Vectorizer(), ["wheat up", "corn", "?"], [["grain"], [], None])
    >>> list(run.terms[0].vocabulary), run.labels, run.n_unlabeled
    (['corn', 'up', 'wheat'], ('grain',), 1)
    """
    labels = LabelLists.read(label_sets)
    chunk = count_chunk(vectorizer, texts, None if labels.n_unlabeled == 0 else labels.labeled)
    labels.require_length(chunk.n_given)
    counts, terms, first = chunk.counts, [], 0
    totals = np.bincount(counts.indices, counts.data, minlength=counts.n_columns).astype(np.int64)
    for vocabulary, frequencies in zip(chunk.vocabularies, chunk.frequencies, strict=True):
        width = len(vocabulary)
        if not _core.terms_ascend(vocabulary.buffer, vocabulary.offsets):
            raise UsageError(
                "Some words contain spaces, or are the mark between the words of a pair, so that different "
                "n-grams have the same name. Use other tokens, or no n-grams and pairs."
            )
        terms.append(Terms.of(vocabulary, frequencies, totals[first : first + width]))
        first += width
    keys = np.full(counts.n_rows, _KEY_SEED, dtype=np.uint64)
    _core.hash_texts(as_texts(chunk.documents), keys, thread_count(vectorizer.n_jobs))
    return _run(tuple(terms), counts, keys, labels, weights, chunk.columns)


def vectors_run(X: Any, label_sets: Sequence[Any], weights: Any = None) -> Run:
    """The run of given vectors: a sparse or dense matrix with one row per document."""
    labels = LabelLists.read(label_sets)
    labels.require_length(int(X.shape[0]))
    csr = canonical_csr(X if labels.n_unlabeled == 0 else X[labels.labeled])
    keys = np.full(csr.n_rows, _KEY_SEED, dtype=np.uint64)
    _core.hash_lists(csr.indptr, csr.indices, keys)
    _core.hash_lists(csr.indptr, csr.data, keys)
    return _run((), csr, keys, labels, weights, None)


def _run(
    terms: tuple[Terms, ...],
    csr: Csr,
    keys: Keys,
    labels: LabelLists,
    weights: Any,
    columns: tuple[str, ...] | None,
) -> Run:
    given = None
    if weights is not None:
        given = _checked_weights(weights, labels.n_unlabeled + csr.n_rows)[labels.labeled]
    _core.hash_lists(labels.indptr, labels.hashes(_KEY_SEED)[labels.places], keys)
    if given is not None:
        # A weight of 1 is that of documents without weights.
        other = given != 1
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(other, dtype=np.int64)])
        weighted = keys.copy()
        _core.hash_lists(indptr, given[other], weighted)
        keys = np.where(other, weighted, keys)
        given = given if other.any() else None
    rows = Rows(keys, csr, labels.indptr, labels.places, len(labels.names), given)
    return Run(terms, rows, labels.names, labels.one_each, labels.n_unlabeled, columns)


def _checked_weights(weights: Any, n: int) -> NDArray[np.float64]:
    given = np.ascontiguousarray(weights, dtype=np.float64)
    if given.shape != (n,) or not np.isfinite(given).all() or (given < 0).any():
        raise DataError(f"Sample weights of shape {given.shape}: expected {n} numbers that are at least 0.")
    return given


def write_run(run: Run, directory: Path) -> RunInfo:
    """Write a run to a new folder."""
    with writing_to(directory.parent):
        directory.mkdir()
        info = replace(run.info, directory=str(directory))
        for block, terms in enumerate(run.terms):
            with info.terms_path(block).open("wb") as file:
                write_terms(file, [terms])
        with info.rows_path.open("wb") as file:
            ends = run.rows.csr.indptr
            first = 0
            while first < run.rows.n_rows:
                last = int(np.searchsorted(ends, ends[first] + _ENTRIES, side="left"))
                last = min(max(last, first + 1), run.rows.n_rows, first + _ENTRIES)
                append_block(file, encode(run.rows, np.arange(first, last)))
                first = last
    term_bytes = sum(info.terms_path(block).stat().st_size for block in range(len(run.terms)))
    return replace(info, row_bytes=info.rows_path.stat().st_size, term_bytes=term_bytes)
