"""Leaks and mistakes are said by the commands that see them."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import TICKETS, write_jsonl

SENTENCES = [
    f"{ticket['text']} in room {i}, and the same again on day {i}" for i, ticket in enumerate(TICKETS * 2)
]
TEAMS = [ticket["labels"][0] for ticket in TICKETS * 2]


def write_csv(path, texts, labels):
    lines = [f'"{text}","{label}"\n' for text, label in zip(texts, labels, strict=True)]
    path.write_text("text,label\n" + "".join(lines), encoding="utf-8")
    return path


def train(here, data, tmp_path, *options):
    return here("train", data, "-o", tmp_path / "model.wm", "--tune", "none", "--estimate", "none", *options)


def test_evaluating_on_training_documents(run, model, tickets, tmp_path):
    done = run("evaluate", model, tickets)
    assert "All 18 documents of the data are training documents of this model" in done.stdout
    assert "widemargin split" in done.stdout
    new = [{"id": "n", "text": "the invoice amount is wrong", "labels": ["billing"]}]
    copy = {**TICKETS[0], "text": TICKETS[0]["text"].upper().replace(" ", "  ")}
    mixed = write_jsonl(tmp_path / "mixed.jsonl", [*new, copy])
    done = run("evaluate", model, mixed)
    assert (
        "1 of 2 documents are training documents of this model (the same text). Without them:" in done.stdout
    )
    assert "without training documents       1" in done.stdout
    found = json.loads(run("evaluate", model, mixed, "--json").stdout)["seen_in_training"]
    assert found["documents"] == 1
    assert found["without"]["n"] == 1


def test_without_hashes_nothing_is_said(here, tickets, tmp_path):
    assert train(here, tickets, tmp_path, "--no-hashes").returncode == 0
    done = here("evaluate", tmp_path / "model.wm", tickets)
    assert "training documents of this model" not in done.stdout
    assert (
        json.loads(here("evaluate", tmp_path / "model.wm", tickets, "--json").stdout)["seen_in_training"]
        is None
    )


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (TEAMS, SENTENCES, "The columns of text and labels seem to be swapped"),
        (SENTENCES, range(1000, 1036), "The labels seem to be ids or numbers of documents: 1000, 1001, 1002"),
        (["same text"] * 36, TEAMS, "All 36 texts are the same, 'same text'"),
        ([" "] * 36, TEAMS, "All 36 texts are empty. Name the column with the text: --text"),
        (SENTENCES, ["billing"] * 36, "Add examples of a second class"),
    ],
)
def test_errors_of_training(here, tmp_path, texts, labels, message):
    done = train(here, write_csv(tmp_path / "data.csv", texts, labels), tmp_path)
    assert done.returncode == 65
    assert message in done.stderr
    assert not (tmp_path / "model.wm").exists()


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (SENTENCES, ["a;b", "b;c", "a;c", "b"] * 9, "pass --label-delimiter ';'"),
        (range(1000, 1036), TEAMS, "The texts look like numbers: 1000, 1001, 1002"),
    ],
)
def test_warnings_of_training(here, tmp_path, texts, labels, message):
    done = train(here, write_csv(tmp_path / "data.csv", texts, labels), tmp_path)
    assert done.returncode == 0
    assert message in done.stderr


def test_one_file_per_class_folder(here, tmp_path):
    for name in ("billing", "network", "hardware"):
        (tmp_path / "data" / name).mkdir(parents=True)
        (tmp_path / "data" / name / "all.txt").write_text(f"{name} one\n{name} two\n")
    done = train(here, tmp_path / "data", tmp_path)
    assert "Each of the 3 class folders has exactly one file" in done.stderr
    assert "--format lines --label-from folder" in done.stderr
    again = train(here, tmp_path / "data", tmp_path, "--format", "lines", "--label-from", "folder")
    assert "exactly one file" not in again.stderr
    assert "6 documents" in again.stdout


@pytest.mark.parametrize(
    ("labels", "code", "message"),
    [
        (["Billing", "HARDWARE", "Network"], 65, "'Billing' is 'billing' and 'HARDWARE' is 'hardware'"),
        (["0", "1", "2"], 65, "The data has numbers and the model names. Write the labels as in training."),
        (["x", "y", "billing"], 0, "67 % of the documents have only labels that the model does not know"),
    ],
)
def test_labels_of_a_test_set(here, model, tmp_path, labels, code, message):
    new = [{"text": "the invoice is wrong", "labels": [label]} for label in labels]
    done = here("evaluate", model, write_jsonl(tmp_path / "new.jsonl", new))
    assert done.returncode == code
    assert message in done.stderr


def test_another_language(here, tmp_path):
    assert train(here, write_csv(tmp_path / "data.csv", SENTENCES, TEAMS), tmp_path).returncode == 0
    french = [
        "le chat est sur la table et il ne dort pas on",
        "elle a dit que ce n'est pas pour nous in",
    ] * 12
    test = write_csv(tmp_path / "test.csv", french, ["billing", "network"] * 12)
    for verb in ("evaluate", "predict"):
        done = here(verb, tmp_path / "model.wm", test)
        assert done.returncode == 0
        assert "seem to be in another language than the training documents" in done.stderr
    unknown = write_csv(tmp_path / "test.csv", ["xyz"] * 24, ["billing", "network"] * 12)
    assert here("predict", tmp_path / "model.wm", unknown).returncode == 0
    done = here("evaluate", tmp_path / "model.wm", unknown)
    assert done.returncode == 65
    assert "No document has a term that the model knows." in done.stderr
