"""Lemmas (dictionary forms, such as "be" for "was") of distinct tokens, by simplemma.

simplemma holds dictionaries of about fifty languages (19 MB), so it is an optional extra:
``pip install widemargin[lemmas]``.
"""

from __future__ import annotations

from widemargin.errors import UsageError

PREFIX = "lemma:"
"""Prefix of a stemmer's name that selects lemmas; the language follows, as in "lemma:en"."""


def check_language(language: str) -> None:
    """Raise an error if the language has no dictionary or simplemma is not installed."""
    known = _languages()
    if language not in known:
        raise UsageError(
            f"There are no lemmas for the language {language!r}; the languages are "
            f"{', '.join(sorted(known))}, for example stemmer='{PREFIX}en'."
        )


def lemmatize(tokens: list[str], language: str) -> list[str]:
    """The lemma of each of `tokens`, in lower case; tokens without an entry are kept as they are.

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
