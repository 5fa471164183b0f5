"""Scoring raw text with 90 labels, all test documents of Reuters-21578 at once and one at a time.

Peer: TfidfVectorizer + OneVsRestClassifier(LinearSVC(loss="hinge"), n_jobs=2), trained on the same
documents with the same C. Scores of one document have to equal those of the batch, and the micro-averaged
break-even point be at most 0.2 points below the peer's.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from _compare import Row, alternate, report, wants_json
from _reuters import PEER, ours, peer, reuters
from widemargin.measure import micro_prbep

SINGLE = 100  # documents scored one at a time
ALLOWED_LOSS = 0.2


def main() -> int:
    warnings.simplefilter("ignore", ConvergenceWarning)
    job = reuters()
    classifier = ours().fit(job.train, job.Y_train)
    pipeline = peer().fit(job.train, job.Y_train)
    scores, peer_scores = classifier.decision_function(job.test), pipeline.decision_function(job.test)
    found = {
        "prbep": 100 * micro_prbep(job.Y_test, scores),
        "peer_prbep": 100 * micro_prbep(job.Y_test, peer_scores),
    }
    batch = alternate(
        lambda: classifier.decision_function(job.test),
        lambda: pipeline.decision_function(job.test),
        repeats=7,
    )
    few = job.test[:SINGLE]
    alone = np.vstack([classifier.decision_function([text]) for text in few])
    single = alternate(
        lambda: [classifier.decision_function([text]) for text in few],
        lambda: [pipeline.decision_function([text]) for text in few],
        repeats=5,
    )
    largest = float(np.abs(alone - scores[:SINGLE]).max())
    rows = [
        Row("predict, batch", PEER, *batch, {"documents": len(job.test), **found}),
        Row(
            "predict, one at a time",
            PEER,
            *(seconds / SINGLE for seconds in single),
            {"documents": 1, "difference_from_batch": largest},
        ),
    ]
    report(rows, wants_json())
    if largest > 1e-6 or found["prbep"] < found["peer_prbep"] - ALLOWED_LOSS:
        print("Not the same quality: the times do not compare.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
