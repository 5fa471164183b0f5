"""Exported collections are canonical files that the readers read back."""

from __future__ import annotations

import json
import lzma

import pytest

from widemargin.documents.corpora import export_corpus, load_corpus
from widemargin.documents.reading import read_collection
from widemargin.errors import StorageError

RECORDS = [
    {"id": "1", "split": "train", "labels": ["C01", "C02"], "text": "Title.\n été"},
    {"id": "10000", "split": "test", "labels": ["C01"], "text": "Other."},
]


@pytest.fixture
def data(tmp_path, monkeypatch):
    path = tmp_path / "data" / "ohsumed" / "ohsumed-first-20000-docs.jsonl.xz"
    path.parent.mkdir(parents=True)
    path.write_bytes(lzma.compress("".join(json.dumps(record) + "\n" for record in RECORDS).encode()))
    monkeypatch.setenv("WIDEMARGIN_DATA", str(tmp_path / "data"))
    return tmp_path


def test_a_split_becomes_two_files(data):
    paths = export_corpus("ohsumed", directory=data / "deep" / "out")
    assert [path.name for path in paths] == ["train.jsonl", "test.jsonl"]
    assert paths[0].read_text("utf-8") == '{"id": "1", "text": "Title.\\n été", "labels": ["C01", "C02"]}\n'
    corpus = load_corpus("ohsumed")
    assert read_collection(paths[0]) == corpus.train
    assert read_collection(paths[1]) == corpus.test
    assert sorted(path.name for path in (data / "deep" / "out").iterdir()) == ["test.jsonl", "train.jsonl"]


def test_without_a_split_there_is_one(data):
    (path,) = export_corpus("ohsumed", None, data / "out")
    assert path.name == "all.jsonl"
    assert len(read_collection(path)) == 2


def test_a_folder_that_cannot_be_made(data):
    (data / "file").write_text("x")
    with pytest.raises(StorageError, match="cannot be created"):
        export_corpus("ohsumed", directory=data / "file" / "out")


@pytest.mark.needs_corpus("a1a")
def test_vectors_become_svm_light_files(tmp_path):
    paths = export_corpus("a1a", directory=tmp_path)
    assert [path.name for path in paths] == ["train.svm", "test.svm"]
    written, corpus = read_collection(paths[1]), load_corpus("a1a")
    assert (written.ids, written.labels) == (corpus.test.ids, corpus.test.labels)
    assert (written.X != corpus.test.X).nnz == 0
