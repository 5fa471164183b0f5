"""Verbs with --cluster: the same results as without, exactly once, and clean ends."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.cli.conftest import COMMAND, TICKETS, WORDS, environment, write_jsonl
from widemargin import TextClassifier
from widemargin.classifier.on_dask.training import ClusterTraining
from widemargin.cluster import connected
from widemargin.cluster.shards import find_shards


@pytest.fixture(scope="module")
def tasks():
    """A cluster of two worker processes."""
    with connected("local:2") as found:
        yield found


@pytest.fixture(scope="module")
def address(tasks) -> str:
    return tasks.client.scheduler.address


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> Path:
    """Files without ids, with the same ids, and without documents."""
    folder = tmp_path_factory.mktemp("shards")
    plain = [{"text": f"{ticket['text']} \x9b é"} for ticket in TICKETS]
    write_jsonl(folder / "a.jsonl", plain[:7])
    write_jsonl(folder / "b.jsonl", plain[7:])
    write_jsonl(folder / "c.jsonl", TICKETS[:5])
    write_jsonl(folder / "d.jsonl", TICKETS[3:])
    (folder / "e.jsonl").write_text("")
    return folder


def parts_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.jsonl"))


def test_predict_writes_what_one_process_writes(here, address, model, shards, tmp_path):
    pattern, out = f"{shards}/*.jsonl", tmp_path / "out"
    more = ["--scores", "--keep-text", "--thresholds", "billing=0.3"]
    plain = here("predict", model, pattern, "-o", tmp_path / "plain.jsonl", *more)
    done = here("predict", model, pattern, "-o", out, "--cluster", address, *more)
    assert plain.returncode == done.returncode == 0, done.stderr
    assert b"".join(map(Path.read_bytes, parts_of(out))) == (tmp_path / "plain.jsonl").read_bytes()
    for line in plain.stderr.splitlines():
        if line.startswith("warning"):
            assert line in done.stderr
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["model_sha256"] == hashlib.sha256(model.read_bytes()).hexdigest()
    assert [Path(part["source"]).name[0] for part in manifest["parts"]] == list("abcde")
    assert manifest["documents"] == sum(part["documents"] for part in manifest["parts"])
    for part, file in zip(manifest["parts"], parts_of(out), strict=True):
        content = file.read_bytes()
        assert (part["name"], part["bytes"]) == (file.name, len(content))
        assert part["sha256"] == hashlib.sha256(content).hexdigest()
        assert part["documents"] == content.count(b"\n")


def test_predict_cuts_a_large_file(here, address, model, tmp_path, monkeypatch):
    records = [{"text": ticket["text"]} for ticket in TICKETS] * 40
    source = write_jsonl(tmp_path / "large.jsonl", records)
    monkeypatch.setattr("widemargin.cluster.shards.find_shards.__kwdefaults__", {"piece": 1000})
    monkeypatch.setattr("widemargin.cluster.shards._CHUNK", 1000)
    pieces = find_shards([str(source)], {})
    assert len(pieces.shards) > 5
    plain = here("predict", model, source, "-o", tmp_path / "plain.jsonl", "--abstain", "0.3")
    done = here("predict", model, source, "-o", tmp_path / "out", "--cluster", address, "--abstain", "0.3")
    assert plain.returncode == done.returncode == 0, done.stderr
    (part,) = parts_of(tmp_path / "out")
    assert part.read_bytes() == (tmp_path / "plain.jsonl").read_bytes()
    # A bad line is told with its number in the file.
    with source.open("a") as file:
        file.write('{"text": 1\n')
    plain = here("predict", model, source)
    done = here("predict", model, source, "-o", tmp_path / "other", "--cluster", address)
    assert plain.returncode == done.returncode == 65
    assert done.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]
    assert not list(tmp_path.glob("other*"))


def test_predict_tells_bad_and_missing_shards(here, address, model, shards, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": "a"}\n{"text": \n')
    for sources, code in (([shards / "a.jsonl", bad], 65), ([shards / "a.jsonl", tmp_path / "no.jsonl"], 66)):
        plain = here("predict", model, *sources)
        done = here("predict", model, *sources, "-o", tmp_path / "out", "--cluster", address)
        assert plain.returncode == done.returncode == code
        assert done.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]
        assert not list(tmp_path.glob("out*"))


def test_predict_replaces_what_a_killed_run_left_and_keeps_what_exists(
    here, address, model, shards, tmp_path
):
    partial = tmp_path / "out.partial"
    partial.mkdir()
    (partial / "part-00007.jsonl").write_text("old")
    arguments = ["predict", model, shards / "a.jsonl", "-o", tmp_path / "out", "--cluster", address, "--json"]
    done = here(*arguments)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["documents"] == 7
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["manifest.json", "part-00000.jsonl"]
    assert not partial.exists()
    again = here(*arguments)
    assert again.returncode == 74
    assert "exists already" in again.stderr


def test_predict_refuses_what_needs_one_process(here, model, tickets, tmp_path):
    out = ["-o", tmp_path / "out", "--cluster", "local"]
    assert "folder" in here("predict", model, tickets, "--cluster", "local").stderr
    assert "--monitor" in here("predict", model, tickets, *out, "--monitor", tmp_path / "m").stderr
    assert "standard input" in here("predict", model, "-", *out).stderr
    assert "expected local" in here("predict", model, tickets, *out[:2], "--cluster", "nowhere").stderr
    assert not list(tmp_path.glob("out*"))


def test_compare_measures_what_one_process_measures(here, tickets):
    arguments = ["compare", tickets, "--learners", "linear-svm,naive-bayes", "--folds", "3", "--json"]
    plain, done = here(*arguments), here(*arguments, "--cluster", "local")
    assert plain.returncode == done.returncode == 0, done.stderr
    rows = [json.loads(each.stdout)["rows"] for each in (plain, done)]
    for one, other in zip(*rows, strict=True):
        for name in ("learner", "setting", "accuracy", "candidates"):
            assert one[name] == other[name]


@pytest.fixture(scope="module")
def collection(tmp_path_factory) -> Path:
    """Labeled documents in several files, with copies and documents without labels."""
    folder = tmp_path_factory.mktemp("collection")
    generator = random.Random(2)
    every = [word for words in WORDS.values() for word in words]
    for number in range(4):
        records = []
        for _ in range(60):
            label = generator.choice(list(WORDS))
            words = generator.choices(WORDS[label], k=2) + generator.choices(every, k=3)
            records.append({"text": " ".join(words), "labels": [label]})
        records[5]["labels"] = None
        write_jsonl(folder / f"{number}.jsonl", [*records, *records[:3]])
    return folder


def test_train_gives_the_model_of_one_process(here, address, collection, tmp_path):
    one, other = tmp_path / "one.wm", tmp_path / "other.wm"
    arguments = ["train", f"{collection}/*.jsonl", "--memory", "256MB", "--tune", "none", "--quiet"]
    assert here(*arguments, "-o", one).returncode == 0
    done = here(*arguments, "-o", other, "--cluster", address, "--cluster-method", "labels")
    assert done.returncode == 0, done.stderr
    assert other.read_bytes() == one.read_bytes()
    # Divided by rows, the solution is the same up to the tolerance.
    arguments = [*arguments, "--estimate", "none"]
    assert here(*arguments, "-o", one).returncode == 0
    done = here(*arguments, "-o", other, "--cluster", address, "--cluster-method", "cocoa")
    assert done.returncode == 0, done.stderr
    found = [TextClassifier.load(path).learner_ for path in (one, other)]
    weights = [
        np.asarray(getattr(learner.coef_, "todense", lambda c=learner.coef_: c)()) for learner in found
    ]
    assert weights[0] == pytest.approx(weights[1], abs=0.1)


def test_train_on_vectors_gives_the_model_of_one_process(here, address, collection, tmp_path):
    """Files of other widths; with estimates, and divided by rows."""
    generator = random.Random(1)
    for number, width in enumerate((9, 30, 20)):
        lines = []
        for _ in range(40):
            columns = sorted(generator.sample(range(1, width + 1), 4))
            y = 1 if columns[0] < 3 else -1
            lines.append(f"{y} " + " ".join(f"{column}:{generator.random():.3f}" for column in columns))
        (tmp_path / f"{number}.svm").write_text("\n".join([*lines, ""]))
    common = ["train", f"{tmp_path}/*.svm", "--memory", "256MB", "--quiet"]
    one, other, rows = (tmp_path / f"{name}.wm" for name in ("one", "other", "rows"))
    assert here(*common, "-o", one).returncode == 0
    done = here(*common, "-o", other, "--cluster", address)
    assert done.returncode == 0, done.stderr
    assert other.read_bytes() == one.read_bytes()
    done = here(*common, "-o", rows, "--cluster", address, "--cluster-method", "cocoa", "--estimate", "none")
    assert done.returncode == 0, done.stderr
    weights = [TextClassifier.load(path).learner_.coef_ for path in (one, rows)]
    assert np.asarray(weights[0]) == pytest.approx(np.asarray(weights[1]), abs=0.1)
    mixed = here(*common[:1], tmp_path / "0.svm", collection / "0.jsonl", "-o", rows, "--cluster", address)
    assert mixed.returncode == 65
    assert "0.jsonl holds texts" in mixed.stderr


def test_documents_are_divided_if_they_exceed_a_worker(here, address, collection, tmp_path, monkeypatch):
    common = ["train", f"{collection}/*.jsonl", "--memory", "256MB", "--tune", "none", "--estimate", "none"]
    asked, chosen = tmp_path / "asked.wm", tmp_path / "chosen.wm"
    assert here(*common, "-o", asked, "--cluster", address, "--cluster-method", "cocoa").returncode == 0
    monkeypatch.setattr(
        "widemargin.classifier.on_dask.training.have_room", lambda tasks, n_bytes: n_bytes < 1
    )
    done = here(*common, "-o", chosen, "--cluster", address, "--cluster-method", "auto")
    assert done.returncode == 0, done.stderr
    assert "--cluster-method cocoa" in done.stderr
    assert chosen.read_bytes() == asked.read_bytes()


def test_train_of_other_learners_tunes_on_workers(here, collection, tmp_path):
    arguments = ["train", f"{collection}/*.jsonl", "--learner", "naive-bayes", "--quiet"]
    assert here(*arguments, "-o", tmp_path / "one.wm").returncode == 0
    done = here(*arguments, "-o", tmp_path / "other.wm", "--cluster", "local", "--tune", "none")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "other.wm").read_bytes() == (tmp_path / "one.wm").read_bytes()


def test_train_tells_bad_and_missing_shards(here, address, collection, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": "a", "labels": ["b"]}\n{"text": \n')
    for source, code in ((bad, 65), (tmp_path / "no.jsonl", 66)):
        arguments = ["train", collection / "0.jsonl", source, "-o", tmp_path / "model.wm", "--tune", "none"]
        plain = here(*arguments, "--memory", "256MB")
        done = here(*arguments, "--cluster", address)
        assert plain.returncode == done.returncode == code, done.stderr
        assert done.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]
        assert not (tmp_path / "model.wm").exists()


def test_train_refuses_what_needs_one_process(here, tickets, tmp_path):
    out = ["-o", tmp_path / "model.wm"]
    assert "--stream" in here("train", tickets, *out, "--stream", "--cluster", "local").stderr
    assert "--cluster" in here("train", tickets, *out, "--cluster-method", "cocoa").stderr


@pytest.mark.parametrize("stage", ["_gathered", "_task"])
def test_a_killed_worker_changes_no_model(tasks, collection, tmp_path, monkeypatch, stage):
    one = TextClassifier(tune=None).fit_files(f"{collection}/*.jsonl", memory="256MB")
    one.save(tmp_path / "one.wm")
    before = set(tasks.client.run(os.getpid).values())
    do = getattr(ClusterTraining, stage)

    def kill_and_do(self, *arguments):
        process = next(iter(before))
        timer = threading.Timer(0.05, os.kill, (process, signal.SIGKILL))
        timer.start()
        try:
            return do(self, *arguments)
        finally:
            timer.join()

    monkeypatch.setattr(ClusterTraining, stage, kill_and_do)
    other = TextClassifier(tune=None).fit_files(f"{collection}/*.jsonl", memory="256MB", cluster=tasks)
    other.save(tmp_path / "other.wm")
    assert set(tasks.client.run(os.getpid).values()) != before
    assert (tmp_path / "other.wm").read_bytes() == (tmp_path / "one.wm").read_bytes()


def test_a_killed_scheduler_is_an_error_and_leaves_nothing(collection, tmp_path):
    file, scratch = tmp_path / "scheduler.json", tmp_path / "scratch"
    scratch.mkdir()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    where = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    python = [sys.executable, "-m"]
    scheduler = subprocess.Popen([*python, "distributed.cli.dask_scheduler", *where], **quiet)
    try:
        while not file.exists():
            time.sleep(0.05)
        # Without workers, it waits.
        arguments = ["train", f"{collection}/*.jsonl", "-o", str(tmp_path / "model.wm"), "--tune", "none"]
        process = subprocess.Popen(
            [*COMMAND, *arguments, "--cluster", str(file), "--scratch", str(scratch)],
            env=environment(TMPDIR=str(scratch)),
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("Cluster"):
                break
    finally:
        scheduler.kill()
        scheduler.wait()
    assert process.wait(timeout=60) == 74
    assert "scheduler" in process.stderr.read()
    assert not (tmp_path / "model.wm").exists()
    assert not list(scratch.iterdir())


def test_ctrl_c_leaves_no_process_and_no_file(model, tmp_path):
    slow = write_jsonl(tmp_path / "slow.jsonl", TICKETS * 1000)
    sources = [str(slow)] * 120
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    arguments = ["predict", str(model), *sources, "-o", str(tmp_path / "out"), "--cluster", "local:2"]
    process = subprocess.Popen(
        [*COMMAND, *arguments], env=environment(TMPDIR=str(scratch)), stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "120 files" in line:  # the first shard is done
            break
    children = psutil.Process(process.pid).children(recursive=True)
    assert children
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert "Traceback" not in process.stderr.read()
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
    assert not list(scratch.iterdir())
    assert not list(tmp_path.glob("out*"))
