"""Lines of text from bytes: UTF-8 if it is valid, otherwise the most probable encoding, with a note.

Bytes are decoded as they arrive. As long as all of them are ASCII, nothing is decided. The first other bytes
decide between UTF-8 and the encoding that charset-normalizer finds. Undecodable bytes are replaced by U+FFFD
and counted; NUL characters are replaced by blanks and counted.
"""

from __future__ import annotations

import codecs
import io
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from widemargin.documents.limits import MAX_DOCUMENT, exceeds, too_large
from widemargin.documents.wording import counted
from widemargin.errors import DataError, DataWarning, UsageError

Errors = Literal["replace", "strict"]

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is a prefix
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FALLBACK = "cp1252"
# The encodings in common use; without this list, charset-normalizer takes French for Baltic.
_CANDIDATES = (
    *("cp1252", "cp1250", "iso8859_2", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256"),
    *("cp932", "euc_jp", "cp949", "gb18030", "big5"),
)
_SAMPLE = 1 << 16
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def check_encoding(encoding: str | None, errors: str) -> None:
    """Reject names that Python does not know, before any file is opened."""
    if errors not in ("replace", "strict"):
        raise UsageError(f"errors={errors!r} is neither 'replace' nor 'strict'.")
    if encoding is not None:
        try:
            codecs.lookup(encoding)
            # Reject codecs from bytes to bytes or text to text, such as zlib and rot13.
            "".encode(encoding)
            codecs.getincrementaldecoder(encoding)
        except (LookupError, ValueError) as error:
            raise UsageError(
                f"There is no encoding {encoding!r}. Names are such as utf-8, latin-1, cp1252, utf-16."
            ) from error


class Decoder:
    """Decodes one stream of bytes that arrives in chunks.

    `encoding` is None as long as only ASCII has arrived and no encoding was given; `guessed` tells whether it
    was guessed from the bytes, or is the `likely` one of bytes that are not UTF-8; `replaced` and `nuls`
    count replaced characters.
    """

    def __init__(
        self,
        name: str,
        encoding: str | None = None,
        errors: Errors = "replace",
        likely: str | None = None,
    ) -> None:
        self.name = name
        self._likely = likely
        self.errors = errors
        self.encoding = encoding
        self.guessed = False
        self.replaced = 0
        self.nuls = 0
        self._lines = 0
        self._began = False
        # A byte-order mark is not part of the text, even if the encoding was given.
        self._decoder = self._new("utf-8-sig" if encoding and _is_utf8(encoding) else encoding)

    def _new(self, encoding: str | None) -> codecs.IncrementalDecoder | None:
        return codecs.getincrementaldecoder(encoding)("strict") if encoding else None

    def decode(self, chunk: bytes, final: bool = False) -> str:
        """The text of the next chunk."""
        if not self._began:
            self._began = True
            if self.encoding is None:
                self._decide_by_mark(chunk)
        if self._decoder is None and not chunk.isascii():
            self._decide_by_content(chunk)
        text = chunk.decode("ascii") if self._decoder is None else self._decode(self._decoder, chunk, final)
        self._lines += text.count("\n")
        if "\0" in text:
            self.nuls += text.count("\0")
            text = text.replace("\0", " ")
        return text

    def warn(self) -> None:
        """Warn about replaced characters, after everything has been decoded."""
        what = []
        if self.replaced:
            what.append(
                f"{counted(self.replaced, 'invalid byte')} in {self._encoding_name} became {_REPLACEMENT}"
            )
        if self.nuls:
            what.append(f"{counted(self.nuls, 'NUL character')} became blank")
        if what:
            cure = " Pass --encoding if it is another encoding." if self.replaced else ""
            warnings.warn(f"{self.name}: {' and '.join(what)}.{cure}", DataWarning, stacklevel=2)

    def _decode(self, decoder: codecs.IncrementalDecoder, chunk: bytes, final: bool) -> str:
        state = decoder.getstate()
        try:
            return decoder.decode(chunk, final)
        except UnicodeDecodeError as error:
            if self.errors == "strict":
                line = self._lines + 1 + bytes(error.object[: error.start]).count(b"\n")
                found = " ".join(f"0x{byte:02x}" for byte in error.object[error.start : error.start + 1])
                raise DataError(
                    f"{self.name}, line {line}: byte {found} is not {self._encoding_name}. Pass the file's "
                    f"--encoding, or --errors replace."
                ) from error
        except UnicodeError as error:
            raise DataError(self._undecodable(error)) from error
        decoder.setstate(state)
        decoder.errors = "replace"
        try:
            text = decoder.decode(chunk, final)
        except UnicodeError as error:
            raise DataError(self._undecodable(error)) from error
        decoder.errors = "strict"
        genuine = chunk.count(_REPLACEMENT.encode()) if _is_utf8(self.encoding or "") else 0
        self.replaced += max(0, text.count(_REPLACEMENT) - genuine)
        return text

    def _undecodable(self, error: UnicodeError) -> str:
        """The error of a codec that fails for a reason other than an undecodable byte."""
        name = str(self.encoding)
        plain = name.lower().replace("_", "-")
        if plain in ("utf-16", "utf16", "utf-32", "utf32"):
            bits = plain[-2:]
            return (
                f"{self.name}, line 1: no byte-order mark, so {name} may mean either "
                f"byte order. Pass --encoding utf-{bits}-le or utf-{bits}-be."
            )
        return (
            f"{self.name}, line {self._lines + 1}: cannot be decoded as {name} ({error}). Pass the file's "
            f"--encoding."
        )

    def _decide_by_mark(self, chunk: bytes) -> None:
        for mark, encoding in _BOMS:
            if chunk.startswith(mark):
                return self._choose(encoding, guessed=False)
        if len(chunk) >= 2:
            # Every second byte of Western text in UTF-16 is NUL.
            for start, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
                half = chunk[start:_SAMPLE:2]
                if half and half.count(0) > 0.5 * len(half) and 0 not in chunk[1 - start : 8 : 2]:
                    return self._choose(encoding, guessed=True)
        return None

    def _decide_by_content(self, chunk: bytes) -> None:
        try:
            codecs.getincrementaldecoder("utf-8")("strict").decode(chunk)
        except UnicodeDecodeError:
            if self.errors == "strict" or _mostly_utf8(chunk):
                self._choose("utf-8", guessed=False)
            else:
                self._choose(self._likely or detect(chunk), guessed=True)
        else:
            self._choose("utf-8", guessed=False)

    def _choose(self, encoding: str, guessed: bool) -> None:
        self.encoding, self.guessed = encoding, guessed
        self._decoder = self._new(encoding)
        if guessed:
            why = "as in training" if encoding == self._likely else "the most probable encoding"
            warnings.warn(
                f"{self.name}: not UTF-8; read as {encoding}, {why}. Pass --encoding to choose another.",
                DataWarning,
                stacklevel=2,
            )

    @property
    def _encoding_name(self) -> str:
        return "UTF-8" if _is_utf8(self.encoding or "utf-8") else str(self.encoding)


class Lines:
    """The lines of a byte stream with their ends; lines end with "\\n", or with "\\r" if there is no "\\n".

    A line of more than `max_document` bytes (as UTF-8) is an error; with `skip`, which is called with the
    error, it becomes a blank line. This is noticed while the line is read, so no more than that is ever in
    memory.
    """

    def __init__(
        self,
        chunks: Iterable[bytes],
        decoder: Decoder,
        max_document: int = MAX_DOCUMENT,
        skip: Callable[[DataError], None] | None = None,
    ) -> None:
        self._limit = max_document
        self._skip = skip
        self._name = decoder.name
        self._texts = self._whole_lines(chunks, decoder)
        self._ahead = ""

    def __iter__(self) -> Iterator[str]:
        for text in self.texts():
            yield from split_lines(text)

    def texts(self) -> Iterator[str]:
        """Whole lines, as many as arrived together, in one string."""
        if self._ahead:
            ahead, self._ahead = self._ahead, ""
            yield ahead
        yield from self._texts

    def peek(self) -> list[str]:
        """The first lines, as many as arrived together; they are also returned later. Empty if there are
        none."""
        if not self._ahead:
            self._ahead = next(self._texts, "")
        return split_lines(self._ahead)

    def _whole_lines(self, chunks: Iterable[bytes], decoder: Decoder) -> Iterator[str]:
        pending: list[str] = []
        waiting = lines = 0  # characters of `pending`, lines before it
        skipping = False
        old_mac: bool | None = None
        for chunk in itertools.chain(chunks, (None,)):
            text = decoder.decode(chunk) if chunk is not None else decoder.decode(b"", final=True)
            if old_mac is None and ("\n" in text or "\r" in text.rstrip("\r")):
                old_mac = "\n" not in text
            if old_mac:
                text = text.replace("\r", "\n")
            end = text.rfind("\n") + 1
            if end:
                # The rest of a skipped line.
                whole = text[text.index("\n") : end] if skipping else "".join((*pending, text[:end]))
                yield self._short_lines(whole, lines)
                lines += whole.count("\n")
                pending.clear()
                waiting, skipping = 0, False
            if end < len(text) and not skipping:
                pending.append(text[end:])
                waiting += len(text) - end
                if waiting > self._limit:
                    self._refuse(lines + 1)
                    pending.clear()
                    waiting, skipping = 0, True
        if last := "".join(pending):
            yield self._short_lines(last, lines)
        decoder.warn()

    def _short_lines(self, text: str, before: int) -> str:
        """`text`, which follows `before` other lines, after a check that no line is too long."""
        if not exceeds(text, self._limit):
            return text
        lines = split_lines(text)
        for place, line in enumerate(lines):
            if exceeds(line.rstrip("\r\n"), self._limit):
                self._refuse(before + place + 1)
                lines[place] = "\n"
        return "".join(lines)

    def _refuse(self, line: int) -> None:
        error = too_large(f"{self._name}, line {line}", self._limit)
        if self._skip is None:
            raise error
        self._skip(error)


def split_lines(text: str) -> list[str]:
    """The lines of `text` with their ends, which are "\\n" alone.

    >>> split_lines("one\\ntwo\\r\\nthree")
    ['one\\n', 'two\\r\\n', 'three']
    """
    return list(io.StringIO(text, newline="\n"))


def detect(sample: bytes) -> str:
    """The most probable encoding of bytes that are not UTF-8.

    >>> detect("naïve café, déjà vu: le garçon a mangé une crêpe à l'hôtel".encode("latin-1"))
    'cp1252'
    """
    import charset_normalizer

    evidence = b"\n".join(line for line in sample.split(b"\n") if not line.isascii())[:_SAMPLE]
    high = sum(byte >= 0x80 for byte in evidence)
    if high < 16 and high < 0.3 * len(evidence):
        return _FALLBACK  # a few accents in Western text do not prove more
    matches = charset_normalizer.from_bytes(evidence, cp_isolation=list(_CANDIDATES))
    best = matches.best()
    if best is None:
        return _FALLBACK
    # Several encodings often fit equally well; the most common one is chosen.
    equal = (match for match in matches if (match.chaos, -match.coherence) <= (best.chaos, -best.coherence))
    return _FALLBACK if any(_FALLBACK in match.could_be_from_charset for match in equal) else best.encoding


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig", "u8")


def _mostly_utf8(chunk: bytes) -> bool:
    """Whether most non-ASCII bytes are valid UTF-8: then the file is damaged, not in another encoding."""
    text = chunk.decode("utf-8", "replace")
    invalid = text.count(_REPLACEMENT)
    return sum(not character.isascii() for character in text) - invalid > invalid
