"""Running the real command, and a small task to run it on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "widemargin"]
WORDS = {
    "billing": ["invoice", "refund", "charged twice", "the amount is wrong", "credit card", "payment failed"],
    "hardware": [
        "printer jam",
        "screen flickers",
        "keyboard broken",
        "battery dead",
        "fan noise",
        "disk fails",
    ],
    "network": ["wifi drops", "cannot connect", "vpn timeout", "slow router", "dns error", "cable unplugged"],
}
TICKETS = [
    {"id": f"t{i}", "text": f"{a}, and {b}", "labels": [label]}
    for label, parts in WORDS.items()
    for i, (a, b) in enumerate(zip(parts, parts[1:] + parts[:1], strict=True), 10 * list(WORDS).index(label))
]

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(**changes: str) -> dict[str, str]:
    """Without what would change the output: colors, the width and the interpreter's own warnings."""
    kept = {
        k: v
        for k, v in os.environ.items()
        if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONWARNINGS")
    }
    return {**kept, **changes}


@pytest.fixture(scope="session")
def run() -> Run:
    """``run("train", ..., stdin="...")`` runs the command and gives its exit code, output and messages."""

    def run_command(
        *arguments: str | Path, stdin: str | bytes = b"", cwd: Path | None = None, **changes: str
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=cwd,
            env=environment(**changes),
            check=False,
        )
        assert b"Traceback" not in done.stderr or "--debug" in arguments, done.stderr.decode()
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        )

    return run_command


@pytest.fixture
def here(capfd, monkeypatch) -> Run:
    """As `run`, in this process: no new interpreter, for what does not depend on one."""
    from widemargin.cli import main

    def run_here(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        with monkeypatch.context() as patch:
            if cwd is not None:
                patch.chdir(cwd)
            capfd.readouterr()
            code = main(list(map(str, arguments)))
            output, errors = capfd.readouterr()
        assert "Traceback" not in errors
        return subprocess.CompletedProcess(arguments, code, output, errors)

    return run_here


def write_jsonl(path: Path, records: Sequence[dict]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def tickets(tmp_path_factory) -> Path:
    """A file of labeled tickets."""
    return write_jsonl(tmp_path_factory.mktemp("tickets") / "tickets.jsonl", TICKETS)


@pytest.fixture(scope="session")
def model(run, tickets) -> Path:
    """A model of the tickets. Tests must not change it."""
    path = tickets.with_name("tickets.wm")
    done = run("train", tickets, "-o", path, "--tune", "none")
    assert done.returncode == 0, done.stderr
    return path
