"""Documents that are better left undecided."""
