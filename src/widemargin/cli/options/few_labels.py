"""The learners of `label`, which learn from unlabeled documents too, and their options."""

from __future__ import annotations

from functools import partial

from widemargin.cli.options.option import Option

TRANSDUCTIVE, SELF_TRAINING = "transductive-svm", "self-training"
_self_training = partial(Option, verbs="label", learners=SELF_TRAINING)

FEW_LABELS = (
    Option(
        "--learner transductive-svm|self-training|naive-bayes",
        "transductive-svm: the labels with the widest margin between the classes. self-training: a "
        "linear SVM labels the documents that it is surest of, and learns from these too; faster, for "
        "documents with one label each. naive-bayes: unlabeled documents count in every class by its "
        "probability, which is computed again and again (EM); for classes that are the topics of the "
        "documents.",
        "label",
        default=TRANSDUCTIVE,
        common=True,
    ),
    Option(
        "--C X",
        "The cost of errors on labeled documents.",
        "label",
        float,
        shown="20; self-training: 1; with --query: 1",
        common=True,
        learners=f"{TRANSDUCTIVE} {SELF_TRAINING}",
    ),
    Option(
        "--C-unlabeled X",
        "The cost of an unlabeled document inside the margin, at most --C.",
        "label",
        float,
        shown="all unlabeled documents together weigh half as much as the labeled ones",
        learners=TRANSDUCTIVE,
    ),
    _self_training(
        "--rounds N", "How often unlabeled documents are labeled again.", kind=int, shown="2", least=1
    ),
    _self_training(
        "--keep X",
        "The fraction of the unlabeled documents that are learned from, the surest ones.",
        kind=float,
        shown="0.7",
    ),
    Option(
        "--unlabeled-weight X",
        "How often an unlabeled document counts; less than 1 where they are very many.",
        "label",
        float,
        shown="1; self-training: 0.5",
        learners=f"naive-bayes {SELF_TRAINING}",
    ),
)
