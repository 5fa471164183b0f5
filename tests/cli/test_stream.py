"""``train --stream`` in processes of its own: pipes, Ctrl-C, bad lines, going on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import COMMAND, WORDS, environment
from widemargin import TextClassifier, Vectorizer
from widemargin.models import load_model

LEARNERS = (
    "arow",
    "perceptron",
    "positive-winnow",
    "balanced-winnow",
    "balanced-winnow-plus",
    "winnow",
    "large-margin-winnow",
    "dual-svm",
)


def lines(n: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    names = list(WORDS)
    made = []
    for i in range(n):
        label = names[rng.integers(3)]
        text = ", ".join(rng.choice(WORDS[label], 2))
        made.append(json.dumps({"id": str(i), "text": text, "labels": [label]}) + "\n")
    return made


def start(output: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [*COMMAND, "train", "-", "--stream", "--learner", "balanced-winnow", "-o", str(output)]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*command, "--hashed", "4096", *arguments], stdin=pipe, stdout=pipe, stderr=pipe, env=environment()
    )


def written(path: Path, documents: int) -> None:
    """Wait until the model at `path` has learned so many documents."""
    for _ in range(1200):
        if path.exists() and load_model(path).summary["documents"] >= documents:
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} has not learned {documents} documents in a minute")


def weights(path: Path) -> np.ndarray:
    return TextClassifier.load(path).learner_.coef_


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_learns_from_a_stream(here, tmp_path, learner):
    data, model = tmp_path / "data.jsonl", tmp_path / "m.wm"
    data.write_text("".join(lines(600)))
    done = here("train", data, "--stream", "--learner", learner, "-o", model, "--hashed", "4096", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["documents"], found["labels"], found["terms"]) == (600, 3, 4096)
    assert found["wrong"] == round(600 * found["share_wrong"])
    assert found["share_wrong"] < 0.2
    classifier = TextClassifier.load(model)
    assert classifier.predict(["invoice refund", "printer jam"]).tolist() == ["billing", "hardware"]


def test_the_model_is_that_of_the_library_however_the_pipe_cuts_the_documents(run, tmp_path):
    made = lines(500)
    documents = [json.loads(line) for line in made]
    whole = tmp_path / "whole.wm"
    assert run("train", "-", "--stream", "--learner", "balanced-winnow", "--hashed", "4096", "-o", whole,
               stdin="".join(made)).returncode == 0  # fmt: skip
    from widemargin import BalancedWinnow

    stream = TextClassifier(Vectorizer(n_hashed=4096, weighting="sxx"), BalancedWinnow(), estimate=None)
    for begin, end in ((0, 100), (100, 500)):
        part = documents[begin:end]
        stream.partial_fit([one["text"] for one in part], [one["labels"][0] for one in part])
    np.testing.assert_array_equal(weights(whole), stream.learner_.coef_)

    process = start(tmp_path / "cut.wm")
    assert process.stdin is not None
    data = "".join(made).encode()
    for begin in range(0, len(data), 3001):  # in the middle of lines
        process.stdin.write(data[begin : begin + 3001])
        process.stdin.flush()
        time.sleep(0.01)
    output, errors = process.communicate()
    assert process.returncode == 0, errors.decode()
    assert "500 documents" in output.decode()
    np.testing.assert_array_equal(weights(tmp_path / "cut.wm"), weights(whole))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_while_it_waits_it_has_learned_what_came(tmp_path, number, code):
    model = tmp_path / "m.wm"
    process = start(model, "--save-every", "200")
    assert process.stdin is not None
    process.stdin.write("".join(lines(430)).encode())
    process.stdin.flush()
    written(model, 400)
    time.sleep(0.3)
    process.send_signal(number)
    assert process.wait(timeout=60) == code
    assert process.stderr is not None
    told = process.stderr.read().decode()
    assert "% wrong" in told
    assert "Traceback" not in told
    assert load_model(model).summary["documents"] == 430


def test_killed_it_leaves_the_last_complete_model(tmp_path):
    model = tmp_path / "m.wm"
    process = start(model, "--save-every", "200")
    assert process.stdin is not None
    process.stdin.write("".join(lines(430)).encode())
    process.stdin.flush()
    written(model, 400)
    process.kill()
    process.wait()
    assert load_model(model).summary["documents"] == 400
    assert TextClassifier.load(model).predict(["vpn timeout"]).tolist() == ["network"]


def test_going_on_equals_not_having_stopped(run, tmp_path):
    made = lines(700)
    once, twice = tmp_path / "once.wm", tmp_path / "twice.wm"
    arguments = ("train", "-", "--stream", "--learner", "balanced-winnow", "--hashed", "4096", "--resume")
    for model, parts in ((once, [made]), (twice, [made[:300], made[300:]])):
        for part in parts:
            done = run(*arguments, "-o", model, stdin="".join(part))
            assert done.returncode == 0, done.stderr
    assert "after 300 documents" in done.stderr
    np.testing.assert_array_equal(weights(once), weights(twice))
    other = run("train", "-", "--stream", "--learner", "winnow", "--resume", "-o", once, stdin=made[0])
    assert other.returncode == 2
    assert "contains a balanced-winnow" in other.stderr


def test_by_default_arow_learns_from_weights_of_the_documents_so_far(run, tmp_path):
    made = lines(500)
    documents = [json.loads(line) for line in made]
    model, cut = tmp_path / "m.wm", tmp_path / "cut.wm"
    options = ("train", "-", "--stream", "--hashed", "4096", "-o")
    assert run(*options, model, stdin="".join(made)).returncode == 0
    from widemargin import Arow

    stream = TextClassifier(Vectorizer(n_hashed=4096, weighting="ltc"), Arow(), estimate=None)
    for begin, end in ((0, 1), (1, 37), (37, 500)):
        part = documents[begin:end]
        stream.partial_fit([one["text"] for one in part], [one["labels"][0] for one in part])
    np.testing.assert_array_equal(weights(model), stream.learner_.coef_)
    for part in (made[:123], made[123:]):  # --resume needs no --learner
        assert run(*options, cut, "--resume", stdin="".join(part)).returncode == 0
    np.testing.assert_array_equal(weights(cut), weights(model))
    texts = [one["text"] for one in documents]
    np.testing.assert_array_equal(
        TextClassifier.load(cut).decision_function(texts), stream.decision_function(texts)
    )


def test_a_model_of_another_learner_goes_on_with_it(run, tmp_path):
    model, made = tmp_path / "m.wm", lines(300)
    options = ("train", "-", "--stream", "--hashed", "4096", "--resume", "-o", model)
    assert run(*options, "--learner", "perceptron", stdin="".join(made[:200])).returncode == 0
    assert run(*options, stdin="".join(made[200:])).returncode == 0
    assert load_model(model).summary["documents"] == 300
    assert type(TextClassifier.load(model).learner_).__name__ == "Perceptron"


class TestBadLines:
    def test_they_are_skipped_and_told(self, here, tmp_path):
        data = tmp_path / "data.jsonl"
        made = lines(150)
        odd = ['{"text": 3, "labels": ["a"]}\n', "not json\n", "\n", '{"text": "new"}\n', "[1]\n"]
        data.write_text("".join([*made[:50], *odd, *made[50:]]))
        arguments = ("train", data, "--stream", "--learner", "winnow", "--hashed", "512", "--json")
        done = here(*arguments, "-o", tmp_path / "odd.wm")
        found = json.loads(done.stdout)
        assert (found["documents"], found["skipped"], found["unlabeled"]) == (150, 3, 1)
        for line in (51, 52, 55):
            assert f"skipped: {data}, line {line}" in done.stderr
        data.write_text("".join(made))
        here(*arguments, "-o", tmp_path / "clean.wm")
        np.testing.assert_array_equal(weights(tmp_path / "odd.wm"), weights(tmp_path / "clean.wm"))

    def test_strict_stops_after_what_came_before(self, here, tmp_path):
        data, model = tmp_path / "data.jsonl", tmp_path / "m.wm"
        made = lines(250)
        data.write_text("".join([*made[:201], '{"text": \n', *made[201:]]))
        done = here("train", data, "--stream", "--learner", "winnow", "-o", model, "--errors", "strict")
        assert done.returncode == 65
        assert "line 202" in done.stderr
        assert load_model(model).summary["documents"] == 201

    def test_a_document_with_two_labels_where_one_was_the_rule(self, here, tmp_path):
        data, model = tmp_path / "data.jsonl", tmp_path / "m.wm"
        two = '{"text": "invoice for a printer", "labels": ["billing", "hardware"]}\n'
        data.write_text("".join([*lines(120), two]))
        arguments = ("train", data, "--stream", "--learner", "winnow", "-o", model, "--hashed", "512")
        done = here(*arguments)
        assert done.returncode == 65
        assert "line 121: 2 labels" in done.stderr
        assert "--multilabel" in done.stderr
        assert load_model(model).summary["documents"] == 120
        assert here(*arguments, "--multilabel").returncode == 0
        assert load_model(model).summary["task"] == "multilabel"

    def test_too_many_labels(self, here, tmp_path):
        data = tmp_path / "data.jsonl"
        data.write_text("".join(f'{{"text": "a", "labels": ["{i}"]}}\n' for i in range(30)))
        done = here("train", data, "--stream", "--learner", "perceptron", "-o", tmp_path / "m.wm",
                    "--max-labels", "20")  # fmt: skip
        assert done.returncode == 65
        assert "--max-labels" in done.stderr

    def test_nothing_to_learn_from(self, here, tmp_path):
        data, model = tmp_path / "data.jsonl", tmp_path / "m.wm"
        data.write_text('{"text": "a"}\n')
        done = here("train", data, "--stream", "--learner", "perceptron", "-o", model)
        assert done.returncode == 65
        assert "1 unlabeled document" in done.stderr
        assert not model.exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--stream", "--learner", "linear-svm"], "--learner arow"),
        (["--stream", "--promotion", "2"], "--promotion does not apply to arow"),
        (["--stream", "--learner", "winnow", "--forgetting", "0.1"], "--forgetting does not apply to winnow"),
        (["--stream", "--rivals", "few"], "--rivals few: expected a number such as 0.5, or none"),
        (["--stream", "--r", "0"], "r=0.0: expected"),
        (["--stream", "--learner", "winnow", "--min-df", "3"], "--min-df"),
        (["--stream", "--learner", "winnow", "--estimate", "k-fold"], "--estimate"),
        (["--learner", "winnow", "--promotion", "2"], "--promotion does not apply to winnow"),
        (["--learner", "perceptron", "--kernel", "rbf"], "--kernel does not apply"),
        (["--learner", "linear-svm", "--eta", "2"], "--eta does not apply to linear-svm"),
        (["--learner", "winnow", "--resume"], "need --stream"),
        (["--stream", "--learner", "balanced-winnow", "--format", "csv"], "JSON Lines"),
    ],
)
def test_options_that_do_not_go_together(here, tmp_path, arguments, told):
    data = tmp_path / "data.jsonl"
    data.write_text("".join(lines(10)))
    done = here("train", data, "-o", tmp_path / "m.wm", *arguments)
    assert done.returncode == 2
    assert told in done.stderr


@pytest.mark.parametrize("learner", LEARNERS)
def test_online_learners_train_on_whole_collections_too(here, tmp_path, learner):
    data, model = tmp_path / "data.jsonl", tmp_path / "m.wm"
    data.write_text("".join(lines(200)))
    done = here("train", data, "--learner", learner, "-o", model, "--passes", "5", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["estimates"]
    evaluated = here("evaluate", model, data, "--json")
    assert evaluated.returncode == 0
    assert os.path.getsize(model) > 0
    assert TextClassifier.load(model).predict(["dns error"]).tolist() == ["network"]
