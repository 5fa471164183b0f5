"""A regular expression of Python as a graph of positions: what may follow what, in order of preference.

`re` parses the expression; this module reads its result. Of a choice, the first alternative is preferred, as
a backtracking matcher prefers it: a greedy repetition prefers another round, a lazy one prefers to end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NoReturn

from widemargin.errors import UsageError
from widemargin.text.patterns.characters import Ranges, ranges_of

# The parser of `re`, which has no types.
parser: Any = import_module("re._parser")
sre: Any = import_module("re._constants")

MOST_POSITIONS = 2000
_CURE = "Pass a callable instead, such as tokenizer=my_function."
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}
_NOT_REGULAR = {
    "GROUPREF": "a backreference",
    "GROUPREF_EXISTS": "a conditional group",
    "ASSERT": "a look-around",
    "ASSERT_NOT": "a look-around",
    "ATOMIC_GROUP": "an atomic group",
    "POSSESSIVE_REPEAT": "a possessive repetition",
}
_OF_CHARACTERS = re.IGNORECASE | re.ASCII | re.DOTALL


@dataclass
class Expression:
    """The positions of an expression.

    Attributes
    ----------
    sets : the sets of characters that positions read
    reads : by position, the number of its set, or None
    tests : by position, 1 where it requires a word boundary, -1 where it refuses one, otherwise 0
    follows : by position, the positions after it, the preferred one first
    words : the characters of words, if there are tests
    start, end : the first position, and the one that completes a match
    """

    name: str
    pattern: str
    sets: list[Ranges] = field(default_factory=list)
    reads: list[int | None] = field(default_factory=list)
    tests: list[int] = field(default_factory=list)
    follows: list[tuple[int, ...]] = field(default_factory=list)
    words: Ranges | None = None
    start: int = 0
    end: int = 0

    @classmethod
    def read(cls, pattern: str, name: str) -> Expression:
        """The positions of `pattern`; `name` is that of the parameter, for messages."""
        self = cls(name, pattern)
        if not isinstance(pattern, str) or not pattern:
            raise UsageError(f"{name}={pattern!r}: expected a regular expression, such as r'\\b\\w\\w+\\b'.")
        try:
            parsed = parser.parse(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise UsageError(f"{name}={pattern!r}: {error}.") from None
        self._check_groups(parsed)
        self.end = self._new(None, ())
        self.start = self._sequence(parsed, parsed.state.flags, self.end)
        return self

    def _refuse(self, what: str, cure: str = _CURE) -> NoReturn:
        raise UsageError(f"{self.name}={self.pattern!r} {what}. {cure}")

    def _check_groups(self, parsed: Any) -> None:
        """One group is fine if it is all that is matched, as it is then the token."""
        if parsed.state.groups <= 1:
            return
        others = [op for op, _ in parsed.data if op is not sre.AT]
        only = parsed.state.groups == 2 and others == [sre.SUBPATTERN]
        if not only or not any(op is sre.SUBPATTERN and av[0] is not None for op, av in parsed.data):
            self._refuse("has a group that is captured", "Write (?:...) in place of (...).")

    def _new(self, reads: int | None, follows: tuple[int, ...], test: int = 0) -> int:
        if len(self.reads) >= MOST_POSITIONS:
            self._refuse(f"has more than {MOST_POSITIONS} positions", "Use smaller numbers of repetitions.")
        self.reads.append(reads)
        self.tests.append(test)
        self.follows.append(follows)
        return len(self.reads) - 1

    def _sequence(self, parsed: Any, flags: int, then: int) -> int:
        for op, av in reversed(list(parsed)):
            then = self._item(op, av, flags, then)
        return then

    def _item(self, op: Any, av: Any, flags: int, then: int) -> int:
        name = str(op)
        if name in _NOT_REGULAR:
            self._refuse(f"has {_NOT_REGULAR[name]}, which no automaton can match")
        if op is sre.BRANCH:
            return self._new(None, tuple(self._sequence(part, flags, then) for part in av[1]))
        if op is sre.SUBPATTERN:
            _, added, removed, part = av
            return self._sequence(part, (flags | added) & ~removed, then)
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            least, most, part = av
            return self._repeated(least, most, part, flags, then, greedy=op is sre.MAX_REPEAT)
        if op is sre.AT:
            return self._boundary(av, flags, then)
        source = _source(op, av)
        if source is None:
            self._refuse(f"has {name.lower()}, which is not supported")
        ranges = ranges_of(source, int(flags & _OF_CHARACTERS))
        if ranges not in self.sets:
            self.sets.append(ranges)
        return self._new(self.sets.index(ranges), (then,))

    def _boundary(self, where: Any, flags: int, then: int) -> int:
        if where not in (sre.AT_BOUNDARY, sre.AT_NON_BOUNDARY):
            self._refuse("has an anchor (^, $, \\A or \\Z)", "Leave it out: tokens are found anywhere.")
        words = ranges_of(r"\w", int(flags & re.ASCII))
        if self.words not in (None, words):
            self._refuse("has word boundaries with and without (?a)", "Use one kind.")
        self.words = words
        return self._new(None, (then,), 1 if where is sre.AT_BOUNDARY else -1)

    def _repeated(self, least: int, most: Any, part: Any, flags: int, then: int, *, greedy: bool) -> int:
        most = None if most is sre.MAXREPEAT else int(most)
        if most != 1 and _may_be_empty(part):
            self._refuse("repeats a part that may be empty", "Repeat something that is not empty.")

        def either(again: int) -> tuple[int, ...]:
            return (again, then) if greedy else (then, again)

        if most is None:
            loop = self._new(None, ())
            self.follows[loop] = either(self._sequence(part, flags, loop))
            after = loop
        else:
            after = then
            for _ in range(most - least):
                # Each optional round ends the repetition or goes on to the next one.
                after = self._new(None, either(self._sequence(part, flags, after)))
        for _ in range(least):
            after = self._sequence(part, flags, after)
        return after


def _may_be_empty(parsed: Any) -> bool:
    """Whether a part matches without reading a character."""
    return all(_item_may_be_empty(op, av) for op, av in parsed)


def _item_may_be_empty(op: Any, av: Any) -> bool:
    if op is sre.BRANCH:
        return any(map(_may_be_empty, av[1]))
    if op is sre.SUBPATTERN:
        return _may_be_empty(av[3])
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        return av[0] == 0 or _may_be_empty(av[2])
    return op is sre.AT


def _source(op: Any, av: Any) -> str | None:
    """An expression for one character, as it would be written."""
    if op is sre.ANY:
        return "."
    if op is sre.LITERAL:
        return _escaped(av)
    if op is sre.NOT_LITERAL:
        return f"[^{_escaped(av)}]"
    if op is not sre.IN:
        return None
    parts = []
    for kind, value in av:
        if kind is sre.NEGATE:
            parts.append("^")
        elif kind is sre.LITERAL:
            parts.append(_escaped(value))
        elif kind is sre.RANGE:
            parts.append(f"{_escaped(value[0])}-{_escaped(value[1])}")
        elif str(value) in _CATEGORIES:
            parts.append(_CATEGORIES[str(value)])
        else:
            return None
    return f"[{''.join(parts)}]"


def _escaped(code: int) -> str:
    return f"\\U{code:08x}"
