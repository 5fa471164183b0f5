"""Where the tests find the real corpora and other programs' answers, and how a test says it needs one."""

from __future__ import annotations

import functools
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest

from widemargin.documents.corpora import DEFAULT, Corpus, corpus_available, load_corpus
from widemargin.documents.formats.svmlight import read_vectors

_BESIDE_THE_REPOSITORY = Path(__file__).parents[2] / "shared" / "data"
if "WIDEMARGIN_DATA" not in os.environ and _BESIDE_THE_REPOSITORY.is_dir():
    os.environ["WIDEMARGIN_DATA"] = str(_BESIDE_THE_REPOSITORY)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background by a shell: programs that tests interrupt would inherit a deaf ear for it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says more about what else the machine does than about the code.
# The gate tries the same cases every time, so that it judges the change; everybody else looks for new ones.
hypothesis.settings.register_profile("widemargin", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("widemargin")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs_corpus(*names): skipped where a corpus is not on this machine")
    config.addinivalue_line("markers", "paper(*names): runs these entries of the registry of papers")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs_corpus"):
        for name in marker.args:
            if not corpus_available(name):
                pytest.skip(f"the corpus {name} is not on this machine (see `widemargin corpus list`)")


@pytest.fixture(scope="session")
def corpus() -> Callable[..., Corpus]:
    """``corpus("reuters21578")`` loads a corpus once for all tests that are marked ``needs_corpus``."""

    @functools.lru_cache(maxsize=4)
    def load(name: str, split: str | None = DEFAULT) -> Corpus:
        return load_corpus(name, split)

    return load


@pytest.fixture(scope="session")
def reference() -> Callable[[str], Path]:
    """``reference("svmlight")``: the folder of another program's answers, beside the corpora; or skipped."""

    def folder(name: str) -> Path:
        data = os.environ.get("WIDEMARGIN_DATA")
        path = Path(data or "nowhere").parent / "reference" / name
        if data is None or not path.is_dir():
            pytest.skip(f"the reference answers of {name} are not on this machine")
        return path

    return folder


@pytest.fixture(scope="session")
def svmlight_stories(reference: Callable[[str], Path]) -> tuple[Any, Any, dict[str, Any]]:
    """Stories of Reuters-21578 that SVM-light was trained on: vectors, labels, its answers by their names."""
    folder = reference("svmlight")
    answers = json.loads((folder / "reuters-acq.json").read_text())
    train = read_vectors(folder / answers["train"])
    y = np.array([labels[0] for labels in train.labels])
    return train.X, y, {run["name"]: run for run in answers["runs"]}
