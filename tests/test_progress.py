"""Bars appear only on a terminal, and follow their counter."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from tests.terminal import read_terminal
from widemargin.progress import track, watch, watch_values

PROGRAM = """
    import sys, time
    import numpy as np
    from widemargin.progress import track, watch, watch_values
    for item in track(range(200), "Reading", unit="lines"):
        time.sleep(0.003)
    counter = np.zeros(1, dtype=np.int64)
    with watch(counter, "Training", total=40, unit="labels"):
        for step in range(40):
            counter[0] += 1
            time.sleep(0.01)
    state = np.array([2.0, 400.0])
    with watch_values(state, lambda v: f"[bold] violation {v[0]:g}, {v[1]:g} active"):
        for step in range(5):
            state[:] /= 2
            time.sleep(0.11)
    print("done")
"""


def test_silent_when_nobody_looks(capsys):
    assert list(track(range(3), "Reading")) == [0, 1, 2]
    with watch(np.zeros(1, dtype=np.int64), "Training", total=3):
        pass
    with watch_values(np.zeros(2), str):
        pass
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "show",
    [
        lambda: watch(np.zeros(1, dtype=np.int64), "Training", total=3, enabled=True),
        lambda: watch_values(np.zeros(2), str, enabled=True),
    ],
)
def test_bar_ends_when_its_block_fails(show):
    def fail():
        with show():
            raise KeyError

    with pytest.raises(KeyError):
        fail()


def test_bars_on_a_terminal():
    pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")
    leader, follower = pty.openpty()
    environment = dict(os.environ, COLUMNS="100", TERM="xterm")
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        stdout=subprocess.PIPE,
        stderr=follower,
        env=environment,
    )
    os.close(follower)
    shown = read_terminal(leader)
    assert process.stdout is not None
    assert process.stdout.read() == b"done\n"
    process.stdout.close()
    assert process.wait() == 0
    assert b"[bold] violation 2, 400 active" in shown
    assert b"[bold] violation 0.0625, 12.5 active" in shown
    for expected in (b"Reading", b"lines/s", b"200/200", b"Training", b"labels/s", b"40/40"):
        assert expected in shown
