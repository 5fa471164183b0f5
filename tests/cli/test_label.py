"""``widemargin label``: a few labeled documents, many others, one file or two, good input and bad."""

from __future__ import annotations

import csv
import json
import random

import pytest

from tests.cli.conftest import write_jsonl
from widemargin import TextClassifier

WORDS = {
    "money": [
        "invoice",
        "refund",
        "charged",
        "amount",
        "card",
        "payment",
        "account",
        "bank",
        "transfer",
        "fee",
    ],
    "wires": ["wifi", "router", "cable", "vpn", "timeout", "signal", "modem", "antenna", "socket", "plug"],
    "trees": ["oak", "birch", "leaf", "bark", "root", "branch", "forest", "trunk", "seed", "moss"],
}
COMMON = ["please", "help", "since", "yesterday", "again", "with", "my", "the", "a", "of", "and"]


def documents(labels, each, seed=0):
    """Five words of the class and five that all have: neighbors share words, distant ones none."""
    rng = random.Random(seed)
    found = [
        {
            "id": f"{label}{i}",
            "text": " ".join(rng.sample(WORDS[label], 5) + rng.sample(COMMON, 5)),
            "labels": [label],
        }
        for label in labels
        for i in range(each)
    ]
    rng.shuffle(found)
    return found


def hidden(records):
    return [{"id": record["id"], "text": record["text"]} for record in records]


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A folder with four labeled documents of two classes, and forty others; and the truth about these."""
    folder = tmp_path_factory.mktemp("label")
    records = documents(["money", "wires"], 22)
    known = [r for name in ("money", "wires") for r in [r for r in records if r["labels"] == [name]][:2]]
    rest = [r for r in records if r not in known]
    write_jsonl(folder / "known.jsonl", known)
    write_jsonl(folder / "rest.jsonl", hidden(rest))
    write_jsonl(folder / "both.jsonl", [*hidden(rest), *known])
    write_jsonl(folder / "all.jsonl", records)
    return folder, {r["id"]: r["labels"] for r in rest}


class TestLabeling:
    def test_two_files(self, run, two, tmp_path):
        folder, truth = two
        out = tmp_path / "out.jsonl"
        done = run(
            "label", folder / "known.jsonl", folder / "rest.jsonl", "-o", out, "--positives", "wires=0.5"
        )
        assert done.returncode == 0, done.stderr
        rows = rows_of(out)
        assert [row["id"] for row in rows] == list(truth), "every document, in its order"
        assert {row["id"]: row["labels"] for row in rows} == truth
        assert all(set(row) == {"id", "labels", "score", "certainty"} for row in rows)
        assert all(0 <= row["certainty"] <= 1 for row in rows)
        assert "Labeled 40 documents from 4 labeled ones" in done.stdout
        assert "larm" in done.stdout, "what the alarm found"
        assert f"Wrote {out}." in done.stdout
        assert "rest.jsonl" in done.stderr, "what was guessed is said"

    def test_one_file(self, run, two, tmp_path):
        folder, truth = two
        done = run("label", folder / "both.jsonl", "-o", "-", "--positives", "wires=0.5", "-q")
        assert (done.returncode, done.stderr) == (0, "")
        assert {row["id"]: row["labels"] for row in map(json.loads, done.stdout.splitlines())} == truth

    def test_json_scores_text_and_next(self, run, two, tmp_path):
        folder, truth = two
        out = tmp_path / "out.jsonl"
        more = [
            "--scores",
            "--keep-text",
            "--next",
            "3",
            "--json",
            "--threads",
            "1",
            "--positives",
            "money=0.5",
        ]
        done = run("label", folder / "known.jsonl", folder / "rest.jsonl", "-o", out, *more)
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        assert (summary["documents"], summary["labeled"], summary["task"]) == (40, 4, "binary")
        assert sum(summary["given"].values()) == 40
        assert set(summary["alarm"]) == {"wires"}
        assert isinstance(summary["alarm"]["wires"]["sentence"], str)
        assert len(set(summary["next"])) == 3
        assert set(summary["next"]) <= set(truth)
        row = rows_of(out)[0]
        assert set(row["scores"]) == {"money", "wires"}
        assert row["scores"]["money"] == -row["scores"]["wires"]
        assert row["text"].split()

    def test_self_training(self, run, two, tmp_path):
        folder, truth = two
        out, model = tmp_path / "out.jsonl", tmp_path / "last.wm"
        words = ["--learner", "self-training", "--rounds", "3", "--keep", "0.8", "--unlabeled-weight", "0.4"]
        more = ["--C", "2", "--model", model, "--json", "--next", "2"]
        done = run("label", folder / "known.jsonl", folder / "rest.jsonl", "-o", out, *words, *more)
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        assert (summary["rounds"], summary["alarm"], len(summary["next"])) == (3, {}, 2)
        rows = rows_of(out)
        assert {row["id"]: row["labels"] for row in rows} == truth
        assert all(0 <= row["certainty"] <= 1 for row in rows)
        kept = TextClassifier.load(model)
        assert (type(kept.learner_).__name__, kept.learner_.C) == ("LinearSVM", 2.0)
        assert run("predict", model, folder / "rest.jsonl").returncode == 0
        assert "linear-svm C=2" in run("inspect", model).stdout
        done = run("label", folder / "known.jsonl", folder / "rest.jsonl", "-o", "-", *words)
        assert "no alarm for self-training" in done.stderr

    @pytest.mark.parametrize("learner", ["transductive-svm", "self-training"])
    def test_vectors_beside_words_unless_terms_are_chosen(self, here, two, tmp_path, learner):
        folder, _ = two
        for number, (words, blocks) in enumerate(
            (([], 2), (["--blocks", "words"], 1), (["--ngrams", "1-2"], None), (["--features", "ig:5"], None))
        ):
            model = tmp_path / f"{number}.wm"
            out = ["-o", tmp_path / "out.jsonl", "--model", model, "-q", "--learner", learner]
            done = here("label", folder / "known.jsonl", folder / "rest.jsonl", *out, *words)
            assert done.returncode == 0, done.stderr
            found = TextClassifier.load(model).vectorizer_.blocks
            assert (found and len(found)) == blocks

    def test_naive_bayes(self, run, two, tmp_path):
        folder, truth = two
        out, model = tmp_path / "out.jsonl", tmp_path / "bayes.wm"
        bayes = ["--learner", "naive-bayes", "--smoothing", "0.1", "--prior", "uniform"]
        more = ["--event-model", "bernoulli", "--unlabeled-weight", "0.5", "--model", model, "--json"]
        done = run("label", folder / "known.jsonl", folder / "rest.jsonl", "-o", out, *bayes, *more)
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        assert summary["turns"] > 0
        assert summary["alarm"] == {}
        rows = rows_of(out)
        assert {row["id"]: row["labels"] for row in rows} == truth
        assert all(0 <= row["certainty"] <= 1 for row in rows)
        kept = TextClassifier.load(model)
        expected = {"smoothing": 0.1, "prior": "uniform", "event_model": "bernoulli", "unlabeled_weight": 0.5}
        assert {name: kept.learner_.get_params()[name] for name in expected} == expected
        assert kept.vectorizer_.weighting == "txx", "counts"
        bayes[-1] = "documents"
        done = run("label", folder / "known.jsonl", folder / "rest.jsonl", "-o", "-", *bayes)
        assert "no alarm" in done.stderr

    def test_naive_bayes_of_label_sets(self, here, tmp_path):
        records = documents(["money", "wires"], 20)
        for record in records[::5]:
            record["text"] += " " + " ".join(WORDS["trees"])
            record["labels"] = [*record["labels"], "trees"]
        write_jsonl(tmp_path / "known.jsonl", records[:20])
        write_jsonl(tmp_path / "rest.jsonl", records[20:])
        out = tmp_path / "out.jsonl"
        words = ["--multilabel", "--learner", "naive-bayes", "--smoothing", "0.1"]
        done = here("label", tmp_path / "known.jsonl", tmp_path / "rest.jsonl", "-o", out, *words)
        assert done.returncode == 0, done.stderr
        assert [sorted(row["labels"]) for row in rows_of(out)] == [sorted(r["labels"]) for r in records[20:]]

    def test_classes_and_tables(self, here, tmp_path):
        records = documents(["money", "wires", "trees"], 15)
        known = [next(r for r in records if r["labels"] == [name]) for name in WORDS]
        known += [r for r in records if r not in known][:6]
        write_jsonl(tmp_path / "known.jsonl", known)
        rest = [r for r in records if r not in known]
        write_jsonl(tmp_path / "rest.jsonl", rest)
        thirds = [f"--positives={name}=0.333" for name in WORDS]
        out = tmp_path / "out.tsv"
        done = here("label", tmp_path / "known.jsonl", tmp_path / "rest.jsonl", "-o", out, *thirds)
        assert done.returncode == 0, done.stderr
        with out.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        assert list(rows[0]) == ["id", "labels", "score", "certainty"]
        right = sum(row["labels"] == r["labels"][0] for row, r in zip(rows, rest, strict=True))
        assert right >= 0.9 * len(rest)

    def test_label_sets(self, here, tmp_path):
        records = documents(["money", "wires"], 12)
        for record in records[::3]:
            record["labels"] = []
            record["text"] = "nothing of interest today " + record["text"][-10:]
        write_jsonl(tmp_path / "known.jsonl", records[:12])
        write_jsonl(tmp_path / "rest.jsonl", hidden(records[12:]))
        out = tmp_path / "out.jsonl"
        done = here("label", tmp_path / "known.jsonl", tmp_path / "rest.jsonl", "-o", out, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["task"] == "multilabel"
        assert set(json.loads(done.stdout)["alarm"]) == {"money", "wires"}
        assert all(isinstance(row["labels"], list) for row in rows_of(out))

    def test_vectors(self, here, tmp_path):
        known, rest = tmp_path / "known.svm", tmp_path / "rest.svm"
        known.write_text("1 1:1 5:1\n-1 2:1 5:1\n")
        rest.write_text("0 1:1 3:1\n0 1:1 4:1\n0 2:1 4:1\n0 2:1 6:1\n")
        out = tmp_path / "out.jsonl"
        done = here("label", known, rest, "-o", out, "--positives", "1=0.5")
        assert done.returncode == 0, done.stderr
        assert [row["labels"] for row in rows_of(out)] == [["1"], ["1"], ["-1"], ["-1"]]

    def test_the_threads_do_not_matter(self, here, two, tmp_path):
        folder, _ = two
        outputs = []
        for threads in ("1", "2"):
            out = tmp_path / f"{threads}.jsonl"
            here("label", folder / "both.jsonl", "-o", out, "--threads", threads, "-q")
            outputs.append(out.read_bytes())
        assert outputs[0] == outputs[1]


class TestModel:
    def test_the_rule_is_kept_for_documents_to_come(self, run, two, tmp_path):
        folder, truth = two
        out, model = tmp_path / "out.jsonl", tmp_path / "labels.wm"
        model.write_text("not a model")
        both = [folder / "known.jsonl", folder / "rest.jsonl", "-o", out, "--positives", "wires=0.5"]
        refused = run("label", *both, "--model", model)
        assert refused.returncode != 0
        assert not out.exists(), "before any work"
        done = run("label", *both, "--model", model, "--force")
        assert done.returncode == 0, done.stderr
        assert f"Wrote {model} (" in done.stdout
        predicted = run("predict", model, folder / "rest.jsonl", "-q")
        assert predicted.returncode == 0, predicted.stderr
        assert {row["id"]: row["labels"] for row in map(json.loads, predicted.stdout.splitlines())} == truth
        measured = run("evaluate", model, folder / "all.jsonl", "--json", "-q")
        assert json.loads(measured.stdout)["measured"]["accuracy"]["value"] == 1
        explained = run("explain", model, "the invoice and the refund", "--json")
        assert json.loads(explained.stdout)["label"] == "money"
        inspected = json.loads(run("inspect", model, "--json").stdout)
        assert inspected["learner"]["name"] == "transductive-svm"
        assert inspected["summary"]["documents"] == 44
        assert "transductive-svm C=20" in run("inspect", model).stdout

    def test_a_rule_of_vectors(self, here, tmp_path):
        known, rest = tmp_path / "known.svm", tmp_path / "rest.svm"
        known.write_text("1 1:1 5:1\n-1 2:1 5:1\n")
        rest.write_text("0 1:1 3:1\n0 1:1 4:1\n0 2:1 4:1\n0 2:1 6:1\n")
        out, model = tmp_path / "out.jsonl", tmp_path / "labels.wm"
        done = here("label", known, rest, "-o", out, "--positives", "1=0.5", "--model", model, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["bytes"] == model.stat().st_size
        predicted = here("predict", model, rest, "-q")
        rows = [json.loads(line) for line in predicted.stdout.splitlines()]
        assert [row["labels"] for row in rows] == [row["labels"] for row in rows_of(out)]

    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            (("--units", "chars", "--ngrams", "2-3", "--max-features", "60"), {"units": "chars"}),
            (("--units", "chars_in_words", "--ngrams", "4"), {"units": "chars_in_words"}),
            (("--units", "bytes", "--ngrams", "1-3"), {"units": "bytes"}),
            (("--tokens", "unicode", "--max-df", "0.9"), {"tokens": "unicode", "max_df": 0.9}),
            (("--min-df", "2", "--min-count", "3"), {"min_df": 2, "min_count": 3}),
            (
                ("--units", "words", "--tokens", "alnum", "--hashed", "512"),
                {"units": "words", "n_hashed": 512},
            ),
        ],
    )
    def test_it_takes_the_text_options_of_train(self, here, two, tmp_path, words, expected):
        folder, truth = two
        out, model = tmp_path / "out.jsonl", tmp_path / "labels.wm"
        done = here("label", folder / "both.jsonl", "-o", out, "--model", model, *words)
        assert done.returncode == 0, done.stderr
        assert len(rows_of(out)) == len(truth)
        found = json.loads(here("inspect", model, "--json").stdout)
        assert found["vectorizer"].items() >= expected.items()
        if "--max-features" in words:
            assert found["summary"]["terms"] == 60

    def test_terms_are_selected_by_labeled_documents(self, here, two, tmp_path):
        folder, truth = two
        model = tmp_path / "labels.wm"
        options = ("--features", "chi2:12", "--next", "2", "--json")
        done = here("label", folder / "both.jsonl", "-o", tmp_path / "out.jsonl", "--model", model, *options)
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        assert summary["terms"] == 12
        assert set(summary["next"]) <= set(truth)
        found = json.loads(here("inspect", model, "--features", "--json").stdout)
        assert len(found["features"]) == 12


class TestAlarm:
    @pytest.fixture(scope="class")
    @classmethod
    def doubtful(cls, tmp_path_factory):
        """Marked documents that are there twice, once with each label, cannot look like the others."""
        folder = tmp_path_factory.mktemp("doubtful")
        records = documents(["money", "wires"], 33)
        twice = [
            {**r, "id": r["id"] + name, "labels": [name]} for r in records[:6] for name in ("money", "wires")
        ]
        clear = [next(r for r in records[6:] if r["labels"] == [name]) for name in ("money", "wires")]
        write_jsonl(folder / "known.jsonl", [*twice, *clear])
        write_jsonl(folder / "rest.jsonl", hidden([r for r in records[6:] if r not in clear]))
        return folder

    def test_it_is_said(self, run, doubtful, tmp_path):
        out = tmp_path / "out.jsonl"
        done = run("label", doubtful / "known.jsonl", doubtful / "rest.jsonl", "-o", out)
        assert done.returncode == 0, done.stderr
        assert "Alarm for wires:" in done.stdout
        assert "do not trust" in done.stdout
        assert "warning" not in done.stderr, "once is enough"
        assert len(rows_of(out)) == 58

    def test_a_collection_in_another_language(self, here, doubtful, tmp_path):
        text = "Der Preis für Weizen ist im letzten Jahr gestiegen und fällt nun wieder"
        rest = write_jsonl(tmp_path / "rest.jsonl", [{"id": str(n), "text": text} for n in range(9)])
        done = here("label", doubtful / "known.jsonl", rest, "-o", tmp_path / "x.jsonl")
        assert done.returncode == 0, done.stderr
        assert "Only 0 % of the words of unlabeled documents occur in labeled documents" in done.stderr
        assert len(rows_of(tmp_path / "x.jsonl")) == 9

    def test_it_is_said_even_when_nothing_else_is(self, here, doubtful, tmp_path):
        done = here(
            "label", doubtful / "known.jsonl", doubtful / "rest.jsonl", "-o", tmp_path / "x.jsonl", "-q"
        )
        assert (done.returncode, done.stdout) == (0, "")
        assert "do not trust" in done.stderr

    def test_it_can_stop_the_run(self, here, doubtful, two, tmp_path):
        out = tmp_path / "out.jsonl"
        options = ("--on-alarm", "error", "--positives", "wires=0.5")
        done = here("label", two[0] / "both.jsonl", "-o", tmp_path / "calm.jsonl", *options)
        assert done.returncode == 0, "without an alarm nothing stops"
        done = here(
            "label", doubtful / "known.jsonl", doubtful / "rest.jsonl", "-o", out, "--on-alarm", "error"
        )
        assert done.returncode == 65
        assert "do not trust" in done.stderr
        assert not out.exists()

    def test_it_can_call_the_inductive_rule(self, here, doubtful, tmp_path):
        """The scores are then those of the marked documents alone."""
        both = [doubtful / "known.jsonl", doubtful / "rest.jsonl", "--json"]
        guarded = here("label", *both, "-o", tmp_path / "a.jsonl", "--on-alarm", "inductive")
        assert json.loads(guarded.stdout)["fell_back"] == ["wires"]
        inductive = here(
            "label", *both, "-o", tmp_path / "b.jsonl", "--C-unlabeled", "0", "--on-alarm", "ignore"
        )
        assert inductive.returncode == 0, inductive.stderr
        for a, b in zip(rows_of(tmp_path / "a.jsonl"), rows_of(tmp_path / "b.jsonl"), strict=True):
            assert a["labels"] == b["labels"]
            assert a["score"] == pytest.approx(b["score"], abs=2e-3)
        scores = [row["score"] for row in rows_of(tmp_path / "a.jsonl")]
        assert max(scores) - min(scores) > 0.1, "not all alike"


class TestSimulation:
    def test_table_and_plot(self, run, two, tmp_path):
        pytest.importorskip("matplotlib")
        folder, _ = two
        plot = tmp_path / "curve.png"
        done = run("label", folder / "all.jsonl", "--simulate", "8", "--repeat", "2", "--plot", plot)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert [line.split()[0] for line in lines[1:4]] == ["2", "4", "8"]
        assert "Means over 2 random draws from 44 documents" in done.stdout
        assert "4 labels, draw 2 of 2" in done.stderr
        assert plot.read_bytes()[:4] == b"\x89PNG"

    @pytest.mark.parametrize("learner", ["transductive-svm", "self-training", "naive-bayes"])
    def test_json(self, here, two, learner):
        folder, _ = two
        words = ["--simulate", "4", "--repeat", "2", "--json", "-q", "--learner", learner]
        done = here("label", folder / "all.jsonl", *words)
        assert (done.returncode, done.stderr) == (0, "")
        found = json.loads(done.stdout)
        assert (found["documents"], found["repeats"]) == (44, 2)
        assert [point["labels"] for point in found["curve"]] == [2, 4]
        for point in found["curve"]:
            assert 0 <= point["inductive_right"] <= 1
            assert 0 <= point["transductive_break_even"] <= 1
            assert 0 <= point["draws_with_alarm"] <= 2


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "code", "message"),
        [
            (["known.jsonl", "rest.jsonl"], 2, "Add -o OUT.jsonl"),
            (["-", "-", "-o", "x.jsonl"], 2, "cannot both be -"),
            (["known.jsonl", "rest.jsonl", "-o", "x.pdf"], 2, ".jsonl, .csv or .tsv"),
            (["known.jsonl", "rest.jsonl", "-o", "none/x.jsonl"], 66, "no folder"),
            (["nowhere.jsonl", "rest.jsonl", "-o", "x.jsonl"], 66, "nowhere.jsonl"),
            (["known.jsonl", "-o", "x.jsonl"], 65, "all 4 documents have labels"),
            (["rest.jsonl", "-o", "x.jsonl"], 65, "none of 40 documents has a label"),
            (["one.jsonl", "rest.jsonl", "-o", "x.jsonl"], 65, "one.jsonl: All 3 examples are of one class"),
            (["known.jsonl", "vectors.svm", "-o", "x.jsonl"], 65, "same kind"),
            (["known.jsonl", "rest.jsonl", "-o", "x.jsonl", "--positives", "1.5"], 2, "between 0 and 1"),
            (["known.jsonl", "rest.jsonl", "-o", "x.jsonl", "--positives", "half"], 2, "between 0 and 1"),
            (["known.jsonl", "rest.jsonl", "-o", "x.jsonl", "--positives", "x=0.5"], 2, "no label 'x'"),
            (
                ["known.jsonl", "rest.jsonl", "-o", "x.jsonl", "--plot", "x.png"],
                2,
                "--plot needs --simulate N",
            ),
            (["all.jsonl", "-o", "x.jsonl", "--simulate", "4"], 2, "takes only LABELED"),
            (["all.jsonl", "--model", "x.wm", "--simulate", "4"], 2, "takes only LABELED"),
            (["all.jsonl", "--features", "ig:5", "--simulate", "4"], 2, "does not apply to --simulate"),
            (["known.jsonl", "rest.jsonl", "-o", "x.jsonl", "--model", "x.jsonl"], 2, "Name two files"),
            (["known.jsonl", "rest.jsonl", "-o", "x.jsonl", "--model", "no/x.wm"], 66, "no folder"),
            (["both.jsonl", "-o", "x.jsonl", "--smoothing", "2"], 2, "It is for --learner naive-bayes"),
            (
                ["both.jsonl", "-o", "x.jsonl", "--learner", "naive-bayes", "--C", "2"],
                2,
                "It is for --learner transductive-svm",
            ),
            (["both.jsonl", "--simulate", "4"], 65, "40 documents of 44 have no label"),
            (["all.jsonl", "--simulate", "44"], 65, "leave none to test on"),
        ],
    )
    def test_one_line_and_an_exit_code(self, here, two, arguments, code, message):
        folder, _ = two
        money = documents(["money"], 3)
        write_jsonl(folder / "one.jsonl", money)
        (folder / "vectors.svm").write_text("0 1:1\n")
        before = sorted(path.name for path in folder.iterdir())
        done = here("label", *arguments, cwd=folder)
        assert done.returncode == code, done.stderr
        last = done.stderr.splitlines()[-1]
        assert last.startswith("error: ")
        assert message in last
        assert sorted(path.name for path in folder.iterdir()) == before, "nothing is written"

    def test_classes_need_a_label_for_their_fraction(self, here, tmp_path):
        records = documents(["money", "wires", "trees"], 4)
        write_jsonl(tmp_path / "all.jsonl", [*records, *hidden(records[:4])])
        for given, message in (
            (["0.3"], "Write LABEL=FRACTION"),
            (["trees=0.3"], "no fraction for money, wires"),
            (["trees=0.3", "money=0.3", "wires=0.9"], "add up to 1.50"),
        ):
            options = [f"--positives={fraction}" for fraction in given]
            done = here("label", tmp_path / "all.jsonl", "-o", tmp_path / "x.jsonl", *options)
            assert done.returncode == 2
            assert message in done.stderr
