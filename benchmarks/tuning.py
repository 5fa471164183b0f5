"""Tuning on Reuters-21578: its cost, and the quality of its choice.

The space is the thesis's: 12 representations and 7 values of C. Peer: the library itself without tuning,
`Vectorizer()` and `LinearSVM()`; both sides first read the same file of training documents. The choice uses
only training documents. Then the whole grid is trained and measured on the test documents. The chosen
candidate must be within 0.5 points of the grid's best micro-averaged break-even point, and tuning may take at
most 20 times as long as training without it.

--quick omits the grid, and with it the check of the choice.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from _compare import Check, Row, arguments, in_turns, report
from _reuters import Job, reuters
from widemargin import LinearSVM, TextClassifier
from widemargin.documents.reading import read_collection
from widemargin.errors import DataWarning
from widemargin.measure import micro_prbep
from widemargin.tune.search_space import Represented, Space
from widemargin.tune.tuning import Tuning, tune

PEER = "train --tune none"
ALLOWED_COST = 20.0
ALLOWED_LOSS = 0.5


def write(job: Job, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number, (text, topics) in enumerate(zip(job.train, job.Y_train, strict=True)):
            labels = [f"{topic:02}" for topic in np.flatnonzero(topics).tolist()]
            file.write(json.dumps({"id": str(number), "text": text, "labels": labels}) + "\n")


def tuned(path: Path) -> Tuning:
    documents = read_collection(str(path))
    return tune(documents.texts, documents.labels, Space())


def trained(path: Path) -> TextClassifier:
    return TextClassifier(tune=None, estimate=None).fit(read_collection(str(path)))


def best_of_grid(job: Job) -> tuple[float, dict[str, object]]:
    """The best micro-averaged break-even point that any candidate has on the test documents."""
    space, best = Space(), (-1.0, dict[str, object]())
    for place, vectorizer, _, X in Represented(job.train, space).matrices(
        set(range(len(space.representations)))
    ):
        assert place is not None
        assert vectorizer is not None
        X_test = vectorizer.transform(job.test)
        for model in LinearSVM().path(X, job.Y_train, sorted(space.costs)):
            value = 100 * micro_prbep(job.Y_test, model.decision_function(X_test))
            if value > best[0]:
                best = value, {**space.representations[place], "C": model.C}
    return best


def compare(repeats: int, grid: bool) -> Row:
    job = reuters()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.jsonl")
        write(job, path)
        ours, peer = in_turns(partial(tuned, path), partial(trained, path), repeats=repeats)
    found = ours.result
    chosen = found.best.learner.decision_function(found.best.vectorizer.transform(job.test))
    points = 100 * micro_prbep(job.Y_test, chosen)
    quality: dict[str, object] = {
        "raced": sum(candidate.held_out is not None for candidate in found.candidates),
        "chosen": json.dumps(found.candidates[found.chosen].parameters),
        "prbep": points,
    }
    checks = [Check("cost", ours.seconds / peer.seconds, ALLOWED_COST)]
    if grid:
        best, parameters = best_of_grid(job)
        quality |= {"grid_best_prbep": best, "grid_best": json.dumps(parameters)}
        checks.append(Check("points below the best of the grid", best - points, ALLOWED_LOSS))
    return Row("tune fast, 12 x 7", PEER, ours.seconds, peer.seconds, checks, quality)


def main() -> int:
    parser = arguments(__doc__, repeats=3)
    parser.add_argument("--quick", action="store_true", help="leave out the grid")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", DataWarning)
    return report([compare(options.repeats, not options.quick)], options.json)


if __name__ == "__main__":
    sys.exit(main())
