"""SVM-light files."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin.documents.collection import Vectors
from widemargin.documents.formats.svmlight import read_vectors, write_vectors
from widemargin.documents.reading import read_collection, read_documents
from widemargin.errors import DataError, DataWarning, UsageError


def write(tmp_path, content):
    path = tmp_path / "data.svm"
    path.write_text(content)
    return path


def test_targets_queries_and_comments(tmp_path):
    path = write(
        tmp_path,
        "# head\n+1 qid:3 1:0.5 4:2 # row one\n\n-1 qid:4 2:1e-2\n0 qid:4\n1,5 qid:5 3:-1\n qid:6 1:1\n",
    )
    vectors = read_collection(path)
    assert isinstance(vectors, Vectors)
    assert vectors.ids == ["row one", "2", "3", "4", "5"]
    assert vectors.labels == [("1",), ("-1",), None, ("1", "5"), ()]
    assert vectors.qids == [3, 4, 4, 5, 6]
    assert vectors.X.dtype == np.float32
    dense = [[0.5, 0, 0, 2], [0, 0.01, 0, 0], [0, 0, 0, 0], [0, 0, -1, 0], [1, 0, 0, 0]]
    np.testing.assert_array_equal(vectors.X.toarray(), np.array(dense, np.float32))


def test_costs_of_rows(tmp_path):
    rows = "1 cost:2.5 3:1\n-1 3:1\n1 qid:3 cost:.5 1:1 # named\n-1 cost:0 qid:4 2:1\n1 cost:1e1\n"
    vectors = read_collection(write(tmp_path, rows))
    assert vectors.weights == [2.5, 1.0, 0.5, 0.0, 10.0]
    assert vectors.qids == [0, 0, 3, 4, 0]
    assert (vectors.ids[2], vectors.X.shape) == ("named", (5, 3))
    assert vectors.subset([4, 0]).weights == [10.0, 2.5]
    assert read_vectors(write(tmp_path, "1 3:1\n-1 cost:1 3:1\n")).weights is None, "all weigh the same"


def test_more_columns_than_occur(tmp_path):
    assert read_vectors(write(tmp_path, "1 2:1\n"), n_features=7).X.shape == (1, 7)


def test_blocks_join_without_a_seam(tmp_path):
    rows = [f"{1 if i % 2 else -1} {i % 7 + 1}:{i + 1} {i % 7 + 9}:0.5" for i in range(10_000)]
    rows[4095] = rows[4096] = "1"  # rows without features at the end and the beginning of a block
    vectors = read_vectors(write(tmp_path, "\n".join(rows)))
    for i in (0, 1, 4094, 4095, 4096, 4097, 9_999):
        expected = {} if rows[i] == "1" else {i % 7: i + 1, i % 7 + 8: 0.5}
        row = vectors.X[[i]].tocoo()
        assert dict(zip(row.coords[1].tolist(), row.data.tolist(), strict=True)) == expected


def test_zero_as_a_class_is_questioned(tmp_path):
    with pytest.warns(DataWarning, match="1 row with the target 0"):
        assert read_vectors(write(tmp_path, "0 1:1\n1 1:1\n")).labels == [None, ("1",)]
    assert read_vectors(write(tmp_path, "0 1:1\n-1 1:1\n")).labels == [None, ("-1",)]
    assert read_vectors(write(tmp_path, "0 1:1\n")).labels == [None]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1 3:nan", "line 2: feature 3 is nan"),
        ("1 3:-inf", "line 2: feature 3 is -inf"),
        ("1 3:1e39", "line 2: feature 3: 1e39 is beyond single precision"),
        ("1 3:1e999", "beyond single precision"),
        ("1 0:1", "line 2: feature 0: numbers begin at 1"),
        ("1 2147483648:1", r"2147483648: numbers may not exceed 2\*\*31 - 1"),
        (f"1 {'9' * 5000}:1", "may not exceed"),
        ("1 3:1 2:1", "feature 2: comes after 3"),
        ("1 3:1 3:1", "feature 3: given twice"),
        ("spam 3:1", "the target spam is not a number"),
        ("1 x:1", "the feature x is not a whole number"),
        ("1 -3:1", "the feature -3 is not a whole number"),
        ("1 3:x", "feature 3: x is not a number"),
        ("1 3:", "not a number"),
        ("1 3", "3 is not feature:value"),
        ("1 3:1:2", "1:2 is not a number"),
        ("1 3:1 qid:2", "qid:2 is not a query number after the target"),
        ("1 3:0x10", "0x10 is not a number"),
        ("1 sid:2 3:1", "line 2: sid:2: shared slacks are not supported"),
        ("1 cost:dear 3:1", "line 2: cost:dear is not a cost after the target. Write `1 cost:2.5 3:0.5`"),
        ("1 cost: 3:1", "line 2: cost: is not a cost after the target"),
        ("1 cost:nan 3:1", "line 2: cost:nan is not a cost"),
        ("1 3:1 cost:2", "line 2: cost:2 is not a cost after the target"),
        ("1 cost:-1 3:1", "line 2: cost:-1 is not a factor of a cost. Write a number from 0 on"),
        ("1 cost:1e999 3:1", "line 2: cost:1e999 is not a factor of a cost"),
        ("1 cost:1 cost:2 3:1", "line 2: cost is given twice"),
    ],
)
def test_malformed_rows_are_told_with_their_line(tmp_path, row, message):
    with pytest.raises(DataError, match=message):
        read_vectors(write(tmp_path, f"1 1:1\n{row}\n1 1:1\n"))


def test_the_largest_feature_number(tmp_path):
    assert read_vectors(write(tmp_path, "1 2147483647:1\n")).X.shape == (1, 2**31 - 1)


def test_an_empty_file_and_texts_of_vectors(tmp_path):
    with pytest.raises(DataError, match="has no rows"):
        read_vectors(write(tmp_path, "# nothing\n"))
    with pytest.raises(UsageError, match="contains vectors"):
        read_documents(write(tmp_path, "1 1:1\n"))


some_labels = st.none() | st.lists(st.integers(-5, 5).filter(bool).map(str), unique=True, max_size=3).map(
    tuple
)
values = st.floats(width=32, allow_nan=False, allow_infinity=False).filter(bool)
rows = st.tuples(some_labels, st.dictionaries(st.integers(0, 50), values, max_size=5), st.integers(1, 9))


@settings(max_examples=40)
@given(
    rows=st.lists(rows, min_size=1).filter(lambda rows: not any(r[0] is None for r in rows)),
    named=st.booleans(),
    queries=st.booleans(),
    cost=st.none() | st.floats(0, 1e30).filter(lambda cost: cost != 1),
)
def test_round_trip(rows, named, queries, cost, tmp_path_factory):
    path = tmp_path_factory.mktemp("round") / "data.svm"
    dense = np.zeros((len(rows), 51), np.float32)
    for i, (_, features, _) in enumerate(rows):
        for j, value in features.items():
            dense[i, j] = value
    ids = [f"row {i}" if named else str(i) for i in range(1, len(rows) + 1)]
    labels = [row[0] for row in rows]
    qids = [row[2] for row in rows] if queries else None
    weights = None if cost is None else [cost, *[1.0] * (len(rows) - 1)]
    write_vectors(Vectors(ids, sp.csr_array(dense), labels, qids, weights), path)
    read = read_vectors(path, n_features=51)
    assert (read.ids, read.labels, read.qids, read.weights) == (ids, labels, qids, weights)
    np.testing.assert_array_equal(read.X.toarray(), dense)


def test_unlabeled_rows_and_names_are_written_as_svm_light_can(tmp_path):
    X = sp.csr_array(np.ones((2, 1), np.float32))
    write_vectors(Vectors(["1", "2"], X, [None, ("-1",)]), tmp_path / "a.svm")
    assert read_vectors(tmp_path / "a.svm").labels == [None, ("-1",)]
    with pytest.raises(DataError, match="not numbers"):
        write_vectors(Vectors(["1", "2"], X, [None, ("spam",)]), tmp_path / "a.svm")
    assert read_vectors(tmp_path / "a.svm").labels == [None, ("-1",)]
    assert [path.name for path in tmp_path.iterdir()] == ["a.svm"]


def test_a_class_zero_would_be_read_as_unlabeled(tmp_path):
    X = sp.csr_array(np.ones((2, 1), np.float32))
    with pytest.raises(DataError, match="Row 2: the label is 0, which means unlabeled"):
        write_vectors(Vectors(["1", "2"], X, [("1",), ("0",)]), tmp_path / "a.svm")
