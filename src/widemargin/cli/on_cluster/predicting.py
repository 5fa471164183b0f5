"""``widemargin predict MODEL DATA... -o DIR --cluster``: workers label shards, this process writes."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from widemargin._printable import printable_json
from widemargin.cli.on_cluster import cluster_of
from widemargin.cli.on_cluster.part_files import check_folder, written_once
from widemargin.cli.output import counted, note, print_json
from widemargin.cli.watching.watch import Watch, abstaining
from widemargin.documents.batches import Batch
from widemargin.documents.formats.columns import Columns
from widemargin.documents.formats.sniffing import EmptySourceError
from widemargin.documents.reader import DocumentReader, read_in_turn
from widemargin.errors import DataError, DataWarning, UsageError

if TYPE_CHECKING:
    from widemargin.classifier import Scorer
    from widemargin.cli.commands import Given
    from widemargin.cluster.shards import Shard, Shards
    from widemargin.cluster.tasks import Tasks

# Documents that are labeled at a time, as without a cluster.
BATCH = 2000


def check(given: Given) -> None:
    """Refuse what a cluster cannot do."""
    if given.output == "-" or Path(given.output).suffix.lower() in (".csv", ".tsv"):
        raise UsageError("--cluster writes a folder of .jsonl files. Name a new folder with --output.")
    for name in ("monitor", "vectors"):
        if getattr(given, name):
            raise UsageError(f"--{name} reads documents in one process. Omit it, or omit --cluster.")
    if given.safe_csv:
        raise UsageError("--safe-csv applies to tables only, and --cluster writes .jsonl files.")
    check_folder(Path(given.output))


@dataclass(frozen=True)
class Asked:
    """What every task is told: the rule to decide by, how to read, and what the rows contain."""

    rule: Any
    reading: dict[str, Any]
    rows: dict[str, Any]
    keep_text: bool
    abstain: Any
    model: str


@dataclass
class Labeled:
    """A shard, labeled: what is told of its reader, and its lines without ids, which need all shards.

    `numbered` says that ids are numbers of records, `watched` that repeated ids are told;
    `empty` is the error of a shard without documents, `told` are the warnings of reading it.
    """

    format: str = ""
    what: str = ""
    columns: Columns | None = None
    labeled: bool | None = None
    numbered: bool = False
    watched: bool = True
    blocks: list[tuple[list[str], list[str]]] = field(default_factory=list)
    undecided: Counter[str] = field(default_factory=Counter)
    told: list[str] = field(default_factory=list)
    empty: str | None = None


def run(given: Given, scorer: Scorer, reading: dict[str, Any]) -> None:
    """Label the documents; `scorer` decides by the thresholds or costs of the options."""
    from widemargin.cluster.shards import find_shards

    if scorer.takes_vectors:
        raise UsageError(f"{given.model} was trained on vectors. Omit --cluster.")
    start = time.perf_counter()
    target = Path(given.output)
    shards = find_shards(given.data, reading)
    watch = Watch(scorer, given)
    rows = {"every_score": given.scores, "proba": given.proba, "top": given.top}
    asked = Asked(scorer.rule, reading, rows, given.keep_text, given.abstain, str(given.model))
    model = Path(given.model).read_bytes()
    about = {"format": 1, "model": str(given.model), "model_sha256": hashlib.sha256(model).hexdigest()}
    with written_once(target, shards.names, about) as files, cluster_of(given) as tasks:
        found = _Found(tasks, shards, model, asked, str(given.data))
        note(found.reader.description, given.quiet)
        from widemargin.progress import track

        blocks = found.reader.blocks()
        written = 0
        for block in track(blocks, "Labeling", size=len, enabled=False if given.quiet else None):
            lines = map(_line, block.ids, block.texts)
            files.write(found.part, "".join(lines).encode(), len(block))
            written += len(block)
        watch.undecided.update(found.undecided)
    if watch.rejection is not None and not given.json:
        note(watch.in_words(written), given.quiet)
    seconds = time.perf_counter() - start
    if given.json:
        summary = {"output": given.output, "documents": written, "parts": len(shards.names)}
        print_json({**summary, "seconds": round(seconds, 4), **watch.to_dict()})
    else:
        files_written = counted(len(shards.names), "file")
        note(f"Labeled {counted(written, 'document')} in {seconds:.2f} s: {files_written}.", given.quiet)


def _line(identifier: str, rest: str) -> str:
    return f'{{"id": {printable_json(json.dumps(identifier, ensure_ascii=False))}, {rest}\n'


class _Found:
    """The labeled shards, as the reader of all sources would have read them; `part` is the current one."""

    def __init__(self, tasks: Tasks, shards: Shards, model: bytes, asked: Asked, name: str) -> None:
        self.part = 0
        self.undecided: Counter[str] = Counter()
        kept, how = tasks.keep(model), tasks.keep(asked)
        items = ((kept, how, shard, place == 0) for place, shard in enumerate(shards.shards))
        self._results = zip(shards.parts, tasks.map(label_shard, items), strict=True)
        self._next = next(self._results, None)
        names = shards.names
        openers = [partial(self._open, number, names[number]) for number in range(len(names))]
        if len(names) == 1:
            self.reader = openers[0]()
        else:
            self.reader = read_in_turn(name, names, openers, lambda: None, ignore_labels=True)

    def _open(self, number: int, name: str) -> DocumentReader:
        assert self._next is not None
        self.part, first = number, self._next[1]
        if first.empty is not None:
            self._next = next(self._results, None)
            raise EmptySourceError(first.empty)
        return DocumentReader(
            name,
            first.format,
            first.what,
            self._blocks(number),
            lambda: None,
            stream=not first.watched,
            columns=first.columns,
            labeled=first.labeled,
        )

    def _blocks(self, number: int) -> Iterator[Batch]:
        count = 0
        while self._next is not None and self._next[0] == number:
            found = self._next[1]
            for text in found.told:
                warnings.warn(text, DataWarning, stacklevel=2)
            self.undecided.update(found.undecided)
            before = count
            for ids, rests in found.blocks:
                if found.numbered and before:
                    ids = [str(int(identifier) + before) for identifier in ids]
                count += len(ids)
                yield Batch(ids, rests, [None] * len(ids))
            self._next = None  # before the next one is waited for
            self._next = next(self._results, None)


def label_shard(model: bytes, asked: Asked, shard: Shard, first: bool) -> Labeled:
    """Label the documents of one shard, in a worker; of the first shard, documents are checked too."""
    from widemargin.classifier.on_dask.kept_models import kept_scorer

    scorer = replace(kept_scorer(model), rule=asked.rule)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        try:
            with shard.exact_errors(asked.reading):
                found = _labeled(scorer, asked, shard, first)
        except EmptySourceError as error:
            found = Labeled(empty=str(error))
    found.told = [str(warning.message) for warning in caught if issubclass(warning.category, DataWarning)]
    return found


def _labeled(scorer: Scorer, asked: Asked, shard: Shard, first: bool) -> Labeled:
    from widemargin.classifier.checks.of_documents import FEWEST, check_documents
    from widemargin.report.predictions import prediction_rows

    given: Any = SimpleNamespace(
        monitor=None, abstain=asked.abstain, thresholds=None, costs=None, model=asked.model
    )
    watch = Watch(scorer, given)
    reader = shard.reader(asked.reading)
    if reader.format == "svmlight":
        raise DataError(f"{shard.name} holds vectors, but the model was trained on texts. Pass texts.")
    watched = reader.format not in ("lines", "text") and not shard.sources
    found = Labeled(reader.format, reader.what, reader.columns, reader.labeled, not reader.has_ids, watched)
    for batch in reader.batches(BATCH):
        if first and len(batch) >= FEWEST:
            check_documents(scorer, batch.texts, strict=False)
            first = False
        (scores, undecided), lengths = watch.scores(batch.texts), scorer.lengths(batch.texts)
        rows = prediction_rows(scorer.rule, scores, lengths, **asked.rows)
        if undecided is not None:
            rows = [abstaining(row, why) for row, why in zip(rows, undecided, strict=True)]
        if asked.keep_text:
            rows = [{"text": text, **row} for text, row in zip(batch.texts, rows, strict=True)]
        rests = [printable_json(json.dumps(row, ensure_ascii=False))[1:] for row in rows]
        found.blocks.append((batch.ids, rests))
    found.undecided = watch.undecided
    return found
