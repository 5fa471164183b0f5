"""A JSON file with a list of objects, one for each document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from widemargin.documents.encoding import Decoder
from widemargin.documents.limits import exceeds, too_large
from widemargin.documents.wording import shown
from widemargin.errors import DataError

# Records that are written as lines together.
_TOGETHER = 1000


class JsonArray:
    """The records of a JSON file as the lines of :class:`~widemargin.documents.formats.jsonl.JsonLines`.

    The file is a list of objects, or an object of which one field is such a list, as in ``{"version": 1,
    "data": [{...}]}``. It is read into memory as a whole.
    """

    def __init__(self, chunks: Iterable[bytes], decoder: Decoder, max_document: int) -> None:
        self._name, self._limit = decoder.name, max_document
        text = "".join(decoder.decode(chunk) for chunk in chunks) + decoder.decode(b"", final=True)
        decoder.warn()
        self._records = self._read(text)

    def peek(self) -> list[str]:
        """The first records; they are also among `texts`."""
        return [json.dumps(record) for record in self._records[:_TOGETHER]]

    def texts(self) -> Iterator[str]:
        """Lines of records, many in one string."""
        for first in range(0, len(self._records), _TOGETHER):
            lines = []
            for place, record in enumerate(self._records[first : first + _TOGETHER], first + 1):
                lines.append(json.dumps(record))
                if exceeds(lines[-1], self._limit):
                    raise too_large(f"{self._name}, record {place}", self._limit)
            yield "\n".join(lines) + "\n"

    def _read(self, text: str) -> list[dict[str, Any]]:
        try:
            found = json.loads(text)
        except RecursionError as error:
            raise DataError(f"{self._name}: lists or objects are nested too deeply. Flatten them.") from error
        except ValueError as error:
            at = ""
            if isinstance(error, json.JSONDecodeError):
                at = f", line {error.lineno}, column {error.colno}"
            raise DataError(
                f"{self._name}{at}: not JSON ({getattr(error, 'msg', error)}). {_EXPECTED}"
            ) from error
        if isinstance(found, dict):
            found = self._only_list(found)
        if not isinstance(found, list):
            raise DataError(f"{self._name}: found {shown(json.dumps(found))}. {_EXPECTED}")
        for place, record in enumerate(found, 1):
            if not isinstance(record, dict):
                raise DataError(
                    f"{self._name}, record {place}: not an object; found {shown(json.dumps(record))}. "
                    f"{_EXPECTED}"
                )
        return found

    def _only_list(self, found: dict[str, Any]) -> Any:
        lists = {
            name: value
            for name, value in found.items()
            if isinstance(value, list) and value and all(isinstance(each, dict) for each in value)
        }
        if len(lists) == 1:
            return next(iter(lists.values()))
        several = f"several lists of objects ({', '.join(lists)})" if lists else "no list of objects"
        raise DataError(f"{self._name}: one object with {several}. {_EXPECTED}")


_EXPECTED = 'Expected a list such as [{"text": "...", "label": "..."}, ...], or one object per line.'
