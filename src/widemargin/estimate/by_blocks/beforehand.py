"""What is found block by block, for the judgment of all the rest."""

from __future__ import annotations

from dataclasses import dataclass

from widemargin.measure.contingency import Contingency
from widemargin.measure.held_out_scores import HeldOutScores


@dataclass(frozen=True)
class Beforehand:
    """What is known of documents that are not in memory.

    Attributes
    ----------
    scores : held-out scores, if they are needed; the rows that are judged are theirs
    bounds : the xi-alpha table, if it is asked for
    notes : to add to the estimates
    """

    scores: HeldOutScores | None = None
    bounds: Contingency | None = None
    notes: tuple[str, ...] = ()
