"""Where documents come from on the command line: several files, archives, workbooks, datasets, queries."""

from __future__ import annotations

import csv
import json
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.cli.conftest import TICKETS, write_jsonl

ROWS = [(ticket["id"], ticket["text"], ticket["labels"][0]) for ticket in TICKETS]


def write_csv(path: Path, rows, header=("nr", "body", "team")) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows] if header else rows)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The tickets in every form."""
    place = tmp_path_factory.mktemp("sources")
    write_csv(place / "a.csv", ROWS[::2])
    write_csv(place / "b.csv", ROWS[1::2])
    write_csv(place / "bare.csv", [(label, text) for _, text, label in ROWS], header=None)
    (place / "classes").mkdir()
    for label in {label for *_, label in ROWS}:
        lines = "".join(f"{text}\n" for _, text, known in ROWS if known == label)
        (place / f"{label}.txt").write_text(lines)
        (place / "classes" / label).mkdir()
        (place / "classes" / label / "tickets.txt").write_text(lines)
    with zipfile.ZipFile(place / "both.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a.csv", "b.csv"):
            archive.write(place / name, f"data/{name}")
    with tarfile.open(place / "both.tar.gz", "w:gz") as archive:
        for name in ("a.csv", "b.csv"):
            archive.add(place / name, name)
    database = sqlite3.connect(place / "tickets.db")
    database.execute("create table tickets (nr text, body text, team text)")
    database.executemany("insert into tickets values (?, ?, ?)", ROWS)
    database.commit()
    database.close()
    return place


@pytest.fixture(scope="module")
def workbook(folder) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "notes"
    book.active.append(["not", "these"])
    sheet = book.create_sheet("tickets")
    for row in (("nr", "body", "team"), *ROWS):
        sheet.append(row)
    book.save(folder / "book.xlsx")
    return folder / "book.xlsx"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    names = sorted({label for *_, label in ROWS})
    features = datasets.Features({"body": datasets.Value("string"), "team": datasets.ClassLabel(names=names)})
    columns = {"body": [text for _, text, _ in ROWS], "team": [names.index(label) for *_, label in ROWS]}
    whole = datasets.Dataset.from_dict(columns, features=features)
    path = tmp_path_factory.mktemp("dataset") / "tickets"
    datasets.DatasetDict({"train": whole, "test": whole.select(range(0, 18, 2))}).save_to_disk(str(path))
    return path


@pytest.fixture(scope="module")
def several(run, folder) -> Path:
    """A model of two files. Tests must not change it."""
    done = run("train", folder / "a.csv", folder / "b.csv", "-o", folder / "several.wm", "--tune", "none")
    assert done.returncode == 0, done.stderr
    assert 'a.csv and 1 more: 2 files; CSV: text from "body", labels from "team"' in done.stderr
    return folder / "several.wm"


def right(done) -> float:
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return found["measured"]["accuracy"]["value"]


def ids(done) -> list[str]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["id"] for line in done.stdout.splitlines()]


def test_several_files_are_one_collection(here, folder, several, tickets):
    for source in (["a.csv", "b.csv"], ["[ab].csv"], ["both.zip"], ["both.tar.gz"]):
        done = here("evaluate", several, *source, "--json", cwd=folder)
        found = json.loads(done.stdout)
        assert found["n"] == len(ROWS)
        assert found["data"] == (source if len(source) > 1 else source[0])
    predicted = ids(here("predict", several, "a.csv", "b.csv", cwd=folder))
    assert len(set(predicted)) == len(predicted) == len(ROWS)
    assert predicted[:2] == ["1", "2"]
    assert predicted[-1] == f"b.csv:{len(ROWS) // 2}"


def test_no_documents_and_stdin_twice(here, several):
    for verb in ("predict", "evaluate"):
        done = here(verb, several)
        assert done.returncode == 2
        assert "No documents are given" in done.stderr
        done = here(verb, several, "-", "-")
        assert done.returncode == 2
        assert "- is given twice" in done.stderr


def test_an_output_that_is_also_read_is_refused(here, folder, several):
    before = (folder / "tickets.db").read_bytes()
    query = ["--sql", f"sqlite:///{folder / 'tickets.db'}", "select * from tickets"]
    for source in ([folder / "b.csv", folder / "a.csv"], [folder / "*.csv"]):
        done = here("predict", several, *source, "-o", folder / "a.csv")
        assert done.returncode == 2, done.stderr
    done = here("train", *query, "-o", folder / "tickets.db", "--force")
    assert done.returncode == 2, done.stderr
    done = here("train", folder / "both.zip", "-o", folder / "both.zip", "--force")
    assert done.returncode == 2, done.stderr
    assert (folder / "tickets.db").read_bytes() == before


def test_a_table_without_a_header_is_remembered(here, run, folder):
    model = folder / "bare.wm"
    done = here("train", folder / "bare.csv", "--no-header", "-o", model, "--tune", "none", "--seed", "1")
    assert done.returncode == 0, done.stderr
    assert 'without a header: text from "2", labels from "1"' in done.stderr
    assert right(here("evaluate", model, folder / "bare.csv", "--json")) == 1
    assert right(here("evaluate", model, folder / "bare.csv", "--no-header", "--json")) == 1
    assert len(ids(here("predict", model, folder / "bare.csv"))) == len(ROWS)
    assert len(ids(here("predict", model, folder / "bare.csv", "--no-header"))) == len(ROWS)
    # A header with usual names is recognized.
    write_csv(folder / "headed.csv", [(label, text) for _, text, label in ROWS], ("label", "text"))
    assert len(ids(here("predict", model, folder / "headed.csv"))) == len(ROWS)
    done = run("predict", model, "-", stdin=(folder / "bare.csv").read_bytes())
    assert len(ids(done)) == len(ROWS)
    done = run("predict", model, "-", stdin="My printer, again\n")
    assert done.returncode == 2
    assert "may be a table or plain text" in done.stderr


def test_columns_of_training_are_found_again(here, folder, several):
    rows = [("x" * 200, text, label) for _, text, label in ROWS]
    write_csv(folder / "more.csv", rows, ("text", "body", "team"))
    done = here("evaluate", several, folder / "more.csv", "--json")
    assert 'text from "body"' in done.stderr
    assert right(done) == 1
    done = here("predict", several, folder / "more.csv", "--text", "text")
    assert 'text from "text"' in done.stderr
    write_csv(folder / "other.csv", ROWS, ("nr", "complaint", "team"))
    done = here("predict", several, folder / "other.csv")
    assert 'text from "complaint"' in done.stderr
    assert 'the model was trained on "body"' in done.stderr


@pytest.mark.parametrize(
    ("stdin", "expected"),
    [
        ("my printer is broken\n", 1),
        ("Hello, my printer, the big one, is broken\nso is yours\n", 2),
        ("[urgent] wifi, again\n", 1),
        ("nr,body,team\n1,the invoice is wrong,x\n2,vpn timeout,y\n", 2),
        ('{"body": "vpn timeout"}\n', 1),
    ],
)
def test_plain_lines_on_standard_input(run, several, stdin, expected):
    done = run("predict", several, "-", stdin=stdin)
    assert len(ids(done)) == expected
    plain = "plain text: a document per line" in done.stderr
    assert plain == (not stdin.startswith(("nr,", "{")))


def test_a_table_of_unknown_columns_on_standard_input_is_refused(run, several):
    done = run("predict", several, "-", stdin="ticket,complaint\n1,the invoice is wrong\n2,vpn timeout\n")
    assert done.returncode == 2
    assert "--format csv" in done.stderr
    done = run("predict", several, "-", "--text", "complaint", stdin="ticket,complaint\n1,vpn timeout\n")
    assert len(ids(done)) == 1


SMALL = {
    "train": ["--tune", "none", "--estimate", "none"],
    "label": ["--learner", "naive-bayes"],
    "compare": ["--learners", "naive-bayes", "--folds", "2"],
    "diagnose": ["--top", "1"],
    "split": ["--test", "0.3"],
    "evaluate": [],
    "predict": [],
    "identify": [],
    "report": [],
}


@pytest.fixture
def read_with(here, several, tmp_path):
    """Runs a verb on a source; returns what it says about reading."""

    def run_verb(verb, *source, cwd=None):
        words = [verb, *SMALL[verb]]
        if verb in ("evaluate", "predict", "identify", "report"):
            words += [several]
        if verb in ("train", "label"):
            words += ["-o", tmp_path / ("m.wm" if verb == "train" else "out.jsonl")]
        if verb == "report":
            words += ["-o", tmp_path / "report.html"]
        if verb == "split":
            words += ["-o", tmp_path / "parts", "--force"]
        done = here(*words, *source, cwd=cwd)
        # A model that decides without probabilities does not identify, which is told after reading options.
        failed = verb == "identify" and "calibrat" in done.stderr
        failed |= verb == "label" and "have labels" in done.stderr
        assert done.returncode == 0 or failed, done.stderr
        return done.stderr

    return run_verb


@pytest.mark.parametrize(
    "verb", ["train", "label", "compare", "diagnose", "split", "evaluate", "predict", "identify", "report"]
)
def test_every_verb_reads_every_source(read_with, folder, workbook, dataset, verb):
    quiet = verb == "identify"
    query = ["--sql", f"sqlite:///{folder / 'tickets.db'}", "select nr, body, team from tickets"]
    found = read_with(verb, *query)
    assert "tickets.db: query: text from" in found or quiet
    found = read_with(verb, workbook, "--sheet", "tickets")
    assert "sheet tickets: text from" in found or quiet
    found = read_with(verb, dataset, "--split", "train")
    assert "train: saved dataset: text from" in found or quiet
    found = read_with(verb, folder / "bare.csv", "--no-header")
    assert "without a header" in found or quiet


@pytest.mark.parametrize("verb", ["train", "label", "compare", "diagnose", "split", "evaluate", "report"])
def test_labels_from_names_and_folders(read_with, folder, verb):
    if verb in ("train", "evaluate", "split"):
        found = read_with(
            verb, "billing.txt", "hardware.txt", "network.txt", "--label-from", "name", cwd=folder
        )
    else:
        found = read_with(verb, "[bhn]*[ge kr].txt", "--label-from", "name", cwd=folder)
    assert "the name of the file is the label" in found
    found = read_with(verb, folder / "classes", "--format", "lines", "--label-from", "folder")
    assert "the folder of the file is the label" in found


def test_names_of_classes_and_a_missing_split(here, dataset, several):
    assert right(here("evaluate", several, dataset, "--split", "test", "--json")) == 1
    done = here("evaluate", several, dataset)
    assert done.returncode == 2
    assert "the splits train, test. Choose one: --split train" in done.stderr


def test_a_second_file_beside_a_query(here, folder):
    query = ["--sql", f"sqlite:///{folder / 'tickets.db'}", "select body, team from tickets"]
    done = here("diagnose", *query, folder / "b.csv", "--json")
    assert json.loads(done.stdout)["test"] == str(folder / "b.csv")
    done = here("diagnose", folder / "a.csv", folder / "b.csv", *query)
    assert done.returncode == 2
    assert "--sql takes the place of DATA" in done.stderr


def test_a_stream_is_one_file(here, folder, tmp_path):
    write_jsonl(tmp_path / "t.jsonl", TICKETS)
    done = here("train", tmp_path / "t.jsonl", tmp_path / "t.jsonl", "--stream", "-o", tmp_path / "m.wm")
    assert done.returncode == 2
    assert "--stream reads one file" in done.stderr


def test_a_stream_is_remembered(here, tmp_path):
    records = [{"complaint": ticket["text"], "team": ticket["labels"], "text": "trap"} for ticket in TICKETS]
    write_jsonl(tmp_path / "t.jsonl", records)
    columns = ["--text", "complaint", "--label", "team"]
    done = here("train", tmp_path / "t.jsonl", "--stream", *columns, "-o", tmp_path / "m.wm")
    assert done.returncode == 0, done.stderr
    done = here("evaluate", tmp_path / "m.wm", tmp_path / "t.jsonl")
    assert 'text from "complaint", labels from "team"' in done.stderr
