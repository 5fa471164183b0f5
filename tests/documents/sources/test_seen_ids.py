"""Ids that occurred before: the same answers as a set, in little memory."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from widemargin.documents.sources.seen_ids import SeenIds

BLOCKS = st.lists(st.lists(st.sampled_from([str(n) for n in range(30)]), max_size=12), max_size=12)


@given(BLOCKS)
def test_as_a_set(blocks):
    seen, known = SeenIds(), set()
    for block in blocks:
        expected = []
        for identifier in block:
            expected.append(identifier in known)
            known.add(identifier)
        assert seen.add(block).tolist() == expected
        assert len(seen) == len(known)
    assert seen.has([str(n) for n in range(30)]).tolist() == [str(n) in known for n in range(30)]


@given(BLOCKS, BLOCKS)
def test_merging(first, second):
    one, other = SeenIds(), SeenIds()
    for seen, blocks in ((one, first), (other, second)):
        for block in blocks:
            seen.add(block)
    one.merge(other)
    known = {identifier for block in [*first, *second] for identifier in block}
    assert len(one) == len(known)
    assert one.has(sorted(known)).all()


def test_no_more_than_it_may_remember():
    seen = SeenIds(most=5)
    for start in range(0, 20, 4):
        seen.add([str(n) for n in range(start, start + 4)])
        assert len(seen) <= 5


def test_memory():
    seen = SeenIds()
    tracemalloc.start()
    for start in range(0, 400_000, 4_000):
        seen.add([f"document {n}" for n in range(start, start + 4_000)])
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 10 * len(seen)
