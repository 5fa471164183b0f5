"""Blocks of rows: what is written is read again, and nothing else is taken for a block."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.on_disk.collections import resealed
from tests.reference.row_blocks import decode_block
from widemargin._arrays import Csr
from widemargin.errors import DataError
from widemargin.on_disk.rows import HEADER, EncodedRows, Rows, below, block_size, decode, encode

MOST = 2**31 - 1
TYPES = {"counts": np.int32, "float32": np.float32, "float64": np.float64}
columns = st.one_of(st.integers(0, 300), st.integers(0, 70_000), st.integers(0, MOST - 1))
counts = st.one_of(st.integers(1, 5), st.integers(1, MOST))
documents = st.tuples(
    st.dictionaries(columns, counts, max_size=20),
    st.sets(st.integers(0, 200), max_size=4),
    st.integers(0, 2**64 - 1),
    st.floats(0, 10),
)


def made(given_rows, values="counts", weighted=True) -> Rows:
    """Rows of (columns to counts, labels, key, weight)."""
    rows = [sorted(row.items()) for row, *_ in given_rows]
    labels = [sorted(found) for _, found, *_ in given_rows]
    flat = [pair for row in rows for pair in row]
    csr = Csr(
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
        np.array([column for column, _ in flat], dtype=np.int32),
        np.array([value for _, value in flat], dtype=TYPES[values]),
        MOST,
    )
    return Rows(
        np.array([key for _, _, key, _ in given_rows], dtype=np.uint64),
        csr,
        np.cumsum([0, *map(len, labels)], dtype=np.int64),
        np.array([label for found in labels for label in found], dtype=np.int32),
        201,
        np.array([weight for *_, weight in given_rows], dtype=float) if weighted else None,
    )


def assert_same(a: Rows, b: Rows) -> None:
    assert a.n_label_columns == b.n_label_columns
    assert a.csr.n_columns == b.csr.n_columns
    for one, other in zip([a.keys, *a.csr[:3], *a[2:4]], [b.keys, *b.csr[:3], *b[2:4]], strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    assert (a.weights is None) == (b.weights is None)
    if a.weights is not None:
        np.testing.assert_array_equal(a.weights, b.weights)


@given(st.lists(documents, max_size=12), st.sampled_from(list(TYPES)), st.booleans())
@settings(max_examples=150, deadline=None)
def test_rows_come_back(some, values, weighted):
    rows = made(some, values, weighted)
    block = encode(rows)
    assert_same(decode(block), rows)
    head, size = block_size(block[:HEADER])
    assert size == len(block)
    alone = EncodedRows(block[:head])
    np.testing.assert_array_equal(alone.keys(), rows.keys)
    np.testing.assert_array_equal(alone.labels()[1], rows.labels)
    slowly = decode_block(block.tobytes())
    assert [key for key, *_ in slowly] == rows.keys.tolist()
    assert [list(row) for _, row, *_ in slowly] == [sorted(row) for row, *_ in some]
    assert [v for _, row, *_ in slowly for v in row.values()] == rows.csr.data.tolist()
    assert [labels for _, _, labels, _ in slowly] == [sorted(labels) for _, labels, *_ in some]
    assert [weight for *_, weight in slowly] == ([w for *_, w in some] if weighted else [None] * len(some))


@given(st.lists(documents, min_size=1, max_size=12), st.data())
@settings(max_examples=80, deadline=None)
def test_some_rows_are_read_without_the_others(some, data):
    rows = made(some)
    which = sorted(data.draw(st.sets(st.integers(0, len(some) - 1))))
    found = EncodedRows(encode(rows)).csr(np.array(which, dtype=np.int32))
    expected = rows.csr.matrix[which] if which else rows.csr.matrix[:0]
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.data, expected.data)
    np.testing.assert_array_equal(found.indptr, expected.indptr)


@given(st.lists(st.lists(documents, max_size=4), min_size=1, max_size=4))
@settings(max_examples=50, deadline=None)
def test_blocks_of_parts_are_blocks_of_the_whole(parts):
    together = below([made(part) for part in parts])
    assert_same(together, made([document for part in parts for document in part]))


def test_a_block_is_encoded_in_the_order_that_is_asked_for():
    some = [({i: 1}, {i}, i, 1.0) for i in range(5)]
    np.testing.assert_array_equal(encode(made(some), np.array([3, 1])), encode(made([some[3], some[1]])))


@pytest.mark.parametrize("values", list(TYPES))
def test_damaged_bytes_are_refused(values):
    """Every byte of a block is covered by a checksum, also where it is cut or longer."""
    rng = np.random.default_rng(0)
    some = [
        (
            {int(c): int(v) for c, v in zip(rng.integers(0, 9999, 9), rng.integers(1, 9, 9), strict=True)},
            {i},
            i,
            1.0,
        )
        for i in range(7)
    ]
    block = encode(made(some, values))
    for at in range(len(block)):
        for flipped in (1, 128):
            broken = block.copy()
            broken[at] ^= flipped
            with pytest.raises(DataError, match="damaged"):
                decode(broken)
    head, _ = block_size(block)
    for size in [*range(0, len(block), 7), len(block) - 1]:
        if size != head:
            with pytest.raises(DataError, match="damaged"):
                decode(block[:size])
    with pytest.raises(DataError, match="its length"):
        decode(np.append(block, np.uint8(0)))


@given(st.lists(documents, min_size=1, max_size=6), st.sampled_from(list(TYPES)), st.data())
@settings(max_examples=400, deadline=None)
def test_nonsense_with_right_checksums_is_decoded_or_refused(some, values, data):
    """Decoding checks every step: nothing outside of the bytes is read, and no row has wrong columns."""
    block = encode(made(some, values))
    broken = block.copy()
    for _ in range(data.draw(st.integers(1, 4))):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    try:
        rows = decode(resealed(broken))
    except DataError:
        return
    lengths = np.diff(rows.csr.indptr)
    assert (lengths >= 0).all()
    assert rows.csr.indptr[-1] == len(rows.csr.indices)
    for row in range(rows.n_rows):
        found = rows.csr.indices[rows.csr.indptr[row] : rows.csr.indptr[row + 1]]
        assert (np.diff(found) > 0).all()
        assert ((found >= 0) & (found < rows.csr.n_columns)).all()


def test_resealing_makes_a_valid_block():
    block = encode(made([({1: 2}, {3}, 4, 1.0)]))
    np.testing.assert_array_equal(resealed(block), block)


@pytest.mark.parametrize(
    "wrong",
    [
        {"indices": np.array([3, 3], np.int32)},
        {"indices": np.array([4, 3], np.int32)},
        {"indices": np.array([-1, 3], np.int32)},
        {"n_columns": 3},
        {"data": np.array([0, 1], np.int32)},
        {"data": np.array([1], np.int32)},
        {"indptr": np.array([0, 3], np.int64)},
        {"indptr": np.array([0, 1], np.int64)},
    ],
    ids=str,
)
def test_rows_that_are_not_canonical_are_not_written(wrong):
    rows = made([({1: 1, 3: 2}, set(), 0, 1.0)])
    with pytest.raises(ValueError, match=r"."):
        encode(rows._replace(csr=rows.csr._replace(**wrong)))
