"""What is fuzzed of collections on disk: blocks of rows and lists of terms, some with right checksums."""

from __future__ import annotations

import io
import random
import struct
from pathlib import Path

import numpy as np

import widemargin._core as _core
from tests.fuzz.mutations import mutated
from tests.on_disk.collections import resealed
from widemargin._arrays import Csr
from widemargin.on_disk.rows import Rows, decode, encode
from widemargin.on_disk.terms import Terms, merge_pages, read_terms, write_terms
from widemargin.text.vocabulary import Vocabulary

_TERMS = ["", "a", "a b", "corn", "wheat", "日本語"]


def _blocks() -> list[bytes]:
    rng = np.random.default_rng(0)
    found = []
    for kind in (np.int32, np.float32, np.float64):
        lengths = rng.integers(0, 9, 6)
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        indices = np.concatenate([np.sort(rng.choice(10**6, n, replace=False)) for n in lengths])
        data = rng.choice([1, 2, 3, 4, 500], len(indices)).astype(kind)
        csr = Csr(indptr, indices.astype(np.int32), data, 10**6)
        labels = np.arange(6, dtype=np.int32) % 3
        rows = Rows(rng.integers(0, 2**63, 6).astype(np.uint64), csr, np.arange(7), labels, 3, np.ones(6))
        found += [encode(rows).tobytes(), encode(rows._replace(weights=None)).tobytes()]
    return found


def _pages() -> bytes:
    file = io.BytesIO()
    ones = np.ones(len(_TERMS), dtype=np.int64)
    write_terms(file, [Terms.of(Vocabulary.from_terms(_TERMS), ones, ones)])
    return file.getvalue()


BLOCKS = _blocks()
PAGES = _pages()
_PAGE_HEADER = struct.Struct("<8sqqQ")


def make_block(rng: random.Random) -> bytes:
    """A changed block of rows, mostly with checksums of what it holds."""
    case = mutated(rng.choice(BLOCKS), rng, BLOCKS)
    return resealed(np.frombuffer(case, np.uint8)).tobytes() if rng.random() < 0.8 else case


def read_block(case: bytes, folder: Path) -> None:
    """Decode a block; what is decoded is a canonical matrix."""
    csr = decode(case).csr
    state, *_ = _core.check_csr(csr.indptr, csr.indices, np.zeros(0), csr.n_columns)
    assert state == 0


def make_pages(rng: random.Random) -> bytes:
    """A changed list of terms, mostly with a checksum of what it holds."""
    case = mutated(PAGES, rng, [PAGES])
    if rng.random() < 0.2 or len(case) < _PAGE_HEADER.size:
        return case
    body = case[_PAGE_HEADER.size :]
    magic, n, _, _ = _PAGE_HEADER.unpack(case[: _PAGE_HEADER.size])
    checksum = _core.hash_bytes(np.frombuffer(body, np.uint8), 0x5DEECE66D)
    return _PAGE_HEADER.pack(magic, n, len(body), checksum) + body


def merge_with_sound(case: bytes, folder: Path) -> None:
    """Merge a list with one that is sound."""
    for name, data in (("case", case), ("sound", PAGES)):
        (folder / name).write_bytes(data)
    lists = [read_terms(folder / name, len(_TERMS)) for name in ("case", "sound")]
    parts = list(merge_pages(lists))
    assert sum(part.n_terms for part in parts) >= len(_TERMS)
