"""`report`: one page about a model, for the person who owns the categories."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from widemargin import __version__
from widemargin.classifier.scorer import Scorer
from widemargin.classifier.text_classifier import TextClassifier
from widemargin.diagnose.parts import label_sets
from widemargin.documents.collection import Collection, Vectors
from widemargin.errors import DataError, UsageError
from widemargin.labels import Labels
from widemargin.measure.quality import Quality
from widemargin.model_report.card import card_of
from widemargin.model_report.comparing import compare_models
from widemargin.model_report.copies import copies_across, copies_by_hash
from widemargin.model_report.errors import cases_of, confusions_of, doubts_of, explained_of, training_doubts
from widemargin.model_report.learning import learning_curve_of
from widemargin.model_report.measuring import Measured, measure
from widemargin.model_report.tradeoffs import calibrated, tradeoffs
from widemargin.report.contents import CategoryPart, Copies, ModelReport, Tested
from widemargin.report.html.charts import check_charts
from widemargin.report.html.compared_page import compared_page
from widemargin.report.html.model_page import model_page
from widemargin.report.html.page import Page

TERMS = 10  # per category, for and against


def report(
    model: Any,
    test: Any = None,
    *,
    other: Any = None,
    train: Any = None,
    source: str = "",
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Page:
    """A page about a model: how good it is, where it errs, and what other thresholds would do.

    Parameters
    ----------
    model : a model file, or a fitted :class:`~widemargin.TextClassifier`
    test : labeled documents that the model has not seen, optional: a Collection, Vectors, or a pair of texts
        and labels. Without them, the page shows what training estimated.
    other : another model, which is compared with the first one on `test`
    train : the training documents, optional, in the same form: for the learning curve, near-duplicates in
        `test`, and the texts of training documents whose labels look wrong
    source : what to call the test documents
    random_state : random seed of the learning curve
    n_jobs : number of threads

    Returns
    -------
    Page
        ``save("report.html")`` writes it as one file that needs no network; notebooks show it.

    Examples
    --------
    >>> import widemargin
    >>> texts = ["wheat and corn harvest", "the bank cut its rate", "corn exports rose", "bank profits fell"]
    >>> classifier = widemargin.TextClassifier(tune=None, estimate=None)
    >>> classifier = classifier.fit(texts, ["grain", "money", "grain", "money"])
    >>> page = widemargin.report(classifier, (["corn prices", "bank rates"], ["grain", "money"]))
    >>> page.title
    'Report: model'
    """
    check_charts()
    if other is not None and test is None:
        raise UsageError("Comparing two models needs test documents. Pass test as well.")
    documents, training = as_documents(test, "test"), as_documents(train, "train")
    first = LoadedModel(model, n_jobs)
    if other is None:
        found, _ = gather(first, documents, training, source, random_state, n_jobs)
        return model_page(found)
    assert documents is not None
    second = LoadedModel(other, n_jobs)
    if first.name == second.name:
        first.name, second.name = f"{first.name} (first)", f"{second.name} (second)"
    gathered = [gather(one, documents, None, source, random_state, n_jobs) for one in (first, second)]
    (one, measured), (two, also_measured) = gathered
    assert measured is not None
    assert also_measured is not None
    return compared_page(compare_models(measured, also_measured, (one, two), source or "test documents"))


class LoadedModel:
    """A model with its name and, if it was read from one, its file."""

    def __init__(self, model: Any, n_jobs: int | None) -> None:
        self.path = None
        self.name = "model"
        if isinstance(model, str | os.PathLike):
            self.path = Path(model)
            self.name = self.path.name
            model = TextClassifier.load(self.path)
            for part in (model.vectorizer_, model.learner_):
                if part is not None and hasattr(part, "n_jobs"):
                    part.n_jobs = n_jobs
        if not isinstance(model, TextClassifier):
            raise UsageError(f"model={model!r}: expected a model file, or a fitted TextClassifier.")
        self.classifier = model


def gather(
    model: LoadedModel,
    test: Collection | Vectors | None,
    train: Collection | Vectors | None,
    source: str,
    seed: int,
    n_jobs: int | None,
) -> tuple[ModelReport, Measured | None]:
    """All that the page shows."""
    classifier = model.classifier
    scorer, space, rule = classifier.scorer, classifier.label_space_, classifier.rule_
    summary = scorer.summary
    estimated = Quality.from_dict(summary["estimates"]) if summary.get("estimates") else None
    missing: list[str] = []
    labels = space.classes.tolist()
    no_thresholds = ""
    if rule.costs is not None:
        no_thresholds = "The model decides by costs between classes, not by thresholds."
    elif rule.hierarchy is not None:
        no_thresholds = "The labels of a hierarchy are decided together, not each by its own threshold."
    measured = tested = learned = copies = None
    if test is None:
        missing.append(
            "Measured figures, precision-recall curves, the threshold chooser, the confusion matrix, "
            "calibration and "
            "explained documents need labeled test documents: widemargin report MODEL TEST."
        )
    else:
        measured = measure(scorer, test)
        tested = _tested(measured, labels, source)
    if train is None:
        missing.append("The learning curve and near-duplicates of training documents need --train DATA.")
    else:
        learned = learning_curve_of(classifier, train, measured, seed)
        if learned is None:
            missing.append("This learner has no learning curve, or there are too few training documents.")
    copies = _copies(scorer, train, test, n_jobs)
    doubts = training_doubts(scorer, train if isinstance(train, Collection) else None)
    if doubts is None:
        missing.append(
            "Suspected labels of training documents need held-out scores: train with --estimate auto."
        )
    curves = None if measured is None or no_thresholds else tradeoffs(measured)
    weights = classifier.has_weights
    if not weights:
        missing.append(f"A {type(classifier.learner_).__name__} has no weights of terms to list.")
    categories = []
    for j, label in enumerate(labels):
        terms = scorer.top_terms(label, TERMS) if weights else None
        categories.append(
            CategoryPart(
                label=str(label),
                estimated=None if estimated is None else estimated.labels[j],
                measured=None if tested is None else tested.quality.labels[j],
                break_even=None if measured is None else measured.summary.rows[j].prbep,
                tradeoff=None if curves is None else curves[j],
                terms_for=[] if terms is None else terms.positive,
                terms_against=[] if terms is None else terms.negative,
            )
        )
    found = ModelReport(
        name=model.name,
        task=space.kind,
        labels=[str(label) for label in labels],
        categories=categories,
        card=card_of(classifier, model.path, estimated, train, test),
        estimated=estimated,
        tested=tested,
        learned=learned,
        copies=copies,
        doubted_training=doubts,
        doubted_by=str(summary.get("suspects_by", "")),
        thresholds_apply=no_thresholds,
        raw_labels=labels,
        missing=missing,
        version=__version__,
    )
    return found, measured


def _tested(measured: Measured, labels: list[Any], source: str) -> Tested:
    cases = cases_of(measured)
    return Tested(
        source=source or "test documents",
        documents=len(measured.truth),
        quality=measured.quality,
        cases=cases,
        confusions=confusions_of(measured, cases),
        calibrated=calibrated(measured),
        explained=explained_of(measured, labels),
        doubts=doubts_of(measured),
        notes=list(measured.summary.notes),
    )


def _copies(scorer: Scorer, train: Any, test: Any, n_jobs: int | None) -> Copies | None:
    """Near-duplicates if there are training documents, otherwise what the model itself recognizes."""
    if not isinstance(test, Collection):
        return None
    if isinstance(train, Collection):
        return copies_across(train, test, n_jobs)
    return copies_by_hash(scorer, test)


def as_documents(given: Any, name: str) -> Collection | Vectors | None:
    """Documents in any form that `report` takes."""
    if given is None or isinstance(given, Collection | Vectors):
        documents: Collection | Vectors | None = given
    else:
        try:
            texts, y = given
        except (TypeError, ValueError):
            raise UsageError(
                f"{name}: expected a Collection, Vectors, or a pair of texts and labels."
            ) from None
        texts = list(texts)
        if not texts:
            raise DataError(f"{name}: there are no documents.")
        known = Labels.partial(y, n=len(texts))
        sets = [
            None if unlabeled else tuple(str(label) for label in one)
            for unlabeled, one in zip(known.unlabeled, label_sets(known), strict=True)
        ]
        documents = Collection([str(i) for i in range(len(texts))], texts, sets)
    if documents is not None and not len(documents):
        raise DataError(f"{name}: there are no documents.")
    return documents
