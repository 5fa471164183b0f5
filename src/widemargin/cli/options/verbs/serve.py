"""Options of `serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from widemargin.cli.options.option import REQUIRED, Option


def _serve(spelling: str, help: str, kind: Any = str, default: Any = None, **more: Any) -> Option:
    return Option(spelling, help, "serve", kind, default, common=True, **more)


SERVING = (
    Option(
        "MODELS",
        "Model files, as FILE or NAME=FILE. Requests choose a model by name.",
        "serve",
        list[str],
        REQUIRED,
    ),
    _serve(
        "--host ADDRESS",
        "The address to listen at. Another than this machine's needs a token.",
        str,
        "127.0.0.1",
    ),
    _serve("--port N", "The port to listen at; 0 takes a free one, which the log names.", int, 8000, least=0),
    _serve(
        "--token-file FILE",
        "A file with the token that requests must carry (Authorization: Bearer TOKEN).",
        Path,
        shown="the variable WIDEMARGIN_TOKEN, or none",
    ),
    _serve(
        "--allow-host NAME",
        "Also accept requests whose Host header is NAME, such as a proxy sends (may be repeated).",
        list[str],
        shown="localhost and the address",
    ),
    _serve("--max-body BYTES", "The most bytes of a request.", int, 16 << 20, least=1),
    _serve("--max-batch N", "The most documents of a request.", int, 10_000, least=1),
    _serve("--timeout SECONDS", "For a request to arrive, and for its answer.", float, 30.0, least=0.1),
    _serve("--poll SECONDS", "How often to look for changed model files.", float, 1.0, least=0.01),
    _serve(
        "--drain SECONDS",
        "How long to accept requests after SIGTERM, while /readyz says 503.",
        float,
        1.0,
        least=0,
    ),
)
