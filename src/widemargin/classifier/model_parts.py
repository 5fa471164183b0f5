"""Which parts of a classifier go into a model file, and under which names they come back."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import UsageError
from widemargin.features.combined_columns import GroupSums, Projection, Reduction
from widemargin.features.kept_columns import KeptColumns
from widemargin.learn.averages.average_weights import AverageWeights
from widemargin.learn.averages.members import MEMBER_WEIGHTS, MEMBERS
from widemargin.learn.bayes.bayes_weights import BayesWeights
from widemargin.learn.linear_weights import LinearWeights
from widemargin.learn.rocchio.rocchio_weights import RocchioWeights
from widemargin.models import Model

# The learners that a model file may name, and where they live. Nothing else is ever imported from a file.
LEARNERS = {
    **MEMBERS,
    "average-of": ("widemargin.learn.averages.average_of", "AverageOf"),
    "transductive-svm": ("widemargin.learn.svm.transductive", "TransductiveSVM"),
    "sampled-least-squares": ("widemargin.learn.squares.least_squares", "SampledLeastSquares"),
    "chi-square-network": ("widemargin.learn.chi_square_network", "ChiSquareNetwork"),
    "arow": ("widemargin.learn.online.arow", "Arow"),
    "perceptron": ("widemargin.learn.online.perceptron", "Perceptron"),
    "positive-winnow": ("widemargin.learn.online.positive_winnow", "PositiveWinnow"),
    "balanced-winnow": ("widemargin.learn.online.balanced_winnow", "BalancedWinnow"),
    "balanced-winnow-plus": ("widemargin.learn.online.balanced_winnow_plus", "BalancedWinnowPlus"),
    "winnow": ("widemargin.learn.online.winnow", "Winnow"),
    "large-margin-winnow": ("widemargin.learn.online.large_margin_winnow", "LargeMarginWinnow"),
    "rocchio": ("widemargin.learn.rocchio.rocchio", "Rocchio"),
    "boosted-trees": ("widemargin.learn.trees.boosting", "BoostedTrees"),
    "naive-bayes": ("widemargin.learn.bayes.naive_bayes", "NaiveBayes"),
    "semi-supervised-bayes": ("widemargin.learn.bayes.semi_supervised", "SemiSupervisedBayes"),
    "nearest-neighbors": ("widemargin.learn.neighbors.nearest_neighbors", "NearestNeighbors"),
    "c45": ("widemargin.learn.trees.c45", "C45"),
    "profiles": ("widemargin.learn.profiles.profile_classifier", "ProfileClassifier"),
    "dual-svm": ("widemargin.learn.online.dual_svm", "DualSVM"),
}
# And what may stand between the vectorizer and the learner.
FEATURES = {
    "selected": ("widemargin.features.selecting", "SelectFeatures"),
    "sampled": ("widemargin.features.sampling", "SampleFeatures"),
    "lsi": ("widemargin.features.lsi", "LatentSemanticIndexing"),
    "clusters": ("widemargin.features.clusters", "TermClusters"),
    "label-clusters": ("widemargin.features.label_clusters", "LabelClusters"),
}
# What they come to when documents are scored, where that is not a choice of columns.
_REDUCTIONS: dict[str, Any] = {"lsi": Projection, "clusters": GroupSums, "label-clusters": GroupSums}


# Learners whose state is only weights, unless there are support vectors. They score without the class that
# learned them.
_WEIGHTS = {
    **MEMBER_WEIGHTS,
    "average-of": AverageWeights,
    "transductive-svm": LinearWeights,
    "sampled-least-squares": LinearWeights,
    "rocchio": RocchioWeights,
    "naive-bayes": BayesWeights,
    "semi-supervised-bayes": BayesWeights,
}


def learner_class(name: str, *, to_score: bool = False) -> Any:
    """The learner that a model file calls `name`; with `to_score`, only its weights if they are enough."""
    return _WEIGHTS[name] if to_score and name in _WEIGHTS else _class(LEARNERS, name)


def last_learner(learner: Any) -> Any:
    """The learner that scores new documents: of one that trains another learner in rounds, the last."""
    return getattr(learner, "final_learner_", learner)


def learner_name(learner: Any) -> str:
    return _name(LEARNERS, learner)


def features_class(name: str) -> Any:
    """The selection of features that a model file calls `name`."""
    return _class(FEATURES, name)


def reduction_from_state(name: str, config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Reduction:
    """What features of this name do to documents, from their state, without the class that fitted them."""
    made: Reduction = _REDUCTIONS.get(name, KeptColumns).from_state(config, arrays)
    return made


def reduction_of(features: Any) -> Reduction:
    """What fitted features do to documents."""
    found: Reduction = features.reduction if hasattr(features, "reduction") else KeptColumns.of(features)
    return found


def features_name(features: Any) -> str:
    return _name(FEATURES, features)


def _class(known: dict[str, tuple[str, str]], name: str) -> Any:
    module, cls = known[name]
    return getattr(importlib.import_module(module), cls)


def known_learner(learner: Any) -> str | None:
    """What a model file calls the learner; None if it is none of this library."""
    return _found(LEARNERS, learner)


def _found(known: dict[str, tuple[str, str]], part: Any) -> str | None:
    named = (type(part).__module__, type(part).__name__)
    return next((name for name, home in known.items() if home == named), None)


def _name(known: dict[str, tuple[str, str]], part: Any) -> str:
    found = _found(known, part)
    if found is not None:
        return found
    raise UsageError(f"A {type(part).__name__} cannot be saved. Those that can: {', '.join(known)}.")


def without_machine(state: dict[str, Any]) -> dict[str, Any]:
    """A state without the settings that say how to work and not what comes out."""
    kept = {key: value for key, value in state.items() if key not in ("n_jobs", "verbose")}
    if "parameters" in kept:
        kept["parameters"] = without_machine(kept["parameters"])
    return kept


def without_seconds(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary without what the same training does not repeat."""
    kept = {key: value for key, value in summary.items() if key not in ("seconds", "memory")}
    if "tuning" in kept:
        candidates = [{**found, "seconds": None} for found in kept["tuning"]["candidates"]]
        kept["tuning"] = {**kept["tuning"], "seconds": None, "candidates": candidates}
    return kept


def pack(part: str, found: dict[str, Any], arrays: dict[str, NDArray[Any]], texts: dict[str, bytes]) -> None:
    """Bytes (a vocabulary) become a member of their own, readable by any zip tool; arrays stay arrays."""
    for name, value in found.items():
        value = np.asarray(value)
        if value.dtype == np.uint8 and value.ndim == 1:
            texts[f"{part}.{name}"] = value.tobytes()
        else:
            arrays[f"{part}.{name}"] = value


def unpack(part: str, model: Model) -> dict[str, NDArray[Any]]:
    prefix = part + "."
    arrays = {name.removeprefix(prefix): a for name, a in model.arrays.items() if name.startswith(prefix)}
    for name, data in model.texts.items():
        if name.startswith(prefix):
            arrays[name.removeprefix(prefix)] = np.frombuffer(data, dtype=np.uint8)
    return arrays
