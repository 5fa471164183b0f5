"""Chapter 6: comparisons that the text reports without a table."""
