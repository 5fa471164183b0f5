"""Learn text classifiers in seconds, and know how good they are before they are deployed.

::

    documents -> tokens -> counts -> weights -> (features) -> learner -> scores -> decisions
                                                                 |
                         held-out scores, measures, explanations -> tables, reports, web

Each arrow is one package: ``documents``, ``text``, ``weight``, ``features``, ``learn``, ``decide``. Models
are estimated, tuned, measured and reported by ``estimate``, ``tune``, ``measure``, ``theory`` and ``report``.
:class:`TextClassifier` is the whole flow behind ``fit`` and ``predict``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from widemargin.classifier import TextClassifier
    from widemargin.classifier.comparing import compare
    from widemargin.classifier.scikit.from_sklearn import from_sklearn
    from widemargin.diagnose.diagnosing import diagnose
    from widemargin.documents.corpora import load_corpus
    from widemargin.documents.splitting import split
    from widemargin.estimate.held_out import leave_one_out
    from widemargin.features.clusters import TermClusters
    from widemargin.features.label_clusters import LabelClusters
    from widemargin.features.lsi import LatentSemanticIndexing
    from widemargin.features.sampling import SampleFeatures
    from widemargin.features.selecting import SelectFeatures
    from widemargin.learn.averages.average_of import AverageOf
    from widemargin.learn.bayes.naive_bayes import NaiveBayes
    from widemargin.learn.bayes.semi_supervised import SemiSupervisedBayes
    from widemargin.learn.chi_square_network import ChiSquareNetwork
    from widemargin.learn.logistic.logistic_regression import LogisticRegression
    from widemargin.learn.neighbors.nearest_neighbors import NearestNeighbors
    from widemargin.learn.online.arow import Arow
    from widemargin.learn.online.balanced_winnow import BalancedWinnow
    from widemargin.learn.online.balanced_winnow_plus import BalancedWinnowPlus
    from widemargin.learn.online.dual_svm import DualSVM
    from widemargin.learn.online.large_margin_winnow import LargeMarginWinnow
    from widemargin.learn.online.perceptron import Perceptron
    from widemargin.learn.online.positive_winnow import PositiveWinnow
    from widemargin.learn.online.winnow import Winnow
    from widemargin.learn.profiles.profile_classifier import ProfileClassifier
    from widemargin.learn.rocchio.rocchio import Rocchio
    from widemargin.learn.squares.least_squares import RegularizedLeastSquares, SampledLeastSquares
    from widemargin.learn.svm.kernel_svm import KernelSVM
    from widemargin.learn.svm.label_weighted_svm import LabelWeightedSVM
    from widemargin.learn.svm.linear_svm import LinearSVM
    from widemargin.learn.svm.multiclass_svm import MulticlassSVM
    from widemargin.learn.svm.transductive import TransductiveSVM
    from widemargin.learn.trees.boosting import BoostedTrees
    from widemargin.learn.trees.c45 import C45
    from widemargin.learn.unlabeled.relevance_feedback import RelevanceFeedback
    from widemargin.learn.unlabeled.self_training import SelfTraining
    from widemargin.model_report.reporting import report
    from widemargin.theory import TCatConcept
    from widemargin.weight.blocks import Block
    from widemargin.weight.document_vectors import DocumentVectors
    from widemargin.weight.given_vectors import GivenVectors
    from widemargin.weight.vectorizer import Vectorizer

__version__ = "0.2.0"

# Imported on first use, so that `widemargin --help` does not wait for NumPy and scikit-learn.
_HOME = {
    "C45": "widemargin.learn.trees.c45",
    "Arow": "widemargin.learn.online.arow",
    "AverageOf": "widemargin.learn.averages.average_of",
    "BalancedWinnow": "widemargin.learn.online.balanced_winnow",
    "BalancedWinnowPlus": "widemargin.learn.online.balanced_winnow_plus",
    "Block": "widemargin.weight.blocks",
    "BoostedTrees": "widemargin.learn.trees.boosting",
    "ChiSquareNetwork": "widemargin.learn.chi_square_network",
    "DocumentVectors": "widemargin.weight.document_vectors",
    "DualSVM": "widemargin.learn.online.dual_svm",
    "GivenVectors": "widemargin.weight.given_vectors",
    "KernelSVM": "widemargin.learn.svm.kernel_svm",
    "LabelClusters": "widemargin.features.label_clusters",
    "LabelWeightedSVM": "widemargin.learn.svm.label_weighted_svm",
    "LargeMarginWinnow": "widemargin.learn.online.large_margin_winnow",
    "LatentSemanticIndexing": "widemargin.features.lsi",
    "LinearSVM": "widemargin.learn.svm.linear_svm",
    "LogisticRegression": "widemargin.learn.logistic.logistic_regression",
    "MulticlassSVM": "widemargin.learn.svm.multiclass_svm",
    "NaiveBayes": "widemargin.learn.bayes.naive_bayes",
    "NearestNeighbors": "widemargin.learn.neighbors.nearest_neighbors",
    "Perceptron": "widemargin.learn.online.perceptron",
    "PositiveWinnow": "widemargin.learn.online.positive_winnow",
    "ProfileClassifier": "widemargin.learn.profiles.profile_classifier",
    "RegularizedLeastSquares": "widemargin.learn.squares.least_squares",
    "RelevanceFeedback": "widemargin.learn.unlabeled.relevance_feedback",
    "Rocchio": "widemargin.learn.rocchio.rocchio",
    "SampleFeatures": "widemargin.features.sampling",
    "SampledLeastSquares": "widemargin.learn.squares.least_squares",
    "SelectFeatures": "widemargin.features.selecting",
    "SelfTraining": "widemargin.learn.unlabeled.self_training",
    "SemiSupervisedBayes": "widemargin.learn.bayes.semi_supervised",
    "TCatConcept": "widemargin.theory",
    "TermClusters": "widemargin.features.clusters",
    "TextClassifier": "widemargin.classifier",
    "TransductiveSVM": "widemargin.learn.svm.transductive",
    "Vectorizer": "widemargin.weight.vectorizer",
    "Winnow": "widemargin.learn.online.winnow",
    "compare": "widemargin.classifier.comparing",
    "diagnose": "widemargin.diagnose",
    "from_sklearn": "widemargin.classifier.scikit.from_sklearn",
    "leave_one_out": "widemargin.estimate.held_out",
    "load_corpus": "widemargin.documents.corpora",
    "report": "widemargin.model_report.reporting",
    "split": "widemargin.documents.splitting",
}

__all__ = [
    "C45",
    "Arow",
    "AverageOf",
    "BalancedWinnow",
    "BalancedWinnowPlus",
    "Block",
    "BoostedTrees",
    "ChiSquareNetwork",
    "DocumentVectors",
    "DualSVM",
    "GivenVectors",
    "KernelSVM",
    "LabelClusters",
    "LabelWeightedSVM",
    "LargeMarginWinnow",
    "LatentSemanticIndexing",
    "LinearSVM",
    "LogisticRegression",
    "MulticlassSVM",
    "NaiveBayes",
    "NearestNeighbors",
    "Perceptron",
    "PositiveWinnow",
    "ProfileClassifier",
    "RegularizedLeastSquares",
    "RelevanceFeedback",
    "Rocchio",
    "SampleFeatures",
    "SampledLeastSquares",
    "SelectFeatures",
    "SelfTraining",
    "SemiSupervisedBayes",
    "TCatConcept",
    "TermClusters",
    "TextClassifier",
    "TransductiveSVM",
    "Vectorizer",
    "Winnow",
    "__version__",
    "compare",
    "diagnose",
    "from_sklearn",
    "leave_one_out",
    "load_corpus",
    "report",
    "split",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'widemargin' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
