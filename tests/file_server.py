"""A real HTTP server of files, with every fault on request."""

from __future__ import annotations

import contextlib
import http.server
import threading
from http import HTTPStatus


class Site:
    """Files by their path, and how each is served.

    Attributes
    ----------
    files : bytes by path
    faults : by path, a status to answer with, or "cut" to close the connection before the last byte
    ranges : whether parts of files are sent on request
    moved : by path, the path that it is redirected to
    headers : by path, what is sent beside the file
    asked : method, path with options, range and authorization of every request
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.faults: dict[str, int | str] = {}
        self.moved: dict[str, str] = {}
        self.headers: dict[str, dict[str, str]] = {}
        self.ranges = True
        self.asked: list[tuple[str, str, str | None, str | None]] = []
        self.address = ""

    def url(self, path: str) -> str:
        return f"{self.address}/{path}"


@contextlib.contextmanager
def serving():
    """A site on this machine."""
    site = Site()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self):
            self._answer(body=False)

        def do_GET(self):
            self._answer(body=True)

        def _answer(self, *, body: bool) -> None:
            path = self.path.partition("?")[0].lstrip("/")
            part = self.headers.get("Range")
            site.asked.append((self.command, self.path, part, self.headers.get("Authorization")))
            fault = site.faults.get(path)
            if path in site.moved:
                self._head(HTTPStatus.FOUND, 0, Location=site.url(site.moved[path]))
                return
            if isinstance(fault, int):
                self._head(fault, 0)
                return
            content = site.files.get(path)
            if content is None and (path == "" or path.endswith("/")):
                inside = sorted(name for name in site.files if name.startswith(path))
                links = "".join(f'<a href="/{name}">{name}</a>' for name in inside)
                content = f"<html>{links}</html>".encode()
            if content is None:
                self._head(HTTPStatus.NOT_FOUND, 0)
                return
            extra = dict(site.headers.get(path, {}))
            status = HTTPStatus.OK
            if part is not None and site.ranges:
                first, _, last = part.removeprefix("bytes=").partition("-")
                begin, end = int(first), min(int(last or len(content)) + 1, len(content))
                extra["Content-Range"] = f"bytes {begin}-{end - 1}/{len(content)}"
                content, status = content[begin:end], HTTPStatus.PARTIAL_CONTENT
            self._head(status, len(content), **extra)
            if body:
                self.wfile.write(content[: len(content) * 2 // 3] if fault == "cut" else content)
                if fault == "cut":
                    self.close_connection = True

        def _head(self, status: int, size: int, **extra: str) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(size))
            for name, value in extra.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    site.address = f"http://127.0.0.1:{server.server_address[1]}"
    yield site
    server.shutdown()
    server.server_close()
    thread.join()
