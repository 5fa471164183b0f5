"""What the runs of a collection have together: vocabularies, document frequencies, labels."""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.labels.space import LabelSpace
from widemargin.on_disk.associations import Associations
from widemargin.on_disk.chunk_counting import counting_rules
from widemargin.on_disk.rows import Rows, ValueType
from widemargin.on_disk.runs import RunInfo
from widemargin.on_disk.scratch import writing_to
from widemargin.on_disk.terms import NO_TERMS, PAGE, Terms, joined, merge_pages, read_terms, write_terms
from widemargin.text.pairs import is_pair
from widemargin.text.pruning import NoTermsError
from widemargin.text.vocabulary import Vocabulary
from widemargin.weight.block_counting import BlockRule

# The bytes of a page of terms in memory, about: two numbers of 8 bytes, offsets, text, and copies.
_PAGE_BYTES = 64 * PAGE
_MOST_SOURCES = 128
# Terms beyond twice `max_features` that are kept before the rarest are dropped.
_SLACK = 1 << 20


class Merged(NamedTuple):
    """What a collection is, once all of it was counted.

    Attributes
    ----------
    vocabularies : the terms of every block after pruning; None if they are hashed, or documents are vectors
    frequencies : document frequencies of all columns; None for vectors
    totals : occurrences of all terms; None for vectors and hashed terms
    n_columns : of all documents
    n_documents : those with labels
    space : what the labels are
    columns : the names of the columns of the documents
    """

    vocabularies: list[Vocabulary] | None
    frequencies: NDArray[np.int64] | None
    totals: NDArray[np.int64] | None
    n_columns: int
    n_documents: int
    n_unlabeled: int
    values: ValueType
    has_weights: bool
    space: LabelSpace
    columns: tuple[str, ...] | None

    def fit(self, vectorizer: Any) -> Any:
        """`vectorizer`, fitted as if on all documents at once."""
        if self.frequencies is None:
            raise UsageError("Vectors have no terms: there is no vectorizer to fit.")
        return vectorizer.fit_counted(self.vocabularies, self.frequencies, self.n_documents, self.columns)


def merge_runs(
    runs: Sequence[RunInfo],
    vectorizer: Any,
    directory: Path,
    *,
    memory: int,
    multilabel: bool = False,
) -> Merged:
    """Merge runs on disk.

    Parameters
    ----------
    vectorizer : that of the runs; None for vectors
    directory : for temporary files, if there are very many runs
    memory : bytes that merging may take, beside the result
    multilabel : whether labels are not exclusive even if every document has one
    """
    facts = merged_facts(runs, multilabel=multilabel)
    if vectorizer is None:
        return facts
    rules = counting_rules(vectorizer, facts.columns)
    if vectorizer.n_hashed is not None:
        n_columns = vectorizer.n_hashed * len(rules)
        frequencies = np.zeros(n_columns, dtype=np.int64)
        for run in runs:
            for rows in run.rows():
                frequencies += hashed_frequencies(rows)
        return facts._replace(frequencies=frequencies, n_columns=n_columns)
    files = [[(run.terms_path(block), run.n_terms[block]) for run in runs] for block in range(len(rules))]
    sources = [lambda some=some: _merge_files(some, directory, memory) for some in files]
    return merged_terms(facts, rules, sources)


def merged_facts(runs: Sequence[RunInfo], *, multilabel: bool = False) -> Merged:
    """All but the terms; of vectors, that is everything."""
    n_documents = sum(run.n_rows for run in runs)
    n_unlabeled = sum(run.n_unlabeled for run in runs)
    if n_documents + n_unlabeled == 0:
        raise DataError("There are no documents to learn from. Pass at least one.")
    if n_documents == 0:
        raise DataError(f"None of the {n_unlabeled} documents has a label. Name the column with the labels.")
    used = [run for run in runs if run.n_rows + run.n_unlabeled > 0]
    columns = {run.columns for run in used}
    values = {run.values for run in used}
    if len(columns) > 1:
        found = "; ".join(", ".join(names) if names else "none" for names in sorted(columns, key=str))
        raise DataError(
            f"The parts of the collection differ in their columns ({found}). Name the columns to read."
        )
    if len(values) > 1:
        raise DataError(
            f"The parts of the collection differ in their type of values ({', '.join(sorted(values))}). "
            f"Convert them to one type."
        )
    counts: Counter[Any] = Counter()
    for run in used:
        counts.update(run.label_counts)
    exclusive = not multilabel and all(run.one_label_each for run in used)
    try:
        space = LabelSpace.of_counts(counts, n_documents, exclusive=exclusive)
    except TypeError:
        types = ", ".join(sorted({type(label).__name__ for label in counts}))
        raise DataError(f"The labels mix values of type {types}. Use one type for all labels.") from None
    return Merged(
        None,
        None,
        None,
        max(run.n_columns for run in used),
        n_documents,
        n_unlabeled,
        values.pop(),
        any(run.has_weights for run in used),
        space,
        columns.pop(),
    )


def hashed_frequencies(rows: Rows) -> NDArray[np.int64]:
    """The document frequencies of hashed terms; those of all rows are the sum of those of parts."""
    return np.bincount(rows.csr.indices, minlength=rows.csr.n_columns).astype(np.int64, copy=False)


def merged_terms(
    facts: Merged, rules: Sequence[BlockRule], sources: Sequence[Callable[[], Iterable[Terms]]]
) -> Merged:
    """The result with the terms of every block.

    Parameters
    ----------
    sources : for each block of terms, a function that yields the merged terms in parts
    """
    found: list[Vocabulary] = []
    frequencies: list[NDArray[np.int64]] = []
    totals: list[NDArray[np.int64]] = []
    empty: list[NoTermsError] = []
    for rule, source in zip(rules, sources, strict=True):
        try:
            terms = prune(source, rule, facts.n_documents)
        except NoTermsError as error:
            empty.append(error)
            if len(empty) == len(rules):
                raise empty[0] from None
            warnings.warn(f"Block {rule.block.name!r} is empty: {error}", DataWarning, stacklevel=3)
            terms = NO_TERMS
        found.append(rule.text.vocabulary(terms.buffer, terms.offsets))
        frequencies.append(terms.frequencies)
        totals.append(terms.totals)
    return facts._replace(
        vocabularies=found,
        frequencies=frequencies[0] if len(rules) == 1 else np.concatenate(frequencies),
        totals=totals[0] if len(rules) == 1 else np.concatenate(totals),
        n_columns=sum(len(each) for each in found),
    )


def prune(source: Callable[[], Iterable[Terms]], rule: BlockRule, n_documents: int) -> Terms:
    """The terms that the vectorizer keeps.

    Parameters
    ----------
    source : yields all terms in parts; it is read twice for phrases
    """
    pruning = rule.pruning
    kept: list[Terms] = []
    n_terms = n_kept = 0
    ratios = Associations(source()) if pruning.phrases is not None else None
    for part in source():
        n_terms += part.n_terms
        pairs = None if rule.text.pairs is None else is_pair(part.vocabulary)
        ties = None if ratios is None else ratios.of(part)
        kept.append(part.kept(pruning.allowed(part.frequencies, part.totals, n_documents, ties, pairs)))
        n_kept += kept[-1].n_terms
        if pruning.max_features is not None and n_kept > 2 * pruning.max_features + _SLACK:
            # A term that has enough others before it now has them in the end.
            kept = [_most_frequent(kept, rule)]
            n_kept = kept[0].n_terms
    if n_terms == 0:
        raise NoTermsError(
            f"The {n_documents} documents contain no terms: they are empty, too short, "
            f"or all their words are stop words."
        )
    found = _most_frequent(kept, rule)
    pruning.require_some(found.n_terms > 0)
    return found


def _most_frequent(parts: list[Terms], rule: BlockRule) -> Terms:
    together = joined(parts)
    return together.kept(rule.pruning.most_frequent(together.totals))


def _merge_files(files: Sequence[tuple[Path, int]], directory: Path, memory: int) -> Iterator[Terms]:
    """Merge the terms of many files; of very many, some at a time to files in `directory`.

    Parameters
    ----------
    files : with the number of terms of each
    """
    most = max(2, min(_MOST_SOURCES, memory // (4 * _PAGE_BYTES)))
    if len(files) <= most:
        yield from merge_pages([read_terms(*file) for file in files])
        return
    with tempfile.TemporaryDirectory(prefix="terms-", dir=directory) as folder:
        merged = []
        for start in range(0, len(files), most):
            path = Path(folder, str(start))
            with writing_to(folder), path.open("wb") as file:
                some = merge_pages([read_terms(*each) for each in files[start : start + most]])
                merged.append((path, write_terms(file, some)))
        yield from _merge_files(merged, directory, memory)
