"""A fitted classifier as a plain pipeline of scikit-learn that scores and decides the same.

Every block of terms is a TfidfVectorizer with our document frequencies; blocks stand side by side in a
FeatureUnion, and a Normalizer follows. The learner is a LinearSVC or a LogisticRegression with our weights;
for label sets, and for factors of terms that differ by label, a OneVsRestClassifier of them. Thresholds are
part of the intercepts, so that `predict` decides the same.

Only the terms need this library: `analyzer` is a
:class:`~widemargin.classifier.scikit.analyzer.TermAnalyzer`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import LabelBinarizer, MaxAbsScaler, Normalizer
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from widemargin._arrays import is_sparse
from widemargin.classifier.scikit.analyzer import TermAnalyzer
from widemargin.errors import UsageError
from widemargin.learn.averages.average_weights import AverageWeights
from widemargin.learn.averages.columns import width
from widemargin.learn.linear_weights import LinearWeights
from widemargin.learn.svm.label_weights import LabelWeights
from widemargin.weight.block_columns import BlockVocabulary
from widemargin.weight.block_counting import block_rules
from widemargin.weight.smart import canonical, collection_factors

Floats = NDArray[np.float64]
# The letters of a scheme that scikit-learn has, as parameters of a TfidfVectorizer.
_DOCUMENT: dict[str, dict[str, Any]] = {"t": {}, "l": {"sublinear_tf": True}, "b": {"binary": True}}
_NORM = {"c": "l2", "a": "l1", "x": None}


def to_sklearn(classifier: Any) -> Pipeline:
    """The pipeline of a fitted `TextClassifier`; see :meth:`TextClassifier.to_sklearn`."""
    check_is_fitted(classifier)
    _check(classifier)
    return Pipeline([*_vectorizing(classifier.vectorizer_), ("classifier", _classifying(classifier))])


def _check(classifier: Any) -> None:
    if classifier.vectorizer_ is None:
        _refuse("a model of vectors", "Use learner_, which takes matrices as scikit-learn's classifiers do.")
    if not hasattr(classifier.vectorizer_, "fit_counts"):
        _refuse("a vectorizer of scikit-learn", "Use a Pipeline of the two parts.")
    if classifier.features_ is not None:
        _refuse("a selection of features", "Train without `features`.")
    if classifier.rule_.costs is not None:
        _refuse("costs between classes", "Train without `costs`.")
    if classifier.rule_.hierarchy is not None:
        _refuse("a label hierarchy", "Train without `label_path`.")


def _refuse(what: str, cure: str) -> None:
    raise UsageError(f"scikit-learn has no equivalent of {what}. {cure}")


def _vectorizing(vectorizer: Any) -> list[tuple[str, Any]]:
    """The steps that make rows of texts."""
    if vectorizer.n_hashed is not None:
        _refuse("our hashed terms", "Train with a vocabulary: omit n_hashed.")
    if vectorizer.fields_ is not None:
        _refuse("documents with several columns", "Train on one column of texts.")
    if vectorizer.vectors_:
        _refuse("blocks of vectors", 'Name the blocks, such as Vectorizer(blocks=["words", "bigrams:0.5"]).')
    rules = block_rules(vectorizer, vectorizer.fields_, vectorizer.given_)
    if any(rule.text.units == "bytes" for rule in rules):
        _refuse("n-grams of bytes", "Use units='chars'.")
    scheme = canonical(vectorizer.weighting) or "txx"
    if scheme[0] not in _DOCUMENT:
        _refuse(f"the weighting {scheme!r}", f"Train with 'l{scheme[1:]}' or 'b{scheme[1:]}'.")
    terms = vectorizer.vocabulary_
    parts = terms.parts if isinstance(terms, BlockVocabulary) else [terms]
    factors = collection_factors(
        scheme, vectorizer.document_frequencies_, vectorizer.n_documents_, vectorizer.idf_power
    )
    made, first = [], 0
    for rule, part in zip(rules, parts, strict=True):
        some = None if factors is None else factors[first : first + len(part)]
        first += len(part)
        analyzer = TermAnalyzer(rule.text, rule.words, rule.block.field)
        if len(part):
            made.append((rule.block, _weighting(analyzer, list(part), scheme, some)))
    if vectorizer.blocks is None:
        return [("vectorizer", made[0][1])]
    steps: list[tuple[str, Any]] = [
        (
            "vectorizer",
            FeatureUnion(
                [(block.name, transformer) for block, transformer in made],
                transformer_weights={block.name: block.weight for block, _ in made},
            ),
        )
    ]
    norm = _NORM[scheme[2]]
    return steps if norm is None else [*steps, ("normalizer", Normalizer(norm))]


def _weighting(analyzer: TermAnalyzer, terms: list[str], scheme: str, factors: Floats | None) -> Any:
    """A vectorizer with these terms, fitted."""
    known: dict[str, Any] = {
        "analyzer": analyzer,
        "lowercase": False,
        "vocabulary": {term: i for i, term in enumerate(terms)},
    }
    if scheme == "txx":
        return CountVectorizer(**known, dtype=np.float64).fit([""])
    how = {"norm": _NORM[scheme[2]], "use_idf": factors is not None, **_DOCUMENT[scheme[0]]}
    made = TfidfVectorizer(**known, **how).fit([""])
    if factors is not None:
        made.idf_ = factors
    return made


def _classifying(classifier: Any) -> Any:
    """The classifier with the weights of the learner, and its thresholds in the intercepts."""
    learner, space = classifier.scorer.learner, classifier.label_space_
    by_label = isinstance(learner, LabelWeights | AverageWeights)
    if not by_label and not _is_linear(learner):
        _refuse(f"a fitted {type(learner).__name__}", "Train a LinearSVM or a LogisticRegression.")
    intercept = np.broadcast_to(np.asarray(learner.intercept_, dtype=np.float64), (space.n_columns,))
    if classifier.thresholds_ is not None:
        intercept = intercept - classifier.thresholds_
    has_probabilities = hasattr(type(learner), "calibration_")
    kind = LogisticRegression if has_probabilities else LinearSVC
    if not by_label and space.kind != "multilabel" and (space.kind == "binary" or not has_probabilities):
        return _linear(kind, _dense(learner.coef_), intercept, space.classes)
    machines = [_machine(learner, kind, column, intercept[[column]]) for column in range(space.n_columns)]
    if space.kind == "binary":
        _refuse(f"a {type(learner).__name__} of two classes", "Train a LinearSVM or a LogisticRegression.")
    made = OneVsRestClassifier(kind())
    made.estimators_ = machines
    truth = np.eye(space.n_columns, dtype=int) if space.kind == "multilabel" else space.classes
    made.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(truth)
    made.classes_ = made.label_binarizer_.classes_
    made.n_features_in_ = learner.n_features_in_
    return made


def _machine(learner: Any, kind: Any, column: int, intercept: Floats) -> Any:
    """The classifier of one label."""
    yes_or_no = np.array([0, 1])
    if not isinstance(learner, LabelWeights | AverageWeights):
        return _linear(kind, _dense(learner.coef_[[column], :]), intercept, yes_or_no)
    n = learner.n_features_in_
    members = [(learner, [(0, n)])]
    if isinstance(learner, AverageWeights):
        members = list(zip(learner.members_, learner.ranges_, strict=True))
    views, weights = [], []
    for number, (member, ranges) in enumerate(members):
        factors, found = _factored(member, column)
        assert len(found) == width(ranges)
        place = np.concatenate([np.arange(begin, end) for begin, end in ranges])
        every, scale = np.zeros(n), np.full(n, np.inf)
        every[place] = found / len(members)
        scale[place] = 1.0 / np.where(factors > 0, factors, np.nan)
        scaler = MaxAbsScaler()
        scaler.scale_ = np.where(np.isnan(scale), np.inf, scale)
        scaler.max_abs_, scaler.n_samples_seen_, scaler.n_features_in_ = scaler.scale_, 1, n
        views.append((f"member{number}", Pipeline([("factors", scaler), ("length", Normalizer())])))
        weights.append(every)
    machine = _linear(LinearSVC, np.concatenate(weights)[None, :], intercept, yes_or_no)
    step = views[0][1] if len(views) == 1 else FeatureUnion(views)
    return Pipeline([("terms", step), ("machine", machine)])


def _factored(member: Any, column: int) -> tuple[Floats, Floats]:
    """The factors of terms for a label, and weights of rows that are multiplied by them, of length 1."""
    if isinstance(member, LabelWeights):
        factors = np.sqrt(np.asarray(member.squared_factors_[column], dtype=np.float64))
        weights = np.asarray(_dense(member.term_weights_[[column], :])[0])
        return factors, np.divide(weights, factors, out=np.zeros_like(weights), where=factors > 0)
    if not _is_linear(member):
        _refuse(f"a fitted {type(member).__name__} in an average", "Train a LinearSVM.")
    weights = _dense(member.coef_[[column], :])[0]
    return np.ones_like(weights), weights


def _is_linear(learner: Any) -> bool:
    """Whether scores are rows, as they are, times weights."""
    if getattr(type(learner), "as_scored", None) is not LinearWeights.as_scored:
        return False
    coef = getattr(learner, "coef_", None)
    return coef is not None and coef.shape == (learner.label_space_.n_columns, learner.n_features_in_)


def _linear(kind: Any, coef: Floats, intercept: Floats, classes: NDArray[Any]) -> Any:
    """A fitted linear classifier of scikit-learn with these weights."""
    made = kind()
    made.coef_, made.intercept_, made.classes_ = np.ascontiguousarray(coef), np.array(intercept), classes
    made.n_features_in_ = coef.shape[1]
    return made


def _dense(coef: Any) -> Floats:
    return np.asarray(coef.toarray() if is_sparse(coef) else coef, dtype=np.float64)
