"""``predict --abstain`` and ``--monitor``: what is seen of documents beside their scores."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

from widemargin.cli.output import counted
from widemargin.errors import DataWarning, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from widemargin.classifier import Scorer
    from widemargin.cli.commands import Given
    from widemargin.decide.abstain.rejection import Rejection
    from widemargin.monitor.drift_monitor import DriftMonitor

_CURE = "Train with an estimate (--estimate auto, leave-one-out or k-fold)."


class Watch:
    """Scores documents, leaves some undecided and counts what drifts, as options ask for."""

    def __init__(self, scorer: Scorer, given: Given) -> None:
        self.rejection: Rejection | None = None
        self.monitor: DriftMonitor | None = None
        self.file: Path | None = given.monitor
        self.undecided: Counter[str] = Counter()
        self._scorer, self._model = scorer, given.model
        self._alarms = 0
        for name, asked in (("--abstain", given.abstain), ("--monitor", given.monitor)):
            other = "--thresholds" if given.thresholds else "--costs" if given.costs is not None else None
            if asked is not None and other is not None:
                raise UsageError(
                    f"{name} goes by how the model decided documents that were left out of training. Omit "
                    f"{other}."
                )
        if given.abstain is not None:
            self.rejection = scorer.rejection(given.abstain, f"--abstain: {given.model}")
        if given.monitor is not None:
            self.monitor = monitor_of(scorer, given.model, given.monitor, new=True)

    def scores(self, features: Any) -> tuple[NDArray[Any], list[str | None] | None]:
        """The scores of some documents, and why each is left undecided; None where all are decided."""
        if self.rejection is None and self.monitor is None:
            return self._scorer.scores(features), None
        scores, seen = self._scorer.observe(features)
        if self.monitor is not None:
            self._alarms += len(self.monitor.update(seen))
        if self.rejection is None:
            return scores, None
        why = self._scorer.rejected(self.rejection, features, scores, seen).tolist()
        self.undecided.update(reason for reason in why if reason)
        return scores, why

    def finish(self) -> None:
        """Write the state of the monitor, and tell its alarms."""
        if self.monitor is None or self.file is None:
            return
        from widemargin.models import model_digest
        from widemargin.monitor.state_file import write_monitor

        write_monitor(self.file, self.monitor, model_digest(self._model))
        if self._alarms:
            first = self.monitor.alarms[-min(self._alarms, len(self.monitor.alarms))]
            more = f" There are {self._alarms:,} alarms." if self._alarms > 1 else ""
            warnings.warn(
                f"the documents differ from those of training. {first.sentence}{more} See widemargin inspect "
                f"{self._model} --drift {self.file}.",
                DataWarning,
                stacklevel=2,
            )

    def in_words(self, documents: int) -> str:
        """How many documents were left undecided, and why."""
        total = sum(self.undecided.values())
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in self.undecided.most_common())
        share = f" ({100 * total / documents:.1f} %)" if documents else ""
        return f"Left {counted(total, 'document')}{share} undecided{': ' + reasons if reasons else ''}."

    def to_dict(self) -> dict[str, Any]:
        """What a summary says of it."""
        found: dict[str, Any] = {}
        if self.rejection is not None:
            found["abstained"] = dict(self.undecided)
            found["abstain"] = self.rejection.to_dict()
        if self.monitor is not None:
            found["monitor"] = str(self.file)
            found["alarms"] = self._alarms
        return found


def abstaining(row: dict[str, Any], why: str | None) -> dict[str, Any]:
    """A row of the output with the reason why it has no labels; those that have some get None.

    Examples
    --------
    >>> abstaining({"labels": ["spam"]}, "low confidence")
    {'labels': None, 'abstained': 'low confidence'}
    """
    return {**row, "labels": row["labels"] if why is None else None, "abstained": why}


def monitor_of(scorer: Scorer, model: Path, file: Path, *, new: bool = False) -> DriftMonitor:
    """The drift monitor in `file`, of a model that has a profile; or a new one."""
    from widemargin.models import model_digest
    from widemargin.monitor.state_file import read_monitor

    profile = scorer.record.profile
    if profile is None or not profile.reference.groups:
        raise UsageError(
            f"{model} has no profile of documents that were left out of training, with which new ones could "
            f"be compared. {_CURE}"
        )
    names = scorer.space.column_names.tolist()
    return read_monitor(file, profile.reference, model_digest(model), names, new=new)
