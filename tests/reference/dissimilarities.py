"""Dissimilarities of two histograms of counts, written out as Teytaud and Jalam print them (2.1)."""

from __future__ import annotations

import numpy as np


def frequencies(counts, unseen=0.0):
    """f, with zero counts replaced by `unseen`."""
    total = counts.sum() if counts.sum() > 0 else 1.0
    return np.where(counts > 0, counts, unseen) / total


def ranks(counts):
    """Ranks from 0 by decreasing count, ties by position; infinite for a count of 0."""
    order = sorted(np.flatnonzero(counts > 0), key=lambda k: (-counts[k], k))
    found = np.full(len(counts), np.inf)
    found[order] = np.arange(len(order))
    return found


def ct(first, second, n_max=500, d_max=1000):
    R1, R2 = ranks(first), np.where(second > 0, ranks(second), d_max)
    return sum(min(abs(R2[w] - R1[w]), d_max) for w in np.flatnonzero(n_max > R1))


def kl(first, second, unseen=0.5):
    inside = second > 0
    f1, f2 = frequencies(first, unseen)[inside], frequencies(second)[inside]
    return np.sum(f2 * np.log(f2 / f1))


def kl_all(first, second, unseen=0.5):
    either = (first > 0) | (second > 0)
    f1, f2 = frequencies(first, unseen)[either], frequencies(second, unseen)[either]
    return np.sum(f2 * np.log(f2 / f1))


def cosine(first, second):
    f1, f2 = frequencies(first), frequencies(second)
    lengths = np.sqrt(np.sum(f1**2) * np.sum(f2**2))
    return 1 - np.sum(f1 * f2) / lengths if lengths > 0 else 1.0


def chi2(first, second):
    f1, f2 = frequencies(first), frequencies(second)
    either = f1 + f2 > 0
    return 2 * np.sum((f1 - f2)[either] ** 2 / (f1 + f2)[either])


def chi2_asymmetric(first, second, unseen=0.5):
    either = (first > 0) | (second > 0)
    f1, f2 = frequencies(first)[either], frequencies(second, unseen)[either]
    return np.sum((f1 - f2) ** 2 / f2)


def dissimilarity(name, text, profile, *, text_first):
    """The dissimilarity of that name, with the arguments in the order that `text_first` asks for."""
    named = {"ct": ct, "kl": kl, "kl-all": kl_all, "cosine": cosine, "chi2": chi2}
    named["chi2-asymmetric"] = chi2_asymmetric
    return named[name](*((text, profile) if text_first else (profile, text)))
