"""Texts in any form, as views that the core reads without copying."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin.errors import DataError
from widemargin.labels.columns import is_missing

_MISSING = (
    'not a text. Drop it and its label, or put an empty text in its place, such as texts.fillna("") '
    'in pandas or texts.fill_null("") in polars and Arrow.'
)


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
        _refuse(wrong, texts[wrong])
    return result


def listed(texts: Any) -> Any:
    """Texts that can be read again: Arrow columns, lists and tuples as they are, iterables as lists.

    An array with one column is read as that column.
    """
    if isinstance(texts, list | tuple | str | bytes) or hasattr(texts, "to_pylist"):
        return texts
    if isinstance(texts, set | frozenset):
        raise DataError(
            f"The documents are a {type(texts).__name__}, which has no order. Pass a list, in the order of "
            f"their labels."
        )
    if is_column_of_texts(texts):
        texts = texts.ravel()
    if len(getattr(texts, "shape", ())) > 1:
        raise DataError(
            f"Expected one text per document, found an array of shape {tuple(texts.shape)}. Pass one column, "
            f"or a table whose columns have names."
        )
    try:
        found = texts.tolist() if hasattr(texts, "tolist") else list(texts)
    except TypeError:
        what = "None" if texts is None else f"{type(texts).__name__}"
        raise DataError(f"Expected a list of documents, found {what}.") from None
    if not isinstance(found, list):  # a zero-dimensional array
        raise DataError("Expected a list of documents, found a single value.")
    return found


def is_column_of_texts(texts: Any) -> bool:
    """Whether these are texts in a two-dimensional array of one column.

    Examples
    --------
    >>> is_column_of_texts(np.array([["wheat"], ["corn"]])), is_column_of_texts(np.eye(1))
    (True, False)
    """
    if not isinstance(texts, np.ndarray) or texts.ndim != 2 or texts.shape[1] != 1:
        return False
    return texts.dtype.kind in "UST" or any(isinstance(text, str) for text in texts[:, 0].tolist())


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
        try:
            return texts.take(places)
        except NotImplementedError:  # views of strings
            texts = texts.to_pylist()
    texts = listed(texts)
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


def _refuse(place: int, value: Any) -> NoReturn:
    """Raise an error that says what stands in the place of a text, and what to do about it."""
    document = f"Document {place} (counting from 0)"
    if isinstance(value, list | tuple | np.ndarray):
        raise DataError(
            f"{document} is of type {type(value).__name__}, not a text. Pass one str per document: words "
            f"that were split already can be joined by spaces."
        )
    if is_missing(value):
        raise DataError(f"{document} is {value!r}, {_MISSING}")
    shown = repr(value) if isinstance(value, int | float) else f"of type {type(value).__name__}"
    raise DataError(
        f"{document} is {shown}, not a text. Every document must be str, or bytes in UTF-8. "
        f"Numbers and other values can be turned into texts by str."
    )


def _add_arrow(result: _core.Texts, array: Any) -> None:
    """Add an Arrow array: its own buffers, from its own offset on."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_null(kind) and len(array):
        raise DataError(f"Document {len(result)} (counting from 0) is null, {_MISSING}")
    if pa.types.is_null(kind) or pa.types.is_string_view(kind) or pa.types.is_dictionary(kind):
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
        raise DataError(f"Document {first} (counting from 0) is null, {_MISSING}")
    if len(array) == 0:
        return
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets, dtype=dtype, count=len(array) + 1, offset=array.offset * dtype().itemsize)
    result.add_column(ends, np.frombuffer(data, dtype=np.uint8) if data else np.empty(0, np.uint8))
