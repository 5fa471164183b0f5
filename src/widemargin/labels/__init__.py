"""Any `y`, read once: its form, the label space, unlabeled rows and cells, labels that arrive later."""

from __future__ import annotations

from widemargin.labels.labels import Labels
from widemargin.labels.space import NUMBERS, Kind, LabelSpace
from widemargin.labels.unlabeled import labeled_rows

__all__ = ["NUMBERS", "Kind", "LabelSpace", "Labels", "labeled_rows"]
