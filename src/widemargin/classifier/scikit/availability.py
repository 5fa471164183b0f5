"""Methods that only some classifiers have, with an error that says why."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any, cast

from widemargin.errors import UsageError


class NotAvailableError(UsageError, AttributeError):
    """A method that this classifier does not have."""


class available_unless:  # noqa: N801  # a decorator
    """A decorator: the method is missing where `why_not` gives a reason, which the AttributeError then tells.

    scikit-learn's ``available_if`` hides the reason.

    Examples
    --------
    >>> class Learner:
    ...     @available_unless(lambda self: "Fit it first.")
    ...     def predict(self): ...
    >>> hasattr(Learner(), "predict"), hasattr(Learner, "predict")
    (False, True)
    """

    def __init__(self, why_not: Callable[[Any], str | None]) -> None:
        self.why_not = why_not

    def __call__(self, method: Callable[..., Any]) -> Any:
        return _Method(method, self.why_not)


class _Method:
    def __init__(self, method: Callable[..., Any], why_not: Callable[[Any], str | None]) -> None:
        self.method, self.why_not = method, why_not
        update_wrapper(cast(Any, self), method)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self.method
        reason = self.why_not(instance)
        if reason is not None:
            raise NotAvailableError(f"This {type(instance).__name__} has no {self.method.__name__}: {reason}")
        return MethodType(self.method, instance)
