"""The summary of a training that a model file holds, checked as far as anything reads it."""

from __future__ import annotations

from typing import Any

from widemargin._stored import Stored
from widemargin.errors import DataError
from widemargin.measure.levels import AVERAGED
from widemargin.measure.quality import MEASURES

_MANY = 2**62
# What unlabeled documents may be used for (classifier/unlabeled/pool.py).
USES = ("representation", "self-training", "transductive")
_SIZES = ("documents", "labels", "values", "terms_before")
_KINDS = ("bound", "estimate", "measured")
_METHODS = ("leave-one-out", "one-step", "k-fold", "hold-out", "bootstrap", "bootstrap-632", "xi-alpha")


def checked_summary(found: Any) -> Stored:
    """The summary, of which every number is a number and every list a list."""
    summary = Stored(found, path="summary.")
    summary.integer("terms")
    for name in _SIZES:
        if name in summary:
            summary.integer(name, most=_MANY)
    if "task" in summary:
        summary.choice("task", ("binary", "multiclass", "multilabel"))
    for name in ("objective", "duality_gap"):
        if name in summary:
            summary.number(name)
    if "estimates" in summary and summary.value("estimates") is not None:
        _check_quality(summary.inner("estimates"))
    if "hierarchy" in summary:
        _check_hierarchy(summary.inner("hierarchy"))
    for level in _objects(summary, "levels") if "levels" in summary else []:
        _check_level(level)
    if "costs" in summary:
        _check_costs(summary.inner("costs"))
    if "tuning" in summary:
        _check_tuning(summary.inner("tuning"))
    if "pool" in summary:
        _check_pool(summary.inner("pool"))
    if "suspects_by" in summary:
        summary.choice("suspects_by", _METHODS)
        for suspect in _objects(summary, "suspects"):
            for name in ("score", "margin"):
                suspect.number(name)
            for name in ("document", "given", "suggested"):
                suspect.value(name)
    return summary


def _check_pool(pool: Stored) -> None:
    for name in ("documents", "also_training"):
        pool.integer(name, most=_MANY)
    pool.choice("asked", USES)
    if pool.value("use") is not None:
        pool.choice("use", USES)
    if "figures" not in pool:
        return
    pool.integer("folds", least=1, most=_MANY)
    pool.choice("measure", ("accuracy", "prbep"))
    figures, p_values = pool.inner("figures"), pool.inner("p_values")
    figures.number("none", least=0, most=1)
    for use in USES:
        if use in figures:
            figures.number(use, least=0, most=1)
            p_values.number(use, least=0, most=1)


def _check_hierarchy(hierarchy: Stored) -> None:
    for name in ("separator", "rule"):
        hierarchy.text(name)
    for name in ("levels", "labels"):
        hierarchy.integer(name, least=1, most=_MANY)
    hierarchy.flag("one_path")


def _check_level(level: Stored) -> None:
    level.text("level")
    for name in ("labels", "examples", "predicted"):
        level.integer(name, most=_MANY)
    level.number("right", least=0, most=1)
    for average in ("micro", "macro"):
        figures = level.inner(average)
        for name in AVERAGED:
            if figures.value(name) is not None:
                figures.number(name, least=0, most=1)


def _check_quality(quality: Stored) -> None:
    quality.choice("method", _METHODS)
    quality.choice("kind", _KINDS)
    quality.integer("n", most=_MANY)
    quality.number("confidence", least=0, most=1)
    if quality.value("accuracy") is not None:
        _check_figure(quality.inner("accuracy"))
    _check_auc(quality)
    for average in ("micro", "macro"):
        _check_figures(quality.inner(average))
    for row in _objects(quality, "labels"):
        _check_auc(row)
        row.value("label")
        row.integer("examples", most=_MANY)
        row.integer("predicted", most=_MANY)
        row.text("sure")
        if not isinstance(row.value("threshold"), str | None):
            row.number("threshold")
        if row.value("weak") is not None:
            row.text("weak")
        _check_figures(row)
    if not all(isinstance(note, str) for note in quality.items("notes")):
        raise DataError("'summary.estimates.notes' in manifest.json holds notes that are not strings")


def _check_auc(parent: Stored) -> None:
    if "auc" in parent and parent.value("auc") is not None:  # missing in older models
        _check_figure(parent.inner("auc"))


def _check_figures(figures: Stored) -> None:
    for name in MEASURES:
        _check_figure(figures.inner(name))


def _check_figure(figure: Stored) -> None:
    figure.text("kind")
    for name in ("value", "low", "high"):
        if figure.value(name) is not None:
            figure.number(name)


def _check_costs(costs: Stored) -> None:
    _check_figure(costs.inner("average"))
    costs.integer("n", most=_MANY)
    costs.number("always")
    costs.value("always_class")
    if costs.value("by_scores") is not None:
        costs.number("by_scores")
    for pair in _objects(costs, "costliest"):
        for name in ("truth", "decision"):
            pair.value(name)
        pair.integer("documents", most=_MANY)
        pair.number("cost")
    if not all(isinstance(note, str) for note in costs.items("notes")):
        raise DataError("'summary.costs.notes' in manifest.json holds notes that are not strings")


def _check_tuning(tuning: Stored) -> None:
    for name in ("effort", "estimate", "measure", "average"):
        tuning.text(name)
    candidates = _objects(tuning, "candidates")
    tuning.integer("chosen", most=len(candidates) - 1)
    for candidate in candidates:
        candidate.inner("parameters")
        for name in ("held_out", "estimate"):
            if candidate.value(name) is not None:
                candidate.number(name)
    if tuning.value("chosen_by_label") is not None:
        tuning.inner("chosen_by_label")


def _objects(parent: Stored, name: str) -> list[Stored]:
    return [Stored(item, path=f"{name}[{i}].") for i, item in enumerate(parent.items(name))]
