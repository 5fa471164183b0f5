"""The parts of a classifier, fitted one after the other or chosen, and the seconds that each took."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from widemargin._arrays import canonical_csr
from widemargin._executors import Executor
from widemargin.classifier.model_parts import reduction_of
from widemargin.classifier.representation import is_matrix
from widemargin.decide.tree_rule import TreeRule
from widemargin.errors import UsageError, memory_for
from widemargin.estimate.optimism import Optimism
from widemargin.estimate.training_rows import TrainingRows, kept_blocks
from widemargin.labels import LabelSpace
from widemargin.learn.averages.columns import told_blocks
from widemargin.learn.costs import weights_for
from widemargin.text.inputs import together
from widemargin.tune.budget import Budget
from widemargin.tune.per_label import check_costs_per_label, choose_per_label
from widemargin.tune.search_space import Space
from widemargin.tune.staged.applicable import describe
from widemargin.tune.staged.axes import Axes
from widemargin.tune.tuning import tune

_FEWER_TERMS = (
    "Train on fewer documents, use single words (--ngrams 1), raise --min-df, or hash the terms (--hashed)."
)
_NO_CHOICE = "Pass --tune none, which trains once, or train on fewer documents."


@dataclass
class FittedParts:
    """What training leaves: `rows` are what the learner saw, `tuning` what was chosen from and `optimism` its
    effect on estimates.

    `vectorizer` is None where vectors came in, `features` where the learner sees all of them. `pool` is what
    the summary says of unlabeled documents, `judged` what estimates judge where it is not the learner.
    """

    vectorizer: Any
    features: Any
    learner: Any
    rows: TrainingRows
    seconds: dict[str, float] = field(default_factory=dict)
    tuning: dict[str, Any] = field(default_factory=dict)
    optimism: Optimism | None = None
    pool: dict[str, Any] = field(default_factory=dict)
    judged: Any = None

    @property
    def n_features(self) -> int:
        """How many columns come in, before any are left out."""
        return int(self.rows.X.shape[1] if self.features is None else self.features.n_features_in_)


def fit_parts(
    vectorizer: Any,
    features: Any,
    learner: Any,
    texts: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    beside: Any = None,
) -> FittedParts:
    """Fit copies of the parts, each on what the one before it makes of `texts`.

    Parameters
    ----------
    beside : unlabeled documents that the vectorizer is fitted on too; None for none
    """
    check_features(features, learner)
    if not is_matrix(texts):
        check_vectors(vectorizer, learner)
    seconds: dict[str, float] = {}
    weights = weights_for(learner, sample_weight)
    start = time.perf_counter()
    if is_matrix(texts):
        vectorizer, counts, X = None, None, texts
    elif hasattr(vectorizer, "fit_rows"):
        vectorizer, counts = clone(vectorizer), None
        with memory_for("vectorizing", _documents(texts), _FEWER_TERMS):
            X = vectorizer.fit_rows(texts, y)
        seconds["vectorize"] = time.perf_counter() - start
        start = time.perf_counter()
    else:
        vectorizer = clone(vectorizer)
        every = together(texts, beside)
        with memory_for("vectorizing", _documents(every), _FEWER_TERMS):
            counts = vectorizer.fit_counts(every)
            X = vectorizer.weighed(counts if beside is None else counts.rows(0, len(texts))).matrix
        seconds["vectorize"] = time.perf_counter() - start
        start = time.perf_counter()
    if features is not None:
        with memory_for("selecting features", _matrix(X), _FEWER_TERMS):
            known = np.flatnonzero(~y.unlabeled)
            by_labels = getattr(features, "uses_labels", False) and len(known) < len(y)
            features = clone(features).fit(*((X[known], y.take(known)) if by_labels else (X, y)))
            X = reduced(features, X)
        seconds["features"] = time.perf_counter() - start
        start = time.perf_counter()
    with memory_for(f"training a {type(learner).__name__}", _matrix(X), _cure_for(learner)):
        learner = _knowing_terms(clone(learner), vectorizer, features)
        learner = told_blocks(learner, kept_blocks(getattr(vectorizer, "blocks_", None), features))
        learner = learner.fit(X, y, **weights)
    seconds["learn"] = time.perf_counter() - start
    rows = TrainingRows(X, y, texts, vectorizer, counts, features, beside)
    return FittedParts(vectorizer, features, learner, rows, seconds)


def reduced(features: Any, X: Any) -> Any:
    """The rows of `X` as a classifier makes them: new columns in single precision."""
    if not getattr(features, "combines_columns", False):
        return features.transform(X)
    return reduction_of(features).apply(canonical_csr(X)).matrix


def check_tuning(effort: Any, features: Any, parts: Iterable[Any], *, per_label: bool) -> None:
    """Refuse settings of a choice that exclude each other."""
    if effort is not None:
        Budget.of(effort, "tune")
        for part in parts:
            if hasattr(part, "unlabeled"):
                raise UsageError(f"A {type(part).__name__} cannot be tuned: pass tune=None.")
            if hasattr(part, "transformer") or hasattr(part, "leaves_rows_out"):
                raise UsageError(
                    f"Tuning chooses terms, weights and learners of this library, so it does not apply to "
                    f"{part.name}. Pass tune=None, or use GridSearchCV."
                )
    if features is not None and effort is not None:
        raise UsageError("The representation is chosen for all features: pass features, or tune=None.")
    if per_label and effort not in ("fast", "full"):
        raise UsageError('tune_per_label=True requires tune="fast" or tune="full" (--tune fast or full).')


def check_features(features: Any, learner: Any) -> None:
    """Refuse a learner that cannot learn from what the features come to."""
    if getattr(features, "makes_negative_values", False) and _takes_terms_only(learner):
        raise UsageError(
            f"A {type(learner).__name__} learns from terms that are there or not, with values of at least 0; "
            f"latent semantic indexing gives every document values in all dimensions, also below 0. Use "
            f"clusters of terms (--features clusters:500), or a LinearSVM (--learner linear-svm)."
        )


def check_vectors(vectorizer: Any, learner: Any) -> None:
    """Refuse a learner that cannot learn from vectors of documents."""
    if getattr(vectorizer, "has_vectors", False) and _takes_terms_only(learner):
        raise UsageError(
            f"A {type(learner).__name__} learns from terms that are there or not, with values of at least 0; "
            f"the block of vectors gives every document values in all dimensions, also below 0. Omit the "
            f"block, or use a LinearSVM (--learner linear-svm)."
        )


def _takes_terms_only(learner: Any) -> bool:
    return bool(get_tags(learner).input_tags.positive_only or getattr(learner, "needs_absent_terms", False))


def tune_parts(
    vectorizer: Any,
    learner: Any,
    texts: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    effort: Any,
    space: Space | Axes | None,
    given: Collection[str],
    free_learner: bool = False,
    times: Any = None,
    per_label: bool = False,
    beside: Any = None,
    executor: Executor | None = None,
) -> FittedParts:
    """The best of `space`, fitted on all texts; by default of :meth:`Axes.around` the parts.

    Parts of which nothing is left to tune are fitted as they are. With `per_label`, each label has its own C,
    and the learner stays.
    """
    if getattr(learner, "needs_terms", False):
        raise UsageError("start_weight by term goes with one vocabulary: pass tune=None (--tune none).")
    if space is None:
        space = Axes.around(vectorizer, learner, given=given, free_learner=free_learner and not per_label)
    if isinstance(space, Axes):
        if space.is_single(describe(texts, vectorizer, multilabel=y.space.kind == "multilabel")):
            return fit_parts(vectorizer, None, learner, texts, y, sample_weight, beside=beside)
    elif times is not None:
        raise UsageError("Times apply to the default search, not to a Space. Pass space=None.")
    else:
        space = space.quiet()
    if per_label:
        check_costs_per_label(learner)
    verbose = bool(getattr(learner, "verbose", False))
    seed = getattr(learner, "random_state", 0)
    size = _matrix(texts) if is_matrix(texts) else _documents(texts)
    with memory_for("choosing among representations", size, _NO_CHOICE):
        found = tune(
            texts,
            y,
            space,
            sample_weight=sample_weight,
            times=times,
            effort=effort,
            random_state=seed,
            verbose=verbose,
            beside=None if is_matrix(texts) else beside,
            executor=executor,
        )
        if per_label:
            found = choose_per_label(found, y, sample_weight)
    best = found.best
    seconds, tuning = {"tune": found.seconds}, {"tuning": found.to_dict()}
    rows = TrainingRows(best.X, y, texts, best.vectorizer, best.counts, beside=beside)
    return FittedParts(best.vectorizer, None, best.learner, rows, seconds, tuning, found.optimism)


def _knowing_terms(learner: Any, vectorizer: Any, features: Any) -> Any:
    """The learner, told which terms its features are if its starting weights are those of terms."""
    if not getattr(learner, "needs_terms", False) or vectorizer is None:
        return learner
    if features is not None or getattr(vectorizer, "n_hashed", None):
        raise UsageError(
            "start_weight by term goes with all terms of a vocabulary: they must not be hashed (--hashed) or "
            "selected (--features)."
        )
    return learner.with_terms(vectorizer.get_feature_names_out().tolist())


def _documents(texts: Any) -> str:
    """How much text there is."""
    lengths = (len(text) for text in texts if isinstance(text, str))
    return f"{len(texts):,} documents, {sum(lengths):,} characters"


def _matrix(X: Any) -> str:
    """How large a matrix is."""
    rows, columns = X.shape
    values = f", {X.nnz:,} values" if hasattr(X, "nnz") else ""
    return f"{rows:,} documents x {columns:,} terms{values}"


def _cure_for(learner: Any) -> str:
    """What makes the training of a learner smaller."""
    parameters = learner.get_params() if hasattr(learner, "get_params") else {}
    if "cache" in parameters:
        return "Lower --cache, train on fewer documents, or use the linear-svm learner."
    if hasattr(learner, "partial_fit"):
        return "Train from a stream (--stream), or use fewer terms: raise --min-df, or pass --max-features."
    return "Train on fewer documents, or use fewer terms: raise --min-df, or pass --max-features."


def memory_for_estimate(X: Any, learner: Any) -> contextlib.AbstractContextManager[None]:
    """Around an estimate, which keeps scores of every document and label."""
    labels = len(learner.label_space_.classes)
    size = f"{X.shape[0]:,} documents x {labels:,} labels"
    return memory_for("estimating quality", size, "Pass --estimate xi-alpha, or --estimate none.")


def training_summary(
    parts: FittedParts, space: LabelSpace, found: dict[str, Any], hierarchy: TreeRule | None = None
) -> dict[str, Any]:
    """Sizes of the training, how far the learner got, and what tuning and estimates `found`."""
    X = parts.rows.X
    return {
        "documents": int(X.shape[0]),
        "labels": len(space.classes),
        "task": space.kind,
        **({} if hierarchy is None else {"hierarchy": hierarchy.summary()}),
        "terms": int(X.shape[1]),
        **({} if parts.features is None else {"terms_before": parts.n_features}),
        "values": int(X.nnz if hasattr(X, "nnz") else np.count_nonzero(X)),
        **_convergence(parts.learner),
        **parts.tuning,
        **({"pool": parts.pool} if parts.pool else {}),
        **found,
        "seconds": {stage: round(spent, 4) for stage, spent in parts.seconds.items()},
    }


def _convergence(learner: Any) -> dict[str, Any]:
    """How far the learner got, where it says so: sums over labels.

    Six digits: the last ones of a sum may depend on the number of threads, and a model must not.
    """
    found = {}
    for name in ("objective", "duality_gap"):
        value = getattr(learner, name + "_", None)
        # A hard margin that does not exist has an infinite objective.
        if value is not None and np.isfinite(np.sum(value)):
            found[name] = float(f"{np.sum(value):.6g}")
    return found
