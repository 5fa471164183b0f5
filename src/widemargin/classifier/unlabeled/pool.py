"""The pool: unlabeled documents that `TextClassifier.fit` gets beside the training documents."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from widemargin._arrays import is_sparse
from widemargin.classifier.record.word_profile import WordProfile
from widemargin.classifier.representation import is_matrix
from widemargin.classifier.summary import USES
from widemargin.classifier.training_input import TrainingInput
from widemargin.documents.collection import Collection, Vectors
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.estimate.assessment import Request
from widemargin.text.fields import columns_of, has_text_columns, joined, only_column
from widemargin.text.inputs import as_texts, together

# Words of the pool that are known from training documents, relative to words of training documents that are
# known from others of them. Pools in another language have 0.1 to 0.5, pools on other subjects 0.5 to 0.8.
_ALIKE = 0.45


@dataclass(frozen=True, eq=False)
class Pool:
    """Unlabeled documents.

    Attributes
    ----------
    documents : texts, or a matrix; None if nothing is left of them
    size : how many there are
    use : what they are used for, one of `USES`
    also_training : how many more were given that are training documents too, and left out
    """

    documents: Any
    size: int
    use: str
    also_training: int = 0

    @property
    def for_labels(self) -> bool:
        """Whether the learner learns from them too."""
        return self.use != "representation"

    def summary(self) -> dict[str, Any]:
        """What a summary of training says of it, before anything is compared."""
        return {
            "documents": self.size,
            "also_training": self.also_training,
            "asked": self.use,
            "use": self.use if self.size else None,
        }


def read_pool(
    unlabeled: Any, use: str | None, given: TrainingInput, vectorizer: Any, learner: Any, request: Request
) -> Pool | None:
    """The unlabeled documents that a classifier is given, checked before any work; None if there are none.

    Parameters
    ----------
    unlabeled : documents in any form that `texts` may have; labels are ignored
    use : one of `USES`; None for the first
    given : the training documents
    """
    if use is not None and use not in USES:
        raise UsageError(f"unlabeled_use={use!r}: expected one of {', '.join(USES)}.")
    if unlabeled is None:
        if use is not None:
            raise UsageError(
                f"unlabeled_use={use!r} needs unlabeled documents: pass them to fit (--unlabeled POOL)."
            )
        return None
    if hasattr(vectorizer, "rows_without"):
        raise UsageError(
            f"Unlabeled documents are used by widemargin.Vectorizer, and not by {vectorizer.name}. Omit "
            f"`unlabeled`, or use our vectorizer."
        )
    use = use or USES[0]
    if use != USES[0]:
        _check_task(use, given, learner, request)
    documents = _documents(unlabeled, given.texts, vectorizer)
    size = documents.shape[0] if is_matrix(documents) else len(documents)
    if size == 0:
        raise DataError(
            "There are no unlabeled documents. Pass at least one, or omit unlabeled (--unlabeled)."
        )
    if is_matrix(documents):
        if use == USES[0] and not hasattr(learner, "unlabeled"):
            raise UsageError(
                "Vectors have neither words nor document frequencies to learn from unlabeled ones. Pass "
                'unlabeled_use="self-training" (--unlabeled-use self-training).'
            )
        return Pool(documents, size, use)
    known = set(given.texts.to_pylist() if hasattr(given.texts, "to_pylist") else given.texts)
    new = [text for text in documents if text not in known]
    copies = size - len(new)
    if copies:
        rest = "They are left out" if new else "So there is nothing to learn from them"
        warnings.warn(
            f"{copies:,} of {size:,} unlabeled documents are training documents too. {rest}.",
            DataWarning,
            stacklevel=5,
        )
    if new and not compare_words(given.texts, new):
        raise DataError(
            f"None of the {len(new):,} unlabeled documents has a word. Name the column with the text "
            f"(--text), or omit unlabeled (--unlabeled)."
        )
    return Pool(new or None, len(new), use, copies)


def _check_task(use: str, given: TrainingInput, learner: Any, request: Request) -> None:
    """Refuse a task or a learner that labels of unlabeled documents do not go with."""
    if given.labels.space.kind == "multilabel":
        raise UsageError(
            f'"{use}" is for tasks with one label per document, and these documents may have several. Use '
            f'unlabeled_use="representation" (--unlabeled-use representation).'
        )
    if hasattr(learner, "unlabeled"):
        raise UsageError(
            f"A {type(learner).__name__} learns from unlabeled documents itself. Omit unlabeled_use, or pass "
            f"another learner."
        )
    if given.sample_weight is not None:
        raise UsageError(
            f'Weights of documents do not go with "{use}". Omit them, or use unlabeled_use="representation" '
            f"(--unlabeled-use representation)."
        )
    if request.method == "xi-alpha":
        raise UsageError(
            f'xi-alpha bounds do not hold for "{use}", which trains on labels that it infers. Use k-fold '
            f"(--estimate k-fold)."
        )


def _documents(unlabeled: Any, texts: Any, vectorizer: Any) -> Any:
    """The unlabeled documents in the form of the training documents: a list of texts, or a matrix."""
    if isinstance(unlabeled, Collection):
        unlabeled = unlabeled.texts
    elif isinstance(unlabeled, Vectors):
        unlabeled = unlabeled.X
    if isinstance(unlabeled, str | bytes):
        raise UsageError("unlabeled is one text. Pass a list of texts.")
    if getattr(vectorizer, "fields", None) is None:
        unlabeled = only_column(unlabeled)
    if has_text_columns(unlabeled):
        fields = getattr(vectorizer, "fields", None)
        if fields is None:
            raise DataError(
                f"The unlabeled documents have columns ({', '.join(columns_of(unlabeled) or ())}), but the "
                f"training documents are single texts. Pass one text per document."
            )
        try:
            unlabeled = joined(unlabeled, fields)
        except DataError as error:
            raise DataError(f"Unlabeled documents: {error}") from None
    if is_matrix(unlabeled) != is_matrix(texts):
        has, other = ("vectors", "texts") if is_matrix(texts) else ("texts", "vectors")
        raise DataError(
            f"The training documents are {has} and the unlabeled ones are {other}. Pass both in one form."
        )
    if is_matrix(unlabeled):
        return _of_width(unlabeled, int(texts.shape[1]))
    unlabeled = together((), unlabeled)
    try:
        as_texts(unlabeled)
    except DataError as error:
        raise DataError(f"Unlabeled documents: {error}") from None
    return unlabeled


def _of_width(X: Any, width: int) -> Any:
    """A matrix with this many columns. Files of vectors end at the last feature they use; features that no
    training document has are dropped."""
    if X.shape[1] == width:
        return X
    if not is_sparse(X):
        raise DataError(
            f"The unlabeled vectors have {X.shape[1]} features and the training vectors {width}. Pass "
            f"vectors with the same features."
        )
    resized = X.copy()
    resized.resize((X.shape[0], width))
    return resized


def compare_words(texts: Any, pool: list[Any], kind: str = "training") -> bool:
    """Warn if hardly any word of the pool occurs in training documents. Returns whether the pool has words.

    `kind` is what the training documents are called.
    """
    profile = WordProfile.of(texts, most=None)
    if profile is None:
        return True  # what the vectorizer of the classifier finds is for itself to say
    shared, usual = profile.share(pool), profile.usual
    if shared is None:
        return False
    if shared < _ALIKE * usual:
        warnings.warn(
            f"Only {100 * shared:.0f} % of the words of unlabeled documents occur in {kind} documents "
            f"({100 * usual:.0f} % of those of a {kind} document occur in others): they seem to be in "
            f"another language, or of another kind, and probably do not help. Pass documents like the "
            f"{kind} documents.",
            DataWarning,
            stacklevel=6,
        )
    return True
