"""The label of a short text, the runner-up and a calibrated certainty; segments of mixed texts.

Works for every model with exclusive classes and a calibration.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin.classifier.scorer import Scorer
from widemargin.decide.segments import best_path
from widemargin.errors import UsageError

# Characters around a word that it is judged by, and of one piece of a text without spaces.
_WINDOW, _LONGEST_PIECE = 30, 12
# A piece counts at most so much against a label.
_LEAST = 1e-6
SWITCH_COST = 6.0
_BATCH = 2000


class Identified(NamedTuple):
    """A label, the probability that it is right, and the second likeliest label."""

    label: Any
    certainty: float
    runner_up: Any


class Segment(NamedTuple):
    """Characters from `start` to `end` of a text, and what they are identified as."""

    start: int
    end: int
    identified: Identified


def check_identifies(scorer: Scorer, name: str = "This model") -> None:
    """Refuse a model that cannot identify."""
    if scorer.takes_vectors:
        raise UsageError(f"{name} was trained on vectors, not on texts. Train it on texts.")
    if scorer.rule.hierarchy is not None:
        raise UsageError(f"{name} has a label hierarchy. Train it without --label-path.")
    if scorer.space.kind == "multilabel":
        raise UsageError(f"{name} chooses any number of labels. Train it on documents with one label each.")
    if scorer.rule.calibration is None:
        raise UsageError(
            f"{name} has no probabilities, so it has no certainty to give. Train with --calibrate length, "
            f"and with more text if that warns of too little."
        )


def identify(scorer: Scorer, texts: list[str]) -> list[Identified]:
    """The labels of texts, in their order, as the model decides; ties go to the first label.

    Examples
    --------
    >>> from widemargin import ProfileClassifier, TextClassifier, Vectorizer
    >>> texts = ["the cat sat on the mat with the hat " * 9, "die Katze mit dem Hut saß auf der Matte " * 9]
    >>> trigrams = Vectorizer(units="chars", ngram_range=(1, 3), weighting=None)
    >>> model = TextClassifier(trigrams, ProfileClassifier(), calibration="length").fit(texts, ["en", "de"])
    >>> [found.label for found in identify(model.scorer, ["the hat", "der Hut"])]
    ['en', 'de']
    """
    return _named(scorer, *_scored(scorer, texts))


def segments(scorer: Scorer, text: str, switch_cost: float = SWITCH_COST) -> list[Segment]:
    """Cut a text where its label changes; the segments cover all of it.

    Every word (of a text without spaces, every few characters) is judged by the `_WINDOW` characters around
    it, and counts as much of that as it is long. The labels of all words maximize the sum of these
    log-probabilities minus `switch_cost` for every change.
    """
    pieces = _pieces(text)
    if len(pieces) <= 1:
        return [Segment(0, len(text), identify(scorer, [text])[0])]
    windows, shares = [], []
    for start, end in pieces:
        room = max(_WINDOW - (end - start), 0)
        first = max(start - room // 2, 0)
        window = text[first : max(end + room // 2, end)]
        windows.append(window)
        shares.append((end - start) / max(len(window), 1))
    logs = np.vstack(
        [
            np.log(np.maximum(_scored(scorer, windows[k : k + _BATCH])[1], _LEAST))
            for k in range(0, len(windows), _BATCH)
        ]
    )
    path = best_path(logs * np.array(shares)[:, None], switch_cost)
    starts = np.flatnonzero(np.diff(path, prepend=-1))
    bounds = [pieces[k][0] for k in starts.tolist()]
    bounds[0] = 0
    ends = [*bounds[1:], len(text)]
    scores, chances = _scored(scorer, [text[a:b] for a, b in zip(bounds, ends, strict=True)])
    found = _named(scorer, scores, chances, path[starts])
    return [Segment(*each) for each in zip(bounds, ends, found, strict=True)]


def _scored(scorer: Scorer, texts: list[str]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Preferences of the rule (scores, unless it has thresholds or costs) and probabilities, one column per
    class."""
    scores = scorer.scores(texts)
    return scorer.rule.preferences(scores, scorer.lengths(texts)), scorer.probabilities(texts, scores)


def _named(
    scorer: Scorer,
    scores: NDArray[Any],
    chances: NDArray[np.float64],
    chosen: NDArray[np.intp] | None = None,
) -> list[Identified]:
    """The chosen classes, by default those with the largest preferences, and the best of the others."""
    rows = np.arange(len(scores))
    if chosen is None:
        chosen = scores.argmax(axis=1)
    certainty = chances[rows, chosen].tolist()
    others = scores.copy()
    others[rows, chosen] = -np.inf
    second = others.argmax(axis=1)
    names = scorer.space.classes.tolist()
    return [
        Identified(names[a], value, names[b])
        for a, value, b in zip(chosen.tolist(), certainty, second.tolist(), strict=True)
    ]


def _pieces(text: str) -> list[tuple[int, int]]:
    """Words with the white space after them; longer runs of characters in parts."""
    return [match.span() for match in re.finditer(rf"\s*\S{{1,{_LONGEST_PIECE}}}\s*", text)]
