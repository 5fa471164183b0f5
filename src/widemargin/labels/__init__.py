"""Any `y`, read once: its form, the label space, unlabeled rows and cells, labels that arrive later."""

from __future__ import annotations

from widemargin.labels.space import (
    NUMBERS,
    Kind,
    LabelSpace,
    learn_labels,
    learn_partial_labels,
    one_label_each,
)
from widemargin.labels.unlabeled import is_unlabeled

__all__ = [
    "NUMBERS",
    "Kind",
    "LabelSpace",
    "is_unlabeled",
    "learn_labels",
    "learn_partial_labels",
    "one_label_each",
]
