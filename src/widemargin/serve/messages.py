"""The bodies of requests and answers. The same types read requests and describe them (`/openapi.json`)."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from widemargin.serve.problems import Problem

Text = str | dict[str, str | None]
Id = str | int | None
Label = str | int | float | bool


class Document(Struct, forbid_unknown_fields=True):
    """A text with an id, which the answer repeats. A text of several columns is an object."""

    text: Text
    id: Id = None


class PredictRequest(Struct, forbid_unknown_fields=True):
    """One `text`, or several `documents`."""

    text: Text | UnsetType = UNSET
    documents: list[Document] | UnsetType = UNSET
    model: Annotated[str | None, Meta(description="The name of a model; needed if there are several.")] = None
    top: Annotated[
        Annotated[int, Meta(ge=1, le=10_000)] | None, Meta(description="Add so many of the best labels.")
    ] = None
    threshold: Annotated[
        float | None,
        Meta(description="Assign labels that score above this, instead of the model's own thresholds."),
    ] = None
    scores: Annotated[bool, Meta(description="Add the score of every label.")] = False
    probabilities: Annotated[
        bool, Meta(description="Add the probability of every label; the model must be calibrated.")
    ] = False


class ExplainRequest(Struct, forbid_unknown_fields=True):
    """One text; `label` is the predicted one unless it is given."""

    text: Text
    model: str | None = None
    label: Label | None = None


class Ranked(Struct, omit_defaults=True):
    """A label with its score."""

    label: Label
    score: float
    probability: float | UnsetType = UNSET


class Prediction(Struct, omit_defaults=True):
    """The labels of a document."""

    id: Id
    labels: list[Label]
    top: list[Ranked] | UnsetType = UNSET
    scores: dict[str, float] | UnsetType = UNSET
    probabilities: dict[str, float] | UnsetType = UNSET


class PredictAnswer(Struct):
    """The model that answered, its version, and one prediction per document, in the order of the request."""

    model: str
    version: str
    documents: list[Prediction]


class Contribution(Struct, omit_defaults=True):
    """What one occurrence of a term adds to the score. Places are counted in characters of the text, or of
    the column."""

    start: int
    end: int
    text: str
    term: str
    value: float
    column: str | UnsetType = UNSET
    spans: list[tuple[int, int]] | UnsetType = UNSET
    block: str | UnsetType = UNSET


class ExplainAnswer(Struct, omit_defaults=True):
    """Why a label has its score: contributions and bias sum to it."""

    model: str
    version: str
    label: Label
    score: float
    bias: float
    contributions: list[Contribution]
    threshold: float | UnsetType = UNSET
    expected_cost: float | UnsetType = UNSET
    path: list[dict[str, Any]] | UnsetType = UNSET
    voters: list[dict[str, Any]] | UnsetType = UNSET


class ModelState(Struct, omit_defaults=True):
    """A model that is served. It is `stale` if its file is missing or damaged, and an older one serves."""

    name: str
    version: str
    status: str
    loaded: str
    problem: str | UnsetType = UNSET


class Drift(Struct):
    """How many documents were compared with those of training, how many alarms there were, and the last."""

    documents: int
    alarms: int
    latest: str | None


class ModelDescription(ModelState, omit_defaults=True, kw_only=True):
    """A model that is served, and what it does."""

    task: str
    labels: list[Label]
    columns: list[str]
    probabilities: bool
    documents: int
    drift: Drift | UnsetType = UNSET


class ModelsAnswer(Struct):
    """The models that are served."""

    models: list[ModelDescription]


class Ready(Struct):
    """Whether requests are served: `ready`, `stale` (with older models than the files), or `draining`."""

    status: str
    models: list[ModelState]


class Healthy(Struct):
    """The process answers."""

    status: str


class ProblemAnswer(Struct):
    """What is wrong (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str


def read(body: bytes, kind: Any) -> Any:
    """The request in a body.

    Raises
    ------
    Problem
        400 if it is not JSON in UTF-8, 422 if it is not such a request.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise Problem(422, f"{error}.") from None
    except UnicodeDecodeError:
        raise Problem(400, "The body is not UTF-8.") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise Problem(400, f"The body is not JSON: {error}.") from None


def read_predict(body: bytes, max_batch: int) -> tuple[PredictRequest, list[Document]]:
    """A request to label texts, and its documents."""
    request: PredictRequest = read(body, PredictRequest)
    if (request.text is UNSET) == (request.documents is UNSET):
        raise Problem(422, "Pass either `text` or `documents`.")
    documents = [Document(request.text)] if request.documents is UNSET else request.documents  # type: ignore[arg-type]
    if len(documents) > max_batch:
        raise Problem(
            413,
            f"There are {len(documents)} documents; at most {max_batch} are allowed. Send several requests.",
        )
    return request, documents


def read_explain(body: bytes) -> tuple[ExplainRequest]:
    """A request to explain a score."""
    return (read(body, ExplainRequest),)
