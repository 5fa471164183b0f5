"""Learners other than the default, and SVM-light's models, on the command line."""

from __future__ import annotations

import json
import os
import subprocess

import numpy as np
import pytest

from tests.cli.conftest import COMMAND, TICKETS, environment
from tests.terminal import read_terminal
from widemargin import ChiSquareNetwork, NaiveBayes, TextClassifier
from widemargin.documents.formats.svmlight_model import read_svmlight_model
from widemargin.tune.learners import text_options

VECTORS = "".join(f"{1 if i % 2 else -1} {1 + i % 2}:{1 + i / 10:g} {3 + i % 3}:0.5\n" for i in range(20))
CLASSES = "".join(f"{1 + i % 3} {1 + i % 3}:{1 + i / 10:g} 4:{i % 4}\n" for i in range(24))


@pytest.fixture
def vectors(tmp_path):
    path = tmp_path / "vectors.svm"
    path.write_text(VECTORS)
    return path


@pytest.fixture
def classes(tmp_path):
    path = tmp_path / "classes.svm"
    path.write_text(CLASSES)
    return path


def test_a_row_that_costs_twice_counts_like_two(here, tmp_path):
    rows = "1 {}1:1 3:1\n-1 2:1 3:.5\n1 2:.4 3:1\n-1 {}1:.9 3:1\n-1 2:2\n".splitlines(keepends=True)
    contents = {
        "costs": "".join(rows).format("cost:2 ", "cost:2 "),
        "copies": "".join(row * (2 if "{}" in row else 1) for row in rows).replace("{}", ""),
        "plain": "".join(rows).replace("{}", ""),
    }
    scores = {}
    for name, content in contents.items():
        path, model = tmp_path / f"{name}.svm", tmp_path / f"{name}.wm"
        path.write_text(content)
        options = ("--tol", "1e-8", "--tune", "none", "--estimate", "none")
        assert here("train", path, "-o", model, *options).returncode == 0
        done = here("predict", model, tmp_path / "costs.svm", "--scores")
        scores[name] = [json.loads(line)["scores"]["1"] for line in done.stdout.splitlines()]
    assert scores["costs"] == pytest.approx(scores["copies"], abs=1e-4)
    assert scores["costs"] != pytest.approx(scores["plain"], abs=1e-2)
    done = here("label", tmp_path / "costs.svm", tmp_path / "plain.svm", "-o", tmp_path / "out.jsonl")
    assert done.returncode == 65
    assert "costs.svm: has costs of single rows" in done.stderr


class TestKernels:
    @pytest.fixture
    def kernel_model(self, here, tickets, tmp_path):
        path = tmp_path / "kernel.wm"
        options = ("--kernel", "rbf", "--gamma", "0.5", "--C", "1000", "--cache", "50")
        done = here("train", tickets, "-o", path, "--learner", "kernel-svm", *options)
        assert done.returncode == 0, done.stderr
        assert "Learned 3 classes from 18 documents" in done.stdout
        return path

    def test_trained_saved_and_used(self, here, kernel_model, tickets):
        done = here("predict", kernel_model, tickets, "-q", "--scores")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert [row["labels"] for row in rows] == [ticket["labels"] for ticket in TICKETS]
        assert all(max(row["scores"], key=row["scores"].get) == row["labels"][0] for row in rows)
        assert "100.0 % of 18 documents right" in here("evaluate", kernel_model, tickets, "-q").stdout

    def test_inspected(self, here, kernel_model):
        done = here("inspect", kernel_model)
        assert done.returncode == 0, done.stderr
        assert "kernel-svm" in done.stdout
        assert "kernel=rbf" in done.stdout
        assert "gamma=0.5" in done.stdout
        assert "support vectors" in done.stdout
        assert "terms for it" not in done.stdout
        assert json.loads(here("inspect", kernel_model, "--json").stdout)["terms"] == {}

    def test_not_explained_by_terms(self, here, kernel_model):
        done = here("explain", kernel_model, "my invoice")
        assert done.returncode == 2
        assert "kernel rbf has no term weights" in done.stderr
        assert "Train a LinearSVM" in done.stderr

    def test_the_linear_kernel_explains(self, here, tickets, tmp_path):
        options = ("--learner", "kernel-svm", "--kernel", "linear")
        here("train", tickets, "-o", tmp_path / "m.wm", *options, "-q")
        found = json.loads(here("explain", tmp_path / "m.wm", "my invoice", "--json").stdout)
        assert found["label"] == "billing"
        total = found["bias"] + sum(part["value"] for part in found["contributions"])
        assert total == pytest.approx(found["score"], abs=1e-5)
        assert "terms for it" in here("inspect", tmp_path / "m.wm").stdout

    @pytest.mark.parametrize("kernel", ["linear", "rbf"])
    @pytest.mark.parametrize("scheme", ["votes", "dag"])
    def test_pairwise_schemes(self, here, classes, tmp_path, scheme, kernel):
        model = tmp_path / "m.wm"
        options = ("--learner", "kernel-svm", "--kernel", kernel, "--scheme", scheme, "--C", "100")
        done = here("train", classes, "-o", model, *options)
        assert done.returncode == 0, done.stderr
        result = json.loads(here("evaluate", model, classes, "--json").stdout)
        assert result["accuracy"] == 1.0
        row = json.loads(here("predict", model, classes, "--scores").stdout.splitlines()[1])
        assert row["labels"] == ["2"]
        assert set(row["scores"]) == {"1", "2", "3"}
        assert max(row["scores"], key=row["scores"].get) == "2"
        assert "terms for it" not in here("inspect", model).stdout

    @pytest.mark.parametrize("bias", ["unregularized", "stabilized", "none", "0.5"])
    def test_biases(self, here, vectors, tmp_path, bias):
        model = tmp_path / "m.wm"
        done = here("train", vectors, "-o", model, "--learner", "kernel-svm", "--bias", bias)
        assert done.returncode == 0, done.stderr
        stored = json.loads(here("inspect", model, "--json").stdout)["learner"]["state"]["parameters"]["bias"]
        assert str(stored).lower() == bias

    def test_linear_svm_with_an_unregularized_bias(self, here, vectors, tmp_path):
        done = here("train", vectors, "-o", tmp_path / "m.wm", "--bias", "unregularized")
        assert done.returncode == 0, done.stderr
        assert "100.0 % of 20 documents right" in here("evaluate", tmp_path / "m.wm", vectors).stdout

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                ["--gamma", "1"],
                "--gamma does not apply to linear-svm. It is for --learner kernel-svm, multiclass-svm or "
                "chi-square-network.",
            ),
            (["--kernel", "rbf"], "--kernel does not apply to linear-svm"),
            (["--scheme", "dag"], "--scheme does not apply to linear-svm"),
            (["--learner", "kernel-svm", "--degree", "2"], "--degree does not apply to the kernel rbf"),
            (["--learner", "kernel-svm", "--kernel", "linear", "--gamma", "1"], "--gamma does not apply"),
            (["--learner", "kernel-svm", "--loss", "squared_hinge"], "has the hinge loss"),
            (["--learner", "kernel-svm", "--stabilizer-size", "2"], "Add --bias stabilized"),
            (["--learner", "kernel-svm", "--gamma", "-1"], "gamma=-1.0: expected a positive number"),
            (["--learner", "kernel-svm", "--C", "0"], "C=0.0: expected a positive number"),
            (["--bias", "big"], "--bias big: expected a size, such as 1, or unregularized"),
            (["--learner", "forest"], "'forest' is not one of"),
            (["--class-weight", "heavy"], "balanced"),
            (["--balance", "much"], "--balance much: expected auto, or a number such as 0.15"),
            (["--balance", "2"], "balance=2.0: expected a number from 0 to 1"),
            (["--balance", "0.2", "--class-weight", "balanced"], "Pass only one of them"),
            (["--balance", "0.2", "--learner", "multiclass-svm"], "--balance does not apply to"),
        ],
    )
    def test_options_that_make_no_sense(self, here, vectors, tmp_path, options, message):
        done = here("train", vectors, "-o", tmp_path / "m.wm", *options)
        assert done.returncode == 2
        assert message in done.stderr
        assert not (tmp_path / "m.wm").exists()

    def test_pairs_of_classes_for_several_labels(self, here, tickets, tmp_path):
        options = ("--learner", "kernel-svm", "--scheme", "votes", "--multilabel")
        done = here("train", tickets, "-o", tmp_path / "m.wm", *options)
        assert done.returncode == 2
        assert 'Use scheme="one-vs-rest"' in done.stderr

    def test_progress_on_a_terminal(self, tmp_path):
        """One line with the violation and the examples that are still active."""
        pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")
        rng = np.random.default_rng(0)
        rows = [
            f"{rng.choice([-1, 1])} " + " ".join(f"{j + 1}:{v:.3f}" for j, v in enumerate(row))
            for row in rng.normal(size=(1500, 10))
        ]
        (tmp_path / "noise.svm").write_text("\n".join(rows) + "\n")
        # Noise has no estimate worth retraining a thousand times for.
        options = ["--learner", "kernel-svm", "--C", "100", "--gamma", "0.1", "--estimate", "none"]
        arguments = ["train", str(tmp_path / "noise.svm"), "-o", str(tmp_path / "m.wm"), *options]
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=follower,
            env=environment(COLUMNS="120", TERM="xterm"),
        )
        os.close(follower)
        shown = read_terminal(leader)
        assert process.wait() == 0
        assert b"violation" in shown
        assert b"active" in shown


class TestSvmLightModels:
    @pytest.mark.parametrize(
        "learner",
        [
            [],
            ["--learner", "kernel-svm", "--kernel", "linear"],
            ["--learner", "kernel-svm", "--gamma", "0.5", "--C", "10"],
            ["--learner", "kernel-svm", "--kernel", "poly", "--degree", "2", "--gamma", "0.5"],
        ],
    )
    def test_exported_and_used_in_place_of_the_model(self, here, vectors, tmp_path, learner):
        model, exported = tmp_path / "m.wm", tmp_path / "m.svmlight"
        assert here("train", vectors, "-o", model, *learner).returncode == 0
        done = here("inspect", model, "--export-svmlight", exported)
        assert done.returncode == 0, done.stderr
        assert f"Wrote {exported} for svm_classify; positive scores mean 1." in done.stdout
        assert read_svmlight_model(exported).n_documents == 20
        ours, theirs = (
            [json.loads(line) for line in here("predict", path, vectors, "--scores").stdout.splitlines()]
            for path in (model, exported)
        )
        assert [row["labels"] for row in theirs] == [row["labels"] for row in ours]
        for mine, other in zip(ours, theirs, strict=True):
            # Both are written with six digits, of which the last may be rounded either way.
            assert other["scores"] == pytest.approx(mine["scores"], abs=1.01e-6)
        mine, other = (
            json.loads(here("evaluate", path, vectors, "--json").stdout) for path in (model, exported)
        )
        assert other["estimated"] is None, "a file of SVM-light foretells nothing"
        assert {**mine, "model": "", "estimated": ""} == {**other, "model": "", "estimated": ""}

    def test_one_label_of_several(self, here, classes, tmp_path):
        model, exported = tmp_path / "m.wm", tmp_path / "m.svmlight"
        here("train", classes, "-o", model)
        done = here("inspect", model, "--export-svmlight", exported)
        assert done.returncode == 2
        assert "the model has 3. Choose one with --label." in done.stderr
        found = json.loads(
            here("inspect", model, "--export-svmlight", exported, "--label", "2", "--json").stdout
        )
        assert (found["exported"], found["positive"]) == (str(exported), "2")
        scores = [
            json.loads(line)["scores"]
            for line in here("predict", model, classes, "--scores").stdout.splitlines()
        ]
        theirs = [
            json.loads(line)["scores"]
            for line in here("predict", exported, classes, "--scores").stdout.splitlines()
        ]
        assert [s["1"] for s in theirs] == pytest.approx([s["2"] for s in scores], abs=1e-6)

    def test_features_that_the_model_has_never_seen(self, here, tmp_path):
        """They make a vector longer, and so more distant, as for svm_classify."""
        lines = ["2 # t", "3 #", "0.5 #", "1 #", "1 #", "empty#", "2 #", "5 #", "2 #", "0.25 #", "2 1:1 #"]
        (tmp_path / "model").write_text("SVM-light Version V6.02\n" + "\n".join(lines) + "\n")
        (tmp_path / "data.svm").write_text("1 1:1\n1 1:1 7:2\n")
        rows = here("predict", tmp_path / "model", tmp_path / "data.svm", "--scores").stdout.splitlines()
        scores = [json.loads(row)["scores"]["1"] for row in rows]
        assert scores == pytest.approx([2 - 0.25, 2 * np.exp(-0.5 * 4) - 0.25], abs=1e-6)

    def test_inspected(self, here, vectors, tmp_path):
        model, exported = tmp_path / "m.wm", tmp_path / "m.svmlight"
        here("train", vectors, "-o", model, "--learner", "kernel-svm", "--gamma", "0.25")
        here("inspect", model, "--export-svmlight", exported)
        done = here("inspect", exported)
        assert "a model of SVM-light V6.02" in done.stdout
        found = json.loads(here("inspect", exported, "--json").stdout)
        assert (found["kernel"], found["g"], found["training_documents"], found["features"]) == (
            "rbf",
            0.25,
            20,
            5,
        )
        assert here("inspect", exported, "--export-svmlight", tmp_path / "again").returncode == 2

    def test_a_damaged_one(self, here, vectors, tmp_path):
        (tmp_path / "model").write_text("SVM-light Version V6.02\n2 # kernel type\n")
        for arguments in (("predict", tmp_path / "model", vectors), ("inspect", tmp_path / "model")):
            done = here(*arguments)
            assert done.returncode == 65
            assert "ends after line 2" in done.stderr
        lines = ["4 # t", "3 #", "1 #", "1 #", "1 #", "mine#", "2 #", "5 #", "2 #", "0 #", "2 1:1 #"]
        (tmp_path / "model").write_text("SVM-light Version V6.02\n" + "\n".join(lines) + "\n")
        done = here("predict", tmp_path / "model", vectors)
        assert done.returncode == 65
        assert "user-defined kernel" in done.stderr

    def test_texts_for_one_and_a_model_of_texts(self, here, vectors, model, tickets, tmp_path):
        here("train", vectors, "-o", tmp_path / "m.wm")
        here("inspect", tmp_path / "m.wm", "--export-svmlight", tmp_path / "m.svmlight")
        done = here("predict", tmp_path / "m.svmlight", tickets)
        assert done.returncode == 65
        assert "holds texts, but the model was trained on vectors" in done.stderr
        done = here("inspect", model, "--export-svmlight", tmp_path / "t.svmlight", "--label", "billing")
        assert done.returncode == 65
        assert "was trained on texts" in done.stderr


class TestLeastSquares:
    def test_trained_estimated_saved_and_used(self, here, tickets, tmp_path):
        model = tmp_path / "squares.wm"
        options = ("--learner", "least-squares", "--regularization", "0.1", "--class-weight", "balanced")
        done = here("train", tickets, "-o", model, *options, "--json")
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        assert summary["estimates"]["method"] == "leave-one-out"
        rows = [json.loads(line) for line in here("predict", model, tickets, "-q").stdout.splitlines()]
        assert [row["labels"] for row in rows] == [ticket["labels"] for ticket in TICKETS]
        shown = here("inspect", model).stdout
        assert "least-squares" in shown
        assert "regularization=0.1" in shown
        assert "terms for it" in shown
        assert json.loads(here("explain", model, "my invoice", "--json").stdout)["label"] == "billing"

    def test_on_sampled_features(self, here, tickets, tmp_path):
        model = tmp_path / "sampled.wm"
        done = here("train", tickets, "-o", model, "--learner", "least-squares", "--features", "weighted:20")
        assert done.returncode == 0, done.stderr
        assert here("evaluate", model, tickets, "-q").returncode == 0

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                ("--learner", "least-squares", "--C", "1"),
                "--C does not apply to least-squares. Use --regularization.",
            ),
            (("--learner", "least-squares", "--kernel", "rbf"), "--kernel does not apply to least-squares"),
            (("--learner", "least-squares", "--passes", "3"), "--passes does not apply to least-squares"),
            (("--learner", "least-squares", "--bias", "stabilized"), "--bias stabilized"),
            (("--regularization", "1"), "--regularization does not apply to linear-svm"),
        ],
    )
    def test_options_of_others_are_refused(self, here, tickets, tmp_path, options, message):
        done = here("train", tickets, "-o", tmp_path / "m.wm", *options)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.split())


class TestChiSquareNetwork:
    def test_trained_estimated_saved_and_used(self, here, tickets, tmp_path):
        model = tmp_path / "network.wm"
        options = ("--learner", "chi-square-network", "--gamma", "2", "--power", "0.5")
        done = here("train", tickets, "-o", model, *options, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["estimates"]["method"] == "leave-one-out"
        rows = [json.loads(line) for line in here("predict", model, tickets, "-q").stdout.splitlines()]
        assert [row["labels"] for row in rows] == [ticket["labels"] for ticket in TICKETS]
        assert here("evaluate", model, tickets, "-q").returncode == 0
        shown = here("inspect", model).stdout
        assert "chi-square-network" in shown
        assert "power=0.5" in shown
        assert f"{len(TICKETS)} centers" in shown
        done = here("explain", model, "my invoice")
        assert done.returncode == 2
        assert "A ChiSquareNetwork has no term weights, so it cannot explain a label." in done.stderr

    def test_terms_are_those_of_the_learner_unless_they_are_given(self, here, tickets, tmp_path):
        for given, terms in (
            ((), "txa"),
            (("--units", "words", "--ngrams", "1", "--weighting", "txx"), "txx"),
        ):
            done = here(
                "train", tickets, "-o", tmp_path / "m.wm", "--learner", "chi-square-network", *given, "-q"
            )
            assert done.returncode == 0, done.stderr
            stored = TextClassifier.load(tmp_path / "m.wm").vectorizer_
            assert stored.weighting == terms
            assert stored.units == ("words" if given else "chars")
            assert stored.ngram_range == ((1, 1) if given else (3, 3))

    def test_the_command_line_and_the_classifier_agree(self):
        assert text_options("chi-square-network") == ChiSquareNetwork.text_options

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--C", "1"), "--C does not apply to chi-square-network"),
            (("--kernel", "rbf"), "--kernel does not apply to chi-square-network"),
            (("--power", "2"), "power=2.0: expected a number above 0 and at most 1"),
        ],
    )
    def test_wrong_options_are_refused(self, here, tickets, tmp_path, options, message):
        done = here("train", tickets, "-o", tmp_path / "m.wm", "--learner", "chi-square-network", *options)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.split())


class TestC45:
    OPTIONS = ("--learner", "c45", "--weighting", "bxx", "--min-objects", "1")

    @pytest.mark.parametrize("rules", [(), ("--rules",)])
    def test_trained_estimated_saved_and_used(self, here, tickets, tmp_path, rules):
        model = tmp_path / "tree.wm"
        done = here("train", tickets, "-o", model, *self.OPTIONS, *rules, "--confidence", "0.9", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["estimates"]["method"] == "k-fold"
        rows = [json.loads(line) for line in here("predict", model, tickets, "-q").stdout.splitlines()]
        assert [row["labels"] for row in rows] == [ticket["labels"] for ticket in TICKETS]
        shown = here("inspect", model).stdout
        assert "c45" in shown
        assert f"output={'rules' if rules else 'tree'}" in shown
        outline = TextClassifier.load(model).outline("billing").words()
        assert "billing:\n" + "".join(f"  {line}\n" for line in outline) in shown
        assert (outline[-1][:9] == "otherwise") == bool(rules)
        found = json.loads(here("inspect", model, "--json", "--label", "billing").stdout)["outline"]
        assert list(found) == ["billing"]
        assert len(found["billing"]) == len(outline)

    def test_the_path_of_a_text(self, here, tickets, tmp_path):
        model = tmp_path / "tree.wm"
        here("train", tickets, "-o", model, *self.OPTIONS, "--confidence", "none")
        found = json.loads(here("explain", model, "my invoice", "--label", "billing", "--json").stdout)
        total = found["bias"] + sum(part["value"] for part in found["contributions"])
        assert total == pytest.approx(found["score"])
        path = found["path"]
        assert path[-1]["score"] == pytest.approx(found["score"])
        shown = here("explain", model, "my invoice", "--label", "billing").stdout
        assert [line for line in shown.splitlines() if path[0]["condition"] in line]

    def test_pruning_and_depth(self, here, tmp_path):
        """Labels that the words do not explain."""
        rng = np.random.default_rng(0)
        words, labels = rng.integers(0, 6, (60, 4)).tolist(), rng.integers(0, 2, 60).tolist()
        rows = [
            {"text": " ".join(f"w{word}" for word in some), "labels": [f"l{label}"]}
            for some, label in zip(words, labels, strict=True)
        ]
        data = tmp_path / "noise.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        sizes = {}
        for name, options in {
            "whole": ("--confidence", "none"),
            "pruned": ("--confidence", "0.01"),
            "shallow": ("--confidence", "none", "--max-depth", "1"),
            "coarse": ("--confidence", "none", "--min-objects", "3"),
        }.items():
            model = tmp_path / f"{name}.wm"
            done = here("train", data, "-o", model, *self.OPTIONS, *options, "-q")
            assert done.returncode == 0, done.stderr
            sizes[name] = len(TextClassifier.load(model).learner_.trees_.n)
        assert sizes["pruned"] < sizes["whole"]
        assert sizes["shallow"] < sizes["whole"]
        assert sizes["coarse"] < sizes["whole"]

    def test_a_long_tree_is_cut_unless_its_label_is_chosen(self, here, tmp_path):
        rows = [{"text": f"w{i}", "labels": ["even" if i % 2 == 0 else "odd"]} for i in range(60)]
        data, model = tmp_path / "long.jsonl", tmp_path / "m.wm"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        options = ("--confidence", "none", "--estimate", "none", "-q")
        here("train", data, "-o", model, *self.OPTIONS, *options)
        shown = here("inspect", model).stdout
        assert "more lines; show all with --label." in shown
        assert len(here("inspect", model, "--label", "odd").stdout.splitlines()) > len(shown.splitlines())

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--learner", "c45", "--C", "1"), "--C does not apply to c45"),
            (
                ("--learner", "c45", "--confidence", "high"),
                "--confidence high: expected a number such as 0.25",
            ),
            (("--learner", "c45", "--confidence", "2"), "confidence=2.0: expected a number between 0 and 1"),
            (("--rules",), "--rules does not apply to linear-svm. It is for --learner c45."),
        ],
    )
    def test_wrong_options_are_refused(self, here, tickets, tmp_path, options, message):
        done = here("train", tickets, "-o", tmp_path / "m.wm", *options)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.split())


class TestLogisticRegression:
    def test_trained_estimated_saved_and_used(self, here, tickets, tmp_path):
        model = tmp_path / "logistic.wm"
        options = ("--learner", "logistic-regression", "--C", "10", "--tune", "none")
        done = here("train", tickets, "-o", model, *options, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["estimates"]["method"] == "leave-one-out"
        shown = here("predict", model, tickets, "--proba", "-q").stdout
        rows = [json.loads(line) for line in shown.splitlines()]
        assert [row["labels"] for row in rows] == [ticket["labels"] for ticket in TICKETS]
        learner = TextClassifier.load(model)
        expected = learner.predict_proba([ticket["text"] for ticket in TICKETS])
        for row, chances in zip(rows, expected, strict=True):
            assert sum(row["probabilities"].values()) == pytest.approx(1, abs=1e-5)
            assert list(row["probabilities"].values()) == pytest.approx(chances.tolist(), abs=1e-5)
        assert "logistic-regression" in here("inspect", model).stdout
        found = json.loads(here("explain", model, "my invoice", "--json").stdout)
        assert found["label"] == "billing"
        total = found["bias"] + sum(part["value"] for part in found["contributions"])
        assert total == pytest.approx(found["score"], abs=1e-5)

    def test_tuned_unless_told_otherwise(self, here, tickets, tmp_path):
        for given, tuned in (((), True), (("--tune", "none"), False)):
            options = ("--learner", "logistic-regression", "--estimate", "none", "--json", *given)
            done = here("train", tickets, "-o", tmp_path / "m.wm", "--force", *options)
            assert done.returncode == 0, done.stderr
            assert ("tuning" in json.loads(done.stdout)) == tuned

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                ("--bias", "unregularized"),
                "--bias unregularized: logistic-regression takes a size, such as 1",
            ),
            (("--C", "inf"), "C=inf: expected a positive number up to 1e100"),
            (("--loss", "hinge"), "--loss does not apply to logistic-regression"),
        ],
    )
    def test_wrong_options_are_refused(self, here, tickets, tmp_path, options, message):
        done = here("train", tickets, "-o", tmp_path / "m.wm", "--learner", "logistic-regression", *options)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.split())


class TestNaiveBayes:
    @pytest.mark.parametrize("event_model", ["multinomial", "bernoulli", "complement"])
    def test_trained_estimated_saved_and_used(self, here, tickets, tmp_path, event_model):
        model = tmp_path / "bayes.wm"
        options = ("--learner", "naive-bayes", "--event-model", event_model, "--smoothing", "0.1")
        done = here("train", tickets, "-o", model, *options, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["estimates"]["method"] == "leave-one-out"
        rows = [json.loads(line) for line in here("predict", model, tickets, "-q").stdout.splitlines()]
        assert [row["labels"] for row in rows] == [ticket["labels"] for ticket in TICKETS]
        shown = here("inspect", model).stdout
        assert "naive-bayes" in shown
        assert f"event_model={event_model}" in shown
        assert "smoothing=0.1" in shown
        assert "terms for it" in shown
        found = json.loads(here("explain", model, "my invoice", "--json").stdout)
        assert found["label"] == "billing"
        total = found["bias"] + sum(part["value"] for part in found["contributions"])
        assert total == pytest.approx(found["score"], abs=1e-5)

    @pytest.mark.parametrize("prior", ["documents", "uniform"])
    def test_priors(self, here, tickets, tmp_path, prior):
        """Without terms, a uniform prior knows no class from another."""
        rows = [*TICKETS, *TICKETS[:3]]
        data, model = tmp_path / "uneven.jsonl", tmp_path / "m.wm"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        done = here("train", data, "-o", model, "--learner", "naive-bayes", "--prior", prior, "-q")
        assert done.returncode == 0, done.stderr
        learner = TextClassifier.load(model).learner_
        assert learner.prior == prior
        assert (np.ptp(learner.intercept_) > 1e-3) == (prior == "documents")

    def test_terms_are_counts_unless_they_are_given(self, here, tickets, tmp_path):
        assert text_options("naive-bayes") == NaiveBayes.text_options
        for given, weighting in (((), "txx"), (("--weighting", "tfx"), "tfx")):
            done = here("train", tickets, "-o", tmp_path / "m.wm", "--learner", "naive-bayes", *given, "-q")
            assert done.returncode == 0, done.stderr
            assert TextClassifier.load(tmp_path / "m.wm").vectorizer_.weighting == weighting

    def test_negative_values_are_bad_data(self, here, tmp_path):
        (tmp_path / "v.svm").write_text("1 1:1 2:-3\n-1 1:2\n1 2:1\n-1 1:1\n")
        done = here("train", tmp_path / "v.svm", "-o", tmp_path / "m.wm", "--learner", "naive-bayes")
        assert done.returncode == 65
        assert "X holds -3 in row 0, column 1. Naive Bayes learns from counts" in " ".join(
            done.stderr.split()
        )

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--learner", "naive-bayes", "--C", "1"), "--C does not apply to naive-bayes"),
            (("--learner", "naive-bayes", "--smoothing", "0"), "smoothing=0.0: expected a positive number"),
            (
                ("--learner", "naive-bayes", "--event-model", "poisson"),
                "'poisson' is not one of",
            ),
            (
                ("--smoothing", "1"),
                "--smoothing does not apply to linear-svm. It is for --learner naive",
            ),
        ],
    )
    def test_wrong_options_are_refused(self, here, tickets, tmp_path, options, message):
        done = here("train", tickets, "-o", tmp_path / "m.wm", *options)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.split())


class TestRocchio:
    @pytest.mark.parametrize(("given", "used"), [("0.5", 0.5), ("auto", None)])
    def test_trained_estimated_saved_and_used(self, here, tickets, tmp_path, given, used):
        model = tmp_path / "rocchio.wm"
        done = here(
            "train", tickets, "-o", model, "--learner", "rocchio", "--negative-weight", given, "--json"
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["estimates"]["method"] == "leave-one-out"
        rows = [json.loads(line) for line in here("predict", model, tickets, "-q").stdout.splitlines()]
        assert [row["labels"] for row in rows] == [ticket["labels"] for ticket in TICKETS]
        learner = TextClassifier.load(model).learner_
        assert used in (None, learner.negative_weight_)
        assert learner.negative_weight_ in (0.0, 0.1, 0.25, 0.5, 1.0)
        shown = here("inspect", model).stdout
        assert f"negative_weight={given}" in shown
        assert "terms for it" in shown
        found = json.loads(here("explain", model, "my invoice", "--json").stdout)
        assert found["label"] == "billing"
        total = found["bias"] + sum(part["value"] for part in found["contributions"])
        assert total == pytest.approx(found["score"], abs=1e-5)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--learner", "rocchio", "--C", "1"), "--C does not apply to rocchio"),
            (("--learner", "rocchio", "--negative-weight", "-1"), "expected a number of at least 0"),
            (("--learner", "rocchio", "--negative-weight", "best"), "expected auto, or a number such as"),
            (("--negative-weight", "1"), "--negative-weight does not apply to linear-svm."),
        ],
    )
    def test_wrong_options_are_refused(self, here, tickets, tmp_path, options, message):
        done = here("train", tickets, "-o", tmp_path / "m.wm", *options)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.split())


class TestMulticlassSvm:
    @pytest.mark.parametrize("formulation", ["crammer-singer", "weston-watkins"])
    @pytest.mark.parametrize("kernel", ["linear", "chi2"])
    def test_trained_estimated_saved_and_used(self, here, tickets, tmp_path, formulation, kernel):
        model = tmp_path / "multiclass.wm"
        options = [
            "--learner",
            "multiclass-svm",
            "--formulation",
            formulation,
            "--kernel",
            kernel,
            "--C",
            "5",
        ]
        if kernel == "chi2":
            options += ["--gamma", "2", "--power", "0.5", "--bias", "none"]
        done = here("train", tickets, "-o", model, *options, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["estimates"]["method"] == "k-fold"
        rows = [json.loads(line) for line in here("predict", model, tickets, "-q").stdout.splitlines()]
        assert [row["labels"] for row in rows] == [ticket["labels"] for ticket in TICKETS]
        assert here("evaluate", model, tickets, "-q").returncode == 0
        shown = json.loads(here("inspect", model, "--json").stdout)["learner"]
        assert shown["name"] == "multiclass-svm"
        assert shown["state"]["parameters"]["formulation"] == formulation
        assert shown["state"]["parameters"]["kernel"] == kernel
        explained = here("explain", model, "the printer")
        assert (explained.returncode == 0) == (kernel == "linear")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--scheme", "votes"), "--scheme does not apply to multiclass-svm"),
            (("--gamma", "1"), "--gamma does not apply to the kernel linear"),
            (("--bias", "unregularized"), "multiclass-svm takes a size, such as 1, or none"),
            (("--C", "inf"), "C=inf: expected a positive number up to 1e100"),
            (("--loss", "squared_hinge"), "--loss does not apply to multiclass-svm"),
        ],
    )
    def test_wrong_options_are_refused(self, here, tickets, tmp_path, options, message):
        done = here("train", tickets, "-o", tmp_path / "m.wm", "--learner", "multiclass-svm", *options)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.split())

    def test_several_labels_are_refused_with_a_cure(self, here, tmp_path):
        data = tmp_path / "several.jsonl"
        rows = [{"text": f"word{i} and more", "labels": ["a", "b"][: 1 + i % 2]} for i in range(8)]
        data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        done = here("train", data, "-o", tmp_path / "m.wm", "--learner", "multiclass-svm")
        assert done.returncode == 2
        assert "--learner linear-svm" in " ".join(done.stderr.split())
