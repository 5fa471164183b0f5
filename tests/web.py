"""A web server on this machine, also as the proxy of addresses elsewhere."""

from __future__ import annotations

import contextlib
import http.server
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def answering(content: dict[str, bytes], promised: dict[str, int] | None = None) -> Iterator[str]:
    """Serve bytes by their path (or by their whole address to those who ask as a proxy); gives its address.

    `promised` has lengths that the header states, where they are not those of the bytes.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path not in content:
                self.send_error(404)
                return
            body = content[self.path]
            self.send_response(200)
            self.send_header("Content-Length", str((promised or {}).get(self.path, len(body))))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
