"""Transductive SVMs from a few labeled documents: quality, and time against one switch at a time.

C = 20, the true share of positives, macro-averaged break-even points of the unlabeled documents.
`transductive` is the default C*: all unlabeled documents together cost half as much as the labeled ones. C* =
C is the cost of the thesis and SVM-light. The half was chosen with other samples of labeled Reuters stories
among the same unlabeled ones. `guarded` uses the inductive model if the alarm fires; `better` always uses the
better one. Without arguments: Reuters, then --switching.

--switching compares both ways of switching by CPU time, alternating; the sum of our objectives may be at most
1 % above the other's. The macro-average of `transductive` may be at most 2 points below the published one of
TSVM.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from _compare import Check, Row, arguments, in_turns, report
from _transduction_tasks import PUBLISHED, Pool, Sample, draw, pool, resampled, sample
from widemargin import TransductiveSVM
from widemargin.errors import DataWarning
from widemargin.measure import prbep

C = 20.0
ALLOWED_EXCESS = 0.01  # of the sum of objectives
ALLOWED_LOSS = 2.0  # points below the published macro-average


def fitted(task: Sample, **options: object) -> tuple[TransductiveSVM, float]:
    """A machine, and the CPU seconds it took."""
    start = time.process_time()
    model = TransductiveSVM(C, positives=task.positives, on_alarm="ignore", **options).fit(
        task.X, task.marked
    )
    return model, time.process_time() - start


def in_percent(task: Sample, scores: np.ndarray) -> np.ndarray:
    return 100 * prbep(task.truth, scores[task.n_labeled :])


def outcomes(task: Sample) -> tuple[dict[str, np.ndarray], float]:
    """Break-even points of every category by each way of learning, and CPU seconds of the default."""
    model, seconds = fitted(task)
    as_published, _ = fitted(task, C_unlabeled=C)
    inductive = in_percent(task, model.inductive_)
    result = {"inductive": inductive}
    for name, one in (("transductive", model), ("C* = C", as_published)):
        transductive = in_percent(task, one.scores_)
        fired = np.array([alarm is not None and alarm.fired for alarm in one.alarm_])
        result[name] = transductive
        result[f"{name}, guarded"] = np.where(fired, inductive, transductive)
        result[f"{name}, better"] = np.maximum(inductive, transductive)
    return result, seconds


def quality(name: str, n_samples: int, first_seed: int, as_json: bool) -> int:
    """The table of one collection; 1 if the macro-average is too far below the published one."""
    documents = pool(name)
    n_labeled, svm, tsvm = PUBLISHED[name]
    tables: dict[str, list[np.ndarray]] = {}
    seconds: list[float] = []
    for seed in range(first_seed, first_seed + n_samples):
        result, cpu = outcomes(sample(documents, draw(documents, n_labeled, seed)))
        seconds.append(cpu)
        for way, values in result.items():
            tables.setdefault(way, []).append(values)
        if not as_json:
            macros = {way: round(float(values.mean()), 1) for way, values in result.items()}
            print(f"  seed {seed}: {macros}, {cpu:.1f} CPU s", flush=True)
    k = len(documents.member) - documents.n_train
    print_table(f"{name} {n_labeled}/{k}", tables, documents, seconds, (svm, tsvm), as_json)
    check = Check("points below the published", tsvm - float(np.mean(tables["transductive"])), ALLOWED_LOSS)
    if not check.holds:
        print(f"{name}: {check.what} {check.value:.1f}, at most {check.at_most:g}.", file=sys.stderr)
    return 0 if check.holds else 1


def print_table(
    title: str,
    tables: dict[str, list[np.ndarray]],
    documents: Pool,
    seconds: list[float],
    published: tuple[float, float] | None,
    as_json: bool,
) -> None:
    macros = {way: [float(np.mean(values)) for values in rows] for way, rows in tables.items()}
    if as_json:
        print(
            json.dumps(
                {
                    "name": title,
                    "macro": {way: float(np.mean(values)) for way, values in macros.items()},
                    "spread": {way: float(np.std(values)) for way, values in macros.items()},
                    "by_category": {
                        way: dict(zip(documents.categories, np.mean(rows, axis=0).tolist(), strict=True))
                        for way, rows in tables.items()
                    },
                    "published": published,
                    "cpu_s": float(np.median(seconds)),
                }
            )
        )
        return
    print(f"{title}: {len(seconds)} samples, median {np.median(seconds):.1f} CPU s, published {published}")
    for way, rows in tables.items():
        by_category = " ".join(f"{value:5.1f}" for value in np.mean(rows, axis=0))
        print(f"  {way:23s} {np.mean(macros[way]):5.1f} +- {np.std(macros[way]):4.1f}   {by_category}")
    print(
        f"  {'':23s}                 {' '.join(f'{name[:5]:>5s}' for name in documents.categories)}",
        flush=True,
    )


def beside_svmlight(path: Path, as_json: bool) -> None:
    documents = pool("reuters")
    row_of = {int(number): row for row, number in enumerate(documents.ids[: documents.n_train])}
    for place, reference in enumerate(json.loads(path.read_text())):
        task = sample(documents, [row_of[number] for number in reference["newids"]])
        result, cpu = outcomes(task)
        theirs = [reference["topics"][topic] for topic in documents.categories]
        result["SVM-light, inductive"] = np.array([topic["svm"] for topic in theirs])
        result["SVM-light, transductive"] = np.array([topic["tsvm"] for topic in theirs])
        print_table(
            f"sample {place} of SVM-light (its {sum(topic['seconds'] for topic in theirs):.0f} CPU s)",
            {way: [values] for way, values in result.items()},
            documents,
            [cpu],
            None,
            as_json,
        )


def switching(samples: int, first_seed: int, k: int, repeats: int, as_json: bool) -> int:
    """Multi-switch against single-switch: ten topics of some samples, and one topic among more documents."""
    documents = pool("reuters")
    drawn = [sample(documents, draw(documents, 17, first_seed + number)) for number in range(samples)]
    large = resampled(documents, draw(documents, 17, first_seed), k)
    acq = documents.categories.index("acq")  # and not-acq: an indicator of one column would be a vector
    large = replace(large, member=np.column_stack([large.member[:, acq], ~large.member[:, acq]]))

    def solved(tasks: list[Sample], **how: object) -> list[TransductiveSVM]:
        # Without the alarm.
        return [fitted(task, alarm_level=0, **how)[0] for task in tasks]

    def rows() -> Iterator[Row]:
        compared = ((f"ten topics, {samples} samples", drawn), (f"acq, {k} unlabeled", [large]))
        for (title, tasks), cost in itertools.product(compared, (None, C)):
            many, single = in_turns(
                partial(solved, tasks, C_unlabeled=cost),
                partial(solved, tasks, C_unlabeled=cost, switching="single"),
                repeats=repeats,
                warm=False,
                clock=time.process_time,
            )
            here, there = (np.array([model.objective_ for model in run.result]) for run in (many, single))
            yield Row(
                title if cost is None else f"{title}, C* = C",
                "single switches",
                many.seconds,
                single.seconds,
                [Check("objective above theirs", float(here.sum() / there.sum() - 1), ALLOWED_EXCESS)],
                {
                    "objective": float(here.sum() / len(tasks)),
                    "theirs": float(there.sum() / len(tasks)),
                    "lower_higher": f"{(here < 0.999 * there).sum()}/{(here > 1.001 * there).sum()}",
                    "solutions": _solutions(many.result),
                    "their_solutions": _solutions(single.result),
                },
            )

    return report(rows(), as_json)


def _solutions(models: Iterable[TransductiveSVM]) -> int:
    return sum(level.solutions for model in models for column in model.levels_ for level in column)


def growth(sizes: list[int], as_json: bool) -> None:
    """One topic, more and more unlabeled documents; the exponent between neighbors."""
    documents = pool("reuters")
    column = documents.categories.index("crude")
    last = None
    for k in sizes:
        task = resampled(documents, draw(documents, 17, 0), k)
        start, wall = time.process_time(), time.perf_counter()
        model = TransductiveSVM(C, positives=task.positives[column], on_alarm="ignore").fit(
            task.X, task.marked[:, column]
        )
        cpu, wall = time.process_time() - start, time.perf_counter() - wall
        exponent = None if last is None else float(np.log(cpu / last[1]) / np.log(k / last[0]))
        last = (k, cpu)
        found = float(100 * prbep(task.truth[:, column], model.scores_[task.n_labeled :, 0]))
        row = {
            "name": f"crude, {k} unlabeled",
            "cpu_s": cpu,
            "wall_s": wall,
            "exponent": exponent,
            "prbep": found,
            "gap": float(model.duality_gap_[0] / model.objective_[0]),
        }
        print(json.dumps(row) if as_json else row, flush=True)


def main() -> int:
    parser = arguments(__doc__, repeats=1)
    parser.add_argument("collections", nargs="*", help=f"some of {', '.join(PUBLISHED)}")
    parser.add_argument("--samples", type=int, default=20, metavar="N", help="samples of labeled documents")
    parser.add_argument("--first-seed", type=int, default=0, metavar="N", help="seed of the first sample")
    parser.add_argument(
        "--svmlight", type=Path, metavar="FILE", help="beside SVM-light's answers, per sample"
    )
    parser.add_argument(
        "--switching", action="store_true", help="many switches a solution against single ones"
    )
    parser.add_argument(
        "--growth", action="store_true", help="time against the number of unlabeled documents"
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[12_500, 25_000, 50_000, 100_000], metavar="N"
    )
    options = parser.parse_args()
    unknown = set(options.collections) - set(PUBLISHED)
    if unknown:
        parser.error(f"no collection {', '.join(sorted(unknown))}; choose from {', '.join(PUBLISHED)}")
    warnings.simplefilter("ignore", DataWarning)
    everything = not (options.collections or options.svmlight or options.switching or options.growth)
    failed = 0
    for name in options.collections or (["reuters"] if everything else []):
        failed |= quality(name, options.samples, options.first_seed, options.json)
    if options.svmlight:
        beside_svmlight(options.svmlight, options.json)
    if options.switching or everything:
        failed |= switching(
            options.samples, options.first_seed, options.sizes[1], options.repeats, options.json
        )
    if options.growth:
        growth(options.sizes, options.json)
    return failed


if __name__ == "__main__":
    sys.exit(main())
