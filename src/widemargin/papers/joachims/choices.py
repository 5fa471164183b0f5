"""What a criterion's choices are worth: one model a category, from figures of every model and category.

Where several models are equally good by a criterion, each is chosen in equal parts (joachims 6.3.1): their
test figures are averaged, and they share the count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from widemargin.measure import Comparison, paired_t_test, sign_p_value

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Choices:
    """Figures of models (rows) on categories (columns), in percent.

    Attributes
    ----------
    test : PRAVG on the test documents
    criteria : name -> the figures that a criterion chooses by
    """

    test: Floats
    criteria: dict[str, Floats]

    def of(self, categories: NDArray[np.intp]) -> Choices:
        """The same of some categories."""
        chosen = {name: figures[:, categories] for name, figures in self.criteria.items()}
        return Choices(self.test[:, categories], chosen)

    @property
    def random(self) -> float:
        """The test figure of a model drawn at random."""
        return float(self.test.mean())

    @property
    def optimum(self) -> float:
        """The test figure of a choice that knows the test documents."""
        return float(self.test.max(axis=0).mean())

    def shares(self, name: str) -> Floats:
        """How much of each category's choice falls on each model.

        Examples
        --------
        >>> choices = Choices(np.array([[90.0, 10], [80, 30]]), {"loo": np.array([[70.0, 5], [70, 9]])})
        >>> choices.shares("loo").tolist(), choices.value("loo")
        ([[0.5, 0.0], [0.5, 1.0]], 57.5)
        """
        figures = np.nan_to_num(self.criteria[name], nan=-1.0)
        best = figures == figures.max(axis=0)
        shares: Floats = best / best.sum(axis=0)
        return shares

    def chosen(self, name: str) -> Floats:
        """The test figure of what a criterion chooses, of every category."""
        figures: Floats = (self.shares(name) * self.test).sum(axis=0)
        return figures

    def value(self, name: str) -> float:
        """The macro-averaged test figure of what a criterion chooses."""
        return float(self.chosen(name).mean())

    def against_random(self, name: str) -> Comparison:
        """The paired t-test of 6.3.1 over categories: the chosen model against the mean of all models."""
        return paired_t_test(self.chosen(name), self.test.mean(axis=0))

    def against(self, name: str, other: str) -> Comparison:
        """The paired t-test of 6.3.3 over categories: what two criteria choose."""
        return paired_t_test(self.chosen(name), self.chosen(other))

    def better_than_random(self, name: str) -> tuple[int, int, float]:
        """The binomial test of 6.3.1: wins, trials, and how likely random choice wins as often.

        A category is won when the chosen model ranks above the middle of all models on the test documents,
        lost when below; categories in which it is in the middle do not count.
        """
        chosen = self.chosen(name)
        above = (self.test < chosen - 1e-9).sum(axis=0)
        below = (self.test > chosen + 1e-9).sum(axis=0)
        wins, losses = int((above > below).sum()), int((above < below).sum())
        return wins, wins + losses, sign_p_value(wins, losses, one_sided=True)
