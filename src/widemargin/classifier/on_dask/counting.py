"""Shards of a collection in workers: sampled, and counted into runs that are sent on."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.classifier.large.chunks import Chunk, Seen, text_chunks, vector_chunks
from widemargin.classifier.large.gathering import Counted, Texts
from widemargin.cluster.shards import Shard
from widemargin.cluster.stores import PackedRun
from widemargin.documents.formats.sniffing import EmptySourceError
from widemargin.errors import DataWarning


@dataclass(frozen=True)
class Asked:
    """What every task is told.

    `vectorizer` is None for vectors. `counts`: whether documents are counted, or only sampled to tune on;
    `estimates`: whether a sample of their names is needed.
    """

    vectorizer: Any
    reading: dict[str, Any]
    keep_hashes: bool
    estimates: bool
    memory: int
    counts: bool = True


@dataclass
class Facts:
    """What is known of a shard beside its counts.

    Attributes
    ----------
    hashes, texts : of its texts, and a sample of them with their keys
    sample : names and numbers of terms of documents with the smallest keys, with these keys
    numbered : whether names are numbers of records
    told : warnings of reading it
    empty : the error of a shard without documents
    """

    seen: Seen = field(default_factory=Seen)
    hashes: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    texts: list[tuple[int, Any, int]] = field(default_factory=list)
    sample: list[tuple[int, Any, int]] = field(default_factory=list)
    numbered: bool = False
    told: list[str] = field(default_factory=list)
    empty: str | None = None


def load_library() -> None:
    """Import what training needs, in a new worker."""
    import widemargin.cluster.solving
    import widemargin.estimate.by_blocks.held_out  # noqa: F401


def count_shard(shard: Shard, asked: Asked) -> tuple[list[PackedRun], Facts]:
    """Read, sample and count one shard."""
    facts = Facts()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        runs: list[PackedRun] = []
        try:
            with shard.exact_errors(asked.reading):
                runs = _counted(_chunks(shard, asked, facts), asked, facts)
        except EmptySourceError as error:
            facts.empty = str(error)
    facts.told = [str(warning.message) for warning in caught if issubclass(warning.category, DataWarning)]
    return runs, facts


def _chunks(shard: Shard, asked: Asked, facts: Facts) -> Iterator[Chunk]:
    """The labeled documents or vectors of a shard."""
    if asked.vectorizer is None:
        batches = partial(shard.vector_batches, asked.reading)
        return vector_chunks(batches, asked.memory // 2, facts.seen, verbose=False)
    reader = shard.reader(asked.reading)
    facts.numbered = not reader.has_ids
    return text_chunks(reader, facts.seen, verbose=False)


def count_documents(documents: tuple[list[str], list[Any]], asked: Asked) -> tuple[list[PackedRun], Facts]:
    """Sample and count a partition of texts with their label sets; None marks an unlabeled one."""
    facts = Facts(numbered=True)
    texts, labels = documents
    known = [place for place, each in enumerate(labels) if each is not None]
    facts.seen.documents, facts.seen.unlabeled = len(texts), len(texts) - len(known)
    sets = [tuple(labels[place]) for place in known]
    facts.seen.one_label_each = all(len(each) == 1 for each in sets)
    chunk = Chunk([str(place + 1) for place in known], [texts[place] for place in known], sets)
    return _counted([chunk] if known else [], asked, facts), facts


def _counted(chunks: Iterable[Chunk], asked: Asked, facts: Facts) -> list[PackedRun]:
    texts = Texts(asked.keep_hashes, tuned_on=not asked.counts)

    def watched() -> Iterator[Chunk]:
        for chunk in chunks:
            texts.add(chunk)
            yield chunk

    runs: list[PackedRun] = []
    if asked.counts:
        with tempfile.TemporaryDirectory(prefix="widemargin-runs-") as folder:
            counted = Counted(Path(folder), asked.vectorizer, asked.memory, asked.estimates)
            counted.count(watched())
            runs = [PackedRun.read(run) for run in counted.runs]
        facts.sample = counted.sample.kept
    else:
        for _ in watched():
            pass
    facts.texts = texts.sample.kept
    if asked.keep_hashes:
        facts.hashes = texts.distinct()
    return runs


def runs_of(found: tuple[list[PackedRun], Facts]) -> list[PackedRun]:
    """The counts alone."""
    return found[0]


def facts_of(found: tuple[list[PackedRun], Facts]) -> Facts:
    """All but the counts."""
    return found[1]
