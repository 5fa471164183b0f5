"""Model files of earlier versions: they load, and predict what they predicted then.

`tests/models/make_models.py` wrote them; each folder is one version of what a file may hold.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.models.make_models import NEW, WORDS
from widemargin import TextClassifier
from widemargin.classifier import Scorer
from widemargin.models import FORMAT_VERSION

HOME = Path(__file__).parent / "models"
FOLDERS = sorted(path for path in HOME.iterdir() if (path / "expected.json").exists())
FILES = [path for folder in FOLDERS for path in sorted(folder.glob("*.wm"))]


def plain(value):
    """As JSON has it: arrays and tuples are lists."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_model_predicts_what_it_predicted_when_it_was_saved(path):
    expected = json.loads((path.parent / "expected.json").read_text(encoding="utf-8"))[path.stem]
    for model in (TextClassifier.load(path).scorer, Scorer.load(path)):
        assert [plain(labels) for labels in plain(model.decide(NEW))] == expected["labels"]
        np.testing.assert_allclose(model.scores(NEW), expected["scores"], atol=2e-6)
        if "probabilities" in expected:
            np.testing.assert_allclose(model.probabilities(NEW), expected["probabilities"], atol=2e-6)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_kind_of_model_is_here(folder):
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    assert {path.stem for path in folder.glob("*.wm")} == set(expected)
    assert {"classes", "two-classes", "label-sets", "paths", "probabilities", "command"} <= set(expected)
    assert len({json.dumps(row["labels"]) for row in expected.values()}) > 3


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_files_are_small_and_hold_made_up_words_only(path):
    assert path.stat().st_size < 20_000
    known = set(" ".join(word for words in WORDS.values() for word in words).split()) | {"my", "and", "the"}
    with zipfile.ZipFile(path) as file:
        found = {name for name in file.namelist() if name.endswith("vocabulary")}
        for name in found:
            text = file.read(name).decode("utf-8")
            for word in known:
                text = text.replace(word, "")
            if path.stem not in ("characters", "hashed"):
                assert not text.strip("\x00\n "), text


def test_every_version_of_the_format_is_here():
    versions = set()
    for path in FILES:
        with zipfile.ZipFile(path) as file:
            versions.add(json.loads(file.read("manifest.json"))["format_version"])
    assert versions == set(range(1, FORMAT_VERSION + 1))


def test_a_file_from_before_training_records_has_none():
    old = TextClassifier.load(HOME / "format1_without_record" / "command.wm")
    assert old.record_.is_empty
