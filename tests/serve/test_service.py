"""What the service answers, to good requests and to bad ones."""

from __future__ import annotations

import json
import socket
import time

import msgspec
import pytest

from tests.serve.conftest import PROBE, TEXTS, Server
from widemargin.classifier import Scorer
from widemargin.report.predictions import prediction_rows
from widemargin.serve import messages


def raw(server: Server, data: bytes, *, wait: float = 10) -> bytes:
    """The answer to bytes that may not be HTTP."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=wait) as connection:
        connection.sendall(data)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def is_problem(response, status: int) -> str:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert problem["title"]
    assert response.headers["x-request-id"]
    return problem["detail"]


@pytest.mark.parametrize("name", ["tickets", "sets", "two", "numbers", "kernel", "fields"])
def test_answers_are_those_of_the_model(server, folder, name):
    scorer = Scorer.load(folder / f"{name}.wm")
    texts = [*TEXTS[:20], "", "nothing of it is known"]
    asked = {"model": name, "top": 2, "scores": True, "probabilities": name == "tickets"}
    response = server.predict({**asked, "documents": [{"id": i, "text": t} for i, t in enumerate(texts)]})
    assert response.status_code == 200, response.text
    expected = prediction_rows(
        scorer.rule, scorer.scores(texts), every_score=True, top=2, proba=asked["probabilities"]
    )
    found = response.json()
    assert found["documents"] == [{"id": i, **row} for i, row in enumerate(json.loads(json.dumps(expected)))]
    msgspec.json.decode(response.content, type=messages.PredictAnswer)
    alone = server.predict({**asked, "text": texts[0]}).json()
    assert alone["documents"] == [{**found["documents"][0], "id": None}]
    assert alone["version"] == found["version"]


def test_ids_are_kept(server):
    ids = ["a", 7, None, "", "ä\n", 10**30]
    found = server.predict({"model": "sets", "documents": [{"id": i, "text": PROBE} for i in ids]})
    assert [row["id"] for row in found.json()["documents"]] == ids


def test_columns(server):
    documents = [
        {"text": {"title": "wifi", "body": "the router"}},
        {"text": {"body": None}},
        {"text": "wifi"},
    ]
    found = server.predict({"model": "fields", "documents": documents})
    assert found.json()["documents"][0]["labels"] == ["network"]
    assert "no column 'heading'" in is_problem(
        server.predict({"model": "fields", "text": {"heading": ""}}), 422
    )
    assert "not columns" in is_problem(server.predict({"model": "sets", "text": {"title": "wifi"}}), 422)


def test_thresholds(server):
    def labels(model: str, threshold: float | None) -> list:
        return server.predict({"model": model, "text": PROBE, "threshold": threshold}).json()["documents"][0][
            "labels"
        ]

    assert len(labels("sets", -1e9)) == 4
    assert labels("sets", 1e9) == []
    assert labels("tickets", 1e9) == []
    assert labels("tickets", -1e9) == labels("tickets", None)
    assert labels("two", -1e9) == labels("two", None)


def test_an_empty_batch(server):
    assert server.predict({"model": "sets", "documents": []}).json()["documents"] == []


@pytest.mark.parametrize(
    ("body", "status", "about"),
    [
        ({}, 422, "either"),
        ({"text": "a", "documents": []}, 422, "either"),
        ({"text": 1}, 422, "$.text"),
        ({"text": "a", "unknown": 1}, 422, "unknown"),
        ({"text": "a", "top": 0}, 422, "$.top"),
        ({"documents": [{"text": "a"}, {"id": 1}]}, 422, "$.documents[1]"),
        ({"text": "a", "model": "other"}, 404, "tickets"),
        ({"text": "a", "model": None}, 422, "several models"),
        ({"text": "a", "model": "sets", "probabilities": True}, 422, "--calibrate"),
        ({"model": "sets", "documents": [{"text": "a"}] * 501}, 413, "500"),
        ([], 422, "object"),
    ],
)
def test_requests_that_are_wrong(server, body, status, about):
    assert about in is_problem(server.predict(body), status)


@pytest.mark.parametrize("path", ["/v1/predict", "/v1/explain"])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"text": "\xff"}',
        b'{"text": "\xed\xa0\x80"}',
        b'{"text": "\\ud800"}',
        b"[" * 100000,
        b"\x00",
    ],
)
def test_bodies_that_are_not_json(server, path, body):
    response = server.client.post(path, content=body, headers={"content-type": "application/json"})
    is_problem(response, 422 if body.startswith(b"[") else 400)


def test_other_types_methods_and_addresses(server):
    is_problem(server.client.post("/v1/predict", content=b"{}", headers={"content-type": "text/plain"}), 415)
    assert server.client.get("/v1/predict").headers["allow"] == "POST"
    is_problem(server.client.request("OPTIONS", "/v1/predict"), 405)
    is_problem(server.client.get("/v2"), 404)
    answer = server.client.post("/v1/models", headers={"Origin": "http://example.com"})
    assert "access-control-allow-origin" not in answer.headers


def test_explanations(server, folder):
    found = server.client.post("/v1/explain", json={"model": "sets", "text": PROBE, "label": "billing"})
    answer = msgspec.json.decode(found.content, type=messages.ExplainAnswer)
    assert answer.label == "billing"
    assert sum(part.value for part in answer.contributions) + answer.bias == pytest.approx(answer.score)
    assert {PROBE[part.start : part.end] for part in answer.contributions} >= {"invoice", "printer"}
    number = server.client.post("/v1/explain", json={"model": "numbers", "text": PROBE, "label": "8"})
    assert number.json()["label"] == 8
    is_problem(server.client.post("/v1/explain", json={"model": "sets", "text": "a", "label": "other"}), 422)
    is_problem(server.client.post("/v1/explain", json={"model": "kernel", "text": PROBE}), 422)


def test_explanations_of_columns(server):
    text = {"title": "wifi", "body": "the invoice"}
    found = server.client.post("/v1/explain", json={"model": "fields", "text": text}).json()
    for part in found["contributions"]:
        assert text[part["column"]][part["start"] : part["end"]] == part["text"]


def test_models_are_described(server):
    answer = msgspec.json.decode(server.client.get("/v1/models").content, type=messages.ModelsAnswer)
    found = {model.name: model for model in answer.models}
    assert (found["tickets"].task, found["tickets"].probabilities) == ("multiclass", True)
    assert found["sets"].labels == ["billing", "hardware", "network", "urgent"]
    assert found["fields"].columns == ["title", "body"]
    assert found["two"].labels == [False, True]


def test_health_and_figures(server):
    assert server.client.get("/healthz").json() == {"status": "ok"}
    assert server.client.get("/readyz").json()["status"] == "ready"
    server.predict({"model": "sets", "text": PROBE, "threshold": -1e9})
    text = server.client.get("/metrics").text
    assert 'widemargin_labels_total{label="urgent",model="sets"}' in text
    assert 'widemargin_requests_total{route="/v1/predict",status="200"}' in text
    assert 'widemargin_model_stale{model="sets"} 0.0' in text
    assert "widemargin_requests_in_flight 1.0" in text  # this one


def test_large_bodies(server):
    long = "word " * 70_000
    assert "300000 bytes" in is_problem(server.predict({"model": "sets", "text": long}), 413)

    def pieces():
        for _ in range(20):
            yield b" " * 40_000

    response = server.client.post(
        "/v1/predict", content=pieces(), headers={"content-type": "application/json"}
    )
    is_problem(response, 413)
    assert server.predict({"model": "sets", "text": long[:200_000]}).status_code == 200


def test_bytes_that_are_not_http(server):
    assert raw(server, b"\x16\x03\x01 hello\r\n\r\n").startswith(
        b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem"
    )
    large = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 40_000
    assert raw(server, large).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"Host: localhost:1", b"200"),
        (b"Host: 127.0.0.1", b"200"),
        (b"Host: [::1]:80", b"200"),
        (b"Host: example.com", b"421"),
        (b"Host: localhost.example.com", b"421"),
        (b"Host: 127.0.0.1.example.com:8000", b"421"),
        (b"Host: localhost\r\nHost: example.com", b"400"),
        (b"X: y", b"400"),
    ],
)
def test_other_hosts_are_refused(server, head, status):
    found = raw(server, b"GET /healthz HTTP/1.1\r\n" + head + b"\r\nConnection: close\r\n\r\n")
    assert found.split(b" ", 2)[1] == status
    assert status == b"200" or b"application/problem+json" in found


def test_request_ids(server):
    given = server.client.get("/healthz", headers={"x-request-id": "job-7.a_b"})
    assert given.headers["x-request-id"] == "job-7.a_b"
    server.wait_for("request", request_id="job-7.a_b")
    for wrong in ("a b", "x" * 65, 'a"}', ""):
        made = server.client.get("/healthz", headers={"x-request-id": wrong}).headers["x-request-id"]
        assert made != wrong
        assert len(made) == 16


def test_aborted_requests_leave_nothing(server):
    body = json.dumps({"model": "kernel", "documents": [{"text": text} for text in TEXTS * 6]}).encode()
    head = (
        b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n" % len(body)
    )
    for part in (head, head + body[:100], head + body):
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", server.port)) as connection:
                connection.sendall(part)
    end = time.monotonic() + 20
    while "widemargin_requests_in_flight 1.0" not in server.client.get("/metrics").text:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert server.predict({"model": "sets", "text": PROBE}).status_code == 200


def test_the_log_has_no_texts(server):
    secret = "zebraquagga"
    server.predict({"model": "sets", "text": f"{secret} invoice"})
    server.predict({"model": "sets", "text": {secret: secret}})
    server.client.post("/v1/explain", json={"model": "kernel", "text": secret})
    server.client.post(
        "/v1/predict", content=f'{{"text": "{secret}'.encode(), headers={"content-type": "application/json"}
    )
    server.client.get(f"/{secret}", params={"text": secret})
    server.client.post("/", data={"model": "sets", "text": secret})
    time.sleep(0.2)
    lines = server.log
    assert secret not in json.dumps(lines)
    mine = [line for line in lines if line["event"] == "request" and line["route"] == "/v1/predict"]
    assert {"request_id", "method", "status", "ms", "model", "version", "documents"} <= set(mine[0])


HOSTILE = "<script>alert(1)</script>\"'&\u202e\x00 invoice </textarea><img src=x onerror=alert(2)>"


def test_the_page(server):
    empty = server.client.get("/", params={"model": "sets"})
    policy = empty.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script" not in policy
    assert "unsafe" not in policy
    assert server.client.get("/style.css").headers["content-type"].startswith("text/css")
    found = server.client.post("/", data={"model": "sets", "text": PROBE})
    assert '<mark class="wm-for' in found.text
    assert "<bdi>billing</bdi>" in found.text
    hostile = server.client.post("/", data={"model": "sets", "text": HOSTILE}).text
    assert "<script" not in hostile
    assert "<img" not in hostile
    assert "\u202e" not in hostile
    assert "\x00" not in hostile
    columns = server.client.post(
        "/", data={"model": "fields", "text.title": "wifi", "text.body": "router"}
    ).text
    assert 'name="text.title"' in columns
    assert "wifi</mark>" in columns
    kernel = server.client.post("/", data={"model": "kernel", "text": PROBE})
    assert kernel.status_code == 200
    assert "<bdi>" in kernel.text
    is_problem(server.client.get("/", params={"model": "other"}), 404)
    form = {"content-type": "application/x-www-form-urlencoded"}
    for body in (b"text=%ff", b"\xff", b"&".join([b"a=1"] * 101)):
        is_problem(server.client.post("/", content=body, headers=form), 422)
    is_problem(server.client.post("/", content=b"text=a", headers={"content-type": "text/plain"}), 415)
