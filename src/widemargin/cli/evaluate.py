"""``widemargin evaluate MODEL DATA``: how good a model is on labelled documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from widemargin.cli import options
from widemargin.cli.output import counted, print_json, show_table
from widemargin.cli.predict import check_form, load_classifier
from widemargin.cli.train import read_all
from widemargin.errors import DataError, DataWarning

if TYPE_CHECKING:
    from widemargin.classifier import TextClassifier
    from widemargin.documents.collection import Collection, Vectors
    from widemargin.measure.summary import Summary

EXAMPLE = "Example: widemargin evaluate tickets.wm held-out.csv --text body --label team"


def run(
    model: options.ModelFile,
    data: options.DataSource,
    text: options.Text = None,
    label: options.Label = None,
    id: options.Id = None,
    label_delimiter: options.LabelDelimiter = None,
    format: options.Format = None,
    encoding: options.Encoding = None,
    errors: options.Errors = "replace",
    threads: options.Threads = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Measure a model on labelled documents it has not seen.

    Precision, recall, F1 and the precision/recall break-even point of every label, with their micro- and
    macro-averages. Documents without a label are left out.
    """
    from widemargin.documents.collection import Vectors

    classifier = load_classifier(model, threads)
    reading = options.reading(format, text, label, id, label_delimiter, encoding, errors)
    collection = read_all(data, quiet, reading)
    check_form(classifier, data, vectors=isinstance(collection, Vectors))
    summary = measured(classifier, collection)
    if json:
        print_json({"model": str(model), "data": data, **summary.to_dict()})
    else:
        show(summary)


def measured(classifier: TextClassifier, collection: Collection | Vectors) -> Summary:
    """The measures of `classifier` on the labelled documents of `collection`."""
    import warnings

    from widemargin.measure.summary import summarize

    kept = [i for i, labels in enumerate(collection.labels) if labels is not None]
    if not kept:
        raise DataError(f"None of the {len(collection)} documents has a label, so nothing can be measured.")
    if len(kept) < len(collection):
        missing = counted(len(collection) - len(kept), "document")
        warnings.warn(f"{missing} without a label left out.", DataWarning, stacklevel=2)
        collection = collection.subset(kept)
    space = classifier.label_space_
    label_sets = _typed(collection.labels, classifier)
    known = set(space.classes.tolist())
    strange = sorted({str(label) for labels in label_sets for label in labels if label not in known})
    if strange:
        shown = ", ".join(strange[:5]) + (", ..." if len(strange) > 5 else "")
        if space.kind == "binary":
            raise DataError(
                f"The model tells {' from '.join(map(str, space.classes))}; the data also has {shown}. "
                f"Evaluate on documents of the two classes."
            )
        warnings.warn(
            f"the data has {counted(len(strange), 'label')} that the model never chooses: {shown}.",
            DataWarning,
            stacklevel=2,
        )
    return summarize(space, _truth(label_sets, classifier), classifier.decision_function(collection))


def _typed(label_sets: list[Any], classifier: TextClassifier) -> list[tuple[Any, ...]]:
    """Labels of a file are strings; those of a model that was trained in Python may be numbers."""
    by_name = {str(label): label for label in classifier.classes_.tolist()}
    return [tuple(by_name.get(label, label) for label in labels) for labels in label_sets]


def _truth(label_sets: list[tuple[Any, ...]], classifier: TextClassifier) -> Any:
    """Signs of the columns; a document outside the model's labels is positive in none."""
    import numpy as np

    space = classifier.label_space_
    if space.kind != "multilabel":
        several = sum(len(labels) != 1 for labels in label_sets)
        if several:
            raise DataError(
                f"{counted(several, 'document')} have none or several labels, but the model chooses one. "
                f"Train with --multilabel, or evaluate on documents with one label each."
            )
    places = {label: j for j, label in enumerate(space.column_names.tolist())}
    truth = np.full((len(label_sets), space.n_columns), -1, dtype=np.int8)
    for i, labels in enumerate(label_sets):
        for label in labels:
            if label in places:
                truth[i, places[label]] = 1
    return truth


def show(summary: Summary) -> None:
    """The table of a summary on stdout, and what it comes to in one line."""
    from widemargin.report.tables import summary_table

    show_table(summary_table(summary))
    share = "with exactly the right labels" if summary.kind == "multilabel" else "right"
    line = f"{100 * summary.accuracy:.1f} % of {counted(summary.n, 'document')} {share}"
    if summary.hamming_loss is not None:
        line += f"; Hamming loss {summary.hamming_loss:.4f}"
    print(line + ".")
