"""Documents that do not suit a model: in another language, or without a known term."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from widemargin.classifier.record.word_profile import WordProfile
from widemargin.classifier.representation import Representation, is_matrix
from widemargin.classifier.scorer import Scorer
from widemargin.errors import DataError, DataWarning
from widemargin.text.inputs import taken

# Fewer documents show nothing.
FEWEST = 20
# The most that are looked at.
SAMPLE = 1000
# The share of known words, relative to that in training documents. Test sets of public collections have 0.9
# to 1.1, English documents of other kinds 0.42 and more, and documents in other languages mostly up to 0.38.
_ALIKE = 0.4
# Where less is usual, training documents have little in common: they are few, or in many languages.
_USUAL = 0.5


def check_documents(scorer: Scorer, texts: Any, *, strict: bool) -> None:
    """Warn if documents are in another language than the training documents, or most have no known term.

    Parameters
    ----------
    strict : raise an error if no document has a known term, since all figures would be nonsense
    """
    if scorer.takes_vectors or is_matrix(texts):
        return
    texts = scorer.representation.documents(texts)
    if len(texts) < FEWEST:
        return
    if len(texts) > SAMPLE:
        texts = taken(texts, np.linspace(0, len(texts) - 1, SAMPLE).astype(np.intp))
    cure = "Pass documents like those of training, or name the column with the text: --text."
    unknown = _without_known_terms(scorer.representation, texts)
    if strict and unknown == len(texts):
        raise DataError(f"No document has a term that the model knows. {cure}")
    if _in_another_language(scorer.record.words, texts):
        return
    if 2 * unknown > len(texts):
        warnings.warn(
            f"{100 * unknown / len(texts):.0f} % of the documents have no term that the model knows, and get "
            f"the label of an empty document. {cure}",
            DataWarning,
            stacklevel=3,
        )


def _in_another_language(profile: WordProfile | None, texts: Any) -> bool:
    if profile is None or profile.usual < _USUAL:
        return False
    share = profile.share(texts)
    if share is None or share >= _ALIKE * profile.usual:
        return False
    warnings.warn(
        f"The documents seem to be in another language than the training documents, or of another kind: "
        f"{100 * share:.0f} % of their words are frequent in training documents, where "
        f"{100 * profile.usual:.0f} % is usual. Do not rely on the labels; train on documents like these.",
        DataWarning,
        stacklevel=4,
    )
    return True


def _without_known_terms(representation: Representation, texts: Any) -> int:
    """How many texts have no term of the model; 0 if it does not only go by terms."""
    vectorizer = representation.vectorizer
    if vectorizer is None or vectorizer.has_vectors or vectorizer.given_:
        return 0
    rows = vectorizer.counted(texts)
    return int(np.count_nonzero(np.diff(rows.indptr) == 0))
