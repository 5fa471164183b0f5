"""Adult ("a1a" to "a9a") and web ("w1a" to "w8a") as vectors: Platt's sets for support vector machines.

Labels are "1" and "-1"; train and test have the same columns.
"""

from __future__ import annotations

import io
import lzma
import tarfile
from functools import partial
from pathlib import Path

from widemargin.documents.collection import Vectors
from widemargin.documents.corpora.corpus import Parts, Source
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


SOURCES = tuple(map(_source, SIZES))
