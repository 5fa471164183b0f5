"""The options of online learners."""

from __future__ import annotations

from functools import partial

from widemargin.cli.options.learners import ONLINE, WINNOWS_OF_COUNTS
from widemargin.cli.options.option import train

_arow = partial(train, learners="arow")

ONLINE_LEARNING = (
    _arow(
        "--r X",
        "How much a single document counts: the larger, the smaller the steps.",
        float,
        shown="0.5",
    ),
    _arow(
        "--forgetting X",
        "The share of its information that a weight forgets with every update, for streams that change: 0.01 "
        "remembers about the last hundred updates of a term.",
        float,
        shown="0",
    ),
    _arow(
        "--rivals X|none",
        "With one label per document: a wrong label learns from a document only if its score comes within X "
        "of that of the right one. none: every label learns from all documents.",
        shown="0.5",
    ),
    train(
        "--eta X",
        "The learning rate.",
        float,
        shown="0.01; large-margin-winnow, dual-svm: Newton's step",
        learners="perceptron winnow large-margin-winnow dual-svm",
    ),
    train(
        "--promotion X",
        "The factor for weights after a false negative.",
        float,
        shown="1.1",
        learners=WINNOWS_OF_COUNTS,
    ),
    train(
        "--demotion X",
        "The factor for weights after a false positive.",
        float,
        shown="0.9",
        learners=WINNOWS_OF_COUNTS,
    ),
    train(
        "--updates active|all",
        "The weights that a mistake updates: those of the document's terms, or one of the two of every term "
        "(Littlestone's version, for --weighting bxx).",
        shown="active",
        learners="balanced-winnow",
    ),
    train(
        "--start-weights FILE",
        "Starting weights of terms, the prior of the model: lines of a term, a tab, and a weight. Other "
        "terms start at 0.01.",
        shown="0.01 for every term",
        learners="winnow large-margin-winnow",
    ),
    train(
        "--average averaged|voted",
        "Average the weights over all documents, or let the weights after each document vote.",
        shown="the last weights",
        learners=f"perceptron {WINNOWS_OF_COUNTS} winnow",
    ),
    train(
        "--normalize", "Keep the sum of the weights constant.", bool, learners="winnow large-margin-winnow"
    ),
    train(
        "--passes N",
        "The largest number of passes over the documents; a stream is read once.",
        int,
        shown="50; arow: 1; large-margin-winnow, dual-svm: 200",
        learners=ONLINE,
        least=1,
    ),
)
