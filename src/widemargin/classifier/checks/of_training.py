"""Mistakes in training documents: the wrong column, several labels in one, one document per class.

A mistake that makes the result nonsense is an error, any other a warning. All checks look at the labels once
and at a sample of the texts.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from widemargin.errors import DataError, DataWarning
from widemargin.labels import Labels, LabelSpace
from widemargin.labels.forms import some
from widemargin.text.inputs import taken

# Fewer documents show nothing: tutorials have one for each class.
_FEWEST = 20
_SAMPLE = 1000
_BEGINNING = 500  # characters of a text that are looked at
_MOST = 0.9
# A number, a number after a short prefix (T-1001), a long hexadecimal number or a UUID.
_ID = re.compile(
    r"[A-Za-z]{0,6}[-_#:]?\d+|(?=.*\d)[0-9a-fA-F]{8,}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
)
_NUMBER = re.compile(r"[-+]?\d[\d.,\s]*(e[-+]?\d+)?%?")
_DELIMITERS = (";", "|", ",")


def check_training(texts: Any, labels: Labels, names: Sequence[Any] | None = None) -> None:
    """Raise or warn if labeled documents look like a mistake.

    Parameters
    ----------
    texts : texts of documents
    labels : their labels
    names : their ids; those of files in class folders begin with the class
    """
    rows = np.flatnonzero(~labels.unlabeled)
    own = _listed(taken(texts, _evenly(rows)))
    if not all(isinstance(text, str | bytes) for text in own):
        return  # the vectorizer has words for it
    own = [_text(text[:_BEGINNING]) for text in own]
    in_folders = names is not None and len(names) == len(rows) and partial(_in_class_folders, names, labels)
    _check(own, texts, labels.space, len(rows), in_folders or (lambda: False))


def check_sample(texts: Sequence[str], space: LabelSpace, n: int) -> None:
    """The same by a random sample of the `texts` of `n` documents with the labels of `space`."""
    _check([text[:_BEGINNING] for text in texts[:_SAMPLE]], texts, space, n, lambda: False)


def _check(own: list[str], texts: Any, space: LabelSpace, n: int, in_folders: Callable[[], bool]) -> None:
    _check_texts(own, texts, n)
    classes = [str(label) for label in space.classes.tolist()]
    if space.kind != "multilabel" and len(classes) >= _MOST * n:
        _check_single_documents(own, classes, n, in_folders)
    _check_ids(own)
    _check_delimiters(classes)
    _check_variants(classes)


def _check_texts(own: list[str], texts: Any, n: int) -> None:
    """Refuse documents without words, or with the same ones."""
    cure = "Name the column with the text: --text (in Python, pass another column)."
    empty = sum(not text.strip() for text in own)
    if empty == len(own):
        raise DataError(f"All {n:,} texts are empty. {cure}")
    if len(own) >= _FEWEST and len(set(own)) == 1 and len({_text(text) for text in _listed(texts)}) == 1:
        raise DataError(
            f"All {n:,} texts are the same, {own[0][:40]!r}: there is nothing to learn from. {cure}"
        )
    if empty > 0.5 * len(own) and len(own) >= _FEWEST:
        _warn(f"{100 * empty / len(own):.0f} % of the texts are empty. {cure}")


def _check_single_documents(
    own: list[str], classes: list[str], n: int, in_folders: Callable[[], bool]
) -> None:
    """Nearly every document has a class of its own: swapped columns, ids, or one file per class folder."""
    if n >= 2 and n == len(classes) and in_folders():
        _warn(
            f"Each of the {n:,} class folders has exactly one file, so that every class has one document. If "
            f"a file holds a document per line, pass --format lines --label-from folder."
        )
        return
    if n < _FEWEST:
        return
    words = [len(text.split()) for text in own]
    label_words = [len(label.split()) for label in classes]
    if np.median(label_words) >= 4 and np.median(words) <= 3 and len(set(own)) <= 0.5 * len(own):
        raise DataError(
            f"The columns of text and labels seem to be swapped: there are {len(classes):,} classes of {n:,} "
            f"documents, such as {classes[0][:40]!r}, and texts such as {own[0][:40]!r}. Exchange --text and "
            f"--label (in Python, texts and y)."
        )
    if sum(_ID.fullmatch(label) is not None for label in classes) >= _MOST * len(classes):
        raise DataError(
            f"The labels seem to be ids or numbers of documents: {some(classes, 3)}. There are "
            f"{len(classes):,} of them for {n:,} documents. Name the column with the labels: --label."
        )
    _warn(
        f"There are nearly as many classes ({len(classes):,}) as documents ({n:,}), such as "
        f"{classes[0][:40]!r}. If this is not intended, name the columns: --text and --label."
    )


def _in_class_folders(names: Sequence[Any], labels: Labels) -> bool:
    classes = labels.space.classes.tolist()
    return all(
        isinstance(name, str) and name.startswith(f"{classes[code]}/")
        for name, code in zip(names, labels.codes.tolist(), strict=True)
    )


def _check_ids(own: list[str]) -> None:
    """Warn if texts are numbers or ids."""
    filled = [text.strip() for text in own if text.strip()]
    if len(filled) < _FEWEST:
        return
    for what, pattern in (("numbers", _NUMBER), ("ids", _ID)):
        if sum(pattern.fullmatch(text) is not None for text in filled) >= _MOST * len(filled):
            _warn(
                f"The texts look like {what}: {some(filled, 3)}. Name the column with the text: --text (in "
                f"Python, pass another column)."
            )
            return


def _check_delimiters(classes: list[str]) -> None:
    """Warn if most labels seem to be several labels in one."""
    for mark in _DELIMITERS:
        several = [label for label in classes if mark in label]
        if len(classes) < 4 or 2 * len(several) < len(classes):
            continue
        parts = {part.strip() for label in classes for part in label.split(mark)}
        # Names with a comma, such as a city and its state, have more parts than names.
        if len(parts) < len(classes):
            _warn(
                f"{len(several):,} of {len(classes):,} labels contain {mark!r}, such as {several[0][:40]!r}, "
                f"and consist of {len(parts):,} parts. If a document has several labels, pass "
                f"--label-delimiter '{mark}' (in Python, a list of labels per document)."
            )
            return


def _check_variants(classes: list[str]) -> None:
    """Warn if labels differ in case or white space only."""
    by_name: dict[str, str] = {}
    for label in classes:
        other = by_name.setdefault(" ".join(label.casefold().split()), label)
        if other != label:
            _warn(
                f"The labels {other[:40]!r} and {label[:40]!r} differ in case or white space only, but are "
                f"different labels. Write them alike."
            )
            return


def _evenly(rows: Any) -> Any:
    return rows if len(rows) <= _SAMPLE else rows[np.linspace(0, len(rows) - 1, _SAMPLE).astype(np.intp)]


def _listed(texts: Any) -> list[Any]:
    found: list[Any] = texts.to_pylist() if hasattr(texts, "to_pylist") else list(texts)
    return found


def _text(text: str | bytes) -> str:
    return text.decode(errors="replace") if isinstance(text, bytes) else text


def _warn(message: str) -> None:
    warnings.warn(message, DataWarning, stacklevel=8)
