"""Write documents as canonical JSON Lines, completely or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from widemargin._files import replacing
from widemargin.documents.record import Document


def write_jsonl(documents: Iterable[Document], path: str | Path) -> int:
    """Write canonical JSON Lines to `path`; return the number of documents."""
    count = 0
    with replacing(path) as file:
        for document in documents:
            file.write(document.to_json().encode())
            file.write(b"\n")
            count += 1
    return count
