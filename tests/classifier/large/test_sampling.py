"""The sample of documents depends on their keys alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin.classifier.large.sampling import SmallestKeys

KEYS = st.lists(st.integers(0, 2**64 - 1), max_size=60)


@given(KEYS, st.integers(1, 12), st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_any_division_gives_the_smallest(keys, most, size):
    sample = SmallestKeys(most)
    for start in range(0, len(keys), size):
        some = np.array(keys[start : start + size], np.uint64)
        wanted = sample.wanted(some)
        sample.add(some[wanted], [str(key) for key in some[wanted].tolist()])
    assert sample.items == [str(key) for key in sorted(keys)[:most]]


@given(KEYS, st.integers(0, 200), st.integers(1, 7), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_a_limit_of_bytes_is_a_prefix(keys, most_bytes, size, random):
    keys = list(set(keys))
    random.shuffle(keys)
    sample = SmallestKeys(20, most_bytes)
    for start in range(0, len(keys), size):
        some = np.array(keys[start : start + size], np.uint64)
        wanted = sample.wanted(some)
        some = some[wanted].tolist()
        sample.add(np.array(some, np.uint64), [str(key) for key in some], [key % 50 for key in some])
    expected, used = [], 0
    for key in sorted(keys)[:20]:
        used += key % 50
        if used > most_bytes and expected:
            break
        expected.append(str(key))
    assert sample.items == expected
