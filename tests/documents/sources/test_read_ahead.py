"""Reading on a thread of its own while something else is at work."""

from __future__ import annotations

import threading
import time

import pytest

from widemargin.documents.batches import Batch
from widemargin.documents.reading import read_stream
from widemargin.documents.sources.read_ahead import read_ahead
from widemargin.errors import DataError


def documents(start, stop):
    texts = [f"text {i}" for i in range(start, stop)]
    return Batch(
        list(map(str, range(start, stop))), texts, [("a",)] * len(texts), list(range(start, stop)), []
    )


def test_all_documents_come_in_their_order_however_they_are_gathered():
    came = []
    for batch in read_ahead(documents(i, i + 3) for i in range(0, 300, 3)):
        assert len(batch.texts) == len(batch.labels) == len(batch.lines) > 0
        came += batch.lines
    assert came == list(range(300))


def test_what_arrives_while_nobody_asks_comes_together_up_to_a_limit():
    read = []

    def batches():
        for i in range(0, 1000, 10):
            read.append(i)
            yield documents(i, i + 10)

    taken = read_ahead(batches(), most=50)
    first = next(taken)
    deadline = time.monotonic() + 20
    while len(read) * 10 < len(first) + 60:  # a sixth batch is read, and waits until five are taken
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(next(taken)) == 50
    taken.close()


def test_an_error_comes_after_the_documents_before_it():
    def batches():
        yield documents(0, 5)
        raise DataError("line 6: no document")

    taken = read_ahead(batches())
    assert next(taken).lines == [0, 1, 2, 3, 4]
    with pytest.raises(DataError, match="line 6"):
        next(taken)


def test_the_thread_ends_when_nobody_wants_more():
    taken = read_ahead((documents(i, i + 1) for i in range(10**9)), most=3)
    next(taken)
    taken.close()
    deadline = time.monotonic() + 20
    while any(thread.name == "read_ahead" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_lines_of_every_kind_side_by_side(tmp_path):
    path = tmp_path / "documents.jsonl"
    lines = [
        '{"text": "plain", "labels": ["a"]}',
        '{"text": "escaped \\u00e9", "labels": ["a"]}',
        '{"text": "a pair \\ud83d\\ude00", "labels": ["b"]}',
        '{"text": "half a pair \\uD83d", "labels": ["b"]}',
        "",
        '{"text": "two", "labels": ["a", "b"]}',
        "no record",
        '{"text": "last", "labels": null}',
    ]
    path.write_bytes("\r\n".join(lines).encode())
    (batch,) = read_stream(path).batches()
    assert batch.texts == ["plain", "escaped é", "a pair 😀", "half a pair �", "two", "last"]
    assert batch.labels == [("a",), ("a",), ("b",), ("b",), ("a", "b"), None]
    assert batch.lines == [1, 2, 3, 4, 6, 8]
    assert len(batch.bad) == 1
    assert "line 7" in str(batch.bad[0])
