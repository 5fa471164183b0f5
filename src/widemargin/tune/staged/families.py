"""Families of candidates: the most elaborate part of a representation or learner names its family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# In the order in which one part outranks another.
FAMILIES = (
    *("words", "n-grams", "bigrams", "fields", "chars", "corpus vectors"),
    *("per-label weights", "average", "vectors"),
)
_OF_LEARNERS = {"AverageOf": "average", "LabelWeightedSVM": "per-label weights"}


def family(parameters: Mapping[str, Any]) -> str:
    """The family of a candidate with these parameters.

    Parameters
    ----------
    parameters : ``Candidate.parameters``

    Examples
    --------
    >>> family({"units": "words", "blocks": ["words", "bigrams:0.5", "title:0.5"], "learner": "LinearSVM"})
    'fields'
    >>> family({"ngram_range": [1, 2]}), family({"blocks": ["words"], "learner": "AverageOf"})
    ('n-grams', 'average')
    """
    learner = str(parameters.get("learner"))
    if learner in _OF_LEARNERS:
        return _OF_LEARNERS[learner]
    if "weighting" not in parameters and not {"blocks", "ngram_range"} & set(parameters):
        return "vectors"
    found = [_of_block(block) for block in parameters.get("blocks") or ()]
    if not found:
        plain = parameters.get("units", "words") == "words" and list(
            parameters.get("ngram_range", (1, 1))
        ) == [1, 1]
        found = ["words" if plain else "n-grams"]
    return max(found, key=FAMILIES.index)


def best_of_families(candidates: Sequence[Mapping[str, Any]], chosen: int) -> list[dict[str, Any]]:
    """The best candidate of every family: its family, its position and its measure.

    Parameters
    ----------
    candidates : as in ``Tuning.to_dict()``. They are compared by the race if that saw them, because it saw
        more of them than were estimated.
    chosen : the position of the chosen one, which stands for its family

    Examples
    --------
    >>> words = {"parameters": {"blocks": ["words"]}, "held_out": 0.8, "estimate": 0.9}
    >>> best_of_families([words, {**words, "held_out": 0.9}], 1)
    [{'family': 'words', 'candidate': 1, 'value': 0.9}]
    """
    raced = any(candidate["held_out"] is not None for candidate in candidates)
    best: dict[str, dict[str, Any]] = {}
    for number, candidate in enumerate(candidates):
        value = candidate["held_out" if raced else "estimate"]
        name = family(candidate["parameters"])
        known = best.get(name)
        if value is None or (known is not None and known["candidate"] == chosen):
            continue
        if known is None or value > known["value"] or number == chosen:
            best[name] = {"family": name, "candidate": number, "value": value}
    return sorted(best.values(), key=lambda found: FAMILIES.index(found["family"]))


def _of_block(block: Any) -> str:
    """The family of one block, given as its name or as its description."""
    name = block["name"] if isinstance(block, Mapping) else str(block).partition(":")[0]
    if name in ("words", "bigrams", "chars"):
        return str(name)
    if isinstance(block, Mapping) and "given" in block:
        return "words"  # every candidate has the vectors that were given
    if name == "vectors" or (isinstance(block, Mapping) and block.get("dims") is not None):
        return "corpus vectors"
    of_field = not isinstance(block, Mapping) or block.get("field") is not None
    return "fields" if of_field else "n-grams"
