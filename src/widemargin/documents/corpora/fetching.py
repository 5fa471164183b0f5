"""A collection's official archive, downloaded or at hand, made the records that the loaders read."""

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
from widemargin.documents.corpora import archives, libsvm
from widemargin.documents.corpora.home import DAMAGED, cache_folder, described
from widemargin.documents.corpora.registry import find_files, find_source
from widemargin.errors import DataError, MissingFileError, StorageError, UsageError, WidemarginError
from widemargin.progress import track

_TIMEOUT = 30  # seconds without a byte
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Recipe:
    """Where a collection is downloaded from and what becomes of it.

    `mirrors` are tried in order, and where there is none people bring the archive; `digest` is "sha256:..."
    or "md5:...", checked where it is known. Without `convert` the files are kept as they are,
    one for each of the addresses.
    """

    documents: int
    mirrors: tuple[str, ...] = ()
    digest: str | None = None
    convert: Callable[[Path], archives.Records] | None = None
    files: tuple[str, ...] = field(default=())


_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
_IMDB_DIGEST = "md5:7c2ac02c03563afcf9b574c7e56c153a"

RECIPES: dict[str, Recipe] = {
    "reuters21578": Recipe(
        21_578,
        (),
        "sha256:3bae43c9b14e387f76a61b6d82bf98a4fb5d3ef99ef7e7075ff2ccbcf59f9d30",
        archives.reuters,
    ),
    "20newsgroups": Recipe(
        18_846,
        ("https://ndownloader.figshare.com/files/5975967",),
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
        (),
        None,
        archives.ohsumed,
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
    "imdb": Recipe(10_000, (), _IMDB_DIGEST, archives.imdb_part),
    "imdb-full": Recipe(50_000, (), _IMDB_DIGEST, archives.imdb),
    **{
        name: Recipe(sum(sizes), files=(f"{_LIBSVM}/{name}", f"{_LIBSVM}/{name}.t"))
        for name, sizes in libsvm.SIZES.items()
    },
}


def fetch_corpus(
    name: str, data_home: str | Path | None = None, archive: str | Path | None = None
) -> tuple[Path, ...]:
    """Put a collection into the user's cache (or `data_home`), unless it is on this machine already.

    It is converted from `archive`, the official one that was got by hand, or downloaded. Returns the paths
    of its files. A file appears only when it is whole and has the number of documents that the collection is
    known to have.
    """
    source = find_source(name)
    if (paths := find_files(source, data_home)) is not None:
        return paths
    if name not in RECIPES:
        raise UsageError(
            f"{name} cannot be fetched: its home offers no file that could be converted. Get it from "
            f"{source.origin} and put {' and '.join(source.files)} into {cache_folder()}."
        )
    recipe = RECIPES[name]
    _check_source(name, recipe, archive)
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
                if archive is None:
                    found = _from_mirrors(name, recipe, Path(folder))
                else:
                    found = Path(archive)
                    _check_digest(str(archive), found, recipe.digest)
                _convert(name, recipe, recipe.convert, found, targets[0])
    except WidemarginError:
        raise
    except OSError as error:
        raise StorageError(
            f"{home}: cannot be written ({error.strerror or error}). Free some space."
        ) from error
    return targets


def _check_source(name: str, recipe: Recipe, archive: str | Path | None) -> None:
    if archive is None:
        if recipe.convert is not None and not recipe.mirrors:
            raise UsageError(
                f"{name} has to be got by hand: download its archive from {find_source(name).origin}, then "
                f"run `widemargin corpus fetch {name} --archive FILE`."
            )
    elif recipe.convert is None:
        raise UsageError(f"{name} is no archive but {len(recipe.files)} files. Leave --archive out.")
    elif not Path(archive).is_file():
        raise MissingFileError(f"There is no file {archive}. Check the name of the archive of {name}.")


def _from_mirrors(name: str, recipe: Recipe, folder: Path) -> Path:
    """The archive from the first address that has it unaltered."""
    failures: list[WidemarginError] = []
    for number, address in enumerate(recipe.mirrors):
        path = folder / f"archive-{number}"
        try:
            _download(name, address, path)
            _check_digest(address, path, recipe.digest)
        except (StorageError, DataError) as error:
            failures.append(error)
        else:
            return path
    raise failures[-1]


def _download(name: str, address: str, path: Path) -> None:
    # Only who fetches waits for these.
    import http.client
    import urllib.error
    import urllib.request

    source = find_source(name)
    cure = f"Check the connection, or get it by hand from {source.origin}."
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT) as response, path.open("wb") as file:
            length = int(response.headers.get("Content-Length") or 0)
            chunks = iter(lambda: response.read(_CHUNK), b"")
            for chunk in track(
                chunks, f"Fetching {name}", total=length // _CHUNK + 1 if length else None, unit="MB"
            ):
                file.write(chunk)
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", None) or error
        raise StorageError(f"{name}: {address} could not be downloaded ({reason}). {cure}") from error
    if length and path.stat().st_size != length:
        raise StorageError(
            f"{name}: {address} broke off after {path.stat().st_size:,} of {length:,} bytes. {cure}"
        )


def _check_digest(address: str, path: Path, digest: str | None) -> None:
    if digest is None:
        return
    algorithm, _, expected = digest.partition(":")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, algorithm).hexdigest()
    if found != expected:
        raise DataError(
            f"{address}: its {algorithm} is {found}, expected {expected}. It was altered on its way or at "
            f"its home; try again later."
        )


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
        if count != recipe.documents:
            raise DataError(
                f"{name}: the archive has {count:,} documents where the collection has {recipe.documents:,}. "
                f"It is not the one expected, and was not kept."
            )


def _records(name: str, convert: Callable[[Path], archives.Records], archive: Path) -> archives.Records:
    try:
        yield from convert(archive)
    except DAMAGED as error:
        raise DataError(
            f"{name}: the archive is damaged, or another one ({archive}: {described(error)}). Get it again."
        ) from error


def _keep(name: str, recipe: Recipe, folder: Path, targets: tuple[Path, ...]) -> None:
    """Download every file before the first is put in its place."""
    from widemargin.documents.formats.svmlight import read_vectors

    downloaded = [folder / target.name for target in targets]
    for address, path in zip(recipe.files, downloaded, strict=True):
        _download(name, address, path)
    rows = sum(len(read_vectors(path)) for path in downloaded)
    if rows != recipe.documents:
        raise DataError(
            f"{name}: its files have {rows:,} rows where the collection has {recipe.documents:,}. They were "
            f"not kept."
        )
    for path, target in zip(downloaded, targets, strict=True):
        with path.open("rb") as source, replacing(target) as file:
            shutil.copyfileobj(source, file)
