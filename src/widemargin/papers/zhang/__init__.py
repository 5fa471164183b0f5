"""Zhang, Large Margin Winnow Methods for Text Categorization."""
