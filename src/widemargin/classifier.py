"""The whole flow behind `fit` and `predict`: texts in, labels out, with reasons."""

from __future__ import annotations

import copy
import os
import time
import warnings
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

import widemargin._core as _core
from widemargin._arrays import canonical_csr, thread_count
from widemargin._model_parts import (
    features_class,
    features_name,
    learner_class,
    learner_name,
    pack,
    unpack,
    without_machine,
    without_seconds,
)
from widemargin._training_input import is_matrix, training_input
from widemargin.decide.rule import DecisionRule
from widemargin.decide.votes import class_scores
from widemargin.documents.collection import Collection, Vectors
from widemargin.documents.svmlight_model import is_svmlight_model, read_svmlight_model
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.estimate.assessment import NOTHING, Request, assess
from widemargin.estimate.model_selection import select
from widemargin.estimate.search_space import Space
from widemargin.explanation import Explanation, explain_scores
from widemargin.labels import LabelSpace
from widemargin.models import Model, load_model, save_model
from widemargin.select.narrowing import Narrowing, narrowing_of

KIND = "text-classifier"


class TopTerms(NamedTuple):
    """The terms that speak most for a label and most against it, strongest first."""

    positive: list[tuple[str, float]]
    negative: list[tuple[str, float]]


def _is_calibrated(classifier: TextClassifier) -> bool:
    return classifier.calibration is not None


class TextClassifier(ClassifierMixin, BaseEstimator):
    """Texts to labels: a vectorizer and a learner as one estimator.

    Parameters
    ----------
    vectorizer : Vectorizer, optional
        How texts become vectors; None means ``Vectorizer()``.
    learner : estimator, optional
        What learns from the vectors; None means ``LinearSVM()``.
    features : SelectFeatures or SampleFeatures, optional
        Which features the learner sees; None means all. Estimates do not count what selecting by labels
        costs, since the selection saw the documents that they leave out.
    select : "none", "fast" or "exact"
        Whether to choose the representation and C from the training documents: by a race on held-out ones
        and estimates of the best, or by estimates of every candidate.
    space : widemargin.estimate.search_space.Space, optional
        What `select` chooses from; by default the twelve representations of the thesis around those of
        `vectorizer`, and seven values of C around that of `learner`.
    estimate : "leave-one-out", "k-fold" or "xi-alpha", optional
        How `fit` foretells precision, recall, F1 and error of every label, without a test set.
    thresholds : str, optional
        What the thresholds of labels that are decided one by one are to reach, such as "f1" or
        "precision:0.9"; :mod:`widemargin.decide.goals` has the list. None decides at 0. They are chosen on
        scores of the training documents by rules that did not see them.
    calibration : "platt" or "isotonic", optional
        How `predict_proba` gets probabilities from scores; without it there is no `predict_proba`.

    Attributes
    ----------
    vectorizer_, features_, learner_ : the fitted parts; `vectorizer_` is None after `fit` on a matrix,
        `features_` where all features are used
    classes_ : array of labels, sorted
    thresholds_ : (columns,) the scores above which labels are chosen, or None
    training_summary_ : dict with the numbers of documents, labels and terms, the seconds of each stage, and
        what was asked for: "selection" (the candidates), "estimates" (a
        :class:`~widemargin.measure.quality.Quality` as a dict) and "suspects" (labels that are probably
        wrong, :mod:`widemargin.estimate.suspects`)

    Examples
    --------
    >>> texts = ["wheat and corn harvest", "the bank cut its rate", "corn exports rose", "bank profits fell"]
    >>> classifier = TextClassifier().fit(texts, ["grain", "money", "grain", "money"])
    >>> classifier.predict(["a good corn harvest"]).tolist()
    ['grain']
    """

    vectorizer_: Any
    learner_: Any

    def __init__(
        self,
        vectorizer: Any = None,
        learner: Any = None,
        *,
        features: Any = None,
        select: str = "none",
        space: Any = None,
        estimate: str | None = None,
        thresholds: str | None = None,
        calibration: str | None = None,
    ) -> None:
        self.vectorizer = vectorizer
        self.learner = learner
        self.features = features
        self.select = select
        self.space = space
        self.estimate = estimate
        self.thresholds = thresholds
        self.calibration = calibration

    def fit(self, texts: Any, y: Any = None) -> Self:
        """Learn from labelled documents.

        Parameters
        ----------
        texts : sequence of str, Collection, Vectors or sparse matrix
            With a matrix or `Vectors` there is no vectorizer, and feature numbers are the terms.
        y : labels in any form, optional for a Collection or Vectors, which bring their own
            A None among them marks an unlabelled document, which is left out with a warning.
        """
        if self.select not in ("none", "fast", "exact"):
            raise UsageError(f'select={self.select!r}: expected "none", "fast" or "exact".')
        if self.features is not None and self.select != "none":
            raise UsageError(
                'The representation is chosen for all features: pass features, or select="none".'
            )
        request = Request.read(self.estimate, self.thresholds, self.calibration)
        texts, y, names = training_input(texts, y)
        request.check(y)
        seconds: dict[str, float] = {}
        selection: dict[str, Any] = {}
        self._hold_features(None)
        if self.select == "none":
            X = self._fit_parts(texts, y, seconds)
        else:
            X, selection = self._select_parts(texts, y, seconds)
        start = time.perf_counter()
        found = assess(self.learner_, X, y, request, names)
        if found is not NOTHING:
            seconds["estimate"] = time.perf_counter() - start
            if getattr(self.features_, "uses_labels", False):
                warnings.warn(
                    "Features were selected by the labels of all documents, those too that estimates leave "
                    "out: expect somewhat less than they say.",
                    DataWarning,
                    stacklevel=2,
                )
        self.rule_ = DecisionRule(self.label_space_, found.thresholds, found.calibration)
        self.n_features_in_ = int(X.shape[1]) if self.features_ is None else self.features_.n_features_in_
        self.training_summary_ = {
            "documents": int(X.shape[0]),
            "labels": len(self.label_space_.classes),
            "task": self.label_space_.kind,
            "terms": int(X.shape[1]),
            **({} if self.features_ is None else {"terms_before": self.n_features_in_}),
            "values": int(X.nnz if hasattr(X, "nnz") else np.count_nonzero(X)),
            **_convergence(self.learner_),
            **selection,
            **found.summary(),
            "seconds": {stage: round(spent, 4) for stage, spent in seconds.items()},
        }
        return self

    def partial_fit(self, texts: Any, y: Any, classes: Any = None) -> Self:
        """Go on learning from labelled documents, with a learner that has `partial_fit`.

        The first call learns the vocabulary and a later one leaves it as it is: terms that are new then are
        ignored. ``Vectorizer(n_hashed=...)`` has room for all terms from the beginning, and in bounded
        memory. A loaded classifier goes on as if it had never stopped.

        Parameters
        ----------
        texts : sequence of str, or a matrix, as in the first call
        y : labels in the form of the first call; new ones are welcome
        classes : labels to expect, in the first call; two of them make a binary task

        Examples
        --------
        >>> from widemargin import BalancedWinnow, Vectorizer
        >>> stream = TextClassifier(Vectorizer(n_hashed=1024, weighting="sxx"), BalancedWinnow())
        >>> stream = stream.partial_fit(["corn harvest", "bank rate"], ["grain", "money"])
        >>> stream.partial_fit(["oil and gas"], ["fuel"]).classes_.tolist()
        ['fuel', 'grain', 'money']
        """
        first = not hasattr(self, "learner_")
        vectorizer, learner = map(clone, self._parts()) if first else (self.vectorizer_, self.learner_)
        self._check_goes_on(learner)
        if is_matrix(texts):
            X = texts if first else self._all_features(texts)
            vectorizer = None
        elif vectorizer is None:
            raise UsageError("This classifier was trained on vectors, and these are texts. Pass vectors.")
        else:
            X = vectorizer.partial_fit_transform(texts)
        learner.partial_fit(X if X.dtype.kind == "f" else X.astype(np.float32), y, classes)
        seen = 0 if first else int(self.training_summary_["documents"])
        if first:
            self.vectorizer_, self.learner_ = vectorizer, learner
            self.n_features_in_ = int(X.shape[1])
            self._hold_features(None)
        self.rule_ = DecisionRule(self.label_space_)
        self.training_summary_ = {
            "documents": seen + int(X.shape[0]),
            "labels": len(self.classes_),
            "task": self.label_space_.kind,
            "terms": self.n_features_in_,
        }
        return self

    def _check_goes_on(self, learner: Any) -> None:
        """Refuse to go on with what belongs to a whole collection."""
        if not hasattr(learner, "partial_fit"):
            raise UsageError(
                f"A {type(learner).__name__} learns from a whole collection. Use fit, or one of the online "
                f"learners, such as BalancedWinnow."
            )
        whole = ("features", "estimate", "thresholds", "calibration")
        given = [name for name in whole if getattr(self, name) is not None]
        if given or self.select != "none":
            name = given[0] if given else "select"
            raise UsageError(f"`{name}` needs all documents at once: use fit, or leave it out.")

    def _fit_parts(self, texts: Any, y: Any, seconds: dict[str, float]) -> Any:
        """Fit the vectorizer and the learner, and return the matrix between them."""
        start = time.perf_counter()
        vectorizer, learner = self._parts()
        if is_matrix(texts):
            self.vectorizer_ = None
            X = texts
        else:
            self.vectorizer_ = clone(vectorizer)
            X = self.vectorizer_.fit_transform(texts)
            seconds["vectorize"] = time.perf_counter() - start
            start = time.perf_counter()
        if self.features is not None:
            features = clone(self.features).fit(X, y)
            X = features.transform(X)
            self._hold_features(features)
            seconds["features"] = time.perf_counter() - start
            start = time.perf_counter()
        self.learner_ = clone(learner).fit(X, y)
        seconds["learn"] = time.perf_counter() - start
        return X

    def _hold_features(self, features: Any) -> None:
        self.features_ = features
        self._narrowing: Narrowing | None = None if features is None else narrowing_of(features)

    def _select_parts(self, texts: Any, y: Any, seconds: dict[str, float]) -> tuple[Any, dict[str, Any]]:
        """Choose the vectorizer and the learner; return the matrix between them, and the candidates."""
        vectorizer, learner = self._parts()
        space = Space.around(vectorizer, learner) if self.space is None else self.space
        verbose = bool(getattr(learner, "verbose", False))
        mode: Any = self.select
        seed = getattr(learner, "random_state", 0)
        found = select(texts, y, space.quiet(), mode=mode, random_state=seed, verbose=verbose)
        self.vectorizer_, self.learner_ = found.best.vectorizer, found.best.learner
        seconds["select"] = found.seconds
        return found.best.X, {"selection": found.to_dict()}

    def _parts(self) -> tuple[Any, Any]:
        from widemargin.learn.linear_svm import LinearSVM
        from widemargin.weight.vectorizer import Vectorizer

        vectorizer = Vectorizer() if self.vectorizer is None else self.vectorizer
        return vectorizer, LinearSVM() if self.learner is None else self.learner

    @property
    def label_space_(self) -> LabelSpace:
        """What the labels are, and which column of scores belongs to which."""
        space: LabelSpace = self.learner_.label_space_
        return space

    @property
    def classes_(self) -> NDArray[Any]:
        return self.label_space_.classes

    @property
    def thresholds_(self) -> NDArray[np.float64] | None:
        return self.rule_.thresholds

    def decision_function(self, texts: Any) -> NDArray[Any]:
        """Scores: (n,) for two classes, where positive means the second; otherwise documents x labels."""
        check_is_fitted(self, "learner_")
        X = self._features(texts)
        weights = self._dense_weights()
        scores: NDArray[Any]
        if weights is None:
            learner = self.learner_
            unseen = isinstance(texts, Vectors) and texts.X.shape[1] > self.n_features_in_
            if unseen and self.features_ is None and _by_distance(learner):
                # Features that no training document has still lengthen a vector, and all its distances.
                X, learner = texts.X, _widened(learner, texts.X.shape[1])
            scores = learner.decision_function(X)
        else:
            # Straight to the core: scikit-learn's checks would take longer than a short document.
            n_documents = X.shape[0]
            scores = np.empty((n_documents, weights.shape[1]))
            _core.score_rows(
                np.asarray(X.indptr, dtype=np.int64),
                np.asarray(X.indices, dtype=np.int32),
                X.data,
                weights,
                self.learner_.intercept_,
                scores,
                1 if n_documents == 1 else thread_count(getattr(self.learner_, "n_jobs", None)),
            )
            scores = scores[:, 0] if self.label_space_.kind == "binary" else scores
            if self._pairwise:
                return class_scores(scores, len(self.classes_), self.learner_.scheme)
        return scores

    def predict(self, texts: Any) -> Any:
        """Labels, in the form in which `fit` got them."""
        return self.rule_.decide(self.decision_function(texts))

    @available_if(_is_calibrated)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, texts: Any) -> NDArray[np.float64]:
        """Probabilities of the labels, documents x `classes_`; only with `calibration`.

        They sum to 1 where one of two or more classes is chosen; the largest score decides, not the largest
        probability. Where a document may carry any number of labels, each has a probability of its own.
        """
        return self.rule_.probabilities(self.decision_function(texts))

    @property
    def has_weights(self) -> bool:
        """Whether every label has weights of terms, which `explain` and `top_terms` need."""
        return getattr(self.learner_, "coef_", None) is not None and not self._pairwise

    def explain(self, text: str, label: Any = None) -> Explanation:
        """Why `text` gets its score for `label`: what every occurrence of a term contributes.

        Parameters
        ----------
        text : str
        label : a label, optional
            By default the one the classifier chooses; for several labels at once the best.

        Returns
        -------
        Explanation
            Its contributions and its bias sum to its score.
        """
        check_is_fitted(self, "learner_")
        if self.vectorizer_ is None:
            raise UsageError("This classifier was trained on vectors: there is no text to explain.")
        self._check_weights()
        X = self._features([text])
        scores = np.atleast_2d(np.asarray(self.decision_function([text]), dtype=np.float64))
        if label is None:
            label = self._best_label(scores[0])
        column, sign = self._column(label)
        return explain_scores(
            text,
            label=label,
            row=X,
            located=self._located(text),
            weights=sign * self._weights_of(column),
            bias=sign * float(self._intercepts()[column]),
            score=sign * float(scores[0, column]),
            threshold=None if self.thresholds_ is None else sign * float(self.thresholds_[column]),
            name=None if self._vocabulary is None else self._term,
        )

    def top_terms(self, label: Any = None, n: int = 20) -> TopTerms:
        """The `n` terms with the largest and with the smallest weights for `label`.

        Without a label, of a task of two classes, the second class is meant.
        """
        check_is_fitted(self, "learner_")
        self._check_weights()
        if label is None:
            names = self.label_space_.column_names
            if len(names) != 1:
                raise UsageError(f"There are {len(names)} labels. Say which one's terms are wanted.")
            label = names[0]
        column, sign = self._column(label)
        weights = sign * self._weights_of(column)
        # Ties by the term's number, so that the list is the same everywhere.
        order = np.lexsort((np.arange(len(weights)), -weights))
        best = [int(i) for i in order[: max(n, 0)] if weights[i] > 0]
        worst = [int(i) for i in order[::-1][: max(n, 0)] if weights[i] < 0]
        return TopTerms(*([(self._term(i), float(weights[i])) for i in part] for part in (best, worst)))

    def save(self, path: str | os.PathLike[str]) -> int:
        """Write the classifier to a model file and return its size in bytes.

        The seconds of training stay out of the file: the same training gives the same bytes.
        """
        check_is_fitted(self, "learner_")
        config: dict[str, Any] = {"vectorizer": None}
        arrays: dict[str, NDArray[Any]] = {}
        texts: dict[str, bytes] = {}
        if self.vectorizer_ is not None:
            state, parts = self.vectorizer_.get_state()
            config["vectorizer"] = without_machine(state)
            pack("vectorizer", parts, arrays, texts)
        if self.features_ is not None:
            state, parts = self.features_.get_state()
            config["features"] = {"name": features_name(self.features_), "state": state}
            pack("features", parts, arrays, texts)
        state, parts = self.learner_.get_state()
        config["learner"] = {"name": learner_name(self.learner_), "state": without_machine(state)}
        pack("learner", parts, arrays, texts)
        state, parts = self.rule_.get_state()
        config["decision"] = {**state, "thresholds": self.thresholds, "estimate": self.estimate}
        pack("decision", parts, arrays, texts)
        summary = without_seconds(self.training_summary_)
        return save_model(path, kind=KIND, config=config, arrays=arrays, texts=texts, summary=summary)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a classifier that `save` wrote, or a model that SVM-light wrote.

        The file is verified and runs no code. SVM-light's classes are called "-1" and "1", as the labels of
        its files of examples.
        """
        if is_svmlight_model(path):
            return cls._from_svmlight(path)
        return cls.from_model(load_model(path), os.fspath(path))

    @classmethod
    def from_model(cls, model: Model, where: str = "The model") -> Self:
        """The classifier in a model file that has been read already."""
        from widemargin.weight.vectorizer import Vectorizer

        if model.kind != KIND:
            raise DataError(f"{where} holds a {model.kind}, not a {KIND}. Use another model.")
        try:
            learner = model.config["learner"]
            self = cls()
            made = learner_class(learner["name"]).from_state(learner["state"], unpack("learner", model))
            self.learner_ = made
            self.vectorizer_ = None
            if model.config["vectorizer"] is not None:
                self.vectorizer_ = Vectorizer.from_state(
                    model.config["vectorizer"], unpack("vectorizer", model)
                )
            self.n_features_in_ = kept = int(model.summary["terms"])
            chosen = model.config.get("features")
            self._hold_features(None)
            if chosen is not None:
                made = features_class(chosen["name"]).from_state(chosen["state"], unpack("features", model))
                self._hold_features(made)
                self.n_features_in_, kept = made.n_features_in_, int(made.get_support().sum())
            found = {(self.n_features_in_, kept), (self.n_features_in_, self.learner_.n_features_in_)}
            found.add((self.n_features_in_, int(model.summary["terms"])))
            if self.vectorizer_ is not None:
                found.add((len(self.vectorizer_.document_frequencies_), kept))
            if len(found) > 1:
                raise ValueError(f"the parts differ in their numbers of terms: {sorted(found)}")
            decision = model.config.get("decision", {"calibration": None})
            self.rule_ = DecisionRule.from_state(self.label_space_, decision, unpack("decision", model))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise DataError(
                f"{where} holds no usable classifier ({type(error).__name__}: {error}). Train it again."
            ) from error
        self.vectorizer, self.features = self.vectorizer_, self.features_
        self.learner = self.learner_
        for name in ("estimate", "thresholds", "calibration"):
            setattr(self, name, decision.get(name))
        self.training_summary_ = dict(model.summary)
        return self

    @classmethod
    def _from_svmlight(cls, path: str | os.PathLike[str]) -> Self:
        from widemargin.learn.svmlight_model import from_svmlight

        model = read_svmlight_model(os.fspath(path))
        self = cls()
        self.vectorizer_ = None
        try:
            self.learner = self.learner_ = from_svmlight(model, ("-1", "1"))
        except UsageError as error:
            raise DataError(f"{os.fspath(path)}: {error}") from error
        self.rule_ = DecisionRule(self.label_space_)
        self._hold_features(None)
        self.n_features_in_ = model.n_features
        self.training_summary_ = {
            "documents": model.n_documents,
            "labels": 2,
            "task": "binary",
            "terms": model.n_features,
        }
        return self

    def _features(self, texts: Any) -> sp.csr_array:
        """The rows of `texts`, canonical, as the learner takes them."""
        X = self._all_features(texts)
        return self._as_scored(X if self._narrowing is None else self._narrowing.apply(X))

    def _located(self, text: str) -> tuple[NDArray[Any], ...]:
        """Columns of the learner, beginnings and ends of every term of `text` that it sees."""
        assert self.vectorizer_ is not None
        found = self.vectorizer_.locate(text)
        if self._narrowing is None:
            return tuple(found)
        columns = self._narrowing.place[found.columns]
        seen = columns >= 0
        return columns[seen], found.starts[seen], found.ends[seen]

    def selected_terms(self) -> list[tuple[str, float]]:
        """The terms that the learner sees with the scores that they were selected by, the best first."""
        check_is_fitted(self, "learner_")
        if self.features_ is None or self._narrowing is None:
            raise UsageError("This classifier uses all its features. Pass features to select some.")
        scores = getattr(self.features_, "scores_", None)
        scores = self.features_.probabilities_ if scores is None else scores
        scores = scores[self._narrowing.columns]
        return [(self._term(i), float(scores[i])) for i in np.argsort(-scores, kind="stable").tolist()]

    def _all_features(self, texts: Any) -> sp.csr_array:
        """The rows of `texts`, canonical, with `n_features_in_` columns."""
        if self.vectorizer_ is not None:
            if is_matrix(texts):
                raise UsageError("This classifier was trained on texts, and these are vectors. Pass texts.")
            if isinstance(texts, Collection):
                texts = texts.texts
            X: sp.csr_array = self.vectorizer_.transform(texts)
            return X if X.dtype.kind == "f" else X.astype(np.float32)
        if isinstance(texts, Vectors):
            # Files of vectors end at the last feature they use; features nobody trained on are ignored.
            rows: Any = texts.X.copy()
            rows.resize((rows.shape[0], self.n_features_in_))
            X = rows
        elif is_matrix(texts):
            X = texts
        else:
            raise UsageError("This classifier was trained on vectors, and these are texts. Pass vectors.")
        if X.shape[1] != self.n_features_in_:
            raise DataError(f"X has {X.shape[1]} features, but the classifier learned {self.n_features_in_}.")
        csr = canonical_csr(X)
        return sp.csr_array((csr.data, csr.indices, csr.indptr), shape=X.shape)

    def _as_scored(self, X: sp.csr_array) -> sp.csr_array:
        """The rows as the learner's weights see them; scaling them twice changes nothing."""
        scaled: Any = self.learner_.as_scored(X) if hasattr(self.learner_, "as_scored") else X
        return scaled  # type: ignore[no-any-return]

    def _dense_weights(self) -> NDArray[np.float64] | None:
        """The weights feature by feature, as the core takes them; None for a learner without dense ones."""
        coef = getattr(self.learner_, "coef_", None)
        weights = coef.T if isinstance(coef, np.ndarray) else None
        return weights if weights is not None and weights.flags.c_contiguous else None

    def _weights_of(self, column: int) -> NDArray[np.float64]:
        coef: Any = self.learner_.coef_
        row = coef[[column], :].toarray() if hasattr(coef, "toarray") else np.atleast_2d(coef)[column]
        return np.asarray(row, dtype=np.float64).reshape(-1)

    @property
    def _pairwise(self) -> bool:
        """Whether the learner's machines are for pairs of classes."""
        one_each = getattr(self.learner_, "scheme", "one-vs-rest") == "one-vs-rest"
        return not one_each and self.label_space_.kind == "multiclass"

    def _check_weights(self) -> None:
        if self.has_weights:
            return
        name = type(self.learner_).__name__
        if self._pairwise:
            raise UsageError(
                f"This {name} has weights for pairs of classes, not for labels, so it cannot say what speaks "
                f'for one. Train with scheme="one-vs-rest" and kernel="linear", or a LinearSVM.'
            )
        kernel = getattr(self.learner_, "kernel", "it has")
        raise UsageError(
            f"A {name} with the kernel {kernel} has no weights of terms, so it cannot say what speaks for a "
            f"label. Train a LinearSVM, or with the linear kernel."
        )

    def _intercepts(self) -> NDArray[np.float64]:
        n_columns = self.label_space_.n_columns
        return np.broadcast_to(np.asarray(self.learner_.intercept_, dtype=np.float64), (n_columns,))

    def _column(self, label: Any) -> tuple[int, float]:
        """The column that scores `label`, and whether its sign has to be turned."""
        classes = self.classes_.tolist()
        label = label.item() if isinstance(label, np.generic) else label
        if label not in classes:
            shown = ", ".join(map(str, classes[:10])) + (", ..." if len(classes) > 10 else "")
            raise UsageError(f"There is no label {label!r}. The labels are {shown}.")
        place = classes.index(label)
        if self.label_space_.kind == "binary":
            return 0, 1.0 if place == 1 else -1.0
        return place, 1.0

    def _best_label(self, scores: NDArray[np.float64]) -> Any:
        above = scores if self.thresholds_ is None else scores - self.thresholds_
        if self.label_space_.kind == "binary":
            return self.classes_[int(above[0] > 0)].item()
        return self.classes_[int(above.argmax())].item()

    @property
    def _vocabulary(self) -> Any:
        """The names of the columns; None for vectors, and where terms were hashed to columns."""
        return getattr(self.vectorizer_, "vocabulary_", None)

    def _term(self, column: int) -> str:
        if self._narrowing is not None:
            column = int(self._narrowing.columns[column])
        if self._vocabulary is None:
            return str(column + 1)  # as in an SVM-light file
        return str(self._vocabulary.term(column))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_label = True
        return tags


def _by_distance(learner: Any) -> bool:
    return getattr(learner, "kernel", None) in ("rbf", "chi2")


def _widened(learner: Any, n_features: int) -> Any:
    """The same kernel machine for vectors with more features, which its support vectors do not have."""
    wide = copy.copy(learner)
    wide.support_vectors_ = learner.support_vectors_.copy()
    wide.support_vectors_.resize((learner.support_vectors_.shape[0], n_features))
    wide.n_features_in_ = n_features
    return wide


def _convergence(learner: Any) -> dict[str, Any]:
    """How far the learner got, where it says so: sums over labels.

    Six digits: the last ones of a sum may depend on the number of threads, and a model must not.
    """
    found = {}
    for name in ("objective", "duality_gap"):
        value = getattr(learner, name + "_", None)
        if value is not None:
            found[name] = float(f"{np.sum(value):.6g}")
    return found
