"""The whole flow behind `fit` and `predict`: texts in, labels out, with reasons.

::

    texts, y --training_input--> documents with labels --training--> vectorizer, features, learner
    texts --representation--> rows --scorer--> scores --decide.rule--> labels, probabilities
                                |
                                +--term_weights--> explanations, the terms of a label

:class:`TextClassifier` holds these together as one estimator; `storage` writes it to a file and reads it
back. :class:`Scorer` is what remains once it is fitted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from widemargin.classifier.scorer import Scorer
from widemargin.classifier.term_weights import TopTerms

if TYPE_CHECKING:
    from widemargin.classifier.text_classifier import TextClassifier

__all__ = ["Scorer", "TextClassifier", "TopTerms"]


def __getattr__(name: str) -> Any:
    # On first use: it brings scikit-learn along, which a scorer does not need.
    if name != "TextClassifier":
        raise AttributeError(f"module 'widemargin.classifier' has no attribute {name!r}")
    from widemargin.classifier.text_classifier import TextClassifier

    return TextClassifier
