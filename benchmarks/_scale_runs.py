"""Runs of the command line in processes of their own, measured by the system, and checks of their models."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_EVERY = 0.5  # seconds between two looks at the temporary files
_BATCH = 20_000


class RunError(Exception):
    """A command that did not succeed, with what it printed."""


@dataclass(frozen=True)
class Run:
    """What a training took.

    Attributes
    ----------
    documents : how many it learned from
    wall_s, cpu_s : seconds by the clock, and of all cores together
    peak_bytes : largest resident memory of the process (ru_maxrss)
    scratch_bytes : largest total size of its temporary files
    summary : what it printed
    """

    model: Path
    documents: int
    wall_s: float
    cpu_s: float
    peak_bytes: int
    scratch_bytes: int
    summary: dict[str, Any]

    @property
    def stages(self) -> dict[str, float]:
        return dict(self.summary["seconds"])

    @property
    def vectorizing_s(self) -> float:
        """Seconds from the files to the rows, once processes have started."""
        others = ("start", "learn", "estimate", "tune", "save")
        return sum(spent for stage, spent in self.stages.items() if stage not in others)

    @property
    def learning_s(self) -> float:
        return self.stages["learn"]

    def figures(self) -> dict[str, Any]:
        """For the quality of a row."""
        return {
            "documents": self.documents,
            "labels": self.summary["labels"],
            "terms": self.summary["terms"],
            "values": self.summary["values"],
            "wall_s": round(self.wall_s, 2),
            "cpu_s": round(self.cpu_s, 2),
            "vectorizing_s": round(self.vectorizing_s, 2),
            "learning_s": round(self.learning_s, 2),
            "stages": self.stages,
            "peak_bytes": self.peak_bytes,
            "scratch_bytes": self.scratch_bytes,
            "model_bytes": self.summary["bytes"],
        }


def train(shards: Sequence[Path], model: Path, scratch: Path, *words: str) -> Run:
    """Run ``widemargin train`` on `shards`; its temporary files are in `scratch`, and nothing else is."""
    fixed = (
        "--tune",
        "none",
        "--estimate",
        "none",
        "--learner",
        "linear-svm",
        "--json",
        "--quiet",
        "--force",
    )
    command = [
        sys.executable,
        "-m",
        "widemargin",
        "train",
        *map(str, shards),
        "-o",
        str(model),
        *fixed,
        *words,
    ]
    if "--memory" in words:
        command += ["--scratch", str(scratch)]
    scratch.mkdir(parents=True, exist_ok=True)
    printed, complained = scratch.with_suffix(".out"), scratch.with_suffix(".err")
    watch = _Watch(scratch)
    with printed.open("wb") as output, complained.open("wb") as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=errors,
            # With bytecode, as on most machines: otherwise every process compiles the package first.
            env={**os.environ, "TMPDIR": str(scratch), "PYTHONDONTWRITEBYTECODE": ""},
        )
        try:
            # The resources of this process alone: those of all children would have the largest of them.
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            watch.stop()
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        said = complained.read_text(errors="replace").strip()[-2000:]
        raise RunError(f"{' '.join(words) or 'in memory'}: exit code {process.returncode}. {said}")
    summary = json.loads(printed.read_text())
    return Run(
        model,
        int(summary["documents"]),
        wall,
        used.ru_utime + used.ru_stime,
        used.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        # Between two looks, files may have come and gone; training from disk knows what it wrote.
        max(watch.most, int(summary.get("memory", {}).get("scratch", 0))),
        summary,
    )


class _Watch:
    """The largest size of a folder, looked at now and then by a thread."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.most = folder, 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(_EVERY):
            self.most = max(self.most, folder_size(self._folder))


def folder_size(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size
            except OSError:
                continue  # removed since it was listed
    return total


def objectives(models: Sequence[Path], shards: Sequence[Path], threads: int) -> list[float]:
    """The primal objective of each model on the documents, summed over the labels, in double precision.

    Texts become rows by each model's own vectorizer; where the terms and their weights are the same, once.
    """
    from widemargin import TextClassifier

    learned = [TextClassifier.load(model) for model in models]
    for one in learned:
        one.vectorizer_.n_jobs = threads
    weights = [_dense(one.learner_.coef_) for one in learned]
    biases = [np.asarray(one.learner_.intercept_, dtype=np.float64) for one in learned]
    losses = np.zeros(len(models))
    same = all(_same_terms(learned[0], one) for one in learned[1:])
    number = {label: place for place, label in enumerate(learned[0].classes_)}
    for texts, labels in _batches(shards):
        signs = np.full((len(texts), len(number)), -1.0)
        signs[np.arange(len(texts)), [number[label] for label in labels]] = 1.0
        rows = None
        for place, one in enumerate(learned):
            if rows is None or not same:
                rows = one.vectorizer_.transform(texts).astype(np.float64)
            scores = rows @ weights[place].T + biases[place]
            losses[place] += one.learner_.C * np.maximum(0.0, 1.0 - signs * scores).sum()
    squares = [float((w * w).sum() + (b * b).sum()) for w, b in zip(weights, biases, strict=True)]
    return [0.5 * square + float(loss) for square, loss in zip(squares, losses, strict=True)]


def terms_that_differ(first: Path, second: Path) -> int:
    """How many terms are in one model and not in the other, or at another place."""
    from widemargin import TextClassifier

    names = [TextClassifier.load(model).vectorizer_.get_feature_names_out() for model in (first, second)]
    shared = min(map(len, names))
    return int((names[0][:shared] != names[1][:shared]).sum()) + abs(len(names[0]) - len(names[1]))


def members_that_differ(first: Path, second: Path) -> int:
    """How many members of two model files differ in a byte; the manifest, which has times, does not count."""
    with zipfile.ZipFile(first) as one, zipfile.ZipFile(second) as other:
        names = set(one.namelist()) | set(other.namelist())
        if set(one.namelist()) != set(other.namelist()):
            return len(names)
        return sum(one.read(name) != other.read(name) for name in names - {"manifest.json"})


def _dense(weights: Any) -> NDArray[np.float64]:
    """Weights of a row per label; those learned from disk are sparse."""
    found = weights.toarray() if hasattr(weights, "toarray") else weights
    return np.asarray(found, dtype=np.float64)


def _same_terms(one: Any, other: Any) -> bool:
    first, second = one.vectorizer_, other.vectorizer_
    return bool(
        first.n_documents_ == second.n_documents_
        and np.array_equal(first.document_frequencies_, second.document_frequencies_)
        and np.array_equal(first.get_feature_names_out(), second.get_feature_names_out())
    )


def _batches(shards: Sequence[Path]) -> Iterator[tuple[list[str], list[str]]]:
    texts: list[str] = []
    labels: list[str] = []
    for shard in shards:
        with shard.open(encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                texts.append(record["text"])
                labels.append(record["labels"][0])
                if len(texts) == _BATCH:
                    yield texts, labels
                    texts, labels = [], []
    if texts:
        yield texts, labels
