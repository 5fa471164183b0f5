"""Lemmas of distinct tokens, by simplemma: what a dictionary lists them under, "be" for "was".

An extra, ``pip install widemargin[lemmas]``: simplemma is dictionaries of some fifty languages, 19 MB, and
only those who want lemmas need them.
"""

from __future__ import annotations

from widemargin.errors import UsageError

PREFIX = "lemma:"
"""What a stemmer's name begins with where lemmas are meant; the language follows, as in "lemma:en"."""


def check_language(language: str) -> None:
    """Refuse a language without a dictionary, and say so where simplemma is missing."""
    known = _languages()
    if language not in known:
        raise UsageError(
            f"There are no lemmas of the language {language!r}; the languages are "
            f"{', '.join(sorted(known))}, for example stemmer='{PREFIX}en'."
        )


def lemmatize(tokens: list[str], language: str) -> list[str]:
    """The lemma of each of `tokens`, in lower case as tokens are; what no dictionary has stays as it is.

    Examples
    --------
    >>> lemmatize(["harvests", "was", "zyx"], "en")
    ['harvest', 'be', 'zyx']
    """
    check_language(language)
    from simplemma import Lemmatizer

    lemmatizer = Lemmatizer()
    return [lemmatizer.lemmatize(token, language).casefold() or token for token in tokens]


def _languages() -> frozenset[str]:
    try:
        from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES
    except ImportError as error:
        raise UsageError(
            "Lemmas need simplemma. Run `pip install widemargin[lemmas]`, or use a stemmer such as 'english'."
        ) from error
    return frozenset(SUPPORTED_LANGUAGES)
