"""Models in worker processes: sent as the bytes of a verified model file, loaded once per process."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from widemargin.classifier.scorer import Scorer


@functools.lru_cache(maxsize=2)
def kept_scorer(model: bytes) -> Scorer:
    """The scorer of a model file with these bytes, with one thread."""
    with tempfile.TemporaryDirectory(prefix="widemargin-model-") as folder:
        file = Path(folder) / "model.wm"
        file.write_bytes(model)
        return Scorer.load(file, n_jobs=1)
