"""Runs and stores in files: damaged, missing, on a full disk; chunks by memory; given vectors."""

from __future__ import annotations

import os
import pickle
import random
import re
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from tests.on_disk.collections import MEMORY, all_keys, all_rows, build, write_runs
from widemargin import Vectorizer
from widemargin.errors import DataError, MissingFileError, StorageError, UsageError
from widemargin.on_disk import (
    Rows,
    RowStore,
    RunWriter,
    StoreWriter,
    build_store,
    count_run,
    encode,
    merge_runs,
    vectors_run,
    write_run,
)
from widemargin.text.pruning import NoTermsError


def some_documents(n: int, seed: int = 0):
    rng = random.Random(seed)
    return [(" ".join(rng.choices("abcdefghij", k=8)), [rng.choice("xyz")], None) for _ in range(n)]


@pytest.fixture
def built(tmp_path):
    runs = write_runs(tmp_path, Vectorizer(tokens="unicode"), [some_documents(40)])
    for run in runs:
        assert run.row_bytes + run.term_bytes == sum(p.stat().st_size for p in Path(run.directory).iterdir())
    return build(tmp_path, Vectorizer(tokens="unicode"), runs)


def test_only_the_store_is_left(built, tmp_path):
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    assert sorted(built.files) == ["rows-000", "store.json"]


def test_runs_are_kept_on_request(tmp_path):
    runs = write_runs(tmp_path, Vectorizer(), [some_documents(9)])
    merged = merge_runs(runs, Vectorizer(), tmp_path, memory=MEMORY)
    stores = [build_store(runs, merged, tmp_path / name, memory=MEMORY, keep_runs=True) for name in "ab"]
    assert (tmp_path / "a/rows-000").read_bytes() == (tmp_path / "b/rows-000").read_bytes()
    assert stores[0].n_rows == 9


def test_sizes(built):
    store = built.store
    assert store.n_rows == 40 == store.first_rows[-1]
    assert store.n_entries == sum(len(store.rows(block).data) for block in range(store.n_blocks))
    assert store.n_bytes == sum(len(data) for name, data in built.files.items() if name != "store.json")
    assert (np.diff(all_keys(store).astype(object)) >= 0).all()
    assert store.weights(0) is None
    assert not store.has_weights
    assert store.n_label_columns == 3
    whole = store.rows(1)
    some = store.rows(1, np.array([0, 2], dtype=np.int32))
    np.testing.assert_array_equal(some.matrix.toarray(), whole.matrix.toarray()[[0, 2]])
    with pytest.raises(IndexError):
        store.rows(store.n_blocks)
    with pytest.raises(DataError, match="row"):
        store.rows(0, np.array([10**6], dtype=np.int32))


def every_row(store, block):
    return block, np.arange(store.first_rows[block + 1] - store.first_rows[block], dtype=np.int32)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_rows_of_several_blocks(built, n_threads):
    store = built.store
    some = [every_row(store, 2), (0, np.array([1], dtype=np.int32)), (1, np.array([], dtype=np.int32))]
    found = store.rows_of(some, n_threads).matrix.toarray()
    expected = [store.rows(block, which).matrix.toarray() for block, which in some]
    np.testing.assert_array_equal(found, np.vstack(expected))
    store.read_ahead([0, 2])
    with pytest.raises(DataError, match="row"):
        store.rows_of([(0, np.array([10**6], dtype=np.int32))], n_threads)


def refused(store, block, whole):
    """Why a block is refused; None if it is read as before. Read together with others, it is, too."""
    all_blocks = [every_row(store, each) for each in range(store.n_blocks)]
    try:
        assert store.rows(block).data.tolist() == whole[block]
    except DataError as error:
        with pytest.raises(DataError, match=re.escape(str(error))):
            store.rows_of(all_blocks, 2)
        return str(error)


def test_a_damaged_block_is_refused(built):
    store, path = built.store, built.store.directory / "rows-000"
    data = path.read_bytes()
    whole = [store.rows(block).data.tolist() for block in range(store.n_blocks)]
    for at in range(0, len(data), 5):
        with path.open("r+b") as file:
            file.seek(at)
            file.write(bytes([data[at] ^ 16]))
        wrong = {
            block: message for block in range(store.n_blocks) if (message := refused(store, block, whole))
        }
        assert len(wrong) == 1  # the one block that it is of
        for block, message in wrong.items():
            assert re.fullmatch(
                rf"Block {block} in {re.escape(str(path))} is damaged: .*--scratch.*", message
            )
        with path.open("r+b") as file:
            file.seek(at)
            file.write(data[at : at + 1])


def test_a_cut_or_missing_file_is_refused(built):
    path = built.store.directory / "rows-000"
    data = path.read_bytes()
    built.store.rows(0)
    with path.open("r+b") as file:
        file.truncate(len(data) - 1)
    reads = ("rows", "labels", "keys", "weights")
    last = built.store.n_blocks - 1
    with pytest.raises(DataError, match="it ends too early"):
        built.store.rows(last)  # the file is open
    for read in reads:
        with pytest.raises(DataError, match=f"{len(data) - 1} bytes instead of {len(data)}"):
            getattr(RowStore(built.store.directory), read)(1)
    path.unlink()
    for read in reads:
        with pytest.raises(MissingFileError, match="is missing"):
            getattr(RowStore(built.store.directory), read)(1)


def test_blocks_fill_several_files(built, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    writer = StoreWriter(other, built.merged, file_bytes=500)
    store = built.store
    for block in range(store.n_blocks):
        rows = Rows(store.keys(block), store.rows(block), *store.labels(block), store.n_label_columns, None)
        for row in range(rows.n_rows):  # in parts
            writer.add(block, encode(rows, np.array([row])))
    writer.close()
    files = sorted(path.name for path in other.iterdir())
    assert files == [*(f"rows-{i:03d}" for i in range(len(files) - 1)), "store.json"]
    assert len(files) > 3
    assert b"".join((other / name).read_bytes() for name in files[:-1]) == built.files["rows-000"]
    again = pickle.loads(pickle.dumps(RowStore(other)))
    for block in range(store.n_blocks):
        assert again.rows(block).data.tolist() == store.rows(block).data.tolist()
        assert again.keys(block).tolist() == store.keys(block).tolist()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"version": 1}',
        "nonsense",
        '{"version": 1, "rows": [1], "entries": [2], "bytes": [-1]}',
    ],
)
def test_a_damaged_index_is_refused(built, text):
    index = built.store.directory / "store.json"
    index.write_text(text)
    with pytest.raises(DataError, match="damaged"):
        RowStore(built.store.directory)
    index.unlink()
    with pytest.raises(MissingFileError, match="is missing"):
        RowStore(built.store.directory)


def test_a_changed_index_is_refused(built):
    index = built.store.directory / "store.json"
    index.write_text(re.sub(r'"n_columns": (\d+)', '"n_columns": 3', index.read_text()))
    store = RowStore(built.store.directory)
    for read in (store.rows, lambda block: store.rows_of([every_row(store, block)], 2)):
        with pytest.raises(DataError, match="not the block that the index names"):
            read(0)


@pytest.mark.parametrize("name", ["rows", "terms-0"])
def test_damaged_and_missing_runs_are_refused(tmp_path, name):
    runs = write_runs(tmp_path, Vectorizer(tokens="unicode"), [some_documents(40)])
    path = Path(runs[0].directory, name)
    data = path.read_bytes()
    for broken in (data[:-3], data[:20], data[: len(data) // 2] + b"?" + data[len(data) // 2 + 1 :]):
        path.write_bytes(broken)
        with pytest.raises(DataError, match=re.escape(str(path)) + " is damaged"):
            build(tmp_path, Vectorizer(tokens="unicode"), runs, memory=MEMORY)
        assert not (tmp_path / "store").exists()
    path.unlink()
    with pytest.raises(MissingFileError, match="is missing"):
        build(tmp_path, Vectorizer(tokens="unicode"), runs)


def test_a_run_that_lost_whole_pages_is_refused(tmp_path):
    """Every page has its checksum; how many there are is known beside the file."""
    runs = write_runs(tmp_path, Vectorizer(tokens="unicode"), [some_documents(40)])
    for path in (runs[0].rows_path, runs[0].terms_path(0)):
        data = path.read_bytes()
        path.write_bytes(b"")
        with pytest.raises(DataError, match="is damaged"):
            build(tmp_path, Vectorizer(tokens="unicode"), runs)
        path.write_bytes(data)


def test_a_full_disk_while_a_run_is_written(tmp_path):
    run = count_run(Vectorizer(), ["oil"], [["a"]])
    (tmp_path / "run").write_text("in the way")
    with pytest.raises(StorageError, match="--scratch"):
        write_run(run, tmp_path / "run")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_while_a_store_is_written(tmp_path):
    runs = write_runs(tmp_path, Vectorizer(), [some_documents(20)])
    (tmp_path / "store").mkdir()
    (tmp_path / "store/rows-000").symlink_to("/dev/full")
    with pytest.raises(StorageError, match=r"the disk is full: about .* needed there"):
        build(tmp_path, Vectorizer(), runs)


def test_space_is_looked_for_before_a_store_is_written(tmp_path, monkeypatch):
    runs = write_runs(tmp_path, Vectorizer(), [some_documents(20)])
    monkeypatch.setattr("widemargin.on_disk.scratch.free_bytes", lambda directory: 10)
    with pytest.raises(StorageError, match=r"about .* needed there, and 0.0 MB are free"):
        build(tmp_path, Vectorizer(), runs)
    assert not (tmp_path / "store").exists()


def test_blocks_of_vectors_are_refused():
    with pytest.raises(UsageError, match="'vectors' is of vectors"):
        count_run(Vectorizer(blocks="words,vectors:dims=2"), ["oil"], [["a"]])


def test_no_terms_is_an_error_as_in_memory(tmp_path):
    documents = [("...", ["a"], None), ("!", ["b"], None)]
    runs = write_runs(tmp_path, Vectorizer(), [documents[:1], documents[1:]])
    with pytest.raises(NoTermsError) as expected:
        Vectorizer().fit([text for text, *_ in documents])
    with pytest.raises(NoTermsError, match=re.escape(str(expected.value))):
        build(tmp_path, Vectorizer(), runs)
    with pytest.raises(DataError, match="no documents"):
        merge_runs([], Vectorizer(), tmp_path, memory=MEMORY)


def test_parts_must_agree(tmp_path):
    frames = [{"title": ["oil"], "body": ["up"]}, {"body": ["down"], "title": ["corn"]}]
    runs = [
        write_run(count_run(Vectorizer(), frame, [[label]]), tmp_path / label)
        for frame, label in zip(frames, "ab", strict=True)
    ]
    with pytest.raises(DataError, match=r"body, title; title, body"):
        merge_runs(runs, Vectorizer(), tmp_path, memory=MEMORY)
    with pytest.raises(DataError, match="2 documents and 1 labels"):
        count_run(Vectorizer(), ["a", "b"], [["x"]])
    with pytest.raises(DataError, match="mix values"):
        count_run(Vectorizer(), ["a", "b"], [["x"], [1]])
    with pytest.raises(DataError, match="Use strings"):
        count_run(Vectorizer(), ["a", "b"], [["x"], [b"y"]])
    with pytest.raises(DataError, match="weights"):
        count_run(Vectorizer(), ["a", "b"], [["x"], []], [1.0, float("nan")])
    others = [
        write_run(vectors_run(sp.csr_array(np.eye(2, dtype=kind)), [["x"], ["y"]]), tmp_path / kind)
        for kind in ("float32", "float64")
    ]
    with pytest.raises(DataError, match="float32, float64"):
        merge_runs(others, None, tmp_path, memory=MEMORY)


def test_keys_are_those_of_documents():
    import pyarrow as pa

    texts = ["oil", "Zürich", "日本", "\U0001f600", "", "é" * 50]
    labels = [["b", "a"]] * len(texts)
    keys = count_run(Vectorizer(), texts, labels).rows.keys
    assert len(set(keys.tolist())) == len(texts)
    same = [
        count_run(Vectorizer(), [text.encode() for text in texts], labels),
        count_run(Vectorizer(), pa.array(texts), [["a", "b", "a"]] * len(texts)),
        count_run(Vectorizer(ngram_range=(1, 2), n_jobs=2), texts, labels, [1.0] * len(texts)),
        count_run(Vectorizer(n_hashed=8), texts, [("a", "b")] * len(texts)),
    ]
    for run in same:
        np.testing.assert_array_equal(run.rows.keys, keys)
    for other in ([["a"]] * len(texts), [[]] * len(texts), [["ab"]] * len(texts)):
        assert not np.isin(count_run(Vectorizer(), texts, other).rows.keys, keys).any()
    weighted = count_run(Vectorizer(), texts, labels, [1.0, 2.0, 1.0, 1.0, 0.0, 1.0]).rows.keys
    assert (weighted == keys).tolist() == [True, False, True, True, False, True]


def test_given_vectors(tmp_path):
    rng = np.random.default_rng(0)
    dense = rng.random((30, 50), dtype=np.float32) * (rng.random((30, 50)) < 0.2)
    dense[7:, 45:] = 0
    X = sp.csr_array(dense)
    labels = [["a"] if i % 3 else ["b"] for i in range(30)]
    labels[4] = None
    found = []
    for cuts in ([0, 30], [0, 7, 8, 30]):
        folder = tmp_path / str(len(cuts))
        folder.mkdir()
        writer = RunWriter(None, folder, memory=MEMORY)
        for begin, end in pairwise(cuts):
            writer.add_vectors(X[begin:end, : 50 if begin == 0 else 45], labels[begin:end])
        found.append(build(folder, None, writer.close()))
    store = found[1].store
    assert (store.values, store.n_columns, store.n_rows, found[1].merged.n_unlabeled) == (
        "float32",
        50,
        29,
        1,
    )
    rows = all_rows(store).matrix.toarray()
    kept = [i for i in range(30) if i != 4]
    assert sorted(map(bytes, rows)) == sorted(map(bytes, X.toarray()[kept]))
    with pytest.raises(UsageError, match="no vectorizer"):
        found[0].merged.fit(Vectorizer())


def test_threads_may_read_together(built):
    expected = [built.store.rows(block).data.tolist() for block in range(built.store.n_blocks)]
    wrong = []

    def read():
        for _ in range(5):
            for block, data in enumerate(expected):
                if built.store.rows(block).data.tolist() != data:
                    wrong.append(block)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_chunks_are_smaller_with_less_memory(tmp_path):
    documents = some_documents(3000)
    runs = {}
    for memory in (1 << 18, 1 << 21, 1 << 28):
        folder = tmp_path / str(memory)
        folder.mkdir()
        writer = RunWriter(Vectorizer(tokens="unicode"), folder, memory=memory)
        for start in range(0, 3000, 700):
            part = documents[start : start + 700]
            writer.add([text for text, *_ in part], [labels for _, labels, _ in part])
        runs[memory] = len(writer.close())
        assert writer.n_documents == 3000
    assert runs[1 << 18] > runs[1 << 21] > runs[1 << 28] == 1


PEAK = """
import random, sys
from pathlib import Path
from widemargin import Vectorizer
from widemargin.on_disk import RunWriter, Scratch, build_store, merge_runs

def peak():
    found = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
    return int(found[0]) / 1024

rng = random.Random(0)
memory = int(sys.argv[1]) << 20
vectorizer = Vectorizer(n_jobs=1, ngram_range=(1, 2), min_df=2)
Vectorizer(n_jobs=1).fit(["oil"])
open("/proc/self/clear_refs", "w").write("5")  # the peak is that from here on
before = peak()
with Scratch() as folder:
    writer = RunWriter(vectorizer, folder, memory=memory)
    for _ in range(20):
        texts = [" ".join(map("{:x}".format, (rng.randrange(1 << rng.randrange(16)) for _ in range(30))))
                 for _ in range(1000)]
        writer.add(texts, [("a",) if i % 2 else ("b",) for i in range(1000)])
    runs = writer.close()
    merged = merge_runs(runs, vectorizer, folder, memory=memory)
    store = build_store(runs, merged, folder / "store", memory=memory)
    assert store.n_rows == 20_000
print(peak() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_memory_is_bounded():
    """The same collection takes as much memory as it is given, and not much more."""
    few, many = (
        float(subprocess.run([sys.executable, "-c", PEAK, size], capture_output=True, check=True).stdout)
        for size in ("24", "400")
    )
    assert few < 1.5 * 24
    assert many > 1.5 * few


def test_equal_numbers_are_one_label():
    keys = [
        count_run(Vectorizer(), ["oil"], [[label]]).rows.keys.tolist()
        for label in (1, 1.0, np.int64(1), True, "1", 2, 1.5)
    ]
    assert keys[0] == keys[1] == keys[2] == keys[3]
    assert len({key for (key,) in keys}) == 4
