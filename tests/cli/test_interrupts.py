"""Ctrl-C at any moment, start-up included: code 130, one word, no traceback, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import warnings
from pathlib import Path

import pytest

from tests.cli.conftest import TICKETS, environment, write_jsonl
from widemargin.cli.interrupts import Interrupts

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")

SCRIPT = Path(sysconfig.get_path("scripts"), "widemargin")
# The interpreter tells on stderr which module it has just imported: moments that do not depend on the clock.
WATCHED = [sys.executable, "-X", "importtime"]
MODULE = [*WATCHED, "-m", "widemargin"]
VERBS = {
    "train": ["train", "DATA", "-o", "out.wm"],
    "predict": ["predict", "MODEL", "DATA", "-o", "out.jsonl"],
    "evaluate": ["evaluate", "MODEL", "DATA"],
    "label": ["label", "DATA", "DATA", "-o", "out.jsonl"],
    "inspect": ["inspect", "MODEL"],
    "corpus": ["corpus", "list"],
    "papers": ["papers", "run", "joachims-6.7"],
    "demo": ["demo", "-o", "demo"],
}
FIRST = "the first"
MOMENTS = [
    *((verb, FIRST) for verb in VERBS),
    *((verb, "typer") for verb in VERBS),
    *((verb, "numpy") for verb in VERBS if verb != "corpus"),
    ("train", "widemargin.cli.app"),
    ("train", "widemargin.documents.reading"),
    ("train", "numpy.linalg"),
    ("train", "scipy.sparse"),
    ("train", "sklearn.base"),
    ("train", "widemargin.classifier"),
    ("predict", "widemargin.documents.reading"),
    ("evaluate", "widemargin.classifier"),
    ("label", "widemargin.learn.svm.transductive"),
    ("inspect", "widemargin.models"),
    ("corpus", "widemargin.documents.corpora"),
    ("papers", "widemargin.papers"),
    ("demo", "widemargin.documents.demo"),
]


def _start(command: list[str], arguments: list[str], folder: Path, model: Path) -> subprocess.Popen[str]:
    data = write_jsonl(folder / "data.jsonl", TICKETS * 50)
    names = {"DATA": str(data), "MODEL": str(model)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return subprocess.Popen(
            [*command, *(names.get(word, word) for word in arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=environment(),
            start_new_session=True,
        )


def _wait_for_import(process: subprocess.Popen[str], module: str) -> None:
    """Until `module` is there; with FIRST, until the program has begun to import what it needs."""
    assert process.stderr is not None
    seen = False
    for line in process.stderr:
        if line.startswith("import time:"):
            if seen:
                return
            name = line.rpartition("|")[2].strip()
            seen = module == FIRST and name == "widemargin.cli"
            if name == module:
                return
    raise AssertionError(f"{module} was never imported")


def _check_end(process: subprocess.Popen[str], folder: Path) -> None:
    _, errors = process.communicate(timeout=60)
    said = [line for line in errors.splitlines() if not line.startswith("import time:")]
    assert process.returncode == 130, said
    assert said[-1] == "interrupted"
    assert not [line for line in said if "Traceback" in line or "Exception ignored" in line], said
    left = {path.name for path in folder.rglob("*")} - {"data.jsonl", "demo"}
    assert left == set(), "nothing is left behind"


@pytest.mark.parametrize(("verb", "module"), MOMENTS)
def test_while_importing(model, tmp_path, verb, module):
    process = _start(MODULE, VERBS[verb], tmp_path, model)
    _wait_for_import(process, module)
    process.send_signal(signal.SIGINT)
    _check_end(process, tmp_path)


@pytest.mark.skipif(not SCRIPT.exists(), reason="the command is not installed")
@pytest.mark.parametrize("module", [FIRST, "widemargin.cli.app", "numpy"])
def test_of_the_installed_command(model, tmp_path, module):
    process = _start([*WATCHED, str(SCRIPT)], VERBS["train"], tmp_path, model)
    _wait_for_import(process, module)
    process.send_signal(signal.SIGINT)
    _check_end(process, tmp_path)


@pytest.mark.parametrize("delay", [0, 0.02, 0.1, 0.25, 0.5])
def test_a_while_later(model, tmp_path, delay):
    """The demo takes longer than any of these."""
    process = _start(MODULE, VERBS["demo"], tmp_path, model)
    _wait_for_import(process, FIRST)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    _check_end(process, tmp_path)


LOADS_CORE = """
import enum, os, signal, time
from widemargin.cli.interrupts import Interrupts
asked, call = [], enum.EnumType.__call__
def interrupted(*given, **named):
    if not asked:
        asked.append(os.kill(os.getpid(), signal.SIGINT))
    return call(*given, **named)
with Interrupts(until_exit=True):
    enum.EnumType.__call__ = interrupted
    import widemargin._core
    assert asked
    print("loaded", flush=True)
    try:
        time.sleep(5)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def test_while_the_core_is_initialized():
    """An exception there would abort the process: the interrupt waits."""
    command = [sys.executable, "-c", LOADS_CORE]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["loaded", "interrupted"]), done.stderr


def test_twice(model, tmp_path):
    """Somebody impatient."""
    process = _start(MODULE, VERBS["demo"], tmp_path, model)
    _wait_for_import(process, "numpy")
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    _check_end(process, tmp_path)


def test_ignored_in_the_background(model, tmp_path):
    """As a shell starts jobs in the background."""
    process = subprocess.Popen(
        [*MODULE, "inspect", str(model)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    _wait_for_import(process, "numpy")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0


class TestSwallowed:
    def test_it_comes_again(self):
        """A library that catches everything does not keep it."""
        interrupts = Interrupts(until_exit=False)
        swallowed = []

        def work():
            with interrupts:
                try:
                    signal.raise_signal(signal.SIGINT)
                except BaseException as error:
                    swallowed.append(error)
                for _ in range(500):
                    time.sleep(0.01)

        with pytest.raises(KeyboardInterrupt):
            work()
        assert len(swallowed) == 1
        assert interrupts.asked
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)

    def test_tidying_up_is_not_disturbed(self):
        """Longer than it takes to come again, in all the ways in which something is tidied up."""
        tidied = []

        def tidy(what):
            for _ in range(30):
                time.sleep(0.01)
            try:
                raise OSError("a file is gone already")
            except OSError:
                for _ in range(30):
                    time.sleep(0.01)
            tidied.append(what)

        class Guard:
            def __enter__(self):
                return self

            def __exit__(self, *error):
                tidy("exit")

        def work():
            with Interrupts(until_exit=False):
                try:
                    with Guard():
                        try:
                            signal.raise_signal(signal.SIGINT)
                        finally:
                            tidy("finally")
                except BaseException:
                    tidy("except")
                    raise

        with pytest.raises(KeyboardInterrupt):
            work()
        assert tidied == ["finally", "exit", "except"]

    def test_in_a_callback_it_is_not_printed(self, capfd):
        class Noisy:
            def __del__(self):
                signal.raise_signal(signal.SIGINT)

        def work():
            with Interrupts(until_exit=False):
                noisy = Noisy()
                del noisy
                for _ in range(500):
                    time.sleep(0.01)

        with pytest.raises(KeyboardInterrupt):
            work()
        assert "Exception ignored" not in capfd.readouterr().err

    def test_other_threads_do_without(self):
        """Only the main thread takes signals."""
        found = []

        def body():
            with Interrupts(until_exit=False) as interrupts:
                found.append(interrupts.asked)

        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
        assert found == [False]


def test_inside_a_string_that_is_executed(tmp_path):
    """Dataclasses execute strings: an interrupt there must not change how the process ends."""
    (tmp_path / "program.py").write_text(
        "import signal, sys\n"
        "from widemargin.cli.interrupts import Interrupts\n"
        "try:\n"
        "    with Interrupts(until_exit=True):\n"
        "        exec('signal.raise_signal(signal.SIGINT)')\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(130)\n"
    )
    done = subprocess.run([sys.executable, "-m", "program"], cwd=tmp_path, env=environment(), check=False)
    assert done.returncode == 130
