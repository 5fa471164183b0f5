"""The public collections of text classification behind one small interface.

They are not part of widemargin: they are searched in ``$WIDEMARGIN_DATA`` and in the user's cache, where
:func:`fetch_corpus` stores downloads.
"""

from __future__ import annotations

from widemargin.documents.corpora.corpus import Corpus, CorpusDescription
from widemargin.documents.corpora.fetching import fetch_corpus
from widemargin.documents.corpora.loading import DEFAULT, export_corpus, load_corpus
from widemargin.documents.corpora.registry import corpus_available, corpus_files, list_corpora

__all__ = [
    "DEFAULT",
    "Corpus",
    "CorpusDescription",
    "corpus_available",
    "corpus_files",
    "export_corpus",
    "fetch_corpus",
    "list_corpora",
    "load_corpus",
]
