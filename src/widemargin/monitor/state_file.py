"""The state of a drift monitor in a small JSON file, bound to a model by the digest of its file."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from widemargin._files import replacing
from widemargin.errors import DataError, MissingFileError, UsageError
from widemargin.monitor.drift_monitor import DriftMonitor
from widemargin.monitor.reference import Reference

_FORMAT = "widemargin-drift"
_LARGEST = 1 << 26


def read_monitor(
    path: str | os.PathLike[str],
    reference: Reference,
    model: str,
    labels: Sequence[Any] | None = None,
    *,
    new: bool = False,
) -> DriftMonitor:
    """The monitor that a file holds.

    Parameters
    ----------
    model : the digest of the model that documents are labeled with
    new : return a new monitor if there is no file

    Raises
    ------
    DataError
        The file is damaged, or not of a monitor.
    UsageError
        It is of another model.
    """
    name = os.fspath(path)
    try:
        if Path(path).stat().st_size > _LARGEST:
            raise DataError(f"{name} is too large for the state of a drift monitor. Name another file.")
        content = json.loads(Path(path).read_bytes())
    except FileNotFoundError:
        if new:
            return DriftMonitor(reference, labels)
        raise MissingFileError(f"There is no {name}. Write it with predict --monitor {name}.") from None
    except IsADirectoryError:
        raise UsageError(f"{name} is a folder. Name a file.") from None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise DataError(f"{name} is not a file that predict --monitor wrote. Name another file.")
    if content.get("model") != model:
        raise UsageError(
            f"{name} watches documents of another model, or of this one before it was trained again. Start a "
            f"new file."
        )
    try:
        return DriftMonitor.from_state(reference, content.get("state"), labels)
    except DataError as error:
        raise DataError(f"{name} is damaged: {error}. Start a new file.") from error


def write_monitor(path: str | os.PathLike[str], monitor: DriftMonitor, model: str) -> None:
    """Write the state of a monitor; the file is replaced only when it is complete."""
    content = {"format": _FORMAT, "model": model, "state": monitor.state()}
    with replacing(path) as file:
        file.write(json.dumps(content).encode() + b"\n")
