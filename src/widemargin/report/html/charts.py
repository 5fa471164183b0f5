"""Charts as SVG, drawn by matplotlib and given the colors of the page.

matplotlib draws everything: axes, ticks, lines and bands. Its SVG is then rewritten so that it fits into a
page: colors become classes, which follow the light or dark scheme; style attributes, which the policy of the
page forbids, become attributes; identifiers get a prefix of their own. Names of lines are in a legend of
HTML: matplotlib would read some of them as formulas.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from widemargin.errors import UsageError
from widemargin.report.html.elements import details, paragraph, tag
from widemargin.report.html.escaping import escaped, isolated

SERIES = 6  # colors of lines
_INK, _FAINT, _MUTED, _PALE = "#000001", "#000002", "#000003", "#000004"
_COLORS = {_INK: "ink", _FAINT: "faint", _MUTED: "muted", _PALE: "pale"} | {
    f"#00001{k}": f"c{k}" for k in range(SERIES)
}
_SVG = "{http://www.w3.org/2000/svg}"
_XLINK = "{http://www.w3.org/1999/xlink}"
_LONG = re.compile(r"\d+\.\d+")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


@dataclass(frozen=True)
class Curve:
    """A line of a chart.

    Attributes
    ----------
    name : in the legend; muted lines have no entry
    key : id of the line, for the script
    color : number of its color; None for a muted line
    low, high : the band around it
    dots, dotted : whether its points are drawn, and whether its line is dotted
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    key: str | None = None
    color: int | None = 0
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    dots: bool = False
    dotted: bool = False


@dataclass(frozen=True)
class Chart:
    """Axes with their lines.

    Attributes
    ----------
    key : id in the page
    alt : what the chart shows, for those who do not see it
    x_limits, y_limits : ends of the axes
    log_x : whether the horizontal axis is logarithmic, with a tick at every point
    diagonal : whether to draw the line where both axes are equal
    percent_x : whether the values of the horizontal axis are shares, as those of the vertical one are
    data : the figures as markup
    """

    key: str
    title: str
    alt: str
    x_label: str
    y_label: str
    curves: list[Curve] = field(default_factory=list)
    x_limits: tuple[float, float] | None = (0.0, 1.0)
    y_limits: tuple[float, float] | None = (0.0, 1.0)
    log_x: bool = False
    diagonal: bool = False
    percent_x: bool = True
    data: str = ""

    def figure(self, caption: str = "") -> str:
        """The chart with its legend, its caption and its data."""
        words = tag("figcaption", f"<strong>{escaped(self.title)}</strong> {escaped(caption)}")
        legend = "".join(
            f'<li><span class="swatch c{curve.color}{" dotted" if curve.dotted else ""}"></span> '
            f"{isolated(curve.name)}</li>"
            for curve in self.curves
            if curve.color is not None and curve.name
        )
        legend = f'<ul class="legend">{legend}</ul>' if legend else ""
        data = details("Data of this chart", self.data) if self.data else ""
        return tag("figure", words + self.svg() + legend + data, class_="chart")

    def svg(self) -> str:
        """The chart alone."""
        check_charts()
        from matplotlib import rc_context

        settings: Any = {"svg.fonttype": "none", "svg.hashsalt": self.key, "font.family": ["sans-serif"]}
        with rc_context(settings):
            raw, box = self._drawn()
        return _themed(raw, self, box)

    def _drawn(self) -> tuple[str, tuple[float, ...]]:
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
        from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

        figure = Figure(figsize=(5.6, 4.0), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        figure.patch.set_visible(False)
        axes.patch.set_visible(False)
        if self.diagonal:
            axes.plot([0, 1], [0, 1], color=_MUTED, linewidth=1, linestyle="--")
        for curve in self.curves:
            color = _PALE if curve.color is None else f"#00001{curve.color % SERIES}"
            style: dict[str, Any] = {"color": color, "linewidth": 0.7 if curve.color is None else 1.8}
            style |= {"linestyle": ":"} if curve.dotted else {}
            style |= {"marker": "o", "markersize": 4} if curve.dots else {}
            (line,) = axes.plot(list(curve.x), list(curve.y), **style)
            if curve.key is not None:
                line.set_gid(curve.key)
            if len(curve.low):
                axes.fill_between(curve.x, curve.low, curve.high, color=color, alpha=0.18, linewidth=0)
        if self.log_x:
            axes.set_xscale("log")
            ticks = sorted({float(x) for curve in self.curves for x in curve.x})
            axes.xaxis.set_major_locator(FixedLocator(ticks))
            axes.xaxis.set_minor_locator(NullLocator())
        elif self.x_limits is not None:
            axes.set_xlim(*self.x_limits)
        # After the scale, which brings formats of its own.
        percent = FuncFormatter(lambda value, _: f"{100 * value:g}")
        plain = FuncFormatter(lambda value, _: f"{value:,.10g}")
        axes.yaxis.set_major_formatter(percent)
        axes.xaxis.set_major_formatter(percent if self.percent_x and not self.log_x else plain)
        if self.y_limits is not None:
            axes.set_ylim(*self.y_limits)
        axes.set_xlabel(self.x_label, color=_INK)
        axes.set_ylabel(self.y_label, color=_INK)
        axes.tick_params(colors=_INK, which="both")
        axes.grid(visible=True, color=_FAINT, linewidth=0.8)
        axes.set_axisbelow(True)
        for spine in axes.spines.values():
            spine.set_color(_MUTED)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        place = axes.get_position()
        width, height = (72 * inches for inches in figure.get_size_inches())
        left, right = place.x0 * width, place.x1 * width
        top, bottom = (1 - place.y1) * height, (1 - place.y0) * height
        return file.getvalue(), (left, top, right, bottom)


def check_charts() -> None:
    """Raise an error if matplotlib is not installed.

    Raises
    ------
    UsageError
    """
    try:
        import matplotlib.figure  # noqa: F401 - is it there?
    except ImportError as error:
        raise UsageError(
            "Charts of a page need matplotlib, which is not installed: pip install 'widemargin[plots]'"
        ) from error


def _themed(raw: str, chart: Chart, box: tuple[float, ...]) -> str:
    """matplotlib's SVG without its own styles, for the page."""
    root = ElementTree.fromstring(raw)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == f"{_SVG}style" or child.tag.endswith("metadata"):
                parent.remove(child)
    keys = {curve.key for curve in chart.curves if curve.key is not None}
    referred = set(_REFERENCE.findall(raw)) | set(re.findall(r'href="#([^"]+)"', raw))
    for element in root.iter():
        _restyle(element)
        for name in list(element.attrib):
            value = element.attrib.pop(name)
            if name == "id" and value not in keys:
                if value not in referred:
                    continue
                value = f"{chart.key}-{value}"
            elif name in ("d", "x", "y", "transform"):
                value = _LONG.sub(lambda found: f"{float(found[0]):.1f}", value)
            elif name == f"{_XLINK}href":
                name, value = "href", f"#{chart.key}-{value.lstrip('#')}"
            value = _REFERENCE.sub(lambda found: f"url(#{chart.key}-{found[1]})", value)
            element.attrib[name] = value
    for name in ("width", "height", "version", "id"):
        root.attrib.pop(name, None)
    root.attrib |= {"class": "plot", "role": "img", "aria-labelledby": f"{chart.key}-t {chart.key}-d"}
    root.attrib["data-box"] = " ".join(f"{value:.1f}" for value in box)
    root.attrib["id"] = chart.key
    for number, (name, text) in enumerate((("title", chart.title), ("desc", chart.alt))):
        child = ElementTree.Element(f"{_SVG}{name}", {"id": f"{chart.key}-{name[0]}"})
        child.text = text
        root.insert(number, child)
    ElementTree.register_namespace("", _SVG.strip("{}"))
    made = ElementTree.tostring(root, encoding="unicode")
    return re.sub(r"\s*\n\s*|(?<=\d) +(?=\")|(?<= ) +", "", made)


def _restyle(element: ElementTree.Element) -> None:
    """The style attribute as attributes and classes."""
    style = element.attrib.pop("style", None)
    rules = [rule.partition(":") for rule in (style or "").split(";") if ":" in rule]
    given = {name.strip(): value.strip() for name, _, value in rules}
    classes = []
    for name in ("fill", "stroke"):
        value = given.pop(name, element.attrib.pop(name, None))
        if value in _COLORS:
            classes.append(f"{name[0]}-{_COLORS[value]}")
        elif value is not None:
            element.attrib[name] = value
    font = re.search(r"([\d.]+)px", given.pop("font", ""))
    if font is not None:
        element.attrib["font-size"] = font[1]
        if not any(name.startswith("f-") for name in classes):
            classes.append("f-ink")
    given.pop("font-family", None)
    element.attrib.pop("font-family", None)
    for name, value in given.items():
        if re.fullmatch(r"[a-z-]+", name) and not name.startswith("-"):
            element.attrib[name] = value
    if classes:
        element.attrib["class"] = " ".join(classes)


def no_chart(why: str) -> str:
    """A sentence instead of a chart."""
    return paragraph(why, "missing")
