"""A collection written as canonical JSON Lines (texts) or SVM-light files (vectors)."""

from __future__ import annotations

from pathlib import Path

from widemargin._files import refuse_inputs
from widemargin.documents.collection import Collection, Vectors
from widemargin.documents.corpora.loading import DEFAULT, load_corpus
from widemargin.documents.corpora.registry import find_files, find_source
from widemargin.documents.writing import write_jsonl
from widemargin.errors import StorageError


def export_corpus(
    name: str, split: str | None = DEFAULT, directory: str | Path = ".", data_home: str | Path | None = None
) -> list[Path]:
    """Write ``train.jsonl`` and ``test.jsonl`` into `directory`, or ``all.jsonl`` where there is no split.

    Collections of vectors become ``.svm`` files. Returns the paths.
    """
    folder = Path(directory)
    source = find_source(name)
    ending = ".svm" if source.kind == "vectors" else ".jsonl"
    for stem in ("all", "train", "test"):
        refuse_inputs((folder / stem).with_suffix(ending), find_files(source, data_home) or ())
    corpus = load_corpus(name, split, data_home)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{folder}: cannot be created ({error.strerror}). Name another folder.") from error
    if corpus.split is None:
        return [_write(corpus.train, folder / "all")]
    return [_write(corpus.train, folder / "train"), _write(corpus.test, folder / "test")]


def _write(part: Collection | Vectors, stem: Path) -> Path:
    if isinstance(part, Vectors):
        from widemargin.documents.formats.svmlight import write_vectors

        path = stem.with_suffix(".svm")
        write_vectors(part, path)
    else:
        path = stem.with_suffix(".jsonl")
        write_jsonl(part, path)
    return path
