"""Joachims (2000), introduction of chapter 7 and 10.5: relevance feedback on topics of Reuters-21578.

The thesis names relevance feedback as the typical transductive task, and asks how a query can be used as
prior knowledge; it has no experiment. Here the test documents of the ModApte split are ranked by a query for
every topic. The first 10 or 20 are marked by their true topics, and all others are ranked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widemargin.learn.unlabeled.relevance_feedback import RelevanceFeedback
from widemargin.measure.break_even import average_precision, precision_at
from widemargin.papers.joachims.text_tasks import Report, reuters_documents
from widemargin.papers.result import UNPUBLISHED, Cell, PaperResult
from widemargin.weight.vectorizer import Vectorizer

# The descriptions of the collection (cat-descriptions_120396.txt); commodities are described by their name.
QUERIES = {
    "earn": "Earnings and Earnings Forecasts",
    "acq": "Mergers/Acquisitions",
    "crude": "Crude Oil",
    "money-fx": "Money/Foreign Exchange",
    "grain": "Grain",
    "interest": "Interest Rates",
    "trade": "Trade",
    "ship": "Shipping",
    "wheat": "Wheat",
    "corn": "Corn",
    "oilseed": "Oilseed",
    "dlr": "U.S. Dollar",
    "veg-oil": "Vegetable Oil",
    "sugar": "Sugar",
    "gnp": "Gross National/Domestic Product",
    "money-supply": "Money Supply",
    "soybean": "Soybean",
    "nat-gas": "Natural Gas",
    "gold": "Gold",
    "bop": "Balance of Payments",
}
MARKS = (10, 20)
# The columns: how the documents that are not marked are ranked.
METHODS: dict[str, dict[str, Any]] = {
    "query": {"method": "query"},
    "Rocchio, no prior": {"method": "rocchio", "query_weight": 0.0},
    "Rocchio": {"method": "rocchio"},
    "SVM, no prior": {"method": "svm", "query_weight": 0.0},
    "SVM": {"method": "svm"},
    "TSVM, no prior": {"method": "transductive", "query_weight": 0.0},
    "TSVM": {"method": "transductive"},
}
MEASURES = ("precision at 10", "precision at 30", "average precision")
NOTES = [
    "There are no published figures. Percentages; residual ranking: marked documents are taken out, and a "
    "topic counts as long as one of its documents is left.",
    "Documents are those of the test set, and document frequencies too. Queries are the descriptions of the "
    "topics that come with the collection, of commodities their names.",
    "Every rule also learns from the query as a relevant document, and from 20 documents of the lower half "
    "of the ranking as not relevant. With the prior, the query counts as much as five marks.",
    "C, the weight of the query and the number of assumed documents were chosen on training documents.",
]


def run(report: Report, queries: Mapping[str, str] = QUERIES) -> PaperResult:
    """Every method on every topic, after 10 and 20 marks: means over topics, average precision by topic."""
    documents = reuters_documents(report)
    vectorizer = Vectorizer(weighting="tfc")
    X = vectorizer.fit_transform(documents.test.texts)
    found: dict[tuple[int, str], list[list[float]]] = {}
    cells: list[Cell] = []
    for topic, query in queries.items():
        report(topic)
        truth = np.array([topic in (labels or ()) for labels in documents.test.labels])
        row = vectorizer.transform([query])
        for n_marks in MARKS:
            results = feedback(X, row, truth, n_marks)
            for name, figures in results.items():
                found.setdefault((n_marks, name), []).append(figures)
                place = f"{topic}, {n_marks} marks, {MEASURES[-1]}"
                cells.append(Cell(place, name, UNPUBLISHED, figures[-1]))
    means = [
        Cell(f"mean, {n_marks} marks, {measure}", name, UNPUBLISHED, float(np.nanmean(values)))
        for n_marks in MARKS
        for k, measure in enumerate(MEASURES)
        for name in METHODS
        for values in [np.array(found[n_marks, name])[:, k]]
    ]
    notes = [*NOTES, f"Means over {len(queries)} topics with at least 30 test documents."]
    title = "Joachims, chapter 7 and 10.5: relevance feedback on Reuters-21578"
    return PaperResult("joachims-section-7-feedback", title, [*means, *cells], notes)


def feedback(X: Any, query: Any, truth: NDArray[np.bool_], n_marks: int) -> dict[str, list[float]]:
    """The measures of every method, in percent, on what is left after the first `n_marks` are marked."""
    first = RelevanceFeedback("query").rank(X, query).order[:n_marks]
    marks = {int(i): bool(truth[i]) for i in first}
    rest = np.setdiff1d(np.arange(len(truth)), first)
    found = {}
    for name, parameters in METHODS.items():
        scores = RelevanceFeedback(**parameters).rank(X, query, marks).scores[rest]
        figures = [precision_at(truth[rest], scores, k) for k in (10, 30)]
        found[name] = [100 * value for value in (*figures, average_precision(truth[rest], scores))]
    return found
