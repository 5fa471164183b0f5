"""The stem (by PyStemmer) or the lemma of each distinct token."""

from __future__ import annotations

from functools import lru_cache

from widemargin.errors import UsageError
from widemargin.text import lemmas
from widemargin.text.tokens import NUMBER, is_spaceless


@lru_cache(maxsize=1)
def stemmer_names() -> tuple[str, ...]:
    """All stemmers: Porter's and the Snowball languages."""
    import Stemmer

    return tuple(sorted(Stemmer.algorithms()))


def check_stemmer(name: str | None) -> None:
    """Raise an error for an unknown stemmer."""
    if name is None or name in stemmer_names():
        return
    if not isinstance(name, str) or not name.startswith(lemmas.PREFIX):
        raise UsageError(
            f"There is no stemmer {name!r}; the stemmers are {', '.join(stemmer_names())}, and "
            f"'{lemmas.PREFIX}en' and so on for lemmas."
        )
    lemmas.check_language(name.removeprefix(lemmas.PREFIX))


def stem(tokens: list[str], name: str) -> list[str]:
    """The stem (or lemma) of each of `tokens`.

    The number token and n-grams of characters stay as they are.

    Examples
    --------
    >>> stem(["connected", "connections", "<number>"], "porter")
    ['connect', 'connect', '<number>']
    """
    # Each token comes once, so a cache would not help.
    stems: list[str]
    if name.startswith(lemmas.PREFIX):
        stems = lemmas.lemmatize(tokens, name.removeprefix(lemmas.PREFIX))
    else:
        import Stemmer

        stems = Stemmer.Stemmer(name, 0).stemWords(tokens)
    return [
        token if token == NUMBER or is_spaceless(token) else result
        for token, result in zip(tokens, stems, strict=True)
    ]
