"""What is gathered while documents are read: runs on disk, hashes of texts, samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.classifier.large.chunks import Chunk
from widemargin.classifier.large.sampling import SmallestKeys
from widemargin.classifier.record.text_hashes import distinct, hash_texts
from widemargin.classifier.record.word_profile import SAMPLE
from widemargin.estimate.by_blocks.folds import MOST_DOCUMENTS
from widemargin.on_disk import Run, RunInfo, RunWriter
from widemargin.weight.as_new.unknown_terms import term_totals

# Texts that tuning compares candidates on, and their characters: about as many as a tenth of a gigabyte of
# counts has. The same for any memory, so that it has no effect on the model.
MOST_TUNED, MOST_CHARACTERS = 20_000, 16_000_000


@dataclass
class Texts:
    """What is known of the texts, however they are counted: hashes, and a random sample, which is larger if
    it is tuned on."""

    keep_hashes: bool = True
    tuned_on: bool = True
    hashes: list[NDArray[np.uint64]] = field(default_factory=list)
    sample: SmallestKeys = field(init=False)

    def __post_init__(self) -> None:
        self.sample = SmallestKeys(MOST_TUNED if self.tuned_on else SAMPLE, MOST_CHARACTERS)

    def add(self, chunk: Chunk) -> None:
        """Add texts; a text is as likely to be in the sample as any other."""
        hashes = hash_texts(chunk.texts)
        if self.keep_hashes:
            self.hashes.append(distinct(hashes))
        places = self.sample.wanted(hashes)
        places = places[hashes[places] > 0]  # not empty
        items = [(chunk.texts[i], chunk.labels[i], chunk.ids[i]) for i in places.tolist()]
        self.sample.add(hashes[places], items, [len(text) for text, _, _ in items])

    def distinct(self) -> NDArray[np.uint64]:
        """The hashes of all texts, as a model keeps them."""
        return distinct(np.concatenate(self.hashes)) if self.hashes else np.empty(0, np.uint64)


@dataclass
class Counted:
    """Documents as runs on disk, and the names and numbers of terms of a random sample, if it is needed."""

    folder: Path
    vectorizer: Any
    memory: int
    sampled: bool = True
    runs: list[RunInfo] = field(default_factory=list)
    sample: SmallestKeys = field(default_factory=lambda: SmallestKeys(MOST_DOCUMENTS))
    _ids: list[str] = field(default_factory=list)

    def count(self, chunks: Iterable[Chunk]) -> None:
        """Count the documents of all chunks; vectors are written as they are."""
        on_run = self._sample if self.sampled else None
        writer = RunWriter(self.vectorizer, self.folder, memory=self.memory, on_run=on_run)
        for chunk in chunks:
            if self.sampled:
                self._ids += chunk.ids
            if chunk.rows is not None:
                writer.add_vectors(chunk.rows.matrix, chunk.labels, chunk.weights)
            else:
                writer.add(chunk.texts, chunk.labels)
        self.runs = writer.close()

    def _sample(self, run: Run, texts: Sequence[Any]) -> None:
        keys = run.rows.keys
        ids, self._ids = self._ids[: len(keys)], self._ids[len(keys) :]
        places = self.sample.wanted(keys).tolist()
        totals = term_totals(self.vectorizer, [texts[i] for i in places]) if len(texts) and places else None
        found = np.zeros(len(places)) if totals is None else totals
        items = [(ids[i], total) for i, total in zip(places, found.tolist(), strict=True)]
        self.sample.add(keys[places], items)
