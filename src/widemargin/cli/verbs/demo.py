"""``widemargin demo``: the whole flow on documents that every installation has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from widemargin.cli.commands import Given, takes
from widemargin.cli.output import (
    Stages,
    counted,
    note,
    print_json,
    say,
    say_styled,
    seconds_in_words,
    show_table,
)
from widemargin.errors import UsageError

if TYPE_CHECKING:
    from widemargin.documents.collection import Collection
    from widemargin.measure.quality import Quality

EXAMPLE = "Example: widemargin demo --output my-demo"

MODEL, TRAIN, TEST = "model.wm", "train.jsonl", "test.jsonl"
AREAS_WITH_TERMS = 5
TERMS = 8


@takes("demo")
def run(given: Given) -> None:
    """Train on the docstrings of Python, NumPy and SciPy, and predict which area a docstring is about.

    Two thirds of the documents are for training, the rest for testing. Nothing is downloaded.
    """
    from widemargin.classifier import TextClassifier
    from widemargin.cli.estimates import read_quality
    from widemargin.cli.verbs.evaluate import as_json, measured, show
    from widemargin.cli.verbs.inspect import terms_table
    from widemargin.documents.demo import demo_corpus
    from widemargin.documents.writing import write_jsonl
    from widemargin.learn.svm.linear_svm import LinearSVM
    from widemargin.weight.vectorizer import Vectorizer

    output, seed, threads = given.output, given.seed, given.threads
    _check_folder(output)
    output.mkdir(parents=True, exist_ok=True)
    stages = Stages()
    note("Collecting docstrings...", given.quiet)
    with stages.stage("collect"):
        corpus = demo_corpus()
    train, test = halves(corpus, seed)
    learner = LinearSVM(n_jobs=threads, random_state=seed)
    classifier = TextClassifier(Vectorizer(n_jobs=threads), learner, tune=None, estimate="leave-one-out")
    classifier.fit(train)
    stages.seconds.update(classifier.training_summary_["seconds"])
    with stages.stage("test"):
        summary, quality, *_ = measured(classifier.scorer, test)
    model = output / MODEL
    with stages.stage("save"):
        classifier.save(model)
        write_jsonl(train, output / TRAIN)
        write_jsonl(test, output / TEST)
    chosen = sorted(summary.rows, key=lambda row: (-row.f1, str(row.label)))[:AREAS_WITH_TERMS]
    top = {str(row.label): classifier.top_terms(row.label, TERMS) for row in chosen}
    example = _example(classifier, test)
    commands = next_commands(output)
    if given.json:
        print_json(
            {
                **classifier.training_summary_,
                "seconds": stages.seconds,
                "evaluation": as_json(summary, quality, classifier.training_summary_),
                "terms": {area: dict(found.positive) for area, found in top.items()},
                "explanation": {"id": test.ids[example], **classifier.explain(test.texts[example]).to_dict()},
                "folder": str(output),
                "next": commands,
            }
        )
        return
    from widemargin.cli.verbs.explain import show as show_explanation

    def heading(text: str) -> None:
        say()
        say_styled((text, "bold"))
        say()

    say(
        f"{counted(len(corpus), 'docstring')} of the standard library, NumPy and SciPy "
        f"in {len(summary.rows)} areas: trained on {len(train):,}, tested on the other {len(test):,}."
    )
    heading("Measured on unseen docstrings, beside the estimates from training")
    estimated = read_quality(classifier.training_summary_)
    show(summary, quality, estimated)
    if estimated is not None:
        say(estimates_that_hold(quality, estimated))
    heading("Strongest terms of a few areas")
    show_table(terms_table(top))
    heading(f"Why {test.ids[example]} is about {classifier.predict([test.texts[example]])[0]}")
    show_explanation(test.texts[example], classifier.explain(test.texts[example]), TERMS)
    heading("Time")
    say(seconds_in_words(stages.seconds))
    heading(f"Next steps (the files are in {output})")
    for command in commands:
        say(f"  {command}")


def _check_folder(folder: Path) -> None:
    """Refuse a folder with files of the demo's names that no demo wrote: it writes its model first."""
    from widemargin.models import check_model_target

    check_model_target(folder / MODEL)
    others = [name for name in (TRAIN, TEST) if (folder / name).exists()]
    if others and not (folder / MODEL).exists():
        raise UsageError(
            f"{folder} has a {others[0]} that this demo would replace. Name another folder with --output."
        )


def estimates_that_hold(measured: Quality, estimated: Quality) -> str:
    """In how many areas the estimate from training holds."""
    pairs = [
        (row.figures["f1"], own.figures["f1"])
        for row, own in zip(measured.labels, estimated.labels, strict=True)
        if row.examples
    ]
    inside = sum(own.low <= found.value <= own.high for found, own in pairs)
    overlap = sum(own.low <= found.high and found.low <= own.high for found, own in pairs)
    return (
        f"The measured F1 lies in the interval estimated in training in {inside} of {len(pairs)} areas; "
        f"the two intervals overlap in {overlap}."
    )


def halves(corpus: Collection, seed: int) -> tuple[Collection, Collection]:
    """Two thirds for training and one third for testing, chosen at random."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(len(corpus))
    cut = 2 * len(corpus) // 3
    return corpus.subset(np.sort(order[:cut])), corpus.subset(np.sort(order[cut:]))


def next_commands(folder: Path) -> list[str]:
    """Commands that work as they stand, in the folder where the demo ran."""
    import shlex

    model, train, test = (shlex.quote(str(folder / name)) for name in (MODEL, TRAIN, TEST))
    better = shlex.quote(str(folder / "pairs.wm"))
    return [
        f'widemargin explain {model} "Open a connection to the server and send the message"',
        f"widemargin inspect {model} --suspects 10",
        f"widemargin train {train} -o {better} --ngrams 1-2 --tune none",
        f"widemargin evaluate {better} {test}",
    ]


def _example(classifier: Any, test: Collection) -> int:
    """A short test document that the classifier gets right by a wide margin."""
    import numpy as np

    scores = classifier.decision_function(test)
    right = classifier.predict(test) == np.array([labels[0] for labels in test.labels if labels])
    lengths = np.array([len(text) for text in test.texts])
    fit = right & (lengths >= 80) & (lengths <= 400)
    margin = np.where(fit, scores.max(axis=1), -np.inf)
    return int(margin.argmax())
