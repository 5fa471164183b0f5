"""`TextClassifier`: a vectorizer, a selection of features and a learner as one estimator."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from widemargin._one_fit import one_fit_at_a_time
from widemargin.classifier.inspecting import Inspectable
from widemargin.classifier.model_parts import last_learner, reduction_of
from widemargin.classifier.record.abstaining import Abstains
from widemargin.classifier.record.training_record import NOTHING_KNOWN
from widemargin.classifier.representation import Representation, is_matrix
from widemargin.classifier.scikit.availability import available_unless
from widemargin.classifier.scikit.learner import as_learner
from widemargin.classifier.scikit.predictions import exact_matches, no_partial_fit, no_probabilities
from widemargin.classifier.scikit.vectorizer import as_vectorizer
from widemargin.classifier.scorer import Scorer
from widemargin.classifier.settings.defaults import default_text_options
from widemargin.classifier.settings.explicit import RemembersExplicit
from widemargin.classifier.storage import StoredParts, read_file, read_parts, write_parts
from widemargin.cluster.extra import is_dask
from widemargin.decide.abstain.rejection import Asked
from widemargin.decide.rule import DecisionRule
from widemargin.errors import UsageError
from widemargin.labels import LabelSpace
from widemargin.models import Model
from widemargin.report.notebook.card import ShownInNotebooks
from widemargin.weight.vectorizer import NO_METADATA, Vectorizer

if TYPE_CHECKING:
    from widemargin.classifier.fitting.steps import Fitted


@dataclass(eq=False, repr=False)
class TextClassifier(ShownInNotebooks, Abstains, ClassifierMixin, RemembersExplicit, Inspectable):
    """Texts to labels: a vectorizer and a learner as one estimator.

    Parameters
    ----------
    vectorizer : Vectorizer, optional
        Turns texts into vectors; None means ``Vectorizer()`` with the terms and weights that suit the learner
        (:data:`widemargin.tune.learners.ENTRIES`).
    learner : estimator, optional
        Is trained on the vectors; None means ``LinearSVM()``.
    features : optional
        Reduces the features; None keeps all. SelectFeatures and SampleFeatures keep some,
        LatentSemanticIndexing, TermClusters and LabelClusters make new ones. Folds fit them again.
    tune : "auto", "fast", "full" or a number of seconds, optional
        Choose terms, weights, learner and C on held-out training documents: "fast" within the work of about
        ten trainings, "full" on all documents until nothing gets better, seconds within as much work as fits
        into them. Work is predicted, so that the same seed gives the same model. "auto" is "fast" for parts
        that are None, and keeps given ones (:mod:`widemargin.classifier.settings.defaults`). None keeps all.
    tune_per_label : bool
        Choose C of a LinearSVM for each label, on the representation that is best for all of them.
    space : widemargin.tune.staged.axes.Axes or widemargin.tune.search_space.Space, optional
        What `tune` chooses from; by default everything but what was given explicitly
        (:meth:`widemargin.tune.staged.axes.Axes.around`).
    estimate : "auto", "leave-one-out", "one-step", "k-fold", "hold-out", "bootstrap", "bootstrap-632" or \
            "xi-alpha", optional
        How `fit` estimates precision, recall, F1 and error of every label, without a test set; "auto" is
        leave-one-out, or where that takes long its approximation by one step, or else k-fold. None for none.
    thresholds : str, optional
        Goal for per-label thresholds, such as "f1" or "precision:0.9"; see :mod:`widemargin.decide.goals`.
        "auto" is "f1" for label sets that are estimated, otherwise None, which decides at 0 (several classes:
        by the largest score). Thresholds are chosen on held-out scores.
    calibration : "platt", "isotonic" or "length", optional
        How `predict_proba` turns scores into probabilities; None for no `predict_proba`, unless scores are
        log-odds. "length": short texts of exclusive classes (:mod:`widemargin.decide.length_calibration`).
    costs : mapping ``{truth: {decision: cost}}``, array or ClassCosts, optional
        Costs between exclusive classes: the least expected cost decides, by probabilities ("platt" unless
        `calibration` says otherwise). An array has the order of `classes_`, truth in rows.
    label_path : str, optional
        What separates the parts of labels that are paths in a tree, such as "/". Every node is learned, and
        `predict` returns the most specific ones (:mod:`widemargin.labels.hierarchy`).
    hierarchy : "auto", "bottom-up", "top-down" or "max-sum"
        How nodes of the tree are decided together (:mod:`widemargin.decide.tree_rule`).
    unlabeled_use : "representation", "self-training" or "transductive", optional
        What `fit` uses unlabeled documents for: terms and document frequencies (the default), or learning
        too. With an `estimate`, only where it helps (:mod:`widemargin.classifier.unlabeled.use`).
    abstain : float or "confidence:P", optional
        What `predict_or_abstain` leaves undecided: 0.05 promises at most 5 % errors among the others.
    random_state : seed of the default learner and of tuning; a learner that is given has its own
    keep_hashes : keep 64-bit hashes of the training texts, by which `seen` and `evaluate` recognize them

    Attributes
    ----------
    vectorizer_, features_, learner_ : the fitted parts; None for those that are not used
    classes_ : array of labels, sorted
    thresholds_ : (columns,) the scores above which labels are assigned, or None. Of several classes, the one
        whose score exceeds its threshold most is assigned
    training_summary_ : dict with sizes, the seconds of each stage, and what was asked for: "tuning" (the
        candidates), "estimates" (a :class:`~widemargin.measure.quality.Quality` as a dict), "costs" (an
        :class:`~widemargin.measure.AverageCost` as a dict), "suspects" (labels that are probably wrong,
        :mod:`widemargin.estimate.suspects`) and "suspects_by" (the method that contradicts them)
    record_ : what is remembered of the training documents (:mod:`widemargin.classifier.record`)

    Examples
    --------
    >>> texts = ["wheat and corn harvest", "the bank cut its rate", "corn exports rose", "bank profits fell"]
    >>> classifier = TextClassifier().fit(texts, ["grain", "money", "grain", "money"])
    >>> classifier.predict(["a good corn harvest"]).tolist()
    ['grain']
    """

    vectorizer: Any = None
    learner: Any = None
    _: KW_ONLY
    features: Any = None
    tune: str | float | None = "auto"
    tune_per_label: bool = False
    space: Any = None
    estimate: str | None = "auto"
    thresholds: str | None = "auto"
    calibration: str | None = None
    costs: Any = None
    label_path: str | None = None
    hierarchy: str = "auto"
    unlabeled_use: str | None = None
    abstain: Any = None
    random_state: Any = 0
    keep_hashes: bool = True

    __metadata_request__fit = __metadata_request__partial_fit = NO_METADATA
    __metadata_request__predict = __metadata_request__predict_proba = NO_METADATA
    __metadata_request__decision_function = __metadata_request__score = NO_METADATA

    @one_fit_at_a_time
    def fit(
        self,
        texts: Any,
        y: Any = None,
        sample_weight: Any = None,
        times: Any = None,
        unlabeled: Any = None,
        executor: Any = None,
    ) -> Self:
        """Train on labeled documents.

        Parameters
        ----------
        texts : sequence of str, Collection, Vectors, sparse matrix, table with columns of text, Dask bag
            With a matrix or `Vectors` there is no vectorizer, and feature numbers are the terms.
        y : labels in any form, optional for a Collection or Vectors, which bring their own
            None or NaN marks an unlabeled document. A learner that learns from those too, such as a
            :class:`~widemargin.TransductiveSVM`, gets them (its own mark is `unlabeled`); otherwise they are
            left out with a warning. Estimates and selected features go by labeled documents.
        sample_weight : factors on the costs of errors, one per document, optional
            Without them those of Vectors count (``cost:`` of SVM-light). Estimates count documents once.
        times : numbers; `tune` then trains on earlier and measures on later documents; NaN is the earliest
        unlabeled : more documents, in the form of `texts`, used as `unlabeled_use` says; labels are ignored
        executor : of `concurrent.futures` or Dask, runs candidates and folds; the model does not depend on it
        """
        # Tuning and estimates take longer to import than all that a fitted classifier needs.
        from widemargin.classifier.fitting.steps import fitted

        parts, more = self._usable_parts(), {"sample_weight": sample_weight, "times": times}
        if is_dask(texts):
            from widemargin.classifier.on_dask.collections import fitted_on_dask

            return self._keep(fitted_on_dask(self, *parts, texts, y, **more, unlabeled=unlabeled))
        return self._keep(fitted(self, *parts, texts, y, **more, unlabeled=unlabeled, executor=executor))

    @one_fit_at_a_time
    def fit_files(
        self,
        sources: Any,
        *,
        memory: str | int = "2GB",
        scratch: str | os.PathLike[str] | None = None,
        multilabel: bool = False,
        tell: Callable[[str], None] | None = None,
        cluster: str | None = None,
        cluster_method: str = "auto",
        **reading: Any,
    ) -> Self:
        """Train a LinearSVM on files of labeled documents that need not fit into memory.

        The model is that of `fit` up to the tolerance of the learner, and the same for any `memory`, and for
        any number and order of files. Tuning compares candidates on a sample, and estimates of large
        collections are those of a sample (:mod:`widemargin.classifier.large`).

        Parameters
        ----------
        sources : path or pattern, or several of them, as :func:`widemargin.documents.read_documents` takes
        memory : how much to use, such as "512MB", "2GB", "1.5GiB" or a number of bytes
        scratch : folder for temporary files, which are removed; that of the system by default
        multilabel : whether labels are not exclusive even if every document has one
        tell : is called with lines such as which columns are read
        cluster : "local" or the address of a Dask scheduler
        cluster_method : "labels", "cocoa" (documents are divided) or "auto"
        reading : how to read the files, such as ``text="body", label="team"``
        """
        from widemargin.classifier.large.training import fitted_from_files

        how: dict[str, Any] = {"memory": memory, "scratch": scratch, "multilabel": multilabel}
        how |= {"reading": reading, "tell": tell or (lambda text: None)}
        if cluster is not None:
            how |= {"cluster": cluster, "method": cluster_method}
        return self._keep(fitted_from_files(self, *self._usable_parts(), sources, **how))

    def _keep(self, done: Fitted) -> Self:
        self._hold(done.vectorizer, done.features, done.learner, done.n_features)
        self._asked, self.rule_ = done.asked, done.rule
        self.record_, self.training_summary_ = done.record, done.summary
        return self

    @available_unless(no_partial_fit)
    @one_fit_at_a_time
    def partial_fit(self, texts: Any, y: Any, classes: Any = None) -> Self:
        """Continue training on labeled documents; the learner must have `partial_fit`.

        The first call learns the vocabulary; later calls ignore new terms. ``Vectorizer(n_hashed=...)`` uses
        all terms in bounded memory. A loaded classifier can be trained further.

        Parameters
        ----------
        texts : sequence of str, or a matrix, as in the first call
        y : labels in the form of the first call; new labels may appear. Documents without one are ignored
        classes : expected labels, in the first call; two of them make a binary task

        Examples
        --------
        >>> from widemargin import BalancedWinnow, Vectorizer
        >>> stream = TextClassifier(Vectorizer(n_hashed=1024, weighting="sxx"), BalancedWinnow())
        >>> stream = stream.partial_fit(["corn harvest", "bank rate"], ["grain", "money"])
        >>> stream.partial_fit(["oil and gas"], ["fuel"]).classes_.tolist()
        ['fuel', 'grain', 'money']
        """
        from widemargin.classifier.training_input import check_continues, in_columns, training_batch

        first = not hasattr(self, "learner_")
        vectorizer, learner = map(clone, self._usable_parts()) if first else (self.vectorizer_, self.learner_)
        check_continues(learner, self.get_params(deep=False))
        texts, vectorizer = in_columns(texts, vectorizer)
        texts, y = training_batch(texts, y)
        if is_matrix(texts):
            X = texts if first else self._representation.all_columns(texts).matrix
            vectorizer = None
        elif vectorizer is None:
            raise UsageError("This classifier was trained on vectors, and these are texts. Pass vectors.")
        else:
            X = vectorizer.partial_fit_transform(texts)
        learner.partial_fit(X if X.dtype.kind == "f" else X.astype(np.float32), y, classes)
        seen = 0 if first else int(self.training_summary_["documents"])
        if first:
            self._hold(vectorizer, None, learner, int(X.shape[1]))
            self._asked = {"thresholds": None, "estimate": None}
        self.rule_ = DecisionRule(self.label_space_)
        self.training_summary_ = {
            "documents": seen + int(X.shape[0]),
            "labels": len(self.classes_),
            "task": self.label_space_.kind,
            "terms": self.n_features_in_,
        }
        return self

    @property
    def documents_to_begin(self) -> int:
        """How many documents the first `partial_fit` should get, so that batches do not change the model."""
        return 1 if hasattr(self, "learner_") else int(getattr(self.learner, "documents_to_begin", 1))

    def _parts(self) -> dict[str, Any]:
        from widemargin.learn.svm.linear_svm import LinearSVM

        learner = LinearSVM(random_state=self.random_state) if self.learner is None else self.learner
        vectorizer = self.vectorizer
        if vectorizer is None:
            vectorizer = Vectorizer(**default_text_options(learner))
        return {"vectorizer": vectorizer, "learner": learner}

    def _usable_parts(self) -> tuple[Any, Any]:
        """The parts, with those of scikit-learn made to fit."""
        parts = self._parts()
        return as_vectorizer(parts["vectorizer"]), as_learner(parts["learner"])

    @property
    def label_space_(self) -> LabelSpace:
        """The labels, and their columns of scores."""
        check_is_fitted(self, "learner_")
        space: LabelSpace = self.learner_.label_space_
        return space

    @property
    def classes_(self) -> NDArray[Any]:
        return self.label_space_.classes

    @property
    def thresholds_(self) -> NDArray[np.float64] | None:
        check_is_fitted(self, "rule_")
        return self.rule_.thresholds

    def decision_function(self, texts: Any) -> NDArray[Any]:
        """Scores: (n,) for two classes, where positive means the second; otherwise documents x labels."""
        check_is_fitted(self, "learner_")
        return self.scorer.scores(texts)

    def predict(self, texts: Any) -> Any:
        """Predicted labels, in the form of the training labels; lazily of a Dask bag or Series."""
        check_is_fitted(self, "learner_")
        if is_dask(texts):
            from widemargin.classifier.on_dask.collections import predicted_lazily

            return predicted_lazily(self, texts)
        return self.scorer.decide(texts)

    @available_unless(no_probabilities)
    def predict_proba(self, texts: Any) -> NDArray[np.float64]:
        """Probabilities of the labels, documents x `classes_`; see `calibration` and `costs`.

        For two or more classes they sum to 1; without `costs` the largest score decides, not the largest
        probability. For label sets, each label has its own probability.
        """
        check_is_fitted(self, "learner_")
        if self.rule_.calibration is None:  # those of a scikit-learn classifier
            found: NDArray[np.float64] = self.learner_.probabilities(self._representation.rows(texts).matrix)
            return found
        return self.scorer.probabilities(texts)

    def score(self, texts: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of documents whose label is predicted right, weighted by `sample_weight`.

        Of label sets, all labels of a document have to be right, as in scikit-learn's score of indicators.
        """
        space = self.label_space_
        one = self.rule_.hierarchy is not None and self.rule_.hierarchy.tree.exclusive
        if space.kind != "multilabel" or space.indicator or one:
            return float(super().score(texts, y, sample_weight))
        return exact_matches(self.predict(texts), y, space, sample_weight)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> int:
        """Write the classifier to a model file and return its size in bytes.

        A model at `path` is replaced, any other file only with ``force=True``. The file does not contain the
        training time, so that the same training gives the same bytes.
        """
        check_is_fitted(self, "learner_")
        made = (self.vectorizer_, self.features_, self._reduction, self.learner_, self.rule_)
        asked = {**self._asked, "abstain": None if self.abstain is None else str(Asked.read(self.abstain))}
        parts = StoredParts(*made, self.n_features_in_, self.training_summary_, asked, self.record_)
        return write_parts(path, parts, force=force)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a classifier from a file of `save`, or from a model file of SVM-light.

        The file is verified and runs no code. SVM-light's classes are called "-1" and "1".
        """
        return cls.from_parts(read_file(path))

    @classmethod
    def from_model(cls, model: Model, where: str = "The model") -> Self:
        """A classifier from a model file that is already read."""
        return cls.from_parts(read_parts(model, where))

    @classmethod
    def from_parts(cls, parts: StoredParts) -> Self:
        """A fitted classifier from its parts."""
        self = cls(parts.vectorizer, parts.learner, features=parts.features, **parts.asked)
        self._hold(parts.vectorizer, parts.features, parts.learner, parts.n_features)
        self.rule_, self.training_summary_, self.record_ = parts.rule, parts.summary, parts.record
        self._asked = {name: parts.asked.get(name) for name in ("thresholds", "estimate")}
        return self

    def _hold(self, vectorizer: Any, features: Any, learner: Any, n_features: int) -> None:
        """Set the fitted parts; `n_features` is the number of columns of the vectorizer."""
        self.vectorizer_, self.features_, self.learner_ = vectorizer, features, learner
        self.n_features_in_ = n_features
        self.record_ = NOTHING_KNOWN
        self._reduction = None if features is None else reduction_of(features)

    @property
    def _representation(self) -> Representation:
        return Representation(self.vectorizer_, self._reduction, self.n_features_in_)

    @property
    def scorer(self) -> Scorer:
        """What scores, decides and explains with the fitted parts."""
        check_is_fitted(self, "learner_")
        how = self.rule_, self.training_summary_, self.record_
        return Scorer(self._representation, last_learner(self.learner_), *how)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learner_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_label = True
        return tags
