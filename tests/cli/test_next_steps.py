"""Every verb that writes says what it wrote and what to do next, but not to programs; a quiet train."""

from __future__ import annotations

import json
import re

import pytest

from widemargin.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("steps")
    lines = [
        {"id": f"d{i}", "text": f"{'corn wheat' if i % 2 else 'bank rate'} n{i % 7}", "labels": [str(i % 2)]}
        for i in range(60)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "data.jsonl").write_text(text, encoding="utf-8")
    unlabeled = "".join(json.dumps({**line, "labels": None}) + "\n" for line in lines)
    (folder / "new.jsonl").write_text(unlabeled, encoding="utf-8")
    train = ["train", str(folder / "data.jsonl"), "--tune", "none", "--quiet", "--calibrate", "platt"]
    assert main([*train, "-o", str(folder / "model.wm")]) == 0
    return folder


def commands(folder, tmp_path):
    data, new, model = folder / "data.jsonl", folder / "new.jsonl", folder / "model.wm"
    return {
        "train": ("train", data, "--tune", "none", "-o", tmp_path / "m.wm"),
        "stream": ("train", data, "--stream", "-o", tmp_path / "s.wm"),
        "predict": ("predict", model, new, "-o", tmp_path / "p.jsonl"),
        "label": ("label", data, new, "-o", tmp_path / "l.jsonl", "--model", tmp_path / "l.wm"),
        "identify": ("identify", model, new, "-o", tmp_path / "i.jsonl"),
        "split": ("split", data, "-o", tmp_path / "parts"),
    }


@pytest.mark.parametrize("verb", ["train", "stream", "predict", "label", "identify", "split"])
def test_what_was_written_and_what_is_next(here, folder, tmp_path, verb):
    command = commands(folder, tmp_path)[verb]
    done = here(*command)
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert all(str(path) in said for path in written)
    assert re.search(r"widemargin (evaluate|predict|explain|identify|train)", said)
    quiet = here(*command, "--quiet", *(["--force"] if verb == "split" else []))
    assert "Next:" not in quiet.stderr
    found = here(*command, "--json", *(["--force"] if verb == "split" else []))
    assert "Next:" not in found.stderr + found.stdout


def test_the_line_of_a_quiet_training(here, folder, tmp_path):
    train = ("train", folder / "data.jsonl", "--tune", "none", "--quiet", "-o", tmp_path / "m.wm")
    line = re.escape(str(tmp_path / "m.wm")) + r": accuracy [\d.]+ % \(\d+-\d+\) estimated on 60 documents\n"
    assert re.fullmatch(line, here(*train).stdout)
    assert here(*train, "--estimate", "none").stdout == (
        f"{tmp_path / 'm.wm'}: 2 labels learned from 60 documents, not estimated\n"
    )
    assert "micro-F1" in here(*train, "--multilabel").stdout
    assert "at least" in here(*train, "--estimate", "xi-alpha").stdout
    assert "predicted wrongly" in here(*train[:2], "--stream", "--quiet", "-o", tmp_path / "s.wm").stdout


@pytest.mark.needs_corpus("sms-spam")
def test_collections_say_what_is_next(here, tmp_path):
    done = here("corpus", "export", "sms-spam", "-o", tmp_path / "spam")
    assert done.returncode == 0
    assert "Next: widemargin train" in done.stderr
