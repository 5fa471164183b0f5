"""Collections of vectors with the labels "1" and "-1"; train and test have the same columns.

Adult ("a1a" to "a9a") and web ("w1a" to "w8a") are Platt's sets for support vector machines. "rcv1-sample"
has 1,000 and 500 stories of RCV1, enough to see that something works. Two of its rows occur on both sides,
and its source does not say what the label means. It is not LYRL2004.
"""

from __future__ import annotations

import io
import lzma
import re
import tarfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from widemargin.documents.collection import Vectors
from widemargin.documents.corpora.corpus import Parts, Source
from widemargin.documents.corpora.home import open_xz
from widemargin.documents.limits import MAX_DOCUMENT
from widemargin.errors import DataError

# Training and test examples.
SIZES = {
    "a1a": (1_605, 30_956),
    "a2a": (2_265, 30_296),
    "a3a": (3_185, 29_376),
    "a4a": (4_781, 27_780),
    "a5a": (6_414, 26_147),
    "a6a": (11_220, 21_341),
    "a7a": (16_100, 16_461),
    "a8a": (22_696, 9_865),
    "a9a": (32_561, 16_281),
    "w1a": (2_477, 47_272),
    "w2a": (3_470, 46_279),
    "w3a": (4_912, 44_837),
    "w4a": (7_366, 42_383),
    "w5a": (9_888, 39_861),
    "w6a": (17_188, 32_561),
    "w7a": (24_692, 25_057),
    "w8a": (49_749, 14_951),
}
ORIGIN = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html"
_FEATURES = {"a": 123, "w": 300}
_RCV1_FEATURES = 47_236
_NAMESPACE = re.compile(rb"\s*\|\w*\s*")
_FOLDERS = {"a": "adult", "w": "web"}
# Those that the archives have; the others have to be fetched.
_ARCHIVED = ("a1a", "a2a", "a3a", "a4a", "a7a", "a8a", "a9a", "w1a", "w4a", "w6a", "w7a", "w8a")


def load(name: str, paths: tuple[Path, ...], split: str | None) -> Parts:
    from widemargin.documents.formats.svmlight import parse_vectors, read_vectors

    width = _FEATURES[name[0]]
    if paths[0].name.endswith(".tar.xz"):
        files = _members(paths[0], f"{_FOLDERS[name[0]]}/{name}", f"{_FOLDERS[name[0]]}/{name}.t")
        train, test = (parse_vectors(io.BytesIO(content), name, width) for content in files)
    else:
        train, test = (read_vectors(path, width) for path in paths)
    return (train, test) if split is not None else (joined(train, test), test.subset([]))


def _members(path: Path, *names: str) -> list[bytes]:
    try:
        with tarfile.open(path) as archive:
            files = [archive.extractfile(name) for name in names]
            content = [file.read(MAX_DOCUMENT + 1) for file in files if file is not None]
            if len(content) < len(names) or any(len(part) > MAX_DOCUMENT for part in content):
                raise KeyError("a file of the size that is expected")
            return content
    except (KeyError, tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
        raise DataError(
            f"{path}: damaged, or without {' and '.join(names)} ({error}). Get it again."
        ) from error


def joined(train: Vectors, test: Vectors) -> Vectors:
    import scipy.sparse as sp

    n = len(train)
    ids = [*train.ids, *(str(n + i) for i in range(1, len(test) + 1))]
    return Vectors(ids, sp.csr_array(sp.vstack([train.X, test.X])), [*train.labels, *test.labels])


def _source(name: str) -> Source:
    fetched = (f"libsvm/{name}", f"libsvm/{name}.t")
    return Source(
        name=name,
        title=f"{'Adult census' if name[0] == 'a' else 'Web pages'}, {SIZES[name][0]:,} training examples",
        kind="vectors",
        files=(f"libsvm/{_FOLDERS[name[0]]}-libsvm.tar.xz",) if name in _ARCHIVED else fetched,
        splits=("standard",),
        documents=sum(SIZES[name]),
        classes=2,
        origin=ORIGIN,
        load=partial(load, name),
        fetched=fetched,
    )


def _rows(path: Path) -> Iterator[bytes]:
    """Vowpal Wabbit's rows without their name space are SVM-light's."""
    with open_xz(path) as file:
        for line in file:
            yield _NAMESPACE.sub(b" ", line, count=1)


def load_rcv1(paths: tuple[Path, ...], split: str | None) -> Parts:
    from widemargin.documents.formats.svmlight import parse_vectors

    train, test = (parse_vectors(_rows(path), str(path), _RCV1_FEATURES) for path in paths)
    return (train, test) if split is not None else (joined(train, test), test.subset([]))


SOURCES = (
    *map(_source, SIZES),
    Source(
        name="rcv1-sample",
        title="RCV1, a small sample: newswire, two classes",
        kind="vectors",
        files=("rcv1/rcv1_small_train.vw.xz", "rcv1/rcv1_small_test.vw.xz"),
        splits=("standard",),
        documents=1_500,
        classes=2,
        origin="https://github.com/VowpalWabbit/vowpal_wabbit (test data)",
        load=load_rcv1,
    ),
)
