"""What a model remembers of its training documents, in memory and on disk."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin import LinearSVM, TextClassifier
from widemargin.classifier import Scorer
from widemargin.classifier.record.training_record import TrainingRecord
from widemargin.errors import DataError

HASHES = np.array([3, 2**63 + 1], dtype=np.uint64)
READING = {"format": "csv", "text": ["title", "body"], "label": "team"}


@pytest.fixture
def classifier():
    return TextClassifier(learner=LinearSVM(), tune=None, estimate=None).fit(
        ["corn harvest", "bank rate"], ["grain", "money"]
    )


def test_a_saved_record_is_read_again(classifier, tmp_path):
    classifier.record_ = TrainingRecord(reading=READING, hashes=HASHES)
    classifier.save(tmp_path / "model.wm")
    for record in (
        TextClassifier.load(tmp_path / "model.wm").record_,
        Scorer.load(tmp_path / "model.wm").record,
    ):
        assert record.reading == READING
        assert record.hashes is not None
        assert record.hashes.tolist() == HASHES.tolist()


def test_a_model_without_a_record_is_read(classifier, tmp_path):
    classifier.record_ = TrainingRecord()
    classifier.save(tmp_path / "model.wm")
    assert TextClassifier.load(tmp_path / "model.wm").record_.is_empty


@pytest.mark.parametrize(
    ("config", "arrays", "message"),
    [
        ({"reading": {"text": ["a", 1]}}, {}, r"record\.reading\.text"),
        ({"reading": {"unknown": "a"}}, {}, r"record\.reading\.unknown"),
        ({"reading": {"header": "no"}}, {}, r"record\.reading\.header"),
        ({"reading": {"width": [2]}}, {}, r"record\.reading\.width"),
        ({"reading": "a"}, {}, "expected an object"),
        ({}, {"hashes": HASHES[::-1].copy()}, "not sorted"),
        ({}, {"hashes": HASHES.astype(np.int64)}, "int64"),
    ],
)
def test_a_damaged_record_is_refused(config, arrays, message):
    with pytest.raises(DataError, match=message):
        TrainingRecord.from_state(config, arrays)
