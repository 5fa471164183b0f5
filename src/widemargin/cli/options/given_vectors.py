"""``--vectors``: word vectors and vectors of documents from files, as blocks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from widemargin.cli.options.option import Option
from widemargin.cli.output import bytes_in_words, counted, note
from widemargin.errors import UsageError

if TYPE_CHECKING:
    from widemargin.tune.staged.axes import Axes
    from widemargin.weight.given_vectors import GivenVectors

GIVEN_VECTORS = (
    Option(
        "--vectors FILE[:WEIGHT]",
        "Add vectors of your own as a block (may be repeated): word vectors as text (word2vec, GloVe, "
        "fastText, also .gz), or as NAME.npy with the words in NAME.words.txt; or vectors of the documents, "
        ".npy with a row for each (first all of DATA or LABELED, then all of UNLABELED).",
        "train label",
        list[str],
        shown="none",
    ),
    Option(
        "--vectors FILE",
        "Vectors of the documents, for a model that was trained with such: .npy with a row for each.",
        "predict evaluate explain",
        list[str],
        shown="none",
    ),
)

# Options of terms that say which blocks there are.
_TERMS = {"blocks", "units", "ngrams", "phrases", "pairs", "thesaurus", "hashed"}


def vector_files(words: Iterable[str] | None) -> list[str]:
    """The files that --vectors names, which nothing may be written over."""
    return [_file_and_weight(word)[0] for word in words or ()]


def given_blocks(words: Iterable[str] | None) -> list[GivenVectors]:
    """The blocks that --vectors names; those of documents have no rows yet (:func:`pair`)."""
    from widemargin.cli.options.vector_rows import RowsOfFile
    from widemargin.documents.formats.vector_files import words_beside
    from widemargin.weight.given_vectors import GivenVectors

    found: list[GivenVectors] = []
    for word in words or ():
        path, weight = _file_and_weight(word)
        block = GivenVectors(path, weight=weight)
        if path.lower().endswith(".npy") and words_beside(path) is None:
            block = replace(block, source=RowsOfFile(path))
        if block.name in ("words", "vectors", *(other.name for other in found)):
            block = replace(block, name=f"given-{block.name}-{len(found) + 1}")
        try:
            block.check()
        except UsageError as error:
            raise UsageError(f"--vectors {word}: {error}") from None
        found.append(block)
    return found


def beside_vectors(terms: dict[str, Any], words: Iterable[str] | None) -> dict[str, Any]:
    """The parameters of `Vectorizer`, with the vectors of --vectors beside its terms."""
    given = given_blocks(words)
    if not given:
        return terms
    from widemargin.weight.blocks import Block

    units = terms["units"]
    own = terms["blocks"] or (Block(units, units, terms["ngram_range"]),)
    return {**terms, "blocks": (*own, *given), "units": "words", "ngram_range": (1, 1)}


def _file_and_weight(word: str) -> tuple[str, float]:
    path, colon, last = word.rpartition(":")
    if not colon or os.path.exists(word):
        return word, 1.0
    try:
        return path, float(last)
    except ValueError:
        return word, 1.0


def pair(blocks: Any, documents: Any, pool: Any = None) -> None:
    """Say which rows belong to the documents that were read, and then to those of a pool."""
    texts = getattr(documents, "texts", None)
    for block in blocks if isinstance(blocks, tuple) else ():
        source: Any = getattr(block, "source", None)
        if hasattr(source, "pair"):
            if texts is None:
                raise UsageError(f"--vectors {source.path}: the documents are vectors already.")
            for some in (texts, getattr(pool, "texts", pool) or ()):
                source.pair(some, source)
            source.finish()


def refuse_rows(blocks: Any, why: str) -> None:
    """Refuse vectors of documents where a text has none."""
    for block in blocks if isinstance(blocks, tuple) else ():
        source: Any = getattr(block, "source", None)
        if hasattr(source, "pair"):
            raise UsageError(f"--vectors {source.path}: {why} of its own. Use word vectors.")


def free_blocks(axes: Axes, given: Any) -> Axes:
    """Tuning may add other blocks beside given vectors, unless options say which terms there are."""
    if not given.vectors or given.typed.intersection(_TERMS):
        return axes
    return replace(axes, kept=frozenset(axes.kept) - {"blocks"})


def found_words(vectorizer: Any) -> dict[str, Any]:
    """How much of the training documents the word vectors know, for a summary."""
    given = {} if vectorizer is None else vectorizer.given_
    found = [
        {"name": name, "found": one.found, "words": len(one.often), "dims": one.block.dims}
        for name, one in given.items()
        if one.often is not None
    ]
    return {"vectors": found} if found else {}


def note_found(summary: dict[str, Any], quiet: bool) -> None:
    """Tell how much of the training documents the word vectors know."""
    for one in summary.get("vectors", ()):
        size = 4 * one["words"] * one["dims"]
        note(
            f"{one['name']}: {one['found']:.1%} of the words of the documents have a vector; the model keeps "
            f"{counted(one['words'], 'word')} of {one['dims']} dimensions ({bytes_in_words(size)}).",
            quiet,
        )
