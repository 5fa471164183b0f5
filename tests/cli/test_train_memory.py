"""`train --memory`: the same model from disk, what it refuses, and how it ends when something goes wrong."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

import widemargin.classifier.large.training as large
import widemargin.cli.large.choosing as choosing
import widemargin.on_disk.runs
from tests.cli.conftest import COMMAND, TICKETS, environment, write_jsonl

MANY = [
    {**ticket, "id": f"{ticket['id']}-{i}", "text": f"{ticket['text']} no {i}"}
    for i in range(8)
    for ticket in TICKETS
]
FAST = ["--tune", "none", "--estimate", "none"]


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> Path:
    """Labeled tickets in three files."""
    folder = tmp_path_factory.mktemp("shards")
    for number, start in enumerate((0, 40, 90)):
        write_jsonl(folder / f"{number}.jsonl", MANY[start : (40, 90, len(MANY))[number]])
    return folder


@pytest.fixture
def scratch(tmp_path) -> Path:
    """A folder for temporary files, which is empty after every test."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    yield folder
    assert list(folder.iterdir()) == []


def test_trains_from_disk(here, shards, scratch, tmp_path):
    out, other = tmp_path / "m.wm", tmp_path / "n.wm"
    done = here(
        "train",
        str(shards / "*.jsonl"),
        "-o",
        out,
        "--memory",
        "300MB",
        "--scratch",
        scratch,
        "--tune",
        "none",
    )
    assert done.returncode == 0, done.stderr
    assert f"Learned 3 classes from {len(MANY)} documents" in done.stdout
    assert "Trained from disk with at most" in done.stdout
    assert "3 files" in done.stderr
    assert here("train", str(shards / "*.jsonl"), "-o", other, "--tune", "none").returncode == 0
    found = [here("predict", model, shards / "0.jsonl").stdout for model in (out, other)]
    assert found[0] == found[1] != ""


def test_summary_as_json(here, shards, scratch, tmp_path):
    out = tmp_path / "m.wm"
    options = ["--memory", "1.5GiB", "--scratch", scratch, "--json", "--test-size", "100", "--no-hashes"]
    done = here("train", shards / "2.jsonl", shards / "0.jsonl", shards / "1.jsonl", "-o", out, *options)
    summary = json.loads(done.stdout)
    assert summary["documents"] == len(MANY)
    assert summary["memory"]["limit"] == 3 * 2**29
    assert summary["memory"]["scratch"] > 0 < summary["memory"]["peak"]
    assert {"read", "tune", "count", "merge", "store", "learn", "estimate", "save"} <= set(summary["seconds"])
    assert summary["tuning"]["documents"] == len(MANY)
    assert here("inspect", out).returncode == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--memory", "lots"], "such as 512MB"),
        (["--memory", "3MB"], "at least 100MB"),
        (["--scratch", "."], "--scratch is for temporary files of --memory"),
        (["--memory", "2GB", "--stream"], "either --memory or --stream"),
        (["--memory", "2GB", "--learner", "rocchio"], "Use --learner linear-svm"),
        (["--memory", "2GB", "--features", "ig:10"], "--features needs all documents in memory"),
        (["--memory", "2GB", "--loss", "f1"], "--loss f1 needs all documents in memory"),
        (["--memory", "2GB", "--penalty", "l1"], "--penalty l1"),
        (["--memory", "2GB", "--estimate", "bootstrap"], "--estimate bootstrap"),
        (["--memory", "2GB", "--blocks", "words,vectors"], "block vectors"),
        (["--memory", "2GB", "--tune", "fast", "--tune-per-label"], "--tune-per-label"),
    ],
)
def test_what_does_not_apply(here, shards, tmp_path, options, words):
    done = here("train", shards / "0.jsonl", "-o", tmp_path / "m.wm", *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert not (tmp_path / "m.wm").exists()


def test_an_unlabeled_pool_does_not_apply(here, shards, tmp_path):
    pool = ["--unlabeled", shards / "1.jsonl"]
    done = here("train", shards / "0.jsonl", "-o", tmp_path / "m.wm", "--memory", "1GB", *pool)
    assert (done.returncode, "--unlabeled needs all documents" in done.stderr) == (2, True)


def test_chosen_by_itself(here, shards, tmp_path, monkeypatch):
    monkeypatch.setattr(choosing, "_SMALL", 0)
    monkeypatch.setattr(choosing, "available_memory", lambda: 1000)
    out = tmp_path / "m.wm"
    done = here("train", shards / "0.jsonl", "-o", out, *FAST)
    assert done.returncode == 0
    assert "in memory; 1 MB are available: training from disk. Pass --memory" in done.stderr
    assert "Trained from disk" in done.stdout
    done = here("train", shards / "0.jsonl", "-o", out, "--learner", "rocchio", *FAST)
    assert done.returncode == 0
    assert "from disk" not in done.stderr + done.stdout
    monkeypatch.setattr(choosing, "available_memory", lambda: 10**12)
    assert "from disk" not in here("train", shards / "0.jsonl", "-o", out, *FAST).stdout


@pytest.fixture
def kept(model, tmp_path) -> Path:
    """A model that is there already, which a training that fails leaves as it is."""
    path = tmp_path / "kept.wm"
    path.write_bytes(model.read_bytes())
    yield path
    assert path.read_bytes() == model.read_bytes()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["kept.wm", "scratch"]


def test_a_missing_shard(here, shards, scratch, kept):
    done = here(
        "train", shards / "0.jsonl", shards / "9.jsonl", "-o", kept, "--memory", "1GB", "--scratch", scratch
    )
    assert done.returncode == 66
    assert "9.jsonl" in done.stderr


@pytest.mark.parametrize("tune", ["none", "fast"])
def test_a_damaged_shard_in_the_middle(here, shards, scratch, kept, tmp_path_factory, tune):
    bad = tmp_path_factory.mktemp("bad") / "bad.jsonl"
    bad.write_text('{"text": "a", "labels": ["network"]}\n{"text": "b", "lab\n')
    files = [shards / "0.jsonl", bad, shards / "1.jsonl"]
    done = here("train", *files, "-o", kept, "--memory", "1GB", "--scratch", scratch, "--tune", tune)
    assert done.returncode == 65
    assert "bad.jsonl, line 2" in done.stderr


def test_a_damaged_block(here, shards, scratch, kept, monkeypatch):
    def damaged(*arguments, **how):
        store = build_store(*arguments, **how)
        path = max(store.directory.iterdir(), key=lambda each: each.stat().st_size)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0xFF
        path.write_bytes(data)
        return store

    build_store = large.build_store
    monkeypatch.setattr(large, "build_store", damaged)
    done = here("train", shards / "0.jsonl", "-o", kept, "--memory", "1GB", "--scratch", scratch, *FAST)
    assert done.returncode == 65
    assert "is damaged" in done.stderr
    assert "train again" in done.stderr


def test_a_full_disk(here, shards, scratch, kept, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(widemargin.on_disk.runs, "append_block", full)
    done = here("train", shards / "0.jsonl", "-o", kept, "--memory", "1GB", "--scratch", scratch, *FAST)
    assert done.returncode == 74
    assert "the disk is full" in done.stderr
    assert "--scratch" in done.stderr


def test_no_folder_for_temporary_files(here, shards, tmp_path):
    options = ["--memory", "1GB", "--scratch", tmp_path / "nowhere"]
    done = here("train", shards / "0.jsonl", "-o", tmp_path / "m.wm", *options)
    assert done.returncode == 66
    assert "--scratch" in done.stderr


@pytest.fixture(scope="module")
def noise(tmp_path_factory) -> Path:
    """Many documents with random labels."""
    rng = random.Random(0)
    words = [" ".join(f"w{rng.randrange(3000)}" for _ in range(20)) for _ in range(4000)]
    records = [{"text": text, "labels": [rng.choice("abcdefgh")]} for text in words]
    return write_jsonl(tmp_path_factory.mktemp("noise") / "noise.jsonl", records)


def _wait_for(process: subprocess.Popen[str], folder: Path, pattern: str) -> None:
    end = time.monotonic() + 60
    while not list(folder.glob(pattern)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("moment", ["reading", "learning"])
def test_stopped(shards, noise, scratch, kept, moment, number, code):
    # A thousand passes, as labels that have nothing to do with the texts are never learned exactly.
    slow = ["--tol", "0", "--C", "100"]
    source = "-" if moment == "reading" else str(noise)
    process = subprocess.Popen(
        [*COMMAND, "train", source, "-o", kept, "--memory", "1GB", "--scratch", scratch, *FAST, *slow],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdin is not None
    if moment == "reading":
        process.stdin.write((shards / "0.jsonl").read_text())
        process.stdin.flush()
        _wait_for(process, scratch, "widemargin-*")
    else:
        _wait_for(process, scratch, "widemargin-*/store/store.json")
        time.sleep(0.2)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code, errors
    assert "Traceback" not in errors
