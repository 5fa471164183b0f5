"""``widemargin compare``: the real command on small tasks."""

from __future__ import annotations

import csv
import json
import shlex

import pytest

from tests.cli.conftest import TICKETS, write_jsonl

FAST = ("--learners", "linear-svm,naive-bayes,perceptron", "--folds", "2")


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Enough tickets for folds: every ticket with each of four endings."""
    endings = ("", "today", "again please", "since monday")
    rows = [
        {**ticket, "id": f"{ticket['id']}-{k}", "text": f"{ticket['text']} {ending}"}
        for k, ending in enumerate(endings)
        for ticket in TICKETS
    ]
    return write_jsonl(tmp_path_factory.mktemp("compare") / "many.jsonl", rows)


def result(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def row(found, name):
    return next(each for each in found["rows"] if each["learner"] == name)


class TestTable:
    def test_rows_advice_and_a_command_that_works(self, run, many, tickets, tmp_path):
        done = run("compare", many, tickets, *FAST, "--quiet", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        heading, header, *rest = done.stdout.splitlines()
        commands = [line for line in rest if line.startswith("widemargin train ")]
        *rows, note, advice = rest[: -len(commands)]
        assert heading.startswith("3 of 3 learners, 3 labels: trained on 72 documents, measured on 18 test")
        assert header.split()[:4] == ["learner", "setting", "accuracy", "macro-F1"]
        assert {line.split()[0] for line in rows} == {"linear-svm", "naive-bayes", "perceptron"}
        assert rows[0].endswith("best")
        assert note.startswith("worse: significantly worse accuracy than the best (McNemar's test")
        assert advice.removeprefix("Use ").startswith(rows[0].split()[0])
        assert len(commands) == 1 + ("times as fast" in advice)
        for command in reversed(commands):  # the last one, of the best learner, is measured
            trained = run(*shlex.split(command)[1:], cwd=tmp_path)
            assert trained.returncode == 0, trained.stderr
        measured = result(run("evaluate", tmp_path / "model.wm", tickets, "--json", "-q"))
        shown = float(rows[0].replace("event_model=complement, ", "").split()[2])
        assert round(100 * measured["measured"]["accuracy"]["value"], 1) == shown

    @pytest.mark.parametrize("name", ["linear-svm", "naive-bayes", "balanced-winnow-plus", "kernel-svm"])
    def test_the_command_of_every_kind_of_setting(self, here, many, tickets, tmp_path, name):
        found = result(here("compare", many, tickets, "--learners", name, "--json", "-q"))
        words = shlex.split(found["command"])[1:]
        words[words.index("-o") + 1] = str(tmp_path / "m.wm")
        assert here(*words, "-q", "--estimate", "none").returncode == 0
        measured = result(here("evaluate", tmp_path / "m.wm", tickets, "--json", "-q"))
        assert measured["measured"]["accuracy"]["value"] == row(found, name)["accuracy"]["value"]

    def test_cross_validation_as_json(self, run, many):
        found = result(run("compare", many, *FAST, "--seed", "3", "--threads", "1", "--json"))
        assert found["test_documents"] is None
        assert (found["documents"], found["labels"], found["folds"]) == (72, 3, 2)
        assert found["task"] == "multiclass"
        assert found["best"] == found["rows"][0]["learner"]
        assert "--seed 3" in found["command"]
        for each in found["rows"]:
            assert each["status"] == "measured"
            assert each["accuracy"]["low"] <= each["accuracy"]["value"] <= each["accuracy"]["high"]
            assert each["train_seconds"] > 0
            assert each["documents_per_second"] > 0
            assert each["model_bytes"] > 0

    def test_threads_do_not_change_the_figures(self, here, many):
        def figures(threads):
            found = result(here("compare", many, *FAST, "--threads", threads, "--json", "-q"))
            return [
                (each["learner"], each["setting"], each["accuracy"], each["p_value"])
                for each in found["rows"]
            ]

        assert figures("1") == figures("2")

    def test_all_learners(self, here, many):
        found = result(here("compare", many, "--folds", "2", "--json", "-q"))
        status = {each["learner"]: each["status"] for each in found["rows"]}
        assert set(status.values()) == {"measured"}
        assert len(status) >= 14

    def test_label_sets(self, here, many):
        found = result(here("compare", many, *FAST, "--multilabel", "--json", "-q"))
        assert found["task"] == "multilabel"
        assert found["measure"] == "micro-F1"
        assert found["command"].endswith("--multilabel")
        assert all(each["micro_prbep"]["value"] > 0.5 for each in found["rows"])
        assert all(each["auc"]["value"] > 0.5 for each in found["rows"])
        how = ("--learners", "multiclass-svm,naive-bayes", "--multilabel", "-q", "--prbep")
        shown = here("compare", many, *how).stdout
        assert "micro-PRBEP" in shown
        assert "mean AUC" in shown
        assert "left out: does not learn label sets, only one label per document" in shown

    def test_vectors(self, here, tmp_path):
        lines = [
            f"{label} {1 if label > 0 else 2}:1 3:{i % 3}.5 {4 + i}:1" for i in range(20) for label in (1, -1)
        ]
        (tmp_path / "v.svm").write_text("\n".join(lines) + "\n")
        (tmp_path / "new.svm").write_text("1 1:1 99:1\n-1 2:1\n")
        found = result(
            here("compare", tmp_path / "v.svm", tmp_path / "new.svm", "--folds", "2", "--json", "-q")
        )
        assert row(found, "linear-svm")["accuracy"]["value"] == 1.0
        assert row(found, "profiles")["why"] == "learns from texts, not from vectors"


class TestOptions:
    def test_columns_and_formats(self, run, many, tmp_path):
        """What reading needs is repeated in the command."""
        rows = [json.loads(line) for line in many.read_text().splitlines()]
        with (tmp_path / "table.dat").open("w", newline="", encoding="latin-1") as file:
            writer = csv.writer(file, delimiter="\t")
            writer.writerow(["text", "body", "team"])
            for each in rows:
                writer.writerow(["trap", f"{each['text']} café", "|".join([*each["labels"], "all"])])
        options = ("--text", "body", "--label", "team", "--label-delimiter", "|", "--format", "tsv")
        options += ("--encoding", "latin-1", "--errors", "strict", "--max-document", "1MB")
        done = run("compare", tmp_path / "table.dat", *options, *FAST, "--json", cwd=tmp_path)
        found = result(done)
        assert found["labels"] == 4
        assert found["rows"][0]["micro_f1"]["value"] > 0.9
        words = shlex.split(found["command"])
        for option, value in zip(options[::2], options[1::2], strict=True):
            assert words[words.index(option) + 1] == value
        done = run(*words[1:], "--estimate", "none", "-q", cwd=tmp_path)
        assert done.returncode == 0, done.stderr

    def test_undecodable_bytes(self, here, many, tmp_path):
        (tmp_path / "bad.jsonl").write_bytes(many.read_bytes().replace(b"monday", b"mond\xffay"))
        utf8 = ("--encoding", "utf-8", "--errors")
        assert here("compare", tmp_path / "bad.jsonl", *FAST, *utf8, "replace").returncode == 0
        assert here("compare", tmp_path / "bad.jsonl", *FAST, *utf8, "strict").returncode == 65

    def test_terms(self, here, many, tmp_path):
        (tmp_path / "stop.txt").write_text("and\ntoday\nagain\nplease\nsince\nmonday\n")

        def size(*options):
            found = result(here("compare", many, "--learners", "naive-bayes", "--json", "-q", *options))
            return found["rows"][0]["model_bytes"], found["command"]

        usual = size()[0]
        for options in (
            ("--stop-words", str(tmp_path / "stop.txt")),
            ("--stop-words", "freewais"),
            ("--stemmer", "porter"),
            ("--min-df", "9"),
            ("--max-df", "0.2"),
        ):
            smaller, command = size(*options)
            assert smaller < usual
            assert shlex.join(options) in command
        same, command = size("--stop-words", "none", "--stemmer", "none")
        assert same == usual
        assert "--st" not in command

    def test_plot(self, run, many, tmp_path):
        done = run("compare", many, *FAST, "--plot", tmp_path / "plot.svg", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "plot.svg").read_text().startswith("<?xml")
        assert "Plot in" in done.stderr

    def test_budget(self, here, many):
        found = result(here("compare", many, "--budget", "0", "--json", "-q"))
        assert {each["status"] for each in found["rows"]} == {"not reached"}
        assert (found["best"], found["command"]) == (None, None)
        shown = here("compare", many, "--learners", "linear-svm", "--budget", "0", "-q").stdout
        assert shown.endswith("No learner could be measured.\n")
        assert result(here("compare", many, *FAST, "--budget", "500", "--json", "-q"))["best"]

    def test_help(self, here):
        shown = here("compare", "--help").stdout
        assert "--learners" in shown
        assert "--max-document" not in shown
        assert "--max-document" in here("compare", "--help-all").stdout

    def test_debug(self, here, many):
        done = here("compare", many, *FAST, "--debug", "-q")
        assert done.returncode == 0


class TestErrors:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--learners", "svm"), "--learners svm: there is no learner 'svm'. Choose from: linear-svm"),
            (("--learners", ","), "there is no learner named"),
            (("--plot", "x.gif"), "expected a name that ends in"),
            (("--folds", "1"), "--folds"),
            (("--budget", "-1"), "--budget"),
            (("--min-df", "often"), "--min-df often"),
        ],
    )
    def test_usage(self, here, many, options, message):
        done = here("compare", many, *options)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.split())

    def test_two_streams(self, here):
        done = here("compare", "-", "-")
        assert done.returncode == 2
        assert "cannot both be -" in done.stderr

    def test_bad_data(self, run, many, tmp_path):
        write_jsonl(tmp_path / "one.jsonl", [{"text": "a b", "labels": ["x"]}] * 4)
        write_jsonl(tmp_path / "none.jsonl", [{"text": "a b"}] * 4)
        (tmp_path / "broken.jsonl").write_text('{"text": "a", "labels": ["x"]}\n{broken\n')
        (tmp_path / "v.svm").write_text("1 1:1\n-1 2:1\n")
        write_jsonl(tmp_path / "sets.jsonl", [{"text": "invoice", "labels": ["billing", "network"]}])
        for arguments, message in (
            (["one.jsonl"], "one class"),
            (["none.jsonl"], "None of the 4 documents has a label"),
            (["broken.jsonl"], "line 2"),
            ([many, "v.svm"], "training documents are texts and the test documents vectors"),
            ([many, "none.jsonl"], "None of the 4 test documents has a label"),
            ([many, "sets.jsonl"], "have none or several labels"),
        ):
            done = run("compare", *arguments, cwd=tmp_path)
            assert done.returncode == 65, (arguments, done.stderr)
            assert message in done.stderr
        assert run("compare", "missing.jsonl", cwd=tmp_path).returncode == 66

    def test_no_learner_can_be_trained(self, here, tmp_path):
        (tmp_path / "v.svm").write_text("1 1:1 2:-3\n-1 1:2\n1 2:1\n-1 1:1\n")
        done = here("compare", tmp_path / "v.svm", "--learners", "naive-bayes", "--folds", "2")
        assert done.returncode == 65
        assert "failed: Negative values" in done.stdout
        assert "no learner could be trained" in done.stderr
