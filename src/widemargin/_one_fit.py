"""Only one thread at a time may fit an estimator; another one gets an error.

Learners update their state in place, so two simultaneous fits of one object would mix their results. The
registry is kept outside the estimators, so that it is not copied, pickled or compared with them.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from widemargin.errors import UsageError

Method = TypeVar("Method", bound=Callable[..., Any])

_lock = threading.Lock()
_fitting: dict[
    int, tuple[int, int]
] = {}  # by id of the estimator: the thread, and its number of nested calls


def one_fit_at_a_time(method: Method) -> Method:
    """Make `method` reject an estimator that another thread is fitting.

    Examples
    --------
    >>> class Learner:
    ...     @one_fit_at_a_time
    ...     def fit(self):
    ...         return self
    >>> Learner().fit() is not None
    True
    """

    @functools.wraps(method)
    def alone(self: Any, *args: Any, **kwargs: Any) -> Any:
        thread, key = threading.get_ident(), id(self)
        with _lock:
            owner, depth = _fitting.get(key, (thread, 0))
            if owner != thread:
                raise _busy(self)
            _fitting[key] = owner, depth + 1
        try:
            return method(self, *args, **kwargs)
        finally:
            with _lock:
                if depth:
                    _fitting[key] = owner, depth
                else:
                    del _fitting[key]

    return alone  # type: ignore[return-value]


def require_not_fitting(estimator: Any) -> None:
    """Reject reading an estimator that another thread is fitting: its state is half old, half new."""
    owner, _ = _fitting.get(id(estimator), (threading.get_ident(), 0))
    if owner != threading.get_ident():
        raise _busy(estimator)


def _busy(estimator: Any) -> UsageError:
    return UsageError(
        f"Another thread is fitting this {type(estimator).__name__}. Fit a copy in each thread: "
        f"sklearn.base.clone makes one."
    )
