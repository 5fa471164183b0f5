"""``widemargin identify MODEL DATA``: the language or author of lines, documents or parts of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from widemargin.cli import options
from widemargin.cli.commands import Given, takes
from widemargin.cli.files import check_target, columns_of_model
from widemargin.cli.inputs.sources import all_sources
from widemargin.cli.output import counted, note, print_json
from widemargin.cli.verbs.predict import BATCH, Row, load_scorer, writer_for
from widemargin.cli.watching.next_steps import next_step, quoted
from widemargin.errors import DataError, UsageError

if TYPE_CHECKING:
    from widemargin.classifier import Scorer
    from widemargin.classifier.identification import Identified

EXAMPLE = "Example: widemargin identify langs.wm lines.txt (a model of train langs.jsonl --learner profiles)"


@takes("identify")
def run(given: Given) -> None:
    """Tell the language or the author of short strings, with a calibrated certainty.

    The model chooses one label and is calibrated: `train --learner profiles` is both. Every line of plain
    text is answered as it arrives: {"id": line number, "labels": [...], "certainty": ..., "runner_up": ...}.
    Of the answers with a certainty of 0.9, about 90 % are right. --segments cuts texts of several languages.
    """
    from widemargin.classifier.identification import SWITCH_COST, check_identifies

    output = given.output
    write = writer_for(output, safe_csv=given.safe_csv)
    if given.per_line and given.per_document:
        raise UsageError("Use either --per-line or --per-document.")
    if given.switch_cost is not None and not given.segments:
        raise UsageError("--switch-cost needs --segments.")
    given.data = all_sources(given)
    check_target(output, [given.model, given.data])
    reading = _reading(given)
    scorer = load_scorer(given.model, given.threads)
    check_identifies(scorer, str(given.model))
    reading = columns_of_model(scorer, reading, given.model)
    switch_cost = None
    if given.segments:
        switch_cost = SWITCH_COST if given.switch_cost is None else given.switch_cost
    start = time.perf_counter()
    written = write(_rows(scorer, given, reading, switch_cost))
    if output == "-":
        return
    seconds = time.perf_counter() - start
    if given.json:
        print_json({"output": output, "rows": written, "seconds": round(seconds, 4)})
    else:
        note(f"Wrote {counted(written, 'row')} in {seconds:.2f} s.", given.quiet)
        step = f"widemargin identify {quoted(given.model)} DATA --segments divides texts of several languages"
        next_step(given, step, output)


def _reading(given: Given) -> dict[str, Any]:
    """How to read DATA: plain text, unless its name or --format says otherwise."""
    from widemargin.documents.sources.finding import known_format

    reading = {**options.reading(given), "ignore_labels": True}
    found = reading["format"] or known_format(given.data)
    if found == "svmlight":
        raise DataError(f"{given.data} holds vectors, not texts. Pass texts.")
    if found in (None, "lines", "text"):
        whole = given.per_document or (given.segments and not given.per_line) or found == "text"
        found = "text" if whole else "lines"
    elif given.per_line or given.per_document:
        raise UsageError("--per-line and --per-document are for plain text, but every record is a document.")
    else:
        return reading  # each file is guessed for itself
    return {**reading, "format": found}


def _rows(
    scorer: Scorer, given: Given, reading: dict[str, Any], switch_cost: float | None
) -> Iterator[list[Row]]:
    """A row per document, or per segment of one, a piece of the input at a time."""
    from widemargin.classifier.identification import identify, segments
    from widemargin.documents.reading import read_documents

    reader = read_documents(given.data, **reading)
    note(reader.description, given.quiet)
    for batch in reader.batches(BATCH):
        rows: list[Row] = []
        if switch_cost is None:
            found = identify(scorer, batch.texts)
            for identifier, text, each in zip(batch.ids, batch.texts, found, strict=True):
                rows.append(_row(identifier, text if given.keep_text else None, {}, each))
        else:
            for identifier, text in zip(batch.ids, batch.texts, strict=True):
                for start, end, each in segments(scorer, text, switch_cost):
                    kept = text[start:end] if given.keep_text else None
                    rows.append(_row(identifier, kept, {"start": start, "end": end}, each))
        yield rows


def _row(identifier: str, text: str | None, place: dict[str, int], found: Identified) -> Row:
    row: Row = {"id": identifier}
    if text is not None:
        row["text"] = text
    row["labels"] = [found.label]
    return {**row, **place, "certainty": round(found.certainty, 6), "runner_up": found.runner_up}
