"""Matrices in .npy files of NumPy: checked, read from disk as needed, and never unpickled."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataError, MissingFileError, StorageError


def open_matrix(path: str | os.PathLike[str]) -> NDArray[Any]:
    """The matrix of numbers in a file, mapped into memory; whether its values are finite is not checked.

    Raises
    ------
    DataError
        The file is not a .npy file, or contains something other than a matrix of real numbers.
    """
    name = os.fspath(path)
    if os.path.isdir(name):
        raise DataError(f"{name}: is a folder; expected a .npy file.")
    try:
        found: Any = np.load(name, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise MissingFileError(f"{name}: no such file. Check the path.") from error
    except (ValueError, EOFError) as error:
        if "objects" in str(error) or "Object" in str(error):
            why = (
                "contains Python objects, which are never read from a file. Save numbers: array.astype('f4')"
            )
        elif os.path.getsize(name) == 0:
            why = "is empty. Save it again with numpy.save"
        else:
            why = "is not a .npy file, or is cut off. Save it again with numpy.save"
        raise DataError(f"{name}: {why}.") from error
    except OSError as error:
        raise StorageError(f"{name} could not be read: {error.strerror or error}.") from error
    if not isinstance(found, np.ndarray):
        found.close()
        raise DataError(f"{name}: contains several arrays. Save one with numpy.save, not numpy.savez.")
    if found.ndim != 2 or found.dtype.kind not in "fiu" or 0 in found.shape:
        kind = f"{found.dtype} of shape {found.shape}"
        raise DataError(f"{name}: contains {kind}; expected real numbers, one row of them per vector.")
    return found


def finite_rows(rows: NDArray[Any], where: str, row_names: Any = None) -> NDArray[np.float32]:
    """These rows in single precision; a value that is not finite is an error.

    Parameters
    ----------
    where : what errors call the source
    row_names : what errors call each row; by default its number
    """
    found = np.array(rows, dtype=np.float32, order="C")
    if not np.isfinite(found).all():
        row, column = np.argwhere(~np.isfinite(found))[0].tolist()
        name = f"row {row} (counting from 0)" if row_names is None else row_names(row)
        raise DataError(
            f"{where}, {name}: value {column + 1} is {rows[row][column]}, which is not a finite number in "
            f"single precision. Remove the row, or repair it."
        )
    return found
