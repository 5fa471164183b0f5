"""``widemargin label LABELED UNLABELED -o OUT``: label a collection from a few labeled documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from widemargin.cli import options
from widemargin.cli.commands import Given, takes
from widemargin.cli.files import check_model, check_target, read_all, remember_reading, without_labels
from widemargin.cli.inputs.sources import first_and_second
from widemargin.cli.options import chosen_learner
from widemargin.cli.options import features as selections
from widemargin.cli.options.given_vectors import found_words, note_found, pair
from widemargin.cli.options.text import vectorizing, word_files
from widemargin.cli.output import Stages, note, print_json, say
from widemargin.cli.verbs.predict import writer_for
from widemargin.cli.watching.next_steps import next_step, quoted
from widemargin.errors import UsageError
from widemargin.tune.learners import text_options

# Document vectors help most where few documents have labels (benchmarks/few_labels.py).
DEFAULT_BLOCKS = "words,vectors"
EXAMPLE = "Example: widemargin label marked.csv rest.csv -o labeled.jsonl --positives relevant=0.1"


@takes("label")
def run(given: Given) -> None:
    """Label a whole collection from a few labeled documents.

    Learning uses the unlabeled documents too: a transductive SVM searches for the labels with the widest
    margin between the classes, self-training learns from the surest documents, or naive Bayes counts them in
    every class by its probability (--learner). Beside their words, documents have vectors that are learned
    from all of them (--blocks words,vectors; --blocks words for words only).
    With one file, its documents without labels are labeled; with two, those of the second file.

    The output has one JSON object per line, {"id": ..., "labels": [...], "score": ..., "certainty": ...}.
    Certainty is 0 at the decision boundary and 1 at the margin or beyond (naive-bayes: how much more probable
    the label is than the next); it is not a probability. Finally, a statistical test of transductive-svm
    compares labeled and unlabeled documents, and reports labels that should not be trusted.
    --model saves a model for new documents, which predict, evaluate, explain and inspect accept.

    With --query, documents are ranked instead: by the query, and, once some are marked relevant or not
    relevant in the labels of the ranking and it is passed back, by a transductive SVM as well.
    """
    given.labeled, given.unlabeled = first_and_second(given, "labeled", "unlabeled")
    _check_options(given)
    if given.query is not None:
        from widemargin.cli import feedback

        feedback.run(given)
        return
    inputs = [given.labeled, given.unlabeled, *word_files(given)]
    for written in (given.output, given.plot):
        if written is not None:
            check_target(written, inputs)
    if given.model is not None:
        check_model(given.model, inputs, force=given.force)
    learning = chosen_learner.given_of(given, given.learner, options.options_of("label").values())
    terms = vectorizing(_with_vectors(given), text_options(given.learner))
    wanted = None if given.features is None else selections.parse(given.features, given.seed)
    stages = Stages()
    with stages.stage("read"):
        reading = options.reading(given)
        first = read_all(given.labeled, given.quiet, dict(reading))
        second = None
        if given.unlabeled is not None:
            second = read_all(given.unlabeled, given.quiet, without_labels(reading))
    # Only now, so that a mistake in the data is told at once.
    from widemargin.classifier import TextClassifier
    from widemargin.cli import label_task, simulation
    from widemargin.weight.vectorizer import Vectorizer

    task = label_task.gather(given.labeled, first, given.unlabeled, second, given.multilabel)
    pair(terms["blocks"], task.documents)
    classifier = TextClassifier(
        Vectorizer(**terms),
        _learner(given, learning, label_task.fractions(given.positives, task)),
        features=wanted and selections.make(*wanted, task.unit_length(terms), given.threads),
        tune=None,
        estimate=None,
    )
    if given.simulate is not None:
        simulation.run(task, classifier, given)
        return
    label_task.fit(task, classifier)
    stages.seconds.update(classifier.training_summary_["seconds"])
    rows = label_task.rows(task, classifier.learner_, every_score=given.scores, keep_text=given.keep_text)
    writer_for(given.output, safe_csv=given.safe_csv)([rows])
    summary = {"output": given.output, **label_task.summary(task, classifier, rows)}
    if given.next:
        summary["next"] = label_task.ask(task, classifier, given.next, given.seed)
    if given.model is not None:
        remember_reading(classifier, first)
        with stages.stage("save"):
            summary |= {"model": str(given.model), "bytes": classifier.save(given.model, force=given.force)}
    summary |= {"seconds": stages.seconds, **found_words(classifier.vectorizer_)}
    if given.json and given.output != "-":
        print_json(summary)
    elif not given.quiet:
        for line in label_task.in_words(summary):
            # Where the documents go to stdout, the summary goes to stderr.
            note(line, False) if given.output == "-" else say(line)
        step = "correct labels that look wrong, and pass them with LABELED to label the rest again"
        if given.model is not None:
            step = f"widemargin predict {quoted(given.model)} NEW"
        next_step(given, step, given.output)
    note_found(summary, given.quiet)


def _with_vectors(given: Given) -> Given:
    """The options, with document vectors beside words unless the terms are chosen otherwise."""
    plain = given.units in (None, "words") and given.ngrams in (None, "1") and not given.hashed
    plain = plain and given.phrases is None and given.pairs is None
    if given.blocks is not None or not plain or given.features is not None or given.learner == "naive-bayes":
        return given
    return Given(**{**vars(given), "blocks": DEFAULT_BLOCKS})


def _learner(given: Given, learning: dict[str, Any], positives: Any) -> Any:
    if given.learner == "naive-bayes":
        from widemargin.learn.bayes.semi_supervised import SemiSupervisedBayes

        return SemiSupervisedBayes(**learning, n_jobs=given.threads)
    if given.learner == "self-training":
        from widemargin.learn.svm.linear_svm import LinearSVM
        from widemargin.learn.unlabeled.self_training import SelfTraining

        one = LinearSVM(learning.pop("C", 1.0), random_state=given.seed, n_jobs=given.threads)
        if "unlabeled_weight" in learning:
            learning["weight"] = learning.pop("unlabeled_weight")
        return SelfTraining(one, **learning, n_jobs=given.threads)
    from widemargin.learn.svm.transductive import TransductiveSVM

    # What is printed on stdout needs no warning on stderr.
    on_alarm = learning.pop("on_alarm", "warn")
    told = given.simulate is not None or (on_alarm == "warn" and not (given.quiet or given.json))
    common = {"random_state": given.seed, "n_jobs": given.threads, "verbose": not given.quiet}
    return TransductiveSVM(
        **{**learning, "positives": positives},
        on_alarm="ignore" if told else on_alarm,
        **common,
    )


def _check_options(given: Given) -> None:
    """Refuse what makes no sense before anything is read."""
    _check_ranking(given)
    if given.simulate is None:
        if given.plot is not None:
            raise UsageError("--plot needs --simulate N.")
        if given.output is None and given.query is not None:
            return
        if given.output is None:
            raise UsageError("No output is given. Add -o OUT.jsonl, or -o - for stdout.")
        if given.model is not None and given.model.resolve() == Path(given.output).resolve():
            raise UsageError(f"Labels and model cannot both be written to {given.output}. Name two files.")
        writer_for(given.output, safe_csv=given.safe_csv)
        return
    if given.unlabeled is not None or given.output is not None or given.model is not None:
        raise UsageError(
            "--simulate hides known labels: it takes only LABELED, and neither --output nor --model."
        )
    if given.features is not None:
        raise UsageError("--features does not apply to --simulate: it would select by hidden labels.")
    if given.plot is not None:
        from widemargin.report.plots import check_plot

        check_plot(given.plot)


def _check_ranking(given: Given) -> None:
    """Refuse what does not apply to a ranking, before anything is read."""
    if given.query is None:
        if given.relevant is not None:
            raise UsageError("--relevant needs --query.")
        return
    whole = {
        "simulate": "measures labels",
        "model": "keeps a rule for labels",
        "features": "selects by labels",
        "multilabel": "is for labels",
        "scores": "is for labels",
    }
    for name, why in whole.items():
        if getattr(given, name):
            raise UsageError(f"--{name} {why}, but --query ranks documents. Use one of them.")
    if given.learner != "transductive-svm":
        raise UsageError(f"--query ranks by transductive-svm. Omit --learner {given.learner}.")
    if given.on_alarm != "warn":
        raise UsageError(
            "--on-alarm does not apply to --query: its tests need marks of randomly chosen documents."
        )
