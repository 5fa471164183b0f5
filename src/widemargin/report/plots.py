"""Line plots in panels side by side, saved as a picture.

`Panel` and `Line` are plain data; only drawing needs matplotlib, which is an optional extra.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import Any

from widemargin._files import replacing
from widemargin.errors import MissingFileError, UsageError
from widemargin.report.html.escaping import escaped

FORMATS = ("pdf", "png", "svg")
_INCHES_PER_PANEL, _LETTERS_PER_PANEL, _HEIGHT = 5.0, 50, 4.0


@dataclass(frozen=True)
class Line:
    """A line through points. `published` lines (dashed) come from a paper.

    `expected` lines (dotted) continue the line before them, in its color; `low` and `high` are the interval
    around a line.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    published: bool = False
    expected: bool = False
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Panel:
    """Axes with their lines; ``log=True`` makes both logarithmic.

    ``points=True`` writes the names beside the lines, which are single points, on a logarithmic horizontal
    axis.
    """

    title: str
    x_label: str
    y_label: str
    lines: list[Line] = field(default_factory=list)
    log: bool = False
    points: bool = False


def check_plot(path: str | Path) -> Path:
    """Raise an error if `save_plot` could not write the file, before the figures are computed.

    Raises
    ------
    UsageError
        matplotlib is not installed, or the name ends in no known picture format.
    MissingFileError
        The folder does not exist.
    """
    target = Path(path)
    if target.suffix.lower().lstrip(".") not in FORMATS:
        raise UsageError(
            f"Cannot plot to {str(path)!r}: expected a name that ends in .{', .'.join(FORMATS)}, "
            f"found {target.suffix or 'no ending'}."
        )
    if not target.parent.is_dir():
        raise MissingFileError(f"Cannot plot to {str(path)!r}: there is no folder {str(target.parent)!r}.")
    _require_matplotlib()
    return target


def _require_matplotlib() -> None:
    try:
        import matplotlib.figure  # noqa: F401 - is it there?
    except ImportError as error:
        raise UsageError(
            "Plots need matplotlib, which is not installed: pip install 'widemargin[plots]'"
        ) from error


@dataclass(frozen=True)
class Plot:
    """Panels side by side, drawn in a notebook or by :meth:`save`."""

    panels: Sequence[Panel]
    title: str = ""

    def save(self, path: str | Path) -> None:
        """Draw into a PNG, SVG or PDF file, according to the file name."""
        save_plot(self.panels, path, self.title)

    def svg(self) -> str:
        """As an SVG element; what it shows is also in words, for those who do not see it."""
        _require_matplotlib()
        from matplotlib import rc_context

        words = "; ".join(_in_words(panel) for panel in self.panels)
        file = io.StringIO()
        # The same plot gives the same text; letters stay letters, which can be selected and read aloud.
        with rc_context({"svg.hashsalt": words, "svg.fonttype": "none"}):
            _figure(self.panels, self.title).savefig(file, format="svg", metadata={"Date": None})
        _, element, drawn = file.getvalue().partition("<svg ")
        return f'{element}role="img" aria-label="{escaped(words)}" {drawn}'

    def _repr_html_(self) -> str:
        """For notebooks."""
        from widemargin.report.notebook.style import framed

        return framed(self.svg())


def _in_words(panel: Panel) -> str:
    """The ends of every line."""
    lines = [
        f"{line.name} from {line.y[0]:.3g} at {line.x[0]:g} to {line.y[-1]:.3g} at {line.x[-1]:g}"
        for line in panel.lines
        if len(line.x) and line.name != "_"
    ]
    return f"{panel.title}: {panel.y_label} by {panel.x_label}: {', '.join(lines)}"


def save_plot(panels: Sequence[Panel], path: str | Path, title: str = "") -> None:
    """Draw `panels` side by side into a PNG, SVG or PDF file, according to the file name."""
    target = check_plot(path)
    figure = _figure(panels, title)
    with replacing(target) as file:
        figure.savefig(file, dpi=150, format=target.suffix.lower().lstrip("."))


def _figure(panels: Sequence[Panel], title: str) -> Any:
    # Not pyplot, which keeps every figure in a global list and needs a display.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    figure = Figure(figsize=(_INCHES_PER_PANEL * len(panels), _HEIGHT), layout="constrained")
    FigureCanvasAgg(figure)
    if title:
        figure.suptitle(fill(title, _LETTERS_PER_PANEL * len(panels)), fontsize="medium")
    for number, panel in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), number + 1)
        drawn: Any = None
        for line in panel.lines:
            style = "--" if line.published else ":" if line.expected else "-"
            color = drawn.get_color() if line.expected and drawn is not None else None
            (drawn,) = axes.plot(
                list(line.x), list(line.y), style, marker="o", markersize=3, label=line.name, color=color
            )
            if line.low:
                axes.fill_between(
                    line.x, line.low, line.high, alpha=0.15, color=drawn.get_color(), linewidth=0
                )
        if panel.log:
            axes.set_xscale("log")
            axes.set_yscale("log")
            # Numbers of examples span a decade or two, too few for powers of ten as the only ticks.
            axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
        if panel.points:
            axes.set_xscale("log")
            places = [line.x[0] for line in panel.lines]
            wide = max(places, default=1.0) > 30 * min(places, default=1.0)
            axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
            axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.margins(0.25, 0.1)  # room for the names
            for line in panel.lines:
                place = (line.x[0], line.y[0])
                axes.annotate(line.name, place, (4, 3), textcoords="offset points", fontsize="x-small")
        axes.set_title(panel.title, fontsize="small")
        axes.set_xlabel(panel.x_label)
        axes.set_ylabel(panel.y_label)
        axes.grid(visible=True, alpha=0.3)
        if not panel.points:
            axes.legend(fontsize="small")
    return figure
