"""Near-duplicates of a hundred thousand documents: widemargin, exactly, against datasketch's MinHash LSH.

Documents of seven collections, in a random order; pairs whose word 3-grams have a similarity of at least 0.8.
The peer hashes the same shingles (128 permutations), looks up candidates in its index and compares their sets
exactly. It is timed on a part of the documents, as we are in the same row; another row has our time for all
of them, and the peer's extrapolated from the part. Every pair that the peer finds must be among ours.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from _compare import Check, Row, arguments, in_turns, peer_package, report
from widemargin import load_corpus
from widemargin.documents.near_duplicates import SHINGLE, SIMILAR, NearDuplicates, near_duplicates

CORPORA = ("reuters21578", "20newsgroups", "ohsumed", "webkb", "imdb", "sms-spam", "clinc150")


def documents() -> list[str]:
    texts = [text for name in CORPORA for text in load_corpus(name, None).train.texts]
    order = np.random.default_rng(0).permutation(len(texts))
    return [texts[i] for i in order]


def shingles(text: str) -> set[str]:
    words = re.findall(r"\w+", text.casefold())
    return {" ".join(words[i : i + SHINGLE]) for i in range(len(words) - SHINGLE + 1)}


def by_datasketch(texts: list[str], peer: Any) -> set[tuple[int, int]]:
    """Pairs of at least the similarity that MinHash LSH finds."""
    sets = [shingles(text) for text in texts]
    index = peer.MinHashLSH(threshold=SIMILAR, num_perm=128)
    found = set()
    for j, some in enumerate(sets):
        if not some:
            continue
        sketch = peer.MinHash(num_perm=128)
        sketch.update_batch([shingle.encode() for shingle in some])
        for i in index.query(sketch):
            if len(sets[i] & some) >= SIMILAR * len(sets[i] | some):
                found.add((i, j))
        index.insert(j, sketch)
    return found


def missing(ours: NearDuplicates, theirs: set[tuple[int, int]]) -> int:
    """Pairs of the peer that are in no group of ours."""
    return sum(ours.group[i] < 0 or ours.group[i] != ours.group[j] for i, j in theirs)


def rows(part: int, repeats: int, peer: Any) -> Iterator[Row]:
    texts = documents()
    some = texts[:part]
    ours, theirs = in_turns(lambda: near_duplicates(some), lambda: by_datasketch(some, peer), repeats=repeats)
    check = Check("pairs that only the peer finds", missing(ours.result, theirs.result), 0)
    figures = {"our pairs": len(ours.result.pairs), "pairs of the peer": len(theirs.result)}
    yield Row(f"{len(some):,} documents", "datasketch", ours.seconds, theirs.seconds, [check], figures)
    (whole,) = in_turns(lambda: near_duplicates(texts), repeats=repeats, warm=False)
    within = Check("seconds", whole.seconds, 60.0)
    figures = {"our pairs": len(whole.result.pairs), "groups": len(whole.result.groups())}
    times = len(texts) / len(some)
    peer_s = theirs.seconds * times
    yield Row(
        f"{len(texts):,} documents", "datasketch (from a part)", whole.seconds, peer_s, [within], figures
    )


def main() -> int:
    parser = arguments(__doc__, 3)
    parser.add_argument("--part", type=int, default=5000, help="documents for the peer (default: 5000)")
    given = parser.parse_args()
    return report(rows(given.part, given.repeats, peer_package("datasketch")), given.json)


if __name__ == "__main__":
    sys.exit(main())
