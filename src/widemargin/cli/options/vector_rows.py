"""Which document each row of a file of --vectors belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from widemargin.documents.formats.vector_files import open_matrix
from widemargin.documents.record import SEPARATOR
from widemargin.errors import DataError, UsageError
from widemargin.weight.document_vectors import DocumentVectors

if TYPE_CHECKING:
    from widemargin.classifier import Scorer


class RowsOfFile(DocumentVectors):
    """The rows of a .npy file, one after another for the documents that come."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path, self.rows, self.used = path, open_matrix(path), 0

    def pair(self, texts: Sequence[str], into: DocumentVectors) -> None:
        """The next rows are those of `texts`."""
        end = self.used + len(texts)
        if end > len(self.rows):
            raise DataError(
                f"{self.path} has {len(self.rows)} rows, but there are more documents. Write one row per "
                f"document, in the same order."
            )
        try:
            # As an encoder would get them.
            into.add([text.replace(SEPARATOR, "\n") for text in texts], self.rows[self.used : end])
        except DataError as error:
            raise DataError(f"{self.path}, rows {self.used} to {end - 1}: {error}") from error
        self.used = end

    def finish(self) -> None:
        if self.used < len(self.rows):
            raise DataError(
                f"{self.path} has {len(self.rows)} rows for {self.used} documents. Write one row per "
                f"document, in the same order."
            )


class RowsForModel:
    """The vectors of the documents that a model is to score, from the files of --vectors.

    Parameters
    ----------
    scorer : the model, which may need none
    model : what errors call it
    """

    def __init__(self, scorer: Scorer, files: Sequence[str] | None, model: Any) -> None:
        files = list(files or ())
        vectorizer = scorer.representation.vectorizer
        blocks = [] if vectorizer is None or not isinstance(vectorizer.blocks, tuple) else vectorizer.blocks
        self._needed: list[Any] = [
            block for block in blocks if isinstance(getattr(block, "source", None), DocumentVectors)
        ]
        if len(files) != len(self._needed):
            raise UsageError(self._wrong(files, model))
        self._rows = [RowsOfFile(path) for path in files]
        for block, rows in zip(self._needed, self._rows, strict=True):
            if rows.rows.shape[1] != block.dims:
                raise DataError(
                    f"{rows.path} has {rows.rows.shape[1]} columns, but {model} was trained on vectors of "
                    f"{block.dims} numbers. Use the same encoder for all documents."
                )

    def _wrong(self, files: list[str], model: Any) -> str:
        if not self._needed:
            return f"--vectors {files[0]}: {model} was not trained with vectors of documents. Omit it."
        each = ", ".join(f"{block.name}: {block.dims} numbers" for block in self._needed)
        options = " ".join("--vectors FILE.npy" for _ in self._needed)
        return (
            f"{model} was trained with vectors of documents ({each}). Pass {options}, with a row for each "
            f"document."
        )

    def pair(self, texts: Sequence[str]) -> None:
        """Forget the documents before these; the next rows are theirs."""
        for block, rows in zip(self._needed, self._rows, strict=True):
            block.source.clear()
            rows.pair(texts, block.source)

    def finish(self) -> None:
        """There must be no more rows."""
        for rows in self._rows:
            rows.finish()
