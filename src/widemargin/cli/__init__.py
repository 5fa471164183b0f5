"""The command line: ``widemargin VERB``, one file per verb.

Verbs import what they work with when they run, so that ``widemargin --help`` answers at once. This module
imports next to nothing, so that Ctrl-C ends a run cleanly from its first moments on.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Sequence

from widemargin.cli.interrupts import INTERRUPTED, Interrupts

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code: 0, 2, 65, 66, 74, 130, or 1 for a mistake of our own.

    Without `arguments`, those of the process are used, and the process is expected to end afterwards.
    """
    try:
        with Interrupts(until_exit=arguments is None) as interrupts:
            try:
                require_address_space()
                from widemargin.cli.app import run
            except (ImportError, MemoryError, OSError) as error:
                if interrupts.asked:
                    raise KeyboardInterrupt from None
                from widemargin._printable import printable

                print(f"error: {printable(failed_import(error))}", file=sys.stderr)
                return 74
            return run(arguments, interrupts)
    except KeyboardInterrupt:
        if sys.stderr is not None:
            print("interrupted", file=sys.stderr)
        return INTERRUPTED


# What NumPy, SciPy and scikit-learn map when they are imported, with one thread of OpenBLAS each.
_ADDRESS_SPACE = 520 << 20


def require_address_space() -> None:
    """Raise MemoryError where a limit on the address space is too low to import the libraries.

    OpenBLAS, which NumPy and SciPy both load, retries forever when it gets no buffer, and no signal ends it.
    Under a limit it gets one thread, since every thread takes a buffer.
    """
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        mmap.mmap(-1, _ADDRESS_SPACE).close()
    except OSError:
        needed = f"{_ADDRESS_SPACE >> 20} MB of address space"
        raise MemoryError(f"{needed} are not available") from None


def failed_import(error: BaseException) -> str:
    """What to do when a part of the program cannot be loaded."""
    reason = " ".join(str(error).split()) or type(error).__name__
    starved = isinstance(error, MemoryError) or any(
        words in reason.lower() for words in ("failed to map segment", "cannot allocate", "out of memory")
    )
    if starved:
        return (
            f"there is not enough memory to load the program and its libraries ({reason}). Raise the limit "
            f"on memory (ulimit -v, or that of the container); about 1 GB is enough to start."
        )
    return (
        f"a part of the program cannot be loaded ({reason}). If memory is limited, raise the limit; "
        f"otherwise install again: pip install --force-reinstall widemargin."
    )
