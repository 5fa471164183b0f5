"""``widemargin split``: what it writes, what it prints, and what it refuses."""

from __future__ import annotations

import csv
import json
from collections import Counter

import pytest

from tests.cli.conftest import TICKETS, write_jsonl

COPY = {"id": "copy", "text": TICKETS[0]["text"].upper(), "labels": ["billing"]}


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Tickets with a title and a body, a customer and a date; one has no team."""
    path = tmp_path_factory.mktemp("table") / "tickets.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["number", "subject line", "body", "team", "customer", "day"])
        for i, ticket in enumerate(TICKETS):
            title, _, body = ticket["text"].partition(", ")
            team = "" if i == 4 else ticket["labels"][0]
            rows.writerow([ticket["id"], title, body, team, f"c{i % 5}", f"2026-01-{i + 1:02}"])
    return path


OF_TABLE = ["--text", "subject line", "--text", "body", "--label", "team", "--id", "number"]


def test_two_parts_are_written_and_the_next_command_works(run, tickets, tmp_path):
    done = run("split", tickets, "--test", "0.34", "-o", "parts", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    train, test = read(tmp_path / "parts" / "train.jsonl"), read(tmp_path / "parts" / "test.jsonl")
    assert sorted(record["id"] for record in train + test) == sorted(ticket["id"] for ticket in TICKETS)
    assert all(ticket in TICKETS for ticket in train + test)
    assert Counter(record["labels"][0] for record in test) == {"billing": 2, "hardware": 2, "network": 2}
    assert "Wrote 12 documents (66.7 %) to parts/train.jsonl." in done.stdout
    assert "Wrote 6 documents (33.3 %) to parts/test.jsonl." in done.stdout
    assert "billing       4     2    33.3" in done.stdout
    train_line, evaluate_line = (line.partition(": ")[2] for line in done.stdout.splitlines()[-2:])
    for line in (train_line + " --tune none", evaluate_line):
        assert run(*line.split()[1:], cwd=tmp_path).returncode == 0


def test_columns_of_text_groups_and_times_survive(here, table, tmp_path):
    files = ["--train", tmp_path / "a.jsonl", "--test-file", tmp_path / "b.jsonl"]
    done = here("split", table, *OF_TABLE, "--group", "customer", "--time", "day", "--test", "4", *files)
    assert done.returncode == 0, done.stderr
    assert 'times from "day", groups from "customer"' in done.stderr
    train = read(tmp_path / "a.jsonl")
    assert list(train[0]) == ["id", "subject line", "body", "labels", "day", "customer"]
    first = {
        "id": "t10",
        "subject line": "printer jam",
        "body": "and screen flickers",
        "labels": ["hardware"],
    }
    both = train + read(tmp_path / "b.jsonl")
    assert {**first, "day": "2026-01-07", "customer": "c1"} in both
    assert "--text 'subject line' --text body" in done.stdout


def test_groups_stay_in_one_part(here, table, tmp_path):
    done = here("split", table, *OF_TABLE, "--group", "customer", "-o", tmp_path / "parts", "--quiet")
    assert (done.returncode, done.stdout) == (0, "")
    sides = [
        {record["customer"] for record in read(tmp_path / "parts" / f"{name}.jsonl")}
        for name in ("train", "test")
    ]
    assert not sides[0] & sides[1]
    assert sides[0] | sides[1] == {f"c{i}" for i in range(5)}


def test_the_latest_documents_are_the_test_part(here, table, tmp_path):
    done = here("split", table, *OF_TABLE, "--time", "day", "--test", "0.2", "-o", tmp_path)
    days = {
        name: [record["day"] for record in read(tmp_path / f"{name}.jsonl")] for name in ("train", "test")
    }
    assert max(days["train"]) < min(days["test"])
    assert "1 unlabeled document went to the training part." in done.stdout


def test_a_third_part_in_a_file_of_its_own(here, tickets, tmp_path):
    names = [tmp_path / f"{name}.jsonl" for name in ("a", "b", "c")]
    options = ["--train", names[0], "--dev-file", names[1], "--test-file", names[2]]
    done = here("split", tickets, "--dev", "3", "--test", "6", *options, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["documents"] == {"train": 9, "dev": 3, "test": 6}
    assert [len(read(path)) for path in names] == [9, 3, 6]
    assert found["labels"]["billing"] == {"train": 3, "dev": 1, "test": 2}
    assert found["files"]["dev"] == str(names[1])


def test_near_duplicates_and_seeds(here, tmp_path):
    data = write_jsonl(tmp_path / "data.jsonl", [*TICKETS, COPY])
    sides = {}
    for rule in ("together", "ignore"):
        for seed in range(8):
            done = here(
                "split", data, "--near-duplicates", rule, "--seed", str(seed), "-o", tmp_path / "parts",
                "--force", "--json", "--threads", str(1 + seed % 2),
            )  # fmt: skip
            assert json.loads(done.stdout)["near_duplicates"] == (2 if rule == "together" else 0)
            test = frozenset(record["id"] for record in read(tmp_path / "parts" / "test.jsonl"))
            sides.setdefault(rule, []).append(test)
    assert all(len(test & {"t0", "copy"}) != 1 for test in sides["together"])
    assert any(len(test & {"t0", "copy"}) == 1 for test in sides["ignore"])
    assert len(set(sides["together"])) > 1
    done = here("split", data, "-o", tmp_path / "parts", "--force", "--seed", "3")
    again = frozenset(record["id"] for record in read(tmp_path / "parts" / "test.jsonl"))
    assert again == sides["together"][3]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 2, "Pass -o DIR, or --train FILE and --test-file FILE."),
        (["--train", "a.jsonl"], 2, "Pass -o DIR, or --test-file FILE."),
        (["-o", "parts", "--train", "a.jsonl"], 2, "Use either --output or --train"),
        (["--train", "a.jsonl", "--test-file", "./a.jsonl"], 2, "Two parts have the same file."),
        (["-o", "parts", "--dev-file", "a.jsonl"], 2, "--dev-file needs the size of that part"),
        (["-o", "parts", "--test", "0"], 2, "--test 0: expected a fraction above 0 and below 1"),
        (["-o", "parts", "--test", "1"], 2, "--test 1: expected a fraction"),
        (["-o", "parts", "--dev", "few"], 2, "--dev few: expected a fraction"),
        (["-o", "parts", "--test", "18"], 65, "none is left to train on. Hold out less."),
        (["-o", "data.jsonl"], 2, "data.jsonl is a file. Name a folder"),
        (["-o", "no/parts"], 66, "There is no folder no"),
        (["--train", "data.jsonl", "--test-file", "b.jsonl"], 2, "data.jsonl"),
        (["-o", "parts", "--group", "customer"], 65, "Name another column with the groups (--group)."),
        (["-o", "parts", "--group", "same"], 65, "all documents are in one group"),
        (["-o", "parts", "--text", "id", "--text", "text"], 2, "Rename the column."),
    ],
)  # fmt: skip
def test_what_is_refused(here, tmp_path, options, code, message):
    write_jsonl(tmp_path / "data.jsonl", [{**ticket, "same": 1} for ticket in TICKETS])
    done = here("split", "data.jsonl", *options, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert not (tmp_path / "parts").exists()


def test_existing_files_are_kept(here, tickets, tmp_path):
    (tmp_path / "test.jsonl").write_text("mine")
    done = here("split", tickets, "-o", tmp_path)
    assert done.returncode == 2
    assert "test.jsonl exists. Name another file or folder, or pass --force to replace it." in done.stderr
    assert not (tmp_path / "train.jsonl").exists()
    assert (tmp_path / "test.jsonl").read_text() == "mine"


def test_vectors_are_refused(here, tmp_path):
    (tmp_path / "data.svm").write_text("1 1:1\n-1 2:1\n")
    done = here("split", "data.svm", "--format", "svmlight", "-o", "parts", cwd=tmp_path)
    assert done.returncode == 65
    assert "Split the documents they were made from." in done.stderr


def test_reading_options(here, tmp_path):
    rows = [f"{ticket['text'].replace(',', '')},{ticket['labels'][0]};all\n" for ticket in TICKETS]
    (tmp_path / "data.txt").write_text("words,team\n" + "".join(rows), encoding="utf-16")
    options = ["--encoding", "utf-16", "--label-delimiter", ";", "--format", "csv", "--errors"]
    done = here("split", "data.txt", "-o", ".", *options, "strict", "--debug", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert read(tmp_path / "test.jsonl")[0]["labels"][1] == "all"
    done = here(
        "split", "data.txt", "-o", ".", "--force", *options, "replace", "--max-document", "10B", cwd=tmp_path
    )
    assert done.returncode == 65
    assert "--max-document" in done.stderr


def test_help_shows_an_example(here):
    assert "Example: widemargin split" in here("split", "--help").stdout
    assert "--max-document" in here("split", "--help-all").stdout
