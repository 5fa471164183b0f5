"""``widemargin corpus``: the public collections, and their documents as JSONL."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import typer

from widemargin.cli.commands import Command, Given, takes
from widemargin.cli.output import counted, print_json, say, show_table
from widemargin.cli.watching.next_steps import next_step, quoted

app = typer.Typer(
    help="The public collections of text classification: list, fetch, export.",
    no_args_is_help=True,
    epilog="Example: widemargin corpus list",
)


@app.command("list", cls=Command, epilog="Example: widemargin corpus list --json")
@takes("corpus-list")
def list_(given: Given) -> None:
    """List the collections and show which are available on this machine."""
    from widemargin.documents.corpora import list_corpora

    corpora = list_corpora()
    if given.json:
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
    columns = [Column("name"), Column("kind"), Column("documents", "count"), Column("classes", "count")]
    columns += [Column("splits"), Column("available"), Column("description")]
    show_table(Table("", columns, list(rows)))


@app.command(cls=Command, epilog="Example: widemargin corpus fetch 20newsgroups")
@takes("corpus-fetch")
def fetch(given: Given) -> None:
    """Download a collection from its home to the cache, or print how to get it."""
    from widemargin.documents.corpora import fetch_corpus

    paths = [str(path) for path in fetch_corpus(given.name, archive=given.archive)]
    if given.json:
        print_json({"name": given.name, "files": paths})
    else:
        say(f"{given.name} is in {' and '.join(paths)}.")
        next_step(given, f"widemargin corpus export {quoted(given.name)} -o {quoted(given.name)}")


@app.command(cls=Command, epilog="Example: widemargin corpus export reuters21578 --split modapte -o reuters")
@takes("corpus-export")
def export(given: Given) -> None:
    """Write the documents of a collection as canonical JSONL (vectors as SVM-light): train and test."""
    from widemargin.documents.corpora import DEFAULT, export_corpus

    paths = export_corpus(given.name, given.split or DEFAULT, given.output)
    documents = {str(path): _lines(path) for path in paths}
    if given.json:
        print_json({"name": given.name, "files": documents})
        return
    for path, count in documents.items():
        say(f"Wrote {counted(count, 'document')} to {path}.")
    first = next(iter(documents))
    next_step(given, f"widemargin train {quoted(first)} -o {quoted(given.name)}.wm")


def _lines(path: Path) -> int:
    """One document a line, whatever the format."""
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
