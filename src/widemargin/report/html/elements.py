"""Small pieces of HTML: every text that goes in is escaped here, what comes out is markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from widemargin.report.html.escaping import escaped, isolated


@dataclass(frozen=True)
class Markup:
    """A table cell that is markup already; `sort` is what the column is sorted by."""

    html: str
    sort: float | str | None = None


def tag(name: str, content: str = "", **attributes: object) -> str:
    """An element around markup; attributes are escaped, those that are None or False are omitted.

    A trailing underscore of an attribute is dropped, other underscores are hyphens.

    Examples
    --------
    >>> tag("a", escaped("R&D"), href="#x", class_="plain", hidden=False)
    '<a href="#x" class="plain">R&amp;D</a>'
    """
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escaped(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return f"<{name}{given}>{content}</{name}>"


def paragraph(text: str, class_: str | None = None) -> str:
    """A text as a paragraph."""
    return tag("p", escaped(text), class_=class_)


def listed(texts: Iterable[str]) -> str:
    """Texts as a list; nothing if there are none."""
    items = "".join(f"<li>{escaped(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Names with their values.

    Examples
    --------
    >>> facts([("learner", "linear-svm")])
    '<dl class="facts"><div><dt>learner</dt><dd><bdi>linear-svm</bdi></dd></div></dl>'
    """
    rows = "".join(f"<div><dt>{escaped(name)}</dt><dd>{isolated(value)}</dd></div>" for name, value in pairs)
    return f'<dl class="facts">{rows}</dl>'


def details(summary: str, content: str, **attributes: object) -> str:
    """Markup that is folded away below a line of markup."""
    return tag("details", f"<summary>{summary}</summary>{content}", **attributes)


def plain_text(text: str) -> str:
    """The text of a document, with its line ends."""
    return f'<div class="document"><bdi class="wm-text">{escaped(text, keep=chr(10))}</bdi></div>'


def tags(labels: Iterable[object], empty: str = "none") -> str:
    """Labels, each in its own box."""
    found = "".join(f'<span class="label">{isolated(label)}</span> ' for label in labels)
    return found.rstrip() or f'<span class="muted">{escaped(empty)}</span>'
