"""Changes to bytes and to JSON values, drawn from a generator that the caller seeds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

# What parsers stumble over: limits of integers, numbers that are not finite, quotes, nesting, odd characters.
_TOKENS = (
    b"\x00", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\\ud800", b"\\u0000",
    b"\n", b"\r", b"\r\n", b"\t", b'"', b"'", b",", b":", b"#", b"\\", b"[" * 60, b"{" * 60, b"]", b"}",
    b"-1", b"0", b"2147483648", b"4294967296", b"9223372036854775808", b"1e999", b"-1e999", b"nan", b"inf",
    b"NaN", b"Infinity", b"null", b"true", b"1" * 400, b"0x10", b"1_0", "\u0661".encode(), "\u2028".encode(),
)  # fmt: skip

_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**53, 2**63, -(2**63), 10**30, 0.5, -0.0, 1e308,
    float("nan"), float("inf"), -float("inf"), "", "a", "\x1b[31m", "\ud800", "9" * 50, [], {}, [None], [[]],
)  # fmt: skip


def mutated(data: bytes, rng: random.Random, others: Sequence[bytes] = ()) -> bytes:
    """`data` after one to six random changes; `others` are spliced in."""
    result = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        _change(result, rng, others)
    return bytes(result)


def _change(data: bytearray, rng: random.Random, others: Sequence[bytes]) -> None:
    start = rng.randint(0, len(data))
    length = min(int(rng.paretovariate(0.7)), len(data) - start)
    kind = rng.randrange(8)
    if kind == 0 and data:  # one bit
        place = rng.randrange(len(data))
        data[place] ^= 1 << rng.randrange(8)
    elif kind == 1:  # random bytes
        data[start : start + length] = rng.randbytes(length)
    elif kind == 2:
        del data[start : start + length]
    elif kind == 3:  # a piece again
        data[start:start] = data[start : start + length] * rng.choice((1, 1, 2, 50))
    elif kind == 4:
        data[start : start + rng.choice((0, 0, length))] = rng.choice(_TOKENS)
    elif kind == 5:  # a piece elsewhere
        piece = data[start : start + length]
        place = rng.randint(0, len(data))
        data[place:place] = piece
    elif kind == 6 and others:
        other = rng.choice(others)
        place = rng.randint(0, len(other))
        data[start : start + length] = other[place : place + length]
    else:  # cut short
        del data[start + rng.choice((0, 0, length)) :]


def mutated_json(value: Any, rng: random.Random) -> Any:
    """`value` with one part somewhere inside replaced, removed, doubled or swapped."""
    places: list[tuple[Any, Any]] = []
    todo = [value]
    while todo:
        node = todo.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []
        places += [(node, key) for key in keys]
        todo += [node[key] for key in keys]
    if not places:
        return rng.choice(_VALUES)
    node, key = rng.choice(places)
    kind = rng.randrange(5)
    if kind == 0:
        del node[key]
    elif kind == 1 and isinstance(node[key], int | float):
        node[key] = rng.choice((-node[key], node[key] + 1, node[key] * 2, float(node[key]), str(node[key])))
    elif kind == 2:
        node[key] = [node[key]]
    elif kind == 3:
        other, place = rng.choice(places)
        if place in other if isinstance(other, dict) else place < len(other):
            node[key] = other[place] if not isinstance(other[place], dict | list) else rng.choice(_VALUES)
    else:
        node[key] = rng.choice(_VALUES)
    return value
