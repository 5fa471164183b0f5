"""The three collections as counts of words, as chapter 4 of Joachims (2000) uses them: no stop list, no
stemming, every number one token."""

from __future__ import annotations

from collections.abc import Callable

from widemargin.papers.joachims.text_tasks import Report, TextTask, ohsumed, reuters, webkb
from widemargin.weight.vectorizer import Vectorizer

# The categories that the chapter models, with their collections.
MODELED = {"WebKB": "course", "Reuters-21578": "earn", "Ohsumed": "Pathology"}
_LOAD: dict[str, Callable[..., TextTask]] = {"WebKB": webkb, "Reuters-21578": reuters, "Ohsumed": ohsumed}


def counted(title: str, report: Report) -> TextTask:
    """A collection by its name."""
    return _LOAD[title](report, Vectorizer(tokens="alnum", weighting=None))
