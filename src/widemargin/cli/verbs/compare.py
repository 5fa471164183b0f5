"""``widemargin compare TRAIN [TEST]``: which learner to use, and whether the difference is real."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from widemargin.cli import options
from widemargin.cli.commands import Given, takes
from widemargin.cli.files import check_target, read_all
from widemargin.cli.inputs.sources import first_and_second
from widemargin.cli.on_cluster import executor_of
from widemargin.cli.options.chosen_learner import options_for
from widemargin.cli.options.learners import LEARNERS
from widemargin.cli.options.text import (
    blocks_and_columns,
    frequency,
    patterns,
    several_words,
    stop_word_list,
    word_files,
)
from widemargin.cli.output import note, print_json, say, show_table
from widemargin.errors import DataError, UsageError
from widemargin.tune.learners import automatic_effort

if TYPE_CHECKING:
    from widemargin.tune.compared import ComparedLearner

EXAMPLE = "Example: widemargin compare tickets.csv held-out.csv --text body --label team"
MODEL = "model.wm"
# Options of reading and of texts that the advised command repeats.
_REPEATED = (
    *("text", "label", "label_delimiter", "format", "encoding", "errors", "max_document"),
    *("no_header", "label_from", "sheet", "split"),
)
_OF_TEXTS = ("min_df", "max_df", "min_count", "ignore_pattern")
_OF_WORDS = ("stop_words", "stemmer", "phrases", "pairs", "thesaurus", "blocks", "token_pattern")


@takes("compare")
def run(given: Given) -> None:
    """Compare learners on the same documents, and say which one to use.

    Each learner chooses from a few settings by cross-validation on the training documents, then is measured
    on the test documents. Without test documents, the decisions of the folds are measured, each fold with the
    setting that is best on the others. Unlabeled documents are left out.

    The table shows quality with intervals, seconds to train, documents per second, memory and the size of the
    model. Learners that are significantly worse than the best are marked. A learner that fails is a row that
    says why. The last lines are the advice and the command that trains the best learner, and the one for a
    faster learner that is not significantly worse.
    """
    learners = _named(given.learners)
    given.train, given.test = first_and_second(given, "train", "test")
    if given.plot is not None:
        from widemargin.report.plots import check_plot

        check_target(given.plot, [given.train, given.test, *word_files(given)])
        check_plot(given.plot)
    text = {
        "min_df": frequency("--min-df", given.min_df),
        "max_df": frequency("--max-df", given.max_df),
        "stop_words": stop_word_list(given.stop_words),
        "stemmer": None if given.stemmer == "none" else given.stemmer,
        **{
            name: value
            for part in (several_words(given), blocks_and_columns(given), patterns(given))
            for name, value in part.items()
            if value is not None
        },
    }
    if given.min_count is not None:
        text["min_count"] = given.min_count
    reading = options.reading(given)
    train = read_all(given.train, given.quiet, dict(reading))
    test = None if given.test is None else read_all(given.test, given.quiet, dict(reading))
    # Only now, so that a mistake in the data is told at once.
    from widemargin.classifier.comparing import compare
    from widemargin.labels import Labels

    with executor_of(given) as executor:
        found = compare(
            train,
            Labels.of_documents(train.labels, multilabel=given.multilabel),
            test=test,
            learners=learners,
            folds=given.folds,
            budget=given.budget,
            text_options=text,
            random_state=given.seed,
            n_jobs=given.threads,
            verbose=not given.quiet,
            executor=executor,
        )
    best, faster = (None if row is None else train_command(given, row) for row in (found.best, found.faster))
    if given.plot is not None and found.measured:
        found.plot(given.plot)
        note(f"Plot in {given.plot}", given.quiet)
    if given.json:
        print_json({**found.to_dict(), "command": best, "faster_command": faster})
    else:
        say(found.heading_and_notes()[0])
        show_table(found.table(break_even=given.prbep))
        say(found.advice, *(command for command in (best, faster) if command is not None))
    if not found.measured and all(row.status == "failed" for row in found.rows):
        raise DataError(f"{given.train}: no learner could be trained. {found.rows[0].why}")


def _named(text: str | None) -> list[str] | None:
    """The names that --learners lists."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in LEARNERS.split()]
    if unknown or not names:
        raise UsageError(
            f"--learners {text}: there is no learner {', '.join(map(repr, unknown)) or 'named'}. Choose "
            f"from: {', '.join(LEARNERS.split())}."
        )
    return names


def train_command(given: Given, row: ComparedLearner) -> str:
    """The command that trains a learner with the setting that was chosen."""
    from widemargin.cli.options import options_of
    from widemargin.tune.learners import text_options

    known = options_of("compare")
    # The address of a query without its password, which nothing prints.
    data = ["--sql", given.train, given.sql[1]] if given.sql is not None else [given.train]
    words: list[Any] = ["widemargin", "train", *data, "-o", MODEL, "--learner", row.learner]
    words += options_for(row.setting)
    if automatic_effort(row.learner, reduced=False) is not None:
        words += ["--tune", "none"]  # the other learners are not tuned unless it is asked for
    words_apply = text_options(row.learner).get("units", "words") == "words"
    for name in (*_REPEATED, *_OF_TEXTS, *(_OF_WORDS if words_apply else ())):
        value = getattr(given, name)
        if known[name].kind is bool:
            words += [known[name].flags[0]] if value else []
        elif value is not None and value != known[name].default:
            for each in value if isinstance(value, list) else [value]:
                words += [known[name].flags[0], each]
    words += ["--multilabel"] if given.multilabel else []
    words += ["--seed", given.seed] if given.seed else []
    return shlex.join(map(str, words))
