"""``widemargin papers``: published tables, computed again, with both figures side by side."""

from __future__ import annotations

import typer

from widemargin.cli.commands import Command, Given, takes
from widemargin.cli.files import check_target
from widemargin.cli.output import note, print_json, show_table

app = typer.Typer(
    help="Reproduce published tables: the figures of the paper beside ours.",
    no_args_is_help=True,
    epilog="Example: widemargin papers list",
)


@app.command("list", cls=Command, epilog="Example: widemargin papers list --json")
@takes("papers-list")
def list_(given: Given) -> None:
    """List the tables that can be reproduced."""
    from widemargin.papers import list_papers
    from widemargin.report.tables import Column, Table

    papers = list_papers()
    if given.json:
        print_json([paper.to_dict() for paper in papers])
        return
    rows = [[paper.name, paper.title, ", ".join(paper.corpora)] for paper in papers]
    show_table(Table("", [Column("name"), Column("description"), Column("needs")], list(rows)))


@app.command(cls=Command, epilog="Example: widemargin papers run joachims-6.7 --json")
@takes("papers-run")
def run(given: Given) -> None:
    """Reproduce a table and print published, ours and the difference for every cell."""
    from widemargin.documents.corpora import corpus_files
    from widemargin.papers import check_drawable, find_paper, run_paper
    from widemargin.report.plots import check_plot, save_plot

    if given.plot is not None:
        check_drawable(given.name)
        check_plot(given.plot)
        check_target(given.plot, corpus_files(*find_paper(given.name).corpora))
    result = run_paper(given.name, lambda stage: note(stage, given.quiet))
    if given.plot is not None:
        save_plot(result.panels, given.plot, result.title)
        note(f"Plot in {given.plot}", given.quiet)
    if given.json:
        print_json(result.to_dict())
    else:
        show_table(result.table())
