"""A diagnosis of Reuters-21578: in time, and with what is known to be in it."""

from __future__ import annotations

import time

import pytest

import widemargin
from widemargin import load_corpus


@pytest.mark.slow
@pytest.mark.needs_corpus("reuters21578")
def test_reuters_in_time():
    """Less than sixty seconds of two cores: less than sixty seconds of processor time in all."""
    corpus = load_corpus("reuters21578", "modapte")
    common = set(corpus.train.label_counts()) & set(corpus.test.label_counts())
    labels = [sorted(set(one) & common) for one in corpus.train.labels]
    start = time.process_time()
    found = widemargin.diagnose(corpus.train.texts, labels, corpus.test.texts)
    assert time.process_time() - start < 60
    assert (found.documents, len(found.categories)) == (9603, 90)
    # Known of the collection: repeated announcements, topics that follow one word, later months in the test.
    assert found.copies.exact > 100
    assert found.category("cocoa").best_term == "cocoa"
    assert "louvre" in [change.name for change in found.drift.terms]
    assert found.give_aways == []
    assert found.languages.main == "English"
