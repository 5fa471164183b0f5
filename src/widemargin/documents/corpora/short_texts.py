"""Short texts: "sms-spam" (messages), "clinc150" (requests by intent), "imdb" and "imdb-full" (reviews).

CLINC150's "standard" split trains on the 15,000 training requests and tests on the 4,500 test requests;
"validation" tests on the 3,000 for validation; "out-of-scope" and everything ("all") add the requests that
belong to no intent, with the label "oos". "imdb" is the first 2,500 reviews of each class and side of
"imdb-full". SMS Spam has no official split; "random" draws a third for testing.
"""

from __future__ import annotations

from widemargin.documents.corpora.corpus import Record, Source, labeled, random_side

_CLINC_SIDES = {
    "standard": {"train": "train", "test": "test"},
    "validation": {"train": "train", "val": "test"},
    "out-of-scope": {"train": "train", "oos_train": "train", "test": "test", "oos_test": "test"},
}


def clinc_side(record: Record, split: str | None) -> str | None:
    return _CLINC_SIDES[str(split)].get(record["split"])


SOURCES = (
    Source(
        name="sms-spam",
        title="SMS Spam Collection: messages, ham or spam",
        files=("modern/sms-spam-collection.jsonl.xz",),
        documents=5_574,
        classes=2,
        origin="https://archive.ics.uci.edu/dataset/228/sms+spam+collection",
        load=labeled(random_side),
    ),
    Source(
        name="clinc150",
        title="CLINC150: requests by intent",
        files=("modern/clinc150.jsonl.xz",),
        splits=tuple(_CLINC_SIDES),
        documents=23_700,
        classes=151,
        origin="https://github.com/clinc/oos-eval",
        load=labeled(clinc_side),
    ),
    Source(
        name="imdb",
        title="Large Movie Review Dataset, a part: reviews, pos or neg",
        files=("modern/imdb-10k-subset.jsonl.xz",),
        splits=("standard",),
        documents=10_000,
        classes=2,
        origin="https://ai.stanford.edu/~amaas/data/sentiment/",
        load=labeled(),
    ),
    Source(
        name="imdb-full",
        title="Large Movie Review Dataset: reviews, pos or neg",
        files=("modern/imdb.jsonl.xz",),
        splits=("standard",),
        documents=50_000,
        classes=2,
        origin="https://ai.stanford.edu/~amaas/data/sentiment/",
        load=labeled(),
    ),
)
