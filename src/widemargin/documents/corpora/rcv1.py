"""A sample of RCV1 as vectors ("rcv1-sample"): 1,000 and 500 stories, enough to see that something works.

Two of its rows occur on both sides, and what the label means is not stated at its source. Not LYRL2004.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from widemargin.documents.corpora.corpus import Parts, Source
from widemargin.documents.corpora.home import open_xz
from widemargin.documents.corpora.libsvm import joined

_FEATURES = 47_236
_NAMESPACE = re.compile(rb"\s*\|\w*\s*")


def _rows(path: Path) -> Iterator[bytes]:
    """Vowpal Wabbit's rows without their name space are SVM-light's."""
    with open_xz(path) as file:
        for line in file:
            yield _NAMESPACE.sub(b" ", line, count=1)


def load(paths: tuple[Path, ...], split: str | None) -> Parts:
    from widemargin.documents.formats.svmlight import parse_vectors

    train, test = (parse_vectors(_rows(path), str(path), _FEATURES) for path in paths)
    return (train, test) if split is not None else (joined(train, test), test.subset([]))


SOURCES = (
    Source(
        name="rcv1-sample",
        title="RCV1, a small sample: newswire, two classes",
        kind="vectors",
        files=("rcv1/rcv1_small_train.vw.xz", "rcv1/rcv1_small_test.vw.xz"),
        splits=("standard",),
        documents=1_500,
        classes=2,
        origin="https://github.com/VowpalWabbit/vowpal_wabbit (test data)",
        load=load,
    ),
)
