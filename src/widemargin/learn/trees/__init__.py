"""Decision trees of C4.5, one per label: growing, pruning, rules, scores."""
