"""Where words come from: the built-in tokenizers, a regular expression, or callables.

``ignore_pattern``
    What it matches in a text becomes spaces, before anything else.
``token_pattern``
    Words are what it matches in the case-folded text, as ``re.findall`` would find them. Scripts without
    spaces are not cut, and numbers are ordinary words.
``preprocessor``
    A callable from a text to a text, in place of case folding.
``tokenizer``
    A callable from a text (case-folded, or preprocessed) to a list of words.
``analyzer``
    A callable from a text to a list of terms, in place of everything else.

A model with a callable cannot be saved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin._stored import Stored
from widemargin.errors import DataError, UsageError
from widemargin.text.patterns import CompiledPattern, compile_pattern
from widemargin.text.patterns.compiled import PARTS

Longs = NDArray[np.int64]
PATTERNS = ("token_pattern", "ignore_pattern")
CALLABLES = ("preprocessor", "tokenizer", "analyzer")
# Between the words of a callable: no text should contain it (U+001E, the record separator of ASCII).
_BETWEEN = "\x1e"


@dataclass(frozen=True)
class WordSource:
    """The words of texts, as parameters of a vectorizer say.

    Attributes
    ----------
    token, ignored : patterns of words, and of what is left out
    fold_case : whether upper and lower case are the same
    prepare : makes the text that the core reads, by calling the callables; None if there are none
    """

    token: CompiledPattern | None = None
    ignored: CompiledPattern | None = None
    fold_case: bool = True
    prepare: Callable[[str], str] | None = None

    @classmethod
    def of(cls, given: Any) -> WordSource:
        """The source of the parameters of a vectorizer, checked."""
        token, ignored = (_pattern(getattr(given, name), name) for name in PATTERNS)
        if not isinstance(given.lowercase, bool | np.bool_):
            raise UsageError(f"lowercase={given.lowercase!r}: expected True or False.")
        calls = {name: getattr(given, name) for name in CALLABLES if getattr(given, name) is not None}
        for name, call in calls.items():
            if not callable(call):
                raise UsageError(f"{name}={call!r}: expected a callable, or None.")
        if not calls:
            return cls(token, ignored, bool(given.lowercase))
        if "analyzer" in calls:
            _check_alone(given)
        splits = calls.get("analyzer") or calls.get("tokenizer")
        if splits is None:
            return cls(token, ignored, False, _Prepared(calls["preprocessor"]))
        name = "analyzer" if "analyzer" in calls else "tokenizer"
        for pattern in PATTERNS:
            if getattr(given, pattern) is not None:
                raise UsageError(f"Use either {pattern} or {name}: the callable finds the words itself.")
        before = None if "analyzer" in calls else calls.get("preprocessor")
        if before is None and given.lowercase and "analyzer" not in calls:
            before = str.casefold
        return cls(compile_pattern(f"[^{_BETWEEN}]+"), None, False, _Prepared(before, splits, name))

    @property
    def is_plain(self) -> bool:
        """Whether words are those of the built-in tokenizers."""
        return self.token is None and self.ignored is None and self.fold_case

    def original(self, text: str, prepared: str, places: Sequence[Longs]) -> tuple[Longs, ...]:
        """Starts, ends, starts of gaps and ends of gaps in `text`, given those in the prepared text."""
        begins, ends = self.places(text, prepared)
        starts, stops, gap_starts, gap_ends = places
        last = np.maximum(gap_ends - 1, 0)  # a word ends where its last character does
        apart = np.where(gap_starts == gap_ends, ends[last], begins[gap_ends])
        return begins[starts], ends[np.maximum(stops - 1, 0)], ends[np.maximum(gap_starts - 1, 0)], apart

    def places(self, text: str, prepared: str) -> tuple[Longs, Longs]:
        """For every character of a prepared text and its end, where its word begins and ends in `text`.

        Words are looked for one after another; one that is not in the text has an empty place.
        """
        lowered = text.lower()
        lowered = lowered if len(lowered) == len(text) else text
        begins, ends = np.zeros(len(prepared) + 1, np.int64), np.zeros(len(prepared) + 1, np.int64)
        cursor = at = 0
        words = prepared.split(_BETWEEN) if self.token is not None else prepared.split()
        for word in words:
            at = prepared.find(word, at)
            found = text.find(word, cursor)
            found = lowered.find(word.lower(), cursor) if found < 0 else found
            end = cursor if found < 0 else found + len(word)
            begins[at : at + len(word) + 1] = cursor if found < 0 else found
            ends[at : at + len(word) + 1] = end
            at, cursor = at + len(word), end
        return begins, ends


@dataclass(frozen=True)
class _Prepared:
    """Calls the callables of a vectorizer on one text."""

    before: Callable[[str], str] | None
    splits: Callable[[str], Any] | None = None
    name: str = ""

    def __call__(self, text: str) -> str:
        if self.before is not None:
            text = self.before(text)
            if not isinstance(text, str):
                raise DataError(f"The preprocessor returned {type(text).__name__}; expected str.")
        if self.splits is None:
            return text
        words = self.splits(text)
        if isinstance(words, str):
            raise DataError(f"The {self.name} returned one str; expected a list of words.")
        words = list(words)
        for word in words:
            if not isinstance(word, str):
                raise DataError(f"The {self.name} returned a {type(word).__name__} among words. Return str.")
        return _BETWEEN.join(word.replace(_BETWEEN, " ") for word in words)


def plain_patterns(given: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The patterns of a vectorizer for a model file; callables are refused."""
    for name in CALLABLES:
        if getattr(given, name) is not None:
            raise UsageError(
                f"The vectorizer has a callable ({name}), and a model file contains no code, so the model "
                f"cannot be saved. Pickle the classifier, if the callable can be pickled; or use "
                f"token_pattern and ignore_pattern, which are saved."
            )
    config: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for name in PATTERNS:
        found = _pattern(getattr(given, name), name)
        config[name] = None if found is None else found.pattern
        if found is not None:
            arrays |= {f"{name}_{part}": values for part, values in found.state().items()}
    return config, arrays


def stored_patterns(stored: Stored) -> dict[str, Any]:
    """The patterns of a model file, as they were compiled; older files have none."""
    found: dict[str, Any] = {}
    for name in PATTERNS:
        if name in stored and stored.value(name) is not None:
            parts: dict[str, Any] = {
                part: stored.array(f"{name}_{part}", (None,), kind) for part, kind in PARTS.items()
            }
            found[name] = CompiledPattern(stored.text(name), **parts)
    for name in CALLABLES:
        if name in stored and stored.value(name) is not None:
            raise DataError(f"'{name}' in manifest.json is {stored.value(name)!r}; expected null")
    return found


def _pattern(value: Any, name: str) -> CompiledPattern | None:
    if value is None or isinstance(value, CompiledPattern):
        return value
    if not isinstance(value, str):
        raise UsageError(f"{name}={value!r}: expected a regular expression as str, or None.")
    return compile_pattern(value, name)


def _check_alone(given: Any) -> None:
    """Refuse parameters beside an analyzer, which gives the terms itself."""
    others = ("tokenizer", "preprocessor", "stop_words", "stemmer", "thesaurus", "phrases", "pairs", "blocks")
    for name in others:
        if getattr(given, name) is not None:
            raise UsageError(f"Use either {name} or analyzer: the callable gives the terms itself.")
    if given.units != "words" or tuple(given.ngram_range) != (1, 1) or given.min_token_length != 1:
        raise UsageError("units, ngram_range and min_token_length do not apply to an analyzer.")
