"""Blocks of rows, decoded byte by byte, and lists of terms, merged by a dictionary."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable

HEADER = struct.Struct("=QIIqqqqqQQQQ")
VALUES = {0: None, 1: "f", 2: "d"}


class Bytes:
    """Reads bytes from the front."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, n: int) -> bytes:
        found = self.data[self.at : self.at + n]
        assert len(found) == n
        self.at += n
        return found

    def number(self) -> int:
        """7 bits per byte, the lowest first."""
        found = shift = 0
        while True:
            byte = self.take(1)[0]
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return found


def codes(data: bytes, n: int) -> list[int]:
    """n numbers of 2 bits, four per byte, the lowest first."""
    return [data[i // 4] >> 2 * (i % 4) & 3 for i in range(n)]


def decode_row(data: bytes, kind: int) -> dict[int, float]:
    """A row as a mapping from columns to values."""
    source = Bytes(data)
    n = source.number()
    columns, before = [], -1
    for length in codes(source.take((n + 3) // 4), n):
        before += 1 + int.from_bytes(source.take(length + 1), "little")
        columns.append(before)
    if kind:
        values = list(struct.unpack(f"={n}{VALUES[kind]}", source.take(len(source.data) - source.at)))
    else:
        values = [code or 4 + source.number() for code in _with_numbers(source, n)]
    assert source.at == len(source.data)
    return dict(zip(columns, values, strict=True))


def _with_numbers(source: Bytes, n: int) -> list[int]:
    return codes(source.take((n + 3) // 4), n)


def decode_block(data: bytes) -> list[tuple[int, dict[int, float], list[int], float | None]]:
    """Key, row, labels and weight of every document of a block; checksums are not compared."""
    source = Bytes(data)
    fields = HEADER.unpack(source.take(HEADER.size))
    _, kind, has_weights, n_rows, _, _, _, _, label_bytes, _, _, _ = fields
    keys = struct.unpack(f"={n_rows}Q", source.take(8 * n_rows))
    weights = struct.unpack(f"={n_rows}d", source.take(8 * n_rows)) if has_weights else [None] * n_rows
    labels, of_labels = [], Bytes(source.take(label_bytes))
    for _ in range(n_rows):
        before, row = -1, []
        for _ in range(of_labels.number()):
            before += 1 + of_labels.number()
            row.append(before)
        labels.append(row)
    ends = struct.unpack(f"={n_rows}I", source.take(4 * n_rows))
    rows = source.data[source.at :]
    decoded = [decode_row(rows[begin:end], kind) for begin, end in zip([0, *ends], ends, strict=False)]
    return list(zip(keys, decoded, labels, weights, strict=True))


def merge(lists: Iterable[dict[str, tuple[int, int]]]) -> list[tuple[str, int, int]]:
    """Terms with the sums of their frequencies and totals, sorted by their bytes."""
    frequencies: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    for each in lists:
        for term, (frequency, total) in each.items():
            frequencies[term] += frequency
            totals[term] += total
    return [(term, frequencies[term], totals[term]) for term in sorted(frequencies, key=str.encode)]
