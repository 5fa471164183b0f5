"""When memory runs out: which stage, how much it had to hold, and what helps there."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

import widemargin.classifier.fitting.steps
import widemargin.tune.tuning
from tests.cli.conftest import COMMAND, environment
from widemargin.errors import OutOfMemoryError, memory_for
from widemargin.learn.svm.kernel_svm import KernelSVM
from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.weight.vectorizer import Vectorizer

FULL = "Unable to allocate 93.1 GiB for an array with shape (5, 5)"


def full(*arguments, **keywords):
    raise MemoryError(FULL)


STAGES = {
    "vectorizing": (
        (Vectorizer, "fit_counts", []),
        "Not enough memory for vectorizing (18 documents, ",
        "--hashed",
    ),
    "training": (
        (LinearSVM, "fit", []),
        "Not enough memory for training a LinearSVM (18 documents x ",
        "raise --min-df",
    ),
    "kernels": (
        (KernelSVM, "fit", ["--learner", "kernel-svm"]),
        "Not enough memory for training a KernelSVM (18 documents x ",
        "Lower --cache",
    ),
    "estimating": (
        (widemargin.classifier.fitting.steps, "assess", []),
        "Not enough memory for estimating quality (18 documents x 3 labels)",
        "--estimate xi-alpha",
    ),
}


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_of_training(here, tickets, tmp_path, monkeypatch, stage):
    (owner, name, options), message, cure = STAGES[stage]
    monkeypatch.setattr(owner, name, full)
    done = here("train", tickets, "-o", tmp_path / "m.wm", "--tune", "none", *options)
    assert done.returncode == 74
    assert message in done.stderr
    assert FULL in done.stderr
    assert cure in done.stderr
    assert stage in ("vectorizing", "training") or "--min-df" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_choosing(here, tickets, tmp_path, monkeypatch):
    monkeypatch.setattr("widemargin.classifier.training.tune", full)
    done = here("train", tickets, "-o", tmp_path / "m.wm")
    assert done.returncode == 74
    assert "Not enough memory for choosing among representations (18 documents, " in done.stderr
    assert "--tune none" in done.stderr


def test_reading(here, tickets, tmp_path, monkeypatch):
    from widemargin.documents.collection import Collection

    extend = Collection.extend

    def some(self, batch):
        if type(self) is not Collection:
            return extend(self, batch)
        extend(self, batch.subset(range(7)))
        raise MemoryError

    monkeypatch.setattr(Collection, "extend", some)
    done = here("train", tickets, "-o", tmp_path / "m.wm")
    assert done.returncode == 74
    assert f"Not enough memory for reading {tickets} (a file of " in done.stderr
    assert "stopped after 7 documents" in done.stderr


def test_the_innermost_stage_is_named():
    with (
        pytest.raises(OutOfMemoryError, match=r"for learning \(2 rows\)\. Use one\."),
        memory_for("all of it", "everything", "Stop."),
        memory_for("learning", "2 rows", "Use one."),
    ):
        raise MemoryError("std::bad_alloc")


def test_a_library_that_cannot_be_loaded(here, tickets, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "widemargin.weight.vectorizer", None)
    done = here("train", tickets, "-o", tmp_path / "m.wm")
    assert done.returncode == 74
    assert "a part of the program cannot be loaded" in done.stderr
    assert "internal error" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="limits on memory are kept elsewhere in other ways")
@pytest.mark.parametrize("megabytes", [60, 256, 297, 460])
def test_a_library_that_does_not_fit(tickets, tmp_path, megabytes):
    """Too little to map NumPy; or enough for that, but not for the buffers of OpenBLAS."""
    done = subprocess.run(
        [*COMMAND, "train", str(tickets), "-o", str(tmp_path / "m.wm")],
        capture_output=True,
        text=True,
        env=environment(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes * 10**6, megabytes * 10**6)),
        timeout=60,
        check=False,
    )
    assert done.returncode == 74, done.stderr
    assert "there is not enough memory to load the program and its libraries" in done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
