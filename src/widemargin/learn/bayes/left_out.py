"""Leave-one-out of naive Bayes in closed form: a document's counts are taken out of those of its group.

A group is the documents of a class or all others. For every group the log-probabilities of all documents are
computed, of those in the group by its counts without them. Nothing else of the rule depends on a document,
except the prior.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from widemargin.learn.bayes.event_models import Settings, log_priors, settle
from widemargin.learn.class_counts import ClassCounts, less
from widemargin.learn.left_out_documents import Documents

Floats = NDArray[np.float64]

# Units of work for every value and column. Bernoulli's model also visits what a document does not have.
WORK = {"multinomial": 9.0, "complement": 9.0, "bernoulli": 18.0}


class Group(NamedTuple):
    """Counts of a group: of its terms (features,), and of its documents."""

    terms: Floats
    n: float


def scores(counts: ClassCounts, documents: Documents, signs: NDArray[np.int8], settings: Settings) -> Floats:
    """(n, columns) the score of every document by the rule without it; `signs` are its labels."""
    found = np.zeros(signs.shape)
    for k in range(signs.shape[1]):
        inside = signs[:, k] > 0
        terms, n = counts.column(k), float(counts.documents[k])
        if not settings.uses_complements:
            found[:, k] = log_probabilities(Group(terms, n), documents, inside, settings)
        if not settings.exclusive or settings.uses_complements:
            others = Group(less(counts.all_terms, terms), float(counts.rest[k]))
            found[:, k] -= log_probabilities(others, documents, ~inside, settings)
    with_label, without = _without_each(counts, signs > 0, documents.weight)
    found += log_priors(with_label, without, settings)
    settle(found, with_label, without, settings)
    return found


def _without_each(counts: ClassCounts, inside: NDArray[np.bool_], weight: Floats) -> tuple[Floats, Floats]:
    """(n, columns) the documents with and without each label, less the document itself."""
    with_label, without = (np.tile(number, (len(weight), 1)) for number in (counts.documents, counts.rest))
    leaves = weight[:, None]
    return less(with_label, np.where(inside, leaves, 0.0)), less(without, np.where(inside, 0.0, leaves))


def log_probabilities(
    group: Group, documents: Documents, members: NDArray[np.bool_], settings: Settings
) -> Floats:
    """(n,) log P(document | group); `members` are left out of the group before."""
    made = _bernoulli if settings.binary_terms else _multinomial
    return made(group, documents, members, float(settings.smoothing))


def _multinomial(group: Group, documents: Documents, members: NDArray[np.bool_], s: float) -> Floats:
    logs = np.log(s + group.terms)[documents.column]
    theirs = members[documents.row]
    at = documents.column[theirs]
    logs[theirs] = np.log(s + less(group.terms[at], documents.own[theirs]))
    size = less(np.full(len(members), group.terms.sum()), np.where(members, documents.own_size, 0.0))
    size = np.log(size + s * documents.n_features)
    return documents.sums(documents.scored * logs) - documents.scored_size * size


def _bernoulli(group: Group, documents: Documents, members: NDArray[np.bool_], s: float) -> Floats:
    row, column = documents.row, documents.column
    leaves = np.where(members, documents.weight, 0.0)
    found = -documents.n_features * np.log(less(np.full(len(members), group.n), leaves) + 2 * s)
    # A term that a document has is in `own` only where the document was learned with it.
    own = np.where(members[row], documents.own, 0.0)
    n = less(np.full(len(members), group.n), leaves)
    with_term = less(group.terms[column], own)
    without_term = less(n[row], with_term)
    for weight in np.unique(leaves):
        some = leaves == weight
        absent = np.log(s + less(less(np.full(documents.n_features, group.n), weight), group.terms))
        found[some] += absent.sum()
        here = some[row]
        inside = np.where(documents.scored[here] > 0, with_term[here], without_term[here])
        change = np.log(s + inside) - absent[column[here]]
        found += np.bincount(row[here], change, len(members))
    return found
