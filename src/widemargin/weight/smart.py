"""SMART term weighting (Joachims 2000, Table 2.1; Salton and Buckley 1988).

Three weightings have names: ``"tfidf"`` (``ltc``, the default), ``"counts"`` (no weights) and ``"binary"``
(``bxx``: 1 where a term occurs). A scheme is three letters, one for each factor of the weight of a term in a
document:

===============  =========  ================================================================
component        letter     factor
===============  =========  ================================================================
document         ``b``      1
                 ``t``      TF
                 ``n``      0.5 + 0.5 TF / (largest TF in the document)
                 ``l``      1 + log TF
                 ``s``      square root of TF
collection       ``x``      1
                 ``f, t``   log(N / DF)
                 ``n, p``   log((N - DF) / DF), negative where DF is more than half of N
normalization    ``x``      1
                 ``c``      1 / (Euclidean length of the weights)
                 ``a``      1 / (sum of the weights' absolute values)
===============  =========  ================================================================

TF is the number of occurrences of a term in a document (absent terms weigh 0 in every scheme), DF the number
of documents that contain it, N the number of documents. A collection factor that would be infinite is 0 (DF =
0; in the probabilistic one also N = DF). A document of weight 0 stays 0. The collection factor may be raised
to a power (``idf_power``): less than 1 brings frequent and rare terms closer together.

In a stream, N and DF are those of the documents so far, the weighted one included. Winnows do without: they
take the *strength* of a term (dagan, 4.1 and 4.3): binary ``bxx``, linear ``txx``, square root ``sxx``, or
normalized to sum to 1 ``bxa``, ``txa``, ``sxa``.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin._arrays import Csr, canonical_csr, place_of
from widemargin.errors import DataError, UsageError

if TYPE_CHECKING:
    import scipy.sparse as sp

_DOCUMENT = {
    "b": _core.DocumentComponent.binary,
    "t": _core.DocumentComponent.term_frequency,
    "n": _core.DocumentComponent.augmented,
    "l": _core.DocumentComponent.logarithmic,
    "s": _core.DocumentComponent.square_root,
}
_COLLECTION = {"x": "none", "f": "inverse", "t": "inverse", "n": "probabilistic", "p": "probabilistic"}
_NORMALIZATION = {
    "x": _core.Normalization.none,
    "c": _core.Normalization.length_2,
    "a": _core.Normalization.length_1,
}

_LARGEST_POWER = 10

NAMES: dict[str, str | None] = {"tfidf": "ltc", "counts": None, "binary": "bxx"}
"""Weightings by the words that practitioners use; None leaves counts as they are."""


class Scheme(NamedTuple):
    """The three components of a scheme."""

    document: _core.DocumentComponent
    collection: str
    normalization: _core.Normalization


def canonical(weighting: str | None) -> str | None:
    """The three letters of a weighting that is given by name or by letters; None for counts.

    Examples
    --------
    >>> canonical("tfidf"), canonical("counts"), canonical("binary"), canonical("tfc")
    ('ltc', None, 'bxx', 'tfc')
    """
    if weighting is None or (isinstance(weighting, str) and weighting in NAMES):
        return None if weighting is None else NAMES[weighting]
    parse_scheme(weighting)
    return weighting


def parse_scheme(name: str) -> Scheme:
    """The components of a scheme such as ``"tfc"``; synonyms (``"ttc"``) give the same."""
    if (
        not isinstance(name, str)
        or len(name) != 3
        or name[0] not in _DOCUMENT
        or name[1] not in _COLLECTION
        or name[2] not in _NORMALIZATION
    ):
        raise UsageError(
            f"There is no weighting {name!r}. A weighting is tfidf, counts or binary, or three letters: "
            f"{', '.join(_DOCUMENT)} for the document, {', '.join(_COLLECTION)} for the collection, "
            f"{', '.join(_NORMALIZATION)} for the normalization; for example 'ltc'."
        )
    return Scheme(_DOCUMENT[name[0]], _COLLECTION[name[1]], _NORMALIZATION[name[2]])


def collection_factors(
    name: str, document_frequencies: NDArray[np.int64], n_documents: int, power: float = 1.0
) -> NDArray[np.float64] | None:
    """The collection factor of every column, or None if the scheme has none.

    `power` is the exponent of its size; its sign stays.

    Examples
    --------
    >>> collection_factors("tfc", np.array([1, 2, 4, 0]), 4).round(3)
    array([1.386, 0.693, 0.   , 0.   ])
    >>> collection_factors("tpc", np.array([1, 2, 3, 4]), 4).round(3)
    array([ 1.099,  0.   , -1.099,  0.   ])
    """
    kind = parse_scheme(name).collection
    if kind == "none":
        return None
    df = np.asarray(document_frequencies, dtype=np.float64)
    above = float(n_documents) if kind == "inverse" else n_documents - df
    ratio = np.divide(above, df, out=np.ones_like(df), where=df > 0)
    # log(1) = 0 where the ratio is 0 or unknown.
    factors = np.log(np.where(ratio > 0, ratio, 1.0))
    return factors if power == 1 else np.sign(factors) * np.abs(factors) ** power


def running_factors(
    name: str, counts: Csr, document_frequencies: NDArray[np.int64], n_documents: int, power: float = 1.0
) -> NDArray[np.float64] | None:
    """The collection factor of every value of `counts`, in a collection that ends with its document.

    `document_frequencies` are those of the `n_documents` before; the documents are added to them.

    Examples
    --------
    >>> counts = checked_counts(np.array([[1, 0], [1, 1], [1, 0], [0, 1]]))
    >>> running_factors("tfc", counts, np.array([1, 0]), 1).round(3).tolist()
    [0.0, 0.0, 1.099, 0.0, 0.916]
    """
    kind = parse_scheme(name).collection
    if kind == "none":
        document_frequencies += np.bincount(counts.indices, minlength=counts.n_columns)
        return None
    factors = np.empty(len(counts.indices))
    _core.running_factors(
        counts.indptr,
        counts.indices,
        kind == "probabilistic",
        float(power),
        n_documents,
        document_frequencies,
        factors,
    )
    return factors


def check_idf_power(power: Any) -> None:
    """Refuse what is no exponent of collection factors."""
    if isinstance(power, bool) or not isinstance(power, Real) or not 0 <= float(power) <= _LARGEST_POWER:
        raise UsageError(f"idf_power={power!r}: expected a number from 0 to {_LARGEST_POWER}, such as 1.3.")


def weigh(
    counts: sp.csr_array,
    scheme: str,
    document_frequencies: NDArray[np.int64] | None = None,
    n_documents: int | None = None,
    *,
    idf_power: float = 1.0,
    n_threads: int = 1,
) -> sp.csr_array:
    """Weight a CSR matrix of counts; returns a new matrix of float32.

    Without `document_frequencies`, those of `counts` are used.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> weigh(sp.csr_array([[3, 4], [0, 1]]), "txc").toarray().round(2)
    array([[0.6, 0.8],
           [0. , 1. ]], dtype=float32)
    """
    csr = checked_counts(counts)
    if document_frequencies is None:
        document_frequencies = np.bincount(csr.indices, minlength=csr.n_columns)
    if n_documents is None:
        n_documents = csr.n_rows
    factors = collection_factors(scheme, document_frequencies, n_documents, idf_power)
    return apply_factors(csr, scheme, factors, n_threads=n_threads).matrix


def checked_counts(counts: Any) -> Csr:
    """Check counts: whole numbers from 0 to 2**31 - 1. Returns a canonical matrix of int32.

    Examples
    --------
    >>> checked_counts(np.array([[1.0, 0.5]]))
    Traceback (most recent call last):
    ...
    widemargin.errors.DataError: The count in row 0, column 1 is 0.5; expected a whole number from 0 to ...
    """
    csr = canonical_csr(counts)
    wrong = (csr.data < 0) | (csr.data >= 2**31) | (csr.data != np.floor(csr.data))
    if wrong.any():
        at = int(wrong.argmax())
        row, column = place_of(csr, at)
        raise DataError(
            f"The count in row {row}, column {column} is {csr.data[at]:g}; expected a whole number from 0 to "
            f"2**31 - 1. Pass counts, for example from Vectorizer(weighting=None)."
        )
    return csr._replace(data=csr.data.astype(np.int32))


def apply_factors(
    counts: Csr,
    scheme: str,
    factors: NDArray[np.float64] | None,
    *,
    n_threads: int = 1,
    by_value: bool = False,
) -> Csr:
    """Like :func:`weigh`, for checked counts and known collection factors.

    `factors` are those of the columns or, with `by_value`, of the values.
    """
    parsed = parse_scheme(scheme)
    wanted, what = (len(counts.data), "values") if by_value else (counts.n_columns, "columns")
    if factors is not None and len(factors) != wanted:
        raise UsageError(f"{len(factors)} collection factors for a matrix of {wanted} {what}.")
    weights = np.empty(len(counts.data), dtype=np.float32)
    _core.weigh(
        counts.indptr,
        np.arange(wanted, dtype=np.int32) if by_value else counts.indices,
        counts.data,
        factors,
        parsed.document,
        parsed.normalization,
        weights,
        n_threads,
    )
    return counts._replace(data=weights)
