"""Languages of short strings: profiles against py3langid and Lingua, and five languages with 5 KB each.

All of them answer with one of the same languages, one after the other on one thread, in CPU seconds. Profiles
learn from two thirds of the sentences, the peers come trained; everybody is tested on strings of the other
third. So our text is of the kind that is tested, and the peers' is not.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from _compare import Check, Row, in_turns
from widemargin import ProfileClassifier, TextClassifier, Vectorizer, load_corpus
from widemargin.papers.teytaud import languages as published

# Lengths of the n-grams, and the sizes of strings in bytes. Without 4-grams profiles are faster, and accurate
# enough from 50 bytes on.
LENGTHS = {(1, 4): (20, 50, 100), (1, 3): (50, 100)}
# One in so many strings is enough for a peer that answers some hundreds a second.
_FEW = 10


def train(texts: list[str], labels: list[str], lengths: tuple[int, int]) -> Any:
    """What ``train --learner profiles`` learns, for one thread."""
    vectorizer = Vectorizer(units="chars", ngram_range=lengths, weighting="txx", min_count=2, n_jobs=1)
    learner = ProfileClassifier(unseen=0.1, n_jobs=1)
    return TextClassifier(vectorizer, learner, estimate=None).fit(texts, labels).scorer


def strings(collection: Any, known: set[str], size: int) -> tuple[list[str], list[str]]:
    """One piece of so many bytes of every sentence that is long enough, in random order, and its language."""
    rng = np.random.default_rng(0)
    found = []
    for text, labels in zip(collection.texts, collection.labels, strict=True):
        data = text.encode()
        if labels[0] in known and len(data) >= size:
            start = int(rng.integers(len(data) - size + 1))
            found.append((data[start : start + size].decode("utf-8", "ignore"), labels[0]))
    order = rng.permutation(len(found))
    return [found[i][0] for i in order], [found[i][1] for i in order]


def py3langid(known: set[str]) -> tuple[set[str], Callable[[list[str]], list[str]]]:
    """The languages that it knows of `known`, and what answers with one of them."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    both = known & set(identifier.labels)
    identifier.set_languages(sorted(both))
    return both, lambda texts: [identifier.classify(text)[0] for text in texts]


def lingua(known: set[str]) -> tuple[set[str], Callable[[list[str]], list[str]]]:
    """The same of Lingua, which knows all of them."""
    from lingua import IsoCode639_1, LanguageDetectorBuilder

    codes = [getattr(IsoCode639_1, name.upper()) for name in sorted(known)]
    builder = LanguageDetectorBuilder.from_iso_codes_639_1(*codes)
    detector = builder.with_preloaded_language_models().build()

    def answer(texts: list[str]) -> list[str]:
        found = map(detector.detect_language_of, texts)
        return [one.iso_code_639_1.name.lower() if one else "" for one in found]

    return known, answer


PEERS = {"py3langid": ("py3langid", py3langid), "lingua": ("lingua", lingua)}


def beside_peers(repeats: int) -> Iterator[Row]:
    """A row per peer, length of n-grams and size of the strings."""
    corpus = load_corpus("lingua-sentences", "random")
    every = {labels[0] for labels in corpus.train.labels}
    for name, (module, make) in PEERS.items():
        if importlib.util.find_spec(module) is None:
            print(f"{name} is not installed and is skipped. Run: make .venv/.stamps/bench", file=sys.stderr)
            continue
        known, answer = make(every)
        learned = [
            (text, labels[0])
            for text, labels in zip(corpus.train.texts, corpus.train.labels, strict=True)
            if labels[0] in known
        ]
        texts, labels = map(list, zip(*learned, strict=True))
        for lengths, sizes in LENGTHS.items():
            scorer = train(texts, labels, lengths)
            for size in sizes:
                what = f"{size} bytes, {lengths[0]}- to {lengths[1]}-grams"
                yield _row(what, name, answer, scorer, strings(corpus.test, known, size), repeats)


def _row(
    what: str,
    name: str,
    answer: Callable[[list[str]], list[str]],
    scorer: Any,
    tested: tuple[list[str], list[str]],
    repeats: int,
) -> Row:
    texts, labels = tested
    some = _FEW if name == "lingua" else 1
    mine, other = in_turns(
        partial(_answers, scorer, texts),
        partial(answer, texts[::some]),
        repeats=repeats,
        clock=time.process_time,
    )
    ours = np.array(mine.result) == labels
    theirs = np.array(other.result) == labels[::some]
    rates = len(texts) / mine.seconds, len(texts[::some]) / other.seconds
    quality = {
        "languages": len(scorer.space.classes),
        "strings": len(texts),
        "accuracy": float(ours.mean()),
        "peer's": float(theirs.mean()),
        "strings per s": rates[0],
        "peer's strings per s": rates[1],
    }
    # On the strings that both answered; twice the standard error is allowed, for Lingua's few strings.
    behind = float(theirs.mean() - ours[::some].mean())
    error = 2 * float(np.sqrt((theirs.astype(float) - ours[::some]).var() / len(theirs)))
    checks = [Check("behind in accuracy", behind, error)]
    seconds = 1 / rates[0], 1 / rates[1]
    return Row(what, name, *(1e4 * each for each in seconds), checks, quality)


def _answers(scorer: Any, texts: list[str]) -> list[str]:
    names = scorer.space.classes
    parts = [scorer.scores(texts[k : k + 2000]).argmax(axis=1) for k in range(0, len(texts), 2000)]
    answers: list[str] = names[np.concatenate(parts)].tolist()
    return answers


def five_languages() -> Iterator[str]:
    """Success rates with 5 KB of text per language, over five draws; the published ones beside them."""
    for lengths in ((3, 3), (1, 4), (1, 5)):
        rates = np.array(
            [
                published.Ngrams(profiles, tests, lengths).rates(ProfileClassifier("kl", unseen=0.1))
                for profiles, _, tests in map(published.data, range(5))
            ]
        )
        means = ", ".join(
            f"{size} bytes {mean:.2f} %"
            for size, mean in zip(published.SAMPLES, rates.mean(axis=0), strict=True)
        )
        yield (
            f"five languages, 5 KB each, {lengths[0]}- to {lengths[1]}-grams: {means} "
            f"(published, KL: 100, 99.4, 92.8)"
        )
