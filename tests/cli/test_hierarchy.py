"""Labels that are paths, by the real command."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import TICKETS, write_jsonl
from widemargin import LinearSVM, TextClassifier, Vectorizer

ROOTS = {"billing": "office", "hardware": "it", "network": "it"}
PATHS = [
    {**ticket, "labels": [f"{ROOTS[label]}/{label}"]} for ticket in TICKETS for label in ticket["labels"]
]
SETS = [
    {**ticket, "text": f"{ticket['text']} {other['text']}", "labels": ticket["labels"] + other["labels"]}
    for ticket, other in zip(PATHS[:12], PATHS[6:], strict=True)
]
SETS = [{**record, "labels": sorted(set(record["labels"]))} for record in SETS]
PLAIN = ["--tune", "none", "-q"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_jsonl(tmp_path_factory.mktemp("hierarchy") / "data.jsonl", PATHS)


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    return write_jsonl(tmp_path_factory.mktemp("hierarchy") / "sets.jsonl", PATHS + SETS)


@pytest.fixture
def model(run, data, tmp_path):
    path = tmp_path / "m.wm"
    done = run("train", data, "-o", path, "--label-path", "/", "--calibrate", "platt", *PLAIN)
    assert done.returncode == 0, done.stderr
    return path


def test_train_reports_levels(run, data, tmp_path):
    path = tmp_path / "m.wm"
    done = run("train", data, "-o", path, "--label-path", "/", "--tune", "none")
    assert done.returncode == 0, done.stderr
    first, *_ = done.stdout.splitlines()
    assert first.startswith("Learned 5 labels in 2 levels (one path per document, decided bottom-up) from 18")
    assert "Expect the right label for" in done.stdout
    header = next(line for line in done.stdout.splitlines() if line.startswith("level"))
    assert header.split() == ["level", "labels", "examples", "precision", "recall", "F1", "macro-F1", "right"]
    rows = [line.split()[:2] for line in done.stdout.partition(header)[2].splitlines()[1:5]]
    assert rows == [["1", "2"], ["2", "3"], ["all", "5"], ["most", "specific"]]
    done = run("train", data, "-o", path, "--label-path", "/", "--tune", "none", "--json")
    summary = json.loads(done.stdout)
    assert summary["hierarchy"]["levels"] == 2
    assert [level["level"] for level in summary["levels"]] == ["1", "2", "all", "most specific"]


def test_predict_writes_full_paths(run, data, model):
    done = run("predict", model, data, "--scores", "--proba", "--top", "2")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["labels"] for row in rows] == [record["labels"] for record in PATHS]
    nodes = ["it", "it/hardware", "it/network", "office", "office/billing"]
    for row in rows:
        assert list(row["scores"]) == list(row["probabilities"]) == nodes
        chances = row["probabilities"]
        assert chances["it"] == pytest.approx(chances["it/hardware"] + chances["it/network"], abs=3e-6)
        assert chances["it"] + chances["office"] == pytest.approx(1, abs=3e-6)
        assert row["top"][0]["label"] == row["labels"][0]
        assert all("/" in entry["label"] for entry in row["top"])


def test_evaluate_reports_levels(run, data, model, tmp_path):
    unknown = [*PATHS[:3], {"id": "x", "text": "printer jam", "labels": ["it/phones"]}]
    test = write_jsonl(tmp_path / "test.jsonl", unknown)
    done = run("evaluate", model, test)
    assert done.returncode == 0, done.stderr
    assert "1 label that the model does not know: it/phones" in done.stderr
    last = done.stdout.partition("\nlevel ")[2].splitlines()
    assert last[0].endswith("estimated: F1")
    assert last[1].split()[:6] == ["1", "2", "4", "100.0", "100.0", "100.0"]
    found = json.loads(run("evaluate", model, test, "--json").stdout)
    levels = {level["level"]: level for level in found["levels"]}
    assert levels["1"]["right"] == 1.0
    assert levels["2"]["micro"] == {"precision": 0.75, "recall": 1.0, "f1": pytest.approx(0.857143)}
    assert levels["most specific"]["right"] == found["accuracy"] == 0.75
    assert [level["level"] for level in found["estimated_levels"]] == list(levels)


def test_inspect_shows_the_tree(run, model):
    done = run("inspect", model)
    lines = done.stdout.splitlines()
    assert "hierarchy    2 levels, separator /, one path per document, bottom-up" in lines
    place = next(i for i, line in enumerate(lines) if line.startswith("label") and "most specific" in line)
    assert [line.split() for line in lines[place + 1 : place + 6]] == [
        ["it", "12", "0"],
        ["hardware", "6", "6"],
        ["network", "6", "6"],
        ["office", "6", "0"],
        ["billing", "6", "6"],
    ]
    found = json.loads(run("inspect", model, "--json").stdout)
    assert found["hierarchy"][1] == {
        "label": "it/hardware",
        "parent": "it",
        "level": 2,
        "documents": 6,
        "most_specific": 6,
    }


def test_explain_a_node(run, model):
    found = json.loads(run("explain", model, "printer jam", "--label", "it", "--json").stdout)
    assert found["label"] == "it"
    assert found["score"] > 0
    found = json.loads(run("explain", model, "printer jam", "--json").stdout)
    assert found["label"] == "it/hardware"


@pytest.mark.parametrize("rule", ["auto", "bottom-up", "top-down", "max-sum"])
def test_hierarchy_is_that_of_the_library(run, sets, tmp_path, rule):
    path = tmp_path / "m.wm"
    done = run(
        "train", sets, "-o", path, "--label-path", "/", "--hierarchy", rule, "--thresholds", "f1", *PLAIN
    )
    assert done.returncode == 0, done.stderr
    texts = [record["text"] for record in PATHS + SETS]
    ours = TextClassifier(
        Vectorizer(), LinearSVM(), label_path="/", hierarchy=rule, thresholds="f1", estimate="leave-one-out"
    ).fit(texts, [record["labels"] for record in PATHS + SETS])
    expected = "max-sum" if rule == "auto" else rule
    loaded = TextClassifier.load(path)
    assert loaded.rule_.hierarchy.name == ours.rule_.hierarchy.name == expected
    done = run("predict", path, sets)
    found = [tuple(json.loads(line)["labels"]) for line in done.stdout.splitlines()]
    assert found == ours.predict(texts)


def test_stops_and_a_long_separator(run, tmp_path):
    records = [{**r, "labels": [r["labels"][0].replace("/", " > ")]} for r in PATHS]
    records = [{**r, "labels": ["it"]} if r["id"] in ("t20", "t21", "t22") else r for r in records]
    path, data = tmp_path / "m.wm", write_jsonl(tmp_path / "data.jsonl", records)
    done = run("train", data, "-o", path, "--label-path", " > ", "--estimate", "none", *PLAIN)
    assert done.returncode == 0, done.stderr
    done = run("predict", path, data)
    found = [json.loads(line)["labels"] for line in done.stdout.splitlines()]
    assert found == [record["labels"] for record in records]


@pytest.mark.parametrize(
    ("labels", "options", "code", "words"),
    [
        (["a//b"], ["--label-path", "/"], 65, "Document t0: the label 'a//b' has an empty part"),
        (["/a"], ["--label-path", "/"], 65, "Document t0: the label '/a' has an empty part"),
        (["a"], ["--label-path", "."], 65, "contains '.', so they are not paths"),
        (["a"], ["--label-path", ""], 2, "label_path=''"),
        (["a"], ["--hierarchy", "top-down"], 2, "--label-path /"),
        (["a"], ["--hierarchy", "sideways"], 2, "sideways"),
        (["a"], ["--label-path", "/", "--thresholds", "f1"], 2, "every document gets one path"),
        (
            ["a", "b"],
            ["--label-path", "/", "--hierarchy", "max-sum", "--thresholds", "precision:0.9"],
            2,
            "Use top-down",
        ),
        (["a"], ["--label-path", "/", "--learner", "multiclass-svm"], 2, "--learner linear-svm"),
        (["a"], ["--label-path", "/", "--calibrate", "length"], 2, "Use platt or isotonic"),
        (
            ["a"],
            ["--label-path", "/", "--learner", "perceptron", "--stream"],
            2,
            "--label-path needs all documents",
        ),
    ],
)
def test_what_does_not_apply_is_refused(run, tmp_path, labels, options, code, words):
    data = write_jsonl(tmp_path / "data.jsonl", [{**PATHS[0], "labels": labels}, *PATHS[1:]])
    done = run("train", data, "-o", tmp_path / "m.wm", *options)
    assert done.returncode == code, done.stderr
    assert words in " ".join(done.stderr.split())
    assert not (tmp_path / "m.wm").exists()


def test_evaluate_refuses_other_labels(run, model, tmp_path):
    data = write_jsonl(tmp_path / "data.jsonl", [{**PATHS[0], "labels": ["it//hardware"]}])
    done = run("evaluate", model, data)
    assert done.returncode == 65
    assert "'it//hardware' has an empty part" in done.stderr
    data = write_jsonl(tmp_path / "data.jsonl", [{**PATHS[0], "labels": ["it", "office"]}])
    done = run("evaluate", model, data)
    assert done.returncode == 65
    assert "none or several labels" in done.stderr


def test_identify_refuses_a_hierarchy(run, model, data):
    done = run("identify", model, data)
    assert done.returncode == 2
    assert "label hierarchy" in done.stderr
