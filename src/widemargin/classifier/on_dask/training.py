"""`TextClassifier.fit_files` on a cluster, and `fit` on Dask collections: the steps of training from disk, on
workers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from widemargin._memory import parse_size, size_in_words
from widemargin.classifier.checks.of_training import check_sample
from widemargin.classifier.fitting.steps import Fitted
from widemargin.classifier.large.applies import check_applies
from widemargin.classifier.large.gathering import Counted, Texts
from widemargin.classifier.large.training import LargeTraining
from widemargin.classifier.on_dask.counting import (
    Asked,
    Facts,
    count_documents,
    count_shard,
    facts_of,
    load_library,
    runs_of,
)
from widemargin.classifier.record.training_record import TrainingRecord
from widemargin.classifier.record.word_profile import SAMPLE, WordProfile
from widemargin.classifier.settings.defaults import tuning_of
from widemargin.classifier.training import check_tuning
from widemargin.cluster.connecting import connected, local_workers
from widemargin.cluster.copies import copies_of, have_room
from widemargin.cluster.executor import ClusterExecutor
from widemargin.cluster.shards import find_shards
from widemargin.cluster.solving import ClusterTask
from widemargin.cluster.stores import merge_on_cluster, store_on_cluster
from widemargin.cluster.tasks import Tasks
from widemargin.documents.reading import open_sources
from widemargin.documents.sources.finding import list_sources
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.estimate.by_blocks.task import BlockTask
from widemargin.on_disk import Merged, RowStore, Scratch
from widemargin.progress import track
from widemargin.tune.learners import FEWEST

METHODS = ("auto", "labels", "cocoa")


def fitted_on_cluster(
    classifier: Any,
    vectorizer: Any,
    learner: Any,
    sources: Any,
    *,
    cluster: str | Tasks,
    method: str,
    memory: str | int,
    scratch: Any,
    multilabel: bool,
    reading: dict[str, Any],
    tell: Callable[[str], None],
) -> Fitted:
    """Train the parts of a classifier by its parameters; the arguments are those of its `fit_files`."""
    check_applies(classifier, vectorizer, learner)
    if method not in METHODS:
        raise UsageError(f"cluster_method={method!r}: expected one of {', '.join(METHODS)}.")
    text = reading.get("text")
    if isinstance(text, list | tuple) and len(text) > 1 and vectorizer.fields is None:
        vectorizer = clone(vectorizer).set_params(fields=tuple(text))
    given = list_sources(sources)
    shards = find_shards(given, reading)
    opened = open_sources(given, **reading)
    try:
        known = None
        if not opened.holds_vectors:
            reader = opened.reader()
            tell(reader.description)
            known = reader.reading
    finally:
        opened.close()
    with Scratch(scratch) as folder, _tasks(cluster, tell) as (tasks, local):
        limit = parse_size(memory)
        run = ClusterTraining(classifier, vectorizer, learner, folder, limit, multilabel, tell, reading=known)
        run.tasks, run.local, run.method, run.executor = tasks, local, method, ClusterExecutor(tasks)
        prefixes = _short(shards.names)
        names = [prefixes[part] if part else None for part in shards.parts]
        run.counter, run.names, run.parts = count_shard, names, shards.parts
        if opened.holds_vectors:
            return run.from_vector_parts(shards.shards, reading)
        return run.from_parts(shards.shards, reading)


def fitted_on_partitions(
    classifier: Any, vectorizer: Any, learner: Any, partitions: Sequence[Any], tasks: Tasks
) -> Fitted:
    """Train on futures of texts with their label sets."""
    check_applies(classifier, vectorizer, learner)
    with Scratch(None) as folder:
        run = ClusterTraining(
            classifier, vectorizer, learner, folder, parse_size("2GB"), False, lambda text: None
        )
        run.tasks, run.executor = tasks, ClusterExecutor(tasks)
        run.counter, run.names = count_documents, [None] * len(partitions)
        run.parts = [0] * len(partitions)
        return run.from_parts(partitions, {})


@contextmanager
def _tasks(cluster: str | Tasks, tell: Callable[[str], None]) -> Iterator[tuple[Tasks, bool]]:
    """The cluster, and whether all its workers are processes of this machine."""
    if isinstance(cluster, Tasks):
        yield cluster, False
        return
    local = local_workers(cluster) is not None
    with connected(cluster, tell) as tasks:
        yield tasks, local


def _short(names: Sequence[str]) -> list[str]:
    """Names without their folders if they still differ, as those of several files in one process."""
    short = [PurePath(name).name for name in names]
    return short if len(set(short)) == len(short) else list(names)


def _keys(sample: list[tuple[int, Any, int]]) -> NDArray[np.uint64]:
    return np.array([key for key, *_ in sample], dtype=np.uint64)


@dataclass
class ClusterTraining(LargeTraining):
    """One training on a cluster.

    Attributes
    ----------
    tasks : the cluster
    local : whether all its workers are processes of this machine
    method : how machines are trained, see :class:`~widemargin.cluster.solving.ClusterTask`
    counter : counts a part of the collection
    names, parts : what the names of documents of each shard begin with, and its file
    """

    tasks: Tasks = None  # type: ignore[assignment]  # fields with defaults come before it
    local: bool = False
    method: Any = "auto"
    counter: Callable[..., Any] = count_shard
    names: list[str | None] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)
    _counts: list[Any] = field(default_factory=list)
    _entries: int = 0
    _open: ExitStack = field(default_factory=ExitStack)
    _made: Any = None

    def from_parts(self, parts: Sequence[Any], reading: dict[str, Any]) -> Fitted:
        """Train on shards or partitions."""
        self._start()
        hashes = bool(self.classifier.keep_hashes)
        asked = Asked(self._alone(self.vectorizer), reading, hashes, self._estimates, self._share)
        effort, kept = tuning_of(self.classifier, self._parts, FEWEST)
        check_tuning(effort, None, self._parts.values(), per_label=False)
        if effort is not None:
            with self._stage("read"):
                texts, _, _ = self._gathered(parts, replace(asked, counts=False, keep_hashes=False))
            self._choose(texts, effort, kept)
            asked = replace(asked, vectorizer=self._alone(self.vectorizer))
        with self._stage("count" if effort is not None else "read"):
            texts, counted, self._counts = self._gathered(parts, asked)
        self._require_labeled()
        with self._open:
            merged = self._merge(counted, self.vectorizer)
            sample = [text for text, _, _ in texts.sample.items[:SAMPLE]]
            if sample:
                check_sample(sample, merged.space, merged.n_documents)
            vectorizer = merged.fit(clone(self.vectorizer))
            words = WordProfile.of(sample) if sample else None
            record = TrainingRecord(self.reading, texts.distinct() if hashes else None, None, words)
            return self._fitted(counted, merged, vectorizer, record)

    def from_vector_parts(self, parts: Sequence[Any], reading: dict[str, Any]) -> Fitted:
        """Train on shards of vectors."""
        self._start()
        with self._stage("read"):
            asked = Asked(None, reading, False, self._estimates, self._share)
            _, counted, self._counts = self._gathered(parts, asked)
        self._require_labeled()
        with self._open:
            return self._fitted(counted, self._merge(counted, None), None, TrainingRecord())

    def _start(self) -> None:
        """Let new workers import what they need, all at the same time."""
        with self._stage("start"):
            self.tasks.on_workers(load_library)

    @property
    def _share(self) -> int:
        """Bytes for a worker: those of one machine are shared by its workers."""
        return max(self.limit // (self.tasks.n_workers if self.local else 1), self.limit // 64)

    @staticmethod
    def _alone(vectorizer: Any) -> Any:
        """For a worker, which has one thread."""
        return clone(vectorizer).set_params(n_jobs=1)

    def _gathered(self, parts: Sequence[Any], asked: Asked) -> tuple[Texts, Counted, list[Any]]:
        """What is known of the texts, names of a sample, and futures of the counts."""
        tasks = self.tasks
        kept = tasks.keep(asked)
        futures = [tasks.submit(self.counter, part, kept) for part in parts]
        found = tasks.results([tasks.submit(facts_of, future) for future in futures])
        texts = Texts(asked.keep_hashes, tuned_on=not asked.counts)
        counted = Counted(self.folder, asked.vectorizer, 0)
        self.seen = type(self.seen)()
        enabled = None if self.verbose else False
        before, last, empty = 0, -1, []
        progress = track(found, "Reading", total=len(parts), unit="parts", enabled=enabled)
        for place, facts in enumerate(progress):
            before = before if self.parts[place] == last else 0
            last = self.parts[place]
            self._add(facts, texts, counted, self.names[place], before)
            before += facts.seen.documents
            if facts.empty is not None:
                empty.append(facts.empty)
        if empty and not self.seen.documents:
            raise DataError(empty[0])
        for text in empty:
            warnings.warn(f"{text} The other files are read.", DataWarning, stacklevel=2)
        counts = [tasks.submit(runs_of, future) for future in futures] if asked.counts else []
        return texts, counted, counts

    def _add(self, facts: Facts, texts: Texts, counted: Counted, prefix: str | None, before: int) -> None:
        seen = self.seen
        seen.documents += facts.seen.documents
        seen.unlabeled += facts.seen.unlabeled
        seen.one_label_each &= facts.seen.one_label_each
        for text in facts.told:
            warnings.warn(text, DataWarning, stacklevel=2)
        if len(facts.hashes):
            texts.hashes.append(facts.hashes)

        def named(name: str) -> str:
            """As the documents of all files are named in one process."""
            if not facts.numbered:
                return name
            number = str(int(name) + before)
            return number if prefix is None else f"{prefix}:{number}"

        items: list[Any] = [(text, labels, named(name)) for _, (text, labels, name), _ in facts.texts]
        texts.sample.add(_keys(facts.texts), items, [size for *_, size in facts.texts])
        counted.sample.add(
            _keys(facts.sample), [(named(name), total) for _, (name, total), _ in facts.sample]
        )

    def _merge(self, counted: Counted, vectorizer: Any) -> Merged:
        with self._stage("merge"):
            merged, self._entries = merge_on_cluster(
                self.tasks, self._counts, vectorizer, multilabel=self.multilabel
            )
        return merged

    def _store(self, counted: Counted, merged: Merged) -> RowStore:
        made = store_on_cluster(self.tasks, self._counts, merged, self._entries, self.folder / "store")
        self._counts = []
        self._made = made
        return made.store

    def _task(self, store: RowStore, *what: Any) -> BlockTask:
        vectorizer, space, memory, nodes, totals = what
        if self.method == "auto":
            exceeds = not self.local and not have_room(self.tasks, store.n_bytes)
            self.method = "cocoa" if exceeds else "labels"
            if exceeds:
                self.tell(
                    f"The rows take {size_in_words(store.n_bytes)}, more than the disk of some worker has "
                    f"free: documents are divided among the workers (--cluster-method cocoa)."
                )
        keep = not self.local or self.method == "cocoa"
        copies = self._open.enter_context(copies_of(self.tasks, self._made, local=not keep))
        share = 1 / self.tasks.n_workers if self.local else 1.0
        return ClusterTask(
            store,
            vectorizer,
            self.learner,
            space,
            memory,
            nodes,
            totals,
            tasks=self.tasks,
            copies=copies,
            ranges=self._made.ranges,
            method=self.method,
            share=share,
        )
