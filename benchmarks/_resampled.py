"""Documents in any number, made from a real collection: seeded, in shards, the first n always the same.

Terms. The frequent terms of the collection (those that cover 90 % of its words) have the probabilities that
they have in each class, mixed with those in all classes: a document of class c draws a word with probability
q p(t | c) + (1 - q) p(t), where q is a document's own, from a Beta distribution, so that some documents are
hard. The number of occurrences of a term is then Poisson, since the number of words is.

The others are a tail without end: the word of rank r > s has probability proportional to r^-(1/beta), so that
n words have k n^beta different ones (Heaps' law; independent draws from Zipf's law with exponent 1/beta).
beta is fitted to the growth of the collection's own vocabulary. Half of the words of the tail belong to a
class.

Order. A block of `BLOCK` documents has a generator of its own, seeded by the seed and the number of the
block, so that the first n documents do not depend on how many are asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

N_LABELS = 20
WORDS_PER_DOCUMENT = 69  # of which about 60 differ
BLOCK = 1 << 12
COVERED = 0.9
LABEL_NOISE = 0.02
_QUANTILES = 1 << 17
_OWN = (2.0, 6.0)  # Beta distribution of the share of words that are of the class
_LARGEST = 1 << 40
_LETTERS = np.frombuffer(b"abdefgiklmnoprstuvxz", dtype=np.uint8)
_WORD = re.compile(r"[a-z]{2,18}")


@dataclass(frozen=True)
class Source:
    """What documents are made from.

    Attributes
    ----------
    name : of the collection
    labels : `N_LABELS` names
    words : the frequent terms
    quantiles : (labels + 1, _QUANTILES) for every class, and for all, frequent terms by their probabilities
    tail : the share of words of the tail
    beta : the exponent of Heaps' law
    """

    name: str
    labels: Sequence[str]
    words: Sequence[str]
    quantiles: NDArray[np.int32]
    tail: float
    beta: float


def local_source(seed: int = 0) -> Source:
    """The 20 Newsgroups where they are, otherwise the documentation of Python, which every machine has."""
    from widemargin import load_corpus
    from widemargin.documents.demo import demo_corpus
    from widemargin.errors import WidemarginError

    try:
        corpus = load_corpus("20newsgroups").train
        return make_source("20 Newsgroups", corpus.texts, [found[0] for found in corpus.labels], seed)
    except WidemarginError:
        demo = demo_corpus()
        return make_source("documentation of Python", demo.texts, [found[0] for found in demo.labels], seed)


def make_source(name: str, texts: Sequence[str], labels: Sequence[str], seed: int = 0) -> Source:
    """The distributions of a collection; one with fewer than `N_LABELS` classes has variants of them."""
    random = np.random.default_rng([seed, 1 << 40])
    names = sorted(set(labels))
    places: dict[str, int] = {}
    rows = [
        np.array(
            [places.setdefault(word, len(places)) for word in _WORD.findall(text.lower())], dtype=np.int64
        )
        for text in texts
    ]
    classes = np.array([names.index(label) for label in labels])
    counts = np.zeros((len(names), len(places)))
    for row, one in zip(rows, classes, strict=True):
        np.add.at(counts[one], row, 1)
    total = counts.sum(axis=0)
    order = np.argsort(-total, kind="stable")
    share = np.cumsum(total[order]) / total.sum()
    n_frequent = int(np.searchsorted(share, COVERED)) + 1
    frequent = order[:n_frequent]
    known = list(places)
    used = [counts[place % len(names), frequent] for place in range(N_LABELS)]
    for place in range(len(names), N_LABELS):  # a variant has the terms of its class, with other weights
        used[place] = used[place] * random.gamma(0.5, 2.0, n_frequent)
    found = np.vstack([*(one + 0.01 for one in used), total[frequent]])
    return Source(
        name,
        [
            f"{names[place % len(names)]}{'' if place < len(names) else f'.{place}'}"
            for place in range(N_LABELS)
        ],
        [known[place] for place in frequent],
        np.vstack([_quantiles(one) for one in found]),
        float(1 - share[n_frequent - 1]),
        _exponent(rows, random),
    )


def documents(source: Source, n: int, seed: int = 0) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
    """The first `n` documents as JSON Lines: bytes, and the bytes of each line, a block at a time."""
    spelled = _Spelled(source)
    for block in range(-(-n // BLOCK)):
        made = _block(source, spelled, block, seed)
        left = n - block * BLOCK
        if left < BLOCK:
            made = made[0][: int(made[1][:left].sum())], made[1][:left]
        yield made


def write_shards(source: Source, folder: Path, n: int, n_shards: int, seed: int = 0) -> list[Path]:
    """The first `n` documents in files of about the same number of them, in their order."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"part-{place:04d}.jsonl" for place in range(n_shards)]
    ends = [n * (place + 1) // n_shards for place in range(n_shards)]
    shard, done = 0, 0
    file = paths[0].open("wb")
    try:
        for text, sizes in documents(source, n, seed):
            begins = np.concatenate(([0], np.cumsum(sizes)))
            at = 0
            while at < len(sizes):
                while done == ends[shard] and shard + 1 < n_shards:
                    file.close()
                    shard += 1
                    file = paths[shard].open("wb")
                some = min(len(sizes) - at, ends[shard] - done)
                file.write(memoryview(text[begins[at] : begins[at + some]]))
                at, done = at + some, done + some
        for path in paths[shard + 1 :]:
            path.touch()
    finally:
        file.close()
    return paths


class _Spelled:
    """The bytes of all words that are known beforehand, one after the other: terms, beginnings and ends."""

    def __init__(self, source: Source) -> None:
        labels = [f'"labels": [{json.dumps(label)}]' for label in source.labels]
        pieces = [f"{word} " for word in source.words] + ['{"text": "'] + [f'", {one}}}\n' for one in labels]
        spelled = [piece.encode() for piece in pieces]
        self.bytes = np.frombuffer(b"".join(spelled), dtype=np.uint8)
        self.sizes = np.array([len(piece) for piece in spelled])
        self.begins = np.cumsum(self.sizes) - self.sizes
        self.opening = len(source.words)
        self.closing = self.opening + 1


def _block(
    source: Source, spelled: _Spelled, block: int, seed: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    random = np.random.default_rng([seed, block])
    classes = random.integers(0, N_LABELS, BLOCK)
    n_words = np.maximum(random.poisson(WORDS_PER_DOCUMENT, BLOCK), 1)
    own = random.beta(*_OWN, BLOCK)
    wrong = random.random(BLOCK) < LABEL_NOISE
    said = np.where(wrong, random.integers(0, N_LABELS, BLOCK), classes)

    total = int(n_words.sum())
    document = np.repeat(np.arange(BLOCK), n_words)
    drawn = random.random((3, total), dtype=np.float32)
    of_class = np.where(drawn[0] < own[document], classes[document], N_LABELS)
    words = source.quantiles.ravel()[of_class * _QUANTILES + (drawn[1] * _QUANTILES).astype(np.int64)].astype(
        np.int64
    )
    rare = np.flatnonzero(drawn[2] < source.tail)
    ranks = _ranks(random.random(len(rare)), len(source.words), source.beta)
    # Ranks that leave the same remainder belong to the same class.
    to_class = np.where(random.random(len(rare)) < 0.5, classes[document[rare]] - ranks % N_LABELS, 0)
    tail_bytes, tail_sizes = _spell(ranks + to_class)

    # A line is its beginning, its words and its end: pieces, each a run of bytes somewhere.
    per_line = n_words + 2
    first = np.cumsum(per_line) - per_line
    pieces = np.empty(int(per_line.sum()), dtype=np.int64)
    inside = np.ones(len(pieces), dtype=bool)
    inside[first] = inside[first + per_line - 1] = False
    pieces[first] = spelled.opening
    pieces[first + per_line - 1] = spelled.closing + said
    pieces[inside] = words
    sizes, begins = spelled.sizes[pieces], spelled.begins[pieces]
    at = np.flatnonzero(inside)[rare]
    sizes[at] = tail_sizes
    begins[at] = len(spelled.bytes) + np.cumsum(tail_sizes) - tail_sizes
    every = np.concatenate((spelled.bytes, tail_bytes))
    ends = np.cumsum(sizes)
    where = np.repeat(begins - (ends - sizes), sizes) + np.arange(int(ends[-1]))
    return every[where], np.add.reduceat(sizes, first)


def _ranks(uniform: NDArray[np.float64], first: int, beta: float) -> NDArray[np.int64]:
    """Ranks from `first` on with probabilities proportional to r^-(1/beta)."""
    power = 1 / (1 / beta - 1)
    found = first * np.maximum(1 - uniform, 1e-15) ** -power
    return np.minimum(found, _LARGEST).astype(np.int64)


def _spell(numbers: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Words for numbers, each with a space; different numbers have different words, which no text has."""
    digits = []
    rest = numbers.copy()
    while rest.any() or not digits:
        rest, digit = np.divmod(rest, len(_LETTERS))
        digits.append(digit)
    sizes = np.zeros(len(numbers), dtype=np.int64)
    for place, digit in enumerate(digits):
        sizes[digit > 0] = place + 1
    table = np.empty((len(numbers), len(digits) + 3), dtype=np.uint8)
    table[:, :2] = np.frombuffer(b"zq", dtype=np.uint8)
    for place, digit in enumerate(digits):
        table[:, place + 2] = _LETTERS[digit]
    sizes = np.maximum(sizes, 1) + 3
    table[np.arange(len(numbers)), sizes - 1] = ord(" ")
    return table[np.arange(table.shape[1]) < sizes[:, None]], sizes


def _quantiles(weights: NDArray[np.float64]) -> NDArray[np.int32]:
    """Terms at equally spaced levels of the cumulative distribution, so that a uniform draw is a term."""
    cumulative = np.cumsum(weights)
    levels = (np.arange(_QUANTILES) + 0.5) / _QUANTILES * cumulative[-1]
    return np.searchsorted(cumulative, levels).astype(np.int32)


def _exponent(rows: Sequence[NDArray[np.int64]], random: np.random.Generator) -> float:
    """The exponent of the growth of a vocabulary over the second half of a collection in random order."""
    seen = np.zeros(max(int(row.max(initial=0)) for row in rows) + 1, dtype=bool)
    words, sizes, vocabulary = 0, [], []
    for place in random.permutation(len(rows)):
        seen[rows[place]] = True
        words += len(rows[place])
        sizes.append(words)
        vocabulary.append(int(seen.sum()) if len(sizes) % 64 == 0 else 0)
    kept = [place for place, found in enumerate(vocabulary) if found and sizes[place] > words / 4]
    slope = np.polyfit(
        np.log([sizes[place] for place in kept]), np.log([vocabulary[place] for place in kept]), 1
    )
    return float(np.clip(slope[0], 0.4, 0.8))
