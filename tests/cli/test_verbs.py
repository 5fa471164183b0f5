"""Each verb on good input: what it prints, what it writes."""

from __future__ import annotations

import csv
import io
import json
import lzma
import re
import select
import subprocess
import tarfile
import time
import zipfile

import pytest

from tests.cli.conftest import COMMAND, TICKETS, environment, write_jsonl
from tests.web import answering


class TestTrain:
    def test_summary(self, run, tickets, tmp_path):
        done = run("train", tickets, "-o", tmp_path / "m.wm", "--tune", "none")
        assert done.returncode == 0
        assert "Learned 3 classes from 18 documents and" in done.stdout
        for stage in ("read", "vectorize", "learn", "save"):
            assert f"{stage} 0." in done.stdout
        assert f"Wrote {tmp_path / 'm.wm'} (" in done.stdout
        assert "% of the optimum" in done.stdout
        assert "tickets.jsonl" in done.stderr, "what was guessed is said"

    def test_quiet(self, run, tickets, tmp_path):
        done = run("train", tickets, "-o", tmp_path / "m.wm", "--quiet")
        assert (done.returncode, done.stderr) == (0, "")
        assert re.fullmatch(r"\S+m\.wm: accuracy [\d.]+ % \(.*\) estimated on 18 documents\n", done.stdout)
        assert zipfile.is_zipfile(tmp_path / "m.wm")

    def test_json_and_options(self, run, here, tmp_path):
        table = tmp_path / "tickets.csv"
        with table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["number", "body", "team", "other"])
            writer.writerows([t["id"], t["text"], ";".join([*t["labels"], "all"]), "x"] for t in TICKETS)
        columns = ["--text", "body", "--label", "team", "--id", "number", "--label-delimiter", ";"]
        words = ["--ngrams", "1-2", "--min-df", "2", "--weighting", "ltc", "--tokens", "unicode"]
        words += ["--stemmer", "porter", "--stop-words", "freewais", "--idf-power", "1"]
        learning = ["--C", "10", "--loss", "squared_hinge", "--bias", "none", "--tol", "0.01"]
        learning += ["--class-weight", "balanced", "--threads", "1"]
        done = run("train", table, "-o", tmp_path / "m.wm", *columns, *words, *learning, "--json")
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        assert summary["task"] == "multilabel"
        assert (summary["documents"], summary["labels"], summary["unlabeled"]) == (18, 4, 0)
        assert summary["bytes"] == (tmp_path / "m.wm").stat().st_size
        assert set(summary["seconds"]) == {"read", "vectorize", "learn", "estimate", "save"}, "all is fixed"
        seen = json.loads(here("inspect", tmp_path / "m.wm", "--json").stdout)
        settings = json.dumps([seen["vectorizer"], seen["learner"]])
        for setting in (
            '"weighting": "ltc"',
            '"C": 10.0',
            '"squared_hinge"',
            '"balanced"',
            '"porter"',
            '"unicode"',
        ):
            assert setting in settings

    def test_same_file_whatever_the_threads(self, here, tickets, model, tmp_path):
        here("train", tickets, "-o", tmp_path / "m.wm", "--threads", "1", "--tune", "none")
        assert (tmp_path / "m.wm").read_bytes() == model.read_bytes()

    def test_stdin_and_multilabel(self, run, tickets, tmp_path):
        done = run(
            "train", "-", "-o", tmp_path / "m.wm", "--multilabel", "--json", stdin=tickets.read_bytes()
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["task"] == "multilabel"

    def test_vectors(self, run, here, tmp_path):
        data = tmp_path / "data.svm"
        data.write_text("1 1:1 3:0.5\n-1 2:1 3:0.5\n1 1:0.9\n-1 2:0.8\n0 1:1\n")
        done = run("train", data, "-o", tmp_path / "m.wm")
        assert done.returncode == 0, done.stderr
        assert "two classes from 4 documents and 3 terms" in done.stdout
        assert "warning: 1 of 5 documents have no label and are ignored in training." in done.stderr
        predicted = here("predict", tmp_path / "m.wm", data)
        assert [json.loads(line)["labels"] for line in predicted.stdout.splitlines()] == [
            ["1"],
            ["-1"],
            ["1"],
            ["-1"],
            ["1"],
        ]
        evaluated = here("evaluate", tmp_path / "m.wm", data, "--json")
        assert json.loads(evaluated.stdout)["accuracy"] == 1.0


class TestPredict:
    def test_ids_and_order(self, run, model, tickets):
        done = run("predict", model, tickets)
        assert done.returncode == 0
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert rows == [{"id": t["id"], "labels": t["labels"]} for t in TICKETS]

    def test_stdin_scores_top_and_text(self, run, model):
        line = json.dumps({"id": "ä", "text": "my invoice \ud83d\ude00"})
        done = run("predict", model, "-", "--scores", "--top", "2", "--keep-text", "-q", stdin=line)
        row = json.loads(done.stdout)
        assert row["id"] == "ä"
        assert row["text"] == "my invoice \U0001f600"
        assert set(row["scores"]) == {"billing", "hardware", "network"}
        assert row["top"][0]["label"] == "billing" == row["labels"][0]
        assert row["top"][0]["score"] == max(row["scores"].values())
        assert len(row["top"]) == 2
        assert done.stderr == ""

    def test_answers_before_the_input_ends(self, model):
        """Two documents half a second apart, from somebody who waits for the answer."""
        command = [*COMMAND, "predict", str(model), "-", "--format", "jsonl", "-q"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for number in (1, 2):
                process.stdin.write(b'{"id": "%d", "text": "my invoice"}\n' % number)
                process.stdin.flush()
                time.sleep(0.6)
            # The clock runs from the first document; the next one to come shows that it has run out.
            for number in range(3, 60):
                process.stdin.write(b'{"id": "%d", "text": "my invoice"}\n' % number)
                process.stdin.flush()
                if select.select([process.stdout], [], [], 0.5)[0]:
                    break
            assert json.loads(process.stdout.readline()) == {"id": "1", "labels": ["billing"]}
            process.stdin.close()
            process.stdout.read()
        assert process.returncode == 0

    def test_json_for_a_terminal_that_is_not_unicode(self, run, model):
        done = run("explain", model, "invoice für mich", "--json", PYTHONIOENCODING="ascii")
        assert done.stdout.isascii()
        assert json.loads(done.stdout)["label"] == "billing"

    @pytest.mark.parametrize(("suffix", "delimiter"), [("csv", ","), ("tsv", "\t")])
    def test_table(self, here, model, tickets, tmp_path, suffix, delimiter):
        out = tmp_path / f"out.{suffix}"
        done = here("predict", model, tickets, "-o", out, "--scores")
        assert (done.returncode, done.stdout) == (0, "")
        assert "Labeled 18 documents" in done.stderr
        with out.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter=delimiter))
        assert [(row["id"], row["labels"]) for row in rows] == [(t["id"], t["labels"][0]) for t in TICKETS]
        assert float(rows[0]["score billing"]) > float(rows[0]["score network"])

    def test_file_and_json(self, here, model, tickets, tmp_path):
        out = tmp_path / "out.jsonl"
        done = here("predict", model, tickets, "-o", out, "--json", "-q")
        assert json.loads(done.stdout) | {"seconds": 0} == {"output": str(out), "documents": 18, "seconds": 0}
        assert len(out.read_text().splitlines()) == 18
        assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]

    def test_other_formats(self, here, model, tickets, tmp_path):
        done = here("predict", model, tickets, "-o", tmp_path / "out.xlsx")
        assert done.returncode == 2
        assert "predictions are written as .jsonl, .csv or .tsv" in done.stderr

    def test_vectors_for_a_model_of_texts(self, here, model, tmp_path):
        (tmp_path / "data.svm").write_text("1 1:1\n")
        done = here("predict", model, tmp_path / "data.svm")
        assert done.returncode == 65
        assert "holds vectors, but the model was trained on texts" in done.stderr


class TestEvaluate:
    def test_table(self, run, model, tickets):
        done = run("evaluate", model, tickets)
        assert done.returncode == 0
        lines = done.stdout.splitlines()
        assert lines[0] == "Measured on 18 documents; 95 % intervals in brackets."
        names = ["label", "examples", "precision", "recall", "F1", "estimated:", "F1"]
        assert lines[1].split() == names
        (billing,) = (line.split() for line in lines if line.startswith("billing"))
        assert billing[:5] == ["billing", "6", "100.0", "100.0", "100.0"]
        low, high = billing[5].strip("()").split("-")
        assert int(low) < 90 < int(high) == 100, "six documents prove little"
        expected = "100.0 % of 18 documents right (81.5-100.0); estimated in training: "
        assert any(line.startswith(expected) for line in lines)
        assert "All 18 documents of the data are training documents" in lines[-1]

    def test_break_even_points_where_they_are_asked_for(self, here, model, tickets):
        assert "PRBEP" not in here("evaluate", model, tickets, "-q").stdout
        assert "PRBEP" in here("evaluate", model, tickets, "-q", "--prbep").stdout.splitlines()[1]

    def test_two_classes_have_an_area(self, here, tmp_path):
        two = [record for record in TICKETS if record["labels"] != ["billing"]]
        data = write_jsonl(tmp_path / "two.jsonl", two)
        done = here("train", data, "-o", tmp_path / "two.wm", "--tune", "none", "--weighting", "tfidf")
        assert "AUC" in done.stdout
        shown = here("evaluate", tmp_path / "two.wm", data, "-q").stdout
        assert "AUC" in shown.splitlines()[1]
        assert "; AUC 1.000 (" in shown
        found = json.loads(here("evaluate", tmp_path / "two.wm", data, "-q", "--json").stdout)
        assert found["measured"]["auc"]["value"] == 1
        assert found["macro"]["auc"] == 1

    def test_json_with_unknown_and_missing_labels(self, here, model, tmp_path):
        data = write_jsonl(
            tmp_path / "data.jsonl",
            [
                *TICKETS,
                {"id": "x", "text": "coffee is cold", "labels": ["kitchen"]},
                {"id": "y", "text": "wifi drops"},
            ],
        )
        done = here("evaluate", model, data, "--json", "-q")
        assert done.returncode == 0
        result = json.loads(done.stdout)
        assert result["n"] == 19
        assert result["accuracy"] == pytest.approx(18 / 19)
        assert "warning: left out 1 document without a label." in done.stderr
        assert "warning: the data has 1 label that the model does not know: kitchen." in done.stderr

    def test_several_labels_for_a_model_of_one(self, here, model, tmp_path):
        data = write_jsonl(tmp_path / "d.jsonl", [{"text": "wifi", "labels": ["network", "billing"]}])
        done = here("evaluate", model, data)
        assert done.returncode == 65
        assert "Train with --multilabel" in done.stderr

    def test_nothing_labeled(self, here, model, tmp_path):
        data = write_jsonl(tmp_path / "d.jsonl", [{"text": "wifi"}])
        done = here("evaluate", model, data)
        assert done.returncode == 65
        assert "None of the 1 documents has a label" in done.stderr


class TestInspect:
    def test_text(self, run, model):
        done = run("inspect", model, "--label", "billing", "--terms", "3")
        assert done.returncode == 0
        for expected in (
            "18 documents",
            "multiclass",
            "3: billing, hardware, network",
            "weighting=ltc",
            "C=1.0",
        ):
            assert expected in done.stdout
        assert "hardware  " not in done.stdout.split("terms for it")[1]

    def test_json(self, here, model):
        found = json.loads(here("inspect", model, "--json", "--terms", "2").stdout)
        assert found["summary"]["documents"] == 18
        assert found["labels"] == ["billing", "hardware", "network"]
        assert len(found["terms"]["network"]["positive"]) == 2

    def test_unknown_label(self, here, model):
        done = here("inspect", model, "--label", "kitchen")
        assert done.returncode == 2
        assert "no label 'kitchen'. Its labels are billing, hardware, network" in done.stderr


class TestExplain:
    def test_text(self, run, model):
        done = run("explain", model, "My invoice [bold] and the wifi")
        assert done.returncode == 0
        assert done.stdout.startswith("billing: score ")
        assert "My invoice [bold] and the wifi" in done.stdout
        assert "(bias)" in done.stdout

    def test_only_some_terms(self, run, model):
        text = "refund for the wifi and the amount is wrong"
        tables = [
            run("explain", model, text, "--terms", number).stdout.partition("contribution\n")[2].splitlines()
            for number in ("2", "3")
        ]
        assert [len(table) - 3 for table in tables] == [2, 3], "less the others, the bias and the sum"
        assert tables[0][:2] == tables[1][:2], "the largest contributions first"

    def test_json(self, run, model):
        text = "Ä refund, for the wifi"
        found = json.loads(run("explain", model, "-", "--label", "network", "--json", stdin=text).stdout)
        assert found["label"] == "network"
        total = found["bias"] + sum(part["value"] for part in found["contributions"])
        assert total == pytest.approx(found["score"], abs=1e-5)
        assert [text[p["start"] : p["end"]] for p in found["contributions"]] == ["refund", "the", "wifi"]

    def test_file(self, here, model, tmp_path):
        (tmp_path / "t.txt").write_text("printer jam", encoding="utf-8")
        done = here("explain", model, "--file", tmp_path / "t.txt")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("hardware: score ")
        (tmp_path / "t.txt").write_bytes(b"caf\xe9")
        done = here("explain", model, "--file", tmp_path / "t.txt")
        assert done.returncode == 65
        assert "byte 3: not UTF-8" in done.stderr
        assert here("explain", model, "--file", tmp_path / "none.txt").returncode == 66


class TestCorpus:
    def test_list(self, here):
        found = json.loads(here("corpus", "list", "--json").stdout)
        assert "reuters21578" in {corpus["name"] for corpus in found}
        shown = here("corpus", "list", "--quiet", "--debug")
        assert (shown.returncode, shown.stderr) == (0, "")
        assert "reuters21578" in shown.stdout

    def test_corpus_that_is_not_here(self, run, tmp_path):
        done = run(
            "corpus",
            "export",
            "reuters21578",
            "-o",
            tmp_path / "out",
            WIDEMARGIN_DATA=str(tmp_path),
            XDG_CACHE_HOME=str(tmp_path),
            HOME=str(tmp_path),
        )
        assert done.returncode == 66
        assert "widemargin corpus fetch reuters21578" in done.stderr
        assert not (tmp_path / "out").exists()

    def test_fetch_without_a_network(self, run, tmp_path):
        nobody = "http://127.0.0.1:9"  # the port where everything is discarded, and nothing listens
        nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), nobody)
        home = {name: str(tmp_path) for name in ("WIDEMARGIN_DATA", "XDG_CACHE_HOME", "HOME")}
        done = run("corpus", "fetch", "webkb", **nowhere, **home, no_proxy="")
        assert done.returncode == 74
        assert "could not be downloaded" in done.stderr
        assert "download it yourself from https://www.cs.cmu.edu" in done.stderr
        assert done.stdout == ""

    def test_fetch_in_one_step(self, run, tmp_path):
        """A proxy on this machine answers for the collections' homes."""
        ohsumed = "http://disi.unitn.it/moschitti/corpora/ohsumed-first-20000-docs.tar.gz"
        files = {f"ohsumed-first-20000-docs/training/C0{n % 7}/{n:07}": f"case {n}" for n in range(13_929)}
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w:gz", compresslevel=1) as tar:
            for name, text in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(text)
                tar.addfile(member, io.BytesIO(text.encode()))
        home = {name: str(tmp_path) for name in ("WIDEMARGIN_DATA", "XDG_CACHE_HOME", "HOME")}
        with answering({ohsumed: archive.getvalue()}) as proxy:
            through = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), proxy)
            done = run("corpus", "fetch", "ohsumed", "--json", **through, **home, no_proxy="")
            gone = run("corpus", "fetch", "reuters21578", **through, **home, no_proxy="")
        assert done.returncode == 0, done.stderr
        (file,) = json.loads(done.stdout)["files"]
        with lzma.open(file, "rt", encoding="utf-8") as found:
            assert sum(1 for _ in found) == 13_929
        assert (gone.returncode, gone.stdout) == (74, "")
        assert "daviddlewis.com" in gone.stderr
        assert "404" in gone.stderr

    def test_fetch_from_an_archive_and_export(self, run, tmp_path):
        """An archive of the right size with messages of our own: no digest of the real one is known."""
        home = {name: str(tmp_path / "home") for name in ("WIDEMARGIN_DATA", "XDG_CACHE_HOME", "HOME")}
        archive, out = tmp_path / "sms.zip", tmp_path / "out"
        lines = [f"{'spam' if n % 7 == 0 else 'ham'}\tmessage {n}\n" for n in range(5574)]
        self.zipped(archive, lines[:-1])
        fetch = ("corpus", "fetch", "sms-spam", "--archive", archive, "--quiet")
        short = run(*fetch, **home)
        assert (short.returncode, short.stdout) == (65, "")
        assert "the archive has 5,573 documents where the collection has 5,574" in short.stderr
        self.zipped(archive, lines)
        done = run(*fetch, "--json", "--debug", **home)
        assert done.returncode == 0, done.stderr
        (file,) = json.loads(done.stdout)["files"]
        assert file.startswith(str(tmp_path / "home"))
        done = run("corpus", "export", "sms-spam", "-o", out, "--quiet", "--debug", **home)
        assert done.returncode == 0, done.stderr
        with (out / "all.jsonl").open(encoding="utf-8") as exported:
            rows = [json.loads(line) for line in exported]
        assert len(rows) == 5574
        assert rows[7] == {"id": rows[7]["id"], "text": "message 7", "labels": ["spam"]}

    @staticmethod
    def zipped(path, lines):
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("SMSSpamCollection", "".join(lines))

    def test_export_of_a_split(self, run, tmp_path):
        """The two splits of Ohsumed put the document number 9 on different sides."""
        records = [
            {"id": "9", "split": "test", "labels": ["C01"], "text": "first half"},
            {"id": "10001", "split": "test", "labels": ["C02"], "text": "second half"},
            {"id": "10002", "split": "train", "labels": ["C02"], "text": "second half"},
        ]
        path = tmp_path / "data" / "ohsumed" / "ohsumed-first-20000-docs.jsonl.xz"
        path.parent.mkdir(parents=True)
        path.write_bytes(lzma.compress("".join(json.dumps(record) + "\n" for record in records).encode()))
        exported = {}
        for split in ("distribution", "by-id", "all", "modapte"):
            out = tmp_path / split
            done = run(
                "corpus", "export", "ohsumed", "--split", split, "-o", out, "--json",
                WIDEMARGIN_DATA=str(tmp_path / "data"),
            )  # fmt: skip
            if split == "modapte":
                assert done.returncode == 2
                assert "no split 'modapte'. Choose one of distribution, by-id, all" in done.stderr
                continue
            assert done.returncode == 0, done.stderr
            exported[split] = {
                file.name: [json.loads(line)["id"] for line in file.read_text("utf-8").splitlines()]
                for file in out.iterdir()
            }
        assert exported == {
            "distribution": {"train.jsonl": ["10002"], "test.jsonl": ["9", "10001"]},
            "by-id": {"train.jsonl": ["9"], "test.jsonl": ["10001", "10002"]},
            "all": {"all.jsonl": ["9", "10001", "10002"]},
        }

    @pytest.mark.needs_corpus("ohsumed")
    def test_export(self, here, tmp_path):
        done = here("corpus", "export", "ohsumed", "-o", tmp_path, "--json")
        assert done.returncode == 0, done.stderr
        expected = {str(tmp_path / "train.jsonl"): 6286, str(tmp_path / "test.jsonl"): 7643}
        assert json.loads(done.stdout)["files"] == expected
        with open(tmp_path / "train.jsonl", encoding="utf-8") as file:
            first = json.loads(file.readline())
        assert set(first) == {"id", "text", "labels"}


class TestPapers:
    def test_list(self, run, here):
        assert "joachims-6.7" in {
            paper["name"] for paper in json.loads(run("papers", "list", "--json").stdout)
        }
        quiet = here("papers", "list", "--quiet")
        assert (quiet.returncode, quiet.stderr) == (0, "")
        assert "joachims-6.7" in quiet.stdout

    @pytest.mark.slow
    @pytest.mark.needs_corpus("reuters21578")
    def test_run(self, run):
        done = run("papers", "run", "joachims-6.7", "--json")
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert set(result) == {"name", "cells", "notes"}
        assert all(set(cell) == {"row", "column", "published", "ours"} for cell in result["cells"])
        assert "Training 90 SVMs" in done.stderr, "what takes long is said"

    def test_plot_is_refused_before_anything_is_computed(self, here, tmp_path):
        for name, file, expected in (
            ("joachims-6.7", "plot.png", "has no curves to plot"),
            ("joachims-8.4", "plot.txt", "ends in .pdf, .png, .svg"),
            ("joachims-8.4", "nowhere/plot.png", "there is no folder"),
        ):
            done = here("papers", "run", name, "--plot", tmp_path / file)
            assert done.returncode in (2, 66)
            assert expected in done.stderr
            assert "Reading" not in done.stderr

    def test_plot(self, here, tmp_path, monkeypatch):
        from widemargin import papers
        from widemargin.report.plots import Line, Panel

        panel = Panel("Adult", "n", "s", [Line("ours", [1, 2], [3, 4])])
        result = papers.PaperResult("joachims-8.4", "Table 8.4", [], panels=[panel])
        monkeypatch.setattr(papers, "run_paper", lambda name, progress: result)
        done = here("papers", "run", "joachims-8.4", "--plot", tmp_path / "plot.png")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
        assert "Plot in" in done.stderr
        done = here("papers", "run", "joachims-8.4", "--plot", tmp_path / "plot.png", "--quiet")
        assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(scope="module")
def demo(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    return folder, run("demo", cwd=folder)


class TestDemo:
    def test_output(self, demo):
        folder, done = demo
        assert done.returncode == 0, done.stderr
        for expected in (
            "docstrings of the standard library, NumPy and SciPy",
            "macro-average",
            "terms for it",
            "(bias)",
            "collect ",
            "learn ",
            "Next steps (the files are in widemargin-demo)",
        ):
            assert expected in done.stdout
        assert {path.name for path in (folder / "widemargin-demo").iterdir()} == {
            "model.wm",
            "train.jsonl",
            "test.jsonl",
        }

    def test_next_commands_work_as_printed(self, demo, run):
        import shlex

        folder, done = demo
        commands = [line.strip() for line in done.stdout.splitlines() if line.startswith("  widemargin ")]
        assert len(commands) == 4
        for command in commands:
            program, *arguments = shlex.split(command)
            assert program == "widemargin"
            result = run(*arguments, cwd=folder)
            assert result.returncode == 0, result.stderr

    def test_json_and_seed(self, here, tmp_path):
        options = ("--json", "--seed", "3", "--threads", "1", "-q")
        found = json.loads(here("demo", *options, "-o", tmp_path / "d").stdout)
        assert found["evaluation"]["accuracy"] > 0.5
        assert len(found["evaluation"]["rows"]) > 15
        assert len(found["next"]) == 4
        explained = found["explanation"]
        total = explained["bias"] + sum(part["value"] for part in explained["contributions"])
        assert total == pytest.approx(explained["score"], abs=1e-4)
