"""What is fuzzed: valid inputs to start from, how a case is made of them, and what has to survive it."""

from __future__ import annotations

import copy
import dataclasses
import functools
import gzip
import hashlib
import io
import json
import lzma
import random
import struct
import tarfile
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp

from tests.fuzz import on_disk
from tests.fuzz.mutations import mutated, mutated_json
from widemargin.errors import DataError, WidemarginError


@dataclasses.dataclass(frozen=True)
class Target:
    """`make` draws a case; `run` uses it and raises only what a user may see."""

    make: Callable[[random.Random], bytes]
    run: Callable[[bytes, Path], None]


def check(target: Target, case: bytes) -> str:
    """Run a case in a folder of its own: "fine", or the class of the error that it ends in."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            target.run(case, Path(folder))
        except WidemarginError as error:
            message, outcome = str(error), type(error).__name__
        else:
            message, outcome = "no error", "fine"
    assert message.strip(), "an error without a message"
    return outcome


def case_of(name: str, seed: int, number: int) -> bytes:
    """The case of this number: the same in every process."""
    return TARGETS[name].make(random.Random(f"{seed}/{name}/{number}"))


def _bytes_target(seeds: Sequence[bytes], run: Callable[[bytes, Path], None]) -> Target:
    return Target(lambda rng: mutated(rng.choice(seeds), rng, seeds), run)


# Documents -------------------------------------------------------------------------------------------------

_TEXTS = ("A wide margin", "naïve café", "日本語 text", "1234 5.6", "line\\nbreak")
_JSONL = "".join(
    json.dumps({"id": str(i), "text": text, "labels": labels}, ensure_ascii=bool(i % 2)) + "\n"
    for i, (text, labels) in enumerate(zip(_TEXTS, ([], ["a"], ["a", "b"], None, "c"), strict=True))
).encode()
_CSV = 'id,text,label\n1,"wide, margin",a\n2,"two\nlines",b\n3,naïve,a\n4,"a ""quote""",b\n'.encode()
_TSV = "1\tspam\tbuy now\n2\tham\tsee you\n3\tham\tthe margin is wide\n".encode("latin-1")
_FASTTEXT = b"__label__spam Win a prize\n__label__ham __label__work see you\n"
_VECTORS = b"1 qid:3 1:0.5 7:1.25 # one\n-1 2:1e-3 7:2\n0 1:1\n1,3 4:0.25 9:1\n"


def _compressed(data: bytes) -> list[bytes]:
    import zstandard

    return [gzip.compress(data, mtime=0), lzma.compress(data), zstandard.compress(data)]


def _read_documents(name: str, *, stream: bool = False) -> Callable[[bytes, Path], None]:
    def run(case: bytes, folder: Path) -> None:
        from widemargin.documents.reading import read_collection, read_stream

        path = folder / name
        path.write_bytes(case)
        # How it is read belongs to the case as well.
        drawn = random.Random(case)
        encoding = drawn.choice((None, None, "utf-8", "latin-1", "utf-16"))
        errors: Any = drawn.choice(("replace", "strict"))
        if stream and drawn.random() < 0.5:
            reader = read_stream(path, encoding=encoding, errors=errors)
            try:
                for batch in reader.batches():
                    assert len(batch.ids) == len(batch.texts) == len(batch.labels) == len(batch.lines)
            finally:
                reader.close()
            return
        delimiter = drawn.choice((None, ";"))
        found = read_collection(path, encoding=encoding, errors=errors, label_delimiter=delimiter)
        for text in getattr(found, "texts", ()):
            text.encode()  # no lone surrogates

    return run


_MEMBERS = {"d/a.csv": _CSV, "d/b.jsonl": _JSONL}
_CLASSES = {"spam/1.txt": b"buy now", "ham/1.txt": "naïve café".encode("latin-1"), "ham/2.txt": b""}


def _zip_seeds() -> list[bytes]:
    import zipfile

    seeds = []
    for members in (_MEMBERS, _CLASSES):
        for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w", compression) as archive:
                for name, data in members.items():
                    archive.writestr(zipfile.ZipInfo(name), data, compression)
            seeds.append(buffer.getvalue())
    return seeds


def _tar_seeds() -> list[bytes]:
    import tarfile

    seeds = []
    for members in (_MEMBERS, _CLASSES):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for name, data in members.items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
        seeds += [buffer.getvalue(), gzip.compress(buffer.getvalue(), mtime=0)]
    return seeds


def _excel_seeds() -> list[bytes]:
    """Workbooks that are not compressed, so that what is changed is read; their times are fixed."""
    try:
        import openpyxl
    except ImportError:
        return []
    import zipfile

    book = openpyxl.Workbook()
    for row in (("id", "text", "label"), (1, "wide margin", "a"), (2.5, "naïve", True), (None, "", "b")):
        book.active.append(row)
    whole, buffer = io.BytesIO(), io.BytesIO()
    book.save(whole)
    with zipfile.ZipFile(whole) as made, zipfile.ZipFile(buffer, "w") as plain:
        for name in made.namelist():
            if name != "docProps/core.xml":  # has the time of writing
                plain.writestr(zipfile.ZipInfo(name), made.read(name))
    return [buffer.getvalue()]


def _parquet_seeds() -> list[bytes]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return []
    labels = [["a"], ["b", "a"], [], None, ["c"]]
    tables = [
        pa.table({"id": [1, 2, 3, 4, 5], "text": list(_TEXTS), "labels": labels}),
        pa.table({"text": pa.array(list(_TEXTS)).dictionary_encode(), "label": ["a", "b", None, "a", "b"]}),
    ]
    seeds = []
    for table in tables:
        for options in ({"compression": "none"}, {"compression": "snappy", "use_dictionary": False}):
            buffer = io.BytesIO()
            pq.write_table(table, buffer, **options)
            seeds.append(buffer.getvalue())
    return seeds


def _read_vectors(case: bytes, folder: Path) -> None:
    from widemargin.documents.formats.svmlight import read_vectors

    path = folder / "vectors.svm"
    path.write_bytes(case)
    _check_csr(read_vectors(path).X)


def _check_csr(X: Any) -> None:
    assert X.indptr[0] == 0
    assert np.all(np.diff(X.indptr) >= 0)
    assert X.nnz == len(X.indices) == len(X.data)
    assert not X.nnz or (X.indices.min() >= 0 and X.indices.max() < X.shape[1])
    assert np.isfinite(X.data).all()


# Models ----------------------------------------------------------------------------------------------------


def _svmlight_models() -> list[bytes]:
    def model(kernel: int, vectors: str) -> bytes:
        n = vectors.count("\n") + 1
        head = f"SVM-light Version V6.02\n{kernel} # kernel type\n3 # kernel parameter -d \n0.5 # -g\n"
        head += "1 # -s\n1 # -r\nempty# -u\n9 # highest feature index\n4 # number of training documents\n"
        head += f"{n} # number of support vectors plus 1\n0.25 # threshold b\n"
        return (head + vectors).encode()

    vectors = "0.5 1:0.5 7:1.25 #\n-0.5 2:1 9:-1 #\n"
    return [model(kernel, vectors) for kernel in range(4)]


def _load_classifier(case: bytes, folder: Path, name: str = "model.wm") -> None:
    from widemargin import TextClassifier

    path = folder / name
    path.write_bytes(case)
    classifier = TextClassifier.load(path)
    if classifier.vectorizer_ is None:
        X: Any = sp.csr_array(np.eye(2, classifier.n_features_in_))
    else:
        X = ["a wide margin", ""]
    scores = np.asarray(classifier.decision_function(X))
    assert np.isfinite(scores).all(), "a model that was loaded gives scores that are not finite"
    classifier.predict(X)


@functools.cache
def _model_seeds() -> list[bytes]:
    from widemargin import KernelSVM, LinearSVM, TextClassifier

    texts = ["wide margin", "narrow margin", "wide road", "narrow road", "a b c", "c d e"] * 2
    single = ["a", "b", "a", "b", "a", "b"] * 2
    several = [["a"], ["b"], ["a", "b"], [], ["a"], ["b"]] * 2
    classifiers = [
        TextClassifier(None, LinearSVM(random_state=0), estimate=None).fit(texts, single),
        TextClassifier(None, LinearSVM(random_state=0), estimate=None).fit(texts, several),
        TextClassifier(None, KernelSVM(1.0, gamma=0.5), estimate=None).fit(texts, single),
    ]
    seeds = []
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        for classifier in classifiers:
            classifier.save(Path(folder) / "model.wm")
            seeds.append((Path(folder) / "model.wm").read_bytes())
    return seeds


def _make_model(rng: random.Random) -> bytes:
    """Bytes changed anywhere; or members changed and every size and hash made to fit, as a stranger could."""
    seed = rng.choice(_model_seeds())
    if rng.random() < 0.2:
        return mutated(seed, rng, _model_seeds())
    with zipfile.ZipFile(io.BytesIO(seed)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    arrays = members["arrays.safetensors"]
    kind = rng.randrange(4)
    if kind == 0:
        name = rng.choice(sorted(members))
        members[name] = mutated(members[name], rng)
    elif kind == 1:  # values of arrays
        members["arrays.safetensors"] = _changed_arrays(arrays, manifest, rng)
    else:
        for _ in range(rng.randint(1, 3)):
            part = rng.choice(("config", "config", "summary", "arrays", None))
            if part is None:
                manifest = mutated_json(manifest, rng)
            elif isinstance(manifest, dict) and part in manifest:
                manifest[part] = mutated_json(copy.deepcopy(manifest[part]), rng)
    if isinstance(manifest, dict) and isinstance(manifest.get("members"), dict) and rng.random() < 0.95:
        for name, data in members.items():
            manifest["members"][name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return _zipped({"manifest.json": json.dumps(manifest).encode(), **members})


def _changed_arrays(data: bytes, manifest: dict[str, Any], rng: random.Random) -> bytes:
    from safetensors.numpy import load, save

    arrays = {name: array.copy() for name, array in sorted(load(data).items())}
    name = rng.choice(sorted(arrays))
    array = arrays[name]
    kind = rng.randrange(4)
    if kind == 0 and array.size:
        odd = (np.nan, np.inf, -np.inf, 1e300, -1.0, 0.0, 2.0**31)
        with np.errstate(all="ignore"):
            array.reshape(-1)[rng.randrange(array.size)] = np.array(rng.choice(odd)).astype(array.dtype)
    elif kind == 1:
        arrays[name] = array.astype(rng.choice(("float32", "float64", "int8", "int64", "bool", "uint16")))
    elif kind == 2:
        arrays[name] = np.concatenate([array, array]) if array.ndim and rng.random() < 0.5 else array[:-1]
    else:
        arrays[name] = array.reshape(-1) if array.ndim != 1 else array[None]
    arrays = {key: np.ascontiguousarray(value) for key, value in arrays.items()}
    manifest["arrays"] = {
        key: {**manifest["arrays"].get(key, {}), "dtype": str(value.dtype), "shape": list(value.shape)}
        for key, value in arrays.items()
    }
    return save(arrays)


def _zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    mark = b"widemargin-model sha256 "
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
        archive.comment = mark + b"0" * 64
    data = buffer.getvalue()[:-64]
    return data + hashlib.sha256(data).hexdigest().encode()


# Archives of collections -----------------------------------------------------------------------------------


def _tar(files: dict[str, bytes], compression: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{compression}") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def _archive_seeds() -> dict[str, list[bytes]]:
    story = (
        b'<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="1" NEWID="1">'
        b"<TOPICS><D>earn</D></TOPICS><TEXT><TITLE>T</TITLE><BODY>Body</BODY></TEXT></REUTERS>"
    )
    sms = io.BytesIO()
    with zipfile.ZipFile(sms, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("SMSSpamCollection"), "ham\tsee you\nspam\tbuy now\n")
    clinc = {"train": [["what time is it", "time"]], "oos_test": [["?", "oos"]], "val": []}
    trees = {
        "reuters21578": {"reut2-000.sgm": story, "README.txt": b"x"},
        "newsgroups20": {"20news-bydate-train/alt.atheism/1": b"a", "20news-bydate-test/sci.med/2": b"b"},
        "webkb": {"webkb/course/cornell/http:^^x": b"<html>"},
        "ohsumed": {"ohsumed-first-20000-docs/training/C01/0000001": b"t"},
        "imdb": {"aclImdb/train/pos/1_9.txt": b"good", "aclImdb/test/neg/x_1.txt": b"bad"},
    }
    seeds = {name: [_tar(files, "gz"), _tar(files, "")] for name, files in trees.items()}
    return {**seeds, "sms-spam": [sms.getvalue()], "clinc150": [json.dumps(clinc).encode()]}


@functools.cache
def _archives() -> list[tuple[str, bytes]]:
    from widemargin.documents.corpora.fetching import RECIPES

    letters = {name.replace("-", "").replace("_", ""): name for name in RECIPES}
    found = [
        (real, seed)
        for name, seeds in _archive_seeds().items()
        for plain, real in letters.items()
        if plain.startswith(name.replace("-", "")[:6])
        for seed in seeds
    ]
    assert len({real for real, _ in found}) >= 5
    return found


def _make_archive(rng: random.Random) -> bytes:
    name, seed = rng.choice(_archives())
    if seed[:1] == b"{" and rng.random() < 0.5:
        return name.encode() + b"\n" + json.dumps(mutated_json(json.loads(seed), rng)).encode()
    if seed[:2] == b"\x1f\x8b" and rng.random() < 0.5:  # inside the compression
        return name.encode() + b"\n" + gzip.compress(mutated(gzip.decompress(seed), rng), mtime=0)
    return name.encode() + b"\n" + mutated(seed, rng)


def _fetch(case: bytes, folder: Path) -> None:
    from widemargin.documents.corpora import fetching

    name, _, data = case.partition(b"\n")
    path = folder / "archive"
    path.write_bytes(data)
    recipe = dataclasses.replace(fetching.RECIPES[name.decode()], digest=None)
    with mock.patch.dict(fetching.RECIPES, {name.decode(): recipe}):
        try:
            fetching.fetch_corpus(name.decode(), folder / "home", path)
        except DataError as error:
            if "documents where the collection has" not in str(error):  # it was read to its end
                raise


# The core's gate -------------------------------------------------------------------------------------------

_EDGES = (-1, 0, 1, 2, 3, 7, 10**8, 2**31 - 1, -(2**31), 2**32, 2**62, -(2**62))


def _make_matrix(rng: random.Random) -> bytes:
    """A sparse matrix that went wrong: JSON, so that a find can be read."""
    rows, columns = rng.randint(1, 6), rng.randint(1, 5)
    indptr, indices = [0], []
    for _ in range(rows):
        indices += sorted(rng.sample(range(columns), rng.randint(0, columns)))
        indptr.append(len(indices))
    data = [rng.uniform(-2, 2) for _ in indices]
    parts: dict[str, Any] = {"indptr": indptr, "indices": indices, "data": data}
    for _ in range(rng.randint(0, 3)):
        part = rng.choice(sorted(parts))
        values = parts[part]
        kind = rng.randrange(4)
        if kind == 0 and values:
            odd = (float("nan"), float("inf"), 1e200, 1e-310) if part == "data" else _EDGES
            values[rng.randrange(len(values))] = rng.choice(odd)
        elif kind == 1 and len(values) > 1:
            a, b = rng.sample(range(len(values)), 2)
            values[a], values[b] = values[b], values[a]
        elif kind == 2 and len(values) > 1:
            values.pop()
        elif kind == 3 and values:
            values.append(values[-1])
    kinds = {
        "index": rng.choice(("int32", "int64", "int32", "uint32", "int16")),
        "value": rng.choice(("float64", "float32", "float64", "int64", "bool", "float16", "complex128")),
        "use": rng.choice(("linear", "kernel", "squares", "online", "score", "transform")),
        "sorted": rng.choice((None, True)),
    }
    return json.dumps({**parts, **kinds, "shape": [rows, columns]}).encode()


def _fit_matrix(case: bytes, folder: Path) -> None:
    import widemargin as wm

    parts = json.loads(case)
    rows, columns = parts["shape"]
    X = sp.csr_array((rows, columns), dtype=np.float64)
    with np.errstate(all="ignore"):
        wide = [np.array(parts[key], dtype=object) for key in ("indptr", "indices")]
        X.indptr, X.indices = (_wrapped(values, parts["index"]) for values in wide)
        X.data = np.array(parts["data"], dtype=np.float64).astype(parts["value"])
    if parts["sorted"]:
        X.has_sorted_indices = X.has_canonical_format = True
    y = np.arange(rows) % 2
    good = sp.csr_array(np.arange(4 * columns, dtype=np.float64).reshape(4, columns) % 3)
    learners: dict[str, Callable[[], Any]] = {
        "linear": lambda: wm.LinearSVM(max_iter=20, n_jobs=2),
        "kernel": lambda: wm.KernelSVM(1.0, gamma=0.5, max_iter=100),
        "squares": lambda: wm.RegularizedLeastSquares(),
        "online": lambda: wm.Perceptron(),
    }
    use = parts["use"]
    try:
        if use in learners:
            learner = learners[use]().fit(X, y)
            scores = learner.decision_function(good)
        elif use == "transform":
            scores = wm.SelectFeatures(n_features=1).fit(X, y).transform(good).sum(axis=1)
        else:
            learner = wm.LinearSVM(n_jobs=1).fit(good, [0, 1, 0, 1])
            scores = learner.decision_function(X)
    except WidemarginError:
        raise
    except (ValueError, OverflowError):
        return  # scikit-learn's and SciPy's own words are as good as ours
    except (TypeError, IndexError) as error:
        if any(word in str(error) for word in ("sparse", "dtype", "index")):
            return
        raise
    assert np.isfinite(scores).all(), f"{use}: scores that are not finite"


def _wrapped(values: Any, dtype: str) -> Any:
    bits = np.dtype(dtype).itemsize * 8
    raw = b"".join(struct.pack("<q", int(v) % 2**bits - (2**bits if int(v) % 2**bits >= 2**63 else 0))
                   for v in values)  # fmt: skip
    return np.frombuffer(raw, dtype=np.int64).astype(dtype)


TARGETS: dict[str, Target] = {
    "jsonl": _bytes_target(
        [_JSONL, _JSONL.decode().encode("utf-16")], _read_documents("d.jsonl", stream=True)
    ),
    "csv": _bytes_target([_CSV, _CSV.decode().encode("latin-1")], _read_documents("d.csv")),
    "tsv": _bytes_target([_TSV], _read_documents("d.tsv")),
    "guessed": _bytes_target(
        [_JSONL, _CSV, _TSV, _FASTTEXT, _VECTORS, *_compressed(_JSONL)], _read_documents("d")
    ),
    "vectors": _bytes_target([_VECTORS], _read_vectors),
    "zip": _bytes_target(_zip_seeds(), _read_documents("d.zip")),
    "tar": _bytes_target(_tar_seeds(), _read_documents("d.tar")),
    "svmlight-model": _bytes_target(
        _svmlight_models(), lambda case, folder: _load_classifier(case, folder, "m.svm")
    ),
    "archives": Target(_make_archive, _fetch),
    "model": Target(_make_model, _load_classifier),
    "matrix": Target(_make_matrix, _fit_matrix),
    "row-block": Target(on_disk.make_block, on_disk.read_block),
    "terms-on-disk": Target(on_disk.make_pages, on_disk.merge_with_sound),
}
if _EXCEL := _excel_seeds():
    TARGETS["xlsx"] = _bytes_target(_EXCEL, _read_documents("d.xlsx"))
if _PARQUET := _parquet_seeds():
    TARGETS["parquet"] = _bytes_target(_PARQUET, _read_documents("d.parquet"))
