"""Whole collections, for scripts that divide them into random samples."""

from __future__ import annotations

from collections import Counter
from typing import Any

from widemargin.documents.corpora.loading import load_corpus

# NAME:K takes the K most frequent labels.
CORPORA = ["20newsgroups", "reuters21578:30", "ohsumed", "clinc150", "webkb:4", "sms-spam", "imdb"]


def collection(name: str) -> tuple[list[str], list[Any]]:
    """All documents of a collection with their labels; label sets where a document may have several."""
    corpus_name, _, most = name.partition(":")
    corpus = load_corpus(corpus_name)
    texts, labels = list(corpus.train.texts), list(corpus.train.labels)
    if corpus.test is not None:
        texts, labels = texts + list(corpus.test.texts), labels + list(corpus.test.labels)
    if corpus_name not in ("reuters21578", "ohsumed"):
        single = [found[0] if isinstance(found, list | tuple) else found for found in labels]
        if most:
            kept = {label for label, _ in Counter(single).most_common(int(most))}
            places = [place for place, label in enumerate(single) if label in kept]
            return [texts[place] for place in places], [single[place] for place in places]
        return texts, single
    often = {
        label for label, _ in Counter(x for found in labels for x in found).most_common(int(most or 10**6))
    }
    return texts, [sorted(set(found) & often) for found in labels]
