"""Joachims (2000), Figures 9.3 to 9.5: margins, seconds and switches of transductive SVMs.

9.3: the normalized inverse margin R^2/delta^2 of the labels after so many switches, acq with 5 training and
300 test documents of each class (9.4.1). 9.4 and 9.5: seconds and switches, averaged over ten topics of
Reuters-21578, against the number of training and of test documents (9.4.3, 9.4.4). The curves have no printed
figures; the text has an exponent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.papers.joachims.few_labels import C, Field, Sample, draw, reuters_field, transduce, weighted
from widemargin.papers.joachims.table_8_4 import exponent
from widemargin.papers.joachims.table_9_1 import MULTIPLE, NOTES, SECONDS, SINGLE, SWITCHES, cost
from widemargin.papers.joachims.text_tasks import Report
from widemargin.papers.joachims.thesis_svm import cpu_seconds
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult, averaged
from widemargin.report.plots import Line, Panel

TRAIN_SIZES = (17, 68, 272, 1088, 4352)
TEST_SIZES = (412, 825, 1650, 3299)
LABELED = 17
SAMPLES = 3
MARGIN_SAMPLES = 10
SHOWN_SWITCHES = (0, 1, 2, 5, 10, 20, 30, 40, 50, 75, 100, 150, 200, 300)
INDUCTIVE = "inductive CPU s"
SCALING = "exponent"
# "approximately k^1.5" (9.4.4), "a factor of almost two" (9.4.1)
PUBLISHED_EXPONENT, PUBLISHED_FACTOR = 1.5, 2.0
OF_EACH_CLASS = (5, 300)
INVERSE_MARGIN = "R^2/delta^2"


def run(report: Report, figure: str) -> PaperResult:
    """One of the figures, "9.3", "9.4" or "9.5"."""
    figures: dict[str, Callable[[Report], PaperResult]] = {
        "9.3": margins,
        "9.4": against_training_documents,
        "9.5": against_test_documents,
    }
    return figures[figure](report)


def margins(
    report: Report,
    of_each_class: tuple[int, int] = OF_EACH_CLASS,
    samples: int = MARGIN_SAMPLES,
    field: Field | None = None,
) -> PaperResult:
    """Figure 9.3: the inverse margin after every switch."""
    field = field or reuters_field(report)
    runs = []
    for seed in range(samples):
        report(f"acq, set {seed + 1} of {samples}")
        runs.append(path(balanced(field, field.names.index("acq"), *of_each_class, seed)))
    longest = max(map(len, runs)) - 1
    cells: list[Cell] = []
    for count in [count for count in SHOWN_SWITCHES if count < longest] + [longest]:
        # A run that has ended keeps its last labels.
        now = np.array([run[min(count, len(run) - 1)] for run in runs])
        cells += averaged(f"{count} switches", INVERSE_MARGIN, UNPUBLISHED, now)
    factor = np.array([run[0] / run[-1] for run in runs])
    cells += averaged("first / last", INVERSE_MARGIN, PUBLISHED_FACTOR, factor)
    total = np.array([len(run) - 1 for run in runs])
    wider = np.array([100 * float(np.mean(np.diff(run) < 0)) if len(run) > 1 else math.nan for run in runs])
    cells += averaged("switches of a run", INVERSE_MARGIN, UNPUBLISHED, total.astype(np.float64))
    cells += averaged("widen the margin (% of switches)", INVERSE_MARGIN, UNPUBLISHED, wider)
    title = "Joachims, Figure 9.3: the inverse margin against the number of switches, acq"
    notes = [
        "The inverse margin of the machine trained with the labels after so many switches, C = 20. A run "
        "that has ended counts with its last labels.",
        'In the text, the margin grows "almost uniformly", "by a factor of almost two"; the curve of one run '
        "has no printed figures.",
        f"Means over {samples} random sets of {of_each_class[0]} training and {of_each_class[1]} test "
        f"documents of each class.",
    ]
    lines = [Line(f"set {seed + 1}", list(range(len(run))), run) for seed, run in enumerate(runs)]
    panel = Panel("Reuters-21578, acq", "switches", INVERSE_MARGIN, lines)
    return PaperResult("joachims-figure-9.3", title, cells, notes, {}, [panel])


def path(sample: Sample) -> list[float]:
    """The inverse margin of the labels after every switch, and before the first.

    The last labels are known, and every switch turns two of them: from there back to the first ones.
    """
    machine = transduce(sample, switching=SINGLE)
    labels = np.where(np.asarray(machine.transduction_, dtype=np.float64) > 0, 1, -1)
    (pairs,) = machine.switches_
    assert len(pairs) == machine.n_switches_[0], "no switch is missing"
    found = [inverse_margin(sample.X, labels)]
    for pair in pairs[::-1]:
        labels[pair] *= -1
        found.append(inverse_margin(sample.X, labels))
    return found[::-1]


def balanced(field: Field, column: int, n_train: int, n_test: int, seed: int) -> Sample:
    """As many documents inside as outside of one category, in both parts."""
    rng = np.random.default_rng(seed)
    rows = []
    for part, count in ((field.train, n_train), (field.test, n_test)):
        for inside in (True, False):
            candidates = part[field.member[part, column] == inside]
            rows.append(rng.permutation(candidates)[:count])
    return weighted(field, np.concatenate(rows), 2 * n_train).column(column)


def inverse_margin(X: Any, labels: Any) -> float:
    """R^2/delta^2 of the biased machine with these labels."""
    machine = LinearSVM(C, bias="unregularized", balance=0).fit(X, labels)
    longest = float(X.multiply(X).sum(axis=1).max())
    return longest * float((machine.coef_**2).sum())


def against_training_documents(
    report: Report,
    sizes: Sequence[int] = TRAIN_SIZES,
    samples: int = SAMPLES,
    topics: int | None = None,
    n_test: int | None = None,
    field: Field | None = None,
) -> PaperResult:
    """Figure 9.4: seconds and switches against the number of training documents."""
    field = field or reuters_field(report)
    return _costs(
        "9.4",
        "training documents",
        {size: (size, n_test) for size in sizes},
        field,
        samples,
        topics,
        report,
        ["According to the text, very few training documents take longer than a few more, and many take "
         "longer again."],
    )  # fmt: skip


def against_test_documents(
    report: Report,
    sizes: Sequence[int] = TEST_SIZES,
    samples: int = SAMPLES,
    topics: int | None = None,
    field: Field | None = None,
) -> PaperResult:
    """Figure 9.5: seconds and switches against the number of test documents."""
    field = field or reuters_field(report)
    sets = {size: (LABELED, size) for size in sizes}
    return _costs("9.5", "test documents", sets, field, samples, topics, report, [])


def _costs(
    figure: str,
    axis: str,
    sets: Mapping[int, tuple[int, int | None]],
    field: Field,
    samples: int,
    topics: int | None,
    report: Report,
    notes: list[str],
) -> PaperResult:
    """Both ways of switching on training and test sets of these sizes, over all (or the first) topics."""
    columns = range(len(field.names) if topics is None else topics)
    cells: list[Cell] = []
    curves: dict[str, list[float]] = {}
    for size, (labeled, unlabeled) in sets.items():
        report(f"{size:,} {axis}, {samples} samples of {len(columns)} topics")
        runs: dict[str, list[float]] = {}
        for seed in range(samples):
            sample = draw(field, labeled, seed, unlabeled)
            for number in columns:
                task = sample.column(number)
                for switching in (SINGLE, MULTIPLE):
                    seconds, switched = cost(task, switching)
                    runs.setdefault(f"{switching} {SECONDS}", []).append(seconds)
                    runs.setdefault(f"{switching} {SWITCHES}", []).append(switched)
                runs.setdefault(INDUCTIVE, []).append(inductive_seconds(task))
        for name, found in runs.items():
            values = np.array(found)
            curves.setdefault(name, []).append(float(values.mean()))
            cells += averaged(f"{size:,}", name, UNPUBLISHED, values)
    if figure == "9.5":
        for switching in (SINGLE, MULTIPLE):
            name = f"{switching} {SECONDS}"
            printed = PUBLISHED_EXPONENT if switching == SINGLE else UNPUBLISHED
            cells.append(Cell(SCALING, name, printed, exponent(list(sets), curves[name])))
    panels = []
    for what in (SECONDS, SWITCHES):
        lines = [Line(name, list(sets), values) for name, values in curves.items() if what in name]
        panels.append(Panel(f"Reuters-21578, {what}", axis, what, lines, log=True))
    title = f"Joachims, Figure {figure}: training time and switches against the number of {axis}"
    about = [
        f"Means over {samples} random training sets and {len(columns)} topics, and the standard deviation of "
        f"one run.",
        "The published curves have no printed figures; the text has the exponent of 9.5. The sizes are ours.",
    ]
    digits = {c.column: 4 if INDUCTIVE in c.column else 2 for c in cells if SECONDS in c.column}
    return PaperResult(f"joachims-figure-{figure}", title, cells, [*about, *NOTES, *notes], digits, panels)


def inductive_seconds(sample: Sample) -> float:
    """CPU seconds of the machine that knows the training documents only."""
    n = sample.n_labeled
    machine = LinearSVM(C, bias="unregularized", balance=0, n_jobs=1)
    return cpu_seconds(lambda: machine.fit(sample.X[:n], sample.member[:n, 0]))
