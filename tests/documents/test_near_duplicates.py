"""Near-duplicates: all pairs that comparing all of them finds, in groups, at scale."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.near_duplicates import similar_pairs
from widemargin.documents.near_duplicates import WINDOW, near_duplicates
from widemargin.errors import DataError, UsageError

WORDS = ["a", "B", "corn", "oil", "1", "22", "née"]
TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=12).flatmap(
        lambda words: st.sampled_from([" ", ", ", "\n"]).map(lambda space: space.join(words))
    ),
    min_size=1,
    max_size=12,
)


def by_pair(found):
    return {tuple(pair): value for pair, value in zip(found.pairs.tolist(), found.similarity, strict=True)}


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from([0.51, 0.6, 0.75, 0.8, 0.9, 1.0]))
def test_as_comparing_all_pairs(texts, similar):
    found = near_duplicates(texts, similar)
    expected = similar_pairs(texts, similar)
    pairs = by_pair(found)
    # Of documents with the same shingles only the first stands for them all.
    first = {}
    for (i, j), value in expected.items():
        if value == 1:
            first[j] = min(first.get(j, i), i)
    wanted = {
        (i, j): float(value)
        for (i, j), value in expected.items()
        if (value == 1 and i == first[j]) or (value < 1 and i not in first and j not in first)
    }
    assert pairs == pytest.approx(wanted)
    # The groups are those of all pairs.
    root = list(range(len(texts)))

    def top(i):
        return i if root[i] == i else top(root[i])

    for i, j in expected:
        root[top(j)] = top(i)
    alone = [i for i in range(len(texts)) if not any(i in pair for pair in expected)]
    assert [i for i in range(len(texts)) if found.group[i] < 0] == alone
    for i in range(len(texts)):
        for j in range(i):
            if i not in alone and j not in alone:
                assert (found.group[i] == found.group[j]) == (top(i) == top(j))


def random_texts(n, generator, vocabulary=2000, length=60):
    ranks = np.arange(1, vocabulary + 1)
    shares = 1 / ranks
    words = np.array([f"w{i}" for i in range(vocabulary)])
    drawn = generator.choice(words, size=(n, length), p=shares / shares.sum())
    return [" ".join(row) for row in drawn]


def edited(text, generator, edits=1):
    words = text.split()
    for place in generator.choice(len(words), size=edits, replace=False):
        words[place] = "changed"
    return " ".join(words)


def test_planted_copies_and_nothing_else():
    generator = np.random.default_rng(0)
    texts = random_texts(3000, generator)
    planted = []
    for i in range(0, 300, 3):
        copy = [texts[i], texts[i].upper() + "!", edited(texts[i], generator)][(i // 3) % 3]
        planted.append((i, len(texts)))
        texts.append(copy)
    found = near_duplicates(texts)
    assert sorted(map(tuple, found.pairs.tolist())) == planted
    assert found.exact.tolist() == [(i // 3) % 3 == 0 for i, _ in planted]
    assert len(found.groups()) == len(planted)


def test_a_large_group_is_one_group():
    generator = np.random.default_rng(1)
    (text,) = random_texts(1, generator, length=200)
    texts = [edited(text, generator) for _ in range(3 * WINDOW)]
    (group,) = near_duplicates(texts).groups()
    assert group.tolist() == list(range(len(texts)))


def test_reports_that_differ_in_figures_are_different():
    texts = [
        f"qtly div {a} cts vs {a - 1} cts prior payable {a + 3} april record {a + 9} march" for a in (5, 50)
    ]
    assert len(near_duplicates(texts).pairs) == 0


def test_the_same_with_any_number_of_threads():
    generator = np.random.default_rng(2)
    texts = random_texts(500, generator)
    texts += [edited(text, generator, 2) for text in texts[:100]]
    one, two = near_duplicates(texts, n_jobs=1), near_duplicates(texts, n_jobs=2)
    for name in ("pairs", "similarity", "exact", "group"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize("texts", [[], [""], ["", " ", "!"], ["word"]])
def test_nothing_to_find(texts):
    found = near_duplicates(texts)
    assert found.pairs.shape == (0, 2)
    assert found.groups() == []


def test_bad_input():
    with pytest.raises(UsageError, match="similar"):
        near_duplicates(["a"], 0.3)
    with pytest.raises(DataError, match="Document 1"):
        near_duplicates(["a", None])


@pytest.mark.slow
def test_a_hundred_thousand_documents_take_less_than_a_minute():
    generator = np.random.default_rng(3)
    texts = random_texts(98_000, generator, 50_000, 150)
    texts += [edited(text, generator) for text in texts[:2000]]
    start = time.process_time()
    found = near_duplicates(texts, n_jobs=2)
    assert time.process_time() - start < 60
    assert sorted(map(tuple, found.pairs.tolist())) == [(i, 98_000 + i) for i in range(2000)]
