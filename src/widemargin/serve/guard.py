"""What stands before every request: its id, the host it asks for, its token; and its line in the log."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from typing import Any

from starlette.responses import Response

from widemargin.serve.logs import JsonLog
from widemargin.serve.metrics import Metrics
from widemargin.serve.problems import Problem, response_of
from widemargin.serve.settings import Settings

# What a caller may call a request: nothing that could break a line of a log.
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# No names and labels here, and no documents.
OPEN = frozenset(["/", "/style.css", "/healthz", "/readyz", "/openapi.json"])
ROUTES = OPEN | {"/v1/predict", "/v1/explain", "/v1/models", "/metrics"}
_POLICY = b"default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", _POLICY),
]


class State:
    """What all requests share; `draining` is set when the server is about to stop."""

    def __init__(self) -> None:
        self.draining = False


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: Any, settings: Settings, state: State, metrics: Metrics, log: JsonLog) -> None:
        self._app, self._settings, self._state = app, settings, state
        self._metrics, self._log = metrics, log
        self._token = None if settings.token is None else token_digest(settings.token)
        self._hosts = _own_hosts(settings)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        route = scope["path"] if scope["path"] in ROUTES else "other"
        headers = [(name, value) for name, value in scope["headers"] if name in _READ]
        request_id = _request_id(headers)
        facts: dict[str, Any] = {}
        scope["widemargin"] = facts  # what endpoints add to the line in the log
        status = 0

        async def answer(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                more = [*_HEADERS, (b"x-request-id", request_id)]
                if self._state.draining:
                    more.append((b"connection", b"close"))
                message["headers"] = [*message["headers"], *more]
            await send(message)

        with self._metrics.in_flight.track_inprogress():
            try:
                refusal = self._refusal(scope, headers)
                await (self._app if refusal is None else refusal)(scope, receive, answer)
            except Exception as error:
                # Starlette has answered already, unless the answer itself failed.
                self._log.failure(error, request_id=request_id.decode(), route=route)
                if not status:
                    await response_of(Problem(500, "The server failed on this request."))(
                        scope, receive, answer
                    )
            finally:
                seconds = time.perf_counter() - start
                self._metrics.answered(route, status, seconds)
                if self._settings.log_requests:
                    self._log(
                        "request",
                        request_id=request_id.decode(),
                        method=scope["method"],
                        route=route,
                        status=status,
                        ms=round(1000 * seconds, 3),
                        **facts,
                    )

    def _refusal(self, scope: Any, headers: list[tuple[bytes, bytes]]) -> Response | None:
        """The answer to a request that is for another host, or without the token."""
        if self._hosts is not None:
            hosts = [value for name, value in headers if name == b"host"]
            if len(hosts) != 1:
                return response_of(Problem(400, "A request needs one Host header.", closes=True))
            if host_of(hosts[0]) not in self._hosts:
                # A page of another site may have had its name point to this machine.
                return response_of(
                    Problem(421, "This server does not serve that host. --allow-host adds one.", closes=True)
                )
        if self._token is None or scope["path"] in OPEN:
            return None
        given = [value for name, value in headers if name == b"authorization"]
        kind, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        digest = hashlib.sha256(token.strip()).digest()
        if hmac.compare_digest(digest, self._token) and kind.lower() == b"bearer":
            return None
        return response_of(
            Problem(401, "Pass the token: Authorization: Bearer TOKEN.", {"WWW-Authenticate": "Bearer"})
        )


_READ = (b"host", b"authorization", b"x-request-id")


def token_digest(token: str) -> bytes:
    """What tokens are compared by: all have the same length."""
    return hashlib.sha256(token.encode()).digest()


def _request_id(headers: list[tuple[bytes, bytes]]) -> bytes:
    for name, value in headers:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return value
    return secrets.token_hex(8).encode()


def host_of(header: bytes) -> str:
    """The name in a Host header, without its port.

    Examples
    --------
    >>> host_of(b"LOCALHOST:8000"), host_of(b"[::1]:8000"), host_of(b"::1")
    ('localhost', '::1', '::1')
    """
    host = header.decode("latin-1").strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    name, colon, port = host.rpartition(":")
    return (name if colon and ":" not in name and port.isdigit() else host).rstrip(".")


def _own_hosts(settings: Settings) -> frozenset[str] | None:
    """The hosts that requests may ask for; None for any.

    From elsewhere the token protects, and names are many; so a list is kept only if one was given.
    """
    given = {host_of(name.encode()) for name in settings.allowed_hosts}
    if settings.is_local:
        return frozenset({"localhost", "127.0.0.1", "::1", settings.host.lower()} | given)
    return frozenset(given | {settings.host.lower()}) if given else None
