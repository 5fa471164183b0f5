"""Whether `train` works in memory or from disk, and training from disk itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from widemargin._memory import LEAST, available_memory, parse_size, size_in_words
from widemargin.cli.inputs.sources import flat
from widemargin.cli.output import complain, note
from widemargin.documents.sources.finding import bytes_of
from widemargin.errors import UsageError, WidemarginError

if TYPE_CHECKING:
    from widemargin.classifier import TextClassifier
    from widemargin.cli.commands import Given

# Bytes in memory for a byte of a file, measured on 20 to 80 MB of short texts with 20 labels: to train, to
# estimate too, and to tune as well, which compares terms of several kinds. Compressed files are read as four
# times their size.
_TRAINED, _ESTIMATED, _TUNED, _COMPRESSED = 8, 12, 60, 4
_PACKED = (".gz", ".xz", ".zst", ".bz2", ".zip", ".tgz", ".parquet", ".arrow", ".feather")
# Below this size nothing is asked of the system.
_SMALL = 100 * 10**6


def memory_of(given: Given) -> int | None:
    """The bytes of --memory; None if it is not given."""
    if given.memory is None:
        if given.scratch is not None and given.cluster is None:
            raise UsageError("--scratch is for temporary files of --memory. Pass --memory 2GB too.")
        return None
    if given.stream:
        raise UsageError("Use either --memory or --stream: a stream is never held in memory.")
    return parse_size(given.memory, "--memory")


def for_cluster(given: Given) -> int | None:
    """The bytes that a training on a cluster uses on this machine if nothing is said; None without one."""
    if given.cluster is None:
        if given.cluster_method is not None:
            raise UsageError("--cluster-method is for --cluster. Pass --cluster local, or an address.")
        return None
    if given.stream:
        raise UsageError("Use either --cluster or --stream: a stream is read by one process.")
    return max((available_memory() or 2 * LEAST) // 2, LEAST)


def short_of_memory(given: Given) -> int | None:
    """The bytes to train with from disk, because the documents would not fit into memory; None if they do."""
    found = _bytes_of(given)
    if found <= _SMALL:
        return None
    factor = _TUNED if given.tune != "none" else _TRAINED if given.estimate == "none" else _ESTIMATED
    needed = found * factor
    available = available_memory()
    if available is None or needed <= available:
        return None
    complain_of = f"The collection needs about {size_in_words(needed)} in memory; {size_in_words(available)}"
    given.memory_note = f"{complain_of} are available: training from disk. Pass --memory to choose how much."
    return max(available // 2, LEAST)


def why_not(given: Given, classifier: TextClassifier) -> str | None:
    """Why this training needs all documents in memory; None if it does not."""
    from widemargin.classifier.large.applies import why_not as of_classifier

    for name, word in (("unlabeled", "--unlabeled"), ("time", "--time"), ("vectors", "--vectors")):
        if getattr(given, name) not in (None, []):
            return f"{word} needs all documents in memory. Omit it, or leave out --memory."
    return of_classifier(classifier, classifier.vectorizer, classifier.learner)


def train(given: Given, classifier: TextClassifier, memory: int, reading: dict[str, Any]) -> None:
    """Fit the classifier from disk."""
    how: dict[str, Any] = {"memory": memory, "scratch": given.scratch, "multilabel": given.multilabel}
    if given.cluster is not None:
        how |= {"cluster": given.cluster, "cluster_method": given.cluster_method or "auto"}
    classifier.fit_files(given.data, **how, tell=lambda text: note(text, given.quiet), **reading)


def say_why(given: Given) -> None:
    """Tell that memory is short."""
    if not given.quiet:
        complain(given.memory_note)


def _bytes_of(given: Given) -> int:
    """The size of all files, uncompressed about; 0 if it is unknown."""
    found = 0
    for source in flat([given.data]):
        try:
            size = bytes_of([source])
        except (OSError, WidemarginError):  # told when it is read
            size = None
        if size is None:
            return 0
        found += size * (_COMPRESSED if str(source).lower().endswith(_PACKED) else 1)
    return found
