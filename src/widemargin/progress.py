"""Progress bars from a counter: with a rate and the time left, on stderr of a terminal, or in a notebook.

The compiled core reports progress by adding to an integer in an array, never by calling Python;
:func:`watch` looks at that integer a few times a second. :func:`watch_values` shows a line of words about
a small array, for work whose end is not known. :func:`track` counts the items of a Python loop.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import TYPE_CHECKING, Any, Self, TypeVar

from widemargin._printable import printable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.progress import Progress, ProgressColumn, Task
    from rich.text import Text

T = TypeVar("T")
_INTERVAL = 0.1  # seconds between two looks at a counter
_BATCH = 64  # items of a Python loop between two updates


def on_terminal() -> bool:
    """Whether stderr is a terminal."""
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # closed
        return False


def in_notebook() -> bool:
    """Whether this is a kernel of Jupyter, whose output is a page."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def is_watched() -> bool:
    """Whether somebody may see a progress bar."""
    return on_terminal() or in_notebook()


@contextlib.contextmanager
def watch(
    counter: NDArray[np.int64],
    description: str,
    *,
    total: int | None = None,
    unit: str = "documents",
    enabled: bool | None = None,
) -> Iterator[None]:
    """Show `counter[0]` growing towards `total` while the block runs.

    Parameters
    ----------
    counter : int64 array of one element
        What the block's native code adds to. Reading it takes no lock: a bar may be a moment late.
    description : str
    total : int, optional
        Without it the bar shows the count and the rate only.
    unit : str
    enabled : bool, optional
        None shows a bar when stderr is a terminal, and in a notebook.

    Examples
    --------
    >>> import numpy as np
    >>> counter = np.zeros(1, dtype=np.int64)
    >>> with watch(counter, "Training", total=10, enabled=False):
    ...     counter[0] = 10
    """
    if not (is_watched() if enabled is None else enabled):
        yield
        return
    words = printable(description)
    with (
        _bar(unit) as bar,
        _refreshed(bar, total, lambda: {"description": words, "completed": int(counter[0])}),
    ):
        yield


@contextlib.contextmanager
def watch_values(
    values: NDArray[np.float64],
    describe: Callable[[NDArray[np.float64]], str],
    *,
    enabled: bool | None = None,
) -> Iterator[None]:
    """Show one line, `describe` of what `values` holds at the moment, while the block runs.

    Parameters
    ----------
    values : float64 array
        What the block's native code writes to. Reading it takes no lock: of two values that belong
        together one may be a moment older.
    describe : function of a copy of `values` that says in one line how far the work is
    enabled : bool, optional
        None shows the line when stderr is a terminal, and in a notebook.

    Examples
    --------
    >>> import numpy as np
    >>> state = np.array([1.0, 400.0])
    >>> with watch_values(state, lambda v: f"violation {v[0]:.3g}, {v[1]:.0f} active", enabled=False):
    ...     state[:] = 0.001, 20
    """
    if not (is_watched() if enabled is None else enabled):
        yield
        return

    def described() -> dict[str, Any]:
        return {"description": printable(describe(values.copy()))}

    with _line() as line, _refreshed(line, None, described):
        yield


@contextlib.contextmanager
def _refreshed(
    shown: Progress | _NotebookBar, total: int | None, now: Callable[[], dict[str, Any]]
) -> Iterator[None]:
    """Update what is shown a few times a second, and once more at the end of the block."""
    task = shown.add_task(total=total, **now())
    done = threading.Event()

    def look() -> None:
        while not done.wait(_INTERVAL):
            shown.update(task, **now())

    watcher = threading.Thread(target=look, name="widemargin-progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        shown.update(task, **now())


def track(
    items: Iterable[T],
    description: str,
    *,
    total: int | None = None,
    unit: str = "documents",
    size: Callable[[T], int] = lambda item: 1,
    enabled: bool | None = None,
) -> Iterator[T]:
    """The items of `items`, with a bar that counts them; `size` says how many each stands for.

    Examples
    --------
    >>> list(track("abc", "Reading", enabled=False))
    ['a', 'b', 'c']
    """
    if not (is_watched() if enabled is None else enabled):
        yield from items
        return
    if total is None and isinstance(items, Sized):
        total = len(items)
    seen = shown = 0
    with _bar(unit) as bar:
        task = bar.add_task(printable(description), total=total)
        for item in items:
            yield item
            seen += size(item)
            if seen - shown >= _BATCH:
                bar.update(task, completed=seen)
                shown = seen
        bar.update(task, completed=seen, total=seen)


class _NotebookBar:
    """What is used of rich's `Progress`, as one output of a notebook that changes in place.

    Its last state stays, as words without times, so that running a notebook again gives the same output.
    """

    def __init__(self, unit: str = "") -> None:
        self.unit = unit
        self.state: dict[str, Any] = {"description": "", "completed": 0, "total": None}
        self.shown: Any = None

    def __enter__(self) -> Self:
        from IPython import display

        show: Any = display.display
        self.shown = show(self._words("..."), raw=True, display_id=True)
        return self

    def __exit__(self, *error: object) -> None:
        self.shown.update(self._words(""), raw=True)

    def add_task(self, description: str = "", total: int | None = None, completed: int = 0) -> Any:
        return self.update(0, description=description, total=total, completed=completed)

    def update(self, task: Any, **state: Any) -> Any:
        self.state |= state
        self.shown.update(self._words("..."), raw=True)
        return task

    def _words(self, end: str) -> dict[str, str]:
        done, total = self.state["completed"], self.state["total"]
        of = f"/{total:,}" if total else ""
        counted = f": {done:,}{of} {self.unit}" if self.unit else ""
        return {"text/plain": f"{self.state['description']}{counted}{end}"}


def _bar(unit: str) -> Progress | _NotebookBar:
    if in_notebook():
        return _NotebookBar(unit)
    from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn

    return _progress(BarColumn(), MofNCompleteColumn(), _rate_column(unit), TimeRemainingColumn())


def _line() -> Progress | _NotebookBar:
    if in_notebook():
        return _NotebookBar()
    from rich.progress import SpinnerColumn, TimeElapsedColumn

    return _progress(TimeElapsedColumn(), before=[SpinnerColumn()])


def _progress(*after: ProgressColumn, before: Sequence[ProgressColumn] = ()) -> Progress:
    """Columns around the description, on stderr."""
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    # Not markup: a name or a label may hold brackets.
    description = TextColumn("{task.description}", markup=False)
    # What is shown goes away when its work is done; what remains on the screen is the result.
    return Progress(*before, description, *after, console=Console(stderr=True), transient=True)


def _rate_column(unit: str) -> ProgressColumn:
    from rich.progress import ProgressColumn
    from rich.text import Text

    class RateColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(rate(task.speed, unit), style="progress.data.speed")

    return RateColumn()


def rate(speed: float | None, unit: str) -> str:
    """A rate in words.

    Examples
    --------
    >>> rate(12345.6, "documents"), rate(0.25, "labels"), rate(None, "labels")
    ('12,346 documents/s', '0.25 labels/s', '')
    """
    if speed is None:
        return ""
    return f"{speed:,.0f} {unit}/s" if speed >= 10 else f"{speed:.2g} {unit}/s"
