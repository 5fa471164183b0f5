"""``widemargin predict MODEL DATA``: labels for documents, in their order, as they are read."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import json as json_format
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from widemargin._printable import printable_json
from widemargin.cli import options
from widemargin.cli.commands import Given, takes
from widemargin.cli.costs import costs_for
from widemargin.cli.files import check_target, columns_of_model
from widemargin.cli.inputs.sources import Sources, all_sources
from widemargin.cli.inputs.thresholds import files_of, read_thresholds
from widemargin.cli.output import counted, machine_output, note, print_json
from widemargin.cli.watching.next_steps import next_step, quoted
from widemargin.cli.watching.watch import Watch, abstaining
from widemargin.errors import UsageError

if TYPE_CHECKING:
    from widemargin.classifier import Scorer
    from widemargin.cli.options.vector_rows import RowsForModel

EXAMPLE = "Example: widemargin predict tickets.wm new.csv --text body --scores -o labeled.jsonl"

# Documents that are labeled at a time: of a thousand labels, 16 MB of scores.
BATCH = 2000

Row = dict[str, Any]


@takes("predict")
def run(given: Given) -> None:
    """Label documents with a trained model.

    The output has one JSON object per line, {"id": ..., "labels": [...]}, in the order of the input.
    Documents are read, labeled and written in batches, so the input may have any length. With --output and
    --json, a summary is printed on stdout. Documents that --abstain leaves undecided have null as labels, and
    the reason as "abstained".
    """
    output = given.output
    if given.cluster is not None:
        from widemargin.cli.on_cluster import predicting as on_cluster

        on_cluster.check(given)
    write = writer_for(output, given.top, safe_csv=given.safe_csv)
    if given.thresholds and given.costs is not None:
        raise UsageError("Use either --thresholds or --costs.")
    given.data = all_sources(given)
    inputs = [given.model, given.data, given.costs, *(given.vectors or ()), *files_of(given.thresholds)]
    if given.cluster is None:
        check_target(output, [*inputs, given.monitor])
    if given.monitor is not None:
        check_target(given.monitor, inputs)
    scorer = at_thresholds(load_scorer(given.model, given.threads), given)
    if given.costs is not None:
        costs = costs_for(given.costs, scorer.space)
        scorer = replace(scorer, rule=scorer.rule.with_costs(costs.matrix, f"--costs: {given.model}"))
    if given.proba and scorer.rule.calibration is None:
        raise UsageError(
            f"--proba: {given.model} gives scores only. Train with --calibrate platt, or "
            f"--learner logistic-regression, for probabilities."
        )
    reading = columns_of_model(scorer, options.reading(given), given.model)
    reading |= {"plain_text": True, "ignore_labels": True}
    if given.cluster is not None:
        on_cluster.run(given, scorer, reading)
        return
    from widemargin.cli.options.vector_rows import RowsForModel

    given_rows = RowsForModel(scorer, given.vectors, given.model)
    watch = Watch(scorer, given)
    start = time.perf_counter()
    pieces = predictions(
        scorer,
        given.data,
        given.quiet,
        reading,
        every_score=given.scores,
        proba=given.proba,
        top=given.top,
        keep_text=given.keep_text,
        given_rows=given_rows,
        watch=watch,
    )
    written = write(pieces)
    watch.finish()
    if watch.rejection is not None and not given.json:
        note(watch.in_words(written), given.quiet)
    if output == "-":
        return
    seconds = time.perf_counter() - start
    if given.json:
        print_json({"output": output, "documents": written, "seconds": round(seconds, 4), **watch.to_dict()})
    else:
        note(f"Labeled {counted(written, 'document')} in {seconds:.2f} s.", given.quiet)
        next_step(given, f"widemargin explain {quoted(given.model)} TEXT shows what decides", output)


def predictions(
    scorer: Scorer,
    source: Sources,
    quiet: bool,
    reading: dict[str, Any],
    *,
    every_score: bool = False,
    proba: bool = False,
    top: int | None = None,
    keep_text: bool = False,
    given_rows: RowsForModel,
    watch: Watch,
) -> Iterator[list[Row]]:
    """One row per document, a piece of the input at a time: its id and labels, and what the options add."""
    from widemargin.report.predictions import prediction_rows

    asked: dict[str, Any] = {"every_score": every_score, "proba": proba, "top": top}
    for ids, features, texts in _pieces(scorer, source, quiet, reading, given_rows):
        (scores, undecided), lengths = watch.scores(features), scorer.lengths(features)
        found = prediction_rows(scorer.rule, scores, lengths, **asked)
        if undecided is not None:
            found = [abstaining(row, why) for row, why in zip(found, undecided, strict=True)]
        kept = [{}] * len(ids) if not keep_text or texts is None else [{"text": text} for text in texts]
        yield [
            {"id": identifier, **text, **row} for identifier, text, row in zip(ids, kept, found, strict=True)
        ]


def at_thresholds(scorer: Scorer, given: Given) -> Scorer:
    """The scorer with the thresholds of --thresholds, if there are any."""
    if not given.thresholds:
        return scorer
    rule = scorer.rule.with_thresholds(read_thresholds(given.thresholds), str(given.model))
    return replace(scorer, rule=rule)


def load_scorer(path: Path, threads: int | None = None) -> Scorer:
    """What scores documents with a model file (or SVM-light's), using so many threads."""
    from widemargin.classifier import Scorer

    return Scorer.load(path, n_jobs=threads)


def _pieces(
    scorer: Scorer, source: Sources, quiet: bool, reading: dict[str, Any], given_rows: RowsForModel
) -> Iterator[tuple[list[str], Any, list[str] | None]]:
    """Ids, what the scorer takes, and the texts, a piece of the input at a time."""
    from widemargin.classifier.checks.of_documents import FEWEST, check_documents
    from widemargin.documents.reading import open_sources
    from widemargin.progress import track

    opened = open_sources(source, **reading)
    if opened.holds_vectors:
        vectors = opened.vectors()
        check_form(scorer, source, vectors=True)
        yield vectors.ids, vectors, None
        return
    check_form(scorer, source, vectors=False)
    reader = opened.reader()
    note(reader.description, quiet)
    checked = False
    for batch in track(reader.batches(BATCH), "Labeling", size=len, enabled=False if quiet else None):
        given_rows.pair(batch.texts)
        if not checked and len(batch) >= FEWEST:
            check_documents(scorer, batch.texts, strict=False)
            checked = True
        yield batch.ids, batch.texts, batch.texts
    given_rows.finish()


def check_form(scorer: Scorer, source: Sources, *, vectors: bool) -> None:
    """Refuse texts for a model of vectors and the other way round."""
    from widemargin.errors import DataError

    if vectors != scorer.takes_vectors:
        has, other = ("vectors", "texts") if vectors else ("texts", "vectors")
        raise DataError(
            f"{source} holds {has}, but the model was trained on {other}. Pass {other}, or train on {has}."
        )


def writer_for(
    output: str, top: int | None = None, *, safe_csv: bool = False
) -> Callable[[Iterable[list[Row]]], int]:
    """What writes pieces of rows in the format that the name of `output` asks for, and counts them."""
    suffix = "" if output == "-" else Path(output).suffix.lower()
    if safe_csv and suffix not in (".csv", ".tsv"):
        raise UsageError("--safe-csv applies to tables only. Write a .csv or .tsv file with --output.")
    if suffix in (".jsonl", ".ndjson", ".json", ""):
        return partial(_written, output, _write_jsonl)
    if suffix not in (".csv", ".tsv"):
        raise UsageError(f"--output {output}: predictions are written as .jsonl, .csv or .tsv.")
    if top:
        raise UsageError("--top gives a list per document, which a table cannot hold. Write a .jsonl file.")
    delimiter = "\t" if suffix == ".tsv" else ","
    return partial(_written, output, partial(_write_table, delimiter=delimiter, safe_csv=safe_csv))


def _written(output: str, write: Callable[..., int], pieces: Iterable[list[Row]]) -> int:
    """Write to a file, or to stdout; returns the number of rows."""
    from widemargin._files import replacing

    with contextlib.nullcontext(machine_output()) if output == "-" else replacing(output) as file:
        return write(file, pieces)


def _write_jsonl(file: BinaryIO, pieces: Iterable[list[Row]]) -> int:
    written = 0
    for rows in pieces:
        for row in rows:
            # Escaped, control characters neither drive a terminal nor fail to be written.
            line = printable_json(json_format.dumps(row, ensure_ascii=False))
            file.write(line.encode() + b"\n")
        written += len(rows)
        file.flush()  # a program at the other end of a pipe may be waiting
    return written


def _write_table(file: BinaryIO, pieces: Iterable[list[Row]], delimiter: str, safe_csv: bool = False) -> int:
    """A table with one row per document; no label or several are a JSON list in their cell."""
    written = 0
    text = io.TextIOWrapper(file, "utf-8", errors="backslashreplace", newline="")
    table = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    quoted = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)

    def write(cells: list[Any]) -> None:
        cells = _no_formulas(cells) if safe_csv else cells
        # Left to itself, the module quotes a line feed only; a lone carriage return ends a line too.
        several = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (quoted if several else table).writerow(cells)

    for row in itertools.chain.from_iterable(pieces):
        columns = [(f"score {label}", value) for label, value in row.get("scores", {}).items()]
        columns += [(f"probability {label}", value) for label, value in row.get("probabilities", {}).items()]
        plain = ("abstained", "start", "end", "score", "certainty", "runner_up")
        columns = [(name, row[name]) for name in plain if name in row] + columns
        words = [row["text"]] if "text" in row else []
        if not written:
            write(["id", *["text"] * len(words), "labels", *(name for name, _ in columns)])
        labels = row["labels"]
        if labels is None:  # an empty cell means unlabeled
            labels = [""]
        alone = len(labels) == 1 and not str(labels[0]).startswith("[")
        cell = labels[0] if alone else json_format.dumps(labels, ensure_ascii=False)
        write([row["id"], *words, cell, *(value for _, value in columns)])
        written += 1
    text.flush()
    text.detach()  # the caller closes the file
    return written


def _no_formulas(cells: list[Any]) -> list[Any]:
    """The cells of a row, none of which a spreadsheet takes for a formula.

    Examples
    --------
    >>> _no_formulas(["=1+2", "spam", -0.5])
    ["'=1+2", 'spam', -0.5]
    """
    marks = ("=", "+", "-", "@", "\t", "\r", "\n")
    return [f"'{cell}" if isinstance(cell, str) and cell.startswith(marks) else cell for cell in cells]
