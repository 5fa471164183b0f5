"""Documents in memory."""

from __future__ import annotations

import json

import numpy as np
import scipy.sparse as sp

from widemargin.documents.collection import Collection, Vectors
from widemargin.documents.record import Document

DOCUMENTS = [Document("a", "één", ("x", "y")), Document("b", "two", ()), Document("c", "three", None)]


def test_a_collection_gives_back_its_documents():
    collection = Collection.of(DOCUMENTS)
    assert list(collection) == DOCUMENTS
    assert list(collection.subset(np.array([2, 0]))) == [DOCUMENTS[2], DOCUMENTS[0]]
    assert collection.label_counts() == {"x": 1, "y": 1}


def test_the_canonical_line_tells_unlabeled_from_in_no_category():
    assert [json.loads(document.to_json())["labels"] for document in DOCUMENTS] == [["x", "y"], [], None]
    assert "één" in DOCUMENTS[0].to_json()


def test_vectors_subset_keeps_rows_together():
    X = sp.csr_array(np.eye(3, dtype=np.float32))
    vectors = Vectors(["a", "b", "c"], X, [("1",), None, ()], [7, 8, 9])
    part = vectors.subset([2, 0])
    assert (part.ids, part.labels, part.qids) == (["c", "a"], [(), ("1",)], [9, 7])
    assert part.X.toarray().tolist() == [[0, 0, 1], [1, 0, 0]]
