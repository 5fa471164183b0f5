"""The tours in the README work; figures from a corpus that changes with releases are not compared."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_python_tour():
    results = doctest.testfile(str(README), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert results.attempted >= 8
    assert results.failed == 0


def test_the_command_line_tour(tmp_path):
    commands = re.findall(r"^\$ (.*widemargin .*)$", README.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(commands) >= 5
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in commands:
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": path},
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip()
