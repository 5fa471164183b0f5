"""The Dockerfile runs the steps of docker/build.sh, and the script runs them without Docker."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
SCRIPT = (ROOT / "docker/build.sh").read_text()


def test_the_image_is_built_by_the_steps_of_the_script():
    every = re.search(r"^    all\)\n(.*?);;", SCRIPT, re.DOTALL | re.MULTILINE)[1].split("\n")
    steps = [line.split()[0] for line in every if line.strip()]
    run = re.findall(r"^RUN docker/build\.sh (\w+)", DOCKERFILE, re.MULTILINE)
    assert run == steps
    # Nothing else is run but what the system needs.
    others = re.findall(r"^RUN (?!docker/build\.sh)(\S+)", DOCKERFILE, re.MULTILINE)
    assert others == ["apt-get", "useradd"]
    assert re.search(r'HEALTHCHECK .*"build\.sh", "healthy"', DOCKERFILE)


def test_the_image_is_small_and_not_run_by_root():
    stages = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]
    assert len(stages) == 2
    assert "g++" not in stages[1]
    user = stages[1].index("\nUSER widemargin")
    assert user < stages[1].index("\nENTRYPOINT")


@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_the_check_of_the_script_passes(tmp_path):
    """In this environment, which has the package already."""
    script = ROOT / "docker/build.sh"
    subprocess.run(["sh", "-n", script], check=True)
    wrapper = tmp_path / "venv/bin"
    wrapper.mkdir(parents=True)
    # Not a link: Python would look for its packages beside it.
    (wrapper / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (wrapper / "python").chmod(0o755)
    done = subprocess.run(
        ["sh", script, "check", tmp_path / "venv"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "The service answers.\n"


def test_an_unknown_step_is_an_error():
    done = subprocess.run(
        ["sh", ROOT / "docker/build.sh", "publish"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (2, "docker/build.sh: there is no step publish\n")
