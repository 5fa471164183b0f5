"""Statistical phrases: words that occur together more often than by chance (joachims 2.2.3).

An n-gram of words is split before its last word. A 2 x 2 table counts, over all n-grams of that length, how
often the two parts occur with and without each other. It gives Dunning's log-likelihood ratio (*Accurate
Methods for the Statistics of Surprise and Coincidence*, 1993), which is about chi-square with one degree of
freedom if the parts are independent: by chance it exceeds 10.83 once in a thousand times.

The core computes the ratios with the counts of the training documents (``core/text/terms/association.hpp``),
and n-grams with a smaller one are left out. Where documents are held out, folds choose the phrases again
without them; leave-one-out keeps the phrases (:mod:`widemargin.weight.left_out`).
"""

from __future__ import annotations

USUAL_RATIO = 10.83
"""The ratio that independent words exceed once in a thousand times."""
