"""A fitted scikit-learn pipeline of texts and a linear model as a `TextClassifier`.

scikit-learn's inverse document frequencies are ``log((1 + n) / (1 + df)) + 1``, which no SMART scheme has.
They become document frequencies DF of N = 2^50 documents with ``log(N / DF)`` equal to them, to 1e-8: so
`document_frequencies_` of the vectorizer are not counts of documents, and it cannot learn on.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression as ScikitLogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from widemargin.classifier.storage import StoredParts
from widemargin.classifier.text_classifier import TextClassifier
from widemargin.decide.rule import DecisionRule
from widemargin.errors import UsageError
from widemargin.labels import LabelSpace
from widemargin.learn.logistic.logistic_regression import LogisticRegression
from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.text.tokens import is_spaceless
from widemargin.text.vocabulary import pack
from widemargin.weight.vectorizer import Vectorizer

Floats = NDArray[np.float64]
_DOCUMENTS = 2**50
_WORDS = r"(?u)\b\w\w+\b"
_NORM = {"l2": "c", "l1": "a", None: "x"}


class _Weights(NamedTuple):
    """A linear model: labels x features, intercepts, labels, and whether probabilities are sigmoids."""

    coef: Floats
    intercept: Floats
    space: LabelSpace
    logistic: bool


def from_sklearn(pipeline: Any) -> TextClassifier:
    """Read a fitted pipeline of scikit-learn as a classifier with the same scores and labels.

    It can be saved, explained, inspected and served without scikit-learn.

    Parameters
    ----------
    pipeline : Pipeline of a TfidfVectorizer, or of a CountVectorizer and optionally a TfidfTransformer, and a
        linear classifier: LinearSVC, LogisticRegression, SGDClassifier, RidgeClassifier and others with
        `coef_`, or a OneVsRestClassifier of them. Terms are words or n-grams of words

    Returns
    -------
    TextClassifier
        Its learner is a LogisticRegression where probabilities are sigmoids of scores, otherwise a LinearSVM,
        which stands for any weights.

    Raises
    ------
    UsageError
        What cannot be read, such as callables and n-grams of characters.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import LinearSVC
    >>> pipeline = make_pipeline(TfidfVectorizer(), LinearSVC())
    >>> pipeline = pipeline.fit(["corn harvest", "bank rate"], ["grain", "money"])
    >>> from_sklearn(pipeline).explain("good corn").by_term()[0][0]
    'corn'
    """
    if not isinstance(pipeline, Pipeline):
        _refuse(f"a {type(pipeline).__name__}", "Pass a fitted Pipeline of a vectorizer and a classifier.")
    check_is_fitted(pipeline)
    *before, model = (step for _, step in pipeline.steps if step not in (None, "passthrough"))
    transformer = before[1] if len(before) == 2 else None
    known = len(before) in (1, 2) and isinstance(before[0], CountVectorizer)
    known = known and (transformer is None or isinstance(transformer, TfidfTransformer))
    if not known or (transformer is not None and isinstance(before[0], TfidfVectorizer)):
        names = ", ".join(type(step).__name__ for step in before) or "no step"
        _refuse(
            f"{names} before the classifier",
            "Use a TfidfVectorizer, or a CountVectorizer and optionally a TfidfTransformer.",
        )
    vectorizer, order = _vectorizer(before[0], transformer)
    weights = _weights(model)
    if weights.coef.shape != (weights.space.n_columns, len(order)):
        _refuse(f"weights of the shape {weights.coef.shape}", "Use one-vs-rest, with one row per label.")
    learner: Any = LogisticRegression() if weights.logistic else LinearSVM()
    learner.label_space_, learner.n_features_in_ = weights.space, len(order)
    learner.coef_ = np.asfortranarray(weights.coef[:, order])
    learner.intercept_ = np.ascontiguousarray(weights.intercept)
    summary = {"labels": len(weights.space.classes), "task": weights.space.kind, "terms": len(order)}
    calibration = getattr(learner, "calibration_", None)
    rule = DecisionRule(weights.space, None, calibration)
    parts = StoredParts(vectorizer, None, None, learner, rule, len(order), {"documents": 0, **summary}, {})
    return TextClassifier.from_parts(parts)


def _refuse(what: str, cure: str) -> NoReturn:
    raise UsageError(f"A pipeline with {what} cannot be read. {cure}")


def _vectorizer(counter: Any, transformer: Any) -> tuple[Vectorizer, NDArray[np.intp]]:
    """A fitted vectorizer with the terms and weights of scikit-learn's, and its columns in our order."""
    for name in ("preprocessor", "tokenizer"):
        if getattr(counter, name) is not None:
            _refuse(f"a callable ({name})", "Use token_pattern.")
    if counter.analyzer != "word":
        _refuse(f"analyzer={counter.analyzer!r}", "Use analyzer='word'; our n-grams of characters differ.")
    if counter.strip_accents is not None:
        _refuse(f"strip_accents={counter.strip_accents!r}", "Train without it.")
    terms = list(counter.get_feature_names_out())
    given = {"ngram_range": tuple(counter.ngram_range), **_words(counter, terms)}
    stop_words = counter.get_stop_words()
    if stop_words is not None:
        given["stop_words"] = sorted({word.casefold() for word in stop_words})
    scheme, idf = _weighting(counter, transformer)
    stored = [term.casefold().encode() if counter.lowercase else term.encode() for term in terms]
    if len(set(stored)) != len(stored):
        _refuse("terms that differ only in the case folding of letters, such as ß and ss", "Train again.")
    order = np.array(sorted(range(len(stored)), key=stored.__getitem__), dtype=np.intp)
    template = Vectorizer(**given, weighting=scheme).fit([terms[0]])
    config, arrays = template.get_state()
    arrays["vocabulary"], arrays["vocabulary_offsets"] = pack([stored[i] for i in order.tolist()])
    idf = np.zeros(len(terms)) if idf is None else idf
    frequencies = np.round(_DOCUMENTS / np.exp(idf)).astype(np.int64)
    arrays["document_frequencies"] = np.maximum(frequencies, 1)[order]
    return Vectorizer.from_state({**config, "n_documents": _DOCUMENTS}, arrays), order


def _words(counter: Any, terms: list[str]) -> dict[str, Any]:
    """The parameters of our vectorizer that find the same words."""
    takes = Vectorizer().get_params()
    if "token_pattern" in takes:
        return {"token_pattern": counter.token_pattern, "lowercase": bool(counter.lowercase)}
    if counter.token_pattern != _WORDS or not counter.lowercase:
        _refuse(
            f"token_pattern={counter.token_pattern!r}, lowercase={counter.lowercase}", "Use the defaults."
        )
    if any(is_spaceless(word) for term in terms for word in term.split(" ")):
        _refuse("words of scripts without spaces", "Ours are n-grams of characters: train with Vectorizer().")
    return {"tokens": "unicode", "min_token_length": 2}


def _weighting(counter: Any, transformer: Any) -> tuple[str | None, Floats | None]:
    """The scheme, and the inverse document frequencies if it has some."""
    weights = counter if isinstance(counter, TfidfVectorizer) else transformer
    if weights is None:
        return ("bxx" if counter.binary else None), None
    letters = "b" if counter.binary else "l" if weights.sublinear_tf else "t"
    idf = np.asarray(weights.idf_, dtype=np.float64) if weights.use_idf else None
    if idf is not None and not ((idf >= 0) & (idf <= 20)).all():
        _refuse("inverse document frequencies below 0 or above 20", "Train with scikit-learn's own.")
    return f"{letters}{'x' if idf is None else 't'}{_NORM[weights.norm]}", idf


def _weights(model: Any) -> _Weights:
    """The weights of a linear model."""
    if isinstance(model, OneVsRestClassifier):
        parts = model.estimators_
        if not all(hasattr(part, "coef_") for part in parts):
            _refuse(f"a OneVsRestClassifier of {type(parts[0]).__name__}", "Its members need coef_.")
        coef = np.vstack([_dense(part.coef_) for part in parts])
        intercept = np.concatenate([np.ravel(part.intercept_) for part in parts])
        space = _space(model.classes_)
        if model.multilabel_:
            space = LabelSpace("multilabel", np.arange(len(parts)), indicator=True)
        return _Weights(coef, intercept, space, all(_has_sigmoids(part) for part in parts))
    if not hasattr(model, "coef_") or not hasattr(model, "decision_function"):
        _refuse(f"a {type(model).__name__}", "Use a linear model, such as LinearSVC or LogisticRegression.")
    coef, classes = _dense(model.coef_), np.asarray(model.classes_)
    if hasattr(model, "support_vectors_") and len(classes) > 2:
        _refuse(f"a {type(model).__name__} of pairs of classes", "Use LinearSVC.")
    space = _space(classes)
    intercept = np.broadcast_to(np.ravel(np.asarray(model.intercept_, np.float64)), (space.n_columns,))
    return _Weights(coef, intercept, space, space.kind == "binary" and _has_sigmoids(model))


def _space(classes: NDArray[Any]) -> LabelSpace:
    return LabelSpace("binary" if len(classes) == 2 else "multiclass", np.asarray(classes))


def _has_sigmoids(model: Any) -> bool:
    """Whether probabilities are the sigmoids of scores, as those of our LogisticRegression."""
    return isinstance(model, ScikitLogisticRegression)


def _dense(coef: Any) -> Floats:
    return np.atleast_2d(np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64))
