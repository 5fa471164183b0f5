"""Which parameters of a classifier's parts were set explicitly, so that tuning keeps them."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator


class RemembersExplicit(BaseEstimator):
    """An estimator of parts that remembers what `set_params` set of them, also in its clones.

    A part that is None has default parameters, which `get_params` shows and `set_params` sets.

    Attributes
    ----------
    explicit : names such as "learner__C"; forgotten when the part is replaced
    made_parts : names of parts that were None until `set_params` set one of their parameters
    """

    explicit: frozenset[str] = frozenset()
    made_parts: frozenset[str] = frozenset()

    @property
    def explicit_of_parts(self) -> set[str]:
        """The same without the names of the parts, such as "C"."""
        return {name.partition("__")[2] for name in self.explicit}

    @property
    def given_parts(self) -> set[str]:
        """The parts that were passed as instances."""
        return {part for part in self._parts() if getattr(self, part) is not None} - self.made_parts

    def _parts(self) -> dict[str, Any]:
        """The parts by name, the default ones where none were given."""
        raise NotImplementedError

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep` also those of the parts, such as "learner__C"."""
        found: dict[str, Any] = super().get_params(deep=deep)
        for part, made in self._parts().items() if deep else ():
            if found[part] is None:
                found |= {f"{part}__{name}": value for name, value in made.get_params().items()}
        return found

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, also those of parts: ``set_params(learner__C=3)``, which `tune` then keeps."""
        nested = {name: value for name, value in parameters.items() if "__" in name}
        plain = {name: value for name, value in parameters.items() if name not in nested}
        super().set_params(**plain)
        made = set(self.made_parts.difference(plain))
        for part, default in self._parts().items():
            if getattr(self, part) is None and any(name.startswith(f"{part}__") for name in nested):
                setattr(self, part, default)
                made.add(part)
        super().set_params(**nested)
        kept = {name for name in self.explicit if name.partition("__")[0] not in plain}
        self.explicit, self.made_parts = frozenset(kept.union(nested)), frozenset(made)
        return self

    def __sklearn_clone__(self) -> Self:
        copy: Self = super().__sklearn_clone__()
        if self.explicit:  # scikit-learn wants no other attributes than parameters before `fit`
            copy.explicit, copy.made_parts = self.explicit, self.made_parts
        return copy
