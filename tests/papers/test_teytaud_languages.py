"""The language tables of Teytaud and Jalam: sizes as published, and what holds of the published order."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin.papers.teytaud import languages


def quietly(line):
    pass


@pytest.mark.needs_corpus("lingua-sentences")
def test_the_data_have_the_published_sizes():
    profiles, training, tests = languages.data()
    assert profiles.labels == list(languages.LANGUAGES)
    assert all(4_990 <= len(text.encode()) <= 5_000 for text in profiles.texts)
    assert len(training.texts) == 250
    assert {size: len(some.texts) for size, some in tests.items()} == {100: 250, 50: 500, 20: 1_250}
    for size, some in tests.items():
        assert np.unique(some.labels, return_counts=True)[1].tolist() == [len(some.texts) // 5] * 5
        assert all(size - 6 <= len(text.encode()) <= size for text in some.texts)
    # No string is part of what is learned from.
    learned = "\n".join(profiles.texts + training.texts)
    assert sum(text in learned for text in tests[100].texts) == 0


@pytest.mark.needs_corpus("lingua-sentences")
@pytest.mark.paper("teytaud-languages")
def test_short_strings():
    result = languages.run(quietly, "short")
    rate = {(cell.row, cell.column): cell.ours for cell in result.cells}
    for column in ("50 bytes", "20 bytes"):
        assert rate["1-NN (KL)", column] > rate["1-NN (chi2)", column]
        assert rate["1-NN (KL), 1- to 5-grams", column] > rate["1-NN (KL)", column]
        assert rate["1-NN (KL)", column] > rate["Markov model of order 2", column]
        assert rate["1-NN (kl-all), profile-to-text", column] < 60
    assert rate["1-NN (KL)", "100 bytes"] == 100
    assert rate["RBF (sigma2 = 10), 50 subparts", "100 bytes"] > rate["RBF (sigma2 = 10)", "100 bytes"]


@pytest.mark.needs_corpus("lingua-sentences")
@pytest.mark.paper("teytaud-gathered")
def test_gathered_profiles():
    result = languages.run(quietly, "gathered")
    rate = {(cell.row, cell.column): cell.ours for cell in result.cells}
    # KL needs well-defined frequencies; chi-square does not.
    assert rate["1-NN, kl", "20 bytes"] < 50 < rate["1-NN, chi2", "20 bytes"]
    assert rate["1-NN (gathered), kl", "20 bytes"] > rate["1-NN (gathered), chi2", "20 bytes"]
