"""The log: one JSON object a line on stderr. It never has the text of a document."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec

from widemargin._printable import printable_json


class JsonLog:
    """Writes events: ``log("model swapped", model="tickets")``."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def __call__(self, event: str, level: str = "info", **what: Any) -> None:
        time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = msgspec.json.encode({"time": time, "level": level, "event": event, **what}).decode()
        stream = sys.stderr if self._stream is None else self._stream
        with self._lock:
            try:
                stream.write(printable_json(line) + "\n")
                stream.flush()
            except (OSError, ValueError):  # a closed log is no reason to stop serving
                return

    def failure(self, error: BaseException, **what: Any) -> None:
        """Log where an unexpected error was raised, without its message, which may have a text in it."""
        places = [
            f"{frame.filename}:{frame.lineno} {frame.name}"
            for frame in traceback.extract_tb(error.__traceback__)
        ]
        self("error", level="error", error=type(error).__name__, places=places[-12:], **what)


class _Handler(logging.Handler):
    """Messages of uvicorn as lines of the log; they are about connections, not about documents."""

    def __init__(self, log: JsonLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        message = str(record.msg) if record.args is None else record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            self._log.failure(record.exc_info[1])
        else:
            self._log("server", level=record.levelname.lower(), message=message.splitlines()[0][:200])


def take_over_logging(log: JsonLog) -> None:
    """Send what the libraries of the server log to `log`."""
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers = [_Handler(log)] if name in ("uvicorn", "asyncio") else []
        logger.setLevel(logging.WARNING)
        logger.propagate = name in ("uvicorn.error", "uvicorn.access")
