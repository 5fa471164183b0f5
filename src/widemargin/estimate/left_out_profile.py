"""The left-out profile of a training: its documents as a model sees them that does not know them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from widemargin.decide.abstain.observing import observe
from widemargin.decide.rule import DecisionRule
from widemargin.estimate.optimism import Optimism
from widemargin.estimate.training_rows import TrainingRows
from widemargin.measure.held_out_scores import HeldOutScores
from widemargin.monitor.observed import Observed
from widemargin.monitor.profile import LeftOutProfile
from widemargin.weight.as_new.unknown_terms import KnownTerms, known_as_new
from widemargin.weight.left_out import known_entries
from widemargin.weight.vectorizer import Vectorizer


def profile_of(
    learner: Any,
    rows: TrainingRows,
    rule: DecisionRule,
    found: HeldOutScores,
    chosen: NDArray[Any],
    lengths: Any = None,
    optimism: Optimism | None = None,
) -> LeftOutProfile:
    """From held-out scores.

    Parameters
    ----------
    chosen : the decisions on these, as signs
    lengths : of the documents, as for `rule.choose`
    optimism : of having chosen the learner on the same documents
    """
    terms = _terms(rows)
    if terms is not None and found.documents is not None:
        terms = KnownTerms(terms.unknown[found.documents], terms.no_terms[found.documents])
    scores = found.scores if rule.space.kind != "binary" else found.scores[:, 0]
    empty = _empty_score(learner, rows.X.shape[1], found)
    known = {} if terms is None else terms._asdict()
    seen = observe(rule, scores, lengths, empty=empty, **known)
    right = (found.truth == chosen).all(axis=1)
    by = 0.0 if optimism is None else max(float(optimism.value), 0.0)
    return LeftOutProfile.of(seen._replace(decided=np.asarray(chosen) > 0), right, empty=empty, optimism=by)


def profile_of_terms(rows: TrainingRows) -> LeftOutProfile | None:
    """Without held-out scores: of terms alone; None where these are not counted."""
    terms = _terms(rows)
    return None if terms is None else LeftOutProfile.of(Observed(**terms._asdict()))


def _terms(rows: TrainingRows) -> KnownTerms | None:
    if rows.known is not None:
        return rows.known
    if rows.counts is None or not isinstance(rows.vectorizer, Vectorizer):
        return None
    counts, known = known_entries(rows.vectorizer, rows.counts, len(rows.y))
    return known_as_new(rows.vectorizer, rows.documents, counts, known)


def _empty_score(learner: Any, n_features: int, found: HeldOutScores) -> float:
    """The best score of a document without terms; of learners without weights, the least best score."""
    if getattr(learner, "coef_", None) is None:
        return float(found.scores.max(axis=1).min()) if len(found.scores) else 0.0
    row = sp.csr_array((1, n_features), dtype=np.float32)
    return float(np.max(learner.decision_function(row)))
