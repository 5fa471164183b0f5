"""TechTC-100: a hundred small tasks, each to tell web pages about one topic from those about another.

Davidov, Gabrilovich and Markovitch, *Parameterized Generation of Labeled Datasets for Text Categorization
Based on a Hierarchical Directory*, SIGIR 2004. The label of a page names its task and its class, such as
"Exp_6092_135724/positive"; :func:`tasks` divides the collection into its tasks.
"""

from __future__ import annotations

from widemargin.documents.collection import Collection
from widemargin.documents.corpora.corpus import Source, labeled, random_side

SOURCES = (
    Source(
        name="techtc100",
        title="TechTC-100: a hundred tasks of web pages about two topics",
        files=("techtc/techtc100.jsonl.xz",),
        splits=("random",),
        documents=15_000,
        classes=200,
        origin="http://techtc.cs.technion.ac.il/techtc100/techtc100.html",
        load=labeled(random_side),
    ),
)


def tasks(pages: Collection) -> dict[str, Collection]:
    """The pages of every task, by its name."""
    members: dict[str, list[int]] = {}
    for i, labels in enumerate(pages.labels):
        members.setdefault(labels[0].rpartition("/")[0] if labels else "", []).append(i)
    return {name: pages.subset(rows) for name, rows in sorted(members.items())}
