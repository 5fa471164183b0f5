"""Documents as every learner sees them: each weighting is made once, terms are counted once for several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from widemargin._arrays import Csr
from widemargin.estimate.training_rows import TrainingRows, real_values
from widemargin.labels import Labels
from widemargin.text.inputs import taken
from widemargin.tune.footprint import measured
from widemargin.tune.search_space import plain
from widemargin.weight.vectorizer import Vectorizer

# Documents whose prediction is timed where there are no test documents.
_TIMED = 2000


@dataclass(frozen=True, eq=False)
class Weighted:
    """The documents in one weighting.

    Attributes
    ----------
    rows : the training documents
    new : the test documents, or without any the first training documents, as a model scores them
    seconds, new_seconds : from texts to `rows` and to `new`; 0 for vectors
    """

    rows: TrainingRows
    new: Any
    seconds: float
    new_seconds: float

    @property
    def vectorizer(self) -> Vectorizer | None:
        found: Vectorizer | None = self.rows.vectorizer
        return found


class SharedRows:
    """Training documents, and test documents if there are any, in every weighting that is asked for.

    Parameters
    ----------
    documents : texts, or a matrix, which has no weighting to choose
    labels : of the training documents
    test : test documents of the same kind, or None
    n_jobs : number of threads
    """

    def __init__(self, documents: Any, labels: Labels, test: Any = None, n_jobs: int | None = None) -> None:
        self.vectors = hasattr(documents, "shape") and len(documents.shape) == 2
        self._documents, self._labels, self._test, self._n_jobs = documents, labels, test, n_jobs
        self._counted: dict[str, tuple[Vectorizer, Csr, float]] = {}
        self._last: tuple[str, Weighted] | None = None

    def weighted(self, options: Mapping[str, Any]) -> Weighted:
        """The documents by a vectorizer with these parameters; the last ones are kept."""
        key = _key({} if self.vectors else options)
        if self._last is None or self._last[0] != key:
            self._last = None  # before the next ones are made
            self._last = key, self._of_vectors() if self.vectors else self._of_texts(options)
        return self._last[1]

    def _of_vectors(self) -> Weighted:
        new = self._documents[:_TIMED] if self._test is None else self._test
        return Weighted(TrainingRows(self._documents, self._labels), new, 0.0, 0.0)

    def _of_texts(self, options: Mapping[str, Any]) -> Weighted:
        vectorizer = Vectorizer(**{"n_jobs": self._n_jobs, **options})
        counting, counts, counting_seconds = self._counts(vectorizer)
        with measured(memory=False) as spent:
            vectorizer = counting.reweighted(vectorizer.weighting, vectorizer.idf_power, counts)
            X = real_values(vectorizer.weighed(counts).matrix)
        texts = self._test
        if texts is None:
            texts = taken(self._documents, np.arange(min(_TIMED, len(self._documents))))
        with measured(memory=False) as new_spent:
            new = real_values(vectorizer.transform(texts))
        rows = TrainingRows(X, self._labels, self._documents, vectorizer, counts)
        return Weighted(rows, new, counting_seconds + spent.seconds, new_spent.seconds)

    def _counts(self, vectorizer: Vectorizer) -> tuple[Vectorizer, Csr, float]:
        """The counts that `vectorizer` weights, and the seconds that counting took.

        Counts of words are kept, since most learners use them; those of characters are larger.
        """
        options = {**vectorizer.get_params(), "weighting": None, "idf_power": 1.0}
        key = _key(options)
        if key in self._counted:
            return self._counted[key]
        counting = Vectorizer(**options)
        with measured(memory=False) as spent:
            counts = counting.fit_counts(self._documents)
        found = counting, counts, spent.seconds
        if vectorizer.units == "words":
            self._counted[key] = found
        return found


def _key(options: Mapping[str, Any]) -> str:
    return repr(sorted((name, plain(value)) for name, value in options.items()))
