"""What a model remembers of its training, so that later documents can be read and checked against it.

A model file holds it beside the parts of the classifier, as "record". Files that lack it, or some of it, are
read as well: what is missing is None, and a check that needs it is not made.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from widemargin._stored import LARGEST_SIZE, Stored
from widemargin.classifier.record.word_profile import WordProfile
from widemargin.errors import DataError
from widemargin.monitor.profile import LeftOutProfile

# The arguments of the readers that a later command needs again, and what they may be.
READING: dict[str, tuple[type, ...]] = {
    "format": (str,),
    "text": (str, list),
    "label": (str,),
    "id": (str,),
    "label_delimiter": (str,),
    "encoding": (str,),
    "header": (bool,),
    "width": (int,),
    "label_from": (str,),
    "sheet": (str,),
}

_PROFILE = "profile."


@dataclass(frozen=True, eq=False)
class TrainingRecord:
    """What is known about the training documents of a model.

    Attributes
    ----------
    reading : how the training file was read, by the names of
        :class:`~widemargin.documents.formats.columns.Options`; only what was given or found, see `READING`
    hashes : 64-bit hashes of the training texts, sorted and distinct
    profile : what the model saw of them as if they were new
    words : their frequent words, to recognize documents in another language
    """

    reading: dict[str, Any] | None = None
    hashes: NDArray[np.uint64] | None = None
    profile: LeftOutProfile | None = None
    words: WordProfile | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is remembered."""
        return all(getattr(self, part.name) is None for part in fields(self))

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """A configuration and arrays, as `from_state` takes them."""
        config: dict[str, Any] = {} if self.reading is None else {"reading": self.reading}
        arrays: dict[str, NDArray[Any]] = {} if self.hashes is None else {"hashes": self.hashes}
        if self.profile is not None:
            config["profile"], found = self.profile.get_state()
            arrays |= {_PROFILE + name: values for name, values in found.items()}
        if self.words is not None:
            config["usual_words"] = self.words.usual
            arrays["words"] = self.words.words
        return config, arrays

    @classmethod
    def from_state(cls, config: Any, arrays: dict[str, NDArray[Any]], columns: int = LARGEST_SIZE) -> Self:
        """The record in the file of a model with so many columns of labels; everything in it is checked."""
        stored = Stored(config, arrays, "record.")
        reading = None
        if "reading" in stored:
            stored.inner("reading")  # an object
            reading = dict(stored.value("reading"))
            for name, value in reading.items():
                if not isinstance(value, READING.get(name, ())) or not _is_texts(value):
                    raise DataError(f"'record.reading.{name}' in manifest.json is not as expected: {value!r}")
        hashes = None
        if stored.has_array("hashes"):
            hashes = stored.array("hashes", (None,), np.uint64)
            if (hashes[1:] <= hashes[:-1]).any():
                raise DataError("'record.hashes' in arrays.safetensors is not sorted")
        profile, prefix = None, len(_PROFILE)
        found = {name[prefix:]: values for name, values in arrays.items() if name.startswith(_PROFILE)}
        if "profile" in stored:
            profile = LeftOutProfile.from_state(stored.value("profile"), found, columns)
        elif found:
            raise DataError("'record.profile' in manifest.json is missing, and its arrays are there")
        frequent = None
        if "usual_words" in stored:
            words = stored.array("words", (None,), np.int32)
            if not len(words) or (words[1:] <= words[:-1]).any():
                raise DataError("'record.words' in arrays.safetensors is empty or not sorted")
            frequent = WordProfile(words, stored.number("usual_words", least=0, most=1))
        elif stored.has_array("words"):
            raise DataError("'record.usual_words' in manifest.json is missing, and its array is there")
        return cls(reading, hashes, profile, frequent)


NOTHING_KNOWN = TrainingRecord()


def _is_texts(value: Any) -> bool:
    """Whether a list has only strings; anything else is taken as it is."""
    return not isinstance(value, list) or all(isinstance(part, str) for part in value)
