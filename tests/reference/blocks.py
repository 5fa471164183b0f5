"""Blocks the slow and obvious way: one vectorizer each, dense rows, one row after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from widemargin import Vectorizer
from widemargin.errors import DataError
from widemargin.weight.blocks import Block


def field_of(text: str, field: str | None, columns: Sequence[str] | None) -> str:
    """The text of a field."""
    if field is None:
        return text
    if columns is not None and field in columns:
        return dict(zip(columns, text.split("\x1f"), strict=False)).get(field, "")
    if field == "subject":
        found = [subject_of(part.split("\n")) for part in text.split("\x1f")]
        return next((subject for subject in found if subject is not None), "")
    return next((line for line in text.split("\x1f")[0].split("\n") if line.strip()), "")


def subject_of(lines: list[str]) -> str | None:
    """The value of the header; None if there is none before the first blank line."""
    for i, line in enumerate(lines):
        if line.lower().startswith("subject:"):
            value = [line[len("subject:") :]]
            for following in lines[i + 1 :]:
                if not following[:1].isspace() or not following.strip():
                    break
                value.append(following)
            return "\n".join(value)
        if not line.strip():
            return None
    return None


def block_rows(
    blocks: Sequence[Block],
    settings: Mapping[str, object],
    train: Sequence[str],
    texts: Sequence[str],
    columns: Sequence[str] | None = None,
) -> tuple[list[str], NDArray[np.float64]]:
    """Names of the columns and rows of `texts`, by blocks that are fitted on `train`."""
    names: list[str] = []
    parts = []
    for block in blocks:
        min_df = settings.get("min_df", 1) if block.min_df is None else block.min_df
        words = {} if block.units == "words" else {"stop_words": None, "stemmer": None}
        one = Vectorizer(
            **{**settings, **words, "units": block.units, "ngram_range": block.ngram_range, "min_df": min_df}
        )
        try:
            one.fit([field_of(text, block.field, columns) for text in train])
        except DataError:
            parts.append(np.zeros((len(texts), 0)))
            continue
        rows = one.transform([field_of(text, block.field, columns) for text in texts]).toarray()
        prefix = "" if block.units == "words" and block.field is None else f"{block.name}:"
        names += [prefix + term for term in one.vocabulary_]
        parts.append(rows.astype(np.float64) * (1 if one.weighting is None else block.weight))
    whole = np.concatenate(parts, axis=1)
    kind = str(settings.get("weighting"))[-1]
    for row in whole:
        length = {"c": np.sqrt((row**2).sum()), "a": np.abs(row).sum()}.get(kind, 1.0)
        if length > 0:
            row /= length
    return names, whole
