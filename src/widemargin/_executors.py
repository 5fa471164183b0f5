"""Calls that may run elsewhere: by an executor such as those of `concurrent.futures`, or here in turn."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Executor(Protocol):
    """What is used of `concurrent.futures.Executor`.

    One that sends values to other machines may have `keep`, which returns what stands for a value in the
    arguments of many calls.
    """

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any:
        """The future of a call."""


def kept(executor: Executor | None, value: T) -> T:
    """What stands for a value in the arguments of many calls: the value itself, unless it is sent once."""
    keep = getattr(executor, "keep", None)
    return value if keep is None else keep(value)


def called(
    executor: Executor | None, function: Callable[..., T], arguments: Iterable[tuple[Any, ...]]
) -> Iterator[T]:
    """The results of ``function(*each)``, in their order: begun at once by an executor, otherwise one by one
    as they are asked for.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as executor:
    ...     list(called(executor, pow, [(2, 3), (3, 2)])), list(called(None, pow, [(2, 3), (3, 2)]))
    ([8, 9], [8, 9])
    """
    if executor is None:
        return itertools.starmap(function, arguments)
    futures = [executor.submit(function, *each) for each in arguments]
    return (future.result() for future in futures)
