"""Linear support vector machines on rows that do not fit in memory (core/linear/by_blocks/)."""
