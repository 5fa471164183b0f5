"""What a server is asked to do."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from widemargin.errors import MissingFileError, StorageError, UsageError

TOKEN_VARIABLE = "WIDEMARGIN_TOKEN"
_SHORTEST_TOKEN = 16
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Settings:
    """Addresses, limits and times (in seconds) of a server.

    Attributes
    ----------
    models : files by the names that requests use
    token : what requests must carry; None: nothing
    allowed_hosts : further names that the `Host` header may have
    max_body, max_batch : the most bytes of a request, and the most documents
    timeout : for a request to arrive, and for its answer to be made
    poll : between two looks at the model files
    drain : for how long requests are still accepted after SIGTERM
    threads : that score; None: one per CPU
    log_requests : whether there is a line in the log for every request
    """

    models: Mapping[str, Path]
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    allowed_hosts: Sequence[str] = ()
    max_body: int = 16 << 20
    max_batch: int = 10_000
    timeout: float = 30.0
    poll: float = 1.0
    drain: float = 1.0
    threads: int | None = None
    log_requests: bool = True

    def __post_init__(self) -> None:
        if not self.is_local and self.token is None:
            raise UsageError(
                f"--host {self.host}: other machines can reach this address, so requests need a token. Pass "
                f"--token-file FILE, or set {TOKEN_VARIABLE}."
            )

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def named_models(words: Sequence[str]) -> dict[str, Path]:
    """Model files by name: ``NAME=FILE``, or ``FILE``, whose name is that of the file without its end.

    Examples
    --------
    >>> {name: path.name for name, path in named_models(["tickets.wm", "lang=languages.wm"]).items()}
    {'tickets': 'tickets.wm', 'lang': 'languages.wm'}
    """
    found: dict[str, Path] = {}
    for word in words:
        name, equals, rest = word.partition("=")
        # A path may have an equals sign.
        named = bool(equals) and _NAME.fullmatch(name) is not None and not Path(word).exists()
        path = Path(rest) if named else Path(word)
        name = name if named else path.stem
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{word}: {name!r} cannot be the name of a model. Pass NAME={path}, with a name of letters, "
                f"digits, dots, hyphens and underscores."
            )
        if name in found:
            raise UsageError(f"There are two models {name!r}. Pass NAME=FILE, with another name for one.")
        found[name] = path
    return found


def read_token(file: Path | None, environment: Mapping[str, str] = os.environ) -> str | None:
    """The token of a file, or of the environment; None if there is none."""
    if file is None:
        token = environment.get(TOKEN_VARIABLE)
        source = TOKEN_VARIABLE
    else:
        source = f"--token-file {file}"
        try:
            token = file.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            raise MissingFileError(f"{source}: there is no such file.") from None
        except (OSError, UnicodeDecodeError) as error:
            raise StorageError(f"{source}: cannot read it: {error}.") from error
    if token is None:
        return None
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"{source}: expected a token of at least {_SHORTEST_TOKEN} ASCII characters without spaces. Make "
            f"one: python -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    return token
