"""Small collections of all kinds, in any number of files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

_TOPICS = {
    "grain": "wheat corn barley harvest acre yield silo farm seed crop rye oats",
    "money": "bank rate loan credit bond market dollar yen deposit profit tax fund",
    "sport": "goal match team coach league cup score player win season club draw",
}
TOPICS = {name: words.split() for name, words in _TOPICS.items()}
_COMMON = "the a of to and in on for with by from at as it is was be new old said will year"
COMMON = _COMMON.split(" ")


def documents(n: int, kind: str = "sets", seed: int = 0) -> list[dict]:
    """Random documents: of label sets, of exclusive classes, or of two classes."""
    rng = np.random.default_rng(seed)
    names = list(TOPICS)[: 2 if kind == "binary" else 3]
    found = []
    for number in range(n):
        if kind == "sets":
            labels = [name for name in names if rng.random() < 0.4]
        else:
            labels = [names[int(rng.integers(len(names)))]]
        words = list(rng.choice(COMMON, 6))
        for name in labels or ["grain", "money", "sport"]:
            words += list(rng.choice(TOPICS[name], int(rng.integers(1, 5))))
        words += list(rng.choice(TOPICS[names[int(rng.integers(len(names)))]], 2))
        words.append(f"word{int(rng.integers(n))}")
        rng.shuffle(words)
        found.append({"id": f"d{number}", "text": " ".join(words), "labels": labels})
    return found


def write(path: Path, records: Iterable[dict]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def shards(folder: Path, records: Sequence[dict], n: int) -> list[Path]:
    """The records in `n` files, cut at uneven places."""
    folder.mkdir(exist_ok=True)
    cuts = [round(len(records) * (i / n) ** 1.5) for i in range(n + 1)]
    parts = [records[a:b] for a, b in pairwise(cuts)]
    return [write(folder / f"part{i}.jsonl", part) for i, part in enumerate(parts) if part]


@pytest.fixture(scope="session")
def sets() -> list[dict]:
    return documents(300, "sets")


@pytest.fixture(scope="session")
def classes() -> list[dict]:
    return documents(300, "classes")


@pytest.fixture(scope="session")
def two() -> list[dict]:
    return documents(200, "binary")
