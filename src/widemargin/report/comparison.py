"""Learners side by side: the table, the plot, and one sentence of advice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from widemargin.errors import UsageError
from widemargin.report.html.escaping import escaped
from widemargin.report.notebook.style import framed
from widemargin.report.notebook.tables import table_html
from widemargin.report.plots import Line, Panel, save_plot
from widemargin.report.tables import Column, Table
from widemargin.tune.compared import LEVEL, ComparedLearner

# A learner that trains this many times as fast is worth a mention.
_FASTER = 2.0
_MEGABYTE = 1e6


@dataclass(eq=False)
class Comparison:
    """The result of :func:`widemargin.compare`.

    Attributes
    ----------
    rows : one :class:`~widemargin.tune.compared.ComparedLearner` per learner, the best first, those that were
        not measured last
    task : "binary", "multiclass" or "multilabel"
    documents, labels : numbers of training documents and of labels
    test_documents : number of test documents; None if the training documents were cross-validated
    folds : number of parts of the training documents
    seconds : for the whole comparison
    """

    rows: list[ComparedLearner]
    task: str
    documents: int
    labels: int
    test_documents: int | None
    folds: int
    seconds: float
    notes: list[str] = field(default_factory=list)

    @property
    def measured(self) -> list[ComparedLearner]:
        """The learners that were measured, the best first."""
        return [row for row in self.rows if row.status == "measured"]

    @property
    def best(self) -> ComparedLearner | None:
        """The learner with the best figure, or None if none was measured."""
        return next((row for row in self.rows if row.best), None)

    @property
    def measure(self) -> str:
        """The figure that learners are compared by."""
        return "micro-F1" if self.task == "multilabel" else "accuracy"

    def __getitem__(self, learner: str) -> ComparedLearner:
        """The row of a learner."""
        for row in self.rows:
            if row.learner == learner:
                return row
        names = ", ".join(row.learner for row in self.rows)
        raise KeyError(f"{learner!r} was not compared. Choose from: {names}.")

    def __iter__(self) -> Iterator[ComparedLearner]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def advice(self) -> str:
        """Which learner to use, in one sentence."""
        best, measured = self.best, self.measured
        if best is None:
            return "No learner could be measured."
        if len(measured) == 1:
            return f"{best.learner} is the only learner that was measured."
        similar = self._similar()
        if not similar:
            others = [row.learner for row in measured if row is not best]
            which = {1: others[0], 2: "both others"}.get(len(others), f"all {len(others)} others")
            return f"Use {best.learner}: {which} {'is' if len(others) == 1 else 'are'} significantly worse."
        faster = self.faster
        if faster is not None:
            ratio = _seconds(best) / max(_seconds(faster), 1e-9)
            return (
                f"{best.learner} is best; {faster.learner} is not significantly worse and trains "
                f"{_times(ratio)} times as fast."
            )
        names = _listed([row.learner for row in similar])
        verb = "is" if len(similar) == 1 else "are"
        return f"{best.learner} is best; {names} {verb} not significantly worse."

    @property
    def faster(self) -> ComparedLearner | None:
        """The fastest learner that is not significantly worse than the best and trains at least twice as
        fast, if there is one."""
        best, similar = self.best, self._similar()
        if best is None or not similar:
            return None
        fastest = min(similar, key=_seconds)
        return fastest if _seconds(best) >= _FASTER * _seconds(fastest) else None

    def _similar(self) -> list[ComparedLearner]:
        """The learners that are not significantly worse than the best."""
        return [row for row in self.measured if not row.best and not row.significantly_worse]

    def table(self, *, break_even: bool = False) -> Table:
        """One row per learner; with `break_even`, the PRBEP of label sets too."""
        several = break_even and self.task == "multilabel"
        ranked = any(row.auc is not None for row in self.rows)
        columns = [Column("learner"), Column("setting"), Column(self.measure, "figure")]
        columns += [Column("micro-PRBEP", "figure")] if several else []
        columns += [Column("macro-F1", "figure")]
        columns += (
            [Column("mean AUC" if self.task == "multilabel" else "AUC", "decimal", 3)] if ranked else []
        )
        columns += [Column("train s", "decimal", 2)]
        columns += [Column("documents/s", "count"), Column("memory MB", "decimal")]
        columns += [Column("model MB", "decimal", 2), Column("remark")]
        rows: list[Any] = []
        for row in self.rows:
            figures: list[Any] = [row.micro_f1, *([row.micro_prbep] if several else []), row.macro_f1]
            if ranked:
                figures.append(None if row.auc is None else row.auc.value)
            speed = row.documents_per_second
            rows.append(
                [
                    row.learner,
                    setting_in_words(row.setting),
                    *figures,
                    row.train_seconds,
                    None if speed is None else round(speed),
                    None if row.memory is None else row.memory / _MEGABYTE,
                    None if row.model_bytes is None else row.model_bytes / _MEGABYTE,
                    _remark(row),
                ]
            )
        return Table("", columns, rows, notes=self.heading_and_notes()[1:])

    def heading_and_notes(self) -> list[str]:
        """What was done, and what the columns mean."""
        if self.test_documents is None:
            where = f"{self.folds}-fold cross-validation of {self.documents:,} documents"
        else:
            where = (
                f"trained on {self.documents:,} documents, measured on {self.test_documents:,} test documents"
            )
        test = "a randomization test" if self.task == "multilabel" else "McNemar's test"
        lines = [
            f"{len(self.measured)} of {len(self.rows)} learners, {self.labels} labels: {where}; 95 % "
            f"intervals in brackets."
        ]
        if len(self.measured) > 1:
            lines.append(
                f"worse: significantly worse {self.measure} than the best ({test}, {100 * LEVEL:g} % level, "
                f"corrected for all pairs)."
            )
        lines += [f"{row.learner}: {text}" for row in self.measured for text in row.warnings]
        return lines + self.notes

    def plot(self, path: str | Path) -> None:
        """Draw quality against seconds of training into a PNG, SVG or PDF file."""
        lines = [Line(row.learner, [_seconds(row)], [100 * row.value]) for row in self.measured]
        panel = Panel("", "seconds to train", f"{self.measure} (%)", lines, points=True)
        save_plot([panel], path, "Quality and training time")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "task": self.task,
            "measure": self.measure,
            "documents": self.documents,
            "labels": self.labels,
            "test_documents": self.test_documents,
            "folds": self.folds,
            "seconds": round(self.seconds, 4),
            "best": None if self.best is None else self.best.learner,
            "faster": None if self.faster is None else self.faster.learner,
            "advice": self.advice,
            "notes": self.notes,
            "rows": [row.to_dict() for row in self.rows],
        }

    def to_pandas(self) -> Any:
        """A DataFrame with one row per learner; ends of intervals are columns `..._low` and `..._high`.

        Raises
        ------
        UsageError
            pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise UsageError("to_pandas needs pandas, which is not installed: pip install pandas") from error
        return pandas.DataFrame([_flat(row.to_dict()) for row in self.rows]).set_index("learner")

    def __str__(self) -> str:
        return "\n".join([self.heading_and_notes()[0], self.table().plain(), self.advice])

    def _repr_html_(self) -> str:
        table = self.table()
        heading, advice = (f"<p>{escaped(text)}</p>" for text in (self.heading_and_notes()[0], self.advice))
        return framed(heading, table_html(table), advice)


def setting_in_words(setting: dict[str, Any]) -> str:
    """Parameters on one line.

    Examples
    --------
    >>> setting_in_words({"C": 0.5, "kernel": "rbf"}), setting_in_words({})
    ('C=0.5, kernel=rbf', '')
    """
    return ", ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in setting.items()
    )


def _remark(row: ComparedLearner) -> str:
    if row.status != "measured":
        return f"{row.status}: {row.why}"
    return "best" if row.best else "worse" if row.significantly_worse else ""


def _seconds(row: ComparedLearner) -> float:
    return float(row.train_seconds or 0.0)


def _times(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _flat(found: dict[str, Any]) -> dict[str, Any]:
    """A row without nested values."""
    flat: dict[str, Any] = {}
    for name, value in found.items():
        if name in ("accuracy", "micro_prbep", "micro_f1", "macro_f1", "auc"):
            for part in ("value", "low", "high"):
                key = name if part == "value" else f"{name}_{part}"
                flat[key] = None if value is None else value[part]
        elif name == "setting":
            flat[name] = setting_in_words(value)
        elif name == "warnings":
            flat[name] = "; ".join(value)
        elif name != "candidates":
            flat[name] = value
    return flat
