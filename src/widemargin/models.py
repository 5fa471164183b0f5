"""Model files: one verified file per model; loading it runs no code.

The file is an uncompressed zip with three kinds of members:

``manifest.json``
    the format's version, the library's version, the kind of model, its configuration, the summary of its
    training, the type and shape of every array, and the size and SHA-256 of every other member;
``arrays.safetensors``
    every array;
``texts/NAME``
    other bytes, such as a vocabulary as UTF-8.

The comment of the zip ends in the SHA-256 of all bytes before it, so that any change is detected. The same
model gives the same bytes: members have a fixed order and a fixed date.

This module does not depend on learners; :mod:`widemargin.classifier` decides what a model contains.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import zipfile
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from widemargin import __version__
from widemargin._files import replacing
from widemargin.documents.formats.svmlight_model import is_svmlight_model
from widemargin.errors import DataError, MissingFileError, StorageError, UsageError

FORMAT = "widemargin-model"
FORMAT_VERSION = 1

_MANIFEST = "manifest.json"
_ARRAYS = "arrays.safetensors"
_TEXTS = "texts/"
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")
_ZIP = b"PK\x03\x04"
_COMMENT = b"widemargin-model sha256 "
_DIGEST_LENGTH = 64
_DATE = (1980, 1, 1, 0, 0, 0)
_BLOCK = 1 << 20
_INTEGERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
_TYPES = frozenset(["bool", *_INTEGERS, "float16", "float32", "float64"])


@dataclass(frozen=True)
class Model:
    """The verified content of a model file."""

    manifest: dict[str, Any]
    config: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    texts: dict[str, bytes] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The kind of model, which decides what part of the library can load it."""
        return str(self.manifest["kind"])


def save_model(
    path: str | os.PathLike[str],
    *,
    kind: str,
    config: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    texts: dict[str, bytes] | None = None,
    summary: dict[str, Any] | None = None,
    force: bool = False,
) -> int:
    """Write a model file; `path` is replaced only when the file is complete.

    Parameters
    ----------
    path : str or path
    kind : str
        The kind of model.
    config, summary : dict
        Values that JSON can represent; keys are strings.
    arrays : dict of str to array
        Booleans, integers and floats.
    texts : dict of str to bytes
        Names of lower-case letters, digits, ``_``, ``-`` and ``.``.
    force : bool
        Replace a file that is not a model.

    Returns
    -------
    int
        The size of the file in bytes.
    """
    check_model_target(path, force=force)
    members = _members(kind, config, arrays, texts or {}, summary or {})
    with replacing(path) as file:
        _write_zip(file, members)
        return file.seek(0, os.SEEK_END)


def _members(
    kind: str,
    config: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    texts: dict[str, bytes],
    summary: dict[str, Any],
) -> dict[str, bytes]:
    """The members of a model file in order, manifest first."""
    from safetensors.numpy import save

    plain = {name: _storable(name, array) for name, array in arrays.items()}
    members = {_ARRAYS: save(plain)}
    for name in sorted(texts):
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} is not a valid name of a text. Use lower-case letters and digits.")
        members[_TEXTS + name] = bytes(texts[name])
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "library_version": __version__,
        "kind": kind,
        "config": config,
        "summary": summary,
        "arrays": {name: _description(array) for name, array in plain.items()},
        "members": {
            name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in members.items()
        },
    }
    try:
        encoded = json.dumps(manifest, indent=1, sort_keys=True).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"The configuration or the summary cannot be stored as JSON: {error}.") from error
    return {_MANIFEST: encoded, **members}


def check_model_target(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Raise an error if `path` is a file that is not empty and not a model, unless `force` is true."""
    if force or not os.path.isfile(path) or os.path.getsize(path) == 0 or looks_like_model(path):
        return
    raise UsageError(
        f"{os.fspath(path)} exists and is not a model. Write to another file, or pass --force (in Python, "
        f"force=True) to replace it."
    )


def looks_like_model(path: str | os.PathLike[str]) -> bool:
    """Whether a file looks like a model of this library or of SVM-light; its content is not verified."""
    tail = len(_COMMENT) + _DIGEST_LENGTH
    try:
        with open(path, "rb") as file:
            zipped = file.read(len(_ZIP)) == _ZIP
            file.seek(max(0, os.fstat(file.fileno()).st_size - tail))
            return (zipped and file.read(tail).startswith(_COMMENT)) or is_svmlight_model(path)
    except OSError:
        return False


def model_digest(path: str | os.PathLike[str]) -> str:
    """The SHA-256 that a model file names at its end, which tells models apart; "" for another file.

    It is not verified: `load_model` does that.
    """
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(_COMMENT) - _DIGEST_LENGTH))
        tail = file.read()
    return tail[len(_COMMENT) :].decode("ascii", "replace") if tail.startswith(_COMMENT) else ""


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read and verify a model file.

    Raises
    ------
    DataError
        If the file is not a model, is truncated or altered, or has a newer format.
    """
    try:
        with open(path, "rb") as file:
            return _read(file, os.fspath(path))
    except FileNotFoundError as error:
        raise MissingFileError(
            f"There is no model file {os.fspath(path)}. Check the name, or train one."
        ) from error
    except OSError as error:
        raise StorageError(f"{os.fspath(path)} could not be read: {error.strerror or error}.") from error


def _storable(name: str, array: NDArray[Any]) -> NDArray[Any]:
    array = np.asarray(array)
    if array.dtype.name not in _TYPES:
        raise UsageError(f"The array {name!r} is of type {array.dtype}; a model holds booleans and numbers.")
    # safetensors writes the buffer in memory order.
    order = array.dtype.newbyteorder("<")
    return np.ascontiguousarray(array, dtype=order).reshape(array.shape)


def _description(array: NDArray[Any]) -> dict[str, Any]:
    return {"dtype": array.dtype.name, "shape": list(array.shape)}


def _write_zip(file: BinaryIO, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.comment = _COMMENT + b"0" * _DIGEST_LENGTH
        for name, data in members.items():
            info = zipfile.ZipInfo(name, _DATE)
            info.create_system = 3  # the same bytes on every system
            info.external_attr = 0o644 << 16
            archive.writestr(info, data)
    end = file.seek(0, os.SEEK_END) - _DIGEST_LENGTH
    digest = _digest(file, end)
    file.seek(end)
    file.write(digest)


def _digest(file: BinaryIO, length: int) -> bytes:
    """The SHA-256, as hexadecimal digits, of the first `length` bytes."""
    total = hashlib.sha256()
    file.seek(0)
    while length > 0:
        block = file.read(min(_BLOCK, length))
        if not block:
            break
        total.update(block)
        length -= len(block)
    return total.hexdigest().encode("ascii")


def _read(file: BinaryIO, where: str) -> Model:
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if file.read(len(_ZIP)) != _ZIP:
        raise DataError(
            f"{where} is not a widemargin model. Models are written by `widemargin train DATA -o MODEL`."
        )
    tail = len(_COMMENT) + _DIGEST_LENGTH
    file.seek(max(0, size - tail))
    comment = file.read(tail)
    if not comment.startswith(_COMMENT):
        raise DataError(
            f"{where} is not a complete model: its end is missing. Copy it again, or train it again."
        )
    if _digest(file, size - _DIGEST_LENGTH) != comment[len(_COMMENT) :]:
        raise _damaged(where, "its checksum does not match")
    try:
        with zipfile.ZipFile(file) as archive:
            return _unpack(archive, size, where)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, UnicodeDecodeError) as error:
        raise _damaged(where, f"{error}".rstrip(".")) from error
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        # The only argument from the file is the offset of a member.
        raise _damaged(where, "the offset of a member is negative") from error


def _unpack(archive: zipfile.ZipFile, file_size: int, where: str) -> Model:
    """Check all sizes against the size of the file, then read."""
    infos = archive.infolist()
    sizes = {info.filename: info.file_size for info in infos}
    if len(sizes) != len(infos):
        raise _damaged(where, "two members have the same name")
    if any(
        info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size or info.flag_bits & 1
        for info in infos
    ):
        raise _damaged(where, "a member is compressed or encrypted, which models never are")
    if sum(sizes.values()) > file_size:
        raise _damaged(where, f"its members claim {sum(sizes.values())} bytes, the file has {file_size}")
    if _MANIFEST not in sizes:
        raise _damaged(where, f"it has no {_MANIFEST}")
    manifest = _checked_manifest(archive.read(_MANIFEST), where)
    expected = {_MANIFEST, *manifest["members"]}
    if expected != set(sizes):
        odd = sorted(expected ^ set(sizes))[0]
        raise _damaged(where, f"{odd!r} is {'missing' if odd in expected else 'not listed in its manifest'}")
    arrays: dict[str, NDArray[Any]] = {}
    texts: dict[str, bytes] = {}
    for name, claim in manifest["members"].items():
        if claim["size"] != sizes[name]:
            raise _damaged(where, f"{name!r} has {sizes[name]} bytes, its manifest says {claim['size']}")
        data = archive.read(name)
        if hashlib.sha256(data).hexdigest() != claim["sha256"]:
            raise _damaged(where, f"the SHA-256 of {name!r} is not the one in its manifest")
        if name == _ARRAYS:
            arrays = _unpack_arrays(data, manifest["arrays"], where)
        else:
            texts[name.removeprefix(_TEXTS)] = data
    return Model(manifest, manifest["config"], arrays, texts, manifest["summary"])


def _checked_manifest(data: bytes, where: str) -> dict[str, Any]:
    try:
        manifest = json.loads(data, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise _damaged(where, f"its manifest is not JSON ({error})") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise _damaged(where, "its manifest is not that of a widemargin model")
    version = manifest.get("format_version")
    if version != FORMAT_VERSION:
        raise DataError(
            f"{where} has model format {version!r} (written by widemargin "
            f"{manifest.get('library_version')}); this is widemargin {__version__}, "
            f"which reads format {FORMAT_VERSION}. Install the version that wrote it, or train again."
        )
    parts = {
        "kind": str,
        "library_version": str,
        "config": dict,
        "summary": dict,
        "arrays": dict,
        "members": dict,
    }
    for key, form in parts.items():
        if not isinstance(manifest.get(key), form):
            raise _damaged(where, f"its manifest has no usable {key!r}")
    for name, claim in manifest["members"].items():
        known = name == _ARRAYS or (name.startswith(_TEXTS) and _NAME.fullmatch(name.removeprefix(_TEXTS)))
        if not known or not isinstance(claim, dict) or set(claim) != {"size", "sha256"}:
            raise _damaged(where, f"its manifest lists {name!r}, which no model holds")
    if _ARRAYS not in manifest["members"]:
        raise _damaged(where, f"it has no {_ARRAYS}")
    return manifest


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate key in an object")
    return found


def _unpack_arrays(data: bytes, described: dict[str, Any], where: str) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    # safetensors checks the size of the header and every offset before it allocates an array.
    try:
        arrays: dict[str, NDArray[Any]] = load(data)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise _damaged(where, f"its arrays cannot be read ({error})") from error
    if {name: _description(array) for name, array in arrays.items()} != described:
        raise _damaged(where, "its arrays are not those its manifest describes")
    return arrays


def _damaged(where: str, what: str) -> DataError:
    return DataError(f"{where} is damaged: {what}. Copy it again, or train it again.")
