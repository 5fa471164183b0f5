"""One reader of JSON Lines and one batcher: however lines arrive, the same documents in the same order."""

from __future__ import annotations

import json
import os
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin.documents.batches import Batch, joined, whole_first
from widemargin.documents.formats.label_cells import labels_of_value
from widemargin.documents.reading import read_documents, read_stream
from widemargin.documents.record import Document
from widemargin.documents.sources import byte_source as opening
from widemargin.errors import DataError

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
labels = st.one_of(st.none(), text, st.integers(), st.lists(text, max_size=3))
record = st.fixed_dictionaries(
    {"text": text},
    optional={
        "id": st.one_of(text, st.integers(), st.none()),
        "labels": labels,
        "label": labels,
        "more": text,
    },
)


def numbers(*sizes: int) -> list[Batch]:
    batches, start = [], 0
    for size in sizes:
        names = [str(i) for i in range(start, start + size)]
        batches.append(Batch(names, names, [None] * size, list(range(start, start + size)), []))
        start += size
    return batches


@pytest.mark.filterwarnings("ignore::widemargin.errors.DataWarning")  # of ids that repeat
@settings(deadline=None, max_examples=200)
@given(records=st.lists(record, min_size=1, max_size=12), blank=st.booleans(), escaped=st.booleans())
def test_lines_read_together_are_the_lines_read_one_by_one(tmp_path_factory, records, blank, escaped):
    # The first says which fields there are.
    records = [{"id": "first", "text": "first", "labels": ["first"], "label": None}, *records]
    path = tmp_path_factory.mktemp("jsonl") / "d.jsonl"
    lines = [json.dumps(found, ensure_ascii=escaped) for found in records]
    path.write_text(("\n\n" if blank else "\n").join(lines), encoding="utf-8")
    expected = []
    for count, found in enumerate(records, 1):
        identifier, known = found.get("id"), labels_of_value(found.get("labels"))
        known = labels_of_value(found.get("label")) if known is None else known
        expected.append(Document(str(count) if identifier is None else str(identifier), found["text"], known))
    assert list(read_documents(path)) == expected
    assert [document for batch in read_stream(path).batches(size=3) for document in batch] == expected


def test_documents_before_a_bad_line_come_before_its_error(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text('{"text": "one"}\n{"text": "two"}\nthree\n{"text": "four"}\n')
    reader, came = iter(read_documents(path)), []
    with pytest.raises(DataError, match="line 3"):
        came.extend(iter(lambda: next(reader).text, None))
    assert came == ["one", "two"]
    batches = read_stream(path).batches()
    (batch,) = batches
    assert (batch.texts, batch.lines, len(batch.bad)) == (["one", "two", "four"], [1, 2, 4], 1)


@pytest.mark.parametrize("open_source", [read_documents, read_stream])
def test_a_batch_ends_where_a_pipe_has_nothing_more(open_source, monkeypatch):
    readable, writable = os.pipe()
    monkeypatch.setattr(opening.sys, "stdin", os.fdopen(readable, "r"))
    with os.fdopen(writable, "w", buffering=1) as writer:
        writer.write('{"text": "one"}\n{"text": "two"}\n')
        batches = open_source("-", format="jsonl").batches()
        assert next(batches).texts == ["one", "two"]  # while the pipe stays open
        waiting = threading.Timer(0.05, writer.write, ['{"text": "three"}\n'])
        waiting.start()
        assert next(batches).texts == ["three"]
        waiting.join()
    assert list(batches) == []


def test_batches_are_joined_while_more_is_there_and_cut_to_size():
    def sizes(ready, *given, size):
        return [len(batch) for batch in joined(numbers(*given), lambda: ready, size)]

    assert sizes(True, 1, 1, 1, 1, 1, size=3) == [3, 2]
    assert sizes(True, 2, 7, 1, size=3) == [3, 3, 3, 1]
    assert sizes(False, 2, 7, 1, size=8) == [2, 7, 1]
    ids = [i for batch in joined(numbers(2, 7, 1), lambda: True, 3) for i in batch.ids]
    assert ids == [str(i) for i in range(10)]


@pytest.mark.parametrize(
    ("n", "given", "expected"),
    [(1, (2, 3), [2, 3]), (4, (2, 3, 1), [4, 1, 1]), (5, (2, 3, 1), [5, 1]), (9, (2, 3), [5]), (9, (), [])],
)
def test_the_first_batch_may_have_to_be_of_one_size(n, given, expected):
    assert [len(batch) for batch in whole_first(numbers(*given), n)] == expected
