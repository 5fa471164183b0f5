"""What an option is: its spelling, its meaning, whom it is for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

REQUIRED: Any = ...


@dataclass(frozen=True)
class Option:
    """An argument or option.

    `spelling` holds its names and what stands for its value: "--json" is a flag, "--threads N" takes a value,
    "DATA" is an argument, "[TEXT]" an optional one and "[DATA]..." any number of them. A value in lower case,
    "platt|isotonic", lists the choices, and so does a tuple as `kind`. `verbs` are those that have it, and
    `learners` those that it applies to ("": it does not depend on the learner). `shown` describes a default
    that is not a value. A `common` option is listed by ``--help``, all others only by ``--help-all``.
    """

    spelling: str
    help: str
    verbs: str
    kind: Any = str
    default: Any = None
    shown: str = ""
    common: bool = False
    learners: str = ""
    least: float | None = None

    @cached_property
    def flags(self) -> tuple[str, ...]:
        return tuple(word for word in self.spelling.split() if word.startswith("-"))

    @cached_property
    def metavar(self) -> str | None:
        words = [word for word in self.spelling.split() if not word.startswith("-")]
        value = " ".join(words)
        # typer marks an argument that may be repeated by itself.
        return (value.strip("[.]") if value.endswith("...") else value) or None

    @cached_property
    def name(self) -> str:
        """As Python code names it."""
        word = self.flags[0] if self.flags else self.spelling.strip("[].").lower()
        return word.strip("-").replace("-", "_")

    @cached_property
    def choices(self) -> tuple[str, ...]:
        if isinstance(self.kind, tuple):
            return self.kind
        words = (self.metavar or "").split("|")
        # "10s" is an example of a value.
        return tuple(words) if all(word.islower() and word[0].isalpha() for word in words) else ()


def train(spelling: str, help: str, kind: Any = str, default: Any = None, **more: Any) -> Option:
    """An option of `train` alone."""
    return Option(spelling, help, "train", kind, default, **more)
