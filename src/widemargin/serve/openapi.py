"""The description of the service (OpenAPI 3.1), made from the types that read requests."""

from __future__ import annotations

from typing import Any

import msgspec

from widemargin import __version__
from widemargin.serve import messages
from widemargin.serve.problems import MEDIA_TYPE
from widemargin.serve.registry import Registry
from widemargin.serve.settings import Settings

_REF = "#/components/schemas/{name}"
_PROBLEMS = {
    400: "The request is not HTTP or JSON, or has no Host header.",
    401: "The token is missing or wrong.",
    404: "There is no such model.",
    405: "The address does not take this method.",
    408: "The request did not arrive in time.",
    413: "The body has too many bytes, or too many documents.",
    415: "The body has another type.",
    421: "The Host header names another host.",
    422: "The request is JSON, but not what this address takes.",
    431: "The address and the headers are too large.",
    500: "The server failed.",
    503: "The server is busy, draining, or needs longer than its limit.",
}
_TYPES = (
    messages.PredictRequest,
    messages.ExplainRequest,
    messages.PredictAnswer,
    messages.ExplainAnswer,
    messages.ModelsAnswer,
    messages.Ready,
    messages.Healthy,
    messages.ProblemAnswer,
)


def describe_service(models: Registry, settings: Settings) -> dict[str, Any]:
    """What each address takes and returns, with the names of the models that are served now."""
    _, schemas = msgspec.json.schema_components(_TYPES, ref_template=_REF)
    names = {"type": "string", "enum": models.names}
    several = len(models.names) > 1
    for name in ("PredictRequest", "ExplainRequest"):
        schema = schemas[name]
        schema["properties"]["model"] = names
        schema["required"] = [*schema.get("required", []), *(["model"] if several else [])]
    request = schemas["PredictRequest"]
    request["oneOf"] = [{"required": ["text"]}, {"required": ["documents"]}]
    request["properties"]["documents"]["maxItems"] = settings.max_batch
    for name in ("PredictRequest", "Document", "ExplainRequest"):
        if not any(model.columns for model in models.models):
            schemas[name]["properties"]["text"] = {"type": "string"}
    first = models.names[0]
    example: dict[str, Any] = {"model": first, "text": "The invoice is wrong."}
    batch = {"model": first, "documents": [{"id": "7", "text": "The invoice is wrong."}], "top": 3}
    secured: list[Any] = [{"token": []}] if settings.token is not None else []
    post_predict = _operation(
        "Label documents.",
        "PredictAnswer",
        _body("PredictRequest", {"one text": example, "a batch": batch}),
        secured,
        (413, 415, 422),
    )
    post_explain = _operation(
        "Explain the score of a label by the terms of the text.",
        "ExplainAnswer",
        _body("ExplainRequest", {"one text": example}),
        secured,
        (413, 415, 422),
    )
    paths = {
        "/v1/predict": {"post": post_predict},
        "/v1/explain": {"post": post_explain},
        "/v1/models": {"get": _operation("The models.", "ModelsAnswer", None, secured)},
        "/healthz": {"get": _operation("Whether the process answers.", "Healthy")},
        "/readyz": {"get": _ready()},
        "/metrics": {"get": _plain("Figures for Prometheus.", "text/plain", secured)},
        "/openapi.json": {"get": _plain("This description.", "application/json")},
        "/": {"get": _plain("A page to try the models.", "text/html")},
    }
    components: dict[str, Any] = {"schemas": schemas}
    if secured:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "widemargin",
            "version": __version__,
            "description": "Labels, scores and explanations of text classifiers.",
        },
        "paths": paths,
        "components": components,
    }


def _operation(
    summary: str,
    answer: str,
    body: dict[str, Any] | None = None,
    secured: list[Any] | None = None,
    problems: tuple[int, ...] = (),
) -> dict[str, Any]:
    more = (*problems, 408) if body is not None else problems
    made: dict[str, Any] = {
        "summary": summary,
        "responses": {
            "200": {"description": "Done.", "content": {"application/json": {"schema": _ref(answer)}}},
            **_problems(400, *more, *((401, 404) if secured or body else ()), 421, 503),
        },
    }
    if body is not None:
        made["requestBody"] = body
    if secured:
        made["security"] = secured
    return made


def _plain(summary: str, kind: str, secured: list[Any] | None = None) -> dict[str, Any]:
    responses = {"200": {"description": "Done.", "content": {kind: {}}}, **_problems(400, 401, 421)}
    return {"summary": summary, "responses": responses, **({"security": secured} if secured else {})}


def _ready() -> dict[str, Any]:
    content = {"application/json": {"schema": _ref("Ready")}}
    made = _operation("Whether requests are served.", "Ready")
    made["responses"]["503"] = {"description": "The server is about to stop.", "content": content}
    return made


def _body(name: str, examples: dict[str, Any]) -> dict[str, Any]:
    shown = {title: {"value": value} for title, value in examples.items()}
    return {"required": True, "content": {"application/json": {"schema": _ref(name), "examples": shown}}}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": _REF.format(name=name)}


def _problems(*statuses: int) -> dict[str, Any]:
    content = {MEDIA_TYPE: {"schema": _ref("ProblemAnswer")}}
    return {
        str(status): {"description": _PROBLEMS[status], "content": content}
        for status in sorted({*statuses, 405, 431, 500})
    }
