"""Dask bags, Series and DataFrames as the input of a classifier."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from widemargin.classifier.fitting.steps import Fitted
from widemargin.classifier.on_dask.kept_models import kept_scorer
from widemargin.classifier.on_dask.training import fitted_on_partitions
from widemargin.cluster.connecting import connected
from widemargin.cluster.extra import distributed
from widemargin.cluster.tasks import Tasks
from widemargin.errors import DataError, UsageError


def fitted_on_dask(classifier: Any, vectorizer: Any, learner: Any, texts: Any, y: Any, **more: Any) -> Fitted:
    """Train on a bag of records {"text", "labels"}, on a Series of texts with one of labels, or on a
    DataFrame with columns "text" and "labels" or "label"; by the current client, or by workers here."""
    given = [name for name, value in more.items() if value is not None]
    if given:
        raise UsageError(f"{given[0]} does not go with Dask collections. Omit it, or train in memory.")
    with _current() as tasks:
        return fitted_on_partitions(classifier, vectorizer, learner, _partitions(tasks, texts, y), tasks)


@contextlib.contextmanager
def _current() -> Iterator[Tasks]:
    """Tasks of the client that the caller has made, or of new worker processes."""
    try:
        client = distributed().default_client()
    except ValueError:
        with connected("local") as tasks:
            yield tasks
        return
    yield Tasks(client)


def _partitions(tasks: Tasks, texts: Any, y: Any) -> list[Any]:
    """Futures of the texts and label sets of every partition."""
    if y is None:
        parts = tasks.client.compute(_delayed(texts))
        return [tasks.submit(_of_records, part) for part in parts]
    first, second = tasks.client.compute(_delayed(texts)), tasks.client.compute(_delayed(y))
    if len(first) != len(second):
        raise UsageError(
            f"The texts have {len(first)} partitions and the labels {len(second)}. Take both from one "
            f"collection."
        )
    return [tasks.submit(_of_pair, *pair) for pair in zip(first, second, strict=True)]


def _delayed(collection: Any) -> list[Any]:
    if not hasattr(collection, "to_delayed"):
        raise UsageError(f"A {type(collection).__name__} is not a Dask bag, Series or DataFrame. Pass one.")
    return list(collection.to_delayed())


def _of_pair(texts: Any, labels: Any) -> tuple[list[str], list[Any]]:
    texts, labels = list(texts), [_label_set(each) for each in labels]
    if len(texts) != len(labels):
        raise DataError(
            f"A partition has {len(texts)} texts and {len(labels)} labels. Pass one for each text."
        )
    return texts, labels


def _of_records(records: Any) -> tuple[list[str], list[Any]]:
    if hasattr(records, "columns"):
        names = [name for name in ("labels", "label") if name in records.columns]
        if "text" not in records.columns or not names:
            found = ", ".join(map(str, records.columns))
            raise DataError(
                f'Expected the columns "text" and "labels", found {found}. Rename them, or pass y.'
            )
        return _of_pair(records["text"], records[names[0]])
    texts, labels = [], []
    for record in records:
        if not isinstance(record, Mapping) or "text" not in record:
            shown = repr(record)[:60]
            raise DataError(f'Expected records such as {{"text": "...", "labels": ["..."]}}, found {shown}.')
        texts.append(record["text"])
        labels.append(_label_set(record.get("labels", record.get("label"))))
    return texts, labels


def _label_set(value: Any) -> Any:
    """The labels of a document; None if it has none that are known."""
    if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):  # NaN is not itself
        return None
    return (
        (value,) if isinstance(value, str | int | float) or not hasattr(value, "__iter__") else tuple(value)
    )


def predicted_lazily(classifier: Any, texts: Any) -> Any:
    """The labels of a bag or Series of texts, as a bag or Series; every worker loads the model once."""
    from dask.delayed import delayed

    with tempfile.TemporaryDirectory(prefix="widemargin-model-") as folder:
        file = Path(folder) / "model.wm"
        classifier.save(file)
        model = delayed(file.read_bytes(), pure=True)
    if hasattr(texts, "map_partitions") and not hasattr(texts, "dtypes") and not hasattr(texts, "dtype"):
        return texts.map_partitions(_labels_of, model)
    return texts.map_partitions(_series_of, model, meta=(getattr(texts, "name", None), object))


def _labels_of(texts: Any, model: bytes) -> list[Any]:
    texts = list(texts)
    return list(kept_scorer(model).decide(texts)) if texts else []


def _series_of(texts: Any, model: bytes) -> Any:
    import pandas as pd

    return pd.Series(_labels_of(texts, model), index=texts.index, name=texts.name, dtype=object)
