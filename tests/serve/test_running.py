"""A server over time: models that change, slow and unknown callers, and its end."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from tests.serve.conftest import PROBE, TEXTS, Server
from widemargin.classifier import Scorer
from widemargin.errors import UsageError
from widemargin.report.predictions import prediction_rows
from widemargin.serve.settings import Settings, named_models, read_token

TOKEN = "a-token-of-some-length"


def put(source, target) -> None:
    """Replace a file at once, as `train` does."""
    shutil.copy(source, target.with_suffix(".new"))
    target.with_suffix(".new").rename(target)


@pytest.fixture
def running(folder, tmp_path):
    """A server whose model and times a test may change."""
    model = tmp_path / "sets.wm"
    shutil.copy(folder / "sets.wm", model)
    server = Server(model, "--poll", "0.05", "--timeout", "1", "--drain", "1.5")
    server.model = model
    yield server
    server.stop()


def until(condition, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_damaged_or_missing_file_does_not_stop_the_service(running, folder):
    before = running.predict({"text": PROBE, "scores": True}).json()

    def state() -> dict:
        answer = running.client.get("/readyz")
        assert answer.status_code == 200
        return answer.json()

    for damage in (lambda: running.model.write_bytes(b"garbage"), running.model.unlink):
        damage()
        until(lambda: state()["status"] == "stale")
        (model,) = state()["models"]
        assert model["version"] == before["version"]
        assert model["problem"]
        assert str(running.model.parent) not in model["problem"]
        assert running.predict({"text": PROBE, "scores": True}).json() == before
        assert 'widemargin_model_stale{model="sets"} 1.0' in running.client.get("/metrics").text
        put(folder / "sets.wm", running.model)
        until(lambda: state()["status"] == "ready")
    # Truncated, and a model that cannot be served.
    running.model.write_bytes((folder / "sets.wm").read_bytes()[:-100])
    until(lambda: state()["status"] == "stale")
    put(folder / "sets2.wm", running.model)
    until(lambda: state()["status"] == "ready")
    assert running.predict({"text": PROBE}).json()["version"] != before["version"]
    text = running.client.get("/metrics").text
    assert 'widemargin_model_changes_total{model="sets",outcome="refused"} 3.0' in text


def test_swaps_drop_nothing_and_mix_nothing(running, folder):
    """Every answer is that of the version which it names."""
    texts = TEXTS[:20]
    expected = {}
    for name in ("sets", "sets2"):
        scorer = Scorer.load(folder / f"{name}.wm")
        rows = prediction_rows(scorer.rule, scorer.scores(texts), every_score=True)
        expected[name] = json.loads(json.dumps([{"id": i, **row} for i, row in enumerate(rows)]))
    body = {"scores": True, "documents": [{"id": i, "text": text} for i, text in enumerate(texts)]}
    done, found, failed = threading.Event(), {}, []

    def ask() -> None:
        import httpx

        with httpx.Client(base_url=running.url, timeout=20) as client:
            while not done.is_set():
                try:
                    answer = client.post("/v1/predict", json=body)
                    found.setdefault(answer.json()["version"], []).append(answer.json()["documents"])
                except Exception as error:
                    failed.append(error)
                    return

    askers = [threading.Thread(target=ask) for _ in range(3)]
    for asker in askers:
        asker.start()
    for turn in range(6):
        put(folder / ("sets2.wm" if turn % 2 == 0 else "sets.wm"), running.model)
        until(lambda turn=turn: sum(line["event"] == "model swapped" for line in running.log) > turn)
        # Answers of this version, too, before the next one comes.
        version = [line["version"] for line in running.log if line["event"] == "model swapped"][-1]
        until(lambda version=version: version in found or failed)
    done.set()
    for asker in askers:
        asker.join()
    assert failed == []
    assert len(found) == 2
    for answers in found.values():
        assert answers[0] in expected.values()
        assert all(answer == answers[0] for answer in answers)


def everything(connection) -> bytes:
    """What comes until the connection ends."""
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def test_slow_requests_are_ended(running):
    head = b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += b"Content-Length: 99\r\n\r\n"
    for start in (b"", b"POST /v1/pre", head, head + b'{"text"'):
        with socket.create_connection(("127.0.0.1", running.port), timeout=20) as connection:
            connection.sendall(start)
            answer = everything(connection)
            assert answer.startswith(b"HTTP/1.1 408 ")
            assert b"problem+json" in answer


def test_a_trickle_of_headers_is_ended(running):
    with socket.create_connection(("127.0.0.1", running.port), timeout=20) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        end, open_still = time.monotonic() + 20, True
        while open_still and time.monotonic() < end:
            try:
                connection.sendall(b"X: y\r\n")
            except OSError:
                open_still = False
            time.sleep(0.1)
    assert not open_still


def test_a_request_at_work_is_finished_on_sigterm(running):
    body = json.dumps({"text": PROBE}).encode()
    head = (
        b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n" % len(body)
    )
    with socket.create_connection(("127.0.0.1", running.port), timeout=20) as connection:
        connection.sendall(head + body[:5])
        running.client.get("/healthz")
        running.process.send_signal(signal.SIGTERM)
        running.wait_for("draining")
        ready = running.client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (503, "draining")
        assert ready.headers["connection"] == "close"
        connection.sendall(body[5:])
        answer = everything(connection)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.endswith(b"}]}")
    assert running.process.wait(20) == 0
    assert running.log[-1]["event"] == "stopped"


def test_tokens(folder, tmp_path):
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    server = Server(folder / "sets.wm", "--token-file", file)
    try:
        body = {"text": PROBE}
        for headers in (
            {},
            {"authorization": f"Bearer {TOKEN}x"},
            {"authorization": TOKEN},
            {"authorization": "Bearer"},
        ):
            for answer in (
                server.predict(body, headers=headers),
                server.client.get("/metrics", headers=headers),
            ):
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"] == "Bearer"
                assert answer.headers["content-type"] == "application/problem+json"
        good = {"authorization": f"Bearer {TOKEN}"}
        assert server.predict(body, headers=good).status_code == 200
        assert server.client.get("/v1/models", headers=good).status_code == 200
        for path in ("/healthz", "/readyz", "/", "/openapi.json"):
            assert server.client.get(path).status_code == 200
        assert server.client.post("/", data={"text": PROBE, "token": "wrong"}).status_code == 401
        assert "<mark" in server.client.post("/", data={"text": PROBE, "token": TOKEN}).text
        assert TOKEN not in json.dumps(server.log)
    finally:
        server.stop()


def test_other_addresses_need_a_token(folder):
    models = named_models([str(folder / "sets.wm")])
    with pytest.raises(UsageError, match="--token-file"):
        Settings(models, host="0.0.0.0")
    assert not Settings(models, host="0.0.0.0", token=TOKEN).is_local
    assert all(
        Settings(models, host=host).is_local for host in ("127.0.0.1", "127.3.2.1", "::1", "localhost")
    )


def test_tokens_of_the_environment(tmp_path):
    assert read_token(None, {}) is None
    assert read_token(None, {"WIDEMARGIN_TOKEN": TOKEN}) == TOKEN
    for wrong in ("short", "with a space in the middle", "ä" * 20, ""):
        with pytest.raises(UsageError, match="at least 16"):
            read_token(None, {"WIDEMARGIN_TOKEN": wrong})


def test_names_of_models(tmp_path):
    file = tmp_path / "a=b.wm"
    file.touch()
    assert named_models([f"x={file}", "dir/tickets.wm"]).keys() == {"x", "tickets"}
    with pytest.raises(UsageError, match="two models"):
        named_models(["tickets.wm", "other/tickets.wm"])
    with pytest.raises(UsageError, match="NAME="):
        named_models([str(file)])


def test_without_the_extra(folder):
    """The error names what to install."""
    code = (
        "import sys; sys.modules['uvicorn'] = None; from widemargin.cli import main; "
        f"sys.exit(main(['serve', {str(folder / 'sets.wm')!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'widemargin[serve]'" in done.stderr
