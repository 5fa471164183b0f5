"""Costs between classes and thresholds of several classes, by the real command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import TICKETS, WORDS, write_jsonl
from tests.reference import class_costs as reference
from widemargin import TextClassifier
from widemargin.measure import ClassCosts

LABELS = sorted(WORDS)
# A ticket about the network that ends up elsewhere is expensive.
MATRIX = [[0, 1, 1], [1, 0, 1], [20, 20, 0]]
COSTS = (
    "truth,"
    + ",".join(LABELS)
    + "\n"
    + "".join(f"{name},{','.join(map(str, row))}\n" for name, row in zip(LABELS, MATRIX, strict=True))
)


def mixed() -> list[dict]:
    """Tickets of which some words are of another kind, so that many are uncertain."""
    rng = np.random.default_rng(0)
    records = []
    for i in range(150):
        label = ("billing", "billing", "hardware", "hardware", "network")[i % 5]
        other = LABELS[rng.integers(3)]
        words = [*rng.choice(WORDS[label], 2), *rng.choice(WORDS[other], rng.integers(1, 4))]
        records.append({"id": f"m{i}", "text": ", ".join(words), "labels": [label]})
    return records


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("costs")
    records = mixed()
    write_jsonl(folder / "train.jsonl", records[:100])
    write_jsonl(folder / "test.jsonl", records[100:])
    (folder / "costs.csv").write_text(COSTS)
    return folder


@pytest.fixture(scope="module")
def trained(run, files):
    done = run(
        "train", files / "train.jsonl", "-o", files / "m.wm", "--costs", files / "costs.csv", "--tune", "none"
    )
    assert done.returncode == 0, done.stderr
    return files / "m.wm", done.stdout


def truth(path: Path) -> list[int]:
    return [LABELS.index(json.loads(line)["labels"][0]) for line in path.read_text().splitlines()]


def rows_of(done) -> list[dict]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class TestLeastCost:
    def test_predictions(self, run, trained, files):
        """The labels are those of the least expected cost, by the printed probabilities."""
        rows = rows_of(run("predict", trained[0], files / "test.jsonl", "--proba", "--top", "2", "--scores"))
        chances = [[row["probabilities"][name] for name in LABELS] for row in rows]
        expected = reference.least_cost(chances, MATRIX)
        assert [row["labels"] for row in rows] == [[LABELS[j]] for j in expected]
        by_scores = [max(row["scores"], key=row["scores"].get) for row in rows]
        assert [row["labels"][0] for row in rows] != by_scores
        assert [row["top"][0]["label"] for row in rows] == [row["labels"][0] for row in rows]

    def test_train_prints_the_expected_cost(self, trained):
        assert "decided by probabilities that were calibrated without it" in trained[1]
        assert "Expected cost per document " in trained[1]
        assert "; by the largest score: " in trained[1]
        assert "; always network: " in trained[1]
        assert "Costliest: " in trained[1]

    def test_evaluate(self, run, trained, files):
        found = json.loads(run("evaluate", trained[0], files / "test.jsonl", "--json").stdout)["costs"]
        labels = [
            LABELS.index(row["labels"][0])
            for row in rows_of(run("predict", trained[0], files / "test.jsonl"))
        ]
        expected = reference.average_cost(MATRIX, truth(files / "test.jsonl"), labels)
        assert found["average"]["value"] == pytest.approx(expected, abs=1e-6)
        assert found["average"]["kind"] == "measured"
        assert found["average"]["low"] < expected < found["average"]["high"]
        assert (found["always"], found["always_class"]) == (
            pytest.approx(reference.cheapest_class(MATRIX, truth(files / "test.jsonl"))[0]),
            "network",
        )
        assert found["average"]["value"] < found["by_scores"]
        assert np.sum(found["totals"]) == pytest.approx(expected * found["n"], abs=1e-3)
        printed = run("evaluate", trained[0], files / "test.jsonl").stdout
        assert "Cost per document " in printed
        assert "estimated in training: " in printed.splitlines()[-2]

    def test_evaluate_only_measures(self, here, model, tickets, files, tmp_path):
        """A model without probabilities has a cost, and its decisions stay."""
        plain = json.loads(here("evaluate", model, tickets, "--json").stdout)
        found = json.loads(here("evaluate", model, tickets, "--costs", files / "costs.csv", "--json").stdout)
        assert "costs" not in plain
        assert found["confusion"] == plain["confusion"]
        assert found["costs"]["average"]["value"] == pytest.approx(
            np.multiply(plain["confusion"], MATRIX).sum() / plain["n"]
        )
        assert found["costs"]["by_scores"] is None

    def test_predict_with_other_costs(self, here, trained, files, tmp_path):
        """The truth in JSON; no costs of right decisions."""
        other = {"billing": {"hardware": 9, "network": 9}, "hardware": {"billing": 1, "network": 1}}
        other["network"] = {"billing": 1, "hardware": 1}
        (tmp_path / "other.json").write_text(json.dumps(other))
        options = ("--costs", tmp_path / "other.json", "--proba")
        rows = rows_of(here("predict", trained[0], files / "test.jsonl", *options))
        chances = [[row["probabilities"][name] for name in LABELS] for row in rows]
        expected = reference.least_cost(chances, ClassCosts.of(other, LABELS).matrix.tolist())
        assert [row["labels"] for row in rows] == [[LABELS[j]] for j in expected]

    def test_calibrated_models_take_costs(self, here, files, tmp_path):
        options = ("--calibrate", "isotonic", "--tune", "none", "-q")
        assert here("train", files / "train.jsonl", "-o", tmp_path / "m.wm", *options).returncode == 0
        plain = rows_of(here("predict", tmp_path / "m.wm", files / "test.jsonl"))
        costs = ("--costs", files / "costs.csv")
        decided = rows_of(here("predict", tmp_path / "m.wm", files / "test.jsonl", *costs))
        networks = [sum(row["labels"] == ["network"] for row in rows) for rows in (plain, decided)]
        assert networks[1] > networks[0]

    def test_explain_and_inspect(self, here, trained, files):
        text = json.loads((files / "test.jsonl").read_text().splitlines()[0])["text"]
        found = json.loads(here("explain", trained[0], text, "--json").stdout)
        rows = rows_of(here("predict", trained[0], files / "test.jsonl", "--proba"))
        assert found["label"] == rows[0]["labels"][0]
        chances = [rows[0]["probabilities"][name] for name in LABELS]
        assert found["expected_cost"] == pytest.approx(
            np.dot(chances, MATRIX)[LABELS.index(found["label"])], abs=1e-4
        )
        assert "expected cost" in here("explain", trained[0], text).stdout.splitlines()[0]
        shown = here("inspect", trained[0]).stdout
        assert "by the least expected cost, probabilities by platt" in shown
        assert "Expected cost per document " in shown

    def test_the_library_gives_the_same(self, trained, files):
        records = [json.loads(line) for line in (files / "train.jsonl").read_text().splitlines()]
        texts, labels = [one["text"] for one in records], [one["labels"][0] for one in records]
        made = TextClassifier(costs=MATRIX, estimate="auto", tune=None).fit(texts, labels)
        loaded = TextClassifier.load(trained[0])
        assert made.predict(texts).tolist() == loaded.predict(texts).tolist()
        np.testing.assert_allclose(made.predict_proba(texts), loaded.predict_proba(texts), atol=1e-6)
        np.testing.assert_array_equal(loaded.costs.matrix, MATRIX)
        assert loaded.fit(texts, labels).predict(texts).tolist() == made.predict(texts).tolist()
        assert made.training_summary_["costs"] == loaded.training_summary_["costs"]

    def test_languages_by_cost(self, here, tmp_path):
        """The probabilities of profiles depend on the lengths of texts."""
        texts = {"en": "the cat sat on the mat with the hat ", "de": "die Katze mit dem Hut auf der Matte "}
        records = [
            {"id": f"{name}{i}", "text": text[i:] + text * (20 + i % 3), "labels": [name]}
            for name, text in texts.items()
            for i in range(8)
        ]
        write_jsonl(tmp_path / "d.jsonl", records)
        (tmp_path / "c.csv").write_text("truth,decision,cost\nen,de,1000000\nde,en,1\n")
        options = ("--learner", "profiles", "--costs", tmp_path / "c.csv", "--estimate", "k-fold", "--json")
        done = here("train", tmp_path / "d.jsonl", "-o", tmp_path / "m.wm", *options)
        assert done.returncode == 0, done.stderr
        assert "three numbers" in json.loads(done.stdout)["estimates"]["notes"][0]
        write_jsonl(tmp_path / "new.jsonl", [{"id": "1", "text": "at"}, {"id": "2", "text": "der Hut"}])
        rows = rows_of(here("predict", tmp_path / "m.wm", tmp_path / "new.jsonl", "--proba"))
        for row in rows:
            dear = row["probabilities"]["en"] * 1_000_000 > row["probabilities"]["de"]
            assert row["labels"] == (["en"] if dear else ["de"])
        named = [
            json.loads(line)
            for line in here("identify", tmp_path / "m.wm", tmp_path / "new.jsonl").stdout.splitlines()
        ]
        assert [row["labels"] for row in named] == [row["labels"] for row in rows]


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "code", "message"),
        [
            (
                "truth,decision,cost\nbilling,hardware,1\nhardware,billing,1\n",
                65,
                "there are no costs for network",
            ),
            (COSTS.replace("hardware", "hardwear"), 65, "there are no costs for hardware"),
            (COSTS.replace(",20", ",-20"), 65, "costs -20.0; expected a number from 0 upward"),
            ("", 65, "is empty"),
        ],
        ids=["missing", "unknown", "negative", "empty"],
    )
    @pytest.mark.parametrize("verb", ["train", "predict", "evaluate"])
    def test_files(self, here, trained, files, tmp_path, verb, text, code, message):
        (tmp_path / "c.csv").write_text(text)
        data = (
            [files / "train.jsonl", "-o", tmp_path / "m.wm"]
            if verb == "train"
            else [trained[0], files / "test.jsonl"]
        )
        done = here(verb, *data, "--costs", tmp_path / "c.csv")
        assert done.returncode == code
        assert message in done.stderr
        assert "c.csv" in done.stderr
        assert not (tmp_path / "m.wm").exists()

    def test_no_file(self, here, trained, files, tmp_path):
        done = here("predict", trained[0], files / "test.jsonl", "--costs", tmp_path / "none.csv")
        assert done.returncode == 66
        assert "none.csv: no such file" in done.stderr

    def test_no_probabilities(self, here, model, tickets, files):
        done = here("predict", model, tickets, "--costs", files / "costs.csv")
        assert done.returncode == 2
        assert "Train with --costs, or with --calibrate platt" in done.stderr

    def test_any_number_of_labels(self, here, tickets, files, tmp_path):
        done = here("train", tickets, "-o", tmp_path / "m.wm", "--multilabel", "--costs", files / "costs.csv")
        assert done.returncode == 2
        assert "--thresholds cost:FALSE_POSITIVE,FALSE_NEGATIVE" in done.stderr
        assert (
            here("train", tickets, "-o", tmp_path / "m.wm", "--multilabel", "--tune", "none", "-q").returncode
            == 0
        )
        for verb in ("predict", "evaluate"):
            done = here(verb, tmp_path / "m.wm", tickets, "--costs", files / "costs.csv")
            assert done.returncode == 2
            assert "exactly one class" in done.stderr

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--thresholds", "f1"], "either --thresholds or --costs"),
            (["--calibrate", "none"], "platt or isotonic instead of --calibrate none"),
            (["--stream", "--learner", "winnow"], "--costs needs all documents at once"),
        ],
    )
    def test_what_does_not_go_with_costs(self, here, tickets, files, tmp_path, options, message):
        done = here("train", tickets, "-o", tmp_path / "m.wm", "--costs", files / "costs.csv", *options)
        assert done.returncode == 2
        assert message in done.stderr

    def test_a_cheaper_error_is_told(self, run, files, tmp_path):
        (tmp_path / "c.csv").write_text(COSTS.replace("network,20,20,0", "network,1,1,5"))
        done = run(
            "train",
            files / "train.jsonl",
            "-o",
            tmp_path / "m.wm",
            "--costs",
            tmp_path / "c.csv",
            "--tune",
            "none",
        )
        assert done.returncode == 0
        assert "check that they are not exchanged" in done.stderr


class TestOffsets:
    @pytest.mark.parametrize("goal", ["f1", "f1-per-label", "proportional"])
    def test_scores_minus_thresholds_decide(self, run, here, files, tmp_path, goal):
        model = tmp_path / "m.wm"
        options = ("--thresholds", goal, "--tune", "none", "--json")
        done = run("train", files / "train.jsonl", "-o", model, *options)
        assert done.returncode == 0, done.stderr
        estimates = json.loads(done.stdout)["estimates"]
        limits = {row["label"]: row["threshold"] for row in estimates["labels"]}
        assert any(limits.values())
        assert "thresholds that were chosen without it" in estimates["notes"][0]
        rows = rows_of(here("predict", model, files / "test.jsonl", "--scores", "--top", "1"))
        for row in rows:
            above = {label: score - limits[label] for label, score in row["scores"].items()}
            first, second = sorted(above.values())[:-3:-1]
            if first - second > 1e-5:
                assert row["labels"] == [max(above, key=above.get)]
                assert row["top"][0]["label"] == row["labels"][0]
        measured = json.loads(here("evaluate", model, files / "test.jsonl", "--json").stdout)
        right = [
            row["labels"] == [LABELS[i]] for row, i in zip(rows, truth(files / "test.jsonl"), strict=True)
        ]
        assert measured["accuracy"] == pytest.approx(np.mean(right))
        assert [row["threshold"] for row in measured["measured"]["labels"]] == list(limits.values())
        assert f"by score minus threshold, chosen for {goal}" in here("inspect", model).stdout
        text = json.loads((files / "test.jsonl").read_text().splitlines()[0])["text"]
        explained = json.loads(here("explain", model, text, "--json").stdout)
        assert explained["label"] == rows[0]["labels"][0]
        assert explained["threshold"] == pytest.approx(limits[explained["label"]], abs=1e-6)
        np.testing.assert_allclose(TextClassifier.load(model).thresholds_, list(limits.values()), atol=1e-6)

    def test_goals_that_do_not_apply(self, here, tickets, tmp_path):
        assert len(TICKETS) == 18
        for goal in ("precision:0.9", "recall:0.9", "cost:1,5"):
            done = here("train", tickets, "-o", tmp_path / "m.wm", "--thresholds", goal)
            assert done.returncode == 2
            assert "f1, f1-per-label and proportional" in done.stderr
