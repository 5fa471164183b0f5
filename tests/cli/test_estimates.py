"""Training that says how good it is, thresholds, probabilities and suspects, by the real command."""

from __future__ import annotations

import csv
import json
import re

import pytest

from tests.cli.conftest import TICKETS, write_jsonl

MANY = [
    {
        "id": f"{copy}-{ticket['id']}",
        "text": f"{ticket['text']} {other['text']}",
        "labels": ticket["labels"],
    }
    for copy in range(4)
    for number, ticket in enumerate(TICKETS)
    for other in [TICKETS[6 * (number // 6) + (number + copy + 1) % 6]]
]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Enough tickets for an estimate, one of which has the wrong label."""
    records = [dict(record) for record in MANY]
    records[26] = {**records[26], "labels": ["network"]}
    return write_jsonl(tmp_path_factory.mktemp("many") / "many.jsonl", records)


@pytest.fixture(scope="module")
def judged(run, many):
    path = many.with_name("judged.wm")
    done = run("train", many, "-o", path, "--calibrate", "platt", "--tune", "none")
    assert done.returncode == 0, done.stderr
    return path, done


@pytest.fixture(scope="module")
def labels_model(run, many):
    path = many.with_name("labels.wm")
    done = run("train", many, "-o", path, "--multilabel", "--json", "--tune", "none")
    assert done.returncode == 0, done.stderr
    return path, json.loads(done.stdout)


@pytest.fixture(scope="module")
def chosen(run, many):
    path = many.with_name("chosen.wm")
    done = run("train", many, "-o", path)
    assert done.returncode == 0, done.stderr
    return path, done


class TestTrain:
    def test_ends_with_a_table(self, judged):
        _, done = judged
        lines = done.stdout.splitlines()
        assert "Estimated from the training documents by" in done.stdout
        header = next(i for i, line in enumerate(lines) if line.startswith("label"))
        assert lines[header].split() == ["label", "examples", "precision", "recall", "F1", "how", "sure"]
        assert lines[header + 1].split()[:2] == ["network", "25"]
        assert lines[header + 4].startswith("micro-average")
        assert "Expect the right label for " in done.stdout
        assert "1 label of training documents looks wrong: widemargin inspect " in done.stdout
        assert "estimate 0." in done.stdout
        assert lines[-1].startswith("Wrote ")

    def test_json_has_all_of_it(self, labels_model):
        _, summary = labels_model
        found = summary["estimates"]
        assert found["kind"] == "estimate"
        assert [row["label"] for row in found["labels"]] == ["billing", "hardware", "network"]
        for row in found["labels"]:
            assert set(row["f1"]) == {"value", "low", "high", "kind"}
            assert isinstance(row["threshold"], float)
            assert row["sure"] in ("good", "fair", "low")
        assert set(found["micro"]) == set(found["macro"]) == {"precision", "recall", "f1", "error"}
        assert summary["suspects"][0]["document"] == MANY[26]["id"]

    def test_bounds_and_nothing(self, run, here, many, tmp_path):
        plain = ("train", many, "-o", tmp_path / "m.wm", "--tune", "none", "--estimate")
        done = run(*plain, "xi-alpha")
        assert done.returncode == 0, done.stderr
        assert "Bounds from training (xi-alpha)" in done.stdout
        assert ">= " in done.stdout
        done = here("inspect", tmp_path / "m.wm", "--suspects", "5")
        assert done.returncode == 65
        assert "Train with --estimate leave-one-out" in done.stderr
        done = here(*plain, "none")
        assert "how sure" not in done.stdout
        assert "estimates" not in json.loads(here("inspect", tmp_path / "m.wm", "--json").stdout)["summary"]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--thresholds", "recall:0.9"], "every document gets one of them"),
            (["--thresholds", "cost:1,5"], "Pass costs between classes (--costs FILE)"),
            (["--thresholds", "precision:2", "--multilabel"], "between 0 and 1"),
            (["--thresholds", "best"], "thresholds best: expected f1"),
            (["--estimate", "guess"], "'guess' is not one of"),
            (["--calibrate", "guess"], "'guess' is not one of"),
        ],
    )
    def test_what_makes_no_sense(self, here, many, tmp_path, options, message):
        done = here("train", many, "-o", tmp_path / "m.wm", *options)
        assert done.returncode == 2
        assert message in done.stderr
        assert not (tmp_path / "m.wm").exists()

    def test_weak_labels_are_told(self, run, tmp_path):
        records = [*MANY, {"id": "x", "text": "coffee is cold", "labels": ["kitchen"]}]
        data = write_jsonl(tmp_path / "d.jsonl", records)
        done = run("train", data, "-o", tmp_path / "m.wm", "--tune", "none")
        assert done.returncode == 0, done.stderr
        assert "warning: " in done.stderr
        assert "'kitchen'" in done.stderr
        assert "have one example" in done.stderr
        (line,) = (line for line in done.stdout.splitlines() if line.startswith("kitchen"))
        assert line.endswith("none: one example only")

    def test_promises_that_cannot_be_made_are_told(self, run, many, tmp_path):
        options = ("--multilabel", "--thresholds", "precision:0.99", "--tune", "none")
        done = run("train", many, "-o", tmp_path / "m.wm", *options)
        assert done.returncode == 0, done.stderr
        assert "No threshold promises a precision of 0.99 with a confidence of 95 %" in done.stderr
        assert "never" in done.stdout
        rows = run("predict", tmp_path / "m.wm", many).stdout.splitlines()
        assert all(json.loads(row)["labels"] == [] for row in rows)

    def test_same_file_whatever_the_threads(self, here, many, judged, tmp_path):
        options = ("--calibrate", "platt", "--tune", "none", "--threads", "1")
        here("train", many, "-o", tmp_path / "m.wm", *options)
        assert (tmp_path / "m.wm").read_bytes() == judged[0].read_bytes()


class TestTune:
    def test_fast_by_default_and_shown(self, chosen, here):
        path, done = chosen
        (line,) = re.findall(r"Chosen from \d+ candidates \(fast\):", done.stdout)
        header = next(line for line in done.stdout.splitlines() if line.startswith("blocks"))
        assert {"blocks", "weighting", "stemmer", "C"} <= set(header.split())
        assert "Best of each family: words" in done.stdout
        assert "  chosen" in done.stdout
        # The sentence on seconds has tuning among its stages.
        (seconds,) = (line for line in done.stdout.splitlines() if line.startswith("Seconds: "))
        assert re.search(r"[ ,]tune \d+\.\d+ s[,.]", seconds)
        found = json.loads(here("inspect", path, "--json").stdout)
        tuning = found["summary"]["tuning"]
        assert f"Chosen from {len(tuning['candidates'])} candidates (fast):" == line
        best = tuning["candidates"][tuning["chosen"]]["parameters"]
        assert found["vectorizer"]["weighting"] == best["weighting"]
        assert found["learner"]["state"]["parameters"]["C"] == best["C"]
        assert line.removesuffix(" (fast):") in here("inspect", path).stdout

    def test_the_same_file_again(self, chosen, here, many, tmp_path):
        """What depends on the clock is not in it."""
        here("train", many, "-o", tmp_path / "m.wm", "--threads", "1")
        assert (tmp_path / "m.wm").read_bytes() == chosen[0].read_bytes()

    def test_options_fix_what_they_name(self, here, many, tmp_path):
        options = ("--weighting", "ltc", "--idf-power", "0.5", "--C", "3", "--stemmer", "none", "--json")
        summary = json.loads(here("train", many, "-o", tmp_path / "m.wm", *options).stdout)
        tried = [found["parameters"] for found in summary["tuning"]["candidates"]]
        kept = {(one["weighting"], one["idf_power"], one["C"], one["stemmer"]) for one in tried}
        assert kept == {("ltc", 0.5, 3.0, None)}
        assert any(one["blocks"] for one in tried)
        everything = (*options, "--stop-words", "none", "--ngrams", "1", "--loss", "hinge")
        summary = json.loads(here("train", many, "-o", tmp_path / "m.wm", *everything).stdout)
        assert "tuning" not in summary
        seen = json.loads(here("inspect", tmp_path / "m.wm", "--json").stdout)
        assert seen["vectorizer"]["weighting"] == "ltc"
        assert seen["vectorizer"]["idf_power"] == 0.5
        assert seen["learner"]["state"]["parameters"]["C"] == 3.0

    def test_full_estimates_the_best(self, here, many, tmp_path):
        options = ("--tune", "full", "--C", "1", "--weighting", "tfc", "--json")
        tuning = json.loads(here("train", many, "-o", tmp_path / "m.wm", *options).stdout)["tuning"]
        assert len(tuning["candidates"]) > 4
        estimates = [found["estimate"] for found in tuning["candidates"] if found["estimate"] is not None]
        assert len(estimates) == 3
        assert tuning["candidates"][tuning["chosen"]]["estimate"] == max(estimates)
        assert all(found["held_out"] is not None for found in tuning["candidates"])
        assert {found["family"] for found in tuning["families"]} >= {"words", "bigrams", "chars"}

    @pytest.fixture
    def dated(self, many, tmp_path):
        records = [json.loads(line) for line in many.read_text(encoding="utf-8").splitlines()]
        lines = [json.dumps({**record, "year": 1990 + k // 9}) for k, record in enumerate(records)]
        (tmp_path / "d.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return tmp_path / "d.jsonl"

    def test_times_divide_the_documents(self, here, dated, tmp_path):
        done = here("train", dated, "-o", tmp_path / "m.wm", "--time", "year", "--json")
        assert json.loads(done.stdout)["tuning"]["estimate"] == "later documents"
        assert 'times from "year"' in done.stderr

    @pytest.mark.parametrize(("wrong", "code"), [(("--tune", "none"), 2), (("--time", "text"), 65)])
    def test_times_that_make_no_sense(self, here, dated, tmp_path, wrong, code):
        words = ("--time", "year", *wrong)
        assert here("train", dated, "-o", tmp_path / "m.wm", *words).returncode == code

    def test_a_budget_in_seconds(self, here, many, tmp_path):
        options = ("--tune", "0.0005s", "--estimate", "none", "--json")
        first, second = (
            here("train", many, "-o", tmp_path / f"{n}.wm", "--threads", n, *options).stdout for n in (1, 2)
        )
        tuning = json.loads(first)["tuning"]
        assert tuning["effort"] == "0.0005s"
        assert sum(found["held_out"] is not None for found in tuning["candidates"]) < 20
        assert json.loads(second)["tuning"]["chosen"] == tuning["chosen"]
        done = here("train", many, "-o", tmp_path / "m.wm", "--tune", "soon")
        assert (done.returncode, "such as 10s" in done.stderr) == (2, True)

    def test_vectors_leave_only_the_learner(self, here, tmp_path):
        rows = [f"{1 if i % 2 else -1} {1 + i % 2}:{1 + i % 5} 3:{i % 3}" for i in range(40)]
        (tmp_path / "d.svm").write_text("\n".join(rows) + "\n")
        done = here("train", tmp_path / "d.svm", "-o", tmp_path / "m.wm", "--json")
        candidates = json.loads(done.stdout)["tuning"]["candidates"]
        assert len({found["parameters"]["C"] for found in candidates}) > 1
        assert not any("weighting" in found["parameters"] for found in candidates)

    def test_kernels_are_not_raced_unless_asked(self, here, many, tmp_path):
        done = here("train", many, "-o", tmp_path / "m.wm", "--learner", "kernel-svm", "--json")
        assert "tuning" not in json.loads(done.stdout)


class TestPredict:
    def test_thresholds_decide(self, run, many, labels_model):
        path, summary = labels_model
        limits = {row["label"]: row["threshold"] for row in summary["estimates"]["labels"]}
        assert any(limits.values()), "F1 is the goal where documents may have any number of labels"
        for line in run("predict", path, many, "--scores").stdout.splitlines():
            row = json.loads(line)
            for label, score in row["scores"].items():
                if abs(score - limits[label]) > 2e-6:
                    assert (label in row["labels"]) == (score > limits[label])

    def test_thresholds_can_be_left_out(self, run, here, many, tmp_path):
        options = ("--multilabel", "--thresholds", "none", "--tune", "none")
        run("train", many, "-o", tmp_path / "m.wm", *options)
        for line in here("predict", tmp_path / "m.wm", many, "--scores").stdout.splitlines():
            row = json.loads(line)
            assert set(row["labels"]) == {label for label, score in row["scores"].items() if score > 0}

    def test_probabilities(self, run, here, judged, many, tmp_path):
        path, _ = judged
        rows = [json.loads(line) for line in run("predict", path, many, "--proba").stdout.splitlines()]
        for row in rows:
            assert set(row) == {"id", "labels", "probabilities"}
            assert sum(row["probabilities"].values()) == pytest.approx(1, abs=1e-5)
        best = [max(row["probabilities"], key=row["probabilities"].get) == row["labels"][0] for row in rows]
        assert sum(best) > 0.9 * len(best)
        done = here("predict", path, many, "--proba", "--top", "1")
        top = json.loads(done.stdout.splitlines()[0])
        assert top["top"][0]["probability"] == top["probabilities"][top["top"][0]["label"]]
        here("predict", path, many, "--proba", "--scores", "-o", tmp_path / "out.csv")
        with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        for row, line in zip(rows, table, strict=True):
            assert float(line["probability billing"]) == row["probabilities"]["billing"]
            assert "score billing" in line

    def test_no_probabilities_without_calibration(self, here, model, tickets):
        done = here("predict", model, tickets, "--proba")
        assert done.returncode == 2
        assert "Train with --calibrate platt" in done.stderr


class TestEvaluate:
    def test_measured_beside_estimated(self, run, judged, tickets):
        done = run("evaluate", judged[0], tickets)
        lines = done.stdout.splitlines()
        assert lines[0] == "Measured on 18 documents; 95 % intervals in brackets."
        assert lines[1].split()[-2:] == ["estimated:", "F1"]
        assert "estimated in training: " in lines[-1]

    def test_json(self, here, judged, tickets):
        found = json.loads(here("evaluate", judged[0], tickets, "--json").stdout)
        assert found["measured"]["kind"] == "measured"
        assert found["estimated"]["kind"] == "estimate"
        row = found["measured"]["labels"][0]
        assert row["f1"]["low"] <= row["f1"]["value"] == pytest.approx(found["rows"][0]["f1"], abs=1e-6)

    def test_by_the_thresholds(self, here, many, labels_model):
        path, summary = labels_model
        rows = [json.loads(line) for line in here("predict", path, many).stdout.splitlines()]
        found = json.loads(here("evaluate", path, many, "--json").stdout)
        for row in found["rows"]:
            assert row["predicted"] == sum(row["label"] in each["labels"] for each in rows)
        assert found["estimated"] == summary["estimates"]


class TestInspect:
    def test_estimates(self, run, judged):
        done = run("inspect", judged[0])
        assert "Estimated from the training documents by" in done.stdout
        assert "how sure" in done.stdout
        assert "terms for it" in done.stdout

    def test_suspects(self, run, here, judged):
        done = run("inspect", judged[0], "--suspects", "20")
        assert done.returncode == 0
        lines = done.stdout.splitlines()
        assert lines[0].split()[3:5] == ["leave-one-out", "suggests"]
        assert lines[1].split()[:3] == [MANY[26]["id"], "network", "hardware"]
        assert lines[-1] == "1 of 1 label that look wrong, worst first."
        found = json.loads(here("inspect", judged[0], "--suspects", "20", "--json").stdout)
        assert found["suspects"][0]["suggested"] == "hardware"
        assert found["by"] == "leave-one-out"

    def test_suspects_of_folds(self, here, many, tmp_path):
        model = tmp_path / "folds.wm"
        done = here("train", many, "-o", model, "--estimate", "k-fold", "--tune", "none")
        assert done.returncode == 0, done.stderr
        lines = here("inspect", model, "--suspects", "20").stdout.splitlines()
        assert lines[0].split()[3:5] == ["cross-validation", "suggests"]
        assert json.loads(here("inspect", model, "--suspects", "20", "--json").stdout)["by"] == "k-fold"

    def test_suspects_of_one_step(self, here, many, tmp_path):
        model = tmp_path / "step.wm"
        done = here("train", many, "-o", model, "--estimate", "one-step", "--tune", "none")
        assert done.returncode == 0, done.stderr
        assert "by approximate leave-one-out" in done.stdout
        assert json.loads(here("inspect", model, "--suspects", "20", "--json").stdout)["by"] == "one-step"

    def test_hold_out(self, here, many, tmp_path):
        model = tmp_path / "part.wm"
        done = here("train", many, "-o", model, "--estimate", "hold-out", "--tune", "none")
        assert done.returncode == 0, done.stderr
        assert "by hold-out testing" in done.stdout
        assert "One rule, learned from the other documents" in done.stdout
        assert json.loads(here("inspect", model, "--suspects", "20", "--json").stdout)["by"] == "hold-out"

    @pytest.mark.parametrize(
        ("method", "words"), [("bootstrap", "the bootstrap"), ("bootstrap-632", "the .632+ bootstrap")]
    )
    def test_bootstrap(self, here, many, tmp_path, method, words):
        model = tmp_path / "drawn.wm"
        done = here("train", many, "-o", model, "--estimate", method, "--tune", "none")
        assert done.returncode == 0, done.stderr
        assert f"by {words}" in done.stdout
        assert "From 25 rules" in done.stdout
        assert words in here("inspect", model).stdout
        assert here("inspect", model, "--suspects", "20").returncode != 0

    def test_no_suspects(self, here, tickets, tmp_path):
        data = write_jsonl(tmp_path / "d.jsonl", MANY)
        here("train", data, "-o", tmp_path / "m.wm", "-q")
        done = here("inspect", tmp_path / "m.wm", "--suspects", "3")
        assert done.stdout.startswith("Leave-one-out contradicts no label")

    def test_thresholds_in_explanations(self, here, labels_model):
        done = here("explain", labels_model[0], "invoice and refund")
        assert done.stdout.startswith("billing: score +")
        assert ", threshold " in done.stdout.splitlines()[0]


class TestTestSize:
    def test_training_and_inspect_predict_the_figures_of_a_test_set(self, run, many, tmp_path):
        path = tmp_path / "model.wm"
        trained = run("train", many, "-o", path, "--tune", "none", "--test-size", "50")
        assert trained.returncode == 0, trained.stderr
        sentence = "95 % of test sets of 50 documents like these would show accuracy"
        assert sentence in " ".join(trained.stdout.split())
        inspected = run("inspect", path, "--test-size", "50")
        assert sentence in " ".join(inspected.stdout.split())

    def test_smaller_test_sets_vary_more(self, run, judged):
        path, _ = judged
        widths = []
        for size in (20, 2000):
            found = json.loads(run("inspect", path, "--test-size", str(size), "--json").stdout)
            shown = found["estimates_on_test_set"]
            assert shown["documents"] == size
            assert shown["accuracy"]["value"] == found["summary"]["estimates"]["accuracy"]["value"]
            widths.append(shown["accuracy"]["high"] - shown["accuracy"]["low"])
        own = found["summary"]["estimates"]["accuracy"]
        assert widths[0] > widths[1] > own["high"] - own["low"]

    def test_a_test_set_has_a_document(self, run, judged):
        done = run("inspect", judged[0], "--test-size", "0")
        assert done.returncode != 0
        assert "--test-size" in done.stderr


def test_a_cost_for_each_label_is_chosen_and_shown(here, tickets, tmp_path):
    model = tmp_path / "model.wm"
    done = here("train", tickets, "-o", model, "--multilabel", "--tune", "full", "--tune-per-label")
    assert done.returncode == 0, done.stderr
    assert "C of each label: " in done.stdout
    shown = here("inspect", model).stdout
    assert "C of each label: " in shown
    found = json.loads(here("inspect", model, "--json").stdout)
    assert len(found["learner"]["state"]["parameters"]["C"]) == len(found["labels"])
    assert here("predict", model, tickets, "-q").returncode == 0
    done = here("train", tickets, "-o", model, "--tune", "none", "--tune-per-label")
    assert (done.returncode, "--tune fast or full" in done.stderr) == (2, True)
