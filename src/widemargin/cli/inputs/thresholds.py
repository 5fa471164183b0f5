"""Thresholds of labels on the command line: LABEL=X, or a JSON file with several."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from widemargin.errors import DataError, MissingFileError, UsageError

_WORDS = {"never": math.inf, "always": -math.inf}


def read_thresholds(given: Sequence[str]) -> dict[str, float]:
    """The thresholds of all ``--thresholds``; the last one of a label counts.

    Examples
    --------
    >>> read_thresholds(["wheat=0.25", "corn=never"])
    {'wheat': 0.25, 'corn': inf}
    """
    found: dict[str, float] = {}
    for text in given:
        label, equals, value = text.rpartition("=")
        number = _number(value)
        if equals and number is not None:
            found[label] = number
        elif equals and not Path(text).exists():
            raise UsageError(
                f"--thresholds {text}: {value!r} is not a threshold. Expected LABEL=X, a number, never or "
                f'always, or a JSON file such as {{"wheat": 0.25}}.'
            )
        else:
            found |= _read_file(text)
    return found


def files_of(given: Sequence[str] | None) -> list[str]:
    """Those of ``--thresholds`` that are files."""
    return [text for text in given or () if "=" not in text or Path(text).exists()]


def _read_file(name: str) -> dict[str, float]:
    path = Path(name)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingFileError(
            f"--thresholds {name}: there is no such file. Pass a JSON file, or LABEL=X."
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"--thresholds {name}: the file is not JSON: {error}.") from error
    numbers = {label: _number(value) for label, value in content.items()} if isinstance(content, dict) else {}
    wrong = [label for label, value in numbers.items() if value is None]
    if not isinstance(content, dict) or wrong:
        what = f"the threshold of {wrong[0]!r} is {content[wrong[0]]!r}" if wrong else "it holds no object"
        raise DataError(f'--thresholds {name}: {what}. Expected thresholds by label, as {{"wheat": 0.25}}.')
    return {label: value for label, value in numbers.items() if value is not None}


def _number(value: Any) -> float | None:
    if isinstance(value, str) and value in _WORDS:
        return _WORDS[value]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number
