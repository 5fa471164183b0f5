"""``widemargin train DATA -o MODEL``: learn a classifier and write it to one file."""

from __future__ import annotations

import os
import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from widemargin.cli import estimates, learners, online, options, stream
from widemargin.cli import features as selections
from widemargin.cli.output import Stages, bytes_in_words, counted, note, print_json, seconds_in_words
from widemargin.errors import MissingFileError, StorageError, UsageError

if TYPE_CHECKING:
    from widemargin.documents.collection import Collection, Vectors

EXAMPLE = "Example: widemargin train tickets.csv -o tickets.wm --text body --label team --ngrams 1-2"

TEXT_OPTIONS = "From text to vectors"


class Tokens(StrEnum):
    thesis = "thesis"
    unicode = "unicode"


class Units(StrEnum):
    words = "words"
    chars = "chars"
    chars_in_words = "chars_in_words"


def run(
    data: options.DataSource,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="The model file to write.")],
    text: options.Text = None,
    label: options.Label = None,
    id: options.Id = None,
    label_delimiter: options.LabelDelimiter = None,
    format: options.Format = None,
    encoding: options.Encoding = None,
    errors: options.Errors = "replace",
    multilabel: Annotated[
        bool,
        typer.Option(
            "--multilabel",
            help="A document may get any number of labels, even if each has one here.",
            show_default=False,
        ),
    ] = False,
    weighting: Annotated[
        str | None,
        typer.Option(
            "--weighting",
            metavar="TRIPLE",
            help="SMART weighting of the terms.",
            show_default="chosen by --select, or tfc; winnows of counts sxx, other online learners bxx",
            rich_help_panel=TEXT_OPTIONS,
        ),
    ] = None,
    tokens: Annotated[
        Tokens,
        typer.Option(
            "--tokens",
            metavar="thesis|unicode",
            help="Words as in the thesis (every number one token), or Unicode words.",
            rich_help_panel=TEXT_OPTIONS,
        ),
    ] = Tokens.thesis,
    units: Annotated[
        Units,
        typer.Option(
            "--units",
            metavar="words|chars|chars_in_words",
            help="What a term is made of.",
            rich_help_panel=TEXT_OPTIONS,
        ),
    ] = Units.words,
    ngrams: Annotated[
        str,
        typer.Option(
            "--ngrams", metavar="N|M-N", help="Lengths of terms in units.", rich_help_panel=TEXT_OPTIONS
        ),
    ] = "1",
    min_df: Annotated[
        str,
        typer.Option(
            "--min-df",
            metavar="N|SHARE",
            help="Leave out terms in fewer documents (a share with a point: 0.01).",
            rich_help_panel=TEXT_OPTIONS,
        ),
    ] = "1",
    max_df: Annotated[
        str,
        typer.Option(
            "--max-df",
            metavar="N|SHARE",
            help="Leave out terms in more documents.",
            rich_help_panel=TEXT_OPTIONS,
        ),
    ] = "1.0",
    max_features: Annotated[
        int | None,
        typer.Option(
            "--max-features",
            metavar="N",
            min=1,
            help="Keep only the most frequent terms.",
            show_default="all",
            rich_help_panel=TEXT_OPTIONS,
        ),
    ] = None,
    stop_words: Annotated[
        str | None,
        typer.Option(
            "--stop-words",
            metavar="freewais|FILE|none",
            help="Leave these words out.",
            show_default="chosen by --select, or none",
            rich_help_panel=TEXT_OPTIONS,
        ),
    ] = None,
    stemmer: Annotated[
        str | None,
        typer.Option(
            "--stemmer",
            metavar="NAME",
            help="porter, a Snowball language such as english or german, lemma:en and the like for lemmas, "
            "or none.",
            show_default="chosen by --select, or none",
            rich_help_panel=TEXT_OPTIONS,
        ),
    ] = None,
    hashed: Annotated[
        int | None,
        typer.Option(
            "--hashed",
            metavar="N",
            min=1,
            help="Hash terms to N columns instead of keeping a vocabulary.",
            show_default="off",
            rich_help_panel=TEXT_OPTIONS,
        ),
    ] = None,
    features: selections.Features = None,
    learner: learners.Learner = learners.Name.linear_svm,
    C: learners.Cost = None,
    loss: learners.Loss = None,
    bias: learners.Bias = None,
    class_weight: learners.ClassWeight = None,
    tol: learners.Tolerance = None,
    kernel: learners.Kernel = None,
    gamma: learners.Gamma = None,
    degree: learners.Degree = None,
    coef0: learners.Coef0 = None,
    power: learners.Power = None,
    kappa: learners.Kappa = None,
    scheme: learners.Scheme = None,
    cache: learners.Cache = None,
    eta: online.Eta = None,
    promotion: online.Promotion = None,
    demotion: online.Demotion = None,
    average: online.Average = None,
    normalized: online.Normalized = None,
    passes: online.Passes = None,
    stream_: online.Stream = False,
    save_every: online.SaveEvery = None,
    resume: online.Resume = False,
    max_labels: online.MaxLabels = 1000,
    select: estimates.Select = None,
    estimate: estimates.Estimate = None,
    thresholds: estimates.Thresholds = None,
    calibrate: estimates.Calibrate = estimates.CalibrationName.none,
    threads: options.Threads = None,
    seed: options.Seed = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Learn a classifier from labelled documents and write it to one file.

    The representation and C are chosen from the documents, unless options say what they are.
    Documents with one label each make a task of two or more classes; if some have none or several,
    every label is decided by itself. Unlabelled documents are left out. SVM-light files are vectors already.

    The run ends with what to expect of the model on new documents, label by label, and how sure that is.
    """
    first, last = ngram_range(ngrams)
    vectorizing: dict[str, Any] = {
        "weighting": weighting or online.WEIGHTINGS.get(learner.value, "tfc"),
        "tokens": tokens.value,
        "units": units.value,
        "ngram_range": (first, last),
        "min_df": _frequency("--min-df", min_df),
        "max_df": _frequency("--max-df", max_df),
        "max_features": max_features,
        "stop_words": stop_word_list(stop_words),
        "stemmer": None if stemmer == "none" else stemmer,
        "n_hashed": hashed,
        "n_jobs": threads,
    }
    learning = learners.parameters(
        learner,
        loss=loss,
        bias=bias,
        class_weight=class_weight,
        C=C,
        tol=tol,
        kernel=kernel,
        kernel_options={
            "gamma": gamma,
            "degree": degree,
            "coef0": coef0,
            "power": power,
            "kappa": kappa,
            "scheme": None if scheme is None else scheme.value,
            "cache": cache,
        },
        online_options={
            "eta": eta,
            "promotion": promotion,
            "demotion": demotion,
            "average": None if average is None else average.value,
            "normalized": normalized,
            "max_iter": passes,
        },
    )
    learning |= {"random_state": seed, "n_jobs": threads, "verbose": not quiet}
    reading = options.reading(format, text, label, id, label_delimiter, encoding, errors)
    if stream_:
        check_target(output)
        whole = {"select": select, "estimate": estimate, "thresholds": thresholds, "features": features}
        stream.check(learner, vectorizing, [option for option, value in whole.items() if value is not None])
        settings = stream.Settings(save_every, resume, max_labels, multilabel, json, quiet)
        stream.run(data, output, reading, (learner, learning, vectorizing), settings)
        return
    if save_every is not None or resume:
        raise UsageError("--save-every and --resume are for streams. Add --stream.")
    wanted = None if features is None else selections.parse(features, seed)
    # What an option names is not up for choice.
    named = {"weighting": weighting, "stemmer": stemmer, "stop_words": stop_words, "C": C}
    fixed = [name for name, given in named.items() if given is not None]
    if select is None:
        given = learner is learners.Name.kernel_svm or learner.is_online or wanted is not None
        select = estimates.SelectName.none if given else estimates.SelectName.fast
    elif wanted is not None and select is not estimates.SelectName.none:
        raise UsageError("--select chooses a representation for all features. Leave out it or --features.")
    check_target(output)
    from widemargin.documents.collection import Vectors

    stages = Stages()
    with stages.stage("read"):
        collection = read_all(data, quiet, reading)
    # Only now, so that a mistake in the data is told at once.
    from widemargin.classifier import TextClassifier
    from widemargin.estimate.search_space import Space
    from widemargin.labels import one_label_each
    from widemargin.weight.vectorizer import Vectorizer

    on_vectors = isinstance(collection, Vectors)
    several = (
        multilabel or one_label_each([known for known in collection.labels if known is not None]) is None
    )
    if estimate is None and learner.is_online:
        estimate = estimates.EstimateName.k_fold  # leave-one-out would train them once a document
    method = estimates.chosen_estimate(estimate, len(collection), len(collection.label_counts()))
    cosine = vectorizing["weighting"].endswith("c")
    made = Vectorizer(**vectorizing), learners.make_learner(learner, learning)
    space = Space.around(*made, fixed=fixed)
    if len(space.candidates(vectors=on_vectors)) == 1:
        select = estimates.SelectName.none
    classifier = TextClassifier(
        vectorizer=None if on_vectors else made[0],
        learner=made[1],
        features=None if wanted is None else selections.make(*wanted, unit_length=cosine and not on_vectors),
        select=select.value,
        space=space,
        estimate=method,
        thresholds=estimates.chosen_thresholds(thresholds, method, several_labels=several),
        calibration=None if calibrate is estimates.CalibrationName.none else calibrate.value,
    )
    classifier.fit(collection, collection.labels if multilabel else None)
    stages.seconds.update(classifier.training_summary_["seconds"])
    with stages.stage("save"):
        size = classifier.save(output)
    summary = {
        "model": str(output),
        "bytes": size,
        **classifier.training_summary_,
        "unlabeled": sum(labels is None for labels in collection.labels),
        "seconds": stages.seconds,
    }
    if json:
        print_json(summary)
    elif not quiet:
        show(summary)


def read_all(source: str, quiet: bool, reading: dict[str, Any]) -> Collection | Vectors:
    """Every document of `source`, with a note on what was guessed and a progress bar."""
    from widemargin.documents.collection import Collection
    from widemargin.documents.reading import guess_format, read_collection, read_documents
    from widemargin.progress import track

    reading["format"] = reading["format"] or guess_format(source)
    if reading["format"] == "svmlight":
        return read_collection(source, **reading)
    reader = read_documents(source, **reading)
    note(reader.description, quiet)
    return Collection.of(track(reader, "Reading", enabled=False if quiet else None))


def show(summary: dict[str, Any]) -> None:
    """What `train` says when it is done."""
    print(summary_in_words(summary))
    if "selection" in summary:
        print()
        estimates.show_selection(summary["selection"])
    quality = estimates.read_quality(summary)
    if quality is not None:
        print()
        estimates.show_quality(quality, several_labels=summary["task"] == "multilabel")
    found = len(summary.get("suspects", ()))
    if found:
        print(
            f"{counted(found, 'label')} of training documents {'looks' if found == 1 else 'look'} wrong: "
            f"widemargin inspect {shlex.quote(summary['model'])} --suspects 20"
        )
    print(f"Wrote {summary['model']} ({bytes_in_words(summary['bytes'])}).")


def summary_in_words(summary: dict[str, Any]) -> str:
    """What was learned, and how long it took."""
    kinds = {
        "binary": "two classes",
        "multiclass": f"{summary['labels']:,} classes",
        "multilabel": f"{counted(summary['labels'], 'label')} (any number a document)",
    }
    before = f" of {summary['terms_before']:,}" if "terms_before" in summary else ""
    lines = [
        f"Learned {kinds[summary['task']]} from {counted(summary['documents'], 'document')} "
        f"and {counted(summary['terms'], 'term')}{before}.",
        f"Seconds: {seconds_in_words(summary['seconds'])}.",
    ]
    if summary.get("objective"):
        share = 100 * summary["duality_gap"] / abs(summary["objective"])
        lines.append(f"Objective {summary['objective']:.6g}, within {share:.2g} % of the best possible.")
    return "\n".join(lines)


def check_target(output: Path) -> None:
    """Fail before the work rather than after it."""
    if output.is_dir():
        example = output / "model.wm"
        raise StorageError(f"{output} is a folder. Give the name of a file to write, such as {example}.")
    if not output.parent.is_dir():
        raise MissingFileError(
            f"There is no folder {output.parent} to write {output.name} to. Create it first."
        )
    if (output.exists() and not output.is_file()) or not os.access(output.parent, os.W_OK):
        raise StorageError(f"{output} cannot be written. Give the name of a file that can.")


def ngram_range(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    try:
        lengths = int(first), int(last if dash else first)
    except ValueError:
        lengths = (0, 0)
    if not 1 <= lengths[0] <= lengths[1]:
        raise UsageError(f"--ngrams {text}: expected a length or a range of lengths, such as 2 or 1-2.")
    return lengths


def _frequency(option: str, text: str) -> int | float:
    try:
        value = int(text)
    except ValueError:
        try:
            share = float(text)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            raise UsageError(
                f"{option} {text}: expected a number of documents or a share from 0.0 to 1.0."
            ) from None
        return share
    if value < 0:
        raise UsageError(f"{option} {text}: a number of documents is not negative.")
    return value


def stop_word_list(text: str | None) -> str | list[str] | None:
    """The name of a list, or the words of a file, one a line."""
    if text in (None, "none"):
        return None
    if text == "freewais":
        return text
    try:
        return Path(text).read_text(encoding="utf-8").split()
    except FileNotFoundError as error:
        raise MissingFileError(
            f"--stop-words {text}: no such file, and no list of that name but freewais."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"--stop-words {text}: {error}.") from error
