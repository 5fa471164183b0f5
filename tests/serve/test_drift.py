"""The drift alarm of the service: quiet for documents like those of training, loud for others."""

from __future__ import annotations

import time

import msgspec
import numpy as np
import pytest

from tests.serve.conftest import TEXTS, WORDS, Server
from widemargin import TextClassifier
from widemargin.serve.messages import ModelsAnswer

SHARED = ["the", "and", "of", "for", "with", "please", "help", "again", "today", "new", "old", "my", "our"]


def drawn(n: int, seed: int, names: list[str]) -> tuple[list[str], list[str]]:
    """Documents of some labels, with words of every label, and their labels."""
    rng = np.random.default_rng(seed)
    every = " ".join(WORDS.values()).split() + SHARED
    labels = rng.choice(names, size=n).tolist()
    texts = [
        " ".join([*rng.choice(WORDS[label].split(), size=2), *rng.choice(every, size=6)]) for label in labels
    ]
    return texts, labels


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """A server of a model with a profile of its training documents, and of one without."""
    folder = tmp_path_factory.mktemp("watched")
    texts, labels = drawn(900, 0, list(WORDS))
    TextClassifier(estimate="k-fold", tune=None).fit(texts, labels).save(folder / "watched.wm")
    TextClassifier(estimate=None, tune=None).fit(texts, labels).save(folder / "plain.wm")
    server = Server(folder / "watched.wm", folder / "plain.wm")
    yield server
    server.stop()


def send(server: Server, texts: list[str]) -> None:
    """Documents in small batches, slowly enough that all are watched."""
    before = drift(server).documents
    for start in range(0, len(texts), 250):
        part = texts[start : start + 250]
        answer = server.predict({"model": "watched", "documents": [{"text": text} for text in part]})
        assert answer.status_code == 200
        before += len(part)
        end = time.monotonic() + 20
        while drift(server).documents < before:
            assert time.monotonic() < end
            time.sleep(0.02)


def drift(server: Server):
    answer = msgspec.json.decode(server.client.get("/v1/models").content, type=ModelsAnswer)
    return answer.models[0].drift


def test_drift_is_seen(watched):
    assert (drift(watched).documents, drift(watched).alarms) == (0, 0)
    send(watched, drawn(500, 1, list(WORDS))[0])
    assert drift(watched).alarms == 0
    figures = watched.client.get("/metrics").text
    assert 'widemargin_drift_documents{model="watched"} 500.0' in figures
    assert 'widemargin_drift_alarms{model="watched"} 0.0' in figures
    assert 'widemargin_drift_share{group="labels",model="watched",property="billing"}' in figures
    assert 'model="plain"' not in "".join(line for line in figures.splitlines() if "drift" in line)
    # Another mix of topics, within 1,000 documents.
    send(watched, drawn(1000, 2, ["billing", "billing", "network"])[0])
    found = drift(watched)
    assert found.alarms > 0
    assert found.latest
    alarm = watched.wait_for("drift", model="watched")
    assert alarm["level"] == "warning"


def test_a_model_without_a_profile_is_not_watched(watched):
    assert watched.predict({"model": "plain", "text": TEXTS[0]}).status_code == 200
    answer = msgspec.json.decode(watched.client.get("/v1/models").content, type=ModelsAnswer)
    assert answer.models[1].drift is msgspec.UNSET
