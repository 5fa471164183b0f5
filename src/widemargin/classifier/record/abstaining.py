"""The part of a `TextClassifier` that leaves documents undecided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from widemargin.decide.abstain.rejection import Rejection
from widemargin.errors import UsageError

if TYPE_CHECKING:
    from widemargin.classifier.scorer import Scorer


class Abstains:
    """Adds to a classifier what it does not decide, by scores of documents that were left out of training.

    `predict` always decides. What to abstain from is `abstain`, the parameter of the classifier unless
    another is passed: an error such as 0.05, promised of the documents that are decided, or
    "confidence:0.8", the least probability of a decision (:mod:`widemargin.decide.abstain.rejection`).
    """

    if TYPE_CHECKING:
        abstain: Any

        @property
        def scorer(self) -> Scorer: ...

    @property
    def reject_(self) -> Rejection | None:
        """The rule of documents to leave undecided; None if `abstain` is None."""
        scorer = self.scorer
        return None if self.abstain is None else scorer.rejection(self.abstain)

    def rejected(self, texts: Any, abstain: Any = None) -> NDArray[np.object_]:
        """Why each document is left undecided: "low confidence", "no known terms" or "unlike training"; None
        for those that are decided.

        Examples
        --------
        >>> from widemargin import TextClassifier
        >>> texts = ["corn and wheat", "wheat harvest", "bank rate", "bank profits"] * 20
        >>> classifier = TextClassifier(abstain=0.1).fit(texts, ["grain", "grain", "money", "money"] * 20)
        >>> classifier.rejected(["wheat and corn", "a violin concerto"]).tolist()
        [None, 'no known terms']
        >>> classifier.predict_or_abstain(["wheat and corn", "a violin concerto"]).tolist()
        ['grain', None]
        """
        rejection, scorer = self._rejection(abstain), self.scorer
        texts = scorer.representation.documents(texts)
        return scorer.rejected(rejection, texts, *scorer.observe(texts))

    def predict_or_abstain(self, texts: Any, abstain: Any = None) -> Any:
        """Predicted labels, and None for documents that are left undecided: an array of objects, or a list of
        label sets."""
        rejection, scorer = self._rejection(abstain), self.scorer
        texts = scorer.representation.documents(texts)
        scores, seen = scorer.observe(texts)
        out = scorer.rejected(rejection, texts, scores, seen)
        found = scorer.rule.decide(scores, scorer.lengths(texts))
        if isinstance(found, np.ndarray) and found.ndim == 1:
            decided = found.astype(object)
            decided[out.astype(bool)] = None
            return decided
        return [None if why else each for each, why in zip(found, out.tolist(), strict=True)]

    def _rejection(self, abstain: Any) -> Rejection:
        scorer, asked = self.scorer, self.abstain if abstain is None else abstain
        if asked is None:
            raise UsageError('Pass abstain: the largest error, such as 0.05, or "confidence:0.8".')
        return scorer.rejection(asked)
