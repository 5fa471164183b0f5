"""What to do next, most urgent first: what makes figures wrong, then what gains most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from widemargin.diagnose.categories import Category
from widemargin.diagnose.confusions import Confusion
from widemargin.diagnose.copies import Copies
from widemargin.diagnose.drift import Drift
from widemargin.diagnose.give_aways import GiveAway
from widemargin.diagnose.languages import Languages
from widemargin.estimate.suspects import Suspect

FIRST = 20  # documents that are named
MANY_COPIES = 0.01
MANY_FOREIGN = 0.005
WORTHWHILE = 0.02  # of F1, by twice as many documents
_LABELS = 5


@dataclass(frozen=True)
class Advice:
    """One thing to do.

    Attributes
    ----------
    kind : "leak", "contradiction", "give-away", "suspects", "copies", "empty", "language", "drift", "label",
        "merge" or "rethink"
    text : a sentence
    documents : names of the documents that it is about
    labels : the labels that it is about
    """

    kind: str
    text: str
    documents: list[Any] = field(default_factory=list)
    labels: list[Any] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class Found:
    """All findings that advice comes from."""

    documents: int
    copies: Copies
    give_aways: list[GiveAway]
    suspects: list[Suspect]
    languages: Languages
    drift: Drift | None
    confusions: list[Confusion]
    categories: list[Category]
    empty: list[Any]
    target: float


def advise(found: Found) -> list[Advice]:
    """What to do, in order."""
    return [*_wrong(found), *_noisy(found), *_more(found), *_merge(found), *_rethink(found)]


def _wrong(found: Found) -> Iterator[Advice]:
    """What makes figures too good, or labels contradict each other."""
    copies = found.copies
    if copies.leaked:
        names = [name for group in copies.leaks for name in group.test]
        yield Advice(
            "leak",
            f"Remove {_count(copies.leaked, 'test document')} with a copy among the training documents "
            f"({copies.leaked_exact:,} exact). Figures on this test set are too good.",
            names,
        )
    for one in found.give_aways:
        terms = ", ".join(map(repr, one.terms[:3])) + (", ..." if len(one.terms) > 3 else "")
        yield Advice(
            "give-away",
            f"Remove {terms} from the documents if new ones will not have it: it gives {one.label} away "
            f"({_WHY[one.kind]}). Without it, F1 is {_percent(one.f1_without)} instead of "
            f"{_percent(one.f1)}.",
            labels=[one.label],
        )
    groups = copies.contradictory
    if groups:
        names = [name for group in groups for name in (*group.documents, *group.test)]
        yield Advice(
            "contradiction",
            f"Settle the labels of {_count(len(groups), 'group')} of copies that have different labels "
            f"({_count(len(names), 'document')}).",
            names,
        )


def _noisy(found: Found) -> Iterator[Advice]:
    """Documents to check, drop or set apart."""
    if found.suspects:
        names = list(dict.fromkeys(one.document for one in found.suspects))[:FIRST]
        first = "these" if len(names) < FIRST else f"these {FIRST}"
        yield Advice(
            "suspects",
            f"Check the labels of {first} documents first. {_count(len(found.suspects), 'label')} contradict "
            f"what the other documents teach.",
            names,
        )
    copies = found.copies
    if copies.exact + copies.near >= max(MANY_COPIES * found.documents, 1):
        names = [name for group in copies.groups for name in group.documents[1:]]
        yield Advice(
            "copies",
            f"Remove {_count(copies.exact + copies.near, 'training document')} that repeat others "
            f"({copies.exact:,} exactly): estimates count them as new.",
            names,
        )
    if found.empty:
        yield Advice(
            "empty", f"Remove {_count(len(found.empty), 'document')} without a word.", list(found.empty)
        )
    others = found.languages.others
    foreign = sum(map(len, others.values()))
    if foreign >= max(MANY_FOREIGN * found.documents, 3):
        counts = ", ".join(f"{language} {len(names):,}" for language, names in list(others.items())[:5])
        yield Advice(
            "language",
            f"Set apart {_count(foreign, 'document')} in other languages than {found.languages.main}: "
            f"{counts}.",
            [name for names in others.values() for name in names],
        )
    drift = found.drift
    if drift is not None and drift.found:
        parts = []
        if drift.terms:
            words = ", ".join(repr(change.name) for change in drift.terms[:5])
            parts.append(f"{_count(drift.n_terms, 'word')} changed ({words})")
        if drift.labels:
            labels = ", ".join(str(change.name) for change in drift.labels[:5])
            parts.append(f"{_count(len(drift.labels), 'label')} changed ({labels})")
        if drift.told_apart > 0.5:
            parts.append(
                f"a classifier tells test from training documents in {_percent(drift.told_apart)} % of pairs "
                f"(50 % by chance)"
            )
        yield Advice(
            "drift",
            f"Label documents like those of the test set: {', '.join(parts)}.",
            labels=[change.name for change in drift.labels],
        )


def _more(found: Found) -> Iterator[Advice]:
    """Labels that more documents help most."""
    gains = []
    for one in found.categories:
        if one.now is None or one.doubled is None or one.needed is None or one.needed.verdict == "reached":
            continue
        gain = one.doubled.value - one.now.value
        if gain >= WORTHWHILE:
            gains.append((gain, one))
    gains.sort(key=lambda pair: -pair[0])
    for _, one in gains[:_LABELS]:
        assert one.now is not None
        assert one.doubled is not None
        yield Advice(
            "label",
            f"Label more of {one.label}: twice as many documents raise F1 from {_percent(one.now.value)} to "
            f"{_percent(one.doubled.value)} ({_percent(one.doubled.low)}-{_percent(one.doubled.high)}).",
            labels=[one.label],
        )
    few = [one.label for one in found.categories if not one.enough]
    if few:
        shown = ", ".join(map(str, few[:5])) + (", ..." if len(few) > 5 else "")
        yield Advice(
            "label",
            f"Label more of {shown}: {_count(len(few), 'label')} with too few examples to say anything.",
            labels=few,
        )


def _merge(found: Found) -> Iterator[Advice]:
    for one in found.confusions[:_LABELS]:
        what = "confused on" if one.kind == "confused" else "both on"
        yield Advice(
            "merge",
            f"Merge {one.first} and {one.second}, or define them better: they are {what} "
            f"{_percent(one.share)} % of {_count(one.documents, 'document')}. As one label, F1 is "
            f"{_percent(one.merged_f1)} instead of {_percent(one.f1)}.",
            labels=[one.first, one.second],
        )


def _rethink(found: Found) -> Iterator[Advice]:
    lost = [
        one.label
        for one in found.categories
        if one.needed is not None and one.needed.verdict == "out of reach"
    ]
    if lost:
        shown = ", ".join(map(str, lost[:5])) + (", ..." if len(lost) > 5 else "")
        yield Advice(
            "rethink",
            f"More labels alone will not bring {shown} to an F1 of {_percent(found.target)}: make the labels "
            f"more consistent, or add information to the documents.",
            labels=lost,
        )


_WHY = {
    "place": "always in the same place",
    "identifier": "it looks like an identifier",
    "alone": "it decides alone",
}


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
