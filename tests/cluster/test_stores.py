"""A store that a cluster makes is that of one machine, byte for byte."""

from __future__ import annotations

import os
import random
import signal

import pytest

from tests.cli.conftest import WORDS
from widemargin import Vectorizer
from widemargin.cluster.stores import PackedRun, merge_on_cluster, store_on_cluster
from widemargin.on_disk import build_store, count_run, merge_runs, vectors_run, write_run


def documents(n: int) -> tuple[list[str], list[tuple[str, ...]]]:
    generator = random.Random(3)
    labels = list(WORDS)
    found = []
    for number in range(n):
        some = tuple(sorted(generator.sample(labels, generator.randrange(3))))
        words = [word for label in some for word in generator.choices(WORDS[label], k=2)]
        found.append((" ".join([*words, "and", f"term{number % 97}"]), some))
    found += found[:5]  # copies
    return [text for text, _ in found], [known for _, known in found]


def packed_run(options, texts, labels) -> list[PackedRun]:
    half = len(texts) // 2
    runs = [count_run(Vectorizer(**options), texts[:half], labels[:half])]
    runs.append(count_run(Vectorizer(**options), texts[half:], labels[half:]))
    return [PackedRun.of(run) for run in runs]


def packed_vectors(X, labels) -> list[PackedRun]:
    return [PackedRun.of(vectors_run(X, labels))]


def files_of(folder) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def on_one_machine(run, vectorizer, folder):
    info = write_run(run, folder / "run")
    merged = merge_runs([info], vectorizer, folder, memory=10**8)
    return merged, build_store([info], merged, folder / "store", memory=10**8, block_entries=150)


@pytest.mark.parametrize(
    "options", [{"min_df": 2}, {"n_hashed": 64}, {"blocks": "words,bigrams", "max_features": 60}], ids=str
)
@pytest.mark.parametrize("shards", [1, 5])
def test_texts(tasks, tmp_path, options, shards):
    texts, labels = documents(120)
    vectorizer = Vectorizer(**options)
    expected, one = on_one_machine(count_run(vectorizer, texts, labels), vectorizer, tmp_path)
    cuts = [(texts[k::shards], labels[k::shards]) for k in range(shards)]
    counted = [tasks.submit(packed_run, options, *cut) for cut in cuts]
    merged, entries = merge_on_cluster(tasks, counted, vectorizer)
    found = store_on_cluster(
        tasks, counted, merged, entries, tmp_path / "made", block_entries=150, range_entries=300
    )
    assert found.store.n_blocks == one.n_blocks > len(found.ranges) > 2
    assert merged.frequencies.tolist() == expected.frequencies.tolist()
    assert files_of(tmp_path / "made") == files_of(tmp_path / "store")


def test_vectors_and_a_killed_worker(tasks, tmp_path):
    texts, labels = documents(100)
    X = Vectorizer().fit_transform(texts)
    _, one = on_one_machine(vectors_run(X, labels), None, tmp_path)
    counted = [tasks.submit(packed_vectors, X[k::3], labels[k::3]) for k in range(3)]
    merged, entries = merge_on_cluster(tasks, counted, None)
    # What it has counted is counted again elsewhere.
    os.kill(next(iter(tasks.client.run(os.getpid).values())), signal.SIGKILL)
    found = store_on_cluster(
        tasks, counted, merged, entries, tmp_path / "made", block_entries=150, range_entries=300
    )
    assert found.store.n_blocks == one.n_blocks
    assert files_of(tmp_path / "made") == files_of(tmp_path / "store")
