"""Dask, imported when it is needed."""

from __future__ import annotations

import sys
from typing import Any

from widemargin.errors import UsageError


def distributed() -> Any:
    """The module `distributed`."""
    try:
        import distributed
    except ImportError as error:
        raise UsageError(
            f"A cluster needs Dask ({error}). Install it: pip install widemargin[dask]"
        ) from None
    return distributed


def is_dask(value: Any) -> bool:
    """Whether this is a Dask bag, Series or DataFrame; Dask is not imported to find out.

    Examples
    --------
    >>> is_dask(["a text"])
    False
    """
    return type(value).__module__.partition(".")[0] in ("dask", "dask_expr") and "dask" in sys.modules
