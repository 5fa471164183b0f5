"""A pool of unlabeled documents beside training documents: does it help, and does the test in folds know it?

The plain classifier is tuned on the labeled documents alone (tune="fast"). Then the same terms, weights and
learner are trained with the pool, used for the representation, for self-training and for transduction. A row
shows the points on test documents without the pool, with the pool used as asked, and of the model that the
test in folds over labeled documents keeps (`use`), with the figures of this test. Points are accuracy; for
Reuters (several labels per document), micro-averaged precision/recall break-even points. The check is on the
points that the kept model loses against the plain one; seconds are those of training with the test and of
training without pool and test.

20 Newsgroups twice: all training documents are labeled and the test documents are the pool, their labels
hidden; and, as for the other collections, a tenth of the training documents is labeled (drawn by class) and
the rest is the pool. Transduction on all of 20 Newsgroups takes long and is left out, unless asked for by
--uses.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from _compare import Check, Row, arguments, report
from small_models import load, quality
from widemargin import TextClassifier
from widemargin.estimate.cross_validation import stratified_folds
from widemargin.labels import Labels

SHARE = 10
POINTS_LOST = 1.0
USES = ("representation", "self-training", "transductive")
TASKS = {
    "newsgroups-test": ("20newsgroups", True),
    "newsgroups": ("20newsgroups", False),
    "reuters": ("reuters21578", False),
    "clinc": ("clinc150", False),
    "sms": ("sms-spam", False),
}
SLOW = {("newsgroups-test", "transductive")}


def divided(task: str) -> tuple[list[str], list[Any], list[str], list[str], list[Any]]:
    """Labeled texts, their labels, the pool, and test texts with their labels."""
    name, transductive = TASKS[task]
    texts, labels, new_texts, new_labels = load(name)
    if transductive:
        return texts, labels, new_texts, new_texts, new_labels
    fold = stratified_folds(Labels.of(labels).signs, SHARE, 0)
    seen, others = np.flatnonzero(fold == 0).tolist(), np.flatnonzero(fold > 0).tolist()
    known = [texts[i] for i in seen], [labels[i] for i in seen]
    return *known, [texts[i] for i in others], new_texts, new_labels


def points(classifier: TextClassifier, texts: list[str], labels: list[Any]) -> float:
    """Points on test documents; labels that no training document had count as missed."""
    space = classifier.label_space_
    truth = Labels(space, np.asfortranarray(space.encode(labels, unknown="ignore")))
    scores = classifier.decision_function(texts).reshape(len(texts), -1)
    found = quality(truth, scores)
    return found["micro_prbep"] if "micro_prbep" in found else found["accuracy"]


def rows(task: str, uses: list[str], seed: int) -> Iterator[Row]:
    texts, labels, pool, new_texts, new_labels = divided(task)
    tuned = TextClassifier(tune="fast", estimate=None).fit(texts, labels)
    vectorizer, learner = clone(tuned.vectorizer_), clone(tuned.learner_)
    if "random_state" in learner.get_params():
        learner.set_params(random_state=seed)
    start = time.perf_counter()
    plain = TextClassifier(vectorizer, learner, estimate=None).fit(texts, labels)
    plain_seconds = time.perf_counter() - start
    before = points(plain, new_texts, new_labels)
    several = plain.label_space_.kind == "multilabel"
    for use in uses:
        if several and use != "representation":
            continue
        start = time.perf_counter()
        kept = TextClassifier(vectorizer, learner, unlabeled_use=use, estimate="k-fold")
        kept.fit(texts, labels, unlabeled=pool)
        seconds = time.perf_counter() - start
        summary = kept.training_summary_["pool"]
        after = points(kept, new_texts, new_labels)
        asked = after
        if summary["use"] != use:
            without_test = TextClassifier(vectorizer, learner, unlabeled_use=use, estimate=None)
            asked = points(without_test.fit(texts, labels, unlabeled=pool), new_texts, new_labels)
        found = {
            "labeled": len(texts),
            "pool": summary["documents"],
            "plain": before,
            "as_asked": asked,
            "kept": after,
            "use": str(summary["use"]),
        }
        found |= {f"folds_{name}": 100 * value for name, value in summary["figures"].items()}
        found["p"] = summary["p_values"][use]
        check = Check("points_lost", before - after, POINTS_LOST)
        yield Row(f"{task} {use}", "plain", seconds, plain_seconds, [check], found)


def main() -> int:
    parser = arguments(__doc__, None, list(TASKS))
    parser.add_argument(
        "--uses", nargs="+", choices=USES, metavar="USE", help=f"only some of: {', '.join(USES)}"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the folds and the learner (default: 0)")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    made = (
        row
        for task in given.tasks
        for row in rows(task, given.uses or [use for use in USES if (task, use) not in SLOW], given.seed)
    )
    return report(made, given.json)


if __name__ == "__main__":
    sys.exit(main())
