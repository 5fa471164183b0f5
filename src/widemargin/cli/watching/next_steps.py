"""What a verb wrote, and what to do next: one line on stderr, for people."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from widemargin.cli.output import counted, note

if TYPE_CHECKING:
    from widemargin.cli.commands import Given


def next_step(given: Given, step: str, *wrote: Any) -> None:
    """Say what was written and what to do next, unless nobody reads it (--quiet, --json).

    `wrote` are files whose names no other line has said; "-" is none.
    """
    files = " and ".join(str(name) for name in wrote if name is not None and str(name) != "-")
    note(f"{f'Wrote {files}. ' if files else ''}Next: {step}", given.quiet or given.json)


def quoted(name: Any) -> str:
    """A name as a shell takes it.

    Examples
    --------
    >>> quoted("my model.wm")
    "'my model.wm'"
    """
    return shlex.quote(str(name))


def one_line(summary: dict[str, Any]) -> str:
    """What matters of a training: its model, and how good it is expected to be.

    Examples
    --------
    >>> one_line({"model": "a.wm", "documents": 1234, "labels": 3})
    'a.wm: 3 labels learned from 1,234 documents, not estimated'
    """
    found = summary.get("estimates")
    learned = (
        f"{counted(summary['labels'], 'label')} learned from {counted(summary['documents'], 'document')}"
    )
    if found is None:
        return f"{summary['model']}: {learned}, not estimated"
    several = summary.get("task") == "multilabel" or found["accuracy"] is None
    name, figure = ("micro-F1", found["micro"]["f1"]) if several else ("accuracy", found["accuracy"])
    bound = "at least " if found["kind"] == "bound" else ""
    shown = f"{bound}{100 * figure['value']:.1f} %"
    if figure["low"] is not None and figure["high"] is not None and not bound:
        shown += f" ({100 * figure['low']:.0f}-{100 * figure['high']:.0f})"
    return f"{summary['model']}: {name} {shown} estimated on {counted(found['n'], 'document')}"
