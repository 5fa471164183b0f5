"""Models, and a real server of them in a process of its own, at a free port of this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

for needed in ("starlette", "uvicorn", "uvloop", "httptools", "msgspec", "prometheus_client", "httpx"):
    pytest.importorskip(needed, reason=f"the extra serve is not installed ({needed})")

import httpx  # noqa: E402

from widemargin import KernelSVM, TextClassifier, Vectorizer  # noqa: E402

WORDS = {
    "billing": "invoice refund charged amount credit payment card money",
    "hardware": "printer screen keyboard battery fan disk mouse cable",
    "network": "wifi connect vpn timeout router dns switch proxy",
}
TEXTS, LABELS = [], []
for place in range(60):
    name = list(WORDS)[place % 3]
    words = WORDS[name].split()
    TEXTS.append(f"the {words[place % 8]} and {words[(place * 3 + 1) % 8]} of case {place}")
    LABELS.append(name)
SETS = [[label] if place % 4 else [label, "urgent"] for place, label in enumerate(LABELS)]
PROBE = "my invoice and the printer"


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """Model files. Tests that change one copy it."""
    folder = tmp_path_factory.mktemp("models")
    calibrated = TextClassifier(estimate="k-fold", calibration="platt", tune=None)
    calibrated.fit(TEXTS, LABELS).save(folder / "tickets.wm")
    TextClassifier(tune=None, estimate=None).fit(TEXTS, SETS).save(folder / "sets.wm")
    TextClassifier(tune=None, estimate=None).fit(TEXTS, [label == "billing" for label in LABELS]).save(
        folder / "two.wm"
    )
    TextClassifier(tune=None, estimate=None).fit(TEXTS, [len(label) for label in LABELS]).save(
        folder / "numbers.wm"
    )
    TextClassifier(learner=KernelSVM(kernel="rbf"), tune=None, estimate=None).fit(TEXTS, LABELS).save(
        folder / "kernel.wm"
    )
    columns = [{"title": text.split()[1], "body": text} for text in TEXTS]
    fields = TextClassifier(
        Vectorizer(fields=("title", "body"), blocks="title,body,words"), tune=None, estimate=None
    )
    fields.fit(columns, LABELS).save(folder / "fields.wm")
    # Another model of the same task, to swap in.
    TextClassifier(tune=None, estimate=None).fit(TEXTS[:30], SETS[:30]).save(folder / "sets2.wm")
    return folder


class Server:
    """A running server; `log` are the lines it has written."""

    def __init__(self, *arguments: str | Path, **environment: str) -> None:
        kept = {name: value for name, value in os.environ.items() if name != "WIDEMARGIN_TOKEN"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "widemargin", "serve", *map(str, arguments), "--port", "0"],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env={**kept, **environment},
        )
        self._lines: list[bytes] = []
        os.set_blocking(self.process.stderr.fileno(), False)
        first = self.wait_for("listening")
        self.url = first["url"].rstrip("/")
        self.port = int(self.url.rpartition(":")[2])
        self.client = httpx.Client(base_url=self.url, timeout=30)

    @property
    def log(self) -> list[dict[str, Any]]:
        found = self.process.stderr.read()
        self._lines += [found] if found else []
        lines = b"".join(self._lines).decode().split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def wait_for(self, event: str, seconds: float = 60, **having: Any) -> dict[str, Any]:
        """The first line about an event."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for line in self.log:
                if line["event"] == event and having.items() <= line.items():
                    return line
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"no {event} in the log: {b''.join(self._lines)!r}")

    def predict(self, body: Any, **more: Any) -> httpx.Response:
        return self.client.post("/v1/predict", json=body, **more)

    def stop(self) -> int:
        self.client.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(20)
        finally:
            self.process.kill()
            self.process.stderr.close()


@pytest.fixture(scope="session")
def server(folder) -> Iterator[Server]:
    """A server of all models. Tests must not change their files."""
    names = ("tickets", "sets", "two", "numbers", "kernel", "fields")
    running = Server(*(folder / f"{name}.wm" for name in names), "--max-body", "300000", "--max-batch", "500")
    yield running
    assert running.stop() == 0
