"""What is remembered of training documents, and whether documents are among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from widemargin.classifier.record.text_hashes import among, distinct, hash_texts
from widemargin.classifier.record.training_record import TrainingRecord
from widemargin.classifier.record.word_profile import WordProfile
from widemargin.classifier.representation import is_matrix
from widemargin.errors import UsageError

if TYPE_CHECKING:
    from widemargin.classifier.training_input import TrainingInput
    from widemargin.monitor.profile import LeftOutProfile


def remembered(given: TrainingInput, profile: LeftOutProfile | None, *, keep_hashes: bool) -> TrainingRecord:
    """The record of training documents; only labeled ones are hashed, and vectors have no words.

    Parameters
    ----------
    profile : what the model saw of them as if they were new
    """
    if is_matrix(given.texts):
        return TrainingRecord(profile=profile)
    hashes = distinct(hash_texts(given.texts)[~given.labels.unlabeled]) if keep_hashes else None
    return TrainingRecord(hashes=hashes, profile=profile, words=WordProfile.of(given.texts))


def seen_in(record: TrainingRecord, texts: Any) -> NDArray[np.bool_]:
    """Whether each text was a labeled training document, without regard to case and white space."""
    if record.hashes is None:
        raise UsageError(
            "The model has no hashes of its training texts, so that it cannot recognize them: it was trained "
            "with keep_hashes=False (--no-hashes), on vectors or a stream, or by an earlier version. Train "
            "it again."
        )
    return among(hash_texts(texts), record.hashes)
