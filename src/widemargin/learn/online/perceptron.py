"""The Perceptron, as Zhang and as Dagan, Karov and Roth have it."""

from __future__ import annotations

from typing import Any, Literal

from widemargin._parameters import POSITIVE, check_parameters, one_of
from widemargin.errors import UsageError
from widemargin.learn.online.mistake_driven import Average, MistakeDriven, Start
from widemargin.learn.online.stream_rows import Documents
from widemargin.learn.online.threshold_range import Link, ThresholdMixin, check_strengths


class Perceptron(ThresholdMixin, MistakeDriven):
    """Adds documents that were missed to the weights and subtracts those that were taken wrongly.

    Parameters
    ----------
    form : "bias" adds ``eta * x * y``, from weights of 0, with the threshold 0 and a constant feature;
        "threshold" adds or subtracts `eta` whatever the strength, from ``threshold / d``, with a threshold
    eta : the rate
    bias : size of the constant feature of Zhang's form, None for none
    threshold : what the score of a positive document has to exceed (Dagan's form)
    threshold_range : (low, high) around the threshold, scores in which count as mistakes in training
    document_length : d, the average number of active features of a document; None counts those of `fit`, or
        of the first batch of `partial_fit` (give it where the cut into batches must not matter)
    discard_below : discard features whose weight is within one step of its start, once a pass makes mistakes
        on less than this share of the documents; None keeps all
    link : "first-sight" gives a label only the features of its positive documents, as SNoW does
    average : "averaged" weights of all documents, "voted" decisions of all rules, None for the last rule
    max_iter : most passes of `fit`; a label stops after a pass without mistakes
    shuffle : whether `fit` passes in a random order
    random_state, n_jobs, verbose : as in :class:`~widemargin.LinearSVM`

    Attributes
    ----------
    coef_, intercept_ : the rule; no `coef_` where rules vote
    mistakes_, n_iter_ : mistakes in training and passes, for each label
    documents_seen_, documents_wrong_ : of `partial_fit`, decided before they were learned

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1]]), ["ham", "ham", "spam"]
    >>> Perceptron().fit(X, y).predict(X).tolist()
    ['ham', 'ham', 'spam']
    """

    _kind = "additive"

    def __init__(
        self,
        form: Literal["bias", "threshold"] = "bias",
        *,
        eta: float = 0.01,
        bias: float | None = 1.0,
        threshold: float = 1.0,
        threshold_range: tuple[float, float] | None = None,
        document_length: float | None = None,
        discard_below: float | None = None,
        link: Link = "all",
        average: Average = None,
        max_iter: int = 50,
        shuffle: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.form = form
        self.eta = eta
        self.bias = bias
        self.threshold = threshold
        self.threshold_range = threshold_range
        self.document_length = document_length
        self.discard_below = discard_below
        self.link = link
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _by_strength(self) -> bool:  # type: ignore[override]
        return self.form == "bias"

    @property
    def _bias_size(self) -> float:
        return super()._bias_size if self.form == "bias" else 0.0

    def _rates(self) -> tuple[float, float]:
        return float(self.eta), float(self.eta)

    @property
    def _surveys_values(self) -> bool:  # type: ignore[override]
        return self.form == "threshold"

    @property
    def _constant_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return () if self.form == "bias" else super()._constant_names

    def _constants_from(self, documents: Documents) -> dict[str, float]:
        return {} if self.form == "bias" else super()._constants_from(documents)

    def _start(self) -> Start:
        return Start(0.0 if self.form == "bias" else self._even_share())

    def _filtering_range(self) -> tuple[float, float]:
        start = self._start().weight
        return start - self.eta, start + self.eta

    def _thresholds(self) -> tuple[float, float, float]:
        return (0.0, 0.0, 0.0) if self.form == "bias" else super()._thresholds()

    def _check_parameters(self) -> None:
        check_parameters(self, form=one_of("bias", "threshold"))
        check_parameters(self, eta=POSITIVE)
        super()._check_parameters()
        self._check_threshold()
        if self.form == "bias" and (self.link != "all" or self.threshold_range is not None):
            raise UsageError('threshold_range and link belong to form="threshold", which has a threshold.')

    def _check_documents(self, documents: Documents) -> None:
        if self.form == "threshold":
            check_strengths(self, documents)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.form == "threshold":
            tags.input_tags.positive_only = True
            tags.classifier_tags.poor_score = True  # active or not is all that an update sees of a feature
        return tags
