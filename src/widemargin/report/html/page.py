"""One self-contained page: its sections, its style sheet and its script, and nothing from elsewhere.

The policy of the page allows only this style sheet and this script, by their hashes. Data is in a script
element of JSON, which no browser runs.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from widemargin._files import replacing
from widemargin._printable import printable_json
from widemargin.report.html.elements import paragraph, tag
from widemargin.report.html.escaping import escaped
from widemargin.report.html.highlight import STYLE

_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)


@dataclass(frozen=True)
class Section:
    """A part of a page: the id and the title that the navigation shows, and markup."""

    key: str
    title: str
    html: str


@dataclass(frozen=True)
class Page:
    """A page for a browser.

    Attributes
    ----------
    title : of the page
    lead : markup below the title
    sections : in their order
    data : what the script reads, plain values
    footer : a line at the end
    """

    title: str
    lead: str
    sections: Sequence[Section]
    data: dict[str, Any] = field(default_factory=dict)
    footer: str = ""

    def render(self) -> str:
        """The page as HTML."""
        style, script = _style(), _asset("report.js")
        policy = _POLICY.format(script=_hash(script), style=_hash(style))
        links = "".join(f'<li><a href="#{one.key}">{escaped(one.title)}</a></li>' for one in self.sections)
        parts = "".join(
            tag("section", f'<h2 id="{one.key}-title">{escaped(one.title)}</h2>{one.html}', id=one.key,
                aria_labelledby=f"{one.key}-title")
            for one in self.sections
        )  # fmt: skip
        return "".join(
            [
                '<!DOCTYPE html>\n<html lang="en" class="no-script">\n<head>\n<meta charset="utf-8">\n',
                # Before anything that it applies to.
                f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
                '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
                '<meta name="referrer" content="no-referrer">\n',
                '<meta name="color-scheme" content="light dark">\n',
                f"<title>{escaped(self.title)}</title>\n<style>{style}</style>\n</head>\n<body>\n",
                '<a class="skip" href="#content">Skip to the content</a>\n',
                f'<header class="top"><div><h1>{escaped(self.title)}</h1>{self.lead}</div>',
                '<button type="button" id="theme" class="needs-script">Dark colors</button></header>\n',
                f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n',
                f'<main id="content" tabindex="-1">{parts}</main>\n',
                f"<footer>{paragraph(self.footer)}</footer>\n" if self.footer else "",
                f'<script type="application/json" id="data">{data_json(self.data)}</script>\n',
                f"<script>{script}</script>\n</body>\n</html>\n",
            ]
        )

    def save(self, path: str | os.PathLike[str]) -> int:
        """Write the page to a file and return its size in bytes."""
        content = self.render().encode()
        with replacing(path) as file:
            file.write(content)
        return len(content)

    def _repr_html_(self) -> str:
        """The page in a notebook: in a frame of its own, so that neither changes the other."""
        inner = html.escape(self.render(), quote=True)
        return (
            f'<iframe title="{escaped(self.title)}" sandbox="allow-scripts allow-downloads" width="100%" '
            f'height="800" srcdoc="{inner}"></iframe>'
        )


def data_json(value: Any) -> str:
    r"""A value as JSON that cannot end the element it stands in.

    Examples
    --------
    >>> data_json({"text": "</script>\u2028"})
    '{"text":"\\u003c/script\\u003e\\u2028"}'
    """
    text = printable_json(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def _asset(name: str) -> str:
    return resources.files("widemargin.report.html").joinpath(name).read_text(encoding="utf-8")


def _style() -> str:
    return STYLE + _asset("report.css")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
