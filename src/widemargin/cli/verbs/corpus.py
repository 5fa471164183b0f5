"""``widemargin corpus``: the public collections, and their documents as JSONL."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from widemargin.cli import options
from widemargin.cli.output import counted, print_json, say, show_table

app = typer.Typer(
    help="The public collections of text classification: list, fetch, export.",
    no_args_is_help=True,
    epilog="Example: widemargin corpus list",
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name that `corpus list` shows.")]


@app.command("list", epilog="Example: widemargin corpus list --json")
def list_(json: options.Json = False, quiet: options.Quiet = False, debug: options.Debug = False) -> None:
    """List the collections and say which are on this machine."""
    from widemargin.documents.corpora import list_corpora

    corpora = list_corpora()
    if json:
        print_json([dataclasses.asdict(corpus) for corpus in corpora])
        return
    from widemargin.report.tables import Column, Table

    rows = [
        [
            corpus.name,
            corpus.kind,
            corpus.documents,
            corpus.classes,
            ", ".join(corpus.splits) or None,
            "yes" if corpus.available else "no",
            corpus.title,
        ]
        for corpus in corpora
    ]
    columns = [Column("name"), Column("holds"), Column("documents", "count"), Column("classes", "count")]
    columns += [Column("splits"), Column("here"), Column("what it is")]
    show_table(Table("", columns, list(rows)))


@app.command(epilog="Example: widemargin corpus fetch 20newsgroups")
def fetch(
    name: Name,
    archive: Annotated[
        Path | None,
        typer.Option(
            "--archive",
            metavar="FILE",
            help="The collection's official archive, if you have it already.",
            show_default="downloaded from the collection's home",
        ),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Download a collection from its home to the cache, or print how to get it."""
    from widemargin.documents.corpora import fetch_corpus

    paths = [str(path) for path in fetch_corpus(name, archive=archive)]
    if json:
        print_json({"name": name, "files": paths})
    else:
        say(f"{name} is in {' and '.join(paths)}.")


@app.command(epilog="Example: widemargin corpus export reuters21578 --split modapte -o reuters")
def export(
    name: Name,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write to.")],
    split: Annotated[
        str | None,
        typer.Option("--split", metavar="S", help="A split, or all.", show_default="the usual one"),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write the documents of a collection as canonical JSONL (vectors as SVM-light): train and test."""
    from widemargin.documents.corpora import DEFAULT, export_corpus

    paths = export_corpus(name, DEFAULT if split is None else split, output)
    documents = {str(path): _lines(path) for path in paths}
    if json:
        print_json({"name": name, "files": documents})
        return
    for path, count in documents.items():
        say(f"Wrote {counted(count, 'document')} to {path}.")


def _lines(path: Path) -> int:
    """One document a line, whatever the format."""
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
