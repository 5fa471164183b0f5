"""Whether requests differ from the training documents: the drift alarm of every model that is served.

Documents are watched after their requests are answered, on a thread, a few times a second. Of many documents
a second only some are watched, whichever come first, so that watching costs little; which ones does not
depend on what they say, so the alarm holds for them. A model that is swapped in starts anew.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

from widemargin.errors import WidemarginError
from widemargin.monitor.drift_monitor import DriftMonitor
from widemargin.serve.logs import JsonLog
from widemargin.serve.messages import Drift
from widemargin.serve.registry import ServedModel

SECONDS = 0.25
MOST = 500
"""The most documents of a model that are watched in so many seconds."""


class DriftWatch:
    """The monitors of the models, by name."""

    def __init__(self, log: JsonLog) -> None:
        self._log = log
        self._waiting: dict[str, deque[tuple[ServedModel, str]]] = {}
        self._monitors: dict[str, tuple[str, DriftMonitor | None]] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def see(self, model: ServedModel, texts: Sequence[str]) -> None:
        """Watch these documents too, if there is room."""
        if not _has_profile(model):
            return
        waiting = self._waiting.setdefault(model.name, deque())
        waiting.extend((model, text) for text in texts[: max(0, MOST - len(waiting))])

    def start(self) -> None:
        """Watch until `close`."""

        def run() -> None:
            while not self._ended.wait(SECONDS):
                self.work()

        self._thread = threading.Thread(target=run, name="drift", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def work(self) -> None:
        """Count the documents that wait."""
        for waiting in list(self._waiting.values()):
            by_version: dict[str, tuple[ServedModel, list[str]]] = {}
            while waiting:
                model, text = waiting.popleft()
                by_version.setdefault(model.version, (model, []))[1].append(text)
            for model, texts in by_version.values():
                self._update(model, texts)

    def _update(self, model: ServedModel, texts: list[str]) -> None:
        try:
            _, seen = model.scorer.observe(texts)
            with self._lock:
                monitor = self._monitor(model)
                found = [] if monitor is None else monitor.update(seen)
        except WidemarginError as error:  # what cannot be watched can still be served
            self._log.failure(error, model=model.name)
            return
        for alarm in found[:1]:
            self._log("drift", level="warning", model=model.name, version=model.version, **alarm.to_dict())

    def _monitor(self, model: ServedModel) -> DriftMonitor | None:
        version, monitor = self._monitors.get(model.name, ("", None))
        if version != model.version:
            profile = model.scorer.record.profile
            assert profile is not None
            monitor = DriftMonitor(profile.reference, model.scorer.space.column_names.tolist())
            self._monitors[model.name] = (model.version, monitor)
        return monitor

    def state(self, model: ServedModel) -> Drift | None:
        """What is known of a model; None if it has nothing to compare with."""
        if not _has_profile(model):
            return None
        with self._lock:
            monitor = self._monitor(model)
            assert monitor is not None
            latest = monitor.alarms[-1].sentence if monitor.alarms else None
            return Drift(monitor.seen, monitor.n_alarms, latest)

    def shares(self, model: ServedModel) -> list[dict[str, Any]]:
        """The share of every property, in training and in requests."""
        if not _has_profile(model):
            return []
        with self._lock:
            monitor = self._monitor(model)
            return [] if monitor is None else monitor.shares()


def _has_profile(model: ServedModel) -> bool:
    profile = model.scorer.record.profile
    return profile is not None and bool(profile.reference.groups)
