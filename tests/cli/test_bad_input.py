"""Every kind of bad input, through the real command: a clear message and its exit code, or a warning."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import COMMAND, TICKETS, environment, write_jsonl

BAD = {
    "empty file": ("d.csv", b"", [], "d.csv: is empty. Expected"),
    "header only": ("d.csv", b"text,label\n", [], "d.csv: has no documents. Expected"),
    "missing column": (
        "d.csv",
        b"id,body,team\n1,a,x\n",
        ["--text", "words"],
        'd.csv, line 1: no column "words"; columns are id, body, team. Pass --text body.',
    ),
    "ragged row": (
        "d.csv",
        b"text,label\na,x\nb,y,z\n",
        [],
        "d.csv, line 3: 3 fields where the header has 2",
    ),
    "unclosed quote": (
        "d.csv",
        b'text,label\na,x\n"b,y\nc,x\n',
        [],
        "d.csv, line 3: a quote in this record is never closed",
    ),
    "invalid UTF-8, strict": ("d.csv", b"text,label\na\xff,x\n", ["--errors", "strict"], "d.csv, line 2"),
    "one class": ("d.csv", b"text,label\na,x\nb,x\n", [], "All 2 examples are of one class, 'x'"),
    "nothing labeled": ("d.jsonl", b'{"text": "a"}\n', [], "None of the 1 documents has a label"),
    "everything pruned": ("d.csv", b"text,label\na,x\nb,y\n", ["--min-df", "2"], "no terms remain"),
    "NaN": ("d.svm", b"1 1:1\n-1 2:nan\n", [], "d.svm, line 2"),
    "infinity": ("d.svm", b"1 1:1\n-1 2:1e999\n", [], "d.svm, line 2"),
    "malformed cost": ("d.svm", b"1 1:1\n-1 cost:dear 2:1\n", [], "d.svm, line 2: cost:dear is not a cost"),
    "index 0": ("d.svm", b"1 0:1\n-1 2:1\n", [], "d.svm, line 1"),
    "index beyond 2^31": ("d.svm", b"1 1:1\n-1 2147483648:1\n", [], "d.svm, line 2"),
    "deep JSON": ("d.jsonl", b'{"text": ' + b"[" * 100_000, [], "d.jsonl, line 1"),
    "damaged compression": ("d.csv.gz", b"\x1f\x8b\x08\x00damaged", [], "d.csv.gz"),
}


@pytest.mark.parametrize("case", BAD)
def test_training_data(run, tmp_path, case):
    name, content, options, message = BAD[case]
    (tmp_path / name).write_bytes(content)
    done = run("train", name, "-o", "model.wm", *options, cwd=tmp_path)
    assert done.returncode == 65
    assert message in done.stderr
    assert done.stderr.startswith("error: ") or "\nerror: " in done.stderr
    assert done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == [name], "nothing is left behind"


def test_what_can_be_used_is_used_with_a_warning(run, here, tmp_path):
    """In one file: bytes that are no text, NUL, repeated ids, a label of 10 kB, one with a delimiter."""
    long = "x" * 10_000
    rows = [(t["id"], t["text"], t["labels"][0]) for t in TICKETS]
    rows += [("t0", "again", "billing"), ("n", "nul \0 byte", "network"), ("l", "long label", long)]
    lines = ["id,text,label", *(f'{identifier},"{text}","{label}"' for identifier, text, label in rows)]
    lines.append('j,"several labels","[""a;b"", ""network""]"')
    (tmp_path / "d.csv").write_bytes("\n".join(lines).encode() + b'\nb,"caf\xff",billing\n')
    done = run("train", "d.csv", "-o", "m.wm", "--encoding", "utf-8", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["documents"] == 23
    assert summary["labels"] == 5
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert any("with the id of an earlier one" in line for line in warnings)
    assert any("1 invalid byte in UTF-8 became" in line for line in warnings)
    assert any("1 NUL character became blank" in line for line in warnings)
    shown = here("inspect", "m.wm", cwd=tmp_path)
    assert shown.returncode == 0
    assert long not in shown.stdout, "a label of 10 kB is shortened for people"
    evaluated = here("evaluate", "m.wm", "d.csv", "--encoding", "utf-8", cwd=tmp_path)
    assert evaluated.returncode == 0
    assert max(map(len, evaluated.stdout.splitlines())) < 250
    predicted = here("predict", "m.wm", "d.csv", "--encoding", "utf-8", cwd=tmp_path)
    assert [json.loads(line)["id"] for line in predicted.stdout.splitlines()][18:] == [
        "t0",
        "n",
        "l",
        "j",
        "b",
    ]


class TestFiles:
    @pytest.mark.parametrize(
        "arguments",
        [
            ["train", "none.csv", "-o", "m.wm"],
            ["train", "tickets.jsonl", "-o", "nowhere/m.wm"],
            ["predict", "none.wm", "tickets.jsonl"],
            ["predict", "tickets.wm", "none.jsonl"],
        ],
    )
    def test_missing(self, here, model, arguments):
        done = here(*arguments, cwd=model.parent)
        assert done.returncode == 66
        missing = next(name for name in arguments if name.startswith(("none.", "nowhere/")))
        assert missing.partition("/")[0] in done.stderr
        assert done.stdout == ""

    def test_folder_where_a_file_should_be(self, here, model, tmp_path):
        for arguments in (["inspect", tmp_path], ["train", model.parent / "tickets.jsonl", "-o", tmp_path]):
            done = here(*arguments)
            assert done.returncode == 74
            assert str(tmp_path) in done.stderr

    @pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that cannot be read")
    def test_unreadable(self, run, model):
        done = run("predict", model, "/proc/self/mem", "--format", "csv")
        assert done.returncode == 74
        assert "/proc/self/mem" in done.stderr

    def test_data_in_place_of_a_model(self, here, tickets):
        done = here("predict", tickets, tickets)
        assert done.returncode == 65
        assert "is not a widemargin model" in done.stderr

    def test_damaged_model(self, here, model, tickets, tmp_path):
        (tmp_path / "cut.wm").write_bytes(model.read_bytes()[:-100])
        done = here("predict", tmp_path / "cut.wm", tickets)
        assert done.returncode == 65
        assert "its end is missing. Copy it again, or train it again." in done.stderr


def _no_room() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))


@pytest.mark.parametrize("verb", ["train", "predict"])
def test_full_disk(model, tickets, tmp_path, verb):
    """The old file survives and nothing half-written is left."""
    out = tmp_path / "out.jsonl"
    out.write_text("old")
    many = tmp_path / "many.jsonl"
    many.write_text(tickets.read_text() * 20, encoding="utf-8")
    arguments = ["train", str(many), "-o", str(out), "--force"]
    if verb == "predict":
        arguments = ["predict", str(model), str(many), "--scores", "-o", str(out)]
    done = subprocess.run(
        [*COMMAND, *arguments, "-q"],
        capture_output=True,
        text=True,
        # Byte code would meet the limit too.
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
        preexec_fn=_no_room,
        check=False,
    )
    assert done.returncode == 74
    assert f"{out} could not be written: File too large. The previous content is unchanged." in done.stderr
    assert "Traceback" not in done.stderr
    assert out.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"out.jsonl", "many.jsonl"}


def _start(*arguments: str | Path, **keywords) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        **keywords,
    )


def _wait_for(condition, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.02)


def _is_writing_to(folder: Path, process: int) -> bool:
    """Whether the process has a file in `folder` open, with a name or without one yet."""
    descriptors = Path(f"/proc/{process}/fd")
    if not descriptors.is_dir():
        pytest.skip("this system does not show what a process has open")
    return any(os.path.dirname(os.readlink(link)) == str(folder) for link in descriptors.iterdir())


def _finish(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    _, errors = process.communicate(timeout=30)
    return process.returncode, errors.decode()


class TestInterrupts:
    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_while_predicting(self, model, tickets, tmp_path, number, code):
        out = tmp_path / "out.jsonl"
        out.write_text("old")
        process = _start("predict", model, "-", "--format", "jsonl", "-o", out)
        assert process.stdin is not None
        process.stdin.write(tickets.read_bytes() * 200)
        process.stdin.flush()
        # The input stays open, so that the verb waits for more with its output half done.
        _wait_for(lambda: _is_writing_to(tmp_path, process.pid))
        process.send_signal(number)
        returned, errors = _finish(process)
        assert returned == code
        assert "Traceback" not in errors
        assert out.read_text() == "old"
        assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]

    def test_while_learning(self, tmp_path):
        """In the middle of native code, on data that it cannot finish in time."""
        # Labels at random cannot be separated, so that each of three hundred takes all its passes.
        generator = np.random.default_rng(0)
        rows = zip(generator.normal(size=(5000, 60)), generator.random((5000, 300)) < 0.1, strict=True)
        with open(tmp_path / "noise.svm", "w", encoding="ascii") as file:
            for values, labels in rows:
                targets = ",".join(map(str, labels.nonzero()[0] + 1))
                features = " ".join(f"{j}:{value:.2f}" for j, value in enumerate(values, 1))
                file.write(f"{targets} {features}\n")
        model = tmp_path / "m.wm"
        model.write_text("old")
        process = _start(
            "train", tmp_path / "noise.svm", "-o", model, "--C", "1e5", "--tol", "1e-12", "--force"
        )
        _wait_for(lambda: _learning(process.pid))
        time.sleep(0.3)
        assert process.poll() is None, "the data is too easy to be interrupted"
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        returned, errors = _finish(process)
        assert time.monotonic() - asked < 5
        assert returned == 130
        assert errors.endswith("interrupted\n")
        assert "Traceback" not in errors
        assert model.read_text() == "old"
        assert {path.name for path in tmp_path.iterdir()} == {"noise.svm", "m.wm"}


def _learning(process: int) -> bool:
    """Whether the compiled core has been loaded and the process has worked a while since."""
    try:
        maps = Path(f"/proc/{process}/maps").read_text()
        used = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        pytest.skip("this system does not show what a process has loaded")
    return "_core" in maps and int(used[11]) / os.sysconf("SC_CLK_TCK") > 2.0


@pytest.mark.slow
class TestExtremes:
    def test_document_of_100_megabytes(self, run, model, tmp_path):
        path = write_jsonl(tmp_path / "d.jsonl", TICKETS)
        with path.open("a", encoding="utf-8") as file:
            file.write(
                '{"id": "big", "text": "'
                + "printer jam and wifi " * 5_000_000
                + '", "labels": ["network"]}\n'
            )
        done = run("train", path, "-o", tmp_path / "m.wm")
        assert done.returncode == 0, done.stderr
        predicted = run("predict", model, path)
        assert len(predicted.stdout.splitlines()) == len(TICKETS) + 1

    def test_million_tiny_documents(self, run, tmp_path):
        path = tmp_path / "d.csv"
        with path.open("w", encoding="utf-8") as file:
            file.write("text,label\n")
            for i in range(1_000_000):
                file.write(f"w{i % 1000},{'ab'[i % 2]}\n")
        done = run("train", path, "-o", tmp_path / "m.wm")
        assert done.returncode == 0, done.stderr
        assert "1,000,000 documents" in done.stdout
        process = subprocess.run(
            [*COMMAND, "predict", tmp_path / "m.wm", path, "-o", tmp_path / "out.jsonl", "--json", "-q"],
            capture_output=True,
            env=environment(),
            check=True,
        )
        assert json.loads(process.stdout)["documents"] == 1_000_000
