"""64-bit hashes of texts, by which a model recognizes its training documents.

A hash is of the text without white space and without regard to case, so that a copy with other line breaks or
capitals is recognized. It is BLAKE2b with 8 bytes, without a key: whoever has a model file can test whether a
text that they know was a training document, but cannot get texts from hashes. Two different texts have the
same hash with a probability of 5e-20; that any of a million new texts meets one of a million hashes has 5e-8.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.text.inputs import listed

Hashes = NDArray[np.uint64]
# White space of ASCII, among it what separates the columns of a text, and other blanks that people type.
_BLANKS = bytes([*range(0x09, 0x0E), *range(0x1C, 0x21)])
_WIDE_BLANKS = tuple(blank.encode() for blank in "\u00a0\u2009\u202f\u3000")


def hash_texts(texts: Any) -> Hashes:
    """The hash of every text; 0 for texts of white space only.

    Examples
    --------
    >>> first, second, empty = hash_texts(["Corn is up.", "corn  is\\nUP.", " "])
    >>> bool(first == second), int(empty)
    (True, 0)
    """
    texts = texts.to_pylist() if hasattr(texts, "to_pylist") else listed(texts)
    digests = b"".join(map(_digest, texts))
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _digest(text: str | bytes) -> bytes:
    text = text.decode(errors="replace") if isinstance(text, bytes) else text
    plain = text.casefold().encode(errors="surrogatepass").translate(None, _BLANKS)
    if len(plain) and not text.isascii():
        for blank in _WIDE_BLANKS:
            plain = plain.replace(blank, b"")
    return hashlib.blake2b(plain, digest_size=8).digest() if plain else bytes(8)


def distinct(hashes: Hashes) -> Hashes:
    """The hashes as a model keeps them: sorted, each once, without those of empty texts."""
    found = np.unique(hashes)
    return found[found > 0]


def among(hashes: Hashes, known: Hashes) -> NDArray[np.bool_]:
    """(n,) whether each of `hashes` is one of `known`, which are sorted and not 0.

    Examples
    --------
    >>> among(np.array([1, 2, 0], np.uint64), np.array([2, 5], np.uint64)).tolist()
    [False, True, False]
    """
    if not len(known):
        return np.zeros(len(hashes), dtype=bool)
    places = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    return np.asarray(known[places] == hashes)
