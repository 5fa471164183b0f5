"""What every verb has in common: help, exit codes, tracebacks, pipes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, environment
from tests.terminal import read_terminal
from widemargin.cli.reference import reference

VERBS = [
    ["demo"],
    ["train"],
    ["predict"],
    ["evaluate"],
    ["inspect"],
    ["explain"],
    ["label"],
    ["corpus", "list"],
    ["corpus", "fetch"],
    ["corpus", "export"],
    ["papers", "list"],
    ["papers", "run"],
]


def test_help_lists_the_verbs(here):
    done = here("--help")
    assert done.returncode == 0
    for verb in ("demo", "train", "predict", "evaluate", "inspect", "explain", "corpus", "papers", "serve"):
        assert verb in done.stdout


def test_help_imports_no_numbers():
    """What keeps the help quick, whatever the machine."""
    program = "import sys, widemargin.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"numpy", "scipy", "sklearn", "rich.table"} & set(done.stdout.split())


def test_help_of_every_verb_ends_with_an_example(capsys):
    from widemargin.cli import main

    for verb in VERBS:
        assert main([*verb, "--help"]) == 0
        text = capsys.readouterr().out
        example = " ".join(text[text.rindex("Example:") :].split())
        assert example.startswith(f"Example: widemargin {' '.join(verb)}")
        assert "╯" not in example, "something follows the example"


def test_documentation_is_up_to_date():
    page = Path(__file__).parents[2] / "docs" / "cli.md"
    assert page.read_text(encoding="utf-8") == reference(), "run `make docs`"


def test_no_verb_shows_the_help(run):
    done = run()
    assert done.returncode == 0
    assert "Usage: widemargin" in done.stdout


def test_version(run):
    from widemargin import __version__

    assert run("--version").stdout == f"widemargin {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trian"], "No such command 'trian'"),
        (["train", "-o", "m.wm"], "No documents are given"),
        (["evaluate"], "Missing argument 'MODEL'"),
        (["train", "x.csv", "-o", "m.wm", "--ngrams", "2-1"], "--ngrams 2-1: expected a length or a range"),
        (["train", "x.csv", "-o", "m.wm", "--min-df", "1.5"], "--min-df 1.5: expected a number of documents"),
        (["train", "x.csv", "-o", "m.wm", "--bias", "big"], "--bias big: expected a size"),
        (["train", "x.csv", "-o", "m.wm", "--class-weight", "odd"], "balanced"),
        (["explain", "m.wm"], "Give either the text"),
        (["papers", "run", "nothing"], "no published table 'nothing'"),
        (["corpus", "export", "nothing", "-o", "x"], "no corpus 'nothing'"),
    ],
)
def test_usage(capsys, arguments, message):
    from widemargin.cli import main

    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert "Traceback" not in captured.err


def test_traceback_only_with_debug(run, tmp_path):
    missing = tmp_path / "none.wm"
    plain = run("inspect", missing)
    assert plain.returncode == 66
    assert plain.stderr == f"error: There is no model file {missing}. Check the name, or train one.\n"
    debug = run("inspect", missing, "--debug")
    assert debug.returncode == 66
    assert "Traceback" in debug.stderr
    assert debug.stderr.endswith(plain.stderr)


def test_mistake_of_our_own(capsys, monkeypatch):
    import widemargin.models
    from widemargin.cli import main

    def fail(path):
        raise KeyError("lost")

    monkeypatch.setattr(widemargin.models, "load_model", fail)
    assert main(["inspect", "m.wm"]) == 1
    assert "internal error: KeyError: 'lost'. Run again with --debug" in capsys.readouterr().err


def test_colors_only_on_a_terminal(run, model):
    assert "\x1b" not in run("explain", model, "my invoice").stdout


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")
@pytest.mark.parametrize(("changes", "colored"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colors_on_a_terminal(model, changes, colored):
    leader, follower = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, "explain", str(model), "my invoice"],
        stdout=follower,
        stderr=subprocess.PIPE,
        env=environment(TERM="xterm-256color", COLUMNS="80", **changes),
    )
    os.close(follower)
    shown = read_terminal(leader)
    _, errors = process.communicate()
    assert (process.returncode, errors) == (0, b"")
    assert b"invoice" in shown
    assert (b"\x1b[32m" in shown) == colored


def test_closed_pipe_is_quiet(model, tickets, tmp_path):
    many = tmp_path / "many.jsonl"
    many.write_text(tickets.read_text() * 3000, encoding="utf-8")
    process = subprocess.Popen(
        [*COMMAND, "predict", "--quiet", str(model), str(many), "--scores"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(PYTHONWARNINGS="ignore"),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith(b'{"id": "t0"')
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), errors) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_full_disk_behind_stdout(model):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "explain", str(model), "my invoice"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
        )
    assert done.returncode == 74
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr
