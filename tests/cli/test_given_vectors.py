"""Word vectors and vectors of documents by the command: train, label, and what reads their models."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from tests.cli.conftest import TICKETS, write_jsonl
from widemargin import GivenVectors, TextClassifier, Vectorizer

TEXTS = [ticket["text"] for ticket in TICKETS]
WORDS = sorted({word for text in TEXTS for word in text.replace(",", "").split()})
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(len(WORDS) + 2, 6)).astype(np.float32)
# Vectors of documents that nearly are their labels.
NAMES = list(dict.fromkeys(ticket["labels"][0] for ticket in TICKETS))
KINDS = np.array([NAMES.index(ticket["labels"][0]) for ticket in TICKETS])
OF_DOCUMENTS = (np.eye(3)[KINDS] + RNG.normal(scale=0.05, size=(len(KINDS), 3))).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The tickets, word vectors in three forms, and vectors of the tickets."""
    folder = tmp_path_factory.mktemp("given")
    write_jsonl(folder / "tickets.jsonl", TICKETS)
    words = [*WORDS, "unheard", "unseen"]
    lines = [" ".join([word, *map(repr, row)]) for word, row in zip(words, ROWS.tolist(), strict=True)]
    content = "\n".join([f"{len(words)} 6", *lines]) + "\n"
    (folder / "tiny.vec").write_text(content)
    (folder / "packed.txt.gz").write_bytes(gzip.compress(content.encode()))
    np.save(folder / "matrix.npy", ROWS)
    (folder / "matrix.words.txt").write_text("\n".join(words))
    np.save(folder / "rows.npy", OF_DOCUMENTS)
    return folder


@pytest.fixture(scope="module")
def with_rows(folder, run):
    """A model of tickets and their vectors."""
    path = folder / "rows.wm"
    done = run(
        "train", folder / "tickets.jsonl", "-o", path, "--vectors", folder / "rows.npy", "--tune", "none"
    )
    assert done.returncode == 0, done.stderr
    return path


@pytest.mark.parametrize("name", ["tiny.vec", "packed.txt.gz", "matrix.npy"])
def test_word_vectors_in_every_form(here, folder, tmp_path, name):
    model, words = tmp_path / "m.wm", f"{folder / name}:0.5"
    done = here("train", folder / "tickets.jsonl", "-o", model, "--vectors", words, "--tune", "none")
    assert done.returncode == 0, done.stderr
    block = name.partition(".")[0]
    n_words = len(WORDS) + 2
    assert f"{block}: 100.0% of the words of the documents have a vector" in done.stderr
    assert f"keeps {n_words} words of 6 dimensions" in done.stderr
    found = TextClassifier.load(model).vectorizer_
    expected = Vectorizer(blocks=["words", GivenVectors(folder / name, weight=0.5)]).fit(TEXTS)
    np.testing.assert_array_equal(found.transform(TEXTS).toarray(), expected.transform(TEXTS).toarray())
    shown = here("inspect", model).stdout
    assert f"block {block} weight 0.5, {n_words} terms, vectors of 6 dimensions" in " ".join(shown.split())
    explained = json.loads(here("explain", model, "unheard wifi", "--json").stdout)
    assert {"unheard", "wifi"} <= {part["text"] for part in explained["contributions"]}


def test_several_files_beside_blocks(here, folder, tmp_path):
    model = tmp_path / "m.wm"
    options = ["--vectors", folder / "tiny.vec", "--vectors", f"{folder / 'rows.npy'}:2"]
    options += ["--blocks", "words,bigrams:0.5", "--tune", "none", "--json"]
    done = here("train", folder / "tickets.jsonl", "-o", model, *options)
    assert done.returncode == 0, done.stderr
    vectors = json.loads(done.stdout)["vectors"]
    assert vectors == [{"name": "tiny", "found": 1.0, "words": len(WORDS) + 2, "dims": 6}]
    found = TextClassifier.load(model).vectorizer_
    assert list(found.blocks_) == ["words", "bigrams", "tiny", "rows"]
    assert [block.weight for block in found.blocks] == [1, 0.5, 1, 2]


def test_tuning_adds_blocks_beside_vectors(here, folder, tmp_path):
    model = tmp_path / "m.wm"
    done = here("train", folder / "tickets.jsonl", "-o", model, "--vectors", folder / "rows.npy", "--json")
    assert done.returncode == 0, done.stderr
    candidates = json.loads(done.stdout)["tuning"]["candidates"]
    names = [{block["name"] for block in c["parameters"]["blocks"]} for c in candidates]
    assert all("rows" in some for some in names)
    assert any("chars" in some for some in names)
    other = tmp_path / "fixed.wm"
    options = ["--vectors", folder / "rows.npy", "--ngrams", "1-2", "--json"]
    done = here("train", folder / "tickets.jsonl", "-o", other, *options)
    candidates = json.loads(done.stdout)["tuning"]["candidates"]
    assert {len(c["parameters"]["blocks"]) for c in candidates} == {2}


def test_predict_evaluate_and_explain_with_vectors_of_documents(here, folder, with_rows, tmp_path):
    # Texts that say nothing: only the vectors tell the labels.
    order = np.random.default_rng(1).permutation(len(TICKETS))
    new = [{"id": str(i), "text": f"nothing {i}", "labels": TICKETS[i]["labels"]} for i in order]
    data = write_jsonl(tmp_path / "new.jsonl", new)
    np.save(tmp_path / "new.npy", OF_DOCUMENTS[order])
    done = here("predict", with_rows, data, "--vectors", tmp_path / "new.npy")
    assert done.returncode == 0, done.stderr
    labels = [json.loads(line)["labels"] for line in done.stdout.splitlines()]
    assert labels == [record["labels"] for record in new]
    measured = here("evaluate", with_rows, data, "--vectors", tmp_path / "new.npy", "--json")
    assert json.loads(measured.stdout)["accuracy"] == 1.0
    np.save(tmp_path / "one.npy", OF_DOCUMENTS[:1])
    explained = here("explain", with_rows, "nothing", "--vectors", tmp_path / "one.npy", "--json")
    found = json.loads(explained.stdout)
    assert found["label"] == TICKETS[0]["labels"][0]
    assert [part["term"] for part in found["contributions"]] == ["rows"]
    assert found["bias"] + found["contributions"][0]["value"] == pytest.approx(found["score"], abs=1e-6)


def test_labels_from_vectors_of_documents(here, folder, tmp_path):
    marked = write_jsonl(tmp_path / "marked.jsonl", TICKETS[::3])
    rest = [ticket for i, ticket in enumerate(TICKETS) if i % 3]
    unlabeled = write_jsonl(tmp_path / "rest.jsonl", [{**ticket, "labels": None} for ticket in rest])
    places = [*range(0, len(TICKETS), 3), *(i for i in range(len(TICKETS)) if i % 3)]
    np.save(tmp_path / "all.npy", OF_DOCUMENTS[places])
    done = here(
        "label", marked, unlabeled, "-o", tmp_path / "out.jsonl", "--vectors", f"{tmp_path / 'all.npy'}:2"
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line)["labels"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert found == [ticket["labels"] for ticket in rest]


def test_label_with_word_vectors_and_a_query(here, folder, tmp_path):
    data = write_jsonl(tmp_path / "some.jsonl", [{**t, "labels": None} for t in TICKETS])
    out = tmp_path / "ranked.jsonl"
    query = ["label", data, "--query", "printer jam", "-o", out]
    done = here(*query, "--vectors", folder / "rows.npy")
    assert done.returncode == 2
    assert "a query has no row of its own" in done.stderr
    done = here(*query, "--vectors", folder / "tiny.vec")
    assert done.returncode == 0, done.stderr
    assert "printer jam" in json.loads(out.read_text().splitlines()[0])["text"]


@pytest.mark.parametrize(
    ("verb", "options", "code", "message"),
    [
        (
            "predict",
            [],
            2,
            r"was trained with vectors of documents (rows: 3 numbers). Pass --vectors",
        ),
        ("evaluate", [], 2, "Pass --vectors FILE.npy"),
        ("predict", ["--vectors", "wide.npy"], 65, "wide.npy has 4 columns, but"),
        ("predict", ["--vectors", "few.npy"], 65, "few.npy has 5 rows, but there are more documents"),
        ("evaluate", ["--vectors", "many.npy"], 65, f"many.npy has 40 rows for {len(TICKETS)} documents"),
        ("predict", ["--vectors", "many.npy"], 65, f"many.npy has 40 rows for {len(TICKETS)} documents"),
        ("predict", ["--vectors", "none.npy"], 66, "none.npy: no such file"),
        ("predict", ["--vectors", "tiny.vec"], 65, "tiny.vec: is not a .npy file"),
        ("predict", ["--vectors", "nan.npy"], 65, "nan.npy, rows 0 to 17"),
    ],
)
def test_wrong_vectors_for_a_model(run, folder, with_rows, verb, options, code, message):
    np.save(folder / "wide.npy", np.ones((len(TICKETS), 4)))
    np.save(folder / "few.npy", np.ones((5, 3)))
    np.save(folder / "many.npy", np.ones((40, 3)))
    np.save(folder / "nan.npy", np.full((len(TICKETS), 3), np.nan))
    done = run(verb, with_rows, "tickets.jsonl", *options, cwd=folder)
    assert done.returncode == code, done.stderr
    assert message in " ".join(done.stderr.split())


def test_a_model_without_vectors_of_documents_refuses_them(here, folder, model):
    done = here("predict", model, folder / "tickets.jsonl", "--vectors", folder / "rows.npy")
    assert done.returncode == 2
    assert "was not trained with vectors of documents" in done.stderr


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--vectors", "none.txt"], 66, "none.txt: no such file"),
        (["--vectors", "tiny.vec:0"], 2, "--vectors tiny.vec:0: Block 'tiny' has the weight 0"),
        (["--vectors", "tiny.vec:nan"], 2, "has the weight nan"),
        (["--vectors", "tiny.vec:x"], 66, "tiny.vec:x: no such file"),
        (["--vectors", "broken.txt"], 65, "broken.txt, line 2: 1 numbers after 'wifi'; expected 2"),
        (["--vectors", "short.npy"], 65, "short.npy has 2 rows, but there are more documents"),
        (["--vectors", "flat.npy"], 65, "flat.npy: contains float64 of shape (3,)"),
        (["--vectors", "tiny.vec", "--hashed", "64"], 2, "Hashed terms have no vectors"),
        (["--vectors", "tiny.vec", "--learner", "naive-bayes"], 2, "NaiveBayes learns from terms"),
        (["--vectors", "tiny.vec", "--stream", "--learner", "winnow"], 2, "--vectors needs all documents"),
    ],
)
def test_wrong_vectors_for_training(run, folder, tmp_path, options, code, message):
    (folder / "broken.txt").write_text("the 1 2\nwifi 3\n")
    np.save(folder / "short.npy", np.ones((2, 3)))
    np.save(folder / "flat.npy", np.ones(3))
    done = run("train", "tickets.jsonl", "-o", tmp_path / "m.wm", *options, "--tune", "none", cwd=folder)
    if "--stream" in options:
        done = run("train", "tickets.jsonl", "-o", tmp_path / "m.wm", *options, cwd=folder)
    assert done.returncode == code, done.stderr
    assert message in " ".join(done.stderr.split())
    assert not (tmp_path / "m.wm").exists()


def test_vectors_in_another_language_warn(here, folder, tmp_path):
    other, model = tmp_path / "other.txt", tmp_path / "m.wm"
    other.write_text("Rechnung 1 2\nDrucker 3 4\n")
    done = here("train", folder / "tickets.jsonl", "-o", model, "--vectors", other, "--tune", "none")
    assert done.returncode == 0
    assert "only 0.0% of the words of the training documents are in" in " ".join(done.stderr.split())


def test_vectors_are_not_written_over(here, folder):
    vectors = folder / "tiny.vec"
    before = vectors.read_bytes()
    done = here("train", folder / "tickets.jsonl", "-o", vectors, "--vectors", f"{vectors}:0.5", "--force")
    assert done.returncode == 2
    assert vectors.read_bytes() == before
