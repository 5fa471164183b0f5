"""What training from disk can do, and why it cannot do the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from widemargin.errors import UsageError
from widemargin.learn.svm.linear.multivariate import MULTIVARIATE
from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.text.fields import check_columns
from widemargin.tune.staged.axes import Axes
from widemargin.weight.blocks import parse_blocks
from widemargin.weight.vectorizer import Vectorizer

_OTHERWISE = "or leave out --memory, which trains in memory."


def check_applies(classifier: Any, vectorizer: Any, learner: Any) -> None:
    """Refuse what needs all documents in memory.

    Parameters
    ----------
    classifier : a `TextClassifier`, for its parameters
    vectorizer, learner : its parts
    """
    why = why_not(classifier, vectorizer, learner)
    if why is not None:
        raise UsageError(why)


def why_not(classifier: Any, vectorizer: Any, learner: Any) -> str | None:
    """Why a classifier cannot be trained from disk, and what to do; None if it can."""
    found = _of_learner(learner) or _of_vectorizer(vectorizer) or _of_settings(classifier)
    return None if found is None else f"{found}, {_OTHERWISE}"


def _of_learner(learner: Any) -> str | None:
    if type(learner) is not LinearSVM:
        name = getattr(learner, "name", type(learner).__name__)
        return f"Training from disk (--memory) learns linear SVMs, not {name}. Use --learner linear-svm"
    if learner.loss in MULTIVARIATE:
        return f"--loss {learner.loss} needs all documents in memory. Use --loss hinge or squared_hinge"
    if learner.penalty != "l2":
        return "--penalty l1 needs all documents in memory. Use --penalty l2"
    if isinstance(learner.bias, str):
        return "--bias unregularized needs all documents in memory. Use a number, such as --bias 1"
    if np.ndim(learner.C) or not np.isfinite(float(np.max(learner.C))):
        return f"C={learner.C!r} needs all documents in memory. Use one finite number (--C)"
    if learner.stop != "gap":
        return f'stop="{learner.stop}" needs all documents in memory. Use stop="gap"'
    return None


def _of_vectorizer(vectorizer: Any) -> str | None:
    if not isinstance(vectorizer, Vectorizer):
        return f"Training from disk counts terms with a Vectorizer, not {type(vectorizer).__name__}. Use one"
    if vectorizer.blocks is None:
        return None
    for block in parse_blocks(vectorizer.blocks, check_columns(vectorizer.fields)):
        if block.dims is not None or block.encodes:
            return f"The block {block.name} of vectors needs all documents in memory. Omit it"
    return None


def _of_settings(classifier: Any) -> str | None:
    if classifier.features is not None:
        return "--features needs all documents in memory. Omit it"
    if classifier.unlabeled_use is not None:
        return "--unlabeled needs all documents in memory. Omit it"
    if classifier.tune_per_label:
        return "--tune-per-label needs all documents in memory. Omit it"
    if classifier.space is not None and not isinstance(classifier.space, Axes):
        return "A space to tune in needs all documents in memory. Pass Axes, or None"
    if classifier.estimate is not None and classifier.estimate.startswith("bootstrap"):
        return f"--estimate {classifier.estimate} needs all documents in memory. Use --estimate k-fold"
    if classifier.calibration == "length":
        return "--calibrate length needs all documents in memory. Use platt or isotonic"
    return None
