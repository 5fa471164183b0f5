"""The frame of everything that is shown in a notebook."""

from __future__ import annotations

from widemargin.report.html.highlight import STYLE as HIGHLIGHTS

# Colors are those of the notebook, so that light and dark themes both work.
STYLE = """\
.wm-notebook { line-height: 1.5; max-width: 60em; }
.wm-notebook table { border-collapse: collapse; margin: .5em 0; }
.wm-notebook caption { text-align: left; font-weight: bold; }
.wm-notebook th, .wm-notebook td { text-align: left; padding: .15em .7em; vertical-align: top; }
.wm-notebook thead th { border-bottom: 1px solid currentColor; }
.wm-notebook tfoot tr:first-child td { border-top: 1px solid currentColor; }
.wm-notebook .wm-number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.wm-notebook svg { max-width: 100%; height: auto; background: #fff; }
"""


def framed(*parts: str) -> str:
    """Parts of HTML, which are escaped already, with their style sheet."""
    return f'<div class="wm-notebook"><style>{STYLE}{HIGHLIGHTS}</style>{"".join(parts)}</div>'
