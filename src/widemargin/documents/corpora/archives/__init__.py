"""Convert the official archives of the collections to the records that the loaders read.

Every function takes the path of a downloaded archive, or of a folder of downloaded files, and yields records.
Nothing is unpacked to the disk.
"""

from __future__ import annotations

from widemargin.documents.corpora.archives.collections import (
    clinc150,
    imdb,
    imdb_part,
    newsgroups,
    ohsumed,
    reuters,
    sms_spam,
    techtc,
    webkb,
)
from widemargin.documents.corpora.archives.members import Records
from widemargin.documents.corpora.archives.tagged import ohsumed_1991, rcv1

__all__ = [
    "Records",
    "clinc150",
    "imdb",
    "imdb_part",
    "newsgroups",
    "ohsumed",
    "ohsumed_1991",
    "rcv1",
    "reuters",
    "sms_spam",
    "techtc",
    "webkb",
]
