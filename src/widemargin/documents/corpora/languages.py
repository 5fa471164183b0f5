"""Texts for telling languages apart.

"udhr": the Universal Declaration of Human Rights in 532 versions; a document is a paragraph, its label the
code of the version ("deu_1996"; some languages have several). "lingua-sentences", "lingua-word-pairs" and
"lingua-words": sentences, pairs of words and single words of news in 75 languages, by ISO 639-1 code.
Neither has an official split; "random" draws a third for testing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from widemargin.documents.corpora.corpus import Loader, Source, labeled, random_side
from widemargin.documents.corpora.home import records


def _pieces_of(code: str, field: str) -> Loader:
    """Every piece of text in `field` is a document."""

    def pieces(paths: tuple[Path, ...]) -> Iterator[dict[str, Any]]:
        for record in records(paths[0]):
            for number, text in enumerate(record[field], 1):
                yield {"id": f"{record[code]}/{number}", "label": record[code], "text": text}

    return labeled(random_side, read=pieces)


_LINGUA = {
    "lingua-sentences": ("sentences", 74_141),
    "lingua-word-pairs": ("word_pairs", 74_613),
    "lingua-words": ("single_words", 74_036),
}

SOURCES = (
    Source(
        name="udhr",
        title="Declaration of Human Rights: paragraphs by language",
        files=("language_id/udhr.jsonl.xz",),
        documents=30_788,
        classes=532,
        origin="https://www.unicode.org/udhr/",
        load=_pieces_of("code", "paragraphs"),
    ),
    *(
        Source(
            name=name,
            title=f"Lingua test data: {field.replace('_', ' ')} by language",
            files=("language_id/lingua-testdata.jsonl.xz",),
            documents=documents,
            classes=75,
            origin="https://github.com/pemistahl/lingua-py",
            load=_pieces_of("lang", field),
        )
        for name, (field, documents) in _LINGUA.items()
    ),
)
