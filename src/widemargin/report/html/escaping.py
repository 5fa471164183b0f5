"""Untrusted text in HTML: the one place that escapes it."""

from __future__ import annotations

import html

from widemargin._printable import printable


def escaped(text: object, keep: str = "") -> str:
    r"""`text` for an element or a quoted attribute.

    Characters that control a terminal or the direction of writing become visible escapes, except those in
    `keep`.

    Examples
    --------
    >>> escaped("<b>\x00 & 'c'\u202e")
    '&lt;b&gt;\\x00 &amp; &#x27;c&#x27;\\u202e'
    """
    return html.escape(printable(text, keep), quote=True)


def isolated(text: object) -> str:
    """`text` as an element whose direction of writing does not affect the text around it.

    Examples
    --------
    >>> isolated("R&D")
    '<bdi>R&amp;D</bdi>'
    """
    return f"<bdi>{escaped(text)}</bdi>"
