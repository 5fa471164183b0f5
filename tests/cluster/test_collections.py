"""`fit` and `predict` on Dask bags, Series and DataFrames."""

from __future__ import annotations

import json

import pytest

from tests.cluster.test_executor import documents  # noqa: F401  # a fixture
from widemargin import NaiveBayes, TextClassifier
from widemargin.errors import DataError, UsageError

bag = pytest.importorskip("dask.bag")
frame = pytest.importorskip("dask.dataframe")
pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def client(tasks):
    with tasks.client.as_current():
        yield tasks.client


@pytest.fixture(scope="module")
def expected(documents, tmp_path_factory):  # noqa: F811
    """The model of one process."""
    file = tmp_path_factory.mktemp("files") / "all.jsonl"
    records = [json.dumps({"text": t, "labels": [y]}) for t, y in zip(*documents, strict=True)]
    file.write_text("\n".join(records))
    return TextClassifier(tune=None).fit_files(file, memory="256MB")


def test_collections_give_the_model_of_one_process(client, documents, expected):  # noqa: F811
    texts, labels = documents
    records = [{"text": text, "labels": [label]} for text, label in zip(texts, labels, strict=True)]
    table = frame.from_pandas(pandas.DataFrame({"text": texts, "label": labels}), npartitions=3)
    for given in ((bag.from_sequence(records, npartitions=4),), (table,), (table["text"], table["label"])):
        found = TextClassifier(tune=None).fit(*given)
        assert (found.learner_.coef_ != expected.learner_.coef_).sum() == 0
        assert found.training_summary_["estimates"] == expected.training_summary_["estimates"]


def test_predictions_are_lazy_and_the_same(client, documents, expected):  # noqa: F811
    texts = documents[0]
    wanted = expected.predict(texts).tolist()
    some = bag.from_sequence(texts, npartitions=3)
    assert expected.predict(some).compute() == wanted
    series = frame.from_pandas(
        pandas.Series(texts, index=range(5, 5 + len(texts)), name="text"), npartitions=3
    )
    found = expected.predict(series)
    assert found.npartitions == series.npartitions
    assert found.compute().tolist() == wanted
    assert found.compute().index.tolist() == list(range(5, 5 + len(texts)))


def test_what_cannot_be_read_is_told(client, documents):  # noqa: F811
    texts, labels = documents
    with pytest.raises(DataError, match="Expected records"):
        TextClassifier(tune=None).fit(bag.from_sequence(texts, npartitions=2))
    with pytest.raises(UsageError, match="partitions"):
        TextClassifier(tune=None).fit(
            bag.from_sequence(texts, npartitions=2), bag.from_sequence(labels, npartitions=3)
        )
    with pytest.raises(UsageError, match="linear SVMs"):
        TextClassifier(learner=NaiveBayes(), tune=None).fit(
            bag.from_sequence(texts), bag.from_sequence(labels)
        )
    with pytest.raises(UsageError, match="sample_weight"):
        TextClassifier(tune=None).fit(bag.from_sequence(texts), bag.from_sequence(labels), sample_weight=[1])
