"""``widemargin train --stream``: a model that learns from a pipe, saved as it goes."""

from __future__ import annotations

import contextlib
import gc
import signal
import time
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from widemargin.cli.files import remember_reading
from widemargin.cli.output import bytes_in_words, counted, note, print_json, say
from widemargin.cli.watching.next_steps import next_step, quoted
from widemargin.errors import DataError, UsageError

if TYPE_CHECKING:
    from widemargin.classifier import TextClassifier
    from widemargin.cli.commands import Given
    from widemargin.diagnose.drift_alarm import DriftAlarm
    from widemargin.documents.batches import Batch
    from widemargin.documents.reader import DocumentReader

LEARNER = "arow"
HASHED = 2**18
SECONDS_BETWEEN_SAVES = 60.0
_BAD_SHOWN = 5


def check(given: Given, vectorizing: dict[str, Any]) -> None:
    """Refuse what needs a whole collection."""
    whole = [
        name.replace("_", "-")
        for name in ("tune", "estimate", "thresholds", "costs", "features", "label_path", "time", "vectors")
        if getattr(given, name) is not None
    ]
    pruning = {"min_df": 1, "max_df": 1.0, "min_count": 1, "max_features": None, "phrases": None}
    whole += [name.replace("_", "-") for name, every in pruning.items() if vectorizing[name] != every]
    if whole:
        raise UsageError(f"--{whole[0]} needs all documents at once. Omit it, or omit --stream.")


def run(given: Given, reading: dict[str, Any], learning: dict[str, Any], vectorizing: dict[str, Any]) -> None:
    """Read, predict, learn, save, until the stream ends or is stopped."""
    from widemargin.documents.batches import whole_first
    from widemargin.documents.reading import read_stream
    from widemargin.documents.sources.read_ahead import read_ahead

    if len(given.data) > 1 or given.sql is not None:
        raise UsageError(
            "--stream reads one file or standard input. Name one, or pipe several: cat a b | ..."
        )
    reader = read_stream(given.data[0], **reading)
    note(reader.description, given.quiet)
    run = Run(_classifier(given, learning, vectorizing), given, reader)
    with contextlib.closing(reader), _few_collections(), _Stop() as stop:
        try:
            arrived = stop.while_waiting(read_ahead(reader.batches()))
            for batch in whole_first(arrived, run.classifier.documents_to_begin):
                run.learn(batch)
                if stop.asked:
                    break
        except DataError:
            run.save()  # what came before the line stays learned
            raise
        run.finish(reader.name)
    stop.leave()


class Run:
    """A classifier on its way, with what has happened to it so far."""

    def __init__(self, classifier: TextClassifier, given: Given, reader: DocumentReader) -> None:
        self.classifier = classifier
        self.reader = reader
        self.given = given
        self.unlabeled = self.bad = 0
        self.size = 0
        self.began = self.saved_at = time.monotonic()
        self.seen = self.before = self._count("documents_seen_")
        self.wrong_before = self._count("documents_wrong_")
        self.saved = self.seen
        self.next_note = 1000
        self.alarm = _drift_alarm(given)

    def learn(self, batch: Batch) -> None:
        """Predict and learn a batch, in pieces that end where the model is to be saved."""
        for error in batch.bad:
            self.bad += 1
            if self.bad <= _BAD_SHOWN:
                note(f"skipped: {error}", self.given.quiet)
        batch, odd = self._labeled(batch)
        start = 0
        while start < len(batch):
            end = len(batch)
            if self.given.save_every is not None:
                end = min(end, start + self.given.save_every - (self.seen - self.saved))
            self._learn(batch.texts[start:end], batch.labels[start:end])
            start = end
            if self._save_is_due():
                self.save()
                self.tell()
        if odd is not None:
            raise odd
        if self.seen - self.before >= self.next_note:
            self.tell()

    def _labeled(self, batch: Batch) -> tuple[Batch, DataError | None]:
        """The documents that have labels, one each unless any number is welcome; what the first other has."""
        from widemargin.labels import labeled_rows

        kept = labeled_rows(batch.labels)
        self.unlabeled += len(batch) - len(kept)
        if len(kept) < len(batch):
            batch = batch.subset(kept)
        if not self.given.multilabel:
            for place, known in enumerate(batch.labels):
                if len(known or ()) != 1:
                    return batch.part(0, place), DataError(
                        f"line {batch.lines[place]}: {counted(len(known or ()), 'label')}, but every "
                        f"earlier document has one. Pass --multilabel if a document may have any number."
                    )
        return batch, None

    def _learn(self, texts: list[str], labels: list[Any]) -> None:
        classes = {label for known in labels for label in known}
        known = set(getattr(self.classifier, "classes_", ())) if self.seen else set()
        if len(known | classes) > self.given.max_labels:
            new = sorted(classes - known)[0]
            raise DataError(
                f"{new!r} would be more than {self.given.max_labels:,} distinct labels. If it is not a "
                f"label, name the field with --label; otherwise raise --max-labels."
            )
        y = labels if self.given.multilabel else [known[0] for known in labels]
        self.classifier.partial_fit(texts, y)
        self.seen += len(texts)
        if self.alarm is not None:
            for check in self.alarm.add(self.classifier.vectorizer_.transform(texts), labels):
                if check.fired:
                    note(check.sentence, self.given.quiet)

    def _save_is_due(self) -> bool:
        if self.given.save_every is not None:
            return bool(self.seen - self.saved >= self.given.save_every)
        return time.monotonic() - self.saved_at >= SECONDS_BETWEEN_SAVES

    def save(self) -> None:
        """Write the model, if there is anything new in it."""
        if self.seen > self.saved or not self.size:
            if self.seen:
                remember_reading(self.classifier, self.reader)
                self.size = self.classifier.save(self.given.output, force=self.given.force)
            self.saved = self.seen
        self.saved_at = time.monotonic()

    def tell(self) -> None:
        """How often the model was wrong about documents that it had not learned yet."""
        documents = self.seen - self.before
        self.next_note = 2 * max(documents, 1000)
        rate = documents / max(time.monotonic() - self.began, 1e-9)
        note(
            f"{counted(documents, 'document')}, {counted(len(self.classifier.classes_), 'label')}, "
            f"{100 * self.share_wrong:.2f} % wrong, {rate:,.0f} per second",
            self.given.quiet,
        )

    @property
    def share_wrong(self) -> float:
        wrong = self._count("documents_wrong_") - self.wrong_before
        return wrong / max(self.seen - self.before, 1)

    def finish(self, name: str) -> None:
        if not self.seen:
            raise DataError(
                f"{name}: found no labeled document ({counted(self.bad, 'bad line')}, "
                f"{counted(self.unlabeled, 'unlabeled document')}). Name the fields with --text and --label."
            )
        self.save()
        summary = {
            "model": str(self.given.output),
            "bytes": self.size,
            **self.classifier.training_summary_,
            "learned": self.seen - self.before,
            "wrong": self._count("documents_wrong_") - self.wrong_before,
            "share_wrong": self.share_wrong,
            "unlabeled": self.unlabeled,
            "skipped": self.bad,
            "seconds": {"stream": round(time.monotonic() - self.began, 4)},
        }
        if self.alarm is not None:
            found = [check.to_dict() for check in self.alarm.alarms]
            summary["drift"] = {"window": self.given.drift_alarm, "alarms": found}
        if self.given.json:
            print_json(summary)
        elif not self.given.quiet:
            self.tell()
            left = [
                (self.bad, "line skipped", "lines skipped"),
                (self.unlabeled, "unlabeled document", "unlabeled documents"),
            ]
            odd = ", ".join(f"{n:,} {one if n == 1 else many}" for n, one, many in left if n)
            say(
                f"Learned {counted(self.seen - self.before, 'document')}"
                f"{f' ({odd})' if odd else ''}, {100 * self.share_wrong:.2f} % of them predicted wrongly "
                f"before learning from them."
            )
            if self.alarm is not None:
                changes = [check.sentence for check in self.alarm.alarms]
                say(*(changes or ["The drift alarm found no change."]))
            say(f"Wrote {self.given.output} ({bytes_in_words(self.size)}).")
            model = quoted(self.given.output)
            next_step(self.given, f"widemargin predict {model} NEW, or train --stream --resume with more")
        else:
            learned = counted(self.seen - self.before, "document")
            say(
                f"{self.given.output}: {100 * self.share_wrong:.1f} % of {learned} predicted wrongly before "
                f"learning from them"
            )

    def _count(self, name: str) -> int:
        return int(getattr(getattr(self.classifier, "learner_", None), name, 0))


def _drift_alarm(given: Given) -> DriftAlarm | None:
    if given.drift_alarm is None:
        return None
    from widemargin.diagnose.drift_alarm import DriftAlarm

    return DriftAlarm(given.drift_alarm, n_jobs=given.threads)


@contextlib.contextmanager
def _few_collections() -> Iterator[None]:
    """Collect garbage less often: records hold no reference cycles, and collecting took a tenth of the
    time."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


class _Stop:
    """Ctrl-C and SIGTERM: at once while waiting for documents, otherwise when the batch has been learned."""

    def __init__(self) -> None:
        self.asked: int | None = None
        self._waiting = False
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> _Stop:
        with contextlib.suppress(ValueError):  # not in the main thread
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        again, self.asked = self.asked is not None, number
        if self._waiting or again:
            raise _Stopped

    def while_waiting(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """The batches, until the run is stopped while it waits for the next."""
        while True:
            self._waiting = True
            try:
                batch = next(batches, None)
            except _Stopped:
                return
            finally:
                self._waiting = False
            if batch is None:
                return
            yield batch

    def leave(self) -> None:
        """End as the signal asked, once all is saved."""
        if self.asked == signal.SIGINT:
            raise KeyboardInterrupt
        if self.asked == signal.SIGTERM:
            raise SystemExit(128 + signal.SIGTERM)


class _Stopped(BaseException):
    """The stream was stopped."""


def _check_columns(given: Given, known: tuple[str, ...] | None) -> None:
    """Refuse texts of other columns than those that a model was trained on."""
    if len(given.text or [""]) != len(known or [""]):
        words = "one column" if known is None else f"the columns {', '.join(known)}"
        cure = "--text COL" if known is None else " ".join(f"--text {name}" for name in known)
        raise UsageError(f"--resume: texts of {given.output} have {words}. Pass {cure}.")


def _classifier(given: Given, learning: dict[str, Any], vectorizing: dict[str, Any]) -> TextClassifier:
    """A new classifier, or the one to go on with."""
    from widemargin.classifier import TextClassifier
    from widemargin.classifier.model_parts import learner_name
    from widemargin.cli.options.chosen_learner import make_learner
    from widemargin.weight.vectorizer import Vectorizer

    output, learner = given.output, given.learner
    if given.resume and output.exists():
        classifier = TextClassifier.load(output)
        found = learner_name(classifier.learner_)
        if found != learner and "learner" in given.typed:
            raise UsageError(
                f"--resume: {output} contains a {found}, not a {learner}. Pass --learner {found}, or "
                f"omit --resume to start over."
            )
        several = classifier.label_space_.kind == "multilabel"
        if several != given.multilabel:
            word, cure = ("any number of labels", "Pass") if several else ("one label", "Omit")
            raise UsageError(f"--resume: documents of {output} have {word}. {cure} --multilabel.")
        _check_columns(given, getattr(classifier.vectorizer_, "fields_", None))
        note(
            f"Continuing with {output}, after "
            f"{counted(classifier.training_summary_['documents'], 'document')} "
            f"and with its own settings.",
            given.quiet,
        )
        for part in (classifier.learner_, classifier.vectorizer_):
            part.set_params(n_jobs=learning["n_jobs"])
        return classifier
    vectorizing = {**vectorizing, "n_hashed": vectorizing["n_hashed"] or HASHED}
    return TextClassifier(Vectorizer(**vectorizing), make_learner(learner, {**learning, "verbose": False}))
