"""Fetch a collection: its official archive, downloaded or given, converted to what the loaders read."""

from __future__ import annotations

import hashlib
import json
import lzma
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from widemargin._files import refuse_inputs, replacing
from widemargin.documents.corpora import archives, vectors
from widemargin.documents.corpora.home import DAMAGED, cache_folder, described
from widemargin.documents.corpora.registry import find_files, find_source
from widemargin.errors import DataError, MissingFileError, StorageError, UsageError, WidemarginError
from widemargin.progress import track

_TIMEOUT = 30  # seconds without a byte
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Recipe:
    """Where a collection is downloaded from, and how it is converted.

    `addresses` are tried in order: the collection's home first, then copies of the same archive. `digest` is
    "sha256:..." or "md5:..." and is checked where it is known. Without `convert` the files at the addresses
    of `files` are kept as they are. A collection of several files is converted from all of `parts`. One
    without any address has to be given as an archive, and `how` says of what. `documents` is None where the
    number is not known.
    """

    documents: int | None
    addresses: tuple[str, ...] = ()
    digest: str | None = None
    convert: Callable[[Path], archives.Records] | None = None
    files: tuple[str, ...] = field(default=())
    parts: tuple[str, ...] = ()
    how: str = ""


_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
_IMDB = ("https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",)
_IMDB_DIGEST = "md5:7c2ac02c03563afcf9b574c7e56c153a"

_RCV1 = "http://www.jmlr.org/papers/volume5/lewis04a"
_RCV1_PARTS = ("train", "test_pt0", "test_pt1", "test_pt2", "test_pt3")

RECIPES: dict[str, Recipe] = {
    "reuters21578": Recipe(
        21_578,
        (
            "http://www.daviddlewis.com/resources/testcollections/reuters21578/reuters21578.tar.gz",
            "https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.tar.gz",
            "https://archive.ics.uci.edu/ml/machine-learning-databases/reuters21578-mld/reuters21578.tar.gz",
        ),
        "sha256:3bae43c9b14e387f76a61b6d82bf98a4fb5d3ef99ef7e7075ff2ccbcf59f9d30",
        archives.reuters,
    ),
    "20newsgroups": Recipe(
        18_846,
        (
            "http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
            "https://ndownloader.figshare.com/files/5975967",
        ),
        "sha256:8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
        archives.newsgroups,
    ),
    "webkb": Recipe(
        8_282,
        ("http://www.cs.cmu.edu/afs/cs.cmu.edu/project/theo-20/www/data/webkb-data.gtar.gz",),
        None,
        archives.webkb,
    ),
    "ohsumed": Recipe(
        13_929,
        ("http://disi.unitn.it/moschitti/corpora/ohsumed-first-20000-docs.tar.gz",),
        None,
        archives.ohsumed,
    ),
    "ohsumed-1991": Recipe(
        50_216,
        convert=archives.ohsumed_1991,
        how="Put ohsumed.91 (from the collection's home) and a MeSH tree of that time (mtrees*.bin of the "
        "National Library of Medicine, lines such as Asthma;C08.127.108) into one folder.",
    ),
    "rcv1-v2": Recipe(
        804_414,
        convert=archives.rcv1,
        parts=(
            *(f"{_RCV1}/a12-token-files/lyrl2004_tokens_{part}.dat.gz" for part in _RCV1_PARTS),
            f"{_RCV1}/a08-topic-qrels/rcv1-v2.topics.qrels.gz",
        ),
    ),
    "techtc100": Recipe(
        None, convert=archives.techtc, how="Get its folders Exp_A_B with all_pos.txt and all_neg.txt."
    ),
    "sms-spam": Recipe(
        5_574,
        ("https://archive.ics.uci.edu/static/public/228/sms+spam+collection.zip",),
        None,
        archives.sms_spam,
    ),
    "clinc150": Recipe(
        23_700,
        ("https://raw.githubusercontent.com/clinc/oos-eval/master/data/data_full.json",),
        None,
        archives.clinc150,
    ),
    "imdb": Recipe(10_000, _IMDB, _IMDB_DIGEST, archives.imdb_part),
    "imdb-full": Recipe(50_000, _IMDB, _IMDB_DIGEST, archives.imdb),
    **{
        name: Recipe(sum(sizes), files=(f"{_LIBSVM}/{name}", f"{_LIBSVM}/{name}.t"))
        for name, sizes in vectors.SIZES.items()
    },
}


def fetch_corpus(
    name: str, data_home: str | Path | None = None, archive: str | Path | None = None
) -> tuple[Path, ...]:
    """Put a collection into the user's cache (or `data_home`), unless it is already on this machine.

    Its official archive is downloaded, or read from `archive` where one is given (a file, or a folder with
    its files), and converted. Returns the paths of its files. A file appears only when it is complete and has
    the number of documents that the collection is known to have.
    """
    source = find_source(name)
    if (paths := find_files(source, data_home)) is not None:
        return paths
    if name not in RECIPES:
        raise UsageError(
            f"{name} cannot be fetched: its home offers no archive that can be converted. Get the collection "
            f"from {source.origin} and put {' and '.join(source.files)} into {cache_folder()}."
        )
    recipe = RECIPES[name]
    if archive is None and not (recipe.addresses or recipe.files or recipe.parts):
        raise UsageError(
            f"{name} has no single address to be downloaded from. {recipe.how} Its home is {source.origin}. "
            f"Then run `widemargin corpus fetch {name} --archive FOLDER` (or a tar or zip file of it)."
        )
    if archive is not None:
        _check_archive(name, recipe, archive)
    home = Path(data_home) if data_home is not None else cache_folder()
    targets = tuple(home / file for file in source.fetched or source.files)
    if archive is not None:
        for target in targets:
            refuse_inputs(target, [archive])
    try:
        for target in targets:
            target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=home) as folder:
            if recipe.convert is None:
                _keep(name, recipe, Path(folder), targets)
            else:
                if archive is None and recipe.parts:
                    found = _all_parts(name, recipe, Path(folder) / "parts")
                elif archive is None:
                    found = _downloaded(name, recipe, Path(folder))
                else:
                    found = Path(archive)
                    _check_digest(found, recipe.digest, str(archive))
                _convert(name, recipe, recipe.convert, found, targets[0])
    except WidemarginError:
        raise
    except OSError as error:
        raise StorageError(
            f"{home}: cannot be written ({error.strerror or error}). Free some space."
        ) from error
    return targets


def _check_archive(name: str, recipe: Recipe, archive: str | Path) -> None:
    if recipe.convert is None:
        raise UsageError(f"{name} is {len(recipe.files)} files, not an archive. Leave out --archive.")
    if not Path(archive).exists():
        raise MissingFileError(f"There is no file {archive}. Check the name of the archive of {name}.")
    if Path(archive).is_dir() and recipe.digest is not None:
        raise UsageError(f"{archive} is a folder. Give the archive of {name} as it was downloaded.")


def _all_parts(name: str, recipe: Recipe, folder: Path) -> Path:
    """A folder with all files of the collection."""
    folder.mkdir()
    try:
        for address in recipe.parts:
            _download(name, address, folder / address.rpartition("/")[2])
    except StorageError as error:
        raise StorageError(
            f"{name} was not fetched. {error} {_by_hand(name)} into a folder and run `widemargin corpus "
            f"fetch {name} --archive FOLDER`."
        ) from error
    return folder


def _downloaded(name: str, recipe: Recipe, folder: Path) -> Path:
    """The archive from the first address where it is complete and unaltered."""
    failures: list[StorageError | DataError] = []
    for number, address in enumerate(recipe.addresses):
        path = folder / f"archive-{number}"
        try:
            _download(name, address, path)
            _check_digest(path, recipe.digest, address)
        except (StorageError, DataError) as error:
            failures.append(error)
        else:
            return path
    altered = all(isinstance(failure, DataError) for failure in failures)
    reasons = " ".join(map(str, failures))
    how = f"{_by_hand(name)} and run `widemargin corpus fetch {name} --archive FILE`"
    raise (DataError if altered else StorageError)(f"{name} was not fetched. {reasons} {how}.") from failures[
        -1
    ]


def _by_hand(name: str) -> str:
    return f"Try again later, or download it yourself from {find_source(name).origin}"


def _download(name: str, address: str, path: Path) -> None:
    # Imported only where something is downloaded.
    import http.client
    import urllib.error
    import urllib.request

    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT) as response, path.open("wb") as file:
            length = int(response.headers.get("Content-Length") or 0)
            chunks = iter(lambda: response.read(_CHUNK), b"")
            for chunk in track(
                chunks, f"Fetching {name}", total=length // _CHUNK + 1 if length else None, unit="MB"
            ):
                file.write(chunk)
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
        reason = error if isinstance(error, urllib.error.HTTPError) else getattr(error, "reason", error)
        raise StorageError(f"{address} could not be downloaded ({reason}).") from error
    size = path.stat().st_size
    if length and size != length:
        raise StorageError(f"{address}: the download stopped after {size:,} of {length:,} bytes.")


def _check_digest(path: Path, digest: str | None, place: str) -> None:
    if digest is None:
        return
    algorithm, _, expected = digest.partition(":")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, algorithm).hexdigest()
    if found != expected:
        raise DataError(f"{place}: not the expected archive; its {algorithm} is {found}, not {expected}.")


def _convert(
    name: str, recipe: Recipe, convert: Callable[[Path], archives.Records], archive: Path, target: Path
) -> None:
    count = 0
    with replacing(target) as raw:
        with lzma.open(raw, "wb") as file:
            records = _records(name, convert, archive)
            for record in track(records, f"Converting {name}", total=recipe.documents):
                file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
                count += 1
        if recipe.documents is not None and count != recipe.documents:
            raise DataError(
                f"{name}: the archive has {count:,} documents where the collection has {recipe.documents:,}. "
                f"It is not the expected one, and was not kept."
            )


def _records(name: str, convert: Callable[[Path], archives.Records], archive: Path) -> archives.Records:
    try:
        yield from convert(archive)
    except DAMAGED as error:
        raise DataError(
            f"{name}: the archive is damaged, or not the expected one ({archive}: {described(error)}). "
            f"Download it again."
        ) from error


def _keep(name: str, recipe: Recipe, folder: Path, targets: tuple[Path, ...]) -> None:
    """Download every file before the first is put in its place."""
    from widemargin.documents.formats.svmlight import read_vectors

    downloaded = [folder / target.name for target in targets]
    try:
        for address, path in zip(recipe.files, downloaded, strict=True):
            _download(name, address, path)
    except StorageError as error:
        raise StorageError(f"{name} was not fetched. {error} {_by_hand(name)}.") from error
    rows = sum(len(read_vectors(path)) for path in downloaded)
    if rows != recipe.documents:
        raise DataError(
            f"{name}: its files have {rows:,} rows where the collection has {recipe.documents:,}. They were "
            f"not kept."
        )
    for path, target in zip(downloaded, targets, strict=True):
        with path.open("rb") as source, replacing(target) as file:
            shutil.copyfileobj(source, file)
