"""The addresses of the service, and what happens at each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from widemargin._threads import thread_count
from widemargin.serve import answers
from widemargin.serve.drift import DriftWatch
from widemargin.serve.guard import Guard, State
from widemargin.serve.logs import JsonLog
from widemargin.serve.messages import Healthy, ModelsAnswer, Ready, read_explain, read_predict
from widemargin.serve.metrics import Metrics
from widemargin.serve.openapi import describe_service
from widemargin.serve.page import STYLE_SHEET, Page
from widemargin.serve.problems import Problem, on_error, on_problem
from widemargin.serve.registry import Registry, ServedModel
from widemargin.serve.settings import Settings

# Requests of so many bytes are answered at once: handing them to a thread takes longer than a linear model.
_SMALL = 16 << 10
# Requests that wait for a thread; more are turned away.
_MOST_WAITING = 64
# A body that is too large is read on for a moment, so that its sender sees the answer.
_PATIENCE = 1.0


class Service:
    """The endpoints, around the models that they ask."""

    def __init__(
        self, settings: Settings, models: Registry, state: State, metrics: Metrics, drift: DriftWatch
    ) -> None:
        self._settings, self._models, self._state = settings, models, state
        self._metrics, self._drift = metrics, drift
        self._threads = ThreadPoolExecutor(thread_count(settings.threads), "score")
        self._waiting = 0
        self._page = Page(models, settings)

    def routes(self) -> list[Route]:
        """The addresses."""
        return [
            Route("/v1/predict", self.predict, methods=["POST"]),
            Route("/v1/explain", self.explain, methods=["POST"]),
            Route("/v1/models", self.list_models, methods=["GET"]),
            Route("/healthz", self.healthy, methods=["GET"]),
            Route("/readyz", self.ready, methods=["GET"]),
            Route("/metrics", self.figures, methods=["GET"]),
            Route("/openapi.json", self.description, methods=["GET"]),
            Route("/", self.page, methods=["GET"]),
            Route("/", self.page_answer, methods=["POST"]),
            Route("/style.css", self.style, methods=["GET"]),
        ]

    async def predict(self, request: Request) -> Response:
        body, facts = await self._json_body(request), request.scope["widemargin"]
        read_all = partial(read_predict, body, self._settings.max_batch)
        return _json(await self._answer(len(body), read_all, partial(self._predict, facts)))

    def _predict(self, facts: dict[str, Any], model: ServedModel, asked: Any) -> bytes:
        request, documents = asked
        texts = answers.plain_texts(model, [document.text for document in documents])
        rows = answers.predict(model, request, documents, texts)
        self._drift.see(model, texts)
        self._metrics.labeled(model.name, (row["labels"] for row in rows), len(rows))
        facts.update(model=model.name, version=model.version, documents=len(rows))
        return answers.encode_prediction(model, rows)

    async def explain(self, request: Request) -> Response:
        body, facts = await self._json_body(request), request.scope["widemargin"]
        return _json(
            await self._answer(len(body), partial(read_explain, body), partial(self._explain, facts))
        )

    def _explain(self, facts: dict[str, Any], model: ServedModel, asked: Any) -> bytes:
        facts.update(model=model.name, version=model.version)
        return msgspec.json.encode(answers.explain(model, asked[0]))

    async def list_models(self, request: Request) -> Response:
        found = []
        for model in self._models.models:
            drift = self._drift.state(model)
            more = {} if drift is None else {"drift": drift}
            found.append(msgspec.structs.replace(model.describe(), **more))
        return _json(msgspec.json.encode(ModelsAnswer(found)))

    async def healthy(self, request: Request) -> Response:
        return _json(msgspec.json.encode(Healthy("ok")))

    async def ready(self, request: Request) -> Response:
        states = [model.state() for model in self._models.models]
        status = "stale" if any(state.status == "stale" for state in states) else "ready"
        status = "draining" if self._state.draining else status
        # A stale model still answers, so a balancer must not take the server out of service.
        return _json(msgspec.json.encode(Ready(status, states)), 503 if self._state.draining else 200)

    async def figures(self, request: Request) -> Response:
        return Response(self._metrics.text(), media_type=CONTENT_TYPE_LATEST)

    async def description(self, request: Request) -> Response:
        return _json(msgspec.json.encode(describe_service(self._models, self._settings)))

    async def page(self, request: Request) -> Response:
        return _html(self._page.empty(request.query_params.get("model")))

    async def page_answer(self, request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0] != "application/x-www-form-urlencoded":
            raise Problem(415, "Send the form of the page, or JSON to /v1/predict.")
        body = await self._body(request)
        return _html(await self._on_thread(partial(self._page.answer, body)))

    async def style(self, request: Request) -> Response:
        return Response(STYLE_SHEET, media_type="text/css; charset=utf-8")

    async def _json_body(self, request: Request) -> bytes:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            # Other sites can make a browser send any other type without asking.
            raise Problem(415, "Send JSON, with the header Content-Type: application/json.")
        return await self._body(request)

    async def _body(self, request: Request) -> bytes:
        """The body of a request, if it is small enough and arrives in time."""
        most, parts, size = self._settings.max_body, [], 0
        receive, late = request.receive, None
        try:
            async with asyncio.timeout(self._settings.timeout) as timer:
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Problem(400, "The connection ended before the request did.", closes=True)
                    size += len(message["body"])
                    if size <= most:
                        parts.append(message["body"])
                    elif late is None:
                        late = time.monotonic() + _PATIENCE
                        parts.clear()
                        timer.reschedule(asyncio.get_running_loop().time() + _PATIENCE)
                    if not message.get("more_body"):
                        break
        except TimeoutError:
            if late is None:
                seconds = self._settings.timeout
                raise Problem(
                    408, f"The body did not arrive within {seconds:g} seconds.", closes=True
                ) from None
        if late is not None:
            raise Problem(413, f"The body has more than {most} bytes. Send several requests.", closes=True)
        return b"".join(parts)

    async def _answer(
        self, size: int, read: Callable[[], Any], answer: Callable[[ServedModel, Any], bytes]
    ) -> bytes:
        """Read a request and answer it: at once if that is short work, otherwise on a thread."""
        if size < _SMALL:
            asked = read()
            model = self._models.model(asked[0].model)
            return (
                answer(model, asked)
                if model.is_fast
                else await self._on_thread(partial(answer, model, asked))
            )

        def work() -> bytes:
            asked = read()
            return answer(self._models.model(asked[0].model), asked)

        return await self._on_thread(work)

    async def _on_thread(self, work: Callable[[], bytes]) -> bytes:
        """The result of `work`, if there is one within the time limit."""
        if self._waiting >= _MOST_WAITING:
            raise Problem(503, "The server is busy. Try again.", {"Retry-After": "1"})
        self._waiting += 1
        running = asyncio.get_running_loop().run_in_executor(self._threads, work)
        running.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.shield(running), self._settings.timeout)
        except TimeoutError:
            detail = f"The answer took more than {self._settings.timeout:g} seconds. Send fewer documents."
            raise Problem(503, detail, {"Retry-After": "1"}) from None

    def _done(self, running: Any) -> None:
        self._waiting -= 1
        if not running.cancelled():
            running.exception()  # it was reported, or nobody waits for it any more


def _json(body: bytes, status: int = 200) -> Response:
    return Response(body, status, media_type="application/json")


def _html(body: bytes) -> Response:
    return Response(body, media_type="text/html; charset=utf-8")


def make_app(settings: Settings, models: Registry, state: State, drift: DriftWatch, log: JsonLog) -> Any:
    """The service as an ASGI application."""
    metrics = Metrics(models, drift)
    service = Service(settings, models, state, metrics, drift)
    app = Starlette(
        routes=service.routes(), exception_handlers={HTTPException: on_problem, Exception: on_error}
    )
    app.router.redirect_slashes = False
    return Guard(app, settings, state, metrics, log)
