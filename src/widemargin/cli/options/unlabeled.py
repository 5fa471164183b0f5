"""The options of `train` for unlabeled documents."""

from __future__ import annotations

from widemargin.cli.options.option import train

UNLABELED = (
    train(
        "--unlabeled POOL",
        "More documents, whose labels are ignored. They add terms and document frequencies; with "
        "--unlabeled-use, the model learns from them too. Training documents are held out in 5 folds with "
        "and without the pool, and what does not help is not used (--estimate none: used without this test).",
        shown="none",
    ),
    train(
        "--unlabeled-use representation|self-training|transductive",
        "What unlabeled documents are used for: only terms and document frequencies; or also learning, by "
        "labeling those that the model is surest of and training again, or by a transductive SVM, which "
        "takes much longer. Learning needs one label per document.",
        default="representation",
    ),
)
