"""Positive and balanced Winnow (Dagan, Karov, Roth), and Winnow in log form, normalised or not (Zhang)."""

from __future__ import annotations

from typing import Any

import numpy as np

from widemargin.errors import UsageError
from widemargin.learn.checked_documents import Documents
from widemargin.learn.mistake_driven import Average, MistakeDriven, Start
from widemargin.learn.online import Floats
from widemargin.learn.threshold_range import Link, ThresholdMixin, check_positive, check_strengths


class _Multiplicative(ThresholdMixin, MistakeDriven):
    """Active weights are multiplied by `promotion` or `demotion`, whatever the strength of the feature."""

    promotion: float
    demotion: float

    def _rates(self) -> tuple[float, float]:
        return float(self.promotion), float(self.demotion)

    def _check_parameters(self) -> None:
        check_positive(self, "promotion", "demotion")
        if not self.promotion > 1:
            raise UsageError(f"promotion={self.promotion!r}: expected a number above 1, such as 1.1.")
        if not self.demotion < 1:
            raise UsageError(f"demotion={self.demotion!r}: expected a number between 0 and 1, such as 0.9.")
        super()._check_parameters()
        self._check_threshold()

    def _check_documents(self, documents: Documents) -> None:
        check_strengths(self, documents)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # active or not is all that an update sees of a feature
        return tags


class PositiveWinnow(_Multiplicative):
    """Littlestone's Winnow: positive weights, multiplied after a mistake.

    Parameters
    ----------
    promotion, demotion : what active weights are multiplied by when a positive document was missed (above
        1), or a negative one taken (below 1)
    threshold : what the score of a positive document has to exceed
    threshold_range : (low, high) around the threshold, scores in which count as mistakes in training
    normalize : divide every document by the sum of its strengths; weights then start with `threshold`
        instead of ``threshold / d``
    document_length : d, the average number of active features of a document; None counts those of `fit`, or
        of the first batch of `partial_fit` (give it where the cut into batches must not matter)
    discard_below : discard features whose weight is within one promotion or demotion of its start, once a
        pass makes mistakes on less than this share of the documents; None keeps all. With `normalize` they
        go back to their start, which is what says nothing in an average of weights, and learn no more.
    link, average, max_iter, shuffle, random_state, n_jobs, verbose : as in :class:`~widemargin.Perceptron`

    Attributes
    ----------
    coef_, intercept_, mistakes_, n_iter_, n_discarded_, documents_seen_, documents_wrong_ :
        as in :class:`~widemargin.Perceptron`

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]]), [1, 1, 0, 0]
    >>> PositiveWinnow(promotion=2, demotion=0.5).fit(X, y).predict(X).tolist()
    [1, 1, 0, 0]
    """

    _kind = "positive-winnow"

    def __init__(
        self,
        promotion: float = 1.1,
        demotion: float = 0.9,
        *,
        threshold: float = 1.0,
        threshold_range: tuple[float, float] | None = None,
        normalize: bool = False,
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
        self.promotion = promotion
        self.demotion = demotion
        self.threshold = threshold
        self.threshold_range = threshold_range
        self.normalize = normalize
        self.document_length = document_length
        self.discard_below = discard_below
        self.link = link
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _start(self) -> Start:
        return Start(float(self.threshold) if self.normalize else self._even_share())

    def _filtering_range(self) -> tuple[float, float]:
        start = self._start().weight
        return start * self.demotion, start * self.promotion


class BalancedWinnow(_Multiplicative):
    """Winnow with two weights a feature, one for and one against: only those of active features change.

    The weight of a feature is the difference of the two, which start with ``2 threshold / d`` and
    ``threshold / d``.

    Parameters
    ----------
    promotion, demotion : a missed positive document multiplies the weights for by the one and those against
        by the other, a negative document that was taken the other way round
    threshold, threshold_range, document_length, discard_below, link, average, max_iter, shuffle,
    random_state, n_jobs, verbose : as in :class:`~widemargin.PositiveWinnow`

    Attributes
    ----------
    coef_, intercept_, mistakes_, n_iter_, n_discarded_, documents_seen_, documents_wrong_ :
        as in :class:`~widemargin.Perceptron`

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1]]), [0, 0, 1]
    >>> BalancedWinnow(promotion=1.5, demotion=0.5).fit(X, y).predict(X).tolist()
    [0, 0, 1]
    """

    _kind = "balanced-winnow"

    def __init__(
        self,
        promotion: float = 1.1,
        demotion: float = 0.9,
        *,
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
        self.promotion = promotion
        self.demotion = demotion
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

    def _start(self) -> Start:
        share = self._even_share()
        return Start(2 * share - share, 2 * share, share)

    def _filtering_range(self) -> tuple[float, float]:
        _, plus, minus = self._start()
        up = plus * self.promotion - minus * self.demotion
        return plus * self.demotion - minus * self.promotion, up


class BalancedWinnowPlus(BalancedWinnow):
    """BalancedWinnow+: balanced Winnow with a threshold range and discarding, for square roots of counts.

    The best combination of Dagan, Karov and Roth. The strengths come with the documents: give it the
    square roots of the counts. Parameters are those of :class:`~widemargin.BalancedWinnow`.

    Examples
    --------
    >>> import numpy as np
    >>> counts, y = np.array([[4, 0], [1, 1], [0, 9]]), [0, 0, 1]
    >>> BalancedWinnowPlus(discard_below=None).fit(np.sqrt(counts), y).predict(np.sqrt(counts)).tolist()
    [0, 0, 1]
    """

    def __init__(
        self,
        promotion: float = 1.1,
        demotion: float = 0.9,
        *,
        threshold: float = 1.0,
        threshold_range: tuple[float, float] | None = (0.9, 1.1),
        document_length: float | None = None,
        discard_below: float | None = 0.01,
        link: Link = "all",
        average: Average = None,
        max_iter: int = 50,
        shuffle: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            promotion,
            demotion,
            threshold=threshold,
            threshold_range=threshold_range,
            document_length=document_length,
            discard_below=discard_below,
            link=link,
            average=average,
            max_iter=max_iter,
            shuffle=shuffle,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )


class Winnow(MistakeDriven):
    """Zhang's Winnow: weights ``mu exp(v)`` where every mistake adds ``eta * x * y`` to v.

    Balanced by the embedding [x, -x], which is never made: the weights are ``2 mu sinh(v)``. The threshold is
    0, with a constant feature. There the normalised and the unnormalised rule make the same mistakes.

    Parameters
    ----------
    normalized : scale the weights so that those of [x, -x] sum to `total_weight`
    eta : the rate
    mu : what every weight starts with
    total_weight : W, None for the sum that the weights start with
    balanced : whether weights may be negative; otherwise they are ``mu exp(v)``
    bias : size of the constant feature, None for none
    average, max_iter, shuffle, random_state, n_jobs, verbose : as in :class:`~widemargin.Perceptron`

    Attributes
    ----------
    coef_, intercept_, mistakes_, n_iter_, documents_seen_, documents_wrong_ :
        as in :class:`~widemargin.Perceptron`

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1, 0], [1, 1], [0, 1]]), [0, 0, 1]
    >>> Winnow(eta=0.5).fit(X, y).predict(X).tolist()
    [0, 0, 1]
    """

    _kind = "log-winnow"

    def __init__(
        self,
        normalized: bool = False,
        *,
        eta: float = 0.01,
        mu: float = 0.01,
        total_weight: float | None = None,
        balanced: bool = True,
        bias: float | None = 1.0,
        average: Average = None,
        max_iter: int = 50,
        shuffle: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.normalized = normalized
        self.eta = eta
        self.mu = mu
        self.total_weight = total_weight
        self.balanced = balanced
        self.bias = bias
        self.average = average
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _form(self) -> tuple[float, bool, bool, float]:  # type: ignore[override]
        total = self._constants["start_sum"] if self.total_weight is None else float(self.total_weight)
        return float(self.mu), bool(self.balanced), bool(self.normalized), total

    def _rates(self) -> tuple[float, float]:
        return float(self.eta), float(self.eta)

    def _constants_from(self, documents: Documents) -> dict[str, float]:
        return {"start_sum": starting_sum(self, documents.csr.n_columns)}

    def _start(self) -> Start:
        return Start(0.0 if self.balanced else float(self.mu))

    def _fresh_columns(self) -> dict[str, tuple[float, type]]:
        start = (self._constants["start_sum"], float)
        return super()._fresh_columns() | {"normalizer": start, "peak": start}

    def _scale(self) -> Floats | None:
        if not self.normalized:
            return None
        scale: Floats = self._form[3] / self._columns["normalizer"]
        return scale

    def grow(self, n_features: int) -> Winnow:
        more = starting_sum(self, n_features) - starting_sum(self, self.n_features_in_)
        super().grow(n_features)
        self._constants["start_sum"] += more
        self._columns["normalizer"] += more
        self._columns["peak"] += more
        return self

    def _check_parameters(self) -> None:
        check_positive(self, "eta", "mu")
        if self.total_weight is not None:
            check_positive(self, "total_weight")
        super()._check_parameters()


def starting_sum(learner: Any, n_features: int) -> float:
    """||mu||_1 over the features (of the embedding, when balanced) and the constant one."""
    rows = n_features + (learner.bias is not None)
    return float(np.sum(learner.mu) * rows * (2 if learner.balanced else 1))
