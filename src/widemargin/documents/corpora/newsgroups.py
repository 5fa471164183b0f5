"""20 Newsgroups in the "bydate" version: messages of twenty Usenet groups, the later ones for testing.

The text is the whole message with its headers, its bytes read as Latin-1.
"""

from __future__ import annotations

from widemargin.documents.corpora.corpus import Source, labeled

SOURCES = (
    Source(
        name="20newsgroups",
        title="20 Newsgroups: Usenet messages by group",
        files=("20newsgroups/20news-bydate.jsonl.xz",),
        splits=("bydate",),
        documents=18_846,
        classes=20,
        origin="http://qwone.com/~jason/20Newsgroups/",
        load=labeled(),
    ),
)
