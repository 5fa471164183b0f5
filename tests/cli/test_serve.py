"""``widemargin serve``: every option has its effect. What the service answers is tested in tests/serve."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time

import pytest

from tests.cli.conftest import COMMAND, environment

for needed in ("starlette", "uvicorn", "uvloop", "httptools", "msgspec", "prometheus_client", "httpx"):
    pytest.importorskip(needed, reason=f"the extra serve is not installed ({needed})")

TOKEN = "0123456789abcdefgh"


def test_options(model, tmp_path):
    import httpx

    token = tmp_path / "token"
    token.write_text(TOKEN)
    own = tmp_path / "own.wm"
    shutil.copy(model, own)
    options = ["--host", "127.0.0.1", "--port", "0", "--token-file", token, "--allow-host", "api.example.com"]
    options += ["--max-body", "2000", "--max-batch", "3", "--timeout", "5", "--poll", "0.05", "--drain", "0"]
    options += ["--threads", "1", "--quiet", "--debug"]
    process = subprocess.Popen(
        [*COMMAND, "serve", str(model), f"other={own}", *map(str, options)],
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    )
    try:
        first = json.loads(process.stderr.readline())
        assert first["event"] == "listening"
        assert first["token"] is True
        assert list(first["models"]) == ["tickets", "other"]
        head = {"authorization": f"Bearer {TOKEN}"}
        with httpx.Client(base_url=first["url"], headers=head) as client:

            def status(body, **headers) -> int:
                return client.post("/v1/predict", json=body, headers=headers).status_code

            good = {"model": "tickets", "text": "wifi drops"}
            assert status(good) == 200
            assert status(good, host="api.example.com") == 200
            assert status(good, host="www.example.com") == 421
            assert status(good, authorization="Bearer wrong") == 401
            assert status({"model": "tickets", "documents": [{"text": "a"}] * 4}) == 413
            assert status({"model": "tickets", "text": "a" * 2000}) == 413
            own.write_bytes(b"garbage")
            end = time.monotonic() + 20
            while client.get("/readyz").json()["status"] != "stale":
                assert time.monotonic() < end
                time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=20)
        assert process.returncode == 0
        # --quiet: no line for every request.
        assert [json.loads(line)["event"] for line in rest.splitlines()] == [
            "model refused",
            "draining",
            "stopped",
        ]
    finally:
        process.kill()


def test_what_cannot_be_served(here, model, tmp_path, monkeypatch):
    monkeypatch.delenv("WIDEMARGIN_TOKEN", raising=False)
    for arguments, code, about in (
        ([tmp_path / "none.wm"], 66, "none.wm"),
        ([model, model], 2, "two models"),
        ([model, "--host", "0.0.0.0"], 2, "--token-file"),
        ([model, "--token-file", tmp_path / "none"], 66, "no such file"),
        ([model, "--host", "192.0.2.1", "--token-file", tmp_path / "token"], 74, "192.0.2.1"),
    ):
        (tmp_path / "token").write_text(TOKEN)
        done = here("serve", *arguments)
        assert done.returncode == code, done.stderr
        assert about in done.stderr


def test_models_of_vectors_cannot_be_served(here, tmp_path):
    data = tmp_path / "data.svm"
    data.write_text("".join(f"{1 if i % 2 else -1} {i % 2 + 1}:1 {i + 3}:0.1\n" for i in range(20)))
    assert here("train", data, "-o", tmp_path / "v.wm", "--tune", "none").returncode == 0
    done = here("serve", tmp_path / "v.wm")
    assert done.returncode == 2
    assert "trained on vectors" in done.stderr
