"""The steps of `TextClassifier.fit_files`: read once, count to disk, merge, learn by blocks, estimate."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.base import clone

from widemargin._memory import give_back_memory, parse_size, peak_memory, resident_memory
from widemargin.classifier.checks.of_training import check_sample
from widemargin.classifier.fitting.steps import Fitted
from widemargin.classifier.large.applies import check_applies
from widemargin.classifier.large.assessing import assess_large
from widemargin.classifier.large.chunks import Chunk, PutAside, Seen, text_chunks, vector_chunks
from widemargin.classifier.large.gathering import Counted, Texts
from widemargin.classifier.large.tuning import Chosen, choose
from widemargin.classifier.record.training_record import TrainingRecord
from widemargin.classifier.record.word_profile import SAMPLE, WordProfile
from widemargin.classifier.settings.defaults import settle, tuning_of
from widemargin.classifier.training import FittedParts, check_tuning, training_summary
from widemargin.classifier.training_input import along_tree, check_no_tree
from widemargin.documents.reading import Opened, open_sources
from widemargin.errors import DataError
from widemargin.estimate.assessment import NOTHING, Request
from widemargin.estimate.by_blocks.folds import Folds
from widemargin.estimate.by_blocks.task import BlockTask
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels, LabelSpace
from widemargin.labels.hierarchy import LabelTree
from widemargin.on_disk import Merged, RowStore, Scratch, build_store, merge_runs
from widemargin.tune.learners import FEWEST

Tell = Callable[[str], None]


def fitted_from_files(
    classifier: Any,
    vectorizer: Any,
    learner: Any,
    sources: Any,
    *,
    memory: str | int,
    scratch: Any,
    multilabel: bool,
    reading: dict[str, Any],
    tell: Tell,
    cluster: str | None = None,
    method: str = "labels",
) -> Fitted:
    """Train the parts of a classifier by its parameters; the arguments are those of its `fit_files`."""
    if cluster is not None:
        from widemargin.classifier.on_dask.training import fitted_on_cluster

        how: dict[str, Any] = {"memory": memory, "scratch": scratch, "multilabel": multilabel}
        how |= {"reading": reading, "tell": tell, "cluster": cluster, "method": method}
        return fitted_on_cluster(classifier, vectorizer, learner, sources, **how)
    limit = parse_size(memory)
    check_applies(classifier, vectorizer, learner)
    text = reading.get("text")
    if isinstance(text, list | tuple) and len(text) > 1 and vectorizer.fields is None:
        vectorizer = clone(vectorizer).set_params(fields=tuple(text))
    opened = open_sources(sources, **reading)
    try:
        with Scratch(scratch) as folder:
            run = LargeTraining(classifier, vectorizer, learner, folder, limit, multilabel, tell)
            return run.from_vectors(opened) if opened.holds_vectors else run.from_texts(opened)
    finally:
        opened.close()


class _Sizes(NamedTuple):
    """What "auto" looks at of labels that are not in memory."""

    space: LabelSpace
    n: int

    def __len__(self) -> int:
        return self.n


class _Shape(NamedTuple):
    """The size of a matrix that is not in memory."""

    shape: tuple[int, int]
    nnz: int


@dataclass
class LargeTraining:
    """One training: its parts, its folder, its limits, and what it has found so far."""

    classifier: Any
    vectorizer: Any
    learner: Any
    folder: Path
    limit: int
    multilabel: bool
    tell: Tell
    seconds: dict[str, float] = field(default_factory=dict)
    seen: Seen = field(default_factory=Seen)
    scratch_bytes: int = 0
    chosen: Chosen | None = None
    reading: dict[str, Any] | None = None
    executor: Any = None

    @property
    def room(self) -> int:
        """Bytes for a step, beside what is in memory already."""
        return max(self.limit - resident_memory(), self.limit // 4)

    @property
    def verbose(self) -> bool:
        return bool(self.learner.verbose)

    def from_texts(self, opened: Opened) -> Fitted:
        """Train on texts."""
        reader = opened.reader()
        self.tell(reader.description)
        self.reading = reader.reading
        effort, kept = tuning_of(self.classifier, self._parts, FEWEST)
        texts = Texts(bool(self.classifier.keep_hashes), tuned_on=effort is not None)
        check_tuning(effort, None, self._parts.values(), per_label=False)
        chunks = text_chunks(reader, self.seen, verbose=self.verbose)
        if effort is None:
            counted = Counted(self.folder, self.vectorizer, self.room, self._estimates)
            with self._stage("read"):
                counted.count(_watched(chunks, texts))
        else:
            aside = PutAside(self.folder)
            with self._stage("read"):
                for chunk in chunks:
                    texts.add(chunk)
                    aside.add(chunk)
            self._look()
            self._choose(texts, effort, kept)
            counted = Counted(self.folder, self.vectorizer, self.room, self._estimates)
            with self._stage("count"):
                counted.count(aside.chunks(verbose=self.verbose))
        self._require_labeled()
        merged = self._merge(counted, self.vectorizer)
        sample = [text for text, _, _ in texts.sample.items[:SAMPLE]]
        if sample:
            check_sample(sample, merged.space, merged.n_documents)
        vectorizer = merged.fit(clone(self.vectorizer))
        hashes = texts.distinct() if self.classifier.keep_hashes else None
        record = TrainingRecord(self.reading, hashes, None, WordProfile.of(sample) if sample else None)
        del texts, sample, chunks  # makes room
        return self._fitted(counted, merged, vectorizer, record)

    def from_vectors(self, opened: Opened) -> Fitted:
        """Train on vectors."""
        counted = Counted(self.folder, None, self.room, self._estimates)
        chunks = vector_chunks(opened.vector_batches, self.room // 2, self.seen, verbose=self.verbose)
        with self._stage("read"):
            counted.count(chunks)
        self._require_labeled()
        return self._fitted(counted, self._merge(counted, None), None, TrainingRecord())

    def _fitted(self, counted: Counted, merged: Merged, vectorizer: Any, record: TrainingRecord) -> Fitted:
        n, space = merged.n_documents, merged.space
        size = Folds.of(n, space.n_columns).size
        settled = settle(self.classifier, self._parts, _Sizes(space, size), with_pool=False)  # type: ignore[arg-type]
        classifier = self.classifier
        asked = classifier.calibration, classifier.costs, classifier.abstain
        request = Request.read(settled.estimate, settled.thresholds, *asked)
        tree, nodes = self._tree(merged)
        if tree is None:
            request = request.check(space)
        else:
            space = tree.space
            request = along_tree(tree, request, classifier.hierarchy, self.learner)
        with self._stage("store"):
            store = self._store(counted, merged)
            self._look()
            give_back_memory()  # learning gets what is left
        task = self._task(store, vectorizer, space, self.room, nodes, merged.totals)
        if tree is not None:
            for block in range(store.n_blocks):
                tree.count(task.rows.signs(block, space.n_columns) > 0)
        with self._stage("learn"):
            found = task.solve(verbose=self.verbose)
            task.warn(found)
        start, judged = time.perf_counter(), NOTHING
        if request.method is not None or request.needs_scores:
            optimism = None if self.chosen is None else self.chosen.optimism
            # The weights that were found stay in memory.
            room = max(task.memory - 8 * merged.n_columns * space.n_columns, self.limit // 8)
            task = replace(task, memory=room)
            judged = assess_large(task, found, request, counted.sample.items, optimism)
            self.seconds["estimate"] = time.perf_counter() - start
        machine = task.machine(found)
        n_features = int(found.coef.shape[1])
        X = _Shape((n, n_features), int(store.n_entries))
        tuning = {} if self.chosen is None else self.chosen.tuning
        parts = FittedParts(vectorizer, None, machine, TrainingRows(X, None), self.seconds, tuning)  # type: ignore[arg-type]
        summary = training_summary(parts, space, judged.summary(), request.hierarchy)
        summary["unlabeled"] = self.seen.unlabeled
        summary["memory"] = {
            "limit": self.limit,
            "peak": peak_memory(),
            "scratch": self.scratch_bytes,
            "blocks": int(store.n_blocks),
        }
        record = TrainingRecord(record.reading, record.hashes, judged.profile, record.words)
        rule = judged.rule(machine, request.hierarchy)
        return Fitted(vectorizer, None, machine, n_features, settled.asked, rule, record, summary)

    def _store(self, counted: Counted, merged: Merged) -> RowStore:
        return build_store(counted.runs, merged, self.folder / "store", memory=self.room)

    def _task(self, store: RowStore, *what: Any) -> BlockTask:
        """The machine that learns from the rows: `what` are vectorizer, labels, memory, nodes and totals."""
        vectorizer, *more = what
        return BlockTask(store, vectorizer, self.learner, *more)

    def _tree(self, merged: Merged) -> tuple[LabelTree | None, list[list[int]] | None]:
        """The tree of labels that are paths, and the nodes of every column of the store."""
        if self.classifier.label_path is None:
            check_no_tree(self.classifier.hierarchy)
            return None, None
        tree, nodes = LabelTree.of_space(merged.space, self.classifier.label_path)
        # Documents of the first of two classes have no column.
        return tree, [nodes[1], nodes[0]] if merged.space.kind == "binary" else [*nodes, []]

    @property
    def _estimates(self) -> bool:
        """Whether anything is estimated."""
        settings = self.classifier
        asked = settings.estimate, settings.thresholds, settings.calibration, settings.costs, settings.abstain
        return asked not in ((None,) * 5, (None, "auto", None, None, None))

    @property
    def _parts(self) -> dict[str, Any]:
        return {"vectorizer": self.vectorizer, "learner": self.learner}

    def _choose(self, texts: Texts, effort: Any, kept: Any) -> None:
        """Replace the parts by those that do best on a sample."""
        items = texts.sample.items
        if self.seen.labeled < FEWEST or not items:
            return
        y = self._labels_of([labels for _, labels, _ in items])
        if y is None:
            return
        documents = [text for text, _, _ in items]
        how: dict[str, Any] = {"effort": effort, "kept": kept, "executor": self.executor}
        self.chosen = choose(self.classifier, self.vectorizer, self.learner, documents, y, **how)
        self.vectorizer, self.learner = self.chosen.vectorizer, self.chosen.learner
        self.seconds["tune"] = self.chosen.seconds

    def _labels_of(self, label_sets: list[Any]) -> Labels | None:
        """The labels of a sample, or None if it has nothing to learn, but other documents may have."""
        several = self.multilabel or not self.seen.one_label_each
        try:
            y = Labels.of_documents(label_sets, multilabel=several)
        except DataError:
            if len(label_sets) == self.seen.labeled:
                raise
            self.tell(f"All {len(label_sets):,} sampled documents have the same labels: nothing is tuned.")
            return None
        path = self.classifier.label_path
        return y if path is None else LabelTree.grow(y, path)[1]

    def _merge(self, counted: Counted, vectorizer: Any) -> Merged:
        self._look()
        with self._stage("merge"):
            return merge_runs(
                counted.runs, vectorizer, self.folder, memory=self.room, multilabel=self.multilabel
            )

    def _require_labeled(self) -> None:
        if self.seen.documents and not self.seen.labeled:
            raise DataError(
                f"None of the {self.seen.documents:,} documents has a label. Name the column with the labels."
            )

    def _look(self) -> None:
        """Note how large the temporary files are."""
        sizes = (path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        self.scratch_bytes = max(self.scratch_bytes, sum(sizes))

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def _watched(chunks: Iterable[Chunk], texts: Texts) -> Iterator[Chunk]:
    for chunk in chunks:
        texts.add(chunk)
        yield chunk
