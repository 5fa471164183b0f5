"""``predict --abstain``, ``evaluate --abstain``, ``predict --monitor`` and ``inspect --drift``."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from widemargin.cli import main

WORDS = {
    "grain": ["corn", "wheat", "harvest", "rye", "field", "crop", "barley", "oats"],
    "money": ["bank", "rate", "loan", "credit", "interest", "cash", "fund", "market"],
    "sport": ["ball", "goal", "team", "match", "player", "league", "cup", "referee"],
}


def write(path, n, seed, *, topics=("grain", "money", "sport"), strange=0):
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(n):
        label = topics[rng.integers(len(topics))]
        words = [*rng.choice(WORDS[label], 4), *rng.choice(WORDS[rng.choice(list(WORDS))], 2)]
        lines.append({"id": f"d{i}", "text": " ".join([*words, f"n{rng.integers(300)}x"]), "labels": [label]})
    lines += [{"id": f"s{i}", "text": f"violin{i} concerto", "labels": ["music"]} for i in range(strange)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watching")
    write(folder / "train.jsonl", 500, 0)
    write(folder / "test.jsonl", 700, 1, strange=20)
    write(folder / "drifted.jsonl", 1000, 2, topics=("sport",))
    train = ("train", folder / "train.jsonl", "--tune", "none", "--quiet")
    for more in (("--calibrate", "platt", "-o", "model.wm"), ("--estimate", "none", "-o", "bare.wm")):
        *how, name = more
        assert main([*map(str, train), *how, str(folder / name)]) == 0
    return folder


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_abstain_leaves_labels_empty_and_says_why(here, folder, tmp_path):
    out = tmp_path / "out.jsonl"
    done = here("predict", folder / "model.wm", folder / "test.jsonl", "--abstain", "0.05", "-o", out)
    assert done.returncode == 0, done.stderr
    rows = rows_of(out)
    music = [row for row in rows if row["id"].startswith("s")]
    assert {row["abstained"] for row in music} == {"no known terms"}
    assert all(row["labels"] is None for row in music)
    assert all((row["labels"] is None) == (row["abstained"] is not None) for row in rows)
    assert sum(row["labels"] is not None for row in rows) > 300
    assert "undecided" in done.stderr


def test_abstain_by_confidence_adds_a_column_to_tables(here, folder, tmp_path):
    out = tmp_path / "out.csv"
    how = ("--abstain", "confidence:0.9", "--json", "-o", out)
    done = here("predict", folder / "model.wm", folder / "test.jsonl", *how)
    found = json.loads(done.stdout)
    with open(out, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0].keys() >= {"id", "labels", "abstained"}
    empty = [row for row in rows if not row["labels"]]
    assert all(row["abstained"] for row in empty)
    assert sum(found["abstained"].values()) == len(empty) > 20
    assert found["abstain"]["asked"] == "confidence:0.9"


def test_evaluate_tells_what_abstaining_does(here, folder):
    how = ("evaluate", folder / "model.wm", folder / "test.jsonl", "--abstain", "0.05")
    done = here(*how)
    assert done.returncode == 0, done.stderr
    assert "Abstaining (0.05):" in done.stdout
    assert "promised: at most 5 %" in done.stdout
    found = json.loads(here(*how, "--json").stdout)["abstain"]
    assert found["unknown_labels"] == {"documents": 20, "abstained": 20, "recall": 1.0}
    assert found["decided"] + sum(found["abstained"].values()) == found["documents"] == 720
    assert found["error"]["value"] <= 0.05


@pytest.mark.parametrize(
    ("option", "cure"), [("--abstain=0.05", "--estimate auto"), ("--monitor=m.json", "--estimate auto")]
)
def test_models_without_a_profile_say_the_cure(here, folder, option, cure):
    done = here("predict", folder / "bare.wm", folder / "test.jsonl", option)
    assert done.returncode == 2
    assert cure in done.stderr


@pytest.mark.parametrize("option", ["--abstain=0.05", "--monitor=m.json"])
def test_other_thresholds_are_not_watched(here, folder, option):
    done = here("predict", folder / "model.wm", folder / "test.jsonl", option, "--thresholds", "grain=1")
    assert done.returncode == 2
    assert "Omit --thresholds" in done.stderr


def test_monitor_counts_over_runs_and_warns_of_drift(here, folder, tmp_path):
    state, out = tmp_path / "drift.json", tmp_path / "out.jsonl"
    for part in (3, 4):
        write(tmp_path / "same.jsonl", 600, part)
        how = ("--monitor", state, "-o", out)
        done = here("predict", folder / "model.wm", tmp_path / "same.jsonl", *how)
        assert done.returncode == 0, done.stderr
        assert "differ" not in done.stderr
    shown = here("inspect", folder / "model.wm", "--drift", state)
    assert "1,200 documents since" in shown.stdout
    assert "No drift beyond chance" in shown.stdout
    done = here("predict", folder / "model.wm", folder / "drifted.jsonl", "--monitor", state, "-o", out)
    assert done.returncode == 0
    assert "the documents differ from those of training" in done.stderr
    found = json.loads(here("inspect", folder / "model.wm", "--drift", state, "--json").stdout)
    assert found["documents"] == 2200
    assert found["alarm"]
    assert {alarm["group"] for alarm in found["alarms"]} >= {"labels"}
    assert found["alarms"][0]["seen"] <= 2200
    shown = here("inspect", folder / "model.wm", "--drift", state)
    assert "Drift: label some of the new documents" in shown.stdout


def test_a_monitor_belongs_to_a_model(here, folder, tmp_path):
    state = tmp_path / "drift.json"
    predict = ("predict", "--monitor", state, "-o", tmp_path / "out.jsonl")
    here(*predict, folder / "model.wm", folder / "test.jsonl")
    other = tmp_path / "other.wm"
    here("train", folder / "train.jsonl", "--tune", "none", "--quiet", "-o", other)
    done = here(*predict, other, folder / "test.jsonl")
    assert done.returncode == 2
    assert "another model" in done.stderr


def test_other_files_are_not_replaced_by_a_monitor(here, folder, tmp_path):
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear all", encoding="utf-8")
    done = here("predict", folder / "model.wm", folder / "test.jsonl", "--monitor", letter)
    assert done.returncode == 65
    assert letter.read_text(encoding="utf-8") == "Dear all"
    done = here("predict", folder / "model.wm", folder / "test.jsonl", "--monitor", folder / "test.jsonl")
    assert done.returncode == 2
    done = here("inspect", folder / "model.wm", "--drift", tmp_path / "none.json")
    assert done.returncode == 66


def test_a_damaged_monitor_is_refused(here, folder, tmp_path):
    state = tmp_path / "drift.json"
    predict = (
        "predict",
        folder / "model.wm",
        folder / "test.jsonl",
        "--monitor",
        state,
        "-o",
        tmp_path / "o.csv",
    )
    here(*predict)
    content = json.loads(state.read_text(encoding="utf-8"))
    content["state"]["seen"] = 3
    state.write_text(json.dumps(content), encoding="utf-8")
    done = here(*predict)
    assert done.returncode == 65
    assert "is damaged" in done.stderr
