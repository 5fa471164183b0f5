"""``train --unlabeled POOL``, by the real command."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cli.conftest import TICKETS, WORDS, write_jsonl
from widemargin import TextClassifier, Vectorizer

TEXTS = [ticket["text"] for ticket in TICKETS]
LABELS = [ticket["labels"][0] for ticket in TICKETS]
POOL = [
    {"id": f"{label}{i}", "text": f"{a} since monday, {b} again", "labels": [label]}
    for label, parts in WORDS.items()
    for i, (a, b) in enumerate(zip(parts, parts[2:] + parts[:2], strict=True))
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pool")
    write_jsonl(folder / "data.jsonl", TICKETS)
    write_jsonl(folder / "pool.jsonl", POOL)
    write_jsonl(folder / "bare.jsonl", [{"text": record["text"]} for record in POOL])
    return folder


def test_the_model_is_that_of_the_library(run, files, tmp_path):
    plain = ("--tune", "none", "--estimate", "none", "-q")
    done = run("train", "data.jsonl", "-o", tmp_path / "m.wm", "--unlabeled", "pool.jsonl", *plain, cwd=files)
    assert (done.returncode, done.stderr) == (0, "")
    found = TextClassifier.load(tmp_path / "m.wm")
    texts = [record["text"] for record in POOL]
    expected = Vectorizer().fit(TEXTS + texts)
    np.testing.assert_array_equal(found.vectorizer_.document_frequencies_, expected.document_frequencies_)
    made = TextClassifier(tune=None, estimate=None).fit(TEXTS, LABELS, unlabeled=texts)
    np.testing.assert_allclose(found.decision_function(TEXTS), made.decision_function(TEXTS), rtol=1e-6)


def test_what_is_printed(run, files, tmp_path):
    model = tmp_path / "m.wm"
    done = run("train", "data.jsonl", "-o", model, "--unlabeled", "pool.jsonl", "--tune", "none", cwd=files)
    assert done.returncode == 0
    line = next(line for line in done.stdout.splitlines() if line.startswith("Unlabeled: "))
    assert "18 documents, " in line
    assert "% right in 5 folds without them" in line
    assert "pool.jsonl: the labels of 18 documents are ignored." in done.stderr
    inspected = run("inspect", model, cwd=files)
    assert line.removeprefix("Unlabeled: ").removesuffix(".") in inspected.stdout
    for verb in (("predict", model, "pool.jsonl"), ("evaluate", model, "pool.jsonl")):
        assert run(*verb, cwd=files).returncode == 0
    assert run("explain", model, "printer jam again", cwd=files).returncode == 0


@pytest.mark.parametrize("use", ["representation", "self-training", "transductive"])
@pytest.mark.parametrize("pool", ["pool.jsonl", "bare.jsonl"])
def test_uses_as_json(run, files, tmp_path, use, pool):
    asked = ("--unlabeled", pool, "--unlabeled-use", use, "--json")
    done = run("train", "data.jsonl", "-o", tmp_path / "m.wm", *asked, cwd=files)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["pool"]
    assert (found["documents"], found["asked"], found["folds"]) == (18, use, 5)
    assert set(found["figures"]) == {"none", "representation", use}
    assert set(found["p_values"]) == {"representation", use}
    if found["use"] is None:
        assert found["figures"]["representation"] < found["figures"]["none"]
    elif found["use"] != "representation":
        assert found["figures"][use] > found["figures"]["none"]
    inspected = json.loads(run("inspect", tmp_path / "m.wm", "--json", cwd=files).stdout)
    assert inspected["summary"]["pool"] == found


def test_a_table_of_several_columns(run, files, tmp_path):
    plain = [text.replace(",", "") for text in TEXTS]
    rows = [f"{text.split()[0]},{text},{label}" for text, label in zip(plain, LABELS, strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(["title,body,team", *rows]))
    (tmp_path / "pool.csv").write_text("\n".join(["body,title", *(f"{text} x,y" for text in plain)]))
    reading = ("--text", "title", "--text", "body", "--label", "team", "--tune", "none")
    pool = ("--unlabeled", "pool.csv")
    done = run("train", "data.csv", "-o", "m.wm", *reading, *pool, "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "pool.csv").write_text("text\n" + "\n".join(TEXTS))
    done = run("train", "data.csv", "-o", "m.wm", *reading, *pool, cwd=tmp_path)
    assert done.returncode == 65
    assert "pool.csv" in done.stderr
    assert "--text" in done.stderr


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--unlabeled", "empty.jsonl"), 65, "empty.jsonl"),
        (("--unlabeled", "blank.jsonl"), 65, "has a word"),
        (("--unlabeled", "vectors.svm"), 65, "holds texts and vectors.svm holds vectors"),
        (("--unlabeled", "nowhere.jsonl"), 66, "nowhere.jsonl"),
        (("--unlabeled-use", "transductive"), 2, "needs --unlabeled"),
        (("--unlabeled", "pool.jsonl", "--unlabeled-use", "labels"), 2, "labels"),
        (("--unlabeled", "pool.jsonl", "--stream", "--learner", "winnow"), 2, "without --stream"),
        (
            ("--unlabeled", "pool.jsonl", "--multilabel", "--unlabeled-use", "transductive"),
            2,
            "one label per",
        ),
        (
            ("--unlabeled", "pool.jsonl", "--estimate", "xi-alpha", "--unlabeled-use", "transductive"),
            2,
            "--estimate k-fold",
        ),
    ],
)
def test_odd_pools_and_options(run, files, tmp_path, options, code, words):
    (files / "empty.jsonl").write_text("")
    (files / "blank.jsonl").write_text('{"text": " ... "}\n')
    (files / "vectors.svm").write_text("1 1:1\n-1 2:1\n")
    done = run("train", "data.jsonl", "-o", tmp_path / "m.wm", *options, cwd=files)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert not (tmp_path / "m.wm").exists()


def test_both_on_stdin_and_a_model_in_the_place_of_the_pool(run, files, tmp_path):
    done = run("train", "-", "-o", tmp_path / "m.wm", "--unlabeled", "-", cwd=files)
    assert done.returncode == 2
    assert "cannot both be -" in done.stderr
    done = run("train", "data.jsonl", "-o", "pool.jsonl", "--unlabeled", "pool.jsonl", "--force", cwd=files)
    assert done.returncode != 0
    assert (files / "pool.jsonl").read_text().startswith('{"id"')


def test_the_pool_on_stdin_and_copies_of_training_documents(run, files, tmp_path):
    pool = "".join(json.dumps({"text": text}) + "\n" for text in [*TEXTS[:3], "wifi drops again and again"])
    asked = ("--unlabeled", "-", "--tune", "none", "--json")
    done = run("train", "data.jsonl", "-o", tmp_path / "m.wm", *asked, cwd=files, stdin=pool)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["pool"]
    assert (found["documents"], found["also_training"]) == (1, 3)
    assert "3 of 4 unlabeled documents are training documents too" in done.stderr


def test_the_same_model_for_any_number_of_threads(run, files, tmp_path):
    asked = ("--unlabeled", "pool.jsonl", "--unlabeled-use", "transductive", "--seed", "5", "-q")
    for threads in (1, 2):
        path = tmp_path / f"{threads}.wm"
        done = run("train", "data.jsonl", "-o", path, *asked, "--threads", str(threads), cwd=files)
        assert done.returncode == 0, done.stderr
    one, two = ((tmp_path / f"{threads}.wm") for threads in (1, 2))
    texts = [record["text"] for record in POOL]
    scores = [TextClassifier.load(path).decision_function(texts) for path in (one, two)]
    np.testing.assert_array_equal(*scores)
