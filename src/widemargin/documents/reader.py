"""The documents of one source, or of several in turn, to be read once."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from types import TracebackType
from typing import TYPE_CHECKING, Any

from widemargin.documents.batches import BATCH, Batch, joined
from widemargin.documents.formats.columns import Columns
from widemargin.documents.formats.sniffing import EmptySourceError, Format
from widemargin.documents.record import Document
from widemargin.documents.wording import counted
from widemargin.errors import DataWarning, UsageError

if TYPE_CHECKING:
    from widemargin.documents.sources.seen_ids import SeenIds

EXPECTED: dict[str, str] = {
    "jsonl": 'Expected lines such as {"text": "...", "labels": ["..."]}.',
    "json": 'Expected a list such as [{"text": "...", "labels": ["..."]}].',
    "csv": "Expected records after the header, one for each document.",
    "tsv": "Expected records after the header, one for each document.",
    "parquet": "Expected one row for each document.",
    "excel": "Expected a header, then one row for each document.",
    "dataset": "Expected one row for each document.",
    "sql": "Expected a query that returns one row for each document.",
    "folder": "Expected a folder for each class, with one file for each document.",
    "svmlight": "Expected lines such as `1 3:0.5 7:1.2`.",
    "fasttext": "Expected lines such as `__label__spam Win a prize`.",
    "lines": "Expected a document per line.",
    "text": "Expected text.",
}


class DocumentReader:
    """The documents of one source, to be read once: one at a time, or in `batches`.

    `description` tells which columns are read, `columns` are these columns, None if there are none.
    `reading` is what a later command needs to read other documents in the same way.
    """

    def __init__(
        self,
        name: str,
        format: Format | str,
        description: str,
        blocks: Iterable[Batch],
        close: Callable[[], None],
        *,
        ready: Callable[[], bool] = lambda: False,
        stream: bool = False,
        columns: Columns | None = None,
        labeled: bool | None = None,
        reading: dict[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.format = format
        self.what = description
        self.description = f"{name}: {description}."
        self.columns = columns
        self.labeled = labeled if columns is None or labeled else columns.label is not None
        self.reading = reading or {}
        self._blocks: Iterable[Batch] | None = blocks
        self._close = close
        self.ready = ready
        self._stream = stream

    def __iter__(self) -> Iterator[Document]:
        return itertools.chain.from_iterable(self.blocks())

    def batches(self, size: int = BATCH) -> Iterator[Batch]:
        """The documents that have arrived together, at most `size` at a time."""
        return joined(self.blocks(), self.ready, size)

    @property
    def has_ids(self) -> bool:
        """Whether ids are more than numbers of records."""
        return self.format == "folder" or (self.columns is not None and self.columns.id is not None)

    def blocks(self) -> Iterator[Batch]:
        """The documents as they are read."""
        if self._blocks is None:
            raise UsageError(
                f"{self.name} has already been read. Call read_documents again to read it twice."
            )
        blocks, self._blocks = self._blocks, None
        return iter(blocks) if self._stream else self._watched(blocks)

    def _watched(self, blocks: Iterable[Batch]) -> Iterator[Batch]:
        """Yields documents; reports an empty source and duplicate ids."""
        seen = _seen_ids()
        count, repeated, example = 0, 0, ""
        with contextlib.closing(self):
            for block in blocks:
                count += len(block)
                again = seen.add(block.ids)
                if again.any():
                    repeated += int(again.sum())
                    example = example or block.ids[int(again.argmax())]
                yield block
        if not count:
            raise EmptySourceError(f"{self.name}: has no documents. {EXPECTED[self.format]}")
        if repeated:
            warnings.warn(
                f"{self.name}: {counted(repeated, 'document')} with the id of an earlier one (first "
                f"{example[:40]!r}). All are kept. If this column does not contain ids, choose another "
                f"with --id.",
                DataWarning,
                stacklevel=2,
            )

    def close(self) -> None:
        """Close the file; reading all documents also closes it."""
        self._close()

    def when_closed(self, also: Callable[[], None]) -> None:
        """Call `also` after the source is closed."""
        close = self._close

        def close_both() -> None:
            close()
            also()

        self._close = close_both

    def changed(self, change: Callable[[Iterable[Batch]], Iterable[Batch]], what: str) -> DocumentReader:
        """This reader with documents that `change` returns, and another description."""
        assert self._blocks is not None
        self._blocks, self.what = change(self._blocks), what
        self.description = f"{self.name}: {what}."
        return self

    def __enter__(self) -> DocumentReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_in_turn(
    name: str,
    names: Sequence[str],
    openers: Iterable[Callable[[], DocumentReader]],
    close: Callable[[], None],
    *,
    ignore_labels: bool,
) -> DocumentReader:
    """A reader of several sources, opened one after the other; `names` are theirs.

    Every source is guessed for itself. Warnings tell where the sources disagree, which are empty, and which
    ids were prefixed with the name of their source, since an earlier one has them too.
    """
    several = _Several(name, names, openers, ignore_labels)
    first = several.first

    def close_all() -> None:
        several.close()
        close()

    what = f"{len(names)} files; {first.what}"
    return DocumentReader(
        name,
        first.format,
        what if first.has_ids else f"{what}; ids of later files begin with the file's name",
        several,
        close_all,
        ready=several.ready,
        stream=True,
        columns=first.columns,
        labeled=first.labeled,
        reading=first.reading,
    )


class _Several:
    """The blocks of several readers in turn."""

    def __init__(
        self,
        name: str,
        names: Sequence[str],
        openers: Iterable[Callable[[], DocumentReader]],
        ignore_labels: bool,
    ) -> None:
        self._name, self._openers = name, iter(openers)
        self._prefixes = iter(_short(names))
        self._ignore_labels = ignore_labels
        self._seen = _seen_ids()
        self._numbered = False  # whether the ids of an earlier source are numbers of records
        self._changed: list[str] = []
        opened = self._open_next()
        if opened is None:
            raise EmptySourceError(f"{name}: have no documents. Name files with documents.")
        self._prefix, self.first = opened
        self._current: DocumentReader = self.first

    def __iter__(self) -> Iterator[Batch]:
        count = 0
        opened: tuple[str, DocumentReader] | None = (self._prefix, self.first)
        while opened is not None:
            prefix, self._current = opened
            self._compare(self._current)
            own = _seen_ids()
            changed = 0
            try:
                for block in self._current.blocks():
                    changed += self._make_unique(block, prefix, own)
                    count += len(block)
                    yield block
            except EmptySourceError as error:
                self._skip(error)
            self._seen.merge(own)
            if changed:
                self._changed.append(f"{prefix} ({changed:,})")
            self._numbered |= not self._current.has_ids
            opened = self._open_next()
        if not count:
            raise EmptySourceError(f"{self._name}: have no documents. Name files with documents.")
        self._warn_of_ids()

    def ready(self) -> bool:
        return self._current.ready()

    def close(self) -> None:
        self._current.close()

    def _open_next(self) -> tuple[str, DocumentReader] | None:
        """The next source that is not empty, and the prefix of its ids."""
        for prefix, opener in zip(self._prefixes, self._openers, strict=False):
            try:
                return prefix, opener()
            except EmptySourceError as error:
                self._skip(error)
        return None

    def _skip(self, error: EmptySourceError) -> None:
        warnings.warn(f"{error} The other files are read.", DataWarning, stacklevel=2)

    def _make_unique(self, block: Batch, prefix: str, own: SeenIds) -> int:
        """Prefix the ids that an earlier source has; returns how many."""
        if self._numbered and not self._current.has_ids:
            # Some numbers may not occur before, but then all of them are prefixed.
            block.ids = [f"{prefix}:{identifier}" for identifier in block.ids]
            return 0
        own.add(block.ids)
        changed = self._seen.has(block.ids).nonzero()[0].tolist()
        for place in changed:
            block.ids[place] = f"{prefix}:{block.ids[place]}"
        return len(changed)

    def _compare(self, reader: DocumentReader) -> None:
        """Warn if a source is read from other columns than the first one, or differs in having labels."""
        first = self.first
        if reader is first:
            return
        if reader.columns is not None and first.columns is not None:
            here, there = (
                " and ".join(map(_quoted, one.columns.texts)) for one in (reader, first) if one.columns
            )
            if here != there:
                warnings.warn(
                    f"{reader.name}: the text is read from {here}, but that of {first.name} from {there}. If "
                    f"this is wrong, choose with --text.",
                    DataWarning,
                    stacklevel=2,
                )
        if bool(reader.labeled) != bool(first.labeled) and not self._ignore_labels:
            with_labels, without = (first, reader) if first.labeled else (reader, first)
            warnings.warn(
                f"{without.name}: has no labels, but {with_labels.name} has. Its documents count as "
                f"unlabeled; if they have labels, choose their column with --label.",
                DataWarning,
                stacklevel=2,
            )

    def _warn_of_ids(self) -> None:
        if self._changed:
            warnings.warn(
                f"{self._name}: some ids occur in several files; those of {', '.join(self._changed[:5])} now "
                f"begin with the name of their file.",
                DataWarning,
                stacklevel=2,
            )


def _seen_ids() -> SeenIds:
    # With NumPy, which importing the readers does not need.
    from widemargin.documents.sources.seen_ids import SeenIds

    return SeenIds()


def _quoted(name: str) -> str:
    return f'"{name}"'


def _short(names: Sequence[str]) -> list[str]:
    """Names without their folders if they still differ.

    >>> _short(["data/a.csv", "data/b.csv"]), _short(["x/a.csv", "y/a.csv"])
    (['a.csv', 'b.csv'], ['x/a.csv', 'y/a.csv'])
    """
    short = [PurePath(name).name for name in names]
    return short if len(set(short)) == len(short) else list(names)
