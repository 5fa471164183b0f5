"""Documents of a page: explained ones, labels in doubt, and copies across training and test documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from widemargin.report.contents import Copies, Doubt, Explained, ModelReport
from widemargin.report.html.data_tables import data_table
from widemargin.report.html.elements import Markup, details, paragraph, plain_text, tag, tags
from widemargin.report.html.escaping import escaped, isolated
from widemargin.report.html.highlight import highlighted
from widemargin.report.tables import Column, Table


def explained(found: Sequence[Explained]) -> str:
    """Documents with the words that speak for a category and against it."""
    if not found:
        return paragraph(
            "The learner of this model has no weights of terms, so it cannot be explained.", "missing"
        )
    words = (
        "Words for the category are underlined with a line, words against it with dots; the stronger "
        "the color, the "
        "more a word adds. The surest errors come first."
    )
    return paragraph(words) + "".join(_explained(number, one) for number, one in enumerate(found))


def _explained(number: int, one: Explained) -> str:
    limit = "" if one.threshold is None else f", threshold {one.threshold:+.3f}"
    head = (
        f'<span class="why {one.why.split()[0]}">{escaped(one.why)}</span> {isolated(_short(one.label))} '
        f'<span class="muted">{escaped(_short(one.name))}: score {one.score:+.3f}{limit}</span>'
    )
    body = f"<p>Is: {tags(one.truth)} Model says: {tags(one.decided)}</p>"
    body += f'<div class="document">{highlighted(one.text, one.spans)}'
    body += f"{'<p class=muted>The rest of the text is not shown.</p>' if one.shortened else ''}</div>"
    return details(head, body, id=f"explained-{number}", class_="explained", open=number < 2)


def doubts(found: Sequence[Doubt], key: str, what: str) -> str:
    """Labels that are probably wrong, with links to the texts."""
    rows: list[Sequence[Any]] = []
    texts = []
    for number, one in enumerate(found):
        target = f"{key}-{number}"
        link = isolated(_short(one.name))
        if one.text is not None:
            link = tag("a", link, href=f"#{target}")
            texts.append(
                details(
                    f"{isolated(_short(one.name))} "
                    + tags([label for label in (one.given, one.suggested) if label is not None]),
                    plain_text(one.text),
                    id=target,
                )
            )
        rows.append(
            [
                Markup(link, one.name),
                one.given or "(label missing)",
                one.suggested or "(remove)",
                one.margin,
            ]
        )
    columns = [
        Column("document"),
        Column("has label"),
        Column("model suggests"),
        Column("margin", "decimal", 2),
    ]
    table = data_table(
        Table("", columns, rows),
        f"{what}, the surest first",
        key=f"{key}-table",
        searchable=True,
        noun="labels",
    )
    shown = details(f"The texts of these {len(texts)} documents", "".join(texts)) if texts else ""
    return table + shown


def doubted(found: ModelReport) -> str:
    """Suspected label errors of test and of training documents."""
    parts = [
        paragraph(
            "The model contradicts these labels by a margin of at least 1. The document is unusual, "
            "or its label is "
            "wrong: read it and decide."
        )
    ]
    if found.tested is not None:
        parts.append("<h3>Test documents</h3>")
        parts.append(
            doubts(found.tested.doubts, "doubt-test", "Test documents whose labels look wrong")
            if found.tested.doubts
            else paragraph("No label of a test document is contradicted by a large margin.")
        )
    parts.append("<h3>Training documents</h3>")
    if found.doubted_training is None:
        parts.append(
            paragraph("This model file has no held-out scores of its training documents.", "missing")
        )
    elif not found.doubted_training:
        parts.append(paragraph("No label of a training document is contradicted by a large margin."))
    else:
        parts.append(
            doubts(found.doubted_training, "doubt-train", "Training documents whose labels look wrong")
        )
        if all(one.text is None for one in found.doubted_training):
            parts.append(paragraph("Pass --train DATA to read their texts here.", "note"))
    return "".join(parts)


def copies(found: Copies | None) -> str:
    """Test documents that are also training documents."""
    if found is None:
        return paragraph(
            "Texts of the training documents are not in a model file. Pass --train DATA to look for "
            "copies and "
            "near-duplicates of them among the test documents.",
            "missing",
        )
    if not found.groups:
        return paragraph(f"No test document is among the {found.how}.")
    rows: list[Sequence[Any]] = [
        [
            ", ".join(_short(name) for name in group.test[:5]),
            ", ".join(_short(name) for name in group.training[:5]) or "(known by its hash)",
            group.similarity,
            " / ".join(group.labels),
            group.text,
        ]
        for group in found.groups
    ]
    columns = [Column("test documents"), Column("training documents"), Column("similarity", "decimal", 2)]
    columns += [Column("labels"), Column("text")]
    words = (
        f"{found.documents:,} test documents are {found.how}. The model has seen them, so they make "
        f"its figures too "
        f"good. Remove them from the test documents."
    )
    return paragraph(words) + data_table(
        Table("", columns, rows), "Copies across training and test documents", key="copies-table",
        noun="groups", searchable=True, hidden_caption=True,
    )  # fmt: skip


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
