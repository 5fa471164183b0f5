"""The file of --start-weights: a term and its weight on every line, with a tab between them."""

from __future__ import annotations

import math
from pathlib import Path

from widemargin.errors import DataError, MissingFileError, StorageError


def read_start_weights(name: str) -> dict[str, float]:
    """Terms and their weights."""
    try:
        text = Path(name).read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise MissingFileError(f"--start-weights {name}: there is no such file.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: not UTF-8 (byte {error.start:,}). Convert it.") from error
    except OSError as error:
        raise StorageError(f"--start-weights {name}: {error}.") from error
    found: dict[str, float] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        term, tab, weight = line.rstrip("\r").rpartition("\t")
        if not tab or not _is_weight(weight):
            raise DataError(
                f"{name}, line {number}: found {line.strip()!r}. Expected a term, a tab, and a number above "
                f"0."
            )
        if term in found:
            raise DataError(f"{name}, line {number}: {term!r} is there twice. Remove one of the lines.")
        found[term] = float(weight)
    if not found:
        raise DataError(f"{name}: is empty. Expected lines of a term, a tab, and a number above 0.")
    return found


def _is_weight(text: str) -> bool:
    try:
        return 0 < float(text) < math.inf
    except ValueError:
        return False
