"""What a report of a model says, as plain values; `report.html` makes a page of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from widemargin.measure.intervals import Figure
from widemargin.measure.quality import LabelQuality, Quality


@dataclass(frozen=True)
class Tradeoff:
    """What every useful threshold of a category does on the test documents.

    Of all thresholds that find as many documents of the category, only the one that assigns it least often is
    useful. Row i assigns the category to `given[i]` documents, `hits[i]` of which have it.

    Attributes
    ----------
    thresholds : falling; the category is assigned above them
    positives, documents : test documents with the category, and all of them
    now : the threshold of the model; None if it has none of its own
    now_hits, now_given : what the model does
    """

    thresholds: list[float]
    hits: list[int]
    given: list[int]
    positives: int
    documents: int
    now: float | None
    now_hits: int
    now_given: int


@dataclass(frozen=True)
class CategoryPart:
    """A category: what training expected, what the test documents show, and its terms."""

    label: str
    estimated: LabelQuality | None = None
    measured: LabelQuality | None = None
    break_even: float | None = None
    tradeoff: Tradeoff | None = None
    terms_for: list[tuple[str, float]] = field(default_factory=list)
    terms_against: list[tuple[str, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Case:
    """A test document; categories by their numbers. `text` is None if only vectors are known."""

    name: str
    text: str | None
    truth: list[int]
    decided: list[int]
    shortened: bool = False


@dataclass(frozen=True)
class Confusions:
    """Which categories are taken for which, and the documents behind it.

    A document of exclusive classes is in the cell of its class and the decided one. A document with any
    number of labels is in a cell for every label that is found, and for every pair of a label that was missed
    and one that was assigned by mistake; -1 stands for none.

    Attributes
    ----------
    cells : (truth, decision) -> numbers of documents
    exclusive : whether each document has one class
    """

    cells: dict[tuple[int, int], list[int]]
    exclusive: bool


@dataclass(frozen=True)
class Explained:
    """A document with what every piece of its text adds to the score of a category."""

    name: str
    label: str
    why: str
    truth: list[str]
    decided: list[str]
    text: str
    spans: list[tuple[int, int, float]]
    score: float
    threshold: float | None
    shortened: bool = False


@dataclass(frozen=True)
class Doubt:
    """A label that is probably wrong; `text` is None if the documents were not given."""

    name: str
    given: str | None
    suggested: str | None
    margin: float
    text: str | None = None


@dataclass(frozen=True)
class Copied:
    """A test document that is also a training document, or nearly.

    `training` names the training documents; it is empty if they are known by their hashes only.
    """

    test: list[str]
    training: list[str]
    similarity: float
    labels: list[str]
    text: str | None = None


@dataclass(frozen=True)
class Copies:
    """Copies across training and test documents, and how they were looked for."""

    groups: list[Copied]
    documents: int
    how: str


@dataclass(frozen=True)
class Calibrated:
    """How often labels are right, by their probability or their score.

    Attributes
    ----------
    of : "probability" or "score"
    middles : mean probability or score in each bin
    shares : of the decisions in the bin, the share for which the document has the label
    brier : mean squared error of probabilities
    """

    of: str
    middles: list[float]
    shares: list[float]
    low: list[float]
    high: list[float]
    counts: list[int]
    brier: float | None = None


@dataclass(frozen=True)
class Learned:
    """Quality by number of training documents; `measures` has a list of values per measure."""

    sizes: list[int]
    measures: dict[str, list[float]]
    where: str


@dataclass(frozen=True)
class Tested:
    """All that the test documents show."""

    source: str
    documents: int
    quality: Quality
    cases: list[Case]
    confusions: Confusions
    calibrated: Calibrated | None
    explained: list[Explained]
    doubts: list[Doubt]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ModelReport:
    """A model, and what is known of its quality.

    Attributes
    ----------
    name : of the model file
    task : "binary", "multiclass" or "multilabel"
    card : facts of the model card, in groups
    doubted_training : labels of training documents that are probably wrong, and by which method
    thresholds_apply : why no threshold can be chosen; "" if one can
    missing : what the report lacks, and what would show it
    """

    name: str
    task: str
    labels: list[str]
    categories: list[CategoryPart]
    card: list[tuple[str, list[tuple[str, str]]]]
    estimated: Quality | None
    tested: Tested | None
    learned: Learned | None
    copies: Copies | None
    doubted_training: list[Doubt] | None
    doubted_by: str
    thresholds_apply: str
    raw_labels: list[Any]
    missing: list[str] = field(default_factory=list)
    version: str = ""


@dataclass(frozen=True)
class Difference:
    """A measure of two models on the same documents; `p_value` is corrected where several are compared."""

    name: str
    first: float
    second: float
    test: str
    p_value: float
    better: str | None


@dataclass(frozen=True)
class CategoryDifference:
    """F1 of one category by two models, and McNemar's test of their decisions on it."""

    label: str
    examples: int
    first: Figure
    second: Figure
    only_first: int
    only_second: int
    p_value: float
    corrected: float


@dataclass(frozen=True)
class ComparedModels:
    """Two models on the same test documents.

    Attributes
    ----------
    apart : documents that only one of the models gets right: which one, the document as the other one
        decides it, and the labels that are right
    curves : names of the models, with recall and precision over all labels
    """

    first: ModelReport
    second: ModelReport
    source: str
    documents: int
    overall: list[Difference]
    categories: list[CategoryDifference]
    apart: list[tuple[int, Case, Sequence[int]]]
    curves: list[tuple[str, list[float], list[float]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
