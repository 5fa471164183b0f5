"""Plots of the laws of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.report.plots import Line, Panel
from widemargin.theory.laws import HeapsLaw, LawFit, ZipfLaw

# Points of a curve in a plot.
_POINTS = 60


def zipf_panel(title: str, fit: LawFit[ZipfLaw], others: Mapping[str, ZipfLaw] | None = None) -> Panel:
    """Term frequencies against ranks, with the fitted law and `others` by name (dashed)."""
    x, lines = _observed(fit)
    for name, law in (others or {}).items():
        lines.append(Line(name, x.tolist(), law.frequencies(x).tolist(), published=True))
    return Panel(title, "frequency rank", "term frequency", lines, log=True)


def heaps_panel(title: str, fit: LawFit[HeapsLaw]) -> Panel:
    """Distinct words against words of text, with the fitted law."""
    return Panel(title, "words of text", "distinct words", _observed(fit)[1], log=True)


def _observed(fit: LawFit[Any]) -> tuple[NDArray[np.float64], list[Line]]:
    """Some of the points of a fit, evenly spaced by factors, and the lines of what was observed and
    fitted."""
    wanted = np.geomspace(fit.x[0], fit.x[-1], _POINTS)
    some = np.unique(np.searchsorted(fit.x, wanted).clip(max=len(fit.x) - 1))
    x = fit.x[some]
    curves = {"observed": fit.y[some], "fitted": fit.fitted[some]}
    return x, [Line(name, x.tolist(), y.tolist()) for name, y in curves.items()]
