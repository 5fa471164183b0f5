"""Single terms that give a label away: ids, headers, footers and other marks that are not about the topic.

Text is redundant: in natural collections no single word decides a category, and none stands in the same
place of every document. A term is reported if nearly all documents that have it have the label (which is no
chance, by Fisher's exact test, corrected for the number of terms and labels), if it is in a good part of the
label's documents, and if one of three things shows that it is a mark:

- *place*: it occurs once per document, always at the same distance from the beginning or from the end;
- *identifier*: it mixes letters and digits, and is in at least half of the documents;
- *alone*: it decides the label alone, almost without error.

A part of the label's name is a give-away by its place only: documents about Uber have the word "uber".

Terms of the same documents, such as those of one footer, are one finding. Each is tested by learning again
without it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import hypergeom

from widemargin._arrays import canonical_csr
from widemargin.diagnose.drift import LEVEL
from widemargin.estimate.cross_validation import out_of_fold
from widemargin.estimate.curves.growth import decisions
from widemargin.features.scores import count_terms
from widemargin.labels import Labels
from widemargin.learn.svm.linear_svm import LinearSVM
from widemargin.measure import contingency, f_measure

PRECISE = 0.95  # share of the documents with the term that have the label
COVERED = 0.2  # share of the documents with the label that have the term
FEWEST = 10  # documents with both
IDENTIFIES = 0.5  # the same of an identifier, since some words have digits ("4th")
DECIDES = 0.97  # F1 of the rule "has the term" that no natural word reaches
SAME_PLACE = 0.9  # share of documents with the term in the same place
SAME_DOCUMENTS = 0.9
MOST = 20
_LOOKED_AT = 200
_BLOCK = 20_000_000
_FOLDS = 5


@dataclass(frozen=True)
class GiveAway:
    """Terms that give a label away.

    Attributes
    ----------
    label : the label
    terms : the terms, all of the same documents; the first has the highest F1
    kind : "place", "identifier" or "alone"
    documents : documents with the first term
    precision, recall : of the rule that assigns the label to documents with the first term
    f1, f1_without : held-out F1 of the label, and after learning without the terms
    """

    label: Any
    terms: list[str]
    kind: str
    documents: int
    precision: float
    recall: float
    f1: float
    f1_without: float

    def to_dict(self) -> dict[str, Any]:
        numbers = {k: round(getattr(self, k), 4) for k in ("precision", "recall", "f1", "f1_without")}
        return {
            "label": self.label,
            "terms": self.terms,
            "kind": self.kind,
            "documents": self.documents,
            **numbers,
        }


@dataclass(frozen=True, eq=False)
class TermTable:
    """The best single term of every label, and the terms that may give it away.

    Attributes
    ----------
    best : (labels,) the column of the term with the highest F1 as a rule of its own
    best_f1 : (labels,) that F1
    vocabulary : (labels,) how many terms the documents of the label have
    suspicious : pairs of label and term, as columns
    """

    best: NDArray[np.intp]
    best_f1: NDArray[np.float64]
    vocabulary: NDArray[np.int64]
    suspicious: list[tuple[int, int]]


def term_table(counts: sp.csr_array, signs: NDArray[np.int8], n_jobs: int | None = None) -> TermTable:
    """Compare every term with every label, by the documents that have both.

    Examples
    --------
    >>> counts = sp.csr_array(np.array([[1, 1], [1, 0], [0, 1]]))
    >>> table = term_table(counts, np.array([[1], [1], [-1]], dtype=np.int8))
    >>> table.best.tolist(), table.best_f1.tolist(), table.vocabulary.tolist()
    ([0], [1.0], [2])
    """
    csr = canonical_csr(counts.astype(np.float32))
    n_labels = signs.shape[1]
    step = max(_BLOCK // max(csr.n_columns, 1), 1)
    best, best_f1, vocabulary = np.zeros(n_labels, np.intp), np.zeros(n_labels), np.zeros(n_labels, np.int64)
    suspicious: list[tuple[int, int]] = []
    tests = max(n_labels * csr.n_columns, 1)
    for begin in range(0, n_labels, step):
        found = count_terms(csr, np.asfortranarray(signs[:, begin : begin + step]), n_jobs)
        together, some = found.together, slice(begin, begin + found.together.shape[0])
        f1 = 2 * together / np.maximum(found.labels[:, None] + found.terms, 1)
        best[some] = f1.argmax(axis=1)
        best_f1[some] = f1.max(axis=1)
        vocabulary[some] = np.count_nonzero(together, axis=1)
        likely = (
            (together >= np.maximum(FEWEST, COVERED * found.labels[:, None]))
            & (together >= PRECISE * found.terms)
            & (found.labels[:, None] <= 0.9 * found.n)
        )
        k, t = np.nonzero(likely)
        p = hypergeom.sf(together[k, t] - 1, found.n, found.labels[k], found.terms[t])
        chance = p * tests >= LEVEL
        suspicious += [(begin + int(i), int(j)) for i, j in zip(k[~chance], t[~chance], strict=True)]
    return TermTable(best, best_f1, vocabulary, suspicious)


def find_give_aways(
    table: TermTable,
    counts: sp.csr_array,
    X: Any,
    signs: NDArray[np.int8],
    labels: Sequence[Any],
    terms: Sequence[str],
    texts: Sequence[str],
    *,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> list[GiveAway]:
    """Terms that give labels away, those that matter most first.

    Parameters
    ----------
    counts, X : (documents, terms) counts and weights
    signs : (documents, labels)
    """
    columns = sp.csc_array(counts)
    found: list[tuple[int, list[int], str]] = []
    for k in sorted({label for label, _ in table.suspicious}):
        member = signs[:, k] > 0
        groups = _of_same_documents([t for label, t in table.suspicious if label == k], columns, member)
        for group in groups:
            kinds = (_kind(t, labels[k], columns, member, terms, texts) for t in group[:5])
            kind = next((kind for kind in kinds if kind is not None), None)
            if kind is not None:
                found.append((k, group, kind))
    found.sort(key=lambda one: -_rule_f1(one[1][0], columns, signs[:, one[0]] > 0))
    how: dict[str, Any] = {"n_jobs": n_jobs, "random_state": random_state}
    results = []
    for k, group, kind in found[:MOST]:
        member = signs[:, k] > 0
        documents = _documents(group[0], columns)
        hits = int(np.count_nonzero(member[documents]))
        results.append(
            GiveAway(
                labels[k],
                [terms[t] for t in group],
                kind,
                len(documents),
                hits / len(documents),
                hits / int(member.sum()),
                _held_out_f1(X, member, [], **how),
                _held_out_f1(X, member, group, **how),
            )
        )
    return sorted(results, key=lambda one: one.f1_without - one.f1)


def _documents(term: int, columns: sp.csc_array) -> NDArray[Any]:
    return np.asarray(columns.indices[columns.indptr[term] : columns.indptr[term + 1]])


def _rule_f1(term: int, columns: sp.csc_array, member: NDArray[np.bool_]) -> float:
    documents = _documents(term, columns)
    return float(2 * np.count_nonzero(member[documents]) / (len(documents) + member.sum()))


def _of_same_documents(
    candidates: list[int], columns: sp.csc_array, member: NDArray[np.bool_]
) -> list[list[int]]:
    """Terms in groups whose documents are nearly the same; the best rule of each first."""
    groups: list[tuple[set[int], list[int]]] = []
    for term in sorted(candidates, key=lambda t: -_rule_f1(t, columns, member)):
        documents = set(_documents(term, columns).tolist())
        for first, group in groups:
            if len(first & documents) >= SAME_DOCUMENTS * len(first | documents):
                group.append(term)
                break
        else:
            groups.append((documents, [term]))
    return [group for _, group in groups]


def _kind(
    term: int,
    label: Any,
    columns: sp.csc_array,
    member: NDArray[np.bool_],
    terms: Sequence[str],
    texts: Sequence[str],
) -> str | None:
    """What shows that a term is a mark, None if nothing does."""
    word = terms[term]
    documents = _documents(term, columns)
    times = columns.data[columns.indptr[term] : columns.indptr[term + 1]]
    if np.mean(times == 1) >= SAME_PLACE and _in_one_place(word, [texts[i] for i in documents[:_LOOKED_AT]]):
        return "place"
    name = re.findall(r"[^\W_]+", str(label).casefold())
    if any(part.startswith(word[:4]) or word.startswith(part[:4]) for part in name if len(part) > 1):
        return None
    covered = np.count_nonzero(member[documents]) >= IDENTIFIES * member.sum()
    if covered and re.search(r"\d", word) and re.search(r"[^\W\d_]", word):
        return "identifier"
    return "alone" if _rule_f1(term, columns, member) >= DECIDES else None


def _in_one_place(word: str, texts: list[str]) -> bool:
    """Whether a word is at the same distance from the beginning, or from the end, in most texts."""
    from_begin: Counter[int] = Counter()
    from_end: Counter[int] = Counter()
    for text in texts:
        words = re.findall(r"[^\W_]+", text.casefold())
        if word in words:
            place = words.index(word)
            from_begin[place] += 1
            from_end[len(words) - place] += 1
    lengths = len(set(map(len, texts)))
    most = max(max(places.values(), default=0) for places in (from_begin, from_end))
    # Texts of one length say nothing: place and length are the same there.
    return lengths > 1 and most >= SAME_PLACE * len(texts)


def _held_out_f1(
    X: Any, member: NDArray[np.bool_], without: list[int], *, n_jobs: int | None, random_state: int
) -> float:
    if without:
        keep = np.ones(X.shape[1])
        keep[without] = 0.0
        X = sp.csr_array(X @ sp.diags_array(keep)).astype(np.float32)
        X.eliminate_zeros()
    y = Labels.of(member)
    learner = LinearSVM(balance=0, tol=0.01, n_jobs=n_jobs)
    found = out_of_fold(learner, X, y, folds=_FOLDS, random_state=random_state)
    decided = decisions(y.space, found.scores, y.signs)
    return float(f_measure(contingency(y.signs[:, 0], decided[:, 0])))
