"""`widemargin report`: the page it writes, what it reads, and what it refuses."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.conftest import TICKETS, write_jsonl

WORDS = ["again", "since monday", "after lunch", "in the office", "at home"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The tickets in five variants each, with one label that is wrong."""
    records = [
        {"id": f"{ticket['id']}-{i}", "text": f"{ticket['text']} {words}", "labels": ticket["labels"]}
        for ticket in TICKETS
        for i, words in enumerate(WORDS)
    ]
    records[3]["labels"] = ["network"]
    return write_jsonl(tmp_path_factory.mktemp("report") / "train.jsonl", records)


@pytest.fixture(scope="module")
def models(data, run):
    """A model with estimates, and another one without."""
    first, second = data.with_name("first.wm"), data.with_name("second.wm")
    assert run("train", data, "-o", first, "--tune", "none").returncode == 0
    naive = ("--tune", "none", "--learner", "naive-bayes", "--estimate", "none")
    assert run("train", data, "-o", second, *naive).returncode == 0
    return first, second


@pytest.fixture(scope="module")
def test_set(data):
    records = [{**ticket, "text": f"please help: {ticket['text']}"} for ticket in TICKETS]
    records.append(
        {"id": "leak", "text": json.loads(data.read_text().splitlines()[0])["text"], "labels": ["network"]}
    )
    return write_jsonl(data.with_name("test.jsonl"), records)


def test_a_model_with_test_documents(here, models, data, test_set, tmp_path):
    output = tmp_path / "report.html"
    done = here("report", models[0], test_set, "--train", data, "-o", output, "--threads", "1")
    assert done.returncode == 0, done.stderr
    assert "Wrote" in done.stderr
    page = output.read_text(encoding="utf-8")
    assert "Measured on 19 test documents (test.jsonl)." in page
    assert "Learning curve" in page
    assert re.search(r"1 test documents are copies", page), "the leak"
    assert 'id="missing"' not in page, "nothing is missing"
    assert "http://" not in page.replace("http://www.w3.org/", "")
    assert "https://" not in page


def test_without_test_documents(here, models, tmp_path):
    done = here("report", models[0], "-o", tmp_path / "r.html", "--json", "--quiet", "--debug")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert found["bytes"] == len(page.encode())
    assert found["test"] is None
    assert "needs labeled test documents" in page


def test_the_seed_chooses_the_parts_of_the_learning_curve(here, models, data, test_set, tmp_path):
    pages = []
    for seed in ("3", "3", "4"):
        done = here("report", models[0], test_set, "--train", data, "-o", tmp_path / "r.html", "--seed", seed)
        assert done.returncode == 0, done.stderr
        pages.append((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert pages[0] == pages[1], "the same page"
    assert pages[0] != pages[2]


def test_two_models(here, models, test_set, tmp_path):
    done = here("report", *models, test_set, "-o", tmp_path / "both.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert "A is first.wm, B is second.wm" in page
    assert "McNemar" in page


def test_columns(here, run, models, tmp_path):
    table = tmp_path / "tickets.dat"
    rows = ["number\tbody\tteam", *(f"{t['id']}\t{t['text']} café\t{t['labels'][0]}" for t in TICKETS)]
    table.write_text("\n".join(rows), encoding="latin-1")
    columns = (
        "--text",
        "body",
        "--label",
        "team",
        "--id",
        "number",
        "--format",
        "tsv",
        "--encoding",
        "latin-1",
    )
    columns += ("--label-delimiter", "|", "--errors", "strict", "--max-document", "1MB")
    done = here("report", models[0], table, *columns, "-o", tmp_path / "r.html")
    assert done.returncode == 0, done.stderr
    assert "café" in (tmp_path / "r.html").read_text(encoding="utf-8")
    replaced = here("report", models[0], table, *columns[:8], "--encoding", "utf-8", "--errors", "replace",
                    "-o", tmp_path / "r.html")  # fmt: skip
    assert replaced.returncode == 0, replaced.stderr
    assert "invalid bytes" in replaced.stderr
    small = here("report", models[0], table, *columns[:-1], "3", "-o", tmp_path / "r.html")
    assert (small.returncode, "--max-document" in small.stderr) == (65, True)


def test_mistakes(here, models, test_set, tmp_path):
    def fails(code, says, *arguments):
        done = here("report", *arguments)
        assert done.returncode == code, done.stderr
        assert says in done.stderr

    page = tmp_path / "page.html"
    fails(2, ".html", models[0], test_set, "-o", tmp_path / "report.txt")
    fails(2, "is a model", models[0], models[1], "-o", page)
    fails(2, "more arguments", *models, test_set, test_set, "-o", page)
    fails(66, "no folder", models[0], "-o", tmp_path / "none" / "page.html")
    fails(66, "", models[0], tmp_path / "none.jsonl", "-o", page)
    fails(2, "both", models[0], "-", "--train", "-", "-o", page)
    vectors = tmp_path / "v.svmlight"
    vectors.write_text("1 1:1\n-1 2:1\n", encoding="utf-8")
    fails(65, "holds vectors", models[0], vectors, "-o", page)
    assert not page.exists()


def test_diagnose_writes_a_page(here, data, test_set, tmp_path):
    done = here("diagnose", data, test_set, "--html", tmp_path / "diagnosis.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "diagnosis.html").read_text(encoding="utf-8")
    for title in ("What to do next", "Learning curves", "Labels that look wrong", "Copies"):
        assert f">{title}</h2>" in page
    assert "t0-3" in page, "the label that is wrong"
    assert here("diagnose", data, "--html", data).returncode == 2, "not over its own documents"
