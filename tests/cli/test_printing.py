"""What strangers wrote is printed so that it cannot drive a terminal, and reaches programs unchanged."""

from __future__ import annotations

import ast
import csv
import json
import os
import subprocess
from pathlib import Path

import pytest

import widemargin
from tests.cli.conftest import COMMAND, TICKETS, environment, write_jsonl
from tests.terminal import read_terminal

SOURCE = Path(widemargin.__file__).parent
# Retitle the window, clear it, C1's form of the same, DEL, an override, an isolate, lines and a tab.
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202e\u2066\r\n\terror: all is lost"
CONTROLS = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *"\u202a\u202b\u202c\u202d\u202e"}
CONTROLS |= set("\u2066\u2067\u2068\u2069")

# What may print, and how: everything else calls these.
GATES = {"cli/output.py", "progress.py", "serve/logs.py"}


def _printing(tree: ast.AST) -> list[int]:
    """The lines of a module that print, or take hold of what could."""
    found = []
    for node in ast.walk(tree):
        prints = isinstance(node, ast.Call) and (
            (isinstance(node.func, ast.Name) and node.func.id in ("print", "Console", "input"))
            or (
                isinstance(node.func, ast.Attribute)
                and node.func.attr in ("echo", "secho", "print", "print_exc")
            )
        )
        stream = (
            isinstance(node, ast.Attribute)
            and node.attr in ("stdout", "stderr", "__stdout__", "__stderr__")
            and isinstance(node.value, ast.Name)
            and node.value.id == "sys"
        )
        writes = isinstance(node, ast.ImportFrom) and node.module in ("rich.console", "rich")
        taken = writes and any(alias.name in ("Console", "print") for alias in node.names)
        if prints or stream or taken:
            found.append(node.lineno)
    return found


def test_nothing_prints_around_the_gate():
    allowed = {
        "cli/app.py": ["sys.stdout", "sys.stderr"],  # made safe for any text, flushed, given up
        # Where nothing else could be imported.
        "cli/__init__.py": ["sys.stderr is not None", 'print("interrupted"', "{printable(failed_import"],
    }
    around = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        lines = path.read_text(encoding="utf-8").splitlines()
        found = [] if name in GATES else _printing(ast.parse("\n".join(lines)))
        found = [line for line in found if not any(part in lines[line - 1] for part in allowed.get(name, ()))]
        if found:
            around[name] = found
    assert around == {}, "print with widemargin.cli.output instead"


def test_the_gate_notices():
    program = (
        "import sys\nprint(1)\nsys.stdout.write('')\nfrom rich.console import Console\nConsole().print(2)\n"
    )
    assert sorted(set(_printing(ast.parse(program)))) == [2, 3, 4, 5]


def _controls(text: str) -> set[str]:
    return (CONTROLS - {"\n"}) & set(text)


@pytest.fixture(scope="module")
def evil(tmp_path_factory, run):
    """Documents whose ids, texts and labels hold control characters, and a model of them."""
    folder = tmp_path_factory.mktemp("evil")
    records = [{**t, "id": t["id"] + EVIL, "text": t["text"] + EVIL} for t in TICKETS * 3]
    for record in records:
        record["labels"] = [EVIL + record["labels"][0]]
    records.append({"id": EVIL, "text": "wrong", "labels": [EVIL + "rare"]})
    data = write_jsonl(folder / f"d{EVIL[:4]}\u202e.jsonl", records)
    model = folder / f"m{EVIL[:4]}\u202e.wm"
    done = run("train", data, "-o", model, "--tune", "none")
    assert done.returncode == 0, done.stderr
    return data, model, records, done


VERBS = {
    "inspect": ["inspect", "MODEL"],
    "suspects": ["inspect", "MODEL", "--suspects", "9"],
    "unknown label": ["inspect", "MODEL", "--label", EVIL],
    "evaluate": ["evaluate", "MODEL", "DATA"],
    "explain": ["explain", "MODEL", "printer jam" + EVIL],
    "predict": ["predict", "MODEL", "DATA", "--keep-text", "--scores"],
    "label": ["label", "DATA", "DATA", "-o", "out.jsonl", "--next", "3", "--C", "1"],
    "simulate": ["label", "DATA", "--simulate", "6", "--repeat", "1"],
    "missing": ["predict", "MODEL", f"{EVIL}.csv"],
    "usage": ["train", "DATA", "-o", "m.wm", "--learner", EVIL],
    "no such verb": [EVIL],
    "traceback": ["inspect", f"{EVIL}.wm", "--debug"],
}


@pytest.mark.parametrize("verb", VERBS)
def test_people_see_escapes(run, evil, tmp_path, verb):
    data, model, _, trained = evil
    assert not _controls(trained.stdout + trained.stderr)
    names = {"MODEL": str(model), "DATA": str(data)}
    done = run(*(names.get(word, word) for word in VERBS[verb]), cwd=tmp_path)
    shown = done.stdout + done.stderr
    assert not _controls(shown), ascii(shown)
    assert "error: all is lost" not in (line[:18] for line in shown.splitlines()), "no line is forged"
    assert "internal error" not in shown


BAD = {
    "column names": ("d.csv", f'a,"{EVIL[:12]}"\n1,2\n'.encode(), ["--text", "b"]),
    "excerpt": ("d.jsonl", f"{EVIL[:12]}\n".encode(), []),
    "field names": ("d.jsonl", json.dumps({EVIL: 2}).encode(), ["--text", "text"]),
    "first line": ("d.txt", EVIL.encode(), []),
    "target": ("d.svm", b"1 1:1\n\x1b[2J 2:1\n", []),
    "left out": ("d", None, []),
}


@pytest.mark.parametrize("case", BAD)
def test_people_see_escapes_in_errors_and_warnings(run, tmp_path, case):
    name, content, options = BAD[case]
    path = tmp_path / name
    if content is None:
        (path / f"class{EVIL[:4]}").mkdir(parents=True)
        (path / f"class{EVIL[:4]}" / "1").write_text("one")
        (path / f"beside{EVIL[:4]}").write_text("two")
    else:
        path.write_bytes(content)
    done = run("train", path, "-o", tmp_path / "m.wm", *options)
    assert not _controls(done.stdout + done.stderr), ascii(done.stderr)
    assert "\\x" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="file names are not bytes here")
def test_a_file_name_that_is_no_text(tmp_path):
    command = [*map(os.fsencode, COMMAND), b"inspect", os.fsencode(tmp_path) + b"/\x9b\xff.wm"]
    done = subprocess.run(command, capture_output=True, env=environment(), check=False)
    assert done.returncode == 66
    assert b"\\udc9b\\udcff.wm" in done.stderr


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")
def test_a_terminal_sees_only_our_own_escapes(evil):
    _, model, _, _ = evil
    leader, follower = os.openpty()
    command = [*COMMAND, "explain", str(model), f"printer jam{EVIL} [bold]invoice[/bold]"]
    process = subprocess.Popen(
        command, stdout=follower, stderr=follower, env=environment(TERM="xterm-256color", COLUMNS="120")
    )
    os.close(follower)
    shown = read_terminal(leader).decode()
    assert process.wait() == 0
    assert "\x1b[3" in shown, "our own colors are there"
    assert "[bold]" in shown
    for forbidden in ("\x1b]0;", "\x1b[2J", "\x9b", "\x7f", "\u202e", "\u2066", "\x07"):
        assert forbidden not in shown


class TestMachines:
    def test_json_lines_keep_the_data(self, run, evil):
        data, model, records, _ = evil
        done = run("predict", model, data, "--keep-text", "--scores")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert [row["text"] for row in rows] == [record["text"] for record in records]
        assert {label for record in records for label in record["labels"]} == set(rows[0]["scores"])

    def test_json_keeps_the_data(self, run, evil):
        data, model, records, _ = evil
        done = run("evaluate", model, data, "--json")
        assert not _controls(done.stdout)
        labels = {row["label"] for row in json.loads(done.stdout)["measured"]["labels"]}
        assert labels == {label for record in records for label in record["labels"]}


class TestSafeCsv:
    RECORDS = tuple(
        {**t, "id": f"{mark}{t['id']}", "text": f"={t['text']}"}
        for t, mark in zip(TICKETS, "=+-@\t\r" * 3, strict=True)
    )

    @pytest.mark.parametrize("suffix", ["csv", "tsv"])
    def test_cells_are_no_formulas(self, run, tmp_path, suffix):
        records = [{**record, "labels": ["@" + record["labels"][0]]} for record in self.RECORDS]
        data = write_jsonl(tmp_path / "d.jsonl", records)
        assert run("train", data, "-o", tmp_path / "m.wm", "--tune", "none").returncode == 0
        found = {}
        for options in ((), ("--safe-csv",)):
            out = tmp_path / f"out{len(options)}.{suffix}"
            done = run("predict", tmp_path / "m.wm", data, "-o", out, "--keep-text", "--scores", *options)
            assert done.returncode == 0, done.stderr
            with out.open(encoding="utf-8", newline="") as file:
                found[options] = list(csv.reader(file, delimiter="\t" if suffix == "tsv" else ","))
        plain, safe = found[()], found["--safe-csv",]
        assert [row[:3] for row in plain[1:]] == [
            [r["id"], r["text"], row[2]] for r, row in zip(records, plain[1:], strict=True)
        ]
        for before, after in zip(plain, safe, strict=True):
            assert after[:3] == [f"'{cell}" if cell[0] in "=+-@\t\r" else cell for cell in before[:3]]
            assert after[3:] == before[3:], "numbers and headers of scores stay"
        assert any(row[3].startswith("-") for row in safe[1:])

    def test_label_has_it_too(self, run, tmp_path):
        data = write_jsonl(
            tmp_path / "d.jsonl",
            [{**r, "labels": r["labels"] if i % 2 else None} for i, r in enumerate(self.RECORDS)],
        )
        done = run("label", data, "-o", tmp_path / "out.csv", "--safe-csv", "--C", "1")
        assert done.returncode == 0, done.stderr
        rows = list(csv.reader((tmp_path / "out.csv").open(encoding="utf-8", newline="")))
        assert all(row[0].startswith("'") for row in rows[1:])

    def test_only_for_tables(self, here, model, tickets):
        done = here("predict", model, tickets, "--safe-csv")
        assert done.returncode == 2
        assert "--safe-csv applies to tables only" in done.stderr
