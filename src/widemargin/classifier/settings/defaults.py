"""What "auto" stands for: tuning, estimates and thresholds of `TextClassifier` and of ``widemargin train``.

- Tuning is that of ``tune="fast"``, if the learner is one that is tuned by default
  (:func:`~widemargin.tune.learners.automatic_effort`). A part that was passed as an instance is kept.
- Estimates are made unless the learner learns from unlabeled documents, which takes long.
- Thresholds are those of the best F1 where a document may have any number of labels and held-out scores are
  there anyway.

Nothing is tuned or estimated automatically on fewer than `FEWEST` documents.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from widemargin.classifier.model_parts import known_learner
from widemargin.labels import Labels
from widemargin.tune.learners import FEWEST, automatic_effort, text_options

# Parameters that say how to work, not what comes out. They are never tuned, and do not fix a learner.
_EVERYWHERE = ("n_jobs", "random_state", "verbose")


class Settled(NamedTuple):
    """The settings of a fit, without "auto".

    Attributes
    ----------
    tune, estimate, thresholds : as the parameters of a classifier
    kept : names of parameters of parts that tuning keeps
    free_learner : whether tuning may replace the learner
    """

    tune: str | float | None
    estimate: str | None
    thresholds: str | None
    kept: frozenset[str]
    free_learner: bool

    @property
    def asked(self) -> dict[str, str | None]:
        """What a model file says of it."""
        return {"thresholds": self.thresholds, "estimate": self.estimate}


def settle(classifier: Any, parts: dict[str, Any], y: Labels, *, with_pool: bool) -> Settled:
    """Decide what "auto" stands for.

    Parameters
    ----------
    classifier : a `TextClassifier`
    parts : its vectorizer and its learner
    y : the labels of the training documents
    with_pool : whether the learner also learns from unlabeled documents of a pool
    """
    learner = parts["learner"]
    tune, kept = tuning_of(classifier, parts, len(y))
    estimate = classifier.estimate
    if estimate == "auto" and (len(y) < FEWEST or _takes_long(learner)):
        estimate = None
    if estimate == "auto" and with_pool:
        estimate = "k-fold"
    # Estimates are imported when a fit needs them, as tuning is.
    from widemargin.estimate.held_out import choose_method

    estimate = choose_method(estimate, learner, cells=len(y) * len(y.space.classes))
    thresholds = classifier.thresholds
    if thresholds == "auto":
        thresholds = automatic_goal(estimate, y.space.kind if classifier.costs is None else None)
    free = "learner" not in classifier.given_parts
    return Settled(tune, estimate, thresholds, frozenset(kept.difference(_EVERYWHERE)), free)


def default_text_options(learner: Any) -> dict[str, Any]:
    """The parameters of the vectorizer that suit a learner.

    Examples
    --------
    >>> from widemargin import LinearSVM, Perceptron
    >>> default_text_options(LinearSVM()), default_text_options(Perceptron())
    ({'weighting': 'ltc'}, {'weighting': 'bxx'})
    """
    own: dict[str, Any] | None = getattr(learner, "text_options", None)
    return text_options(known_learner(learner)) if own is None else dict(own)


def automatic_goal(estimate: str | None, task: str | None) -> str | None:
    """The goal of thresholds: F1 where labels are decided one by one and held-out scores cost nothing more.

    Examples
    --------
    >>> automatic_goal("leave-one-out", "multilabel")
    'f1'
    >>> automatic_goal("leave-one-out", "multiclass"), automatic_goal("xi-alpha", "multilabel")
    (None, None)
    """
    return "f1" if task == "multilabel" and estimate not in (None, "xi-alpha") else None


def tuning_of(classifier: Any, parts: dict[str, Any], n: int) -> tuple[Any, set[str]]:
    """The effort of tuning on `n` documents, and the parameters that it keeps."""
    kept = set(classifier.explicit_of_parts)
    if classifier.tune != "auto":
        return classifier.tune, kept
    given = set() if classifier.tune_per_label or classifier.space is not None else classifier.given_parts
    learner = parts["learner"]
    several_costs = getattr(getattr(learner, "C", None), "__len__", None) is not None
    if len(given) == len(parts) or several_costs or not _is_tunable(parts["vectorizer"]):
        return None, kept
    for part in given:
        kept.update(parts[part].get_params(deep=False))
    return automatic_effort(
        known_learner(learner), reduced=classifier.features is not None, documents=n
    ), kept


def _is_tunable(vectorizer: Any) -> bool:
    return hasattr(vectorizer, "fit_counts")


def _takes_long(learner: Any) -> bool:
    """Whether the learner learns from unlabeled documents, or is of another library."""
    return hasattr(learner, "unlabeled") or known_learner(learner) is None
