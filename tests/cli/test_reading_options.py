"""Options that say how documents are read, by every verb but `train`: columns, format, encoding."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from tests.cli.conftest import TICKETS, write_jsonl
from widemargin import TransductiveSVM, Vectorizer

# A table in whose columns nobody would guess what is what, in a file whose name says nothing.
HEADER = ["number", "title", "body", "team", "text"]
COLUMNS = ("--text", "body", "--id", "number", "--format", "tsv", "--encoding", "latin-1")
LABEL_COLUMNS = (*COLUMNS, "--label", "team", "--label-delimiter", "|")
TABLE = [
    (ticket["id"], f"{ticket['text']} café{' now' * urgent}", [*ticket["labels"], *["urgent"] * urgent])
    for ticket, urgent in zip(TICKETS, [True, False, False] * 6, strict=True)
]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """The tickets, every third urgent; the column "text" is a trap, and one word is not ASCII."""
    path = tmp_path_factory.mktemp("tables") / "tickets.dat"
    with path.open("w", newline="", encoding="latin-1") as file:
        writer = csv.writer(file, delimiter="\t")
        writer.writerow(HEADER)
        for identifier, text, labels in TABLE:
            writer.writerow([identifier, "-", text, "|".join(labels), "trap"])
    return path


@pytest.fixture(scope="module")
def model(run, table):
    """A model of the sets of labels in the table. Tests must not change it."""
    path = table.with_name("sets.wm")
    learning = ("--C", "100", "--tune", "none", "--estimate", "none")
    done = run("train", table, "-o", path, *LABEL_COLUMNS, *learning)
    assert done.returncode == 0, done.stderr
    return path


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


class TestPredict:
    def test_columns_format_and_encoding(self, run, here, model, table):
        done = run("predict", model, table, *COLUMNS, "--keep-text", "--threads", "1")
        assert done.returncode == 0, done.stderr
        found = [(row["id"], row["text"], row["labels"]) for row in rows_of(done.stdout)]
        assert found == TABLE
        again = here("predict", model, table, "--format", "tsv", "--keep-text")
        assert rows_of(again.stdout) == rows_of(done.stdout), "the model remembers all of this"
        assert "read as latin-1, as in training" in again.stderr
        trapped = rows_of(here("predict", model, table, *COLUMNS, "--text", "text", "--keep-text").stdout)
        assert trapped == [], "a model of one column takes one column"
        trapped = rows_of(here("predict", model, table, "--text", "text", *COLUMNS[2:], "--keep-text").stdout)
        assert {row["text"] for row in trapped} == {"trap"}

    def test_errors(self, run, here, model, table):
        utf8 = ("predict", model, table, *COLUMNS[:-2], "--encoding", "utf-8", "--keep-text", "--errors")
        replaced = here(*utf8, "replace")
        assert replaced.returncode == 0
        assert "18 invalid bytes in UTF-8" in replaced.stderr
        assert rows_of(replaced.stdout)[0]["text"].endswith("caf� now")
        strict = run(*utf8, "strict")
        assert (strict.returncode, strict.stdout) == (65, "")
        assert "tickets.dat, line 2" in strict.stderr


class TestEvaluate:
    def test_columns_format_and_encoding(self, run, here, model, table):
        done = run("evaluate", model, table, *LABEL_COLUMNS, "--json", "--threads", "1")
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert (result["n"], result["accuracy"]) == (18, 1.0)
        assert {row["label"]: row["examples"] for row in result["measured"]["labels"]} == {
            "billing": 6,
            "hardware": 6,
            "network": 6,
            "urgent": 6,
        }
        again = here("evaluate", model, table, "--format", "tsv", "--json")
        assert json.loads(again.stdout)["accuracy"] == 1.0, "the model remembers all of this"
        whole = here("evaluate", model, table, *LABEL_COLUMNS[:-1], "#", "--json")
        assert "the model does not know: billing|urgent" in whole.stderr, "a cell is one label"
        assert json.loads(whole.stdout)["accuracy"] == pytest.approx(12 / 18)

    def test_errors(self, run, here, model, table):
        utf8 = [option.replace("latin-1", "utf-8") for option in LABEL_COLUMNS]
        replaced = here("evaluate", model, table, *utf8, "--errors", "replace", "--json")
        assert replaced.returncode == 0
        assert "18 invalid bytes in UTF-8" in replaced.stderr
        strict = run("evaluate", model, table, *utf8, "--errors", "strict", "--json")
        assert (strict.returncode, strict.stdout) == (65, "")
        assert "tickets.dat, line 2" in strict.stderr


class TestDiagnose:
    def test_columns_format_and_encoding(self, here, table):
        done = here("diagnose", table, *LABEL_COLUMNS, "--json", "--max-document", "1kB")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert (found["documents"], found["task"]) == (18, "multilabel")
        assert {one["label"]: one["examples"] for one in found["categories"]} == {
            "billing": 6,
            "hardware": 6,
            "network": 6,
            "urgent": 6,
        }
        done = here("diagnose", table, *LABEL_COLUMNS, "--max-document", "10B")
        assert done.returncode == 65

    def test_errors(self, here, table):
        utf8 = [option.replace("latin-1", "utf-8") for option in LABEL_COLUMNS]
        replaced = here("diagnose", table, *utf8, "--errors", "replace")
        assert replaced.returncode == 0
        assert "18 invalid bytes in UTF-8" in replaced.stderr
        strict = here("diagnose", table, *utf8, "--errors", "strict")
        assert (strict.returncode, strict.stdout) == (65, "")


class TestLabel:
    @pytest.fixture(scope="class")
    @classmethod
    def marked(cls, table):
        """Every second document has labels in the table."""
        path = table.with_name("marked.dat")
        header, *lines = table.read_text(encoding="latin-1").splitlines()
        cells = [line.split("\t") for line in lines]
        for row in cells[::2]:
            row[HEADER.index("team")] = ""
        path.write_text("\n".join([header, *map("\t".join, cells)]) + "\n", encoding="latin-1")
        return path

    def test_columns_format_and_encoding(self, run, here, marked):
        done = run("label", marked, "-o", "-", *LABEL_COLUMNS, "--keep-text", "--on-alarm", "warn")
        assert done.returncode == 0, done.stderr
        rows = rows_of(done.stdout)
        assert [(row["id"], row["text"]) for row in rows] == [row[:2] for row in TABLE[::2]]
        assert "Given: billing" in done.stderr
        assert "urgent" in done.stderr
        whole = rows_of(here("label", marked, "-o", "-", *LABEL_COLUMNS[:-2], "-q").stdout)
        given = {label for row in whole for label in row["labels"]}
        assert given <= {"|".join(labels) for _, _, labels in TABLE}, "a cell is one label"

    def test_errors(self, run, here, marked):
        utf8 = [option.replace("latin-1", "utf-8") for option in LABEL_COLUMNS]
        replaced = here("label", marked, "-o", "-", *utf8, "--errors", "replace")
        assert replaced.returncode == 0
        assert "18 invalid bytes in UTF-8" in replaced.stderr
        strict = run("label", marked, "-o", "-", *utf8, "--errors", "strict")
        assert (strict.returncode, strict.stdout) == (65, "")
        assert "marked.dat, line 2" in strict.stderr

    def test_terms_and_cost(self, run, tmp_path):
        """The scores are those of the library with the same settings, and no others."""
        records = [{**ticket, "labels": None} if n % 3 else ticket for n, ticket in enumerate(TICKETS)]
        data = write_jsonl(tmp_path / "data.jsonl", records)
        texts = [ticket["text"] for ticket in TICKETS]
        labels = [record["labels"] and record["labels"][0] for record in records]
        (tmp_path / "stop.txt").write_text("and\nthe\n")

        def by_the_library(C=3.0, **changes):
            settings = {
                "weighting": "bfc",
                "idf_power": 0.5,
                "ngram_range": (1, 2),
                "min_count": 2,
                "stop_words": ["and", "the"],
                "stemmer": "porter",
            }
            X = Vectorizer(**{**settings, **changes}).fit_transform(texts)
            model = TransductiveSVM(C, on_alarm="ignore").fit(X, labels)
            return model.scores_[[n for n, label in enumerate(labels) if label is None]]

        options = (
            "--weighting",
            "bfc",
            "--idf-power",
            "0.5",
            "--ngrams",
            "1-2",
            "--min-count",
            "2",
            "--stemmer",
            "porter",
            "--C",
            "3",
        )
        stop = ("--stop-words", tmp_path / "stop.txt")
        done = run("label", data, "-o", "-", *options, *stop, "--scores", "--on-alarm", "ignore", "-q")
        assert done.returncode == 0, done.stderr
        found = np.array([list(row["scores"].values()) for row in rows_of(done.stdout)])
        np.testing.assert_allclose(found, by_the_library(), atol=1e-5)
        for changes in (
            {"weighting": "bxc"},
            {"idf_power": 1.0},
            {"ngram_range": (1, 1)},
            {"min_count": 1},
            {"stop_words": None},
            {"stop_words": "freewais"},
            {"stemmer": None},
            {"C": 20.0},
        ):
            assert np.abs(found - by_the_library(**changes)).max() > 1e-3, changes

    def test_the_seed_of_a_simulation(self, run, here, tickets):
        def curve(command, seed):
            done = command(
                "label", tickets, "--simulate", "6", "--repeat", "1", "--seed", seed, "--json", "-q"
            )
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)["curve"]

        assert curve(run, "3") == curve(here, "3") != curve(here, "4")


class TestMaxDocument:
    """A limit below the longest ticket refuses it with its place; one above it lets everything through."""

    @staticmethod
    def check(run, *arguments):
        refused = run(*arguments, "50B")
        assert refused.returncode == 65
        assert "one document has more than 50 bytes" in refused.stderr
        done = run(*arguments, "1kB")
        assert done.returncode == 0, done.stderr

    def test_of_train(self, here, tickets, tmp_path):
        self.check(here, "train", tickets, "-o", tmp_path / "m.wm", "--tune", "none", "--max-document")

    def test_of_predict(self, here, model, tickets):
        self.check(here, "predict", model, tickets, "--max-document")

    def test_of_evaluate(self, here, model, tickets):
        self.check(here, "evaluate", model, tickets, "--max-document")

    def test_of_explain(self, here, model, tmp_path):
        (tmp_path / "long.txt").write_text("printer jam and wifi drops " * 3)
        label = ("--label", "network")
        self.check(here, "explain", model, "--file", tmp_path / "long.txt", *label, "--max-document")

    def test_of_label(self, here, tickets):
        self.check(here, "label", tickets, "--simulate", "6", "--repeat", "1", "--max-document")
