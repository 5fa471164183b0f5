"""Addresses of documents elsewhere; no message shows their passwords, signatures or tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from widemargin.errors import UsageError

# One letter before a colon is a drive of Windows.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_ONE_SLASH = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/(?!/)")
_LOCAL = "file://"
_SECRET = re.compile("pass|pwd|secret|token|key|sig|credential|auth", re.IGNORECASE)


@dataclass(frozen=True, repr=False)
class Url:
    """An address to read documents from; as text, it is without user, password and options.

    >>> print(Url("https://me:secret@host.example/data.jsonl.gz?X-Amz-Signature=0123"))
    https://host.example/data.jsonl.gz
    """

    address: str

    def __str__(self) -> str:
        rest, _ = _parted(self.address)
        scheme, mark, rest = rest.partition("://")
        host, slash, path = rest.partition("/")
        return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"

    __repr__ = __str__

    @property
    def protocol(self) -> str:
        return self.address.partition("://")[0].lower()

    @property
    def name(self) -> str:
        """The last part of the address.

        >>> Url("s3://bucket/tickets/2026.parquet").name
        '2026.parquet'
        """
        return PurePosixPath(str(self)).name

    def without_secrets(self, message: str) -> str:
        """A message about this address, which may repeat parts of it."""
        rest, options = _parted(self.address)
        userinfo = rest.partition("://")[2].partition("/")[0].rpartition("@")[0]
        return hidden(message, userinfo, options)


def is_url(text: str) -> bool:
    """Whether an argument is an address and not a path.

    >>> [is_url(text) for text in ("s3://bucket/a.csv", "file:///a.csv", "a.csv", "C://a.csv")]
    [True, True, False, False]
    """
    return _URL.match(text) is not None


def local_path(text: str) -> str | None:
    """The path that a file:// address names; None for other addresses.

    >>> local_path("file:///data/my%20tickets.csv"), local_path("s3://bucket/a.csv")
    ('/data/my tickets.csv', None)
    """
    if not text.lower().startswith(_LOCAL):
        return None
    from urllib.request import url2pathname

    rest = text[len(_LOCAL) :]
    return url2pathname(rest.removeprefix("localhost") if rest.startswith("localhost/") else rest)


def as_source(given: str | Path | Url) -> str | Path | Url:
    """What an argument names: a path, also of a file:// address, or the address of a file elsewhere."""
    if isinstance(given, Path) and _ONE_SLASH.match(str(given)) and not given.exists():
        raise UsageError(f"{given}: a Path loses a slash of an address. Pass the address as a string.")
    if not isinstance(given, str) or not is_url(given):
        return given
    path = local_path(given)
    return Url(given) if path is None else path


def hidden(message: str, userinfo: str, options: str) -> str:
    """A message on one line, without the user and password ("me:secret") and the options ("token=1&b=2") of
    an address."""
    from urllib.parse import parse_qsl, quote, unquote

    password = userinfo.partition(":")[2]
    secrets = {userinfo, unquote(userinfo), password, unquote(password), options}
    for name, value in parse_qsl(options, keep_blank_values=True):
        if _SECRET.search(name):
            secrets |= {value, quote(value), quote(value, safe="")}
    for secret in sorted(secrets, key=len, reverse=True):
        if secret:
            message = message.replace(secret, "***")
    return " ".join(message.split())


def _parted(address: str) -> tuple[str, str]:
    """An address, and its options. In the name of an object, ? is a part of a pattern."""
    rest, mark, options = address.partition("?")
    if mark and (address[:4].lower() == "http" or "=" in options):
        return rest, options.partition("#")[0]
    return address, ""
