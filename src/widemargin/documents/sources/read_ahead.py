"""Read in the background: a thread collects documents until they are taken."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator

from widemargin.documents.batches import BATCH, Batch


def read_ahead(batches: Iterable[Batch], most: int = 4 * BATCH) -> Iterator[Batch]:
    """The documents of `batches`; each time all that have arrived since the last time, at least one.

    Parameters
    ----------
    batches : read in a separate thread, which ends with the process even if the writer does not
    most : largest number of collected documents; then the thread waits until some are taken
    """
    gathered = _Gathered(most)
    threading.Thread(target=gathered.gather, args=(batches,), name="read_ahead", daemon=True).start()
    try:
        while batch := gathered.take():
            yield batch
    finally:
        gathered.stop()


class _Gathered:
    """The documents that one thread has read and the other has not taken yet."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._changed = threading.Condition()
        self._waiting = Batch()
        self._ended = False
        self._error: BaseException | None = None

    def gather(self, batches: Iterable[Batch]) -> None:
        """Read to the end, no faster than the batches are taken."""
        try:
            for batch in batches:
                with self._changed:
                    self._changed.wait_for(lambda: len(self._waiting) < self._most or self._ended)
                    if self._ended:
                        return
                    self._waiting.add(batch)
                    self._changed.notify()
        except BaseException as error:
            self._error = error
        finally:
            self.stop()

    def take(self) -> Batch:
        """Wait for documents and return all that have arrived; an empty batch at the end."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._waiting) or self._ended)
            batch, self._waiting = self._waiting, Batch()
            self._changed.notify()
        if not batch and self._error is not None:
            raise self._error
        return batch

    def stop(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify()
