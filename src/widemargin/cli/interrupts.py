"""Ctrl-C at any moment, also while libraries are imported: one clean end, never a traceback.

Python raises KeyboardInterrupt wherever it happens to be. Inside a callback or a library's catch-all the
exception is lost, and the work goes on; so it is raised again every fraction of a second until it arrives.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self

INTERRUPTED = 130
_AGAIN = 0.2  # seconds


class Interrupts:
    """Takes care of SIGINT inside a ``with`` block; `asked` says that it came.

    `until_exit`: afterwards SIGINT is ignored, so that it does not disturb the interpreter on its way out.
    """

    def __init__(self, until_exit: bool) -> None:
        self.asked = False
        self._until_exit = until_exit
        self._previous: dict[int, Any] = {}
        self._hooks: tuple[Any, Any] = (sys.unraisablehook, sys.excepthook)

    def __enter__(self) -> Self:
        # A shell starts jobs in the background with SIGINT ignored, and means it.
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            try:
                self._previous[signal.SIGINT] = signal.signal(signal.SIGINT, self._ask)
                if hasattr(signal, "setitimer"):
                    self._previous[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._ask_again)
            except ValueError:  # not in the main thread
                return self
        unraisable, excepthook = self._hooks

        def quiet_unraisable(found: Any) -> None:
            if not isinstance(found.exc_value, KeyboardInterrupt):
                unraisable(found)

        def quiet_excepthook(
            kind: type[BaseException], error: BaseException, trace: TracebackType | None
        ) -> None:
            # Extension modules print what interrupts their initialization, and fail in other words.
            if not issubclass(kind, KeyboardInterrupt):
                excepthook(kind, error, trace)

        sys.unraisablehook, sys.excepthook = quiet_unraisable, quiet_excepthook
        return self

    def __exit__(self, *error: object) -> None:
        if self._until_exit and self._previous:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        if self._previous and hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._previous.items():
            if not (self._until_exit and number == signal.SIGINT):
                signal.signal(number, handler)
        if not self._until_exit:
            sys.unraisablehook, sys.excepthook = self._hooks
        if self.asked:
            # An interrupt inside `exec` of a string (a dataclass being defined, say) marks the interpreter.
            # `python -m` then ends by the signal, not with the exit code. Any `exec` clears the mark.
            exec("")

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN, _AGAIN)
            if _loading_core(frame):
                return
        raise KeyboardInterrupt

    def _ask_again(self, number: int, frame: FrameType | None) -> None:
        """Raise once more, unless the first is on its way and something is being tidied up for it."""
        error = sys.exception()
        while error is not None:
            if isinstance(error, KeyboardInterrupt):
                return
            error = error.__context__
        if not _loading_core(frame):
            raise KeyboardInterrupt


def _loading_core(frame: FrameType | None) -> bool:
    """Whether the compiled core is being initialized, which would abort the process if interrupted."""
    while frame is not None:
        if frame.f_code.co_name in ("create_module", "exec_module"):
            loader = frame.f_locals.get("self")
            if getattr(loader, "name", None) == "widemargin._core":
                return True
        frame = frame.f_back
    return False
