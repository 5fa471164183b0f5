"""A Reuters model of 90 labels behind HTTP, while its file is replaced every second.

Peer: TfidfVectorizer + LinearSVC with stacked coefficients, trained on the same documents with the same C,
behind the same framework (Starlette on uvicorn with uvloop and httptools) in one process.

Load: wrk on one thread, 8 connections, for a few seconds: one document a request, and batches of 200. Then a
paced client (asyncio, 16 connections) sends 750 requests a second, and measures the times from when each was
due; it compares every answer with the scores of the version that the answer names.

Nothing may be dropped, no answer may differ from that of its version, and at most 1 % of the decisions may
differ from the peer's. `cpu_us` is the processor time of the server for one document.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from _compare import Check, Row, arguments, report
from _load import Load, run_paced, run_wrk
from _reuters import peer, quiet_peer, reuters
from predict import STACKED, stacked
from widemargin import LinearSVM, TextClassifier, Vectorizer
from widemargin.classifier import Scorer
from widemargin.report.predictions import prediction_rows

SECONDS = 5
BATCH = 200
TEXTS = 400  # documents that requests are made of
RATE = 750
ALLOWED_DIFFERENCE = 0.01


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def wait_for(url: str) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url, timeout=1)
            return
        time.sleep(0.1)
    raise SystemExit(f"{url} does not answer")


@contextlib.contextmanager
def our_server(model: Path) -> Iterator[tuple[int, int]]:
    """The port and the process of a server."""
    port = free_port()
    command = [sys.executable, "-m", "widemargin", "serve", model, "--port", port, "--poll", "0.2"]
    with (model.parent / "log").open("w") as log:
        process = subprocess.Popen(list(map(str, command)), stderr=log)
        try:
            wait_for(f"http://127.0.0.1:{port}/healthz")
            yield port, process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


@contextlib.contextmanager
def peer_server(score, names) -> Iterator[tuple[int, int]]:
    from _sklearn_server import serve_pipeline

    port = free_port()
    context = multiprocessing.get_context("fork")  # the pipeline need not be stored
    process = context.Process(target=serve_pipeline, args=(score, names, port), daemon=True)
    process.start()
    try:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield port, process.pid
    finally:
        process.terminate()
        process.join()


@contextlib.contextmanager
def swapping(model: Path, others: list[Path]) -> Iterator[None]:
    """Replace the file of the model every second."""
    ended = threading.Event()

    def run() -> None:
        turn = 0
        while not ended.wait(1.0):
            turn += 1
            shutil.copy(others[turn % len(others)], model.with_suffix(".new"))
            model.with_suffix(".new").rename(model)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def loaded(port: int, pid: int, bodies: list[str], folder: Path) -> tuple[Load, float]:
    """What wrk saw, and the processor time of a request."""
    before = cpu_seconds(pid)
    load = run_wrk(f"http://127.0.0.1:{port}", bodies, folder, seconds=SECONDS, connections=8)
    return load, (cpu_seconds(pid) - before) / max(load.requests_per_s * SECONDS, 1)


def post(port: int, body: str) -> dict:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/predict", body.encode(), {"Content-Type": "application/json"}
    )
    return json.load(urllib.request.urlopen(request))


def rows(repeats: int) -> Iterator[Row]:
    job = reuters()
    names = [f"topic {j}" for j in range(job.Y_train.shape[1])]
    sets = [[names[j] for j in row.nonzero()[0]] for row in job.Y_train]
    texts = [text.encode("ascii", "replace").decode() for text in job.test[:TEXTS]]
    pipeline = peer().fit(job.train, job.Y_train)
    singles = [json.dumps({"text": text}) for text in texts]
    scored = [json.dumps({"text": text, "top": 5}) for text in texts]
    batches = [
        json.dumps({"documents": [{"id": i, "text": texts[(start + i) % TEXTS]} for i in range(BATCH)]})
        for start in range(0, TEXTS, BATCH)
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files, answers = [folder / "a.wm", folder / "b.wm"], {}
        for file, C in zip(files, (1.0, 0.5), strict=True):
            plain = TextClassifier(Vectorizer(), LinearSVM(C=C, balance=0), tune=None, estimate=None)
            plain.fit(job.train, sets).save(file)
        model = folder / "reuters.wm"
        shutil.copy(files[0], model)
        with our_server(model) as ours, peer_server(stacked(pipeline), names) as theirs:
            for file in files:
                scorer = Scorer.load(file)
                found = prediction_rows(scorer.rule, scorer.scores(texts), top=5)
                answers[file] = json.loads(json.dumps([{"id": None, **row} for row in found]))
            by_version: dict[str, list] = {}

            def is_right(number: int, answer: dict) -> bool:
                """Every version answers as one of the files, always the same one."""
                said = answer["documents"][0]
                known = by_version.get(answer["version"])
                if known is None:
                    known = next((rows for rows in answers.values() if rows[number] == said), None)
                    if known is None:
                        return False
                    by_version[answer["version"]] = known
                return known[number] == said

            mine, other = (
                [set(row["labels"]) for body in batches for row in post(port, body)["documents"]]
                for port in (ours[0], theirs[0])
            )
            differ = sum(len(a ^ b) for a, b in zip(mine, other, strict=True)) / (len(mine) * len(names))
            figures: dict[str, list] = {"ours 1": [], "peer 1": [], "ours n": [], "peer n": []}
            with swapping(model, files):
                for _ in range(repeats):
                    figures["ours 1"].append(loaded(*ours, singles, folder))
                    figures["peer 1"].append(loaded(*theirs, singles, folder))
                    figures["ours n"].append(loaded(*ours, batches, folder))
                    figures["peer n"].append(loaded(*theirs, batches, folder))
                paced = run_paced(ours[0], scored, is_right, rate=RATE, seconds=2 * SECONDS)
            log = (folder / "log").read_text()

    def rate(name: str) -> float:
        return float(np.median([load.requests_per_s for load, _ in figures[name]]))

    def cpu(name: str, documents: int = 1) -> float:
        return float(np.median([seconds for _, seconds in figures[name]])) / documents * 1e6

    failed = sum(load.failed for load, _ in figures["ours 1"] + figures["ours n"]) + paced.failed
    same = [
        Check("dropped", failed, 0),
        Check("answers of another version", paced.wrong, 0),
        Check("decisions that differ from the peer's", differ, ALLOWED_DIFFERENCE),
    ]
    about = {"swaps": log.count('"model swapped"'), "versions": len(paced.versions)}
    yield Row(
        "single requests",
        STACKED,
        1 / rate("ours 1"),
        1 / rate("peer 1"),
        same,
        {
            "requests_per_s": round(rate("ours 1")),
            "peer_requests_per_s": round(rate("peer 1")),
            "cpu_us": round(cpu("ours 1")),
            "peer_cpu_us": round(cpu("peer 1")),
            f"p99_ms at {RATE} requests/s": round(paced.p99_ms(), 2),
            **about,
        },
    )
    yield Row(
        f"a document in batches of {BATCH}",
        STACKED,
        1 / (rate("ours n") * BATCH),
        1 / (rate("peer n") * BATCH),
        same,
        {
            "documents_per_s": round(rate("ours n") * BATCH),
            "peer_documents_per_s": round(rate("peer n") * BATCH),
            "cpu_us": round(cpu("ours n", BATCH), 1),
            "peer_cpu_us": round(cpu("peer n", BATCH), 1),
            **about,
        },
    )


def main() -> int:
    options = arguments(__doc__, repeats=3).parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    quiet_peer()
    return report(rows(options.repeats), options.json)


if __name__ == "__main__":
    sys.exit(main())
