"""``widemargin label LABELED UNLABELED -o OUT``: label a collection from a few labeled documents."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from widemargin.cli import options, text_options
from widemargin.cli.files import check_target, read_all
from widemargin.cli.output import Stages, machine_output, note, print_json, say
from widemargin.errors import UsageError

EXAMPLE = "Example: widemargin label marked.csv rest.csv -o labeled.jsonl --positives relevant=0.1"

PANEL = "Learning"
SIMULATION = "Trying it on labeled documents"
THESIS_C = 20.0


class OnAlarm(StrEnum):
    warn = "warn"
    inductive = "inductive"
    error = "error"
    ignore = "ignore"


def run(
    labeled: Annotated[
        str,
        typer.Argument(
            metavar="LABELED",
            help="Documents with labels; of those without, if there are any, the labels are wanted too. - is "
            "stdin.",
        ),
    ],
    unlabeled: Annotated[
        str | None,
        typer.Argument(
            metavar="[UNLABELED]",
            help="Documents that want labels; what labels they have is not looked at.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="A .jsonl, .csv or .tsv file to write; - is stdout (JSONL).",
            show_default=False,
        ),
    ] = None,
    positives: Annotated[
        list[str] | None,
        typer.Option(
            "--positives",
            metavar="[LABEL=]FRACTION",
            help="Which fraction of the unlabeled documents has LABEL; once a label. Of two labels, one is "
            "enough.",
            show_default="as among the labeled documents",
        ),
    ] = None,
    on_alarm: Annotated[
        OnAlarm,
        typer.Option(
            "--on-alarm",
            metavar="warn|inductive|error|ignore",
            help="When a labeling looks wrong: say so, label by the labeled documents alone, or stop.",
        ),
    ] = OnAlarm.warn,
    scores: options.Scores = False,
    keep_text: options.KeepText = False,
    safe_csv: options.SafeCsv = False,
    ask: Annotated[
        int,
        typer.Option(
            "--next",
            metavar="N",
            min=0,
            help="Name the N documents whose labels would help most.",
            show_default="none",
        ),
    ] = 0,
    text: options.Text = None,
    label: options.Label = None,
    id: options.Id = None,
    label_delimiter: options.LabelDelimiter = None,
    format: options.Format = None,
    encoding: options.Encoding = None,
    errors: options.Errors = "replace",
    max_document: options.MaxDocument = options.MAX_DOCUMENT,
    multilabel: options.Multilabel = False,
    weighting: text_options.PlainWeighting = "tfc",
    ngrams: text_options.PlainNgrams = "1",
    min_count: text_options.MinCount = 1,
    stop_words: text_options.PlainStopWords = "none",
    stemmer: text_options.PlainStemmer = "none",
    C: Annotated[
        float,
        typer.Option(
            "--C", metavar="X", help="The cost of errors on labeled documents.", rich_help_panel=PANEL
        ),
    ] = THESIS_C,
    C_unlabeled: Annotated[
        float | None,
        typer.Option(
            "--C-unlabeled",
            metavar="X",
            help="The cost of an unlabeled document inside the margin.",
            show_default="half of all labeled ones' shared by all unlabeled, at most --C",
            rich_help_panel=PANEL,
        ),
    ] = None,
    simulate: Annotated[
        int | None,
        typer.Option(
            "--simulate",
            metavar="N",
            min=2,
            help="Write nothing: of LABELED show up to N documents with their labels, hide the others, and "
            "print how good the labels of those are, with and without learning from them.",
            show_default="off",
            rich_help_panel=SIMULATION,
        ),
    ] = None,
    repeat: Annotated[
        int,
        typer.Option(
            "--repeat",
            metavar="R",
            min=1,
            help="How often, each time other documents.",
            rich_help_panel=SIMULATION,
        ),
    ] = 5,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw it too, as .png, .svg or .pdf (needs matplotlib).",
            show_default="none",
            rich_help_panel=SIMULATION,
        ),
    ] = None,
    threads: options.Threads = None,
    seed: options.Seed = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Label a whole collection from a few labeled documents.

    The unlabeled documents take part in learning: a transductive SVM looks for the labels that leave the
    widest empty margin between the classes, as words that occur together suggest. With one file, its
    documents without labels are labeled; with two, those of the second.

    Each document gives one JSON object on a line, {"id": ..., "labels": [...], "score": ..., "certainty":
    ...}. Certainty is 0 at the boundary of another decision and 1 at the margin or beyond; it is no
    probability. A statistical test compares labeled and unlabeled documents afterwards, and says where
    the labels should not be trusted.
    """
    _check_options(labeled, unlabeled, output, simulate, plot, safe_csv)
    inputs = [labeled, unlabeled, text_options.stop_word_file(stop_words)]
    for written in (output, plot):
        if written is not None:
            check_target(written, inputs)
    vectorizing = {
        "weighting": weighting,
        "ngram_range": text_options.ngram_range(ngrams),
        "min_count": min_count,
        "stop_words": text_options.stop_word_list(stop_words),
        "stemmer": None if stemmer == "none" else stemmer,
        "n_jobs": threads,
    }
    learning = {
        "C": C,
        "C_unlabeled": C_unlabeled,
        # What is said on stdout needs no warning on stderr.
        "on_alarm": "ignore" if on_alarm is OnAlarm.warn and not (quiet or json) else on_alarm.value,
        "random_state": seed,
        "n_jobs": threads,
        "verbose": not quiet,
    }
    stages = Stages()
    with stages.stage("read"):
        first = read_all(
            labeled,
            quiet,
            options.reading(format, text, label, id, label_delimiter, encoding, errors, max_document),
        )
        second = None
        if unlabeled is not None:
            reading = options.reading(format, text, None, id, None, encoding, errors, max_document)
            second = read_all(unlabeled, quiet, reading)
    # Only now, so that a mistake in the data is told at once.
    from widemargin.cli import label_task, simulation

    task = label_task.gather(labeled, first, unlabeled, second, multilabel)
    learning["positives"] = label_task.fractions(positives, task)
    if simulate is not None:
        simulation.run(
            task, vectorizing, {**learning, "on_alarm": "ignore"}, simulate, repeat, seed, plot, json, quiet
        )
        return
    with stages.stage("vectorize"):
        X = task.vectors(vectorizing)
    with stages.stage("learn"):
        learner = label_task.fit(task, X, learning)
    assert output is not None
    rows = label_task.rows(task, learner, every_score=scores, keep_text=keep_text)
    _write(output, rows, safe_csv)
    summary = {
        "output": output,
        **label_task.summary(task, learner, rows, X.shape[1]),
        **({"next": label_task.ask(task, learner, X, ask, seed)} if ask else {}),
        "seconds": stages.seconds,
    }
    if json and output != "-":
        print_json(summary)
    elif not quiet:
        for line in label_task.in_words(summary):
            # Where the documents go to stdout, what is said about them does not.
            note(line, False) if output == "-" else say(line)


def _check_options(
    labeled: str,
    unlabeled: str | None,
    output: str | None,
    simulate: int | None,
    plot: Path | None,
    safe_csv: bool,
) -> None:
    """Refuse what makes no sense before anything is read."""
    if labeled == unlabeled == "-":
        raise UsageError("Both LABELED and UNLABELED are -, and there is one stdin. Give one as a file.")
    if simulate is None:
        if plot is not None:
            raise UsageError("--plot draws what --simulate finds. Add --simulate N, or leave --plot out.")
        if output is None:
            raise UsageError("Where do the labels go? Add -o OUT.jsonl, or -o - for stdout.")
        from widemargin.cli.verbs.predict import writer_for

        writer_for(output, None, safe_csv)
        return
    if unlabeled is not None or output is not None:
        raise UsageError(
            "--simulate hides labels that are known: it takes LABELED alone, and writes no documents."
        )
    if plot is not None:
        from widemargin.report.plots import check_plot

        check_plot(plot)


def _write(output: str, rows: list[dict[str, Any]], safe_csv: bool) -> None:
    from widemargin._files import replacing
    from widemargin.cli.verbs.predict import writer_for

    write = writer_for(output, None, safe_csv)
    if output == "-":
        write(machine_output(), [rows])
        return
    with replacing(output) as file:
        write(file, [rows])
