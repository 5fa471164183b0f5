"""Copies of a store: one per machine, made where there is none, removed at the end."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cluster.test_stores import documents, packed_run
from widemargin import Vectorizer
from widemargin.cluster.copies import copies_of, copy_folder, have_room
from widemargin.cluster.stores import merge_on_cluster, store_on_cluster


def read(copies, *ranges) -> tuple[str, list[int]]:
    store = copies.here(*ranges)
    return str(store.directory), [
        key for block in range(store.n_blocks) for key in store.keys(block).tolist()
    ]


def folders(dask_worker, name) -> list[str]:
    return [str(path) for path in copy_folder(dask_worker, name).parent.glob(f"widemargin-{name}*")]


@pytest.fixture(scope="module")
def made(tasks, tmp_path_factory):
    texts, labels = documents(60)
    vectorizer = Vectorizer()
    counted = [tasks.submit(packed_run, {}, texts[k::2], labels[k::2]) for k in range(2)]
    merged, entries = merge_on_cluster(tasks, counted, vectorizer)
    folder = tmp_path_factory.mktemp("made") / "store"
    return store_on_cluster(tasks, counted, merged, entries, folder, block_entries=100, range_entries=200)


def test_workers_elsewhere_make_one_copy(tasks, made):
    keys = [key for block in range(made.store.n_blocks) for key in made.store.keys(block).tolist()]
    with copies_of(tasks, made, local=False) as copies:
        # As if the folder of the client were on another machine.
        elsewhere = replace(copies, origin="/nowhere")
        found = tasks.client.run(lambda dask_worker: str(copy_folder(dask_worker, copies.name)))
        results = list(tasks.map(read, [(elsewhere, *made.ranges)] * 4))
        assert {Path(folder) for folder, _ in results} == {Path(folder) for folder in found.values()}
        assert len({folder for folder, _ in results}) == 1
        assert all(each == keys for _, each in results)
        assert any(tasks.client.run(folders, name=copies.name).values())
    assert not any(tasks.client.run(folders, name=copies.name).values())


def test_workers_here_read_the_store_of_the_client(tasks, made):
    with copies_of(tasks, made, local=False) as copies:
        assert {folder for folder, _ in tasks.map(read, [(copies,)] * 4)} == {str(made.store.directory)}
        assert all(
            len(found) == 1 for found in tasks.client.run(folders, name=copies.name).values()
        )  # a lock
    assert not any(tasks.client.run(folders, name=copies.name).values())


def test_room_for_copies(tasks):
    assert have_room(tasks, 1)
    assert not have_room(tasks, 2**60)


def test_room_is_asked_for_while_a_worker_dies(tasks):
    before = set(tasks.client.run(os.getpid).values())
    os.kill(min(before), signal.SIGKILL)
    # Until the scheduler has noticed, it sends the question to the dead worker, too.
    while min(before) in tasks.on_workers(os.getpid) or len(tasks.on_workers(os.getpid)) < len(before):
        assert have_room(tasks, 1)
    assert not have_room(tasks, 2**60)
