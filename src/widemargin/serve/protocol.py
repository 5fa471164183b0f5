"""HTTP/1.1 with limits on the head of a request: its size, and the time it takes to arrive.

uvicorn has limits on neither with httptools. Bodies are limited where they are read
(:mod:`widemargin.serve.app`).
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from widemargin.serve.problems import MEDIA_TYPE, problem_body

MAX_HEAD = 32 << 10
"""The most bytes of the address and the headers of a request."""


_TOO_LARGE = f"The address and the headers have more than {MAX_HEAD} bytes."


class TooLargeError(Exception):
    """The head of a request is too large."""


def limited_protocol(seconds: float) -> type[HttpToolsProtocol]:
    """A protocol whose requests must arrive, up to their bodies, within `seconds`."""

    class LimitedProtocol(HttpToolsProtocol):
        _timer: asyncio.TimerHandle | None = None
        _head = 0
        _unfinished = 0
        _in_head = True

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._start_timer()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._in_head and not self.transport.is_closing():
                # The parser keeps an unfinished header itself.
                self._unfinished += len(data)
                if self._unfinished > MAX_HEAD:
                    self._refuse(431, _TOO_LARGE)

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._head = self._unfinished = 0
            self._in_head = True
            if self._timer is None:
                self._start_timer()

        def on_url(self, url: bytes) -> None:
            self._count(len(url))
            super().on_url(url)

        def on_header(self, name: bytes, value: bytes) -> None:
            self._count(len(name) + len(value))
            super().on_header(name, value)

        def on_headers_complete(self) -> None:
            self._stop_timer()
            self._in_head = False
            super().on_headers_complete()

        def send_400_response(self, msg: str) -> None:
            if self._head > MAX_HEAD:  # the parser hides what its callbacks raise
                self._refuse(431, _TOO_LARGE)
            else:
                self._refuse(400, "This is not HTTP.")

        def _count(self, size: int) -> None:
            self._head += size
            if self._head > MAX_HEAD:
                raise TooLargeError

        def _start_timer(self) -> None:
            self._stop_timer()
            self._timer = self.loop.call_later(seconds, self._too_slow)

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _too_slow(self) -> None:
            self._timer = None
            if not self.transport.is_closing():
                self._refuse(408, f"The request did not arrive within {seconds:g} seconds.")

        def _refuse(self, status: int, detail: str) -> None:
            body = problem_body(status, detail)
            head = (
                f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: {MEDIA_TYPE}\r\n"
                f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
            self.transport.close()

    return LimitedProtocol
