"""The documents behind the figures: confusions, explained documents, and labels in doubt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.classifier.scorer import Scorer
from widemargin.documents.collection import Collection
from widemargin.documents.record import SEPARATOR
from widemargin.errors import UsageError
from widemargin.estimate.suspects import suspects_of_rule
from widemargin.model_report.measuring import Measured
from widemargin.model_report.tradeoffs import above_thresholds
from widemargin.report.contents import Case, Confusions, Doubt, Explained

NONE = -1
# Characters of texts in a page: of documents with an error, of others, and of explained ones.
_ERRORS, _OTHERS = 600_000, 300_000
_LONGEST, _SHORTEST, _LONGEST_OTHER = 1200, 160, 160
_EXPLAINED = 1500
# Explained documents of each kind, and doubts.
_OF_EACH, _DOUBTS, _LONGEST_DOUBT = 6, 60, 600


def cases_of(found: Measured) -> list[Case]:
    """All test documents, with texts so short that a page can hold them."""
    truth, chosen = found.by_class(found.truth) > 0, found.by_class(found.chosen) > 0
    wrong = (truth != chosen).any(axis=1)
    errors, others = int(wrong.sum()), int((~wrong).sum())
    longest = int(np.clip(_ERRORS // max(errors, 1), _SHORTEST, _LONGEST))
    longest_other = int(np.clip(_OTHERS // max(others, 1), 40, _LONGEST_OTHER))
    texts = found.collection.texts if isinstance(found.collection, Collection) else None
    made = []
    for i, name in enumerate(found.collection.ids):
        text: str | None = None
        short = False
        if texts is not None:
            text, short = shortened(texts[i], longest if wrong[i] else longest_other)
        have, get = (np.flatnonzero(row[i]).tolist() for row in (truth, chosen))
        made.append(Case(name, text, have, get, short))
    return made


def confusions_of(found: Measured, cases: Sequence[Case]) -> Confusions:
    """Which categories are taken for which."""
    exclusive = found.scorer.space.kind != "multilabel"
    cells: dict[tuple[int, int], list[int]] = {}
    for number, case in enumerate(cases):
        for cell in _cells(case, exclusive):
            cells.setdefault(cell, []).append(number)
    return Confusions(cells, exclusive)


def _cells(case: Case, exclusive: bool) -> Iterator[tuple[int, int]]:
    """The cells of a document.

    Examples
    --------
    >>> list(_cells(Case("a", None, [0, 1], [1, 2]), exclusive=False))
    [(1, 1), (0, 2)]
    >>> list(_cells(Case("a", None, [], [2]), exclusive=False))
    [(-1, 2)]
    """
    if exclusive:
        yield (case.truth or [NONE])[0], (case.decided or [NONE])[0]
        return
    yield from ((j, j) for j in case.truth if j in case.decided)
    missed = [j for j in case.truth if j not in case.decided]
    wrong = [j for j in case.decided if j not in case.truth]
    if missed or wrong:
        yield from ((i, j) for i in missed or [NONE] for j in wrong or [NONE])


def explained_of(found: Measured, labels: Sequence[Any]) -> list[Explained]:
    """The surest errors and some documents that are right, with what their words add to the score."""
    if not isinstance(found.collection, Collection):
        return []
    truth, chosen = found.by_class(found.truth) > 0, found.by_class(found.chosen) > 0
    above, _ = above_thresholds(found)
    above = np.nan_to_num(above, nan=0.0, posinf=0.0, neginf=0.0)
    made: list[Explained] = []
    kinds = (
        ("assigned by mistake", chosen & ~truth, above),
        ("missed", truth & ~chosen, -above),
        ("right", truth & chosen, above),
    )
    seen = np.zeros(len(truth), dtype=bool)
    for why, cells, strength in kinds:
        for i, j in _strongest(cells & ~seen[:, None], strength):
            seen[i] = True
            try:
                made.append(_explain(found, i, labels[j], why, truth[i], chosen[i], labels))
            except UsageError:
                return []  # this learner has no weights of terms
    return made


def _strongest(cells: NDArray[np.bool_], strength: NDArray[Any]) -> list[tuple[int, int]]:
    """The strongest cells, of different documents, and first of different categories."""
    rows, columns = np.nonzero(cells)
    order = np.argsort(-strength[rows, columns], kind="stable")
    best: dict[int, tuple[int, int]] = {}
    rest: list[tuple[int, int]] = []
    for i, j in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
        if j in best:
            rest.append((i, j))
        elif all(i != other for other, _ in best.values()):
            best[j] = (i, j)
        if len(best) >= _OF_EACH:
            break
    found = list(best.values())
    for cell in rest:
        if len(found) >= _OF_EACH:
            break
        if all(cell[0] != other for other, _ in found):
            found.append(cell)
    return found


def _explain(
    found: Measured,
    i: int,
    label: Any,
    why: str,
    truth: NDArray[np.bool_],
    chosen: NDArray[np.bool_],
    labels: Sequence[Any],
) -> Explained:
    assert isinstance(found.collection, Collection)
    text = found.collection.texts[i]
    explanation = found.scorer.explain(text, label)
    end = len(text) if len(text) <= _EXPLAINED else _EXPLAINED
    spans = [
        (start, min(stop, end), part.value)
        for part in explanation.contributions
        for start, stop in part.spans
        if start < end and part.value
    ]
    names = [str(name) for name in labels]
    return Explained(
        name=found.collection.ids[i],
        label=str(label),
        why=why,
        truth=[names[j] for j in np.flatnonzero(truth)],
        decided=[names[j] for j in np.flatnonzero(chosen)],
        text=text[:end],
        spans=spans,
        score=explanation.score,
        threshold=explanation.threshold,
        shortened=end < len(text),
    )


def doubts_of(found: Measured) -> list[Doubt]:
    """Labels of test documents that the model contradicts by a large margin, the worst first."""
    scores = np.asarray(found.scores, dtype=np.float64).reshape(len(found.truth), -1)
    doubted = suspects_of_rule(found.scorer.rule, scores, found.truth, list(range(len(scores))))
    ids = found.collection.ids
    texts = found.collection.texts if isinstance(found.collection, Collection) else None
    return [
        Doubt(
            ids[one.document],
            None if one.given is None else str(one.given),
            None if one.suggested is None else str(one.suggested),
            one.margin,
            None if texts is None else shortened(texts[one.document], _LONGEST_DOUBT)[0],
        )
        for one in doubted[:_DOUBTS]
    ]


def training_doubts(scorer: Scorer, train: Collection | None) -> list[Doubt] | None:
    """Labels of training documents that held-out scores contradict; None if there are no such scores."""
    summary = scorer.summary
    if "suspects_by" not in summary:
        return None
    texts = {} if train is None else dict(zip(train.ids, train.texts, strict=True))
    made = []
    for one in summary["suspects"][:_DOUBTS]:
        name = str(one["document"])
        text = texts.get(name)
        made.append(
            Doubt(
                name,
                None if one["given"] is None else str(one["given"]),
                None if one["suggested"] is None else str(one["suggested"]),
                float(one["margin"]),
                None if text is None else shortened(text, _LONGEST_DOUBT)[0],
            )
        )
    return made


def shortened(text: str, longest: int) -> tuple[str, bool]:
    """At most `longest` characters, and whether some are missing; columns stand on separate lines."""
    text = text.replace(SEPARATOR, "\n").strip()
    return (text, False) if len(text) <= longest else (text[:longest].rstrip() + "…", True)
