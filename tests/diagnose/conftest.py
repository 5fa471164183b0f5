"""Collections with nothing wrong, to plant faults in."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from widemargin.diagnose.languages import function_words

Texts = Callable[..., tuple[list[str], list[str]]]


def clean_collection(n=300, topics=3, seed=0, length=(20, 60)):
    """Documents of some topics: words by Zipf's law, the most frequent ones English, and twenty words per
    topic that are four times as frequent in it. No word is in all documents of a topic."""
    generator = np.random.default_rng(seed)
    syllables = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgklmnpr"]
    generator.shuffle(syllables)
    words = np.array([*function_words()["English"][:20], *syllables])
    shares = 1 / np.arange(5, len(words) + 5)
    texts, labels = [], []
    for i in range(n):
        topic = i % topics
        share = shares.copy()
        share[30 + 20 * topic : 50 + 20 * topic] *= 4
        drawn = generator.choice(words, size=generator.integers(*length), p=share / share.sum())
        texts.append(" ".join(drawn))
        labels.append(f"topic-{topic}")
    return texts, labels


@pytest.fixture(scope="session")
def clean() -> Texts:
    return clean_collection
