"""Words to leave out.

``"freewais"`` is the list in the appendix of Joachims's dissertation, as printed. Its entries with an
apostrophe or a full stop ("aren't", "co.", "inc.") are kept, and match no token: words end at punctuation,
and removing their parts instead ("aren", "t") would remove words the list does not name. The same holds for
the entries of a user's list that are not tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources

from widemargin.errors import UsageError

NAMES = ("freewais",)


def stop_list(words: str | Iterable[str] | None) -> frozenset[str]:
    """The case-folded words of a named list or of the caller's own.

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
                f"There is no stop list {words!r}; the lists are {', '.join(NAMES)}. "
                f"Or pass the words themselves, as a list."
            )
        text = resources.files(__package__).joinpath(f"{words}.txt").read_text(encoding="utf-8")
        return frozenset(text.split())
    result = set()
    for word in words:
        if not isinstance(word, str):
            raise UsageError(f"stop_words holds {word!r}; every stop word must be a str.")
        result.add(word.casefold())
    return frozenset(result)
