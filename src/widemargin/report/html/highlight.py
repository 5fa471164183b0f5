"""A text with its terms highlighted: those for a label, and those against it.

Color is not the only mark: terms against the label are underlined with dots, and every piece has a title
with its contribution.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

from widemargin.documents.record import SEPARATOR
from widemargin.report.html.escaping import escaped
from widemargin.report.pieces import Span, pieces

LEVELS = 4  # of color, by strength

# Colors have a contrast of at least 4.5 to the text in both schemes. Classes, not style attributes: a content
# security policy may forbid those.
STYLE = """\
.wm-text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; }
.wm-text mark { color: inherit; background: none; border-radius: 2px; padding: 0 1px; }
.wm-text .wm-for { border-bottom: 2px solid #1a7f37; }
.wm-text .wm-against { border-bottom: 2px dotted #b3261e; }
.wm-text .wm-for.wm-1 { background: rgba(46, 160, 67, .10); }
.wm-text .wm-for.wm-2 { background: rgba(46, 160, 67, .18); }
.wm-text .wm-for.wm-3 { background: rgba(46, 160, 67, .26); }
.wm-text .wm-for.wm-4 { background: rgba(46, 160, 67, .34); }
.wm-text .wm-against.wm-1 { background: rgba(218, 54, 51, .08); }
.wm-text .wm-against.wm-2 { background: rgba(218, 54, 51, .15); }
.wm-text .wm-against.wm-3 { background: rgba(218, 54, 51, .22); }
.wm-text .wm-against.wm-4 { background: rgba(218, 54, 51, .30); }
@media (prefers-color-scheme: dark) {
  .wm-text .wm-for { border-bottom-color: #3fb950; }
  .wm-text .wm-against { border-bottom-color: #ff7b72; }
}
@media print {
  .wm-text mark { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
"""


def highlighted(text: str, spans: Iterable[Span]) -> str:
    """`text` as HTML, with a ``mark`` around every piece that matters. :data:`STYLE` is its style sheet.

    Parameters
    ----------
    text : str
        Columns of one text stand on separate lines.
    spans : iterable of (start, end, contribution)
        They may overlap; contributions over the same characters are added.

    Examples
    --------
    >>> highlighted("spam & eggs", [(0, 4, 0.5), (7, 11, -0.25)])  # doctest: +NORMALIZE_WHITESPACE
    '<bdi class="wm-text"><mark class="wm-for wm-4" title="for: +0.5000">spam</mark> &amp;
    <mark class="wm-against wm-2" title="against: -0.2500">eggs</mark></bdi>'
    """
    written = []
    for piece in pieces(len(text), spans):
        content = _written(text[piece.start : piece.end])
        if piece.strength == 0:
            written.append(content)
            continue
        side = "for" if piece.strength > 0 else "against"
        level = ceil(LEVELS * abs(piece.strength))
        title = f"{side}: {piece.value:+.4f}"
        written.append(f'<mark class="wm-{side} wm-{level}" title="{title}">{content}</mark>')
    return f'<bdi class="wm-text">{"".join(written)}</bdi>'


def _written(text: str) -> str:
    return escaped(text.replace(SEPARATOR, "\n").replace("\r\n", "\n"), keep="\n\t")
