"""The benchmarks themselves: they explain themselves without their peers, and refuse unequal quality."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
SCRIPTS = sorted(path.name for path in FOLDER.glob("[a-z]*.py"))

# One interpreter for all of them: what they import is slow to start. Peers that only benchmarks need are
# hidden, so that the answer is the same where they are installed.
HELP = """
import contextlib, importlib.abc, io, json, runpy, sys

class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in ("liblinear", "vowpalwabbit"):
            raise ImportError(name)

sys.meta_path.insert(0, Hidden())
folder, *scripts = sys.argv[1:]
sys.path.insert(0, folder)
answers = {}
for script in scripts:
    sys.argv = [script, "--help"]
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            runpy.run_path(f"{folder}/{script}", run_name="__main__")
            code = "did not exit"
        except SystemExit as done:
            code = done.code
    answers[script] = (code, output.getvalue())
print(json.dumps(answers))
"""


def test_every_script_answers_help():
    command = [sys.executable, "-c", HELP, str(FOLDER), *SCRIPTS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    assert len(answers) == len(SCRIPTS) > 10
    for script, (code, text) in answers.items():
        assert code == 0, script
        first_line = (FOLDER / script).read_text(encoding="utf-8").split('"""')[1].splitlines()[0]
        assert first_line in text, f"{script} says what it measures"
        assert "--json" in text, script


@pytest.fixture(scope="module")
def compare():
    spec = importlib.util.spec_from_file_location("_compare", FOLDER / "_compare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["_compare"] = module  # its dataclasses look there
    spec.loader.exec_module(module)
    yield module
    del sys.modules["_compare"]


def row(compare, value):
    checks = [compare.Check("objective above the peer's", value, 1e-3)]
    return compare.Row("a job", "a peer", 2.0, 3.0, checks, {"threads": 1})


@pytest.mark.parametrize(("value", "code"), [(0.0, 0), (1e-3, 0), (-1.0, 0), (2e-3, 1), (float("nan"), 1)])
@pytest.mark.parametrize("as_json", [False, True])
def test_unequal_quality_is_refused(compare, capsys, value, code, as_json):
    assert compare.report([row(compare, value), row(compare, 0.0)], as_json) == code
    output, errors = capsys.readouterr()
    assert len(output.splitlines()) == 2, "what was measured is printed all the same"
    assert ("a job, a peer: objective above the peer's is" in errors) == bool(code)
    assert ("the times do not compare" in errors) == bool(code)


def test_rows_have_the_same_keys_everywhere(compare, capsys):
    compare.report([row(compare, 5e-4)], True)
    found = json.loads(capsys.readouterr().out)
    limits = {"objective above the peer's": 1e-3}
    assert found == {
        "name": "a job",
        "peer": "a peer",
        "ours_s": 2.0,
        "peer_s": 3.0,
        "ratio": 1.5,
        "quality": {"threads": 1, "objective above the peer's": 5e-4, "limits": limits},
    }


def test_a_row_that_checks_nothing_cannot_be_made(compare):
    with pytest.raises(ValueError, match="without a check"):
        compare.Row("a job", "a peer", 1.0, 1.0, [])


def test_contestants_take_turns_and_preparing_costs_nothing(compare):
    now, order = [0.0], []

    def work(name, seconds):
        order.append(name)
        now[0] += seconds
        return name

    prepared = compare.Prepared(lambda: work("prepare", 100.0), lambda made: work(f"{made}d", 3.0))
    durations = iter([50.0, 1.0, 9.0, 2.0])
    ours, peer = compare.in_turns(
        lambda: work("ours", next(durations)), prepared, repeats=3, clock=lambda: now[0]
    )
    assert order == ["ours", "prepare", "prepared"] * 4, "once to get warm, then in turns"
    assert (ours.seconds, ours.result) == (2.0, "ours"), "the median without the first run"
    assert (peer.seconds, peer.result) == (3.0, "prepared")
