"""Splits: every document once, groups and near-duplicates in one part, shares of labels, order of times."""

from __future__ import annotations

import warnings
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from widemargin import split
from widemargin.documents.collection import Collection
from widemargin.documents.near_duplicates import near_duplicates
from widemargin.errors import DataError, DataWarning, UsageError

SIZES = st.lists(st.integers(5, 25), min_size=2, max_size=5)
SETS = st.lists(st.lists(st.sampled_from("abcde"), max_size=3, unique=True), min_size=8, max_size=80)
SEEDS = st.integers(0, 3)


def texts_of(n):
    """Texts without a word in common, so that none are near-duplicates."""
    return [f"w{i}a w{i}b w{i}c w{i}d" for i in range(n)]


def quietly(*arguments, **options):
    """A split; one that cannot be made is no example."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            return split(*arguments, **options)
        except DataError:
            assume(False)


def counts(labels, places):
    return Counter(label for i in places for label in labels[i])


@settings(max_examples=60, deadline=None)
@given(SETS, st.sampled_from([0.1, 0.25, 0.5, 3]), st.sampled_from([None, 0.2, 2]), SEEDS)
def test_every_document_is_in_one_part(sets, test, dev, seed):
    found = quietly(texts_of(len(sets)), sets, test, dev=dev, random_state=seed)
    assert sorted(np.concatenate(list(found)).tolist()) == list(range(len(sets)))
    assert all((np.diff(part) > 0).all() and len(part) for part in found)
    again = split(texts_of(len(sets)), sets, test, dev=dev, random_state=seed)
    assert [part.tolist() for part in again] == [part.tolist() for part in found]


@settings(max_examples=60, deadline=None)
@given(SIZES, st.sampled_from([0.1, 0.2, 0.5, 5]), SEEDS)
def test_single_documents_give_exact_sizes_and_shares(many, test, seed):
    labels = [label for label, size in zip("abcde", many, strict=False) for _ in range(size)]
    n = len(labels)
    _, held_out = split(texts_of(n), labels, test, random_state=seed)
    asked = test if isinstance(test, int) else max(1, round(test * n))
    assert len(held_out) == asked
    sizes = Counter(labels)
    frequent = max(sizes.values())
    for label, size in sizes.items():
        wanted = size * asked / n
        found = sum(labels[i] == label for i in held_out)
        # The most frequent label makes up for what others are rounded by.
        assert abs(found - wanted) < (1 if size < frequent else len(sizes)), label


@settings(max_examples=60, deadline=None)
@given(SETS, st.lists(st.integers(0, 9), min_size=80, max_size=80), SEEDS)
def test_groups_stay_in_one_part_and_every_label_is_learned(sets, groups, seed):
    groups = groups[: len(sets)]
    found = quietly(texts_of(len(sets)), sets, 0.3, groups, random_state=seed)
    assert not {groups[i] for i in found.train} & {groups[i] for i in found.test}
    assert set(counts(sets, found.test)) <= set(counts(sets, found.train))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=8, max_size=40), st.booleans(), SEEDS)
def test_near_duplicates_stay_in_one_part(kinds, with_time, seed):
    words = "one two three four five six seven eight nine ten"
    texts = [f"k{kind} " * 3 + words.replace("t", f"t{kind}") + f" v{i % 2}" for i, kind in enumerate(kinds)]
    times = list(range(len(texts))) if with_time else None
    labels = ["ab"[i % 2] for i in range(len(texts))]
    found = quietly(texts, labels, 0.3, times=times, random_state=seed)
    part = np.zeros(len(texts), int)
    part[found.test] = 1
    near = near_duplicates(texts)
    assert found.n_near == np.count_nonzero(near.group >= 0)
    for members in near.groups():
        assert len(set(part[members])) == 1


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.integers(1990, 1995), st.none()), min_size=6, max_size=40),
    st.sampled_from([None, 0.2]),
    SEEDS,
)
def test_test_documents_are_the_latest(years, dev, seed):
    found = quietly(texts_of(len(years)), test=0.25, times=years, dev=dev, random_state=seed)
    moments = np.array([-np.inf if year is None else year for year in years])
    parts = list(found)
    for earlier, later in pairwise(parts):
        assert moments[earlier].max() <= moments[later].min()
    assert len(found.test) == max(1, round(0.25 * len(years)))
    assert found.n_later == 0


def test_rare_labels_do_not_all_go_to_training():
    labels = [f"label{i // 2}" for i in range(200)]
    _, test = split(texts_of(200), labels, 0.25)
    assert len(test) == 50
    assert len({labels[i] for i in test}) == 50


def test_rows_of_an_indicator_and_label_sets_are_the_same():
    rng = np.random.default_rng(0)
    matrix = (rng.random((60, 4)) < 0.3).astype(int)
    sets = [[str(j) for j in np.flatnonzero(row)] for row in matrix]
    by_matrix, by_sets = split(texts_of(60), matrix), split(texts_of(60), sets)
    assert by_matrix.test.tolist() == by_sets.test.tolist()


def test_the_number_of_threads_does_not_matter():
    texts = [f"copy {i // 2} of a text about corn number {i // 2}" for i in range(40)]
    parts = [split(texts, list("ab") * 20, n_jobs=n).test.tolist() for n in (1, 2)]
    assert parts[0] == parts[1]


def test_unlabeled_documents_are_trained_on():
    labels = ["a", "b", None, None] * 10
    found = split(texts_of(40), labels, 0.5)
    assert all(labels[i] is not None for i in found.test)
    assert len(found.test) == 10
    assert found.n_unlabeled == 20
    with_groups = split(texts_of(40), labels, 0.5, groups=[i // 4 for i in range(40)])
    assert with_groups.n_unlabeled == 10  # those of the other groups follow their labeled documents


def test_collections_tables_and_vectors():
    collection = Collection(list(map(str, range(10))), texts_of(10), [("a",), ("b",)] * 5)
    collection.times = [float(i) for i in range(10)]
    assert split(collection, test=3).test.tolist() == [7, 8, 9]
    y = ["a", "b"] * 5
    tables = [
        {"title": texts_of(10), "body": texts_of(10)},
        [{"title": text, "body": None} for text in texts_of(10)],
        np.ones((10, 3)),
    ]
    assert len({tuple(split(table, y, 4).test.tolist()) for table in tables}) == 1
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"title": texts_of(10), "when": pandas.date_range("2020-01-01", periods=10)})
    assert split(frame["title"], y, 4, times=frame["when"]).test.tolist() == [6, 7, 8, 9]


def test_copies_of_training_documents_may_be_later_than_test_documents():
    texts = texts_of(10)
    texts[9] = texts[0]
    with pytest.warns(DataWarning, match="later than the first"):
        found = split(texts, test=3, times=range(10))
    assert 9 in found.train
    assert found.n_later == 1


@pytest.mark.parametrize("size", [0, 1, 1.0, -0.2, 1.5, True, "0.2", float("nan")])
def test_sizes_that_make_no_sense(size):
    with pytest.raises(UsageError, match=r"fraction above 0 and below 1, such as 0\.2"):
        split(texts_of(10), list("ab") * 5, size)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": 10}, "none is left to train on. Hold out less"),
        ({"test": 0.6, "dev": 0.5}, "none is left to train on"),
        ({"groups": ["x"] * 10}, r"all documents are in one group.*--group"),
        ({"groups": ["x"] * 3}, "10 documents and 3 groups"),
        ({"times": [1] * 10}, "All documents have the same time"),
        ({"times": [1, 2]}, "10 documents and 2 times"),
        ({"times": ["soon"] * 10}, "soon"),
        ({"groups": [["x"]] * 10}, "of type list"),
        ({"y": ["a"]}, "10 documents and 1 labels"),
        ({"y": list("abcdefghij")}, "every label needs a training document"),
    ],
)
def test_what_cannot_be_split(options, message):
    with pytest.raises(DataError, match=message):
        split(texts_of(10), **{"y": list("ab") * 5, **options})


def test_all_texts_alike():
    with pytest.raises(DataError, match="near_duplicates=False"):
        split(["the same text again"] * 10, list("ab") * 5)
    assert len(split(["the same text again"] * 10, list("ab") * 5, near_duplicates=False).test) == 2


def test_large_groups_change_the_size_and_that_is_said():
    with pytest.warns(DataWarning, match="test part has 5 labeled documents instead of 2"):
        split(texts_of(10), list("ab") * 5, 0.2, groups=[i // 5 for i in range(10)])
