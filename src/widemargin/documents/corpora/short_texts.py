"""Short texts: "sms-spam" (messages), "clinc150" (requests by intent), "imdb" and "imdb-full" (reviews).

CLINC150's "standard" split trains on the 15,000 training requests and tests on the 4,500 test requests;
"validation" tests on the 3,000 for validation; "out-of-scope" and everything ("all") add the requests that
belong to no intent, with the label "oos". "imdb" is the first 2,500 reviews of each class and side of
"imdb-full". SMS Spam has no official split; "random" draws a third for testing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from widemargin.documents.corpora.corpus import Parts, Source, load_labeled, random_side
from widemargin.documents.corpora.home import records

_CLINC_SIDES = {
    "standard": {"train": "train", "test": "test"},
    "validation": {"train": "train", "val": "test"},
    "out-of-scope": {"train": "train", "oos_train": "train", "test": "test", "oos_test": "test"},
}


def load_sms(paths: tuple[Path, ...], split: str | None) -> Parts:
    return load_labeled(records(paths[0]), split, random_side)


def load_imdb(paths: tuple[Path, ...], split: str | None) -> Parts:
    return load_labeled(records(paths[0]), split)


def load_clinc(paths: tuple[Path, ...], split: str | None) -> Parts:
    sides = _CLINC_SIDES.get(split or "", {})

    def side(record: dict[str, Any]) -> str | None:
        return sides.get(record["split"])

    return load_labeled(records(paths[0]), split, side)


SOURCES = (
    Source(
        name="sms-spam",
        title="SMS Spam Collection: messages, ham or spam",
        kind="text",
        files=("modern/sms-spam-collection.jsonl.xz",),
        splits=("random",),
        documents=5_574,
        classes=2,
        origin="https://archive.ics.uci.edu/dataset/228/sms+spam+collection",
        load=load_sms,
        official=False,
    ),
    Source(
        name="clinc150",
        title="CLINC150: requests by intent",
        kind="text",
        files=("modern/clinc150.jsonl.xz",),
        splits=tuple(_CLINC_SIDES),
        documents=23_700,
        classes=151,
        origin="https://github.com/clinc/oos-eval",
        load=load_clinc,
    ),
    Source(
        name="imdb",
        title="Large Movie Review Dataset, a part: reviews, pos or neg",
        kind="text",
        files=("modern/imdb-10k-subset.jsonl.xz",),
        splits=("standard",),
        documents=10_000,
        classes=2,
        origin="https://ai.stanford.edu/~amaas/data/sentiment/",
        load=load_imdb,
    ),
    Source(
        name="imdb-full",
        title="Large Movie Review Dataset: reviews, pos or neg",
        kind="text",
        files=("modern/imdb.jsonl.xz",),
        splits=("standard",),
        documents=50_000,
        classes=2,
        origin="https://ai.stanford.edu/~amaas/data/sentiment/",
        load=load_imdb,
    ),
)
