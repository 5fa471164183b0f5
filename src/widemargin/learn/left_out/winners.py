"""The class with the largest left-out score, proven: scores are refined until their intervals tell it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from widemargin.learn.as_new import Seen

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]
Signs = NDArray[np.int8]
Parts = tuple[Floats, Floats, Counts, Counts]

# Scores that the winner will probably be asked for are found to this accuracy at once, all others that can
# matter to the smallest of the following ones that their distance calls for. Certificates hardly tell less.
_AT_ONCE, _LEVELS = 0.03, (1e-3, 3e-5, 1e-6)
# Two scores are told apart when each is known to less than half of their distance.
_PART = 0.25
_FEW = 1000
# How an example's margin falls when it leaves, as a part of what the bounds allow, and how certain that is.
FALL, DOUBT = 0.4, 0.1


class Finder(Protocol):
    """What finds the scores of a machine; `converges` if all signs are expected to be proven."""

    converges: bool

    def bounds(self) -> Parts | None:
        """What is known without learning anything again; None where that takes as long."""

    def one_step(self) -> Parts:
        """Scores by one Newton step (:mod:`.one_step`), within what is proven."""

    def __call__(self, asked: Floats | None = None) -> Parts:
        """Scores and their accuracy (n, columns); how many were retrained and are unstable (columns,).

        Parameters
        ----------
        asked : (n, columns) to which accuracy to find each score; 0: it is not asked for, and 0 is returned.
            None: all scores, to the same accuracy.
        """


def find_winners(find: Finder, accuracy: float, truth: Signs, seen: Seen) -> tuple[Parts, int]:
    """Scores of at least this accuracy, refined until only one class can have the largest.

    Exact ties, and what rounding does not tell from one, stay undecided.

    Parameters
    ----------
    truth : (n, classes) the classes as +1 and -1
    seen : the scores of which the largest decides

    Returns
    -------
    parts : what `find` returns
    undecided : how many documents have more than one class that can have the largest score
    """
    asked, known = None, find.bounds()
    if known is not None:
        likely = _likely_rivals(*known[:2], accuracy, truth, seen)
        asked = np.where(likely, min(accuracy, _AT_ONCE), accuracy)
    scores, within, retrained, unstable = find(asked)
    # Where an accuracy was not reached, a smaller one is not tried.
    exhausted = within > (accuracy if asked is None else asked)
    for level in _LEVELS:
        compared, doubt = seen(scores, within)
        close = rivals(compared, doubt)
        wanted = np.clip(_PART * _distances(compared, close), level, _AT_ONCE)
        refine = close & (doubt > wanted) & ~exhausted
        # In the units of the scores that are found.
        wanted = np.divide(wanted, np.abs(seen.slope), out=wanted, where=refine)
        if not refine.any():
            continue
        if np.count_nonzero(refine) > max(_FEW, 0.25 * np.sum(retrained)):
            break  # noise: nearly every winner is close to a tie, and telling takes longer than all the rest
        found, error, again, _ = find(np.where(refine, wanted, 0.0))
        better = refine & (error < within)
        scores, within = np.where(better, found, scores), np.where(better, error, within)
        exhausted |= refine & (within > wanted)
        retrained = retrained + again
    undecided = int(np.count_nonzero(rivals(*seen(scores, within)).any(axis=1)))
    return (scores, within, retrained, unstable), undecided


def rivals(scores: Floats, accuracy: Floats) -> Flags:
    """The classes that can have the largest score (n, classes), of documents where this is more than one.

    Examples
    --------
    >>> rivals(np.array([[0.5, 0.4, 0.0], [0.5, 0.2, 0.0]]), np.full((2, 3), 0.1)).tolist()
    [[True, True, False], [False, False, False]]
    """
    possible: Flags = scores + accuracy >= (scores - accuracy).max(axis=1, keepdims=True)
    return np.asarray(possible & (possible.sum(axis=1, keepdims=True) > 1))


def _likely_rivals(scores: Floats, within: Floats, accuracy: float, truth: Signs, seen: Seen) -> Flags:
    """Scores that the bounds settle, but that the winner will probably be asked for.

    The others are learned again in any case, and their margins can be guessed. To find both at once costs
    less than to come back later.
    """
    open_scores = (within > accuracy) | (within >= np.abs(scores))
    fall = np.where(np.isfinite(within), within, 0.0) * (1 - 2 * FALL)
    guess = np.where(open_scores, scores + truth * fall, scores)
    close = rivals(*seen(guess, np.where(open_scores, np.minimum(within, DOUBT), within)))
    return np.asarray(close & ~open_scores)


def _distances(scores: Floats, rivals: Flags) -> Floats:
    """How far the score of every rival is from that of the best; of the best, from that of the next.

    Examples
    --------
    >>> _distances(np.array([[0.5, 0.25, 0.0, 0.75]]), np.array([[True, True, True, False]])).tolist()
    [[0.25, 0.25, 0.5, -0.25]]
    """
    among = np.where(rivals, scores, -np.inf)
    among[~rivals.any(axis=1)] = 0.0
    best = among.argmax(axis=1)[:, None]
    highest = np.take_along_axis(among, best, axis=1)
    distances = highest - scores
    np.put_along_axis(among, best, -np.inf, axis=1)
    np.put_along_axis(distances, best, highest - among.max(axis=1, keepdims=True), axis=1)
    return distances
