"""Errors as RFC 9457 describes them: ``application/problem+json``."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from widemargin._printable import printable

MEDIA_TYPE = "application/problem+json"


class Problem(HTTPException):
    """What is wrong with a request, for its sender.

    Parameters
    ----------
    closes : whether the connection ends with the answer, since the rest of the request is not read
    """

    def __init__(
        self, status: int, detail: str, headers: Mapping[str, str] | None = None, *, closes: bool = False
    ) -> None:
        super().__init__(status, detail, {**(headers or {}), **({"connection": "close"} if closes else {})})


def problem_body(status: int, detail: str) -> bytes:
    """The body of an answer."""
    title = HTTPStatus(status).phrase
    about = {"type": "about:blank", "title": title, "status": status, "detail": printable(detail)}
    return msgspec.json.encode(about)


def response_of(problem: HTTPException) -> Response:
    """The answer that says what is wrong."""
    detail = str(problem.detail)
    if not isinstance(problem, Problem):  # of the framework: no such path, or another method
        detail = {
            404: "There is nothing at this address. GET /openapi.json describes what there is.",
            405: "This address does not take this method.",
        }.get(problem.status_code, detail)
    return Response(
        problem_body(problem.status_code, detail), problem.status_code, problem.headers, media_type=MEDIA_TYPE
    )


async def on_problem(request: Request, error: Any) -> Response:
    """Starlette's handler of expected errors."""
    return response_of(error)


async def on_error(request: Request, error: Any) -> Response:
    """Starlette's handler of unexpected errors, which are logged without the text that caused them."""
    return response_of(Problem(500, "The server failed on this request. Its log names the error."))
