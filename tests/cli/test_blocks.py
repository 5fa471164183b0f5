"""Blocks and texts of several columns by the command."""

from __future__ import annotations

import csv
import json
import shlex

import pytest

from tests.cli.conftest import TICKETS, write_jsonl
from widemargin import TextClassifier, Vectorizer
from widemargin.weight.blocks import parse_blocks

TEXTS = [ticket["text"] for ticket in TICKETS]
BLOCKS = "words,bigrams:0.5,chars:2-3:0.5,title:0.25"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The tickets as they are, with two columns, and as a table."""
    folder = tmp_path_factory.mktemp("blocks")
    write_jsonl(folder / "plain.jsonl", TICKETS)
    records = []
    for ticket in TICKETS:
        title, _, body = ticket["text"].partition(" ")
        records.append({"id": ticket["id"], "title": title, "body": body, "labels": ticket["labels"]})
    records[1]["title"] = None
    del records[2]["body"]
    write_jsonl(folder / "columns.jsonl", records)
    with (folder / "columns.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "title", "body", "labels"])
        for record in records:
            labels = record["labels"][0] if record["labels"] else ""
            table.writerow([record["id"], record["title"], record.get("body"), labels])
    return folder


@pytest.fixture(scope="module")
def in_columns(data, run):
    """A model of title and body."""
    path = data / "columns.wm"
    words = "--text", "title", "--text", "body", "--blocks", "words,title:0.5,body:0.5"
    done = run("train", data / "columns.jsonl", "-o", path, *words, "--tune", "none")
    assert done.returncode == 0, done.stderr
    assert 'text from "title" and "body"' in done.stderr
    return path


def test_train_and_what_follows(here, data, tmp_path):
    model = tmp_path / "m.wm"
    done = here("train", data / "plain.jsonl", "-o", model, "--blocks", BLOCKS, "--tune", "none")
    assert done.returncode == 0, done.stderr
    expected = Vectorizer(blocks=BLOCKS).fit(TEXTS)
    found = TextClassifier.load(model).vectorizer_
    assert found.blocks_ == expected.blocks_
    assert (found.transform(TEXTS) != expected.transform(TEXTS)).nnz == 0
    shown = here("inspect", model).stdout
    assert "block bigrams weight 0.5," in shown
    assert "2- to 3-grams of chars in words" in shown
    assert "1-grams of words in title" in shown
    assert "ngrams=" not in shown
    explained = json.loads(here("explain", model, TEXTS[0], "--json").stdout)
    total = explained["bias"] + sum(part["value"] for part in explained["contributions"])
    assert total == pytest.approx(explained["score"], abs=1e-6)
    assert {part["block"] for part in explained["contributions"]} == {"words", "bigrams", "chars", "title"}
    for part in explained["contributions"]:
        assert TEXTS[0][part["start"] : part["end"]] == part["text"]
        assert part["term"].startswith(f"{part['block']}:") == (part["block"] in ("chars", "title"))
    table = here("explain", model, TEXTS[0], "--terms", "3").stdout
    assert table.splitlines()[4].split() == ["term", "block", "times", "contribution"]
    assert table.splitlines()[5].split()[1] in ("words", "bigrams", "chars", "title")


def test_a_tuned_model_keeps_the_blocks_that_are_given(here, data, tmp_path):
    model = tmp_path / "m.wm"
    done = here("train", data / "plain.jsonl", "-o", model, "--blocks", "words,chars", "--tune", "fast")
    assert done.returncode == 0, done.stderr
    assert list(TextClassifier.load(model).vectorizer_.blocks_) == ["words", "chars"]


def test_label(here, data, tmp_path):
    records = [{**ticket, "labels": None} if n % 3 else ticket for n, ticket in enumerate(TICKETS)]
    some = write_jsonl(tmp_path / "some.jsonl", records)
    model, out = tmp_path / "m.wm", tmp_path / "out.jsonl"
    done = here(
        "label", some, "-o", out, "--model", model, "--on-alarm", "ignore", "--blocks", "words,chars:0.5"
    )
    assert done.returncode == 0, done.stderr
    found = TextClassifier.load(model).vectorizer_
    assert list(found.vocabulary_) == list(Vectorizer(blocks="words,chars").fit(TEXTS).vocabulary_)


def test_compare(here, data, tmp_path):
    def compared(*options):
        done = here(
            "compare", data / "columns.jsonl", "--learners", "naive-bayes,profiles", "--folds", "3", "--json",
            "-q", "--text", "title", "--text", "body", *options,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    found, usual = compared("--blocks", "words,title"), compared()
    sizes, usual_sizes = (
        {row["learner"]: row["model_bytes"] for row in each["rows"]} for each in (found, usual)
    )
    assert sizes["naive-bayes"] > usual_sizes["naive-bayes"]
    assert sizes["profiles"] == usual_sizes["profiles"]  # which counts characters
    command = found["command"]
    assert "--text title --text body" in command
    assert "--blocks words,title" in command or "profiles" in command
    words = shlex.split(command)[1:]
    words[words.index("-o") + 1] = str(tmp_path / "m.wm")
    assert here(*words).returncode == 0


class TestColumns:
    def test_the_model_knows_its_columns(self, here, data, in_columns):
        model = in_columns
        found = TextClassifier.load(model).vectorizer_
        assert found.fields_ == ("title", "body")
        assert list(found.blocks_) == ["words", "title", "body"]
        inspected = here("inspect", model).stdout
        assert "columns      title, body" in inspected
        predicted = here("predict", model, data / "columns.jsonl")
        assert predicted.returncode == 0, predicted.stderr
        assert 'text from "title" and "body"' in predicted.stderr
        table = here("predict", model, data / "columns.csv")
        assert len(predicted.stdout.splitlines()) == len(TICKETS)
        assert predicted.stdout == table.stdout
        named = here("predict", model, data / "columns.csv", "--text", "title", "--text", "body")
        assert named.stdout == table.stdout
        measured = here("evaluate", model, data / "columns.jsonl", "--json", "-q")
        assert json.loads(measured.stdout)["measured"]["accuracy"]["value"] > 0.8
        again = here(
            "evaluate", model, data / "columns.jsonl", "--text", "title", "--text", "body", "--json", "-q"
        )
        assert again.stdout == measured.stdout

    def test_explain(self, here, in_columns):
        model = in_columns
        record = json.dumps({"title": "Invoice", "body": "The invoice shows the wrong amount"})
        explained = json.loads(here("explain", model, record, "--json").stdout)
        text = "Invoice\x1fThe invoice shows the wrong amount"
        for part in explained["contributions"]:
            assert text[part["start"] : part["end"]] == part["text"]
            assert part["block"] != "title" or part["end"] <= len("Invoice")
            assert part["block"] != "body" or part["start"] > len("Invoice")
        assert {part["block"] for part in explained["contributions"]} == {"words", "title", "body"}
        assert "Invoice\nThe invoice shows" in here("explain", model, record).stdout
        plain = json.loads(here("explain", model, "Invoice", "--json").stdout)
        assert {part["block"] for part in plain["contributions"]} == {"words", "title"}

    def test_streams(self, here, data, tmp_path):
        model = tmp_path / "stream.wm"
        done = here(
            "train", data / "columns.jsonl", "-o", model, "--stream", "--learner", "winnow", "--text",
            "title", "--text", "body", "--blocks", "words,title", "--hashed", "64",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = TextClassifier.load(model).vectorizer_
        assert found.blocks_ == {"words": slice(0, 64), "title": slice(64, 128)}
        assert here("predict", model, data / "columns.jsonl").returncode == 0
        more = "train", data / "columns.jsonl", "-o", model, "--stream", "--learner", "winnow", "--resume"
        done = here(*more, "--text", "title", "--text", "body")
        assert done.returncode == 0, done.stderr
        done = here(*more, "--text", "body")
        assert done.returncode == 2
        assert "have the columns title, body. Pass --text title --text body." in done.stderr

    @pytest.mark.parametrize(
        ("options", "status", "message"),
        [
            (("--text", "title"), 2, "was trained on the columns title, body"),
            (("--text", "title", "--text", "title"), 2, "name every column once"),
            (
                ("--text", "title", "--text", "subject"),
                65,
                'no column "subject"; columns are id, title',
            ),
        ],
    )
    def test_other_columns_are_refused(self, here, data, in_columns, options, status, message):
        model = in_columns
        done = here("predict", model, data / "columns.csv", *options)
        assert done.returncode == status
        assert message in done.stderr

    def test_other_sources_are_refused(self, here, data, in_columns, tmp_path):
        model = in_columns
        done = here("predict", model, data / "plain.jsonl")
        assert done.returncode == 65
        assert 'no column "title"; columns are id, text, labels' in done.stderr
        (tmp_path / "lines.txt").write_text("one\ntwo\n")
        done = here("predict", model, tmp_path / "lines.txt", "--format", "lines")
        assert done.returncode == 65
        assert "format lines has no columns title, body" in done.stderr
        done = here("explain", model, '{"text": "Invoice"}')
        assert done.returncode == 65
        assert "Its columns are title, body" in done.stderr
        done = here("explain", model, '{"title": 3}')
        assert done.returncode == 65
        assert '"title" in the object is not a string' in done.stderr

    def test_a_model_of_one_column_takes_one(self, here, data, tmp_path):
        model = tmp_path / "m.wm"
        assert here("train", data / "plain.jsonl", "-o", model, "--tune", "none").returncode == 0
        done = here("predict", model, data / "columns.csv", "--text", "title", "--text", "body")
        assert done.returncode == 2
        assert "takes one text" in done.stderr

    def test_records_without_any_of_the_columns(self, here, data, tmp_path):
        path = write_jsonl(tmp_path / "some.jsonl", [{"title": "a", "labels": ["x"]}, {"labels": ["y"]}])
        done = here("train", path, "-o", tmp_path / "m.wm", "--text", "title", "--text", "body")
        assert done.returncode == 65
        assert 'some.jsonl, line 2: "title" is missing' in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--blocks", "words,letters"), "--blocks words,letters: There is no block 'letters'"),
        (("--blocks", "words:0"), "expected a number above 0"),
        (("--blocks", "words,words"), "two blocks 'words'"),
        (("--blocks", "words", "--ngrams", "1-2"), "either --blocks or --units and --ngrams"),
        (("--blocks", "words", "--units", "chars"), "either --blocks or --units and --ngrams"),
        (("--blocks", "words", "--pairs", "near:2"), "either pairs or blocks"),
        (("--blocks", "body", "--text", "text"), "There is no block 'body'"),
    ],
)
def test_refused(here, data, tmp_path, options, message):
    done = here("train", data / "plain.jsonl", "-o", tmp_path / "m.wm", *options)
    assert done.returncode == 2
    assert message in done.stderr


def test_options_are_those_of_the_library():
    assert parse_blocks(BLOCKS)[2].ngram_range == (2, 3)


def test_vectors(here, data, tmp_path):
    model = tmp_path / "v.wm"
    blocks = "words,vectors:dims=5:0.5:min=2"
    done = here("train", data / "plain.jsonl", "-o", model, "--blocks", blocks, "--tune", "none")
    assert done.returncode == 0, done.stderr
    expected = Vectorizer(blocks=blocks).fit(TEXTS)
    assert (TextClassifier.load(model).vectorizer_.transform(TEXTS) != expected.transform(TEXTS)).nnz == 0
    shown = here("inspect", model).stdout
    assert "vectors of 5 dimensions" in shown
    assert "Exact leave-one-out" not in shown
    parts = json.loads(here("explain", model, TEXTS[0], "--json").stdout)["contributions"]
    assert {part["block"] for part in parts} == {"words", "vectors"}
    assert json.loads(here("predict", model, data / "plain.jsonl", "--json").stdout.splitlines()[0])["labels"]


def test_vectors_with_tuning(here, data, tmp_path):
    model = tmp_path / "t.wm"
    blocks = "words,vectors:dims=5:min=2"
    done = here("train", data / "plain.jsonl", "-o", model, "--blocks", blocks, "--tune", "fast")
    assert done.returncode == 0, done.stderr
    assert "vectors" in TextClassifier.load(model).vectorizer_.blocks_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--blocks", "words,vectors:dims=x"], "dims=200"),
        (["--blocks", "words,vectors:dims=0"], "expected a whole number from 1"),
        (["--blocks", "words,vectors", "--hashed", "1000"], "Hashed terms have no vectors"),
        (["--blocks", "words,vectors", "--learner", "positive-winnow"], "Omit the block"),
    ],
)
def test_mistakes_about_vectors(here, data, tmp_path, options, message):
    done = here("train", data / "plain.jsonl", "-o", tmp_path / "no.wm", "--tune", "none", *options)
    assert done.returncode != 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr
