"""Short pieces of training texts, scored by a model that did not see them.

A collection of long texts says nothing of how sure a model is of short ones. So three times, a part of every
class's texts is held out, the model is trained again on the rest, and substrings of 20 to 200 bytes of the
held-out part are scored.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from widemargin.decide.length_calibration import LengthCalibration, fit_length_calibration
from widemargin.errors import DataWarning, UsageError
from widemargin.estimate.training_rows import TrainingRows, real_values
from widemargin.labels import Labels
from widemargin.text.inputs import together

SHORTEST, LONGEST = 20, 200
# Substrings of a class, and of all classes together.
_PER_CLASS, _ALL = 600, 45_000
# One in so many texts of a class is held out; of a class of fewer texts, one of so many parts of each.
_PARTS = 10
# This is done several times, each time with others: a few odd texts must not decide.
_HELD_OUT = (2, 5, 8)
_ENOUGH = 20


def calibrate_by_length(learner: Any, rows: TrainingRows) -> LengthCalibration | None:
    """Fit probabilities to scores of short substrings; None, with a warning, if there is too little text.

    Every class counts equally. Substrings end at whole characters.

    Parameters
    ----------
    learner : as it was fitted on `rows`; it does not change
    """
    if rows.vectorizer is None:
        raise UsageError("Lengths are those of texts: vectors cannot be calibrated by length. Use platt.")
    if rows.y.space.kind == "multilabel":
        raise UsageError("Calibration by length is for exclusive classes. Use platt or isotonic.")
    texts = [_encoded(text) for text in rows.documents]
    rng = np.random.default_rng(getattr(learner, "random_state", 0) or 0)
    scores, lengths, classes = [], [], []
    for number in _HELD_OUT:
        (places, remaining), out = _divided(texts, rows.y, number)
        short, codes = _substrings(out, rng)
        if short:
            scores.append(_scores(learner, rows, places, remaining, short))
            lengths += [len(text) for text in short]
            classes += codes
    if len(lengths) < _ENOUGH:
        warnings.warn(
            f"There are only {len(lengths)} held-out pieces of text to fit probabilities to, so there are no "
            f"probabilities. Train on more text.",
            DataWarning,
            stacklevel=3,
        )
        return None
    return fit_length_calibration(np.vstack(scores), np.array(lengths), np.array(classes))


def _scores(
    learner: Any, rows: TrainingRows, places: NDArray[np.intp], remaining: list[bytes], short: list[bytes]
) -> NDArray[np.float64]:
    """The scores of `short` by a model that was trained on the remaining texts, those at `places`."""
    vectorizer = clone(rows.vectorizer)
    n = len(remaining)
    X = real_values(vectorizer.fit_transform(together(remaining, rows.beside)))
    new = real_values(vectorizer.transform(short))
    labels = rows.y.take(places)
    if rows.features is not None:
        features = clone(rows.features).fit(X[:n], labels)
        X, new = features.transform(X), features.transform(new)
    learner = clone(learner)
    if hasattr(learner, "with_unlabeled"):
        learner = learner.with_unlabeled(X[n:], getattr(vectorizer, "blocks_", None))
    found: NDArray[np.float64] = learner.fit(X[:n], labels).decision_function(new)
    return found.reshape(len(short), -1)


def _divided(
    texts: list[bytes], y: Labels, number: int
) -> tuple[tuple[NDArray[np.intp], list[bytes]], list[list[bytes]]]:
    """The texts to train on, with their numbers, and the held-out ones of each class."""
    kept: list[tuple[int, bytes]] = []
    out: list[list[bytes]] = []
    for code in range(len(y.space.classes)):
        members = np.flatnonzero(y.codes == code).tolist()
        held: list[bytes] = []
        for count, place in enumerate(members):
            text = texts[place]
            if len(members) >= _PARTS:
                if count % _PARTS == number:
                    held.append(text)
                else:
                    kept.append((place, text))
                continue
            start, end = len(text) * number // _PARTS, len(text) * (number + 1) // _PARTS
            held.append(_whole(text[start:end]))
            # A byte that is not UTF-8 separates terms, so that none crosses the gap.
            kept.append((place, text[:start] + b"\xff" + text[end:]))
        out.append(held)
    kept.sort()
    return (np.array([place for place, _ in kept], dtype=np.intp), [text for _, text in kept]), out


def _substrings(held_out: list[list[bytes]], rng: np.random.Generator) -> tuple[list[bytes], list[int]]:
    """Substrings of every class, of random lengths (shorter ones more often), and their classes."""
    each = max(min(_PER_CLASS, _ALL // max(len(held_out), 1)) // len(_HELD_OUT), 1)
    short, classes = [], []
    for code, texts in enumerate(held_out):
        lengths = np.exp(rng.uniform(np.log(SHORTEST), np.log(LONGEST + 1), each)).astype(int)
        for text in _drawn(texts, lengths.tolist(), rng):
            short.append(text)
            classes.append(code)
    return short, classes


def _drawn(texts: list[bytes], lengths: list[int], rng: np.random.Generator) -> Iterator[bytes]:
    sizes = np.array([len(text) for text in texts])
    for length in lengths:
        fitting = np.flatnonzero(sizes >= length)
        if not len(fitting):
            continue
        # Every text is as likely, so that one long text with a wrong label does not count for many.
        text = texts[fitting[rng.integers(len(fitting))]]
        start = int(rng.integers(len(text) - length + 1))
        found = _whole(text[start : start + length])
        if found:
            yield found


def _whole(text: bytes) -> bytes:
    """Without the halves of characters at both ends."""
    return text.decode("utf-8", "ignore").encode()


def _encoded(text: Any) -> bytes:
    if hasattr(text, "as_py"):  # a value of an Arrow column
        text = text.as_py()
    return text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogatepass")
