"""``widemargin split DATA --test 0.2 -o DIR``: documents to train on and documents to test on."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from widemargin.cli import options
from widemargin.cli.commands import Given, takes
from widemargin.cli.files import check_target, read_all
from widemargin.cli.inputs.sources import all_sources
from widemargin.cli.output import counted, print_json, say, show_table
from widemargin.errors import DataError, UsageError

if TYPE_CHECKING:
    from widemargin.documents.collection import Collection
    from widemargin.documents.splitting import Split

EXAMPLE = (
    "Example: widemargin split tickets.csv --text body --label team --test 0.2 --group customer -o parts"
)
# The most rows of the table.
LABELS_SHOWN = 20


@takes("split")
def run(given: Given) -> None:
    """Divide labeled documents into a training part and a test part.

    All parts have nearly the same shares of every label, also where documents have several labels. With
    --time, the latest documents are the test part. Near-duplicates and documents of one group stay in one
    part. Unlabeled documents go to the training part.

    Parts are written as JSON Lines: an id, the text (or every column of --text) and the labels, with the
    columns of --group and --time. The same seed gives the same parts.
    """
    given.data = all_sources(given)
    sizes: dict[str, Any] = {name: _size(getattr(given, name), f"--{name}") for name in ("dev", "test")}
    files = _files(given)
    for path in files.values():
        # A folder that is made later must have a parent.
        made = given.output is not None and not given.output.exists()
        check_target(path.parent if made else path, [given.data])
        if path.exists() and not given.force:
            raise UsageError(f"{path} exists. Name another file or folder, or pass --force to replace it.")
    from widemargin.documents.writing import check_columns, write_collection

    columns = given.text or []
    check_columns(columns)
    collection = read_all(given.data, given.quiet, {**options.reading(given), "group": given.group})
    from widemargin.documents.collection import Vectors
    from widemargin.documents.splitting import split

    if isinstance(collection, Vectors):
        raise DataError(f"{given.data} holds vectors, not texts. Split the documents they were made from.")
    try:
        found = split(
            collection,
            groups=None if given.group is None else collection.beside[given.group],
            near_duplicates=given.near_duplicates == "together",
            random_state=given.seed,
            n_jobs=given.threads,
            **sizes,
        )
    except DataError as error:
        raise DataError(f"{given.data}: {error}") from error
    if given.output is not None:
        given.output.mkdir(exist_ok=True)
    parts = {name: collection.subset(places) for name, places in found.parts.items()}
    for name, part in parts.items():
        write_collection(part, files[name], columns)
    counts = {name: part.label_counts() for name, part in parts.items()}
    if given.json:
        labels = {
            label: {name: counts[name].get(label, 0) for name in parts} for label in collection.label_counts()
        }
        print_json(
            {
                "data": given.data.to_json(),
                "files": {name: str(path) for name, path in files.items()},
                "documents": {name: len(part) for name, part in parts.items()},
                "labels": labels,
                "unlabeled": found.n_unlabeled,
                "near_duplicates": found.n_near,
                "grouped": found.n_grouped,
                "later": found.n_later,
                "seed": given.seed,
            }
        )
    elif not given.quiet:
        _show(parts, counts, found, files, columns)


def _size(text: str | None, option: str) -> float | None:
    """A fraction or a number of documents.

    Examples
    --------
    >>> _size("0.2", "--test"), _size("500", "--test"), _size(None, "--dev")
    (0.2, 500, None)
    """
    if text is None:
        return None
    try:
        size = int(text) if text.isdecimal() else float(text)
    except ValueError:
        size = 0
    if not (0 < size < 1 or (isinstance(size, int) and size > 1)):
        raise UsageError(
            f"{option} {text}: expected a fraction above 0 and below 1, such as 0.2, or a number of "
            f"documents of at least 2, such as 500."
        )
    return size


def _files(given: Given) -> dict[str, Path]:
    """The files to write, by part."""
    named = {"train": given.train, "dev": given.dev_file, "test": given.test_file}
    wanted = ["train", "test"] if given.dev is None else ["train", "dev", "test"]
    if given.dev is None and given.dev_file is not None:
        raise UsageError("--dev-file needs the size of that part: pass --dev 0.1.")
    if given.output is not None:
        if any(path is not None for path in named.values()):
            raise UsageError("Use either --output or --train, --test-file and --dev-file.")
        if given.output.exists() and not given.output.is_dir():
            raise UsageError(
                f"--output {given.output} is a file. Name a folder, or use --train and --test-file."
            )
        return {name: given.output / f"{name}.jsonl" for name in wanted}
    missing = [name for name in wanted if named[name] is None]
    if missing:
        flags = {"train": "--train FILE", "test": "--test-file FILE", "dev": "--dev-file FILE"}
        needed = " and ".join(flags[name] for name in missing)
        raise UsageError(f"There is no place to write to. Pass -o DIR, or {needed}.")
    paths = {name: Path(named[name]) for name in wanted}
    if len({path.resolve() for path in paths.values()}) < len(paths):
        raise UsageError("Two parts have the same file. Name one file for each.")
    return paths


def _show(
    parts: dict[str, Collection],
    counts: dict[str, dict[str, int]],
    found: Split,
    files: dict[str, Path],
    columns: list[str],
) -> None:
    from widemargin.report.tables import Column, Table

    total = sum(map(len, parts.values()))
    for name, part in parts.items():
        share = f"{100 * len(part) / total:.1f} %"
        say(f"Wrote {counted(len(part), 'document')} ({share}) to {files[name]}.")
    if found.n_unlabeled:
        say(f"{counted(found.n_unlabeled, 'unlabeled document')} went to the training part.")
    if found.n_near:
        say(f"{counted(found.n_near, 'document')} with near-duplicates: these stayed in one part.")
    labels = sorted({label for known in counts.values() for label in known})
    sums = {label: sum(known.get(label, 0) for known in counts.values()) for label in labels}
    shown = sorted(labels, key=lambda label: -sums[label])[:LABELS_SHOWN]
    rows: list[Sequence[Any]] = [
        [label, *(part.get(label, 0) for part in counts.values()), counts["test"].get(label, 0) / sums[label]]
        for label in shown
    ]
    if rows:
        heads = [Column("label"), *(Column(name, "count") for name in counts), Column("test %", "percent")]
        more = len(labels) - len(shown)
        notes = [f"{counted(more, 'label')} more; --json lists all."] if more else []
        say()
        show_table(Table("", heads, rows, notes=notes))
    text = " ".join(f"--text {shlex.quote(name)}" for name in columns) if len(columns) > 1 else ""
    train, test = (shlex.quote(str(files[name])) for name in ("train", "test"))
    say()
    say(f"Next: widemargin train {train} -o model.wm {text}".rstrip())
    say(f"Then: widemargin evaluate model.wm {test}")
