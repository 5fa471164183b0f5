"""From text to vectors on the command line: the options of `Vectorizer`, and what their words mean."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from widemargin.errors import MissingFileError, StorageError, UsageError

PANEL = "From text to vectors"
WEIGHTING = "SMART weighting of the terms."
STOP_LISTS = "freewais|FILE|none"
STOP_WORDS = "Leave these words out."
STEMMER = "porter, a Snowball language such as english or german, lemma:en and the like for lemmas, or none."


class Tokens(StrEnum):
    alnum = "alnum"
    unicode = "unicode"


class Units(StrEnum):
    words = "words"
    chars = "chars"
    chars_in_words = "chars_in_words"


def option(name: str, metavar: str, help: str, **how: Any) -> Any:
    """An option of this panel."""
    return typer.Option(name, metavar=metavar, help=help, rich_help_panel=PANEL, **how)


Weighting = Annotated[
    str | None,
    option(
        "--weighting",
        "TRIPLE",
        WEIGHTING,
        show_default="chosen by --tune, or tfc; winnows of counts sxx, other online learners bxx",
    ),
]
TokensOption = Annotated[
    Tokens,
    option(
        "--tokens",
        "alnum|unicode",
        "What a word is: a run of letters and digits, where every number is one token, or a Unicode word.",
    ),
]
UnitsOption = Annotated[Units, option("--units", "words|chars|chars_in_words", "What a term is made of.")]
Ngrams = Annotated[str, option("--ngrams", "N|M-N", "Lengths of terms in units.")]
MinDf = Annotated[
    str,
    option("--min-df", "N|SHARE", "Leave out terms in fewer documents (a share with a point: 0.01)."),
]
MaxDf = Annotated[str, option("--max-df", "N|SHARE", "Leave out terms in more documents.")]
MaxFeatures = Annotated[
    int | None,
    option("--max-features", "N", "Keep only the most frequent terms.", min=1, show_default="all"),
]
StopWords = Annotated[
    str | None,
    option("--stop-words", STOP_LISTS, STOP_WORDS, show_default="chosen by --tune, or none"),
]
Stemmer = Annotated[
    str | None,
    option("--stemmer", "NAME", STEMMER, show_default="chosen by --tune, or none"),
]
Hashed = Annotated[
    int | None,
    option(
        "--hashed",
        "N",
        "Hash terms to N columns instead of keeping a vocabulary.",
        min=1,
        show_default="off",
    ),
]

# Where nothing is chosen from the documents, the defaults are what they say.
PlainWeighting = Annotated[str, option("--weighting", "TRIPLE", WEIGHTING)]
PlainNgrams = Annotated[str, option("--ngrams", "N|M-N", "Lengths of terms in words.")]
PlainStopWords = Annotated[str, option("--stop-words", STOP_LISTS, STOP_WORDS)]
PlainStemmer = Annotated[str, option("--stemmer", "NAME", STEMMER)]
MinCount = Annotated[
    int,
    option("--min-count", "N", "Leave out terms that occur less often in all documents together.", min=1),
]


def ngram_range(text: str) -> tuple[int, int]:
    """The shortest and the longest length."""
    first, dash, last = text.partition("-")
    try:
        lengths = int(first), int(last if dash else first)
    except ValueError:
        lengths = (0, 0)
    if not 1 <= lengths[0] <= lengths[1]:
        raise UsageError(f"--ngrams {text}: expected a length or a range of lengths, such as 2 or 1-2.")
    return lengths


def frequency(name: str, text: str) -> int | float:
    """A number of documents, or a share of them with a point."""
    try:
        value = int(text)
    except ValueError:
        try:
            share = float(text)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            raise UsageError(
                f"{name} {text}: expected a number of documents or a share from 0.0 to 1.0."
            ) from None
        return share
    if value < 0:
        raise UsageError(f"{name} {text}: a number of documents is not negative.")
    return value


def stop_word_file(text: str | None) -> str | None:
    """The file that --stop-words names, if it names one."""
    return None if text in (None, "none", "freewais") else text


def stop_word_list(text: str | None) -> str | list[str] | None:
    """The name of a list, or the words of a file, one a line."""
    if text in (None, "none"):
        return None
    if text == "freewais":
        return text
    try:
        return Path(text).read_text(encoding="utf-8").split()
    except FileNotFoundError as error:
        raise MissingFileError(
            f"--stop-words {text}: no such file, and no list of that name but freewais."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"--stop-words {text}: {error}.") from error
