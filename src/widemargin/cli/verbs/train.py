"""``widemargin train DATA -o MODEL``: learn a classifier and write it to one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from widemargin.cli import estimates, learners, online, options, squares, stream, text_options
from widemargin.cli import features as selections
from widemargin.cli.files import check_model, read_all
from widemargin.cli.output import Stages, print_json
from widemargin.cli.training_report import show
from widemargin.errors import UsageError

EXAMPLE = "Example: widemargin train tickets.csv -o tickets.wm --text body --label team --ngrams 1-2"


def run(
    data: options.DataSource,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="The model file to write.")],
    force: options.Force = False,
    text: options.Text = None,
    label: options.Label = None,
    id: options.Id = None,
    label_delimiter: options.LabelDelimiter = None,
    format: options.Format = None,
    encoding: options.Encoding = None,
    errors: options.Errors = "replace",
    max_document: options.MaxDocument = options.MAX_DOCUMENT,
    multilabel: options.Multilabel = False,
    weighting: text_options.Weighting = None,
    tokens: text_options.TokensOption = text_options.Tokens.alnum,
    units: text_options.UnitsOption = text_options.Units.words,
    ngrams: text_options.Ngrams = "1",
    min_df: text_options.MinDf = "1",
    max_df: text_options.MaxDf = "1.0",
    max_features: text_options.MaxFeatures = None,
    stop_words: text_options.StopWords = None,
    stemmer: text_options.Stemmer = None,
    hashed: text_options.Hashed = None,
    features: selections.Features = None,
    learner: learners.Learner = learners.Name.linear_svm,
    C: learners.Cost = None,
    regularization: squares.Regularization = None,
    loss: learners.Loss = None,
    bias: learners.Bias = None,
    class_weight: learners.ClassWeight = None,
    tol: learners.Tolerance = None,
    kernel: learners.Kernel = None,
    gamma: learners.Gamma = None,
    degree: learners.Degree = None,
    coef0: learners.Coef0 = None,
    power: learners.Power = None,
    stabilizer_size: learners.StabilizerSize = None,
    scheme: learners.Scheme = None,
    cache: learners.Cache = None,
    eta: online.Eta = None,
    promotion: online.Promotion = None,
    demotion: online.Demotion = None,
    average: online.Average = None,
    normalize: online.Normalize = None,
    passes: online.Passes = None,
    stream_: online.Stream = False,
    save_every: online.SaveEvery = None,
    resume: online.Resume = False,
    max_labels: online.MaxLabels = 1000,
    tune: estimates.Tune = None,
    estimate: estimates.Estimate = None,
    thresholds: estimates.Thresholds = None,
    calibrate: estimates.Calibrate = estimates.CalibrationName.none,
    threads: options.Threads = None,
    seed: options.Seed = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Learn a classifier from labeled documents and write it to one file.

    The representation and C are chosen from the documents, unless options say what they are.
    Documents with one label each make a task of two or more classes; if some have none or several,
    every label is decided by itself. Unlabeled documents are left out. SVM-light files are vectors already.

    The run ends with what to expect of the model on new documents, label by label, and how sure that is.
    """
    check_model(output, [data, text_options.stop_word_file(stop_words)], force=force)
    vectorizing: dict[str, Any] = {
        "weighting": weighting or online.WEIGHTINGS.get(learner.value, "tfc"),
        "tokens": tokens.value,
        "units": units.value,
        "ngram_range": text_options.ngram_range(ngrams),
        "min_df": text_options.frequency("--min-df", min_df),
        "max_df": text_options.frequency("--max-df", max_df),
        "max_features": max_features,
        "stop_words": text_options.stop_word_list(stop_words),
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
        regularization=regularization,
        tol=tol,
        kernel=kernel,
        kernel_options={
            "gamma": gamma,
            "degree": degree,
            "coef0": coef0,
            "power": power,
            "stabilizer_size": stabilizer_size,
            "scheme": None if scheme is None else scheme.value,
            "cache": cache,
        },
        online_options={
            "eta": eta,
            "promotion": promotion,
            "demotion": demotion,
            "average": None if average is None else average.value,
            "normalize": normalize,
            "max_iter": passes,
        },
    )
    learning |= {"random_state": seed, "n_jobs": threads, "verbose": not quiet}
    reading = options.reading(format, text, label, id, label_delimiter, encoding, errors, max_document)
    if stream_:
        whole = {"tune": tune, "estimate": estimate, "thresholds": thresholds, "features": features}
        stream.check(learner, vectorizing, [option for option, value in whole.items() if value is not None])
        settings = stream.Settings(save_every, resume, max_labels, multilabel, force, json, quiet)
        stream.run(data, output, reading, (learner, learning, vectorizing), settings)
        return
    if save_every is not None or resume:
        raise UsageError("--save-every and --resume are for streams. Add --stream.")
    wanted = None if features is None else selections.parse(features, seed)
    if tune is None:
        tune = "fast" if learner is learners.Name.linear_svm and wanted is None else "none"
    effort = estimates.tuning_effort(tune)
    if wanted is not None and effort is not None:
        raise UsageError("Use either --tune or --features.")
    named = {"weighting": weighting, "stemmer": stemmer, "stop_words": stop_words}
    explicit = {f"vectorizer__{name}": vectorizing[name] for name, given in named.items() if given is not None}
    if C is not None:
        explicit["learner__C"] = C
    from widemargin.documents.collection import Vectors

    stages = Stages()
    with stages.stage("read"):
        collection = read_all(data, quiet, reading)
    # Only now, so that a mistake in the data is told at once.
    from widemargin.classifier import TextClassifier
    from widemargin.labels import Labels
    from widemargin.weight.vectorizer import Vectorizer

    on_vectors = isinstance(collection, Vectors)
    labels = Labels.of_documents(collection.labels, multilabel=multilabel)
    several = labels.space.kind == "multilabel"
    if estimate is None and learner.is_online:
        estimate = estimates.EstimateName.k_fold  # leave-one-out would train them once a document
    method = estimates.chosen_estimate(estimate, len(collection), len(collection.label_counts()))
    if estimate is None and method == "xi-alpha" and learner is learners.Name.least_squares:
        method = "k-fold"  # there are no bounds for squared errors
    cosine = vectorizing["weighting"].endswith("c")
    classifier = TextClassifier(
        vectorizer=Vectorizer(**vectorizing),
        learner=learners.make_learner(learner, learning),
        features=None if wanted is None else selections.make(*wanted, unit_length=cosine and not on_vectors),
        tune=effort,
        estimate=method,
        thresholds=estimates.chosen_thresholds(thresholds, method, several_labels=several),
        calibration=None if calibrate is estimates.CalibrationName.none else calibrate.value,
    )
    classifier.set_params(**explicit)
    classifier.fit(collection, labels)
    stages.seconds.update(classifier.training_summary_["seconds"])
    with stages.stage("save"):
        size = classifier.save(output, force=force)
    summary = {
        "model": str(output),
        "bytes": size,
        **classifier.training_summary_,
        "unlabeled": int(labels.unlabeled.sum()),
        "seconds": stages.seconds,
    }
    if json:
        print_json(summary)
    elif not quiet:
        show(summary)
