"""Stems of distinct tokens, by PyStemmer."""

from __future__ import annotations

from functools import lru_cache

from widemargin.errors import UsageError
from widemargin.text.tokens import NUMBER


@lru_cache(maxsize=1)
def stemmer_names() -> tuple[str, ...]:
    """Every stemmer there is: Porter's, and the Snowball languages."""
    import Stemmer

    return tuple(sorted(Stemmer.algorithms()))


def check_stemmer(name: str | None) -> None:
    """Refuse a stemmer that does not exist."""
    if name is not None and name not in stemmer_names():
        raise UsageError(f"There is no stemmer {name!r}; the stemmers are {', '.join(stemmer_names())}.")


def stem(tokens: list[str], name: str) -> list[str]:
    """The stem of each of `tokens`; the token that stands for numbers is its own.

    Examples
    --------
    >>> stem(["connected", "connections", "<number>"], "porter")
    ['connect', 'connect', '<number>']
    """
    import Stemmer

    # Distinct tokens come once: a cache would only be filled and thrown away.
    stems: list[str] = Stemmer.Stemmer(name, 0).stemWords(tokens)
    return [token if token == NUMBER else result for token, result in zip(tokens, stems, strict=True)]
