"""What of the documents decides which axes of tuning apply: their language, their fields, their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from widemargin.text.fields import find_field
from widemargin.text.inputs import taken
from widemargin.text.stop_lists import stop_list
from widemargin.tune.staged.axes import Documents
from widemargin.weight.vectorizer import Vectorizer

# Documents looked at.
_SAMPLE = 500
# Of the distinct words of an English text, stop words are 15 to 50 %; of a German one, 6 %.
_ENGLISH = 0.1
# A field is one if this share of the documents has it.
_HAVE = 0.8
# A first line is a title if it is that short, absolutely and relative to the text.
_LONGEST_TITLE, _TITLE_SHARE = 200, 0.5
# Characters of a short document: news in brief have about 250, questions 50.
_SHORT = 400


def describe(documents: Any, vectorizer: Vectorizer, *, multilabel: bool) -> Documents:
    """What the choice of axes needs to know."""
    if getattr(documents, "ndim", 1) == 2:
        return Documents(documents.shape[0], vectors=True, multilabel=multilabel)
    n = len(documents)
    places = np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.intp)
    texts = [
        text.decode(errors="replace") if isinstance(text, bytes) else text
        for text in _listed(taken(documents, places))
    ]
    columns = getattr(vectorizer, "fields", None)
    fields = fields_of(texts, columns)
    short = bool(np.median([len(text) for text in texts]) <= _SHORT)
    return Documents(n, multilabel=multilabel, english=is_english(texts), fields=fields, short=short)


def is_english(texts: Sequence[str]) -> bool:
    """Whether English stop words are common.

    Examples
    --------
    >>> is_english(["the price of wheat was up"]), is_english(["der Preis für Weizen ist gestiegen"])
    (True, False)
    """
    stops = stop_list("freewais")
    words = [set(text.lower().split()) for text in texts]
    return sum(len(found & stops) for found in words) >= _ENGLISH * max(sum(map(len, words)), 1)


def fields_of(texts: Sequence[str], columns: Sequence[str] | None = None) -> tuple[str, ...]:
    r"""The blocks of fields: a column that is called title or subject, a header line, or a short first line.

    Examples
    --------
    >>> fields_of(["From: a\nSubject: b\n\nc d e f g h", "Subject: i\n\nj"]), fields_of(["a b c"])
    (('subject',), ())
    """
    if columns:
        return tuple(name for name in columns if name.lower() in ("title", "subject", "headline"))
    if _have(texts, lambda text: _length(text, "subject") > 0):
        return ("subject",)
    if _have(texts, lambda text: 0 < _length(text, "title") <= min(_LONGEST_TITLE, _TITLE_SHARE * len(text))):
        return ("title",)
    return ()


def _length(text: str, field: str) -> int:
    start, end = find_field(text, field)
    return end - start


def _have(texts: Sequence[str], test: Any) -> bool:
    return bool(sum(map(test, texts)) >= _HAVE * max(len(texts), 1))


def _listed(texts: Any) -> list[Any]:
    return texts.to_pylist() if hasattr(texts, "to_pylist") else list(texts)
