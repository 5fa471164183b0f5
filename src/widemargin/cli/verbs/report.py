"""``widemargin report MODEL [TEST]``: a page about a model, for a browser."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from widemargin.cli import options
from widemargin.cli.commands import Given, takes
from widemargin.cli.files import check_target, columns_of_model, read_all
from widemargin.cli.output import bytes_in_words, note, print_json
from widemargin.cli.verbs.predict import check_form, load_scorer
from widemargin.documents.sources.parts import SqlQuery
from widemargin.documents.sources.urls import Url, as_source
from widemargin.errors import UsageError

EXAMPLE = "Example: widemargin report tickets.wm held-out.csv --train tickets.csv -o report.html"


@takes("report")
def run(given: Given) -> None:
    """Write a page about a model that shows how good it is, where it errs and what to do about it.

    One HTML file for a browser, which needs no network: figures of every category with their intervals,
    precision and recall at all thresholds and a form that chooses one, confusions with the documents behind
    them, explained documents, calibration, the learning curve, the terms of categories, labels that look
    wrong, copies across training and test documents, and the model card. Without TEST, it shows what training
    estimated. `report A.wm B.wm TEST` compares two models and tests whether they differ.
    """
    if Path(given.output).suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"--output {given.output}: a report is a page. Name a file that ends in .html.")
    others: list[Any] = list(map(as_source, given.test or ()))
    given.train = None if given.train is None else as_source(given.train)
    if given.sql is not None:
        others.append(SqlQuery(*given.sql))
    if len(others) > 2:
        raise UsageError("Expected MODEL, [ANOTHER MODEL] and [TEST]; there are more arguments.")
    second = others[0] if len(others) == 2 else None
    test = others[-1] if others else None  # a name, or a query
    if test == "-" == given.train:
        raise UsageError("TEST and --train cannot both be -. Give one of them as a file.")
    check_target(given.output, [given.model, second, test, given.train])
    from widemargin.model_report.reporting import report
    from widemargin.report.html.charts import check_charts

    check_charts()
    start = time.perf_counter()
    scorer = load_scorer(given.model, given.threads)
    if second is None and test is not None and _is_model(test):
        raise UsageError(f"{test} is a model. To compare two models, add documents to test them on.")
    reading = columns_of_model(scorer, options.reading(given), given.model)
    documents, training = _read(test, given, reading, scorer), _read(given.train, given, reading, scorer)
    page = report(
        given.model,
        documents,
        other=second,
        train=training,
        source=_name(test),
        random_state=given.seed,
        n_jobs=given.threads,
    )
    size = page.save(given.output)
    seconds = time.perf_counter() - start
    if given.json:
        found: dict[str, Any] = {"output": str(given.output), "bytes": size, "seconds": round(seconds, 4)}
        print_json({"model": str(given.model), "test": None if test is None else str(test), **found})
    else:
        note(f"Wrote {given.output} ({bytes_in_words(size)}) in {seconds:.1f} s.", given.quiet)


def _name(source: Any) -> str:
    """What the page calls the test documents."""
    if source is None or source == "-":
        return "" if source is None else "standard input"
    return (
        source.name
        if isinstance(source, Url)
        else Path(source).name
        if isinstance(source, str)
        else str(source)
    )


def _read(source: Any, given: Given, reading: dict[str, Any], scorer: Any) -> Any:
    if source is None:
        return None
    from widemargin.documents.collection import Vectors

    found = read_all(source, given.quiet, dict(reading))
    check_form(scorer, source, vectors=isinstance(found, Vectors))
    return found


def _is_model(source: Any) -> bool:
    from widemargin.models import looks_like_model

    return isinstance(source, str) and source != "-" and looks_like_model(source)
