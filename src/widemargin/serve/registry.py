"""Models by name. A file that changes is verified and swapped in; one that is damaged is not.

A request takes a :class:`ServedModel` once and uses only that. A swap replaces the reference, so every answer
is of one version, and no request waits for it. The version is the beginning of the SHA-256 that the file
names at its end, and that was verified.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from widemargin.classifier import Scorer
from widemargin.errors import DataError, MissingFileError, UsageError, WidemarginError
from widemargin.models import model_digest
from widemargin.serve.messages import ModelDescription, ModelState
from widemargin.serve.problems import Problem
from widemargin.weight.document_vectors import DocumentVectors

Log = Callable[..., None]

_VERSION_LENGTH = 16
# A file that changes while it is read is read again.
_ATTEMPTS = 5


@dataclass(frozen=True)
class ServedModel:
    """A model as it was loaded.

    Attributes
    ----------
    signature : of the file; it changes with the file
    problem : why a newer file is not served, or None
    """

    name: str
    version: str
    scorer: Scorer
    loaded: str
    signature: tuple[int, ...]
    problem: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of its texts; none if they have one."""
        return self.scorer.representation.columns or ()

    @property
    def is_fast(self) -> bool:
        """Whether one call of the core scores short texts, so that no thread is needed."""
        return self.scorer.scores_in_one_call

    def state(self) -> ModelState:
        """For /readyz."""
        return ModelState(*self._state(), **self._problem())

    def describe(self) -> ModelDescription:
        """For /v1/models."""
        space, rule = self.scorer.space, self.scorer.rule
        return ModelDescription(
            *self._state(),
            **self._problem(),
            task=space.kind,
            labels=space.classes.tolist(),
            columns=list(self.columns),
            probabilities=rule.calibration is not None,
            documents=int(self.scorer.summary.get("documents", 0)),
        )

    def _state(self) -> tuple[str, str, str, str]:
        return self.name, self.version, "ready" if self.problem is None else "stale", self.loaded

    def _problem(self) -> dict[str, Any]:
        return {} if self.problem is None else {"problem": self.problem}


def load_served(name: str, path: Path, threads: int | None) -> ServedModel:
    """Load and verify a model file.

    Raises
    ------
    WidemarginError
        It is missing, damaged, or a model that cannot be served.
    """
    for _ in range(_ATTEMPTS):
        before = signature_of(path)
        scorer = Scorer.load(path, n_jobs=threads)
        version = model_digest(path)[:_VERSION_LENGTH]
        if signature_of(path) == before:
            break
    else:
        raise DataError(f"{path} changes while it is read. Write another file and rename it.")
    if scorer.takes_vectors:
        raise UsageError(f"{path} was trained on vectors, and the service takes texts. Train on texts.")
    blocks: Any = scorer.representation.vectorizer.blocks  # type: ignore[union-attr]
    if any(isinstance(getattr(block, "source", None), DocumentVectors) for block in blocks or ()):
        raise UsageError(
            f"{path} was trained with vectors of documents, which requests do not have. Train without them."
        )
    scorer.scores(["", "a"])  # builds what is built on first use
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return ServedModel(name, version, scorer, now, before)


def signature_of(path: Path) -> tuple[int, ...]:
    """What changes with a file.

    Raises
    ------
    MissingFileError
        There is none.
    """
    try:
        found = os.stat(path)
    except OSError:
        raise MissingFileError(f"There is no file {path}.") from None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


class Registry:
    """The models of a server.

    Parameters
    ----------
    files : by name
    log : is told of swaps: ``log(event, **what)``

    Raises
    ------
    WidemarginError
        A model cannot be served.
    """

    def __init__(self, files: Mapping[str, Path], threads: int | None, log: Log) -> None:
        self._files, self._threads, self._log = dict(files), threads, log
        self._models = {name: load_served(name, path, threads) for name, path in self._files.items()}
        self._refused: dict[str, tuple[int, ...] | None] = {}
        self.loads = {(name, outcome): 0 for name in files for outcome in ("swapped", "refused")}
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def models(self) -> list[ServedModel]:
        """All models, in the order of the command line."""
        return list(self._models.values())

    @property
    def names(self) -> list[str]:
        """Their names."""
        return list(self._models)

    def model(self, name: str | None) -> ServedModel:
        """The model that a request names; the only one if it names none.

        Raises
        ------
        Problem
        """
        if name is None:
            if len(self._models) > 1:
                raise Problem(422, f"There are several models. Pass `model`: {', '.join(self._models)}.")
            return next(iter(self._models.values()))
        found = self._models.get(name)
        if found is None:
            raise Problem(404, f"There is no model {name!r}. Models are {', '.join(self._models)}.")
        return found

    def watch(self, seconds: float) -> None:
        """Look at the files every so many seconds, on a thread, until `close`."""

        def run() -> None:
            while not self._ended.wait(seconds):
                self.refresh()

        self._thread = threading.Thread(target=run, name="models", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def refresh(self) -> None:
        """Swap in the models whose files have changed, and note those that cannot be served."""
        for name, path in self._files.items():
            current = self._models[name]
            try:
                found: tuple[int, ...] | None = signature_of(path)
            except WidemarginError:
                found = None
            if found == current.signature:
                if current.problem is not None:  # the file of the served model is back
                    self._refused.pop(name, None)
                    self._models[name] = replace(current, problem=None)
                continue
            if current.problem is not None and self._refused.get(name, ()) == found:
                continue  # known to be of no use
            self._swap(name, path, current, found)

    def _swap(self, name: str, path: Path, current: ServedModel, found: tuple[int, ...] | None) -> None:
        try:
            new = load_served(name, path, self._threads)
        except Exception as error:  # whatever is wrong with a file, the old model goes on serving
            known = isinstance(error, WidemarginError)
            what = str(error) if known else f"{type(error).__name__} while loading"
            # The path is nobody's business but the log's.
            problem = what.replace(str(path), path.name)
            self._refused[name] = found
            self._models[name] = replace(current, problem=problem)
            self.loads[name, "refused"] += 1
            self._log("model refused", level="error", model=name, version=current.version, problem=what)
            return
        self._refused.pop(name, None)
        self._models[name] = new
        self.loads[name, "swapped"] += 1
        self._log("model swapped", model=name, version=new.version, before=current.version)
