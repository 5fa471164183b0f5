"""What a model saw of its training documents as if they were new: each by a model that did not know it.

Scores and decisions are those of held-out documents (:mod:`widemargin.estimate`), and terms that no other
document has are unknown (:mod:`widemargin.weight.as_new.unknown_terms`). Figures of the documents as they
were learned would flatter: no term is unknown there, and almost all scores are right.

A model keeps counts of all of them, for the drift alarm, and a random sample, for choosing what to abstain
from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from widemargin._stored import Stored
from widemargin.errors import DataError
from widemargin.monitor.observed import Observed
from widemargin.monitor.reference import Reference

# Documents that are kept one by one.
SAMPLE = 2000
_FLOATS = ("score", "confidence", "nearness", "unknown")


@dataclass(frozen=True, eq=False)
class LeftOutProfile:
    """Training documents as new ones.

    Attributes
    ----------
    reference : counts of all documents
    sample : what was seen of some documents, without their labels; None for what is not known: scores and
        confidence of a model that was trained without an estimate, terms of one that does not count them
    right : (n,) bool, whether the documents of the sample were decided right; None without scores
    documents : how many there were
    empty : the best score of a document without terms, or the least one that was seen
    optimism : by how much the share of right decisions is too high, since the model was chosen on the same
        documents
    """

    reference: Reference
    sample: Observed
    right: NDArray[np.bool_] | None
    documents: int
    empty: float = 0.0
    optimism: float = 0.0

    @classmethod
    def of(
        cls,
        seen: Observed,
        right: NDArray[np.bool_] | None = None,
        *,
        empty: float = 0.0,
        optimism: float = 0.0,
        seed: int = 0,
    ) -> Self:
        """The profile of documents that were left out.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> seen = Observed(score=rng.random(5000), confidence=rng.random(5000))
        >>> profile = LeftOutProfile.of(seen, rng.random(5000) < 0.9)
        >>> profile.sample.documents, profile.documents, profile.reference.groups
        (2000, 5000, ['scores'])
        """
        n = seen.documents
        some = np.sort(np.random.default_rng(seed).permutation(n)[:SAMPLE])
        kept: list[Any] = [_single(part, some) for part in seen._replace(decided=None)]
        chosen = None if right is None else right[some]
        return cls(Reference.of(seen, seed), Observed(*kept), chosen, n, float(empty), float(optimism))

    @property
    def has_scores(self) -> bool:
        """Whether scores of left-out documents are known."""
        return self.right is not None

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """A configuration and arrays, as `from_state` takes them."""
        config, arrays = self.reference.get_state()
        arrays = {**arrays, **_known(self.sample._asdict())}
        if self.right is not None:
            arrays["right"] = self.right
        more = {"documents": self.documents, "empty": self.empty, "optimism": self.optimism}
        return {**config, **more}, arrays

    @classmethod
    def from_state(cls, config: Any, arrays: dict[str, NDArray[Any]], columns: int) -> Self:
        """The profile in a model with so many columns of labels; everything is checked."""
        stored = Stored(config, arrays, "record.profile.")
        documents = stored.integer("documents", most=2**62)
        parts: dict[str, Any] = {}
        size: int | None = None
        for name in (*_FLOATS, "no_terms", "right"):
            if stored.has_array(name):
                kinds = (np.float32,) if name in _FLOATS else (np.bool_,)
                parts[name] = stored.array(name, (size,), *kinds, infinite=name in _FLOATS)
                size = len(parts[name])
        if size is None or size > documents:
            raise DataError(f"'documents' in manifest.json is {documents}, but the sample has {size}")
        if ("right" in parts) != ("confidence" in parts) or ("right" in parts) != ("score" in parts):
            raise DataError("'right' in arrays.safetensors goes with 'confidence' and 'score'")
        right = parts.pop("right", None)
        numbers = stored.number("empty"), stored.number("optimism", least=-1, most=1)
        return cls(Reference.from_state(stored, columns), Observed(**parts), right, documents, *numbers)


def _single(values: Any, some: NDArray[np.intp]) -> Any:
    """Some of the values, numbers in single precision: a model file keeps them."""
    if values is None:
        return None
    return values[some].astype(np.float32) if values.dtype.kind == "f" else values[some]


def _known(parts: dict[str, Any]) -> dict[str, NDArray[Any]]:
    return {name: values for name, values in parts.items() if values is not None}
