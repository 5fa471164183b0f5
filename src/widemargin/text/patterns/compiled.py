"""An expression as an automaton over classes of characters: the tables that the core runs.

A state is a list of positions in order of preference, without those that come after the end of a match: a
backtracking matcher that prefers the same alternatives would never try these. So the last match that the
automaton passes is the one that Python's `re` finds (Cox, "Regular Expression Matching: the Virtual Machine
Approach", 2009). Whether a word boundary stands at a place depends on the characters on both sides, so that
a state knows the kind of the last character, and tests are decided by the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import widemargin._core as _core
from widemargin.errors import DataError, UsageError
from widemargin.text.patterns.characters import classes_of
from widemargin.text.patterns.expression import Expression

MOST_STATES = 2000
PARTS = {"starts": np.uint32, "classes": np.uint32, "table": np.int32, "first": np.int32, "words": np.uint8}
_State = tuple[tuple[int, ...], bool]


@dataclass(frozen=True, eq=False)
class CompiledPattern:
    """The automaton of a regular expression; ``core/text/patterns/pattern.hpp`` describes the arrays.

    Examples
    --------
    >>> pattern = compile_pattern(r"[a-z]+(?:-[a-z]+)*")
    >>> pattern.find_all("well-known words")
    ['well-known', 'words']
    """

    pattern: str
    starts: NDArray[np.uint32]
    classes: NDArray[np.uint32]
    table: NDArray[np.int32]
    first: NDArray[np.int32]
    words: NDArray[np.uint8]
    native: _core.Pattern = field(init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            native = _core.Pattern(self.starts, self.classes, self.table, self.first, self.words)
        except ValueError as error:
            raise DataError(f"The pattern {self.pattern!r} is damaged: {error}") from None
        object.__setattr__(self, "native", native)

    def __repr__(self) -> str:
        return repr(self.pattern)

    def __deepcopy__(self, memo: Any) -> CompiledPattern:
        return self

    def __reduce__(self) -> Any:
        return CompiledPattern, (self.pattern, *self.state().values())

    def find_all(self, text: str) -> list[str]:
        """All matches in `text`, as ``re.findall`` gives them."""
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        places = self.native.find_all(np.ascontiguousarray(codes))
        return [text[i:j] for i, j in zip(places[::2], places[1::2], strict=True)]

    def state(self) -> dict[str, NDArray[Any]]:
        """The arrays, for a model file."""
        return {name: getattr(self, name) for name in PARTS}


@lru_cache(maxsize=64)
def compile_pattern(pattern: str, name: str = "token_pattern") -> CompiledPattern:
    """Compile a regular expression of Python; `name` is that of the parameter, for messages.

    Raises
    ------
    UsageError
        What no automaton can match (backreferences, look-arounds), anchors, captured groups, expressions
        that match the empty text, and expressions with too many states.
    """
    found = Expression.read(pattern, name)
    sets = found.sets if found.words is None else [*found.sets, found.words]
    starts, classes, members = classes_of(sets)
    words = members[-1] if found.words is not None else np.zeros(members.shape[1], dtype=bool)
    table, first = _automaton(found, members, words)
    table, first = _smallest(table, first)
    return CompiledPattern(
        pattern,
        starts,
        classes.astype(np.uint32),
        np.ascontiguousarray(table.ravel(), dtype=np.int32),
        np.array(first, dtype=np.int32),
        words.astype(np.uint8),
    )


def _automaton(
    found: Expression, members: NDArray[np.bool_], words: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], list[int]]:
    """The table of all states that can be reached, 0 being dead, and the states to begin in."""
    n_classes = members.shape[1]
    begin = tuple(_ahead(found, [found.start]))
    kinds = (False, True) if found.words is not None else (False,)
    for kind in kinds:
        for following in kinds:
            if found.end in _tested(found, begin, kind != following):
                raise UsageError(
                    f"{found.name}={found.pattern!r} matches the empty text. Write + in place of *, or leave "
                    f"out a ?."
                )
    numbers: dict[_State, int] = {((), False): 0}
    order: list[_State] = [((), False)]

    def number(state: _State) -> int:
        if not state[0]:
            return 0
        if state not in numbers:
            if len(numbers) >= MOST_STATES:
                raise UsageError(
                    f"{found.name}={found.pattern!r} needs more than {MOST_STATES} states. Use fewer or "
                    f"smaller repetitions, or a callable such as tokenizer=my_function."
                )
            numbers[state] = len(order)
            order.append(state)
        return numbers[state]

    first = [number((begin, kind)) for kind in kinds]
    rows: list[list[int]] = [[0] * (n_classes + 1)]
    while len(rows) < len(order):
        positions, last = order[len(rows)]
        row = []
        tested = {kind: _tested(found, positions, last != kind) for kind in kinds}
        for k in range(n_classes + 1):
            ends = k == n_classes
            kind = bool(words[k]) if not ends and found.words is not None else False
            after: list[int] = []
            complete = False
            for position in tested[kind]:
                if position == found.end:
                    complete = True
                    break
                reads = found.reads[position]
                if not ends and reads is not None and members[reads, k]:
                    after.extend(found.follows[position])
            row.append(2 * number((tuple(_ahead(found, after)), kind)) + complete)
        rows.append(row)
    return np.array(rows, dtype=np.int64), first if len(first) == 2 else first * 2


def _ahead(found: Expression, positions: Iterable[int]) -> list[int]:
    """The positions that read, test or end, in order of preference; none after the end of a match."""
    result: list[int] = []
    for position in _reached(found, positions, lambda position: not found.tests[position]):
        result.append(position)
        if position == found.end:
            break
    return result


def _tested(found: Expression, positions: Iterable[int], boundary: bool) -> list[int]:
    """The positions that read or end, where tests are decided: a word boundary is here, or it is not."""

    def passes(position: int) -> bool:
        test = found.tests[position]
        return not test or (test > 0) == boundary

    return [
        position
        for position in _reached(found, positions, passes)
        if position == found.end or found.reads[position] is not None
    ]


def _reached(found: Expression, positions: Iterable[int], passes: Callable[[int], bool]) -> Iterator[int]:
    """The positions where the walk stops, in order of preference: those that read or end, and those that do
    not let it pass."""
    seen: set[int] = set()
    stack = list(reversed(list(positions)))
    while stack:
        position = stack.pop()
        if position in seen:
            continue
        seen.add(position)
        if position == found.end or found.reads[position] is not None or not passes(position):
            yield position
        else:
            stack.extend(reversed(found.follows[position]))


def _smallest(table: NDArray[np.int64], first: list[int]) -> tuple[NDArray[np.int64], list[int]]:
    """The same automaton with states that cannot be told apart merged (Moore)."""
    part = np.zeros(len(table), dtype=np.int64)
    n_parts = 1
    while True:
        signature = np.column_stack([part, 2 * part[table // 2] + table % 2])
        part = np.unique(signature, axis=0, return_inverse=True)[1].reshape(-1)
        found = int(part.max()) + 1
        if found == n_parts:
            break
        n_parts = found
    # The dead state stays 0.
    dead = part[0]
    renamed = np.where(part == dead, 0, np.where(part < dead, part + 1, part))
    chosen = np.zeros(n_parts, dtype=np.int64)
    chosen[renamed] = np.arange(len(table))
    small = table[chosen]
    return 2 * renamed[small // 2] + small % 2, [int(renamed[state]) for state in first]
