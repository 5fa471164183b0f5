"""The form that stands for a distinct token: its stem, by PyStemmer, or its lemma."""

from __future__ import annotations

from functools import lru_cache

from widemargin.errors import UsageError
from widemargin.text import lemmas
from widemargin.text.tokens import NUMBER


@lru_cache(maxsize=1)
def stemmer_names() -> tuple[str, ...]:
    """Every stemmer there is: Porter's, and the Snowball languages."""
    import Stemmer

    return tuple(sorted(Stemmer.algorithms()))


def check_stemmer(name: str | None) -> None:
    """Refuse a stemmer that does not exist."""
    if name is None or name in stemmer_names():
        return
    if not isinstance(name, str) or not name.startswith(lemmas.PREFIX):
        raise UsageError(
            f"There is no stemmer {name!r}; the stemmers are {', '.join(stemmer_names())}, and "
            f"'{lemmas.PREFIX}en' and the like give lemmas."
        )
    lemmas.check_language(name.removeprefix(lemmas.PREFIX))


def stem(tokens: list[str], name: str) -> list[str]:
    """The stem (or lemma) of each of `tokens`; the token that stands for numbers is its own.

    Examples
    --------
    >>> stem(["connected", "connections", "<number>"], "porter")
    ['connect', 'connect', '<number>']
    """
    # Distinct tokens come once: a cache would only be filled and thrown away.
    stems: list[str]
    if name.startswith(lemmas.PREFIX):
        stems = lemmas.lemmatize(tokens, name.removeprefix(lemmas.PREFIX))
    else:
        import Stemmer

        stems = Stemmer.Stemmer(name, 0).stemWords(tokens)
    return [token if token == NUMBER else result for token, result in zip(tokens, stems, strict=True)]
