"""``widemargin diagnose DATA [TEST]``: what is hard, wrong or missing in labeled documents."""

from __future__ import annotations

from pathlib import Path

from widemargin.cli import options
from widemargin.cli.commands import Given, takes
from widemargin.cli.files import check_target, read_all
from widemargin.cli.inputs.sources import first_and_second
from widemargin.cli.output import note, print_json, say, seconds_in_words, show_table
from widemargin.errors import DataError, UsageError

EXAMPLE = "Example: widemargin diagnose train.jsonl test.jsonl --describe wheat"


@takes("diagnose")
def run(given: Given) -> None:
    """Find out what is hard, wrong or missing in labeled documents.

    For every label: how good a linear SVM is on held-out documents, which words mark it, how far it is
    separated, and how many more documents an F1 of 0.9 needs. For the collection: copies, labels that
    contradict each other or look wrong, terms that give a label away, documents in other languages, labels to
    merge; with TEST, copies of training documents in it, and drift. First of all, what to do next.
    """
    if not 0 < given.target < 1:
        raise UsageError(f"--target {given.target:g}: expected an F1 between 0 and 1, such as 0.9.")
    given.data, given.test = first_and_second(given, "data", "test")
    if given.plot is not None:
        from widemargin.report.plots import check_plot

        check_target(given.plot, [given.data, given.test])
        check_plot(given.plot)
    if given.html is not None:
        from widemargin.report.html.charts import check_charts

        check_target(given.html, [given.data, given.test])
        check_charts()
    from widemargin.documents.collection import Collection, Vectors

    collection = read_all(given.data, given.quiet, options.reading(given))
    test = None if given.test is None else read_all(given.test, given.quiet, options.reading(given))
    for source, part in ((given.data, collection), (given.test, test)):
        if isinstance(part, Vectors):
            raise DataError(f"{source} holds vectors, not texts. Pass the documents they were made from.")
        if part is not None and not len(part):
            raise DataError(f"{source} has no documents.")
    # Only now, so that a mistake in the data is told at once.
    from widemargin.diagnose.diagnosing import diagnose
    from widemargin.diagnose.in_words import sections
    from widemargin.labels import Labels

    try:
        labels = Labels.of_documents(collection.labels, multilabel=given.multilabel)
        found = diagnose(
            collection,
            labels,
            test=test,
            target=given.target,
            n_jobs=given.threads,
            random_state=given.seed,
            verbose=not given.quiet,
        )
    except DataError as error:
        raise DataError(f"{given.data}: {error}") from error
    shown = list(sections(found, labels=given.top, described=given.describe))
    if given.plot is not None:
        from widemargin.diagnose.plotting import panels
        from widemargin.report.plots import save_plot

        save_plot(panels(found), given.plot)
    if given.html is not None:
        from widemargin.diagnose.page import page

        source = "standard input" if given.data == "-" else Path(str(given.data)).name
        texts = (
            {document.id: document.text for document in collection}
            if isinstance(collection, Collection)
            else {}
        )
        page(found, source, texts).save(given.html)
        note(f"Wrote {given.html}.", given.quiet)
    if given.json:
        print_json(
            {
                "data": str(given.data),
                "test": None if given.test is None else str(given.test),
                **found.to_dict(),
            }
        )
        return
    for number, section in enumerate(shown):
        if number:
            say()
        if section.lines:
            say(*section.lines)
        if section.table is not None:
            show_table(section.table)
    note(f"Seconds: {seconds_in_words(found.seconds)}.", given.quiet)
