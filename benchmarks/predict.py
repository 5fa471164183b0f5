"""Raw text to decisions on 90 labels, in a batch and one document at a time, against scikit-learn's pipeline.

Both sides are trained on the ModApte split of Reuters-21578 with the hinge loss at C = 1 and have labelled
the documents once before the clock starts. The quality is each side's micro-averaged F1 on the test documents
and the share of decisions in which the two agree.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from _compare import Row, alternate, report, wants_json
from widemargin import TextClassifier, load_corpus
from widemargin.documents.collection import Collection

ALONE = 300  # documents that are labelled one at a time
PEER = "TfidfVectorizer + OneVsRest(LinearSVC)"


def indicator(documents: Collection, labels: tuple[str, ...]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Documents x labels, 1 where a document carries a label."""
    return np.array(
        [[label in (given or ()) for label in labels] for given in documents.labels], dtype=np.int64
    )


def compare() -> Iterator[Row]:
    reuters = load_corpus("reuters21578", "modapte")
    train, test = reuters.train, reuters.test
    assert isinstance(train, Collection)
    assert isinstance(test, Collection)
    labels = reuters.categories_of("90")
    y, truth = indicator(train, labels), indicator(test, labels)
    ours = TextClassifier().fit(train.texts, y)
    peer = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(LinearSVC(loss="hinge"), n_jobs=2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some labels take LIBLINEAR more passes than it allows
        peer.fit(train.texts, y)
    # Its own best setting here: starting processes for every call would cost more than the work.
    peer.set_params(onevsrestclassifier__n_jobs=None)
    decided, expected = ours.predict(test.texts), peer.predict(test.texts)
    quality = {
        "our F1": float(f1_score(truth, decided, average="micro")),
        "peer's F1": float(f1_score(truth, expected, average="micro")),
        "same decisions": float((decided == expected).mean()),
    }
    yield Row(
        f"{len(test):,} documents in a batch",
        PEER,
        *alternate(lambda: ours.predict(test.texts), lambda: peer.predict(test.texts), 7),
        quality,
    )
    alone = [[text] for text in test.texts[:ALONE]]
    yield Row(
        f"{ALONE} documents one at a time",
        PEER,
        *alternate(
            lambda: [ours.predict(text) for text in alone], lambda: [peer.predict(text) for text in alone], 3
        ),
        quality,
    )


if __name__ == "__main__":
    report(compare(), wants_json())
