"""Texts for telling languages apart.

"udhr": the Universal Declaration of Human Rights in 532 versions; a document is a paragraph, its label the
code of the version ("deu_1996"; some languages have several). "lingua-sentences", "lingua-word-pairs" and
"lingua-words": sentences, pairs of words and single words of news in 75 languages, by ISO 639-1 code.
Neither has an official split; "random" draws a third for testing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from widemargin.documents.corpora.corpus import Parts, Source, load_labeled, random_side
from widemargin.documents.corpora.home import records


def _pieces(path: Path, code: str, field: str) -> Iterator[dict[str, Any]]:
    for record in records(path):
        for number, text in enumerate(record[field], 1):
            yield {"id": f"{record[code]}/{number}", "label": record[code], "text": text}


def load(code: str, field: str, paths: tuple[Path, ...], split: str | None) -> Parts:
    return load_labeled(_pieces(paths[0], code, field), split, random_side)


_LINGUA = {
    "lingua-sentences": ("sentences", 74_141),
    "lingua-word-pairs": ("word_pairs", 74_613),
    "lingua-words": ("single_words", 74_036),
}

SOURCES = (
    Source(
        name="udhr",
        title="Declaration of Human Rights: paragraphs by language",
        kind="text",
        files=("language_id/udhr.jsonl.xz",),
        splits=("random",),
        documents=30_788,
        classes=532,
        origin="https://www.unicode.org/udhr/",
        load=partial(load, "code", "paragraphs"),
        official=False,
    ),
    *(
        Source(
            name=name,
            title=f"Lingua test data: {field.replace('_', ' ')} by language",
            kind="text",
            files=("language_id/lingua-testdata.jsonl.xz",),
            splits=("random",),
            documents=documents,
            classes=75,
            origin="https://github.com/pemistahl/lingua-py",
            load=partial(load, "lang", field),
            official=False,
        )
        for name, (field, documents) in _LINGUA.items()
    ),
)
