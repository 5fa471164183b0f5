"""The steps of a cluster, each on parts of a collection: the same blocks as on one machine."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

from tests.on_disk.collections import build, write_runs
from tests.on_disk.test_store import SETTINGS, chunks_of, collection
from widemargin import Vectorizer
from widemargin.on_disk import (
    BlockPlan,
    Renumbering,
    StoreWriter,
    count_run,
    counting_rules,
    cut_by_keys,
    cut_into_blocks,
    encode,
    hashed_frequencies,
    key_bounds,
    merge_terms,
    merged_facts,
    merged_terms,
    sort_pieces,
)
from widemargin.on_disk.cutting import gather_rows


def sent(value):
    """As it arrives at another process."""
    return pickle.loads(pickle.dumps(value))


def on_a_cluster(folder, vectorizer, chunks, n_ranges, block_entries):
    """The files of a store, made of parts that are sent around; and what is known of the whole."""
    runs = [
        sent(count_run(sent(vectorizer), [text for text, *_ in chunk], [labels for _, labels, _ in chunk]))
        for chunk in chunks
    ]
    facts = merged_facts([sent(run.info) for run in runs])
    if vectorizer.n_hashed is not None:
        frequencies = sum(hashed_frequencies(run.rows) for run in runs)
        merged = facts._replace(frequencies=frequencies, n_columns=len(frequencies))
    else:
        rules = counting_rules(vectorizer, facts.columns)
        # Pairwise, as a tree would.
        terms = []
        for block in range(len(rules)):
            together = runs[0].terms[block]
            for run in runs[1:]:
                together = sent(merge_terms([run.terms[block], together]))
            terms.append(together)
        merged = sent(merged_terms(facts, rules, [lambda each=each: [each] for each in terms]))
    bounds = key_bounds(n_ranges)
    pieces = [[] for _ in range(n_ranges)]
    for run in runs:
        rows = Renumbering.of(run.terms, run.labels, merged).apply(run.rows)
        for some, piece in zip(pieces, cut_by_keys(rows, bounds), strict=True):
            some.append(sent(piece))
    ranges = [sort_pieces(some) for some in pieces]
    rooms = [int(rows.sizes.sum()) for rows, _ in ranges]
    plan = BlockPlan.of(sum(rooms), block_entries)
    writer = StoreWriter(folder, merged)
    for number, (rows, order) in enumerate(ranges):
        for block, which in cut_into_blocks(rows, order, plan, sum(rooms[:number])):
            writer.add(block, sent(encode(rows, which)))
    writer.close()
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}, merged


@pytest.mark.parametrize("name", ["words", "min_df", "pairs", "phrases", "hashed", "blocks"])
@pytest.mark.parametrize("n_ranges", [1, 5])
def test_the_same_blocks_as_on_one_machine(name, n_ranges, tmp_path):
    documents = [(text, labels, None) for text, labels, _ in collection(60, 3)]
    vectorizer = Vectorizer(**SETTINGS[name])
    chunks = chunks_of(documents, random.Random(4))
    expected = build(tmp_path, vectorizer, write_runs(tmp_path, vectorizer, chunks), block_entries=90)
    folder = tmp_path / "cluster"
    folder.mkdir()
    chunks = chunks_of(documents, random.Random(5))
    files, merged = on_a_cluster(folder, vectorizer, chunks, n_ranges, 90)
    assert files == expected.files
    assert expected.store.n_blocks > 3
    assert merged.space == expected.merged.space
    np.testing.assert_array_equal(merged.frequencies, expected.merged.frequencies)


def test_many_copies_are_held_once():
    documents = [(f"oil {'price ' * (i % 3)}", ["a"], None) for i in range(300)]
    documents += [("wheat", ["b"], None), ("corn", [], None)]
    texts, labels = [text for text, *_ in documents], [labels for _, labels, _ in documents]
    parts = [count_run(Vectorizer(n_hashed=99), texts[i::10], labels[i::10]).rows for i in range(10)]
    known = [part._replace(labels=part.labels * 0, n_label_columns=1) for part in parts]
    whole, in_order = gather_rows(known, 10**9)
    fewer, repeated = gather_rows(known, 100)
    assert whole.n_rows == 302
    assert fewer.n_rows == 5
    assert encode(fewer, repeated).tobytes() == encode(whole, in_order).tobytes()


def test_bounds_divide_all_keys():
    assert key_bounds(1).tolist() == []
    assert key_bounds(4).tolist() == [1 << 62, 1 << 63, 3 << 62]
    assert key_bounds(3).dtype == np.uint64


def test_blocks_are_of_one_size():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 100, 10_000)
    plan = BlockPlan.of(int(sizes.sum()), 20_000)
    blocks = plan.blocks_of(sizes, 0)
    found = np.bincount(blocks, sizes)
    assert len(found) == plan.n_blocks == -(-sizes.sum() // 20_000)
    assert abs(found - found.mean()).max() < 200
    halves = [plan.blocks_of(sizes[:77], 0), plan.blocks_of(sizes[77:], int(sizes[:77].sum()))]
    np.testing.assert_array_equal(np.concatenate(halves), blocks)
    # A row that is larger than a block, and rows without entries.
    assert BlockPlan.of(20, 10).blocks_of(np.array([1, 18, 1]), 0).tolist() == [0, 0, 1]
    assert BlockPlan.of(0).n_blocks == 1
