"""Texts in any form, as views that the core reads without copying."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin.errors import DataError


def as_texts(texts: Any) -> _core.Texts:
    """Views of `texts`: an iterable of str or UTF-8 bytes, or an Arrow column of strings.

    Nothing is copied or decoded. Bytes that are not UTF-8 separate words, as punctuation does.
    """
    if isinstance(texts, str | bytes):
        raise DataError(
            f"Expected several documents, found one {type(texts).__name__}. "
            f"Pass a list, for one document a list of one."
        )
    result = _core.Texts()
    if type(texts).__module__.partition(".")[0] == "pyarrow":
        for chunk in getattr(texts, "chunks", [texts]):
            _add_arrow(result, chunk)
        return result
    texts = listed(texts)
    wrong = result.add_objects(texts)
    if wrong >= 0:
        raise DataError(
            f"Document {wrong} (counting from 0) is {_describe(texts[wrong])}, not a text. "
            f"Every document must be str, or bytes in UTF-8."
        )
    return result


def listed(texts: Any) -> Any:
    """Texts that can be read again: Arrow columns, lists and tuples as they are, iterables as lists."""
    if isinstance(texts, list | tuple | str | bytes) or hasattr(texts, "to_pylist"):
        return texts
    try:
        found = texts.tolist() if hasattr(texts, "tolist") else list(texts)
    except TypeError:
        raise DataError(f"Expected a list of documents, found {type(texts).__name__}.") from None
    if not isinstance(found, list):  # a zero-dimensional array
        raise DataError("Expected a list of documents, found a single value.")
    return found


def byte_lengths(texts: Any) -> NDArray[np.int64]:
    """The lengths of texts in bytes of UTF-8.

    Examples
    --------
    >>> byte_lengths(["corn", "blé"]).tolist()
    [4, 4]
    """
    texts = texts.to_pylist() if hasattr(texts, "to_pylist") else getattr(texts, "texts", texts)
    sizes = (
        len(text) if isinstance(text, bytes) or text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        for text in texts
    )
    return np.fromiter(sizes, dtype=np.int64)


def taken(texts: Any, places: NDArray[np.intp]) -> Any:
    """The texts at some places, in the same form where that is an Arrow column, otherwise as a list."""
    if hasattr(texts, "to_pylist"):
        return texts.take(places)
    texts = texts if isinstance(texts, list | tuple) else list(texts)
    return [texts[i] for i in places.tolist()]


def together(texts: Any, others: Any) -> Any:
    """The texts of two collections, one after the other; `texts` as they are if `others` is None.

    Examples
    --------
    >>> together(["corn"], ("wheat",)), together(["corn"], None)
    (['corn', 'wheat'], ['corn'])
    """
    if others is None:
        return texts
    return [
        text
        for part in (texts, others)
        for text in (part.to_pylist() if hasattr(part, "to_pylist") else listed(part))
    ]


def _describe(value: Any) -> str:
    if value is None or isinstance(value, int | float):
        return repr(value)
    return f"of type {type(value).__name__}"


def _add_arrow(result: _core.Texts, array: Any) -> None:
    """Add an Arrow array: its own buffers, from its own offset on."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_string_view(kind) or pa.types.is_dictionary(kind):
        array = array.cast(pa.large_string())
        kind = array.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        dtype: Any = np.int32
    elif pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        dtype = np.int64
    else:
        raise DataError(f"The Arrow column holds {kind}, not strings. Cast it to string first.")
    if array.null_count:
        first = len(result) + int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
        raise DataError(f"Document {first} (counting from 0) is null, not a text. Fill or drop nulls first.")
    if len(array) == 0:
        return
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets, dtype=dtype, count=len(array) + 1, offset=array.offset * dtype().itemsize)
    result.add_column(ends, np.frombuffer(data, dtype=np.uint8) if data else np.empty(0, np.uint8))
