"""`compare`: which learner to use on a collection, and whether the difference is real."""

from __future__ import annotations

import math
import pickle
import tempfile
import time
import warnings
from collections.abc import Iterable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.classifier.model_parts import LEARNERS, learner_class
from widemargin.classifier.representation import is_matrix
from widemargin.classifier.settings.defaults import default_text_options
from widemargin.classifier.storage import StoredParts, write_parts
from widemargin.classifier.text_classifier import TextClassifier
from widemargin.classifier.training_input import documents_of, training_input
from widemargin.decide.rule import DecisionRule
from widemargin.documents.collection import Collection, Vectors
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.estimate.cross_validation import checked_folds
from widemargin.labels import Labels, LabelSpace, labeled_rows
from widemargin.labels.truth import truth_of
from widemargin.labels.unlabeled import leave_out_unlabeled
from widemargin.learn.label_model import LabelModel
from widemargin.report.comparison import Comparison
from widemargin.text.inputs import taken
from widemargin.tune.compare import compare_learners
from widemargin.tune.learners import ENTRIES, LearnerEntry
from widemargin.tune.shared_rows import SharedRows
from widemargin.tune.trials.training import Contender, Trial
from widemargin.weight.vectorizer import Vectorizer

# Folds that only choose settings and thresholds may be fewer than those whose figures are the result.
FOLDS, FOLDS_TO_CHOOSE = 5, 3
# Parameters of a vectorizer that apply to words only.
_OF_WORDS = (
    *("stemmer", "stop_words", "tokens", "min_token_length", "phrases", "pairs", "thesaurus", "blocks"),
    *("token_pattern", "tokenizer", "analyzer"),
)


def compare(
    texts: Any,
    y: Any = None,
    *,
    test: Any = None,
    learners: Iterable[str] | Mapping[str, Any] | None = None,
    folds: int | None = None,
    budget: float | None = None,
    text_options: Mapping[str, Any] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
    executor: Any = None,
) -> Comparison:
    """Compare learners on the same documents.

    Every learner gets the weighting of the terms and a small choice of settings that suit it
    (:data:`widemargin.tune.learners.ENTRIES`). Its setting is chosen by cross-validation on the training
    documents. With `test`, the chosen setting is measured on the test documents. Without, the decisions of
    the folds are measured, each fold with the setting that is best on the others.

    Parameters
    ----------
    texts : sequence of str, Collection, Vectors or matrix
    y : labels in any form, optional for a Collection or Vectors; documents without a label are left out
    test : test documents, optional: a pair of documents and labels, a Collection or Vectors
    learners : names, or a mapping of names to estimators of this library or of scikit-learn, which are
        compared as they are. A :class:`TextClassifier` brings its own vectorizer. By default all learners
        that apply, except those that would take very long.
    folds : number of parts of the training documents, each of which is held out once; by default 5, or 3 if
        there are test documents, since folds then only choose
    budget : seconds, optional. Fast learners come first. A learner that is predicted to take longer than
        what is left is not trained.
    text_options : parameters of :class:`Vectorizer` for all learners, such as ``{"stemmer": "porter"}``
    random_state : seed of the folds and of the learners
    n_jobs : number of threads; figures of quality do not depend on it
    verbose : show a progress bar if stderr is a terminal
    executor : of `concurrent.futures` or Dask, runs the trainings; figures of quality do not depend on it

    Returns
    -------
    Comparison
        Prints as a table. A learner that fails is a row that says why.

    Examples
    --------
    >>> texts = ["corn harvest", "wheat harvest", "corn exports", "bank rate", "bank profit", "rate cut"] * 5
    >>> labels = ["grain", "grain", "grain", "money", "money", "money"] * 5
    >>> found = compare(texts, labels, learners=["linear-svm", "naive-bayes"], folds=3)
    >>> [(row.learner, row.accuracy.value) for row in found.rows]
    [('naive-bayes', 1.0), ('linear-svm', 1.0)]
    >>> found.to_dict()["best"]
    'naive-bayes'
    """
    start = time.perf_counter()
    if budget is not None and (
        isinstance(budget, bool) or not isinstance(budget, Real) or not 0 <= float(budget) < math.inf
    ):
        raise UsageError(f"budget={budget!r}: expected a number of seconds, or None.")
    if folds is None:
        folds = FOLDS if test is None else FOLDS_TO_CHOOSE
    given = training_input(texts, y)
    labels = Labels.of(given.labels)
    space = labels.space
    vectors = is_matrix(given.texts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        n_folds = checked_folds(folds, len(labels))
    new, truth = (None, None) if test is None else _test_documents(test, space, given.texts)
    contenders = _contenders(learners, space.kind, vectors, dict(text_options or {}), random_state, n_jobs)
    trial = Trial(
        labels,
        SharedRows(given.texts, labels, new, n_jobs),
        truth,
        given.sample_weight,
        folds,
        random_state,
        n_jobs,
    )
    rows = compare_learners(
        contenders,
        trial,
        budget=None if budget is None else float(budget),
        stored_size=_Sizes(labels),
        verbose=verbose,
        executor=executor,
    )
    return Comparison(
        rows,
        space.kind,
        len(labels),
        len(space.classes),
        None if truth is None else len(truth),
        n_folds,
        time.perf_counter() - start,
    )


def _contenders(
    learners: Any, task: str, vectors: bool, text: dict[str, Any], seed: int, n_jobs: int | None
) -> list[Contender]:
    """The learners to compare: those of the table in its order, or those of a mapping."""
    if isinstance(learners, str):
        learners = [learners]
    if isinstance(learners, Mapping):
        if not learners:
            raise UsageError("There are no learners to compare. Name at least one.")
        return [_given(str(name), estimator, text) for name, estimator in learners.items()]
    named = None if learners is None else list(learners)
    unknown = [name for name in named or [] if name not in ENTRIES]
    if unknown or named == []:
        raise UsageError(
            f"learners={learners!r}: there is no learner {', '.join(map(repr, unknown)) or 'named'}. Choose "
            f"from: {', '.join(ENTRIES)}."
        )
    return [
        _known(name, entry, task, vectors, text, seed, n_jobs, named=named is not None)
        for name, entry in ENTRIES.items()
        if named is None or name in named
    ]


def _known(
    name: str,
    entry: LearnerEntry,
    task: str,
    vectors: bool,
    text: dict[str, Any],
    seed: int,
    n_jobs: int | None,
    *,
    named: bool,
) -> Contender:
    why_not = None
    if task not in entry.tasks:
        why_not = "does not learn label sets, only one label per document"
    elif vectors and entry.only_texts:
        why_not = "learns from texts, not from vectors"
    base = learner_class(name)()
    own = {"random_state": seed, "n_jobs": n_jobs}
    base.set_params(**{key: value for key, value in own.items() if key in base.get_params()})
    estimators = [learner_class(name)(**{**base.get_params(), **setting}) for setting in entry.settings]
    options = _merged(entry.text, text)
    return Contender(name, entry.settings, estimators, options, entry.work, named, why_not)


def _given(name: str, estimator: Any, text: dict[str, Any]) -> Contender:
    """An estimator as it is; ours on texts that are weighted for them."""
    if isinstance(estimator, TextClassifier):
        learner, vectorizer = estimator.learner, estimator.vectorizer
        if learner is None:
            learner = learner_class("linear-svm")()
        own = default_text_options(learner) if vectorizer is None else vectorizer.get_params()
        return Contender(name, ({},), (learner,), {**own})
    if not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
        raise UsageError(
            f"learners: {name!r} is {estimator!r}, not an estimator. Pass an estimator, or a list of names."
        )
    known = {place: key for key, place in LEARNERS.items()}
    kind = known.get((type(estimator).__module__, type(estimator).__name__), "")
    options = ENTRIES.get(kind, LearnerEntry()).text
    return Contender(name, ({},), (estimator,), _merged(options, text))


def _merged(suited: Mapping[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The options that suit a learner, except for those that are given and apply."""
    words = suited.get("units", given.get("units", "words")) == "words"
    if words and "blocks" in given:
        suited = {key: value for key, value in suited.items() if key != "ngram_range"}
    return {**suited, **{key: value for key, value in given.items() if words or key not in _OF_WORDS}}


def _test_documents(test: Any, space: LabelSpace, training: Any) -> tuple[Any, NDArray[np.int8]]:
    """The test documents with labels, and their labels as signs."""
    if isinstance(test, Collection | Vectors):
        kept = labeled_rows(test.labels)
        _check_some(len(kept), len(test))
        documents: Any = test.texts if isinstance(test, Collection) else test.X
        _check_kind(documents, training)
        truth = truth_of([test.labels[i] for i in kept], space)
    else:
        try:
            documents, y = test
        except (TypeError, ValueError):
            raise UsageError("test: expected a pair of documents and labels, or a Collection.") from None
        if isinstance(documents, Collection | Vectors):
            documents = documents.texts if isinstance(documents, Collection) else documents.X
        documents = documents_of(documents)
        n = int(documents.shape[0]) if is_matrix(documents) else len(documents)
        known, marked = leave_out_unlabeled(y, None)
        if len(marked) != n:
            raise DataError(f"test: there are {n} documents and {len(marked)} labels.")
        whole = marked.reshape(n, -1).all(axis=1)
        if (marked.reshape(n, -1).any(axis=1) & ~whole).any():
            raise DataError("test: some cells of the label matrix are unknown. Pass known labels.")
        kept = np.flatnonzero(~whole).tolist()
        _check_some(len(kept), n)
        _check_kind(documents, training)
        truth = space.encode(known, unknown="ignore")
    if is_matrix(documents):
        return _as_wide(documents[kept], int(training.shape[1]), isinstance(test, Vectors)), truth
    return taken(documents, np.asarray(kept, dtype=np.intp)), truth


def _check_kind(documents: Any, training: Any) -> None:
    if is_matrix(documents) != is_matrix(training):
        has, other = ("vectors", "texts") if is_matrix(training) else ("texts", "vectors")
        raise DataError(f"The training documents are {has} and the test documents {other}. Pass one kind.")


def _check_some(kept: int, n: int) -> None:
    if not kept:
        raise DataError(f"None of the {n:,} test documents has a label. Test on labeled documents.")
    if kept < n:
        warnings.warn(f"left out {n - kept:,} test documents without a label.", DataWarning, stacklevel=4)


def _as_wide(X: Any, n_features: int, from_file: bool) -> Any:
    """Vectors of a file end at the last feature they use; features that were not in training are ignored."""
    if from_file:
        X = X.copy()
        X.resize((X.shape[0], n_features))
    if X.shape[1] != n_features:
        raise DataError(
            f"The test documents have {X.shape[1]} features, the training documents {n_features}."
        )
    return X


class _Sizes:
    """Sizes of models: of the file that `TextClassifier.save` would write without estimates."""

    def __init__(self, labels: Labels) -> None:
        self._labels = labels

    def __call__(self, vectorizer: Vectorizer | None, learner: Any, thresholds: Any) -> int | None:
        if not isinstance(learner, LabelModel):
            return len(pickle.dumps(learner)) + (0 if vectorizer is None else len(pickle.dumps(vectorizer)))
        n = int(learner.n_features_in_)
        space = learner.label_space_
        summary = {
            "documents": len(self._labels),
            "labels": len(space.classes),
            "task": space.kind,
            "terms": n,
        }
        rule = DecisionRule(space, thresholds)
        parts = StoredParts(vectorizer, None, None, learner, rule, n, summary, {})
        with tempfile.TemporaryDirectory() as folder:
            return write_parts(Path(folder) / "model.wm", parts)
