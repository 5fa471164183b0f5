"""The server: sockets, signals, and the end without lost requests.

On SIGTERM, `/readyz` turns 503 while requests are still accepted, so that a load balancer can look away.
Then the socket is closed, and the requests at work are finished. A second signal, or Ctrl-C, skips the wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

import uvicorn

from widemargin.errors import StorageError
from widemargin.serve.app import make_app
from widemargin.serve.drift import DriftWatch
from widemargin.serve.guard import State
from widemargin.serve.logs import JsonLog, take_over_logging
from widemargin.serve.protocol import limited_protocol
from widemargin.serve.registry import Registry
from widemargin.serve.settings import Settings

_TICK = 0.05
_BACKLOG = 1024
# While a model is loaded, its thread gives up the interpreter this often, so that requests do not wait.
_SWITCH = 0.0005


class DrainingServer(uvicorn.Server):
    """A server that is asked to stop, says so, and then stops."""

    def __init__(self, config: uvicorn.Config, state: State, drain: float, log: JsonLog) -> None:
        super().__init__(config)
        self._state, self._drain, self._log = state, drain, log
        self._asked: list[int] = []

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._ask) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self._asked.append(number)

    async def main_loop(self) -> None:
        """Until the time to drain is over, or somebody is in a hurry."""
        end, ticks = float("inf"), 0
        while True:
            await self.on_tick(ticks)  # the date in the headers
            ticks = (ticks + 1) % 10
            await asyncio.sleep(_TICK)
            if self._asked and not self._state.draining:
                self._state.draining = True
                end = time.monotonic() + (self._drain if self._asked[0] == signal.SIGTERM else 0)
                self._log("draining", signal=signal.Signals(self._asked[0]).name)
            if time.monotonic() >= end or len(self._asked) > 1:
                return


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address.

    Raises
    ------
    StorageError
        The address is taken, or not of this machine.
    """
    try:
        family, *_, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except OSError as error:
        reason = error.strerror or error
        raise StorageError(f"Cannot listen at {host}, port {port}: {reason}. Pass another --port.") from error


def run_server(settings: Settings) -> None:
    """Serve until a signal comes."""
    log = JsonLog()
    models = Registry(settings.models, settings.threads, log)
    listening = listen(settings.host, settings.port)
    state, drift = State(), DriftWatch(log)
    config = uvicorn.Config(
        make_app(settings, models, state, drift, log),
        loop="uvloop",
        http=limited_protocol(settings.timeout),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=int(settings.timeout) + 5,
    )
    take_over_logging(log)
    switch = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    models.watch(settings.poll)
    drift.start()
    try:
        log(
            "listening",
            url=_url(listening),
            models={model.name: model.version for model in models.models},
            token=settings.token is not None,
        )
        DrainingServer(config, state, settings.drain, log).run(sockets=[listening])
    finally:
        models.close()
        drift.close()
        sys.setswitchinterval(switch)
    log("stopped")


def _url(listening: Any) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
