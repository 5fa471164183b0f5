"""Which parameters of a classifier's parts were set explicitly, so that tuning keeps them."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator


class RemembersExplicit(BaseEstimator):
    """An estimator of parts that remembers what `set_params` set of them, also in its clones.

    Attributes
    ----------
    explicit : names such as "learner__C"; forgotten when the part is replaced
    """

    explicit: frozenset[str] = frozenset()

    @property
    def explicit_of_parts(self) -> set[str]:
        """The same without the names of the parts, such as "C"."""
        return {name.partition("__")[2] for name in self.explicit}

    def _parts(self) -> dict[str, Any]:
        """The parts by name, the default ones where none were given."""
        raise NotImplementedError

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, also those of parts: ``set_params(learner__C=3)``, which `tune` then keeps."""
        nested = {name for name in parameters if "__" in name}
        for part, made in self._parts().items():
            if getattr(self, part) is None and any(name.startswith(f"{part}__") for name in nested):
                setattr(self, part, made)
        super().set_params(**parameters)
        kept = {name for name in self.explicit if name.partition("__")[0] not in parameters}
        self.explicit = frozenset(kept | nested)
        return self

    def __sklearn_clone__(self) -> Self:
        copy: Self = super().__sklearn_clone__()
        copy.explicit = self.explicit
        return copy
