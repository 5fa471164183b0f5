"""``widemargin label LABELED UNLABELED -o OUT``: label a collection from a few labeled documents."""

from __future__ import annotations

from typing import Any

from widemargin.cli import options
from widemargin.cli.commands import Given, takes
from widemargin.cli.files import check_target, read_all
from widemargin.cli.options.text import stop_word_file, vectorizing
from widemargin.cli.output import Stages, machine_output, note, print_json, say
from widemargin.errors import UsageError

EXAMPLE = "Example: widemargin label marked.csv rest.csv -o labeled.jsonl --positives relevant=0.1"


@takes("label")
def run(given: Given) -> None:
    """Label a whole collection from a few labeled documents.

    The unlabeled documents take part in learning: a transductive SVM looks for the labels that leave the
    widest empty margin between the classes, as words that occur together suggest. With one file, its
    documents without labels are labeled; with two, those of the second.

    Each document gives one JSON object on a line, {"id": ..., "labels": [...], "score": ..., "certainty":
    ...}. Certainty is 0 at the boundary of another decision and 1 at the margin or beyond; it is no
    probability. A statistical test compares labeled and unlabeled documents afterwards, and says where
    the labels should not be trusted.
    """
    _check_options(given)
    inputs = [given.labeled, given.unlabeled, stop_word_file(given.stop_words)]
    for written in (given.output, given.plot):
        if written is not None:
            check_target(written, inputs)
    terms = vectorizing(given, "tfc")
    told = given.on_alarm == "warn" and not (given.quiet or given.json)
    learning = {
        "C": given.C,
        "C_unlabeled": given.C_unlabeled,
        # What is printed on stdout needs no warning on stderr.
        "on_alarm": "ignore" if told else given.on_alarm,
        "random_state": given.seed,
        "n_jobs": given.threads,
        "verbose": not given.quiet,
    }
    stages = Stages()
    with stages.stage("read"):
        reading = options.reading(given)
        first = read_all(given.labeled, given.quiet, dict(reading))
        second = None
        if given.unlabeled is not None:
            without_labels = {**reading, "label": None, "label_delimiter": None}
            second = read_all(given.unlabeled, given.quiet, without_labels)
    # Only now, so that a mistake in the data is told at once.
    from widemargin.cli import label_task, simulation

    task = label_task.gather(given.labeled, first, given.unlabeled, second, given.multilabel)
    learning["positives"] = label_task.fractions(given.positives, task)
    if given.simulate is not None:
        simulation.run(task, terms, {**learning, "on_alarm": "ignore"}, given)
        return
    with stages.stage("vectorize"):
        X = task.vectors(terms)
    with stages.stage("learn"):
        learner = label_task.fit(task, X, learning)
    rows = label_task.rows(task, learner, every_score=given.scores, keep_text=given.keep_text)
    _write(given.output, rows, given.safe_csv)
    summary = {
        "output": given.output,
        **label_task.summary(task, learner, rows, X.shape[1]),
        **({"next": label_task.ask(task, learner, X, given.next, given.seed)} if given.next else {}),
        "seconds": stages.seconds,
    }
    if given.json and given.output != "-":
        print_json(summary)
    elif not given.quiet:
        for line in label_task.in_words(summary):
            # Where the documents go to stdout, what is said about them does not.
            note(line, False) if given.output == "-" else say(line)


def _check_options(given: Given) -> None:
    """Refuse what makes no sense before anything is read."""
    if given.labeled == given.unlabeled == "-":
        raise UsageError("Both LABELED and UNLABELED are -, and there is one stdin. Give one as a file.")
    if given.simulate is None:
        if given.plot is not None:
            raise UsageError("--plot draws what --simulate finds. Add --simulate N, or leave --plot out.")
        if given.output is None:
            raise UsageError("Where do the labels go? Add -o OUT.jsonl, or -o - for stdout.")
        from widemargin.cli.verbs.predict import writer_for

        writer_for(given.output, None, given.safe_csv)
        return
    if given.unlabeled is not None or given.output is not None:
        raise UsageError(
            "--simulate hides labels that are known: it takes LABELED alone, and writes no documents."
        )
    if given.plot is not None:
        from widemargin.report.plots import check_plot

        check_plot(given.plot)


def _write(output: str, rows: list[dict[str, Any]], safe_csv: bool) -> None:
    from widemargin._files import replacing
    from widemargin.cli.verbs.predict import writer_for

    write = writer_for(output, None, safe_csv)
    if output == "-":
        write(machine_output(), [rows])
        return
    with replacing(output) as file:
        write(file, [rows])
