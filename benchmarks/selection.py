"""Model selection on Reuters-21578: what it costs, and what its choice is worth.

The space is the thesis's: 12 representations and 7 values of C. Peer: the library itself without selection,
`Vectorizer()` and `LinearSVM()`; both sides read the same file of training documents first. The choice is
made from training documents alone. Afterwards the whole grid is trained and measured on the test documents,
and the chosen candidate must be within 0.5 points of the grid's best micro-averaged break-even point; the
selection may cost 20 times what training without it costs.

Pass --quick to leave out the grid.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from _compare import Row, alternate, report, wants_json
from _reuters import Job, reuters
from widemargin import LinearSVM, TextClassifier
from widemargin.documents.reading import read_collection
from widemargin.errors import DataWarning
from widemargin.estimate.model_selection import Selection, select
from widemargin.estimate.search_space import Space, represent
from widemargin.measure import micro_prbep

PEER = "train --select none"
ALLOWED_COST = 20.0
ALLOWED_LOSS = 0.5


def write(job: Job, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number, (text, topics) in enumerate(zip(job.train, job.Y_train, strict=True)):
            labels = [f"{topic:02}" for topic in np.flatnonzero(topics).tolist()]
            file.write(json.dumps({"id": str(number), "text": text, "labels": labels}) + "\n")


def selected(path: Path) -> Selection:
    documents = read_collection(str(path))
    return select(documents.texts, documents.labels)


def trained(path: Path) -> TextClassifier:
    return TextClassifier().fit(read_collection(str(path)))


def best_of_grid(job: Job) -> tuple[float, dict[str, object]]:
    """The best micro-averaged break-even point that any candidate has on the test documents."""
    space, best = Space(), (-1.0, dict[str, object]())
    for place, vectorizer, X in represent(job.train, space, set(range(len(space.representations)))):
        assert place is not None
        assert vectorizer is not None
        X_test = vectorizer.transform(job.test)
        for model in LinearSVM().path(X, job.Y_train, sorted(space.costs)):
            value = 100 * micro_prbep(job.Y_test, model.decision_function(X_test))
            if value > best[0]:
                best = value, {**space.representations[place], "C": model.C}
    return best


def main() -> int:
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", DataWarning)
    job = reuters()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.jsonl")
        write(job, path)
        found = selected(path)
        trained(path)  # warm
        ours_s, peer_s = alternate(lambda: selected(path), lambda: trained(path), repeats=3)
    chosen = found.best.learner.decision_function(found.best.vectorizer.transform(job.test))
    quality: dict[str, object] = {
        "cost": ours_s / peer_s,
        "raced": sum(candidate.held_out is not None for candidate in found.candidates),
        "chosen": json.dumps(found.candidates[found.chosen].parameters),
        "prbep": 100 * micro_prbep(job.Y_test, chosen),
    }
    loss = 0.0
    if "--quick" not in sys.argv[1:]:
        best, parameters = best_of_grid(job)
        loss = best - float(str(quality["prbep"]))
        quality |= {"grid_best_prbep": best, "grid_best": json.dumps(parameters)}
    report([Row("select fast, 12 x 7", PEER, ours_s, peer_s, quality)], wants_json())
    if ours_s > ALLOWED_COST * peer_s or loss > ALLOWED_LOSS:
        print(f"More than {ALLOWED_COST:g} times the cost or {ALLOWED_LOSS} points lost.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
