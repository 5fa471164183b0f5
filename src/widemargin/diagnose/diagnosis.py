"""What a diagnosis says: figures of the whole, each label, and everything that was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from widemargin.diagnose.advice import Advice
from widemargin.diagnose.categories import Category
from widemargin.diagnose.confusions import Confusion
from widemargin.diagnose.copies import Copies
from widemargin.diagnose.drift import Drift
from widemargin.diagnose.give_aways import GiveAway
from widemargin.diagnose.languages import Languages
from widemargin.estimate.suspects import Suspect
from widemargin.measure.quality import Quality

if TYPE_CHECKING:
    from widemargin.report.plots import Plot


@dataclass(frozen=True)
class Diagnosis:
    """The result of :func:`widemargin.diagnose`.

    Attributes
    ----------
    documents, test_documents, unlabeled : numbers of labeled training documents, of test documents, and of
        training documents that were left out because they have no label
    task : "binary", "multiclass" or "multilabel"
    terms : size of the vocabulary
    target : the F1 that is to be reached
    quality : held-out figures of a linear SVM
    categories : every label, the hardest first
    copies, give_aways, suspects, languages, drift, confusions : what is wrong; `drift` is None without a test
        set
    empty : names of training documents without a word
    advice : what to do next, most urgent first
    seconds : of every stage
    """

    documents: int
    test_documents: int
    unlabeled: int
    task: str
    terms: int
    target: float
    quality: Quality
    categories: list[Category]
    copies: Copies
    give_aways: list[GiveAway]
    suspects: list[Suspect]
    languages: Languages
    drift: Drift | None
    confusions: list[Confusion]
    empty: list[Any]
    advice: list[Advice]
    seconds: dict[str, float] = field(default_factory=dict)

    def category(self, label: Any) -> Category:
        """The entry of one label.

        Raises
        ------
        KeyError
            There is no such label.
        """
        for one in self.categories:
            if one.label == label or str(one.label) == str(label):
                return one
        raise KeyError(label)

    def plot(self) -> Plot:
        """Learning curves with what is expected beyond them; shown in a notebook, or saved."""
        from widemargin.diagnose.plotting import panels
        from widemargin.report.plots import Plot

        return Plot(panels(self))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain = {
            name: getattr(self, name)
            for name in ("documents", "test_documents", "unlabeled", "task", "terms", "target", "empty")
        }
        lists = ("categories", "give_aways", "suspects", "confusions", "advice")
        return {
            **plain,
            "advice": [],
            "quality": self.quality.to_dict(),
            **{name: [one.to_dict() for one in getattr(self, name)] for name in lists},
            "copies": self.copies.to_dict(),
            "languages": self.languages.to_dict(),
            "drift": None if self.drift is None else self.drift.to_dict(),
            "seconds": {stage: round(spent, 4) for stage, spent in self.seconds.items()},
        }
