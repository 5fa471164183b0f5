"""Documents to scores, labels and explanations, for fitted and for loaded classifiers.

For a linear model, a :class:`Scorer` needs only NumPy and the compiled core. `Scorer.load` does not import
scikit-learn and SciPy, so it starts fast.
"""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from widemargin._arrays import Csr, is_sparse
from widemargin.classifier.explanation import Explanation, explain_scores
from widemargin.classifier.outline import Outline, has_outline, outline, path
from widemargin.classifier.record.remembering import seen_in
from widemargin.classifier.record.training_record import NOTHING_KNOWN, TrainingRecord
from widemargin.classifier.representation import Representation, is_matrix
from widemargin.classifier.storage import StoredParts, read_file
from widemargin.classifier.term_weights import (
    TopTerms,
    check_term_weights,
    column_of,
    is_pairwise,
    term_weights,
)
from widemargin.decide.abstain.observing import decision_probability, observe
from widemargin.decide.abstain.rejection import Rejection
from widemargin.decide.rule import DecisionRule
from widemargin.decide.votes import class_scores
from widemargin.documents.collection import Collection, Vectors
from widemargin.errors import UsageError
from widemargin.features.combined_columns import Projection
from widemargin.labels import LabelSpace
from widemargin.learn.linear_weights import LinearWeights, linear_scores
from widemargin.monitor.observed import Observed
from widemargin.text.inputs import byte_lengths
from widemargin.weight.as_new.unknown_terms import known_terms
from widemargin.weight.term_vectors import TermVectors
from widemargin.weight.text_scores import TextScores


@dataclass(frozen=True, eq=False)
class Scorer:
    """A representation, a learner that scores its rows, and the rule that decides.

    Attributes
    ----------
    learner : a fitted learner, or the :class:`~widemargin.learn.linear_weights.LinearWeights` of one
    summary : the sizes and estimates of the training
    record : what the model remembers of its training documents
    """

    representation: Representation
    learner: Any
    rule: DecisionRule
    summary: dict[str, Any]
    record: TrainingRecord = NOTHING_KNOWN
    _last: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, n_jobs: int | None = None) -> Self:
        """Read a model file, of this library or of SVM-light; `n_jobs` threads score, None means all
        cores."""
        parts = read_file(path, to_score=True)
        for part in (parts.vectorizer, parts.learner):
            if part is not None:
                part.n_jobs = n_jobs
        if isinstance(parts.reduction, Projection):
            parts = parts._replace(reduction=parts.reduction._replace(n_jobs=n_jobs))
        return cls.of(parts)

    @classmethod
    def of(cls, parts: StoredParts) -> Self:
        """A scorer from the parts of a model file."""
        representation = Representation(parts.vectorizer, parts.reduction, parts.n_features)
        return cls(representation, parts.learner, parts.rule, parts.summary, parts.record)

    @property
    def space(self) -> LabelSpace:
        """The labels, and their columns of scores."""
        return self.rule.space

    @property
    def takes_vectors(self) -> bool:
        """Whether documents are vectors, not texts."""
        return self.representation.vectorizer is None

    def scores(self, texts: Any, counts: Csr | None = None) -> NDArray[Any]:
        """Scores of `texts`: (n,) for two classes, otherwise documents x labels; from `counts`, if known."""
        learner, representation = self.learner, self.representation
        texts = representation.documents(texts)
        by_distance = getattr(learner, "kernel", None) in ("rbf", "chi2")
        if by_distance and isinstance(texts, Vectors) and representation.leaves_out_columns_of(texts):
            # Features that no training document has still lengthen a vector, and all its distances.
            found: NDArray[Any] = _widened(learner, texts.X.shape[1]).decision_function(texts.X)
            return found
        if getattr(learner, "reads_texts", False) and (read := representation.read(texts)) is not None:
            by_text: NDArray[Any] = learner.scores_of_texts(*read)
            return by_text
        if counts is None and not is_matrix(texts) and (in_one_call := self._in_one_call()) is not None:
            texts = texts.texts if isinstance(texts, Collection) else texts
            return _in_form(learner, in_one_call(texts))
        return _score(learner, _as_scored(learner, representation.rows(texts, counts)))

    def observe(self, texts: Any) -> tuple[NDArray[Any], Observed]:
        """The scores of `texts`, and what else the model sees of them, for rejections and the drift alarm."""
        texts = self.representation.documents(texts)
        vectorizer, counts, known = self.representation.vectorizer, None, None
        if isinstance(vectorizer, TermVectors) and not is_matrix(texts):
            counts = vectorizer.counted(texts)
            known = known_terms(vectorizer, texts, counts)
        scores = self.scores(texts, counts)
        profile = self.record.profile
        how: dict[str, Any] = {"empty": 0.0 if profile is None else profile.empty}
        how |= {} if known is None else known._asdict()
        return scores, observe(self.rule, scores, self.lengths(texts), **how)

    def rejection(self, asked: Any, name: str = "This model") -> Rejection:
        """The rule of documents to leave undecided: ``0.05`` promises an error, ``"confidence:0.8"`` asks for
        a probability."""
        rejection = Rejection.of(asked, self.record.profile, name)
        if rejection.asked.probability is not None and self.rule.calibration is None:
            raise UsageError(
                f"{name} gives scores only, and a confidence is a probability. Train with --calibrate platt, "
                f"or ask for an error, such as 0.05."
            )
        return rejection

    def rejected(
        self, rejection: Rejection, texts: Any, scores: NDArray[Any], seen: Observed
    ) -> NDArray[np.object_]:
        """Why each of `texts` is left undecided, or None; `scores` and `seen` as `observe` gives them."""
        if rejection.asked.probability is None:
            return rejection.rejected(seen)
        chances = decision_probability(self.rule, scores, self.lengths(texts))
        return rejection.rejected(seen, chances)

    @property
    def scores_in_one_call(self) -> bool:
        """Whether texts become scores in one call of the core: within microseconds, without the GIL."""
        return self._in_one_call() is not None

    def _in_one_call(self) -> TextScores | None:
        """What scores texts in the core alone, if the learner multiplies rows by weights as they are."""
        rules = _plain_rules(self.learner)
        if rules is None:
            return None
        of, found = self._last.get("rules", ()), self._last.get("scores")
        # A learner or a vectorizer that has learned since has new arrays.
        same = len(of) == 2 and of[0] is rules[0] and of[1] is rules[1]
        if not same or (found is not None and not found.is_current):
            found = self.representation.text_scores(rules[0].T, rules[1])
            self._last.update(rules=rules, scores=found)
        return found

    def decide(self, texts: Any) -> Any:
        """Labels of `texts`, in the form of the training labels."""
        texts = self.representation.documents(texts)
        return self.rule.decide(self.scores(texts), self.lengths(texts))

    def seen(self, texts: Any) -> NDArray[np.bool_]:
        """Whether each text was a labeled training document; the model must have their hashes."""
        return seen_in(self.record, self.representation.documents(texts))

    def lengths(self, texts: Any) -> NDArray[np.int64] | None:
        """The lengths of `texts` in bytes, if the rule needs them."""
        needed = self.rule.needs_lengths and not self.takes_vectors
        return byte_lengths(self.representation.documents(texts)) if needed else None

    def probabilities(self, texts: Any, scores: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """Calibrated probabilities, documents x labels, of a rule that has a calibration.

        Parameters
        ----------
        scores : those of `texts`, if they are known already
        """
        texts = self.representation.documents(texts)
        scores = self.scores(texts) if scores is None else scores
        return self.rule.probabilities(scores, self.lengths(texts))

    def explain(self, text: Any, label: Any = None) -> Explanation:
        """Explain the score of `text` for `label`; by default for the predicted one.

        Of several columns, `text` is a mapping from names to texts.
        """
        (text,) = self.representation.documents([text])
        located_row = self.representation.located_row(text)
        in_parts = hasattr(self.learner, "score_parts")
        if not in_parts:
            check_term_weights(self.learner)
        row = _as_scored(self.learner, located_row.row)
        scores = np.asarray(_score(self.learner, row), dtype=np.float64).reshape(-1)
        label = self.rule.best(scores, self.lengths([text])) if label is None else label
        column, sign = column_of(self.learner, label)
        thresholds = self.rule.thresholds
        if in_parts:
            constants, parts = self.learner.score_parts(row)
            values, bias = sign * parts[:, column], sign * float(constants[column])
        else:
            weights = term_weights(self.learner, label)
            values, bias = row.data.astype(np.float64) * weights.weights[row.indices], weights.bias
        columns, values = self.representation.carried_back(located_row, row, values)
        found = explain_scores(
            text,
            label=label,
            columns=columns,
            values=values,
            located=located_row.located,
            bias=bias,
            score=sign * float(scores[column]),
            threshold=None if thresholds is None else sign * float(thresholds[column]),
            name=self.representation.counted_term if self.representation.has_terms else None,
            block=self.representation.block if self.representation.has_blocks else None,
        )
        if self.rule.costs is not None:
            place = self.space.classes.tolist().index(label)
            preferences = self.rule.preferences(scores[None], self.lengths([text]))
            found = replace(found, expected_cost=-float(preferences[0, place]))
        if hasattr(self.learner, "voters"):
            return replace(found, voters=self.learner.voters(row))
        if has_outline(self.learner):
            _, steps = self.learner.steps(row, column)
            return replace(found, path=path(steps, sign, self.representation))
        return found

    def outline(self, label: Any) -> Outline:
        """The tree or the rules of `label`."""
        return outline(self.learner, self.representation, label)

    def top_terms(self, label: Any = None, count: int = 20) -> TopTerms:
        """The `count` terms with the largest and with the smallest weights for `label`."""
        check_term_weights(self.learner)
        if label is None:
            names = self.space.column_names
            if len(names) != 1:
                raise UsageError(f"There are {len(names)} labels. Pass one of them.")
            label = names[0]
        found = term_weights(self.learner, label)
        weights, name = self.representation.weights_of_terms(found.weights)
        return found._replace(weights=weights).top(count, name)


def _has_weights(learner: Any) -> bool:
    """Whether rows can be multiplied by the learner's weights; otherwise it scores them itself."""
    coef = getattr(learner, "coef_", None)
    return is_sparse(coef) or (isinstance(coef, np.ndarray) and coef.T.flags.c_contiguous)


def _plain_rules(learner: Any) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Weights and intercepts, if scores are products of rows as they are and dense weights."""
    as_they_are = getattr(type(learner), "as_scored", None) is LinearWeights.as_scored
    if not as_they_are or hasattr(learner, "row_scores"):
        return None
    coef, intercept = getattr(learner, "coef_", None), learner.intercept_
    if not isinstance(coef, np.ndarray) or not coef.T.flags.c_contiguous:
        return None
    return (coef, intercept) if coef.dtype == intercept.dtype == np.float64 else None


def _as_scored(learner: Any, csr: Csr) -> Csr:
    """The rows as the learner's weights see them; as they are for a learner that scores without any.

    Its `decision_function` scales them itself, and a square root must not be taken twice.
    """
    scales = hasattr(learner, "as_scored") and _has_weights(learner)
    rows: Csr = learner.as_scored(csr) if scales else csr
    return rows


def _score(learner: Any, csr: Csr) -> NDArray[Any]:
    """What ``learner.decision_function(X)`` returns, for rows that `_as_scored` made.

    scikit-learn's checks would take longer than a short document, so weights go to the core at once.
    """
    if hasattr(learner, "row_scores"):
        own: NDArray[Any] = learner.row_scores(csr)
        return own[:, 0] if learner.label_space_.kind == "binary" else own
    if not _has_weights(learner):
        found: NDArray[Any] = learner.decision_function(csr.matrix)
        return found
    return _in_form(learner, linear_scores(learner, csr))


def _in_form(learner: Any, scores: NDArray[Any]) -> NDArray[Any]:
    """Scores (n, columns) of weights as ``decision_function`` returns them."""
    if learner.label_space_.kind == "binary":
        return scores[:, 0]
    if is_pairwise(learner):
        return class_scores(scores, len(learner.label_space_.classes), learner.scheme)
    return scores


def _widened(learner: Any, n_features: int) -> Any:
    """The same kernel machine for vectors with more features, which its support vectors do not have."""
    wide = copy.copy(getattr(learner, "machine_", learner))
    wide.support_vectors_ = wide.support_vectors_.copy()
    wide.support_vectors_.resize((wide.support_vectors_.shape[0], n_features))
    wide.n_features_in_ = n_features
    return wide
