"""The page of one model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from widemargin.report.contents import Calibrated, Learned, ModelReport
from widemargin.report.html.charts import Chart, Curve
from widemargin.report.html.chooser import chooser, chooser_data, curves
from widemargin.report.html.confusion import confusion, confusion_data
from widemargin.report.html.data_tables import data_table
from widemargin.report.html.documents import copies, doubted, explained
from widemargin.report.html.elements import facts, listed, paragraph
from widemargin.report.html.escaping import escaped
from widemargin.report.html.overview import average_rows, categories, overview
from widemargin.report.html.page import Page, Section
from widemargin.report.tables import Column, Table

_METHODS = {
    "leave-one-out": "leave-one-out",
    "one-step": "approximate leave-one-out",
    "k-fold": "cross-validation",
    "hold-out": "hold-out testing",
    "bootstrap": "the bootstrap",
    "bootstrap-632": "the .632+ bootstrap",
    "xi-alpha": "xi-alpha bounds",
}


def model_page(found: ModelReport) -> Page:
    """The page of a model and, where there are any, of its test documents."""
    tested = found.tested
    need = "This needs labeled test documents: widemargin report MODEL TEST."
    sections = [
        Section("glance", "At a glance", overview(found)),
        Section("categories", "Categories", categories(found) + average_rows(found)),
    ]
    missing = paragraph(need, "missing")
    choose = (
        missing if tested is None else f'<div class="beside">{curves(found)}<div>{chooser(found)}</div></div>'
    )
    sections.append(Section("thresholds", "Thresholds, precision and recall", choose))
    wrong = missing if tested is None else confusion(found, tested)
    sections.append(Section("confusions", "Confusions", wrong))
    shown = missing if tested is None else explained(tested.explained)
    sections.append(Section("explained", "Explained documents", shown))
    sections.append(
        Section("calibration", "Calibration", missing if tested is None else _calibration(tested.calibrated))
    )
    sections.append(Section("learning", "Learning curve", _learning(found.learned)))
    sections.append(Section("terms", "Terms for and against", _terms(found)))
    sections.append(Section("doubts", "Labels that look wrong", doubted(found)))
    across = copies(found.copies) if tested is not None else missing
    sections.append(Section("copies", "Copies across training and test", across))
    sections.append(Section("card", "Model card", card(found)))
    if found.missing:
        sections.append(Section("missing", "What this report lacks", listed(found.missing)))
    data: dict[str, Any] = chooser_data(found)
    if tested is not None:
        data |= confusion_data(tested)
        data.setdefault("labels", chooser_labels(found))
    return Page(f"Report: {found.name}", lead(found), sections, data, f"Made by widemargin {found.version}.")


def chooser_labels(found: ModelReport) -> list[str]:
    """The names of the categories, for the script."""
    from widemargin._printable import printable

    return [printable(label) for label in found.labels]


def lead(found: ModelReport) -> str:
    """Where the figures come from."""
    parts = []
    if found.estimated is not None:
        method = _METHODS.get(found.estimated.method, found.estimated.method)
        parts.append(f"Estimated from {found.estimated.n:,} training documents by {method}.")
    if found.tested is not None:
        parts.append(f"Measured on {found.tested.documents:,} test documents ({found.tested.source}).")
    return paragraph(" ".join(parts) or "This model has no estimates, and there are no test documents.")


def _calibration(found: Calibrated | None) -> str:
    if found is None:
        return paragraph("There is too little to compare.", "missing")
    probability = found.of == "probability"
    curve = Curve(
        "share of documents that have the label",
        found.middles,
        found.shares,
        low=found.low,
        high=found.high,
        dots=True,
    )
    columns = [
        Column(found.of, "percent" if probability else "decimal", 1 if probability else 3),
        Column("documents x labels", "count"),
        Column("have the label %", "percent", 1),
    ]
    rows: list[Sequence[Any]] = list(zip(found.middles, found.counts, found.shares, strict=True))
    data = data_table(Table("", columns, rows), "Calibration", key="calibration-data", sortable=False)
    ends = None
    if not probability:
        room = 0.03 * (max(found.middles) - min(found.middles))
        ends = (min(found.middles) - room, max(found.middles) + room)
    alt = "; ".join(f"{x:.2f}: {100 * y:.0f} %" for x, y in zip(found.middles, found.shares, strict=True))
    chart = Chart(
        "calibration-chart",
        "Calibration",
        f"Share of documents that have a label, by its {found.of}: {alt}.",
        "probability %" if probability else "score",
        "have the label %",
        [curve],
        x_limits=(0.0, 1.0) if probability else ends,
        y_limits=(0.0, 1.02),
        diagonal=probability,
        percent_x=probability,
        data=data,
    )
    if probability:
        words = "If probabilities are right, the points are on the dashed line."
        words += (
            f" Mean squared error of probabilities (Brier score): {found.brier:.4f}." if found.brier else ""
        )
    else:
        words = (
            "This model gives scores, not probabilities (train with --calibrate platt for those). "
            "The chart shows how "
            "often documents with a score have the label."
        )
    return paragraph(words) + chart.figure()


def _learning(found: Learned | None) -> str:
    if found is None:
        return paragraph(
            "A learning curve trains the learner again on parts of the training documents: pass "
            "--train DATA.",
            "missing",
        )
    lines = [
        Curve(name, found.sizes, values, color=k, dots=True)
        for k, (name, values) in enumerate(found.measures.items())
    ]
    columns = [
        Column("training documents", "count"),
        *(Column(f"{name} %", "percent") for name in found.measures),
    ]
    rows: list[Sequence[Any]] = list(zip(found.sizes, *found.measures.values(), strict=True))
    said = "; ".join(
        f"{name} " + ", ".join(f"{100 * value:.1f} %" for value in values)
        for name, values in found.measures.items()
    )
    sizes = ", ".join(f"{size:,}" for size in found.sizes)
    chart = Chart(
        "learning-chart",
        "Learning curve",
        f"F1 after {sizes} training documents: {said}.",
        "training documents",
        "F1 %",
        lines,
        x_limits=None,
        y_limits=(0.0, 1.02),
        log_x=True,
        data=data_table(Table("", columns, rows), "Learning curve", key="learning-data", sortable=False),
    )
    words = f"F1 of the same learner with fewer training documents, on {found.where}."
    first = next(iter(found.measures.values()))
    if len(first) > 1:
        gain = 100 * (first[-1] - first[-2])
        name = next(iter(found.measures))
        words += f" The last doubling of the training documents changed {name} by {gain:+.1f} points."
    return paragraph(words) + chart.figure()


def _terms(found: ModelReport) -> str:
    if not any(part.terms_for or part.terms_against for part in found.categories):
        return paragraph("The learner of this model has no weights of terms.", "missing")
    rows: list[Sequence[Any]] = [
        [
            part.label,
            " · ".join(term for term, _ in part.terms_for),
            " · ".join(term for term, _ in part.terms_against),
        ]
        for part in found.categories
    ]
    table = Table("", [Column("category"), Column("terms for it"), Column("terms against it")], rows)
    words = (
        "The terms with the largest weights: a document that has them scores higher, or lower, for the "
        "category."
    )
    return paragraph(words) + data_table(
        table,
        "Terms of the categories",
        key="terms-table",
        searchable=True,
        hidden_caption=True,
        noun="categories",
    )


def card(found: ModelReport) -> str:
    """The model card."""
    parts = []
    for title, pairs in found.card:
        notes = [value for name, value in pairs if name == "note"]
        plain = [(name, value) for name, value in pairs if name != "note"]
        body = (facts(plain) if plain else "") + listed(notes)
        parts.append(f"<h3>{escaped(title)}</h3>{body}")
    return "".join(parts)
