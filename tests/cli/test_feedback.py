"""``widemargin label --query``: a ranking, marks in it, the ranking again."""

from __future__ import annotations

import csv
import json

import pytest

from tests.cli.conftest import write_jsonl
from tests.cli.test_label import documents, hidden, rows_of


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """A file of documents without labels, and the truth about them."""
    records = documents(["money", "wires", "trees"], 30)
    path = write_jsonl(tmp_path_factory.mktemp("feedback") / "all.jsonl", hidden(records))
    return path, {record["id"]: record["labels"] == ["money"] for record in records}


def marked(path, truth, target, n=10, names=("relevant", "not relevant")):
    """The first documents of a ranking with their marks, in a new file."""
    rows = rows_of(path)
    for row in rows[:n]:
        row["labels"] = [names[0] if truth[row["id"]] else names[1]]
    return write_jsonl(target, rows)


def found_among_next(rows, truth, n=15):
    left = [row for row in rows if row["labels"] is None]
    return sum(truth[row["id"]] for row in left[:n])


def test_rank_mark_and_rank_again(run, collection, tmp_path):
    path, truth = collection
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    done = run("label", path, "--query", "invoice card", "-o", first, "--next", "3")
    assert done.returncode == 0, done.stderr
    rows = rows_of(first)
    assert {row["id"] for row in rows} == set(truth)
    assert all(row["labels"] is None and row["text"] for row in rows)
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    assert all(row["id"] in done.stdout for row in rows[:3])
    assert "Ranked 90 documents by the query." in done.stdout
    assert rows[3]["id"] not in done.stdout

    marks = marked(first, truth, tmp_path / "marked.jsonl")
    done = run("label", marks, "--query", "invoice card", "-o", second, "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    again = rows_of(second)
    assert summary["ranked_by"] == "transductive"
    assert summary["relevant"] + summary["not_relevant"] == 10
    assert summary["next"] == [row["id"] for row in again if row["labels"] is None][:10]
    n = summary["relevant"]
    assert all(row["labels"] == ["relevant"] for row in again[:n])
    assert all(row["labels"] == ["not relevant"] for row in again[n + 80 :])
    same = [row for row in rows_of(marks) if row["labels"] is None]
    assert found_among_next(again, truth, 20) > found_among_next(same, truth, 20)


def test_a_table_can_be_marked_too(run, collection, tmp_path):
    path, _ = collection
    first = tmp_path / "first.csv"
    assert run("label", path, "--query", "oak", "-o", first, "-q").returncode == 0
    with first.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["id", "text", "labels", "score"]
    assert {row["labels"] for row in rows} == {""}
    for row in rows[:4]:
        row["labels"] = "relevant"
    with first.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    done = run("label", first, "--query", "oak", "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["relevant"], summary["not_relevant"], summary["ranked_by"]) == (4, 0, "transductive")


def test_only_documents_that_are_not_relevant(run, collection, tmp_path):
    path, truth = collection
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for record in [record for record in records if not truth[record["id"]]][:5]:
        record["labels"] = "not relevant"
    marks = write_jsonl(tmp_path / "marked.jsonl", records)
    done = run("label", marks, "--query", "invoice", "--json", "--positives", "0.3", "--C", "2")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["not_relevant"] == 5


def test_two_files_and_a_label_of_ones_own(run, collection, tmp_path):
    path, truth = collection
    known = [
        {"id": "a", "text": "invoice refund card", "labels": ["money"]},
        {"id": "b", "text": "oak leaf forest", "labels": ["trees"]},
        {"id": "c", "text": "nothing of all", "labels": []},
    ]
    marks = write_jsonl(tmp_path / "known.jsonl", known)
    done = run("label", marks, path, "--query", "payment", "--relevant", "money", "-o", "-", "--quiet")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == 93
    assert rows[0]["id"] == "a"
    assert {row["id"] for row in rows[-2:]} == {"b", "c"}
    assert found_among_next(rows, truth, 10) >= 8


def test_the_same_ranking_again(run, collection, tmp_path):
    path, truth = collection
    first = tmp_path / "first.jsonl"
    assert run("label", path, "--query", "bank", "-o", first, "-q").returncode == 0
    marks = marked(first, truth, tmp_path / "marked.jsonl")
    runs = [run("label", marks, "--query", "bank", "-o", "-", "--threads", n, "-q") for n in ("1", "2")]
    assert runs[0].stdout == runs[1].stdout != ""


def test_labels_that_are_not_marks_are_ignored_with_a_note(run, tickets):
    done = run("label", tickets, "--query", "printer", "--json")
    assert done.returncode == 0
    assert "neither 'relevant' nor 'not relevant', and are ignored" in done.stderr
    assert json.loads(done.stdout)["ranked_by"] == "query"


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--query", "zebra"], 65, "none of its words tells the documents"),
        (["--query", ""], 65, "none of its words"),
        (["--query", "printer", "--text", "body"], 65, "body"),
        (["--query", "printer", "--relevant", "billing"], 65, "are marked. Name a second file"),
        (["--query", "printer", "--relevant", "biling"], 65, "Check its spelling"),
        (["--relevant", "billing", "-o", "-"], 2, "--relevant needs --query"),
        (["--query", "printer", "--model", "m.wm"], 2, "--model keeps a rule"),
        (["--query", "printer", "--simulate", "5"], 2, "--simulate measures labels"),
        (["--query", "printer", "--learner", "naive-bayes"], 2, "Omit --learner naive-bayes"),
        (["--query", "printer", "--on-alarm", "error"], 2, "--on-alarm does not apply"),
        (["--query", "printer", "--features", "ig:10"], 2, "--features selects"),
        (["--query", "printer", "--positives", "2"], 2, "between 0 and 1"),
        (["--query", "printer", "--positives", "billing=0.5"], 2, "relevant=0.1"),
        (["--query", "printer", "-o", "ranking.txt"], 2, ".jsonl, .csv or .tsv"),
    ],
)
def test_what_is_refused(run, tickets, tmp_path, options, code, words):
    done = run("label", tickets, *options, cwd=tmp_path)
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_misspelled_mark_is_named(run, tmp_path):
    records = [
        {"id": "a", "text": "oil prices", "labels": "relevant"},
        {"id": "b", "text": "oil and gas", "labels": "relevent"},
        {"id": "c", "text": "wheat"},
    ]
    done = run("label", write_jsonl(tmp_path / "marks.jsonl", records), "--query", "oil")
    assert done.returncode == 65
    assert "document 'b' is marked 'relevent'" in done.stderr


def test_vectors_have_no_words(run, tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1 1:1 2:0.5\n-1 2:1 3:1\n")
    done = run("label", path, "--query", "oil")
    assert done.returncode == 65
    assert "--query needs texts" in done.stderr


def test_an_empty_file(run, tmp_path):
    path = tmp_path / "empty.jsonl"
    path.write_text("")
    done = run("label", path, "--query", "oil")
    assert done.returncode == 65
    assert str(path) in done.stderr
