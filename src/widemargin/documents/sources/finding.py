"""What arguments name: files, globs, URLs, folders, archives, saved datasets, queries; each in its parts."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from widemargin.documents.formats.columns import Options
from widemargin.documents.formats.sniffing import checked_format, format_by_ending
from widemargin.documents.sources.archive_names import archive_kind, archive_kind_of_file
from widemargin.documents.sources.files import STDIN, File, named
from widemargin.documents.sources.folders import Folder, Tree
from widemargin.documents.sources.parts import FileDocuments, Part, SavedDataset, SqlQuery
from widemargin.documents.sources.urls import Url, as_source
from widemargin.documents.wording import counted
from widemargin.errors import DataError, MissingFileError, UsageError

Source = str | Path | Url | SqlQuery


@dataclass
class Found:
    """The parts of some sources in their order, and the archives that have to be closed."""

    parts: list[Part] = field(default_factory=list)
    trees: list[Tree] = field(default_factory=list)

    def close(self) -> None:
        for tree in self.trees:
            tree.close()


def find_parts(sources: Source | Sequence[Source], options: Options) -> Found:
    """Everything that `sources` name, to be read in this order."""
    given = list_sources(sources)
    chosen = checked_format(options.format)
    found = Found()
    try:
        for source in given:
            if isinstance(source, SqlQuery):
                found.parts.append(source)
            else:
                for path in expanded(source):
                    _add(found, path, chosen, options)
        _check(found.parts, given, options)
        found.parts[:] = [_labeled(part, options) for part in found.parts]
    except BaseException:
        found.close()
        raise
    return found


def list_sources(sources: Source | Sequence[Source]) -> list[Source]:
    """The sources as a list; standard input can be read once."""
    given = _as_list(sources)
    if not given:
        raise UsageError("No documents are given. Name a file, or - for standard input.")
    if given.count(STDIN) > 1:
        raise UsageError("- is given twice, but standard input can be read once. Name files instead.")
    return given


def _as_list(sources: Source | Sequence[Source]) -> list[Source]:
    several = [sources] if isinstance(sources, Source) else sources
    return [source if isinstance(source, SqlQuery) else as_source(source) for source in several]


def name_of(sources: Source | Sequence[Source]) -> str:
    """What to call the sources in messages.

    >>> name_of("a.csv"), name_of(["a.csv", "b.csv", "c.csv"])
    ('a.csv', 'a.csv and 2 more')
    """
    given = _as_list(sources)
    return str(given[0]) + (f" and {len(given) - 1} more" if len(given) > 1 else "")


def files_on_disk(sources: Iterable[Source]) -> Iterator[Path | str]:
    """Every file on disk that is read from `sources`, "-" for standard input; archives count as one file."""
    for source in _as_list(list(sources)):
        if isinstance(source, Url):
            continue
        if isinstance(source, SqlQuery):
            if source.database is not None:
                yield source.database
            continue
        if source == STDIN or Path(source).is_file() or not glob.has_magic(str(source)):
            paths = [source]
        else:
            paths = list(glob.glob(str(source), recursive=True))
        for path in paths:
            if path != STDIN and Path(path).is_dir():
                yield from (file.on_disk for file in Folder(Path(path)).files() if file.on_disk is not None)
            else:
                yield path


def bytes_of(sources: Iterable[Source]) -> int | None:
    """The total size of all files that are read from `sources`, as they are stored; None if it is unknown."""
    given = _as_list(list(sources))
    total = 0
    for source in given:
        if source == STDIN or isinstance(source, SqlQuery):
            return None
        if isinstance(source, Url):
            from widemargin.documents.sources.remote import size_of

            size = size_of(source)
            if size is None:
                return None
            total += size
        else:
            total += sum(Path(file).stat().st_size for file in files_on_disk(expanded(source)))
    return total


def expanded(source: str | Path | Url) -> list[str | Path | Url]:
    """A path or address, or what a pattern matches, sorted."""
    if isinstance(source, Url):
        from widemargin.documents.sources import remote

        return list(remote.expanded(source))
    if source == STDIN or Path(source).exists():
        return [source]
    if not glob.has_magic(str(source)):
        raise MissingFileError(f"{source}: no such file or folder. Check the path.")
    matches = sorted(glob.glob(str(source), recursive=True))
    # ** matches folders as well as the files in them.
    files = [match for match in matches if Path(match).is_file()] or matches
    if not files:
        raise MissingFileError(f"{source}: no file matches this pattern. Check the path.")
    return list(files)


def _add_elsewhere(found: Found, url: Url, chosen: str | None, options: Options) -> None:
    """Add the parts of one address."""
    from widemargin.documents.sources.remote import RemoteFolder, file_at, is_folder

    if is_folder(url):
        found.parts += _parts_of_tree(found, RemoteFolder(url), chosen, options, archive=True)
        return
    if chosen == "folder":
        raise DataError(f"{url}: not a folder. Omit --format folder to read a file.")
    if archive_kind(str(url)) is not None:
        raise DataError(f"{url}: an archive is read from disk only. Download it and name the copy.")
    found.parts.append(file_at(url))


def _add(found: Found, source: str | Path | Url, chosen: str | None, options: Options) -> None:
    """Add the parts of one path or address."""
    if isinstance(source, Url):
        _add_elsewhere(found, source, chosen, options)
        return
    path = Path(source)
    if source == STDIN:
        if chosen == "folder":
            raise DataError(f"{source}: not a folder. Omit --format folder to read a file.")
        found.parts.append(named(source))
        return
    if path.is_dir():
        found.parts += _parts_of_tree(found, Folder(path), chosen, options, archive=False)
        return
    if (
        chosen == "excel"
        or format_by_ending(str(source)) in ("excel", "parquet")
        or (kind := archive_kind_of_file(path)) is None
    ):
        if chosen == "folder":
            raise DataError(f"{source}: not a folder. Omit --format folder to read a file.")
        found.parts.append(named(source))
        return
    from widemargin.documents.sources.archives import ZipTree, open_archive

    archive = open_archive(path, kind)
    found.trees.append(archive)
    if isinstance(archive, ZipTree) and archive.is_model:
        raise DataError(f"{source}: is a model file, not documents. Name the documents.")
    if isinstance(archive, ZipTree) and archive.is_workbook:
        found.parts.append(replace(named(source), format="excel"))
        return
    found.parts += _parts_of_tree(found, archive, chosen, options, archive=True)


def _parts_of_tree(
    found: Found, tree: Tree, chosen: str | None, options: Options, *, archive: bool
) -> list[Part]:
    """The parts of a folder or archive: data files, or the documents that its files are."""
    from widemargin.documents.formats.tables.saved_dataset import find_saved_dataset, is_saved_dataset

    files = tree.files()
    name = tree.name
    if not files:
        expected = "Expected a folder for each class with one file per document, or files such as .csv."
        raise DataError(f"{name}: is empty. {expected}")
    if chosen is None and is_saved_dataset(files):
        return [find_saved_dataset(name, files, options.split)]
    if options.label_from == "name" and chosen in ("folder", "text"):
        raise UsageError(f"--label-from name is for files of many documents. Omit --format {chosen}.")
    if chosen in ("folder", "text"):
        return [FileDocuments(name, tuple(files), archive)]
    if chosen is not None or "name" in (options.label_from, options.remembered.get("label_from")):
        return list(files)
    data = [file for file in files if format_by_ending(file.path) is not None]
    if not archive:
        packed = [file for file in files if archive_kind(file.path) is not None]
        if packed and len(packed) + len(data) == len(files):
            parts: list[Part] = []
            for file in files:
                if file in packed:
                    inner = Found()
                    _add(inner, file.name, chosen, options)
                    parts += inner.parts
                    found.trees += inner.trees
                else:
                    parts.append(file)
            return parts
    if len(data) == len(files):
        return list(files)
    flat = all("/" not in file.path for file in files)
    if data and flat:
        other = next(file.path for file in files if file not in data)
        raise DataError(
            f"{name}: has {counted(len(data), 'data file')} ({data[0].path}) and "
            f"{counted(len(files) - len(data), 'other file')} ({other}). Name the files to read, such as "
            f"'{name}/*{Path(data[0].path).suffix}', or pass --format folder if every file is a document."
        )
    return [FileDocuments(name, tuple(files), archive)]


def _check(parts: Sequence[Part], given: Sequence[Source], options: Options) -> None:
    """Refuse options that apply to none of the parts."""
    first = name_of(given)
    if options.split is not None and not any(isinstance(part, SavedDataset) for part in parts):
        raise UsageError(f"--split {options.split}: {first} is not a saved dataset. Omit --split.")
    files = [part for part in parts if isinstance(part, File)]
    if options.sheet is not None and not any(_is_excel(part, options) for part in files):
        raise UsageError(f"--sheet {options.sheet}: {first} is not an Excel workbook. Omit --sheet.")


def _is_excel(part: File, options: Options) -> bool:
    return "excel" in (part.format, options.format, format_by_ending(part.path))


def _labeled(part: Part, options: Options) -> Part:
    """A part whose documents all have one label, if the name or folder of its file is to be the label."""
    how = options.label_from
    if how is None and isinstance(part, File) and part.name != STDIN and format_by_ending(part.path) is None:
        how = options.remembered.get("label_from")
    if how is None and isinstance(part, File) and options.format == "lines" and part.name != part.path:
        return replace(part, label=part.folder or None)  # in a class folder
    if how is None or isinstance(part, FileDocuments):
        return part
    if not isinstance(part, File) or part.name == STDIN:
        what = "standard input" if isinstance(part, File) else part
        raise UsageError(f"--label-from {how}: {what} is not a file. Name files, or use --label.")
    label = part.stem if how == "name" else part.folder
    if not label:
        raise UsageError(f"--label-from folder: {part.name} is not in a folder of its class.")
    return replace(part, label=label)


def known_format(sources: Sequence[Source]) -> str | None:
    """The format that the first source has, whatever its first bytes are; None if they would tell."""
    first = sources[0]
    if isinstance(first, SqlQuery):
        return "sql"
    if not isinstance(first, Url):
        first = as_source(first)
    if first == STDIN:
        return None
    if isinstance(first, Url):
        return "folder" if str(first).endswith("/") else format_by_ending(str(first))
    path = Path(first)
    if path.is_dir() or (path.is_file() and archive_kind_of_file(path) is not None):
        return "folder"
    return format_by_ending(str(first))
