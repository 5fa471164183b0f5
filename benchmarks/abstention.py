"""How many out-of-scope requests are left undecided, beside scikit-learn's largest softmax?

CLINC150: 15,000 requests of 150 intents to learn from, 4,500 to test, and 1,000 that belong to none. Ours:
the promised error decides what is left undecided (`TextClassifier(abstain=...)`), on words and pairs of
words. The peer: a LogisticRegression of scikit-learn on the same terms by its TfidfVectorizer (C = 10), whose
largest probability decides, at the same share of requests in scope. Printed: the share decided and its error
in scope, the share of requests out of scope that are left undecided, and the area under the ROC curve of
confidence, in scope against out of scope and right against wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from widemargin import LinearSVM, TextClassifier, Vectorizer, load_corpus

ERRORS = (0.02, 0.03, 0.05)
OUT = "oos"


def rows(
    name: str, confidence: NDArray[Any], predicted: NDArray[Any], truth: NDArray[Any], kept: NDArray[np.bool_]
) -> dict[str, Any]:
    """What becomes of the test requests."""
    inside, right = truth != OUT, predicted == truth
    return {
        "name": name,
        "decided": round(float(kept[inside].mean()), 4),
        "error": round(float((~right)[inside & kept].mean()), 4),
        "out_of_scope_undecided": round(float((~kept[~inside]).mean()), 4),
        "auroc_out_of_scope": round(float(roc_auc_score(inside, confidence)), 4),
        "auroc_errors": round(float(roc_auc_score(right[inside], confidence[inside])), 4),
    }


def measure() -> list[dict[str, Any]]:
    corpus = load_corpus("clinc150", split="out-of-scope")
    train = [
        (text, label)
        for text, (label,) in zip(corpus.train.texts, corpus.train.labels, strict=True)
        if label != OUT
    ]
    texts, labels = [text for text, _ in train], np.array([label for _, label in train])
    test, truth = list(corpus.test.texts), np.array([label for (label,) in corpus.test.labels])
    ours = TextClassifier(
        Vectorizer(ngram_range=(1, 2)), LinearSVM(loss="squared_hinge"), tune=None, estimate="k-fold"
    ).fit(texts, labels)
    confidence, predicted = ours.scorer.observe(test)[1].confidence, ours.predict(test)
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\w+")
    peer = LogisticRegression(C=10, max_iter=300).fit(vectorizer.fit_transform(texts), labels)
    chances = peer.predict_proba(vectorizer.transform(test))
    theirs = peer.classes_[chances.argmax(axis=1)]
    found = []
    inside = truth != OUT
    for error in ERRORS:
        kept = ~ours.rejected(test, error).astype(bool)
        mine = rows(f"widemargin, error <= {error:g}", confidence, predicted, truth, kept)
        limit = np.sort(chances.max(axis=1)[inside])[::-1][int(kept[inside].sum()) - 1]
        other = rows("largest softmax", chances.max(axis=1), theirs, truth, chances.max(axis=1) >= limit)
        found += [mine, {**other, "name": "scikit-learn, largest softmax, as many decided"}]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print one object per row")
    given = parser.parse_args()
    for row in measure():
        if given.json:
            print(json.dumps(row))
            continue
        name = row.pop("name")
        print(
            f"{name}: "
            + ", ".join(f"{key.replace('_', ' ')} {100 * value:.1f}" for key, value in row.items())
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
