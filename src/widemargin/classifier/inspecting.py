"""What can be read from a fitted classifier: explanations, the terms of labels, trees, selected features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.classifier.explanation import Explanation
from widemargin.classifier.outline import Outline, has_outline
from widemargin.classifier.representation import MadeFeature
from widemargin.classifier.scorer import Scorer
from widemargin.classifier.term_weights import TopTerms, has_term_weights


class Inspectable:
    """The methods of `TextClassifier` that say why and by what it decides."""

    features_: Any

    @property
    def scorer(self) -> Scorer:
        """What scores, decides and explains with the fitted parts."""
        raise NotImplementedError

    def seen(self, texts: Any) -> NDArray[np.bool_]:
        """Whether each text was a labeled training document, without regard to case and white space.

        Measure a classifier on the others: ``new = ~classifier.seen(texts)``. Needs `keep_hashes`.

        Examples
        --------
        >>> from widemargin import TextClassifier
        >>> classifier = TextClassifier(tune=None).fit(["corn harvest", "bank rate"], ["grain", "money"])
        >>> classifier.seen(["Corn  harvest", "oil"]).tolist()
        [True, False]
        """
        return self.scorer.seen(texts)

    @property
    def has_weights(self) -> bool:
        """Whether every label has term weights, as `explain` and `top_terms` require."""
        return has_term_weights(self.scorer.learner)

    def explain(self, text: str, label: Any = None) -> Explanation:
        """Explain the score of `text` for `label` by the contributions of all occurrences of terms.

        Parameters
        ----------
        text : str
        label : a label, optional
            By default the predicted one; for several labels the best.

        Returns
        -------
        Explanation
            Its contributions and its bias sum to its score.
        """
        return self.scorer.explain(text, label)

    def top_terms(self, label: Any = None, count: int = 20) -> TopTerms:
        """The `count` terms with the largest and with the smallest weights for `label`.

        For two classes, the default is the second one.
        """
        return self.scorer.top_terms(label, count)

    @property
    def has_outline(self) -> bool:
        """Whether the learner is a tree or rules per label, as `outline` requires."""
        return has_outline(self.scorer.learner)

    def outline(self, label: Any) -> Outline:
        """The tree or the rules of `label`, of a :class:`~widemargin.C45`."""
        return self.scorer.outline(label)

    def selected_terms(self) -> list[tuple[str, float]]:
        """The selected terms with their selection scores, the best first."""
        representation = self.scorer.representation
        return representation.selected_terms(self.features_)

    def made_features(self, count: int = 10) -> list[MadeFeature]:
        """The features that were made of terms, such as clusters, with their `count` strongest terms."""
        representation = self.scorer.representation
        return representation.made_features(self.features_, count)

    def to_sklearn(self) -> Any:
        """A plain scikit-learn Pipeline that decides as this classifier, with its scores.

        Thresholds, if there are some, are part of the intercepts: its `decision_function` is the score minus
        the threshold. Of label sets, `predict` gives an indicator matrix, in the order of `classes_`. What
        scikit-learn cannot express is refused (:mod:`widemargin.classifier.scikit.to_sklearn`).

        Examples
        --------
        >>> from widemargin import TextClassifier
        >>> classifier = TextClassifier().fit(["corn harvest", "bank rate"], ["grain", "money"])
        >>> classifier.to_sklearn().predict(["good corn"]).tolist()
        ['grain']
        """
        from widemargin.classifier.scikit.to_sklearn import to_sklearn

        return to_sklearn(self)
