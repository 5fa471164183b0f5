"""``widemargin papers``: published tables, computed again, with both figures side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from widemargin.cli import options
from widemargin.cli.files import check_target
from widemargin.cli.output import note, print_json, show_table

app = typer.Typer(
    help="Published tables, computed again: the figure of the paper beside ours.",
    no_args_is_help=True,
    epilog="Example: widemargin papers list",
)


@app.command("list", epilog="Example: widemargin papers list --json")
def list_(json: options.Json = False, quiet: options.Quiet = False, debug: options.Debug = False) -> None:
    """List the tables that can be computed again."""
    from widemargin.papers import list_papers
    from widemargin.report.tables import Column, Table

    papers = list_papers()
    if json:
        print_json([paper.to_dict() for paper in papers])
        return
    rows = [[paper.name, paper.title, ", ".join(paper.corpora)] for paper in papers]
    show_table(Table("", [Column("name"), Column("what it shows"), Column("needs")], list(rows)))


@app.command(epilog="Example: widemargin papers run joachims-6.7 --json")
def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name that `papers list` shows.")],
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw it too, as .png, .svg or .pdf (needs widemargin[plots])."),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Compute a table again and print published, ours and the difference for every cell."""
    from widemargin.documents.corpora import corpus_files
    from widemargin.papers import check_drawable, find_paper, run_paper
    from widemargin.report.plots import check_plot, save_plot

    if plot is not None:
        check_drawable(name)
        check_plot(plot)
        check_target(plot, corpus_files(*find_paper(name).corpora))
    result = run_paper(name, lambda stage: note(stage, quiet))
    if plot is not None:
        save_plot(result.panels, plot, result.title)
        note(f"Plot in {plot}", quiet)
    if json:
        print_json(result.to_dict())
    else:
        show_table(result.table())
