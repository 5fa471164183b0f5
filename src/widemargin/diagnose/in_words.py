"""A diagnosis for people: sections of sentences and tables, the most important first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from widemargin.diagnose.categories import Category
from widemargin.diagnose.copies import CopyGroup
from widemargin.diagnose.diagnosis import Diagnosis
from widemargin.errors import UsageError
from widemargin.estimate.curves.extrapolation import Needed
from widemargin.measure.intervals import Figure
from widemargin.report.tables import Column, Table
from widemargin.theory.tcat import NOT_ENOUGH

LABELS, FINDINGS, DESCRIBED = 20, 10, 3
_NAMED = 20
_DECIDED = {
    "binary": "one of two labels per document",
    "multiclass": "one label per document",
    "multilabel": "every label is decided separately",
}
_METHODS = {
    "leave-one-out": "leave-one-out",
    "one-step": "approximate leave-one-out",
    "k-fold": "cross-validation",
}


@dataclass(frozen=True)
class Section:
    """Sentences, then a table if there is one."""

    lines: list[str] = field(default_factory=list)
    table: Table | None = None


def sections(
    diagnosis: Diagnosis, *, labels: int = LABELS, described: Sequence[str] | None = None
) -> Iterator[Section]:
    """The diagnosis section by section.

    Parameters
    ----------
    labels : rows of the table of labels, the hardest first
    described : labels to describe in full; by default the three hardest
    """
    yield Section(summary_lines(diagnosis))
    yield _advice(diagnosis)
    yield Section(table=labels_table(diagnosis, labels))
    for one in _described(diagnosis, described):
        yield Section(describe(one, diagnosis.documents))
    yield from _findings(diagnosis)


def summary_lines(found: Diagnosis) -> list[str]:
    """How large the collection is, and how good a linear SVM is on it."""
    lines = [
        f"{found.documents:,} documents, {len(found.categories):,} labels ({_DECIDED[found.task]}), "
        f"{found.terms:,} terms."
    ]
    if found.test_documents:
        lines[0] = lines[0][:-1] + f"; {found.test_documents:,} test documents."
    if found.unlabeled:
        lines.append(f"{found.unlabeled:,} documents without labels are left out.")
    quality = found.quality
    figures = [f"micro-F1 {_figure(quality.micro['f1'])}", f"macro-F1 {_figure(quality.macro['f1'])}"]
    if quality.accuracy is not None:
        figures.append(f"accuracy {_figure(quality.accuracy)}")
    lines.append(f"A linear SVM, by {_METHODS[quality.method]}: {', '.join(figures)}.")
    enough = [one for one in found.categories if one.needed is not None]
    reached = sum(one.needed is not None and one.needed.verdict == "reached" for one in enough)
    lines.append(
        f"{reached:,} of {len(found.categories):,} labels reach an F1 of {100 * found.target:g}; "
        f"{len(found.categories) - len(enough):,} have too few examples to say."
    )
    return lines


def _advice(found: Diagnosis) -> Section:
    if not found.advice:
        return Section(["What to do next: nothing was found that is wrong or missing."])
    lines = ["What to do next:"]
    for number, advice in enumerate(found.advice, 1):
        lines.append(f"{number:3}. {advice.text}")
        if advice.documents:
            more = len(advice.documents) - _NAMED
            names = ", ".join(map(str, advice.documents[:_NAMED]))
            lines.append(f"     {names}{f' and {more:,} more' if more > 0 else ''}")
    return Section(lines)


def labels_table(found: Diagnosis, most: int) -> Table:
    """One row per label, the hardest first."""
    target = f"{100 * found.target:g}"
    columns = [
        Column("label"),
        Column("examples", "count"),
        Column("F1", "figure"),
        Column("with twice as many", "figure"),
        Column(f"more documents until {target}"),
        Column("no indicator %", "percent"),
        Column("separable"),
        Column("margin", "decimal", 3),
        Column("error %", "percent", 2),
        Column("bound %", "percent", 2),
    ]
    rows: list[Sequence[Any]] = [
        [
            str(one.label),
            one.examples,
            one.quality.figures["f1"],
            one.doubled,
            more_documents(one.needed, found.documents),
            one.uncovered,
            "yes" if one.separable else "no",
            one.margin,
            one.error,
            one.bounds["xi_alpha"],
        ]
        for one in found.categories[:most]
    ]
    hidden = len(found.categories) - len(rows)
    notes = [f"{hidden:,} more labels: --top {len(found.categories)}"] if hidden > 0 else []
    return Table(
        "Labels, hardest first; 95 % intervals of F1, 90 % of predictions", columns, rows, notes=notes
    )


def more_documents(needed: Needed | None, documents: int) -> str:
    """How many more labeled documents, with the interval.

    Examples
    --------
    >>> more_documents(Needed(0.9, "within reach", 2500, 1200, None), 1000)
    '1,500 (200 or more)'
    >>> more_documents(Needed(0.9, "out of reach"), 1000), more_documents(None, 1000)
    ('out of reach', 'not enough to say')
    >>> more_documents(Needed(0.9, "not enough to say", low=1800), 1000)
    'not enough to say, at least 800'
    """
    if needed is None:
        return NOT_ENOUGH
    if needed.documents is None or needed.low is None:
        least = 0 if needed.low is None else needed.low - documents
        return f"{needed.verdict}, at least {least:,}" if least > 0 else needed.verdict
    high = " or more" if needed.high is None else f"-{needed.high - documents:,}"
    return f"{needed.documents - documents:,} ({needed.low - documents:,}{high})"


def _described(found: Diagnosis, wanted: Sequence[str] | None) -> list[Category]:
    if not wanted:
        return [one for one in found.categories if one.enough][:DESCRIBED]
    known = {str(one.label): one for one in found.categories}
    for label in wanted:
        if label not in known:
            shown = ", ".join(list(known)[:10])
            raise UsageError(f"--describe {label}: there is no such label. The labels are {shown}.")
    return [known[label] for label in wanted]


def describe(one: Category, documents: int) -> list[str]:
    """One label in sentences."""
    lines = [f"{one.label}: {one.examples:,} of {documents:,} documents, {one.vocabulary:,} terms."]
    lines += [f"  {sentence}." for sentence in one.concept]
    if one.redundancy is not None and one.uncovered is not None and one.discriminative_power is not None:
        lines.append(
            f"  An average document of it has {one.redundancy:.1f} indicative words. Of all indicators, "
            f"{100 * one.discriminative_power:.0f} % point to the right side. "
            f"{100 * one.uncovered:.1f} % of its documents have no indicative term."
        )
    if one.best_term is not None:
        lines.append(f'  Its best single term is "{one.best_term}" (F1 {100 * one.best_term_f1:.1f} alone).')
    if one.weighting is not None:
        suit = "widen" if one.weighting == "tfc" else "narrow"
        lines.append(f"  Inverse document frequencies {suit} the margin of its concept ({one.weighting}).")
    bounds = ", ".join(
        f"{_BOUNDS[name]} {100 * value:.2f} %" if value < 1 else f"{_BOUNDS[name]} above 100 %"
        for name, value in one.bounds.items()
    )
    apart = f"separable with a margin of {one.margin:.3f}" if one.separable else "not separable"
    lines.append(
        f"  Its training documents are {apart}. Held-out error {100 * one.error:.2f} %; bounds: {bounds}."
    )
    if one.now is None or one.doubled is None or one.needed is None:
        lines.append(f"  Learning curve: {NOT_ENOUGH}.")
        return lines
    curve = ", ".join(f"{100 * value:.1f} with {size:,}" for size, value in one.curve)
    lines.append(
        f"  F1 by training documents: {curve}; expected {_figure(one.now)} with all {documents:,}, "
        f"{_figure(one.doubled)} with twice as many."
    )
    lines.append(f"  {_target(one.needed, documents)}")
    return lines


_BOUNDS = {"xi_alpha": "xi-alpha", "expected": "margin", "vc": "VC"}


def _target(needed: Needed, documents: int) -> str:
    goal = f"F1 {100 * needed.target:g}"
    if needed.verdict == "within reach":
        return f"{goal} needs about {more_documents(needed, documents)} more documents of this mixture."
    if needed.verdict == "out of reach":
        return f"{goal} is not within reach of sixteen times as many documents."
    return f"{goal}: {more_documents(needed, documents)}."


def _findings(found: Diagnosis) -> Iterator[Section]:
    copies = found.copies
    if copies.groups:
        lines = [
            f"Copies: {copies.exact:,} training documents repeat others exactly, {copies.near:,} nearly; "
            f"{copies.leaked_exact:,} test documents are also in training exactly, {copies.leaked_near:,} "
            f"nearly; {len(copies.contradictory):,} groups have different labels."
        ]
        first = [*copies.leaks, *copies.contradictory, *copies.groups]
        shown = list({id(group): group for group in first}.values())[:FINDINGS]
        lines += [f"  {_copy_group(group)}" for group in shown]
        yield Section(lines + _more(len(copies.groups) - len(shown), "groups"))
    rows: list[Sequence[Any]]
    if found.suspects:
        columns = [
            Column("document"),
            Column("has label"),
            Column("suggested"),
            Column("margin", "decimal", 2),
        ]
        rows = [
            [str(s.document), _name(s.given), _name(s.suggested), s.margin] for s in found.suspects[:_NAMED]
        ]
        title = f"Labels that look wrong: {len(found.suspects):,}"
        yield Section(table=Table(title, columns, rows))
    yield from finding_sections(found)
    yield from drift_sections(found)


def finding_sections(found: Diagnosis, most: int = FINDINGS) -> Iterator[Section]:
    """Terms that give labels away, labels that are hard to keep apart, and documents in other languages."""
    rows: list[Sequence[Any]]
    if found.give_aways:
        columns = [Column("label"), Column("terms"), Column("why"), Column("documents", "count")]
        columns += [Column(name, "percent") for name in ("precision", "recall", "F1", "F1 without")]
        rows = [
            [
                str(g.label),
                ", ".join(g.terms[:5]),
                g.kind,
                g.documents,
                g.precision,
                g.recall,
                g.f1,
                g.f1_without,
            ]
            for g in found.give_aways[:most]
        ]
        yield Section(table=Table("Terms that give a label away", columns, rows))
    if found.confusions:
        columns = [
            Column("labels"),
            Column("kind"),
            Column("documents", "count"),
            Column("share %", "percent"),
        ]
        columns += [Column("F1", "percent"), Column("F1 merged", "percent")]
        rows = [
            [f"{c.first}, {c.second}", c.kind, c.documents, c.share, c.f1, c.merged_f1]
            for c in found.confusions[:most]
        ]
        yield Section(table=Table("Labels that are hard to keep apart", columns, rows))
    if found.languages.others:
        parts = [
            f"{language}: {', '.join(map(str, names[:most]))}{', ...' if len(names) > most else ''}"
            for language, names in found.languages.others.items()
        ]
        yield Section(
            [f"Documents in other languages than {found.languages.main}:", *(f"  {part}" for part in parts)]
        )


def drift_sections(found: Diagnosis) -> Iterator[Section]:
    """How the test documents differ from the training documents."""
    drift = found.drift
    if drift is None:
        return
    if not drift.found:
        yield Section(["Drift: the test documents look like the training documents."])
        return
    apart = "" if math.isnan(drift.told_apart) else f"; told apart in {100 * drift.told_apart:.1f} % of pairs"
    yield Section(
        [
            f"Drift: {100 * drift.unknown:.2f} % of the words of test documents are unknown (expected "
            f"{100 * drift.expected_unknown:.2f} %){apart}."
        ]
    )
    columns = [Column("word or label"), Column("training %", "percent", 2), Column("test %", "percent", 2)]
    changes = [*drift.labels[:FINDINGS], *drift.terms[:FINDINGS]]
    if changes:
        rows: list[Sequence[Any]] = [[str(change.name), change.train, change.test] for change in changes]
        title = f"Share of documents: {len(drift.labels):,} labels and {drift.n_terms:,} words changed"
        yield Section(table=Table(title, columns, rows))


def _copy_group(group: CopyGroup) -> str:
    names = [str(name) for name in group.documents] + [f"{name} (test)" for name in group.test]
    sets = dict.fromkeys(group.labels)
    labels = " / ".join("?" if one is None else " + ".join(map(str, one)) or "none" for one in sets)
    how = "same text" if group.exact else f"similarity {group.similarity:.2f}"
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return f"{', '.join(names[:6])}{more}: {how}; labels {labels}"


def _more(hidden: int, noun: str) -> list[str]:
    return [f"  ... and {hidden:,} more {noun} (--json has all)"] if hidden > 0 else []


def _name(label: Any) -> str:
    return "-" if label is None else str(label)


def _figure(figure: Figure) -> str:
    return f"{100 * figure.value:.1f} ({100 * figure.low:.0f}-{100 * figure.high:.0f})"
