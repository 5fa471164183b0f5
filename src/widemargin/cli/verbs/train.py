"""``widemargin train DATA... -o MODEL``: learn a classifier and write it to one file."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from widemargin.cli import estimates, options, stream, unlabeled
from widemargin.cli.commands import Given, takes
from widemargin.cli.costs import read_costs
from widemargin.cli.files import check_model, read_all, remember_reading
from widemargin.cli.inputs.sources import all_sources
from widemargin.cli.large.choosing import for_cluster, memory_of, say_why, short_of_memory, why_not
from widemargin.cli.large.choosing import train as train_from_disk
from widemargin.cli.on_cluster import executor_of
from widemargin.cli.options import chosen_learner
from widemargin.cli.options import features as selections
from widemargin.cli.options.given_vectors import found_words, free_blocks, note_found, pair
from widemargin.cli.options.text import vectorizing, word_files
from widemargin.cli.output import Stages, counted, note, print_json, say
from widemargin.cli.training_report import show
from widemargin.cli.watching.next_steps import next_step, one_line, quoted
from widemargin.errors import UsageError
from widemargin.tune.learners import FEWEST, automatic_effort, text_options

if TYPE_CHECKING:
    from widemargin.classifier import TextClassifier

EXAMPLE = "Example: widemargin train tickets.csv -o tickets.wm --text body --label team --ngrams 1-2"


# The options of parts that tuning would choose otherwise, and their parameters.
_TUNED = {
    "weighting": "weighting",
    "idf_power": "idf_power",
    "stemmer": "stemmer",
    "stop_words": "stop_words",
}
_TUNED |= {"blocks": "blocks", "ngrams": "ngram_range", "units": "units", "C": "C", "loss": "loss"}
_TUNED |= {"balance": "balance"}


@takes("train")
def run(given: Given) -> None:
    """Learn a classifier from labeled documents and write it to one file.

    Terms, weights, loss and C are tuned on the documents unless they are given. If every document has one
    label, the model chooses one label per document; if some have none or several, each label is decided
    separately.
    Labels that are paths in a tree (--label-path) are decided along the tree.
    Several files are read in their order. The model remembers how they were read, so that `predict` and
    `evaluate` need no options of reading for files of the same form.
    Unlabeled documents of DATA are left out; those of another file can help (--unlabeled). SVM-light files
    hold vectors, so text options do not apply.

    At the end, the estimated quality on new documents is printed for each label, with intervals.
    """
    given.data = all_sources(given)
    unlabeled.check(given)
    asked = memory_of(given)
    read = [given.data, given.unlabeled, *word_files(given), given.start_weights, given.costs]
    check_model(given.output, read, force=given.force)
    if given.stream and "learner" not in given.typed:
        given.learner = stream.LEARNER
    learner = given.learner
    terms = vectorizing(given, text_options(learner))
    learning = chosen_learner.parameters(given)
    learning |= {"random_state": given.seed, "n_jobs": given.threads, "verbose": not given.quiet}
    reading = options.reading(given)
    if given.stream:
        stream.check(given, terms)
        stream.run(given, reading, learning, terms)
        return
    if given.save_every is not None or given.resume or given.drift_alarm is not None:
        raise UsageError("--save-every, --resume and --drift-alarm need --stream.")
    costs = None if given.costs is None else read_costs(given)
    wanted = None if given.features is None else selections.parse(given.features, given.seed)
    automatic = partial(automatic_effort, learner, reduced=wanted is not None)
    effort = automatic() if given.tune is None else estimates.tuning_effort(given.tune)
    if wanted is not None and effort is not None:
        raise UsageError("Use either --tune or --features.")
    if given.time is not None and effort is None:
        raise UsageError("--time is for comparing candidates: use it with --tune fast, full or seconds.")
    memory = for_cluster(given)
    if asked is not None or memory is not None or (memory := short_of_memory(given)) is not None:
        classifier = _classifier(given, terms, learning, costs, wanted, effort)
        why = why_not(given, classifier)
        if why is not None and asked is not None:
            raise UsageError(why)
        if why is None:
            if asked is None and given.cluster is None:
                say_why(given)
            train_from_disk(given, classifier, asked or memory or 0, reading)
            _finish(given, classifier, Stages(), classifier.training_summary_["unlabeled"])
            return
    from widemargin.documents.collection import Vectors

    stages = Stages()
    with stages.stage("read"):
        collection = read_all(given.data, given.quiet, dict(reading))
        pool = unlabeled.read(given, reading, collection)
        pair(terms["blocks"], collection, pool)
    # Only now, so that a mistake in the data is told at once.
    from widemargin.labels import Labels

    on_vectors = isinstance(collection, Vectors)
    labels = Labels.of_documents(collection.labels, multilabel=given.multilabel)
    known = int((~labels.unlabeled).sum())
    if given.tune is None:
        effort = automatic(documents=known)
    if known < FEWEST and given.estimate is None:
        note(f"{counted(known, 'labeled document')}: too few to tune or to estimate quality.", given.quiet)
    classifier = _classifier(
        given, terms, learning, costs, wanted, effort, on_vectors=on_vectors, with_pool=pool is not None
    )
    with executor_of(given) as executor:
        classifier.fit(collection, labels, unlabeled=pool, executor=executor)
    remember_reading(classifier, collection)
    _finish(given, classifier, stages, int(labels.unlabeled.sum()))


def _classifier(
    given: Given,
    terms: dict[str, Any],
    learning: dict[str, Any],
    costs: Any,
    wanted: tuple[str, dict[str, Any]] | None,
    effort: Any,
    *,
    on_vectors: bool = False,
    with_pool: bool = False,
) -> TextClassifier:
    """The classifier that the options describe."""
    from widemargin.classifier import TextClassifier
    from widemargin.tune.staged.axes import Axes
    from widemargin.weight.vectorizer import Vectorizer

    learner = given.learner
    made = chosen_learner.make_learner(learner, learning)
    cosine = terms["weighting"].endswith("c")
    plain = "none" if costs is None else "platt"
    calibrate = given.calibrate or ("length" if learner == "profiles" and not on_vectors else plain)
    vectorizer = Vectorizer(**terms)
    free = not given.typed.intersection(("learner", "tune_per_label"))
    explicit = [parameter for name, parameter in _TUNED.items() if name in given.typed]
    space = None
    if effort is not None:
        space = free_blocks(Axes.around(vectorizer, made, given=explicit, free_learner=free), given)
    return TextClassifier(
        vectorizer=vectorizer,
        learner=made,
        features=None
        if wanted is None
        else selections.make(*wanted, cosine and not on_vectors, given.threads),
        tune=effort,
        space=space,
        tune_per_label=given.tune_per_label,
        estimate=estimates.automatic_or_none(given.estimate),
        thresholds=estimates.automatic_or_none(given.thresholds),
        calibration=None if calibrate == "none" else calibrate,
        costs=costs,
        label_path=given.label_path,
        hierarchy=given.hierarchy,
        unlabeled_use=given.unlabeled_use if with_pool else None,
        keep_hashes=not given.no_hashes,
    )


def _finish(given: Given, classifier: TextClassifier, stages: Stages, n_unlabeled: int) -> None:
    """Save the model, and print what was learned."""
    stages.seconds.update(classifier.training_summary_["seconds"])
    with stages.stage("save"):
        size = classifier.save(given.output, force=given.force)
    summary = {
        "model": str(given.output),
        "bytes": size,
        **classifier.training_summary_,
        "unlabeled": n_unlabeled,
        "seconds": stages.seconds,
        **found_words(classifier.vectorizer_),
        **estimates.expected_on_test_set(classifier.training_summary_, given.test_size),
    }
    if given.json:
        print_json(summary)
    elif given.quiet:
        say(one_line(summary))
    else:
        show(summary, given.test_size)
        model = quoted(given.output)
        next_step(given, f"widemargin evaluate {model} TEST, or widemargin predict {model} NEW")
    note_found(summary, given.quiet)
