"""Everyday tasks, from the files people have to a measured model, timed from the start of each process.

Each task is typed as shell commands (ours) and as a script with scikit-learn and pandas; both print the
accuracy on test documents of the demo corpus. Check: our accuracy is at most one point below the peer's. With
--table, a table of the lines that have to be written is printed too; imports count, blank lines do not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from _compare import Check, Row, arguments, in_turns, report
from _everyday_tasks import TASKS, Task, prepare

PEER = "scikit-learn"
ALLOWED_LOSS = 1.0


def lines(code: str) -> int:
    """How many lines have to be written."""
    return sum(bool(line.strip()) for line in code.splitlines())


def accuracy_of_ours(task: Task, folder: Path) -> float:
    """Type the commands of a task; the accuracy that the last one prints, in percent."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    output = ""
    for command in task.ours.splitlines():
        output = _output(["sh", "-c", command], folder, {**os.environ, "PATH": path})
    return 100 * float(json.loads(output)["accuracy"])


def accuracy_of_peer(task: Task, folder: Path) -> float:
    """Run the script of a task; the accuracy that it prints last, in percent."""
    printed = _output([sys.executable, "-W", "ignore", "-c", task.peer], folder, dict(os.environ))
    return 100 * float(printed.split()[-1])


def _output(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[-1]}\n{done.stderr}")
    return done.stdout


def rows(repeats: int, names: list[str], folder: Path) -> Iterator[Row]:
    for name in names:
        task = TASKS[name]
        mine, other = in_turns(
            lambda task=task: accuracy_of_ours(task, folder),
            lambda task=task: accuracy_of_peer(task, folder),
            repeats=repeats,
            warm=False,
        )
        checks = [Check("points below the peer's", other.result - mine.result, ALLOWED_LOSS)]
        figures = {
            "accuracy": round(mine.result, 1),
            "peer's": round(other.result, 1),
            "lines": lines(task.ours),
            "peer's lines": lines(task.peer),
        }
        yield Row(task.name, PEER, mine.seconds, other.seconds, checks, figures)


def main() -> int:
    parser = arguments(__doc__, repeats=3, tasks=tuple(TASKS))
    parser.add_argument("--table", action="store_true", help="also print the table of lines, in Markdown")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        code = report(rows(options.repeats, options.tasks, Path(folder)), options.json)
    if options.table:
        print("| task | scikit-learn lines of code | ours |\n|---|---|---|")
        for name in options.tasks:
            print(f"| {TASKS[name].name} | {lines(TASKS[name].peer)} | {lines(TASKS[name].ours)} |")
    return code


if __name__ == "__main__":
    sys.exit(main())
