"""The whole flow behind `fit` and `predict`: texts in, labels out, with reasons.

::

    texts, y --training_input--> documents with labels --training--> vectorizer, features, learner
    texts --representation--> rows --scoring--> scores --decide.rule--> labels, probabilities
                                |
                                +--term_weights--> explanations, the terms of a label

:class:`TextClassifier` holds these together as one estimator; `storage` writes it to a file and reads it
back.
"""

from widemargin.classifier.term_weights import TopTerms
from widemargin.classifier.text_classifier import TextClassifier

__all__ = ["TextClassifier", "TopTerms"]
