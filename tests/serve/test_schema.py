"""schemathesis against the description of the service: no server error, and every answer fits."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance  # noqa: E402

from tests.serve.conftest import Server  # noqa: E402

OPERATIONS = {
    "POST /v1/predict": 60,
    "POST /v1/explain": 40,
    "GET /v1/models": 3,
    "GET /healthz": 3,
    "GET /readyz": 3,
    "GET /metrics": 3,
    "GET /": 3,
}


@pytest.fixture(scope="module")
def plain(folder):
    """A server of models of plain texts."""
    running = Server(folder / "sets.wm", folder / "tickets.wm", "--max-body", "100000")
    yield running
    assert [line for line in running.log if line["level"] == "error"] == []
    running.stop()


@pytest.fixture(scope="module")
def operations(plain):
    schema = schemathesis.openapi.from_url(f"{plain.url}/openapi.json")
    found = [result.ok() for result in schema.get_all_operations()]
    return {f"{operation.method.upper()} {operation.path}": operation for operation in found}


def test_all_operations_are_tested(operations):
    # The description itself is not among the operations that schemathesis makes of it.
    assert operations.keys() == OPERATIONS.keys()


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["valid", "invalid"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_answer_fits(operations, name, mode):
    if mode == GenerationMode.NEGATIVE and name.startswith("GET"):
        pytest.skip("nothing can be wrong in a request without parameters")

    @given(case=operations[name].as_strategy(generation_mode=mode))
    @settings(
        max_examples=OPERATIONS[name],
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def check(case):
        # A model may have no probabilities, or no such label: no schema can say that of several models.
        excluded = [positive_data_acceptance]
        response = case.call()
        if response.status_code == 413:  # which schemathesis does not count as a rejection
            excluded.append(negative_data_rejection)
        case.validate_response(response, excluded_checks=excluded)

    check()


def test_the_description_is_of_the_messages(plain):
    found = plain.client.get("/openapi.json").json()
    assert found["openapi"].startswith("3.1")
    request = found["paths"]["/v1/predict"]["post"]["requestBody"]["content"]["application/json"]
    for example in request["examples"].values():
        assert plain.predict(example["value"]).status_code == 200
    names = found["components"]["schemas"]["PredictRequest"]["properties"]["model"]["enum"]
    assert names == ["sets", "tickets"]


def test_the_guide_shows_real_answers(plain):
    """Requests and answers alternate in the guide; the answers have the shape of the service's."""
    guide = (Path(__file__).parents[2] / "docs/serving.md").read_text()
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", guide, re.DOTALL)]
    assert len(blocks) == 4

    def shape(value):
        """The names in an answer, without those of labels."""
        if isinstance(value, list):
            return [shape(each) for each in value]
        if isinstance(value, dict):
            named = {"probabilities", "scores"}
            return {name: None if name in named else shape(each) for name, each in value.items()}
        return type(value).__name__

    for request, shown in zip(blocks[::2], blocks[1::2], strict=True):
        answer = plain.predict({**request, "model": "tickets"})
        assert shape(answer.json()) == shape(shown)
