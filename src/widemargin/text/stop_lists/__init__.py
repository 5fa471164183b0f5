"""Stop words: words to ignore.

``"freewais"`` is the list in the appendix of Joachims's dissertation, as printed. Its entries with an
apostrophe or a period ("aren't", "co.", "inc.") match no token, because words end at punctuation. They are
not split into parts ("aren", "t"), since that would remove words that are not on the list. The same holds for
a list of your own.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources

from widemargin.errors import UsageError

NAMES = ("freewais",)


def stop_list(words: str | Iterable[str] | None) -> frozenset[str]:
    """The case-folded words of a named list or of a given one.

    Examples
    --------
    >>> "whereupon" in stop_list("freewais")
    True
    >>> sorted(stop_list(["The", "of"]))
    ['of', 'the']
    """
    if words is None:
        return frozenset()
    if isinstance(words, str):
        if words not in NAMES:
            raise UsageError(
                f"There is no stop list {words!r}; the lists are {', '.join(NAMES)}. Or pass a list of words."
            )
        text = resources.files(__package__).joinpath(f"{words}.txt").read_text(encoding="utf-8")
        return frozenset(text.split())
    result = set()
    for word in words:
        if not isinstance(word, str):
            raise UsageError(f"stop_words holds {word!r}; every stop word must be a str.")
        result.add(word.casefold())
    return frozenset(result)
