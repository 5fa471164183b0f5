"""Load for a server of this machine: wrk as fast as it goes, and a paced client that checks every answer."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

HEADERS = "Host: localhost\r\nContent-Type: application/json\r\n"


@dataclass
class Load:
    """What wrk saw."""

    requests_per_s: float
    failed: int
    p99_ms: float


def run_wrk(url: str, bodies: Sequence[str], folder: Path, *, seconds: int, connections: int) -> Load:
    """Post the bodies in turn for so many seconds, on one thread."""
    if shutil.which("wrk") is None:
        raise SystemExit("This benchmark needs wrk: apt install wrk")
    script = folder / "load.lua"
    lines = ",\n".join(json.dumps(body) for body in bodies)  # Lua reads the same escapes of ASCII
    script.write_text(
        f"local bodies = {{\n{lines}\n}}\nlocal at = 0\n"
        "request = function()\n  at = at % #bodies + 1\n"
        '  return wrk.format("POST", "/v1/predict", {["Content-Type"] = "application/json"}, bodies[at])\n'
        "end\n"
    )
    command = [
        "wrk",
        "-t1",
        f"-c{connections}",
        f"-d{seconds}s",
        "--timeout",
        "10s",
        "--latency",
        "-s",
        script,
        url,
    ]
    text = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    failed = sum(map(int, errors.groups())) if errors else 0
    failed += int(refused[1]) if refused else 0
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()
    p99 = float(number) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[unit]
    return Load(float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]), failed, p99)


@dataclass
class Paced:
    """What the paced client saw: the time from when each request was due to its answer, in milliseconds."""

    times_ms: list[float] = field(default_factory=list)
    failed: int = 0
    wrong: int = 0
    versions: set[str] = field(default_factory=set)

    def p99_ms(self) -> float:
        return float(np.percentile(self.times_ms, 99)) if self.times_ms else float("nan")


def run_paced(
    port: int, bodies: Sequence[str], is_right: Callable[[int, dict], bool], *, rate: float, seconds: float
) -> Paced:
    """`rate` requests a second over 16 connections; `is_right(number of the body, answer)` checks each."""
    return asyncio.run(_paced(port, bodies, is_right, rate, seconds))


async def _paced(port: int, bodies: Sequence[str], is_right: Callable, rate: float, seconds: float) -> Paced:
    found, turns = Paced(), iter(range(int(rate * seconds)))
    start = time.perf_counter() + 0.2
    answers: list[tuple[int, bytes]] = []

    async def ask() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for turn in turns:
            due = start + turn / rate
            if (wait := due - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            body = bodies[turn % len(bodies)].encode()
            writer.write(
                f"POST /v1/predict HTTP/1.1\r\n{HEADERS}Content-Length: {len(body)}\r\n\r\n".encode() + body
            )
            try:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(re.search(rb"content-length: (\d+)", head)[1])
                answer = await reader.readexactly(size)
            except (OSError, asyncio.IncompleteReadError):
                found.failed += 1
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                continue
            found.times_ms.append(1000 * (time.perf_counter() - due))
            if head.startswith(b"HTTP/1.1 200"):
                answers.append((turn % len(bodies), answer))
            else:
                found.failed += 1
        writer.close()

    await asyncio.gather(*(ask() for _ in range(16)))
    for number, body in answers:  # afterwards, so that checking does not delay requests
        answer = json.loads(body)
        found.versions.add(answer["version"])
        found.wrong += not is_right(number, answer)
    return found
