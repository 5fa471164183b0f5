"""The peer of benchmarks/serve.py: a scikit-learn pipeline behind the same framework and server.

Requests and answers are the same, read and written by the same library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from widemargin.serve.messages import read_predict


def serve_pipeline(score: Callable[[list[str]], Any], names: Sequence[str], port: int) -> None:
    """Serve until the process is ended."""

    async def predict(request: Request) -> Response:
        _, documents = read_predict(await request.body(), 10**6)
        decided = score([document.text for document in documents]) > 0
        labels = [names[j] for j in decided.nonzero()[1].tolist()]
        ends = np.cumsum(decided.sum(axis=1)).tolist()
        rows = [
            {"id": document.id, "labels": labels[start:end]}
            for document, start, end in zip(documents, [0, *ends], ends, strict=False)
        ]
        return Response(msgspec.json.encode({"documents": rows}), media_type="application/json")

    app = Starlette(routes=[Route("/v1/predict", predict, methods=["POST"])])
    uvicorn.run(app, port=port, loop="uvloop", http="httptools", access_log=False, log_level="error")
