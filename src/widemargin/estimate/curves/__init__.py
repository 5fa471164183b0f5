"""Learning curves: quality against the number of labeled documents, measured and extrapolated."""
