"""Chapter 4: a statistical learning model of text classification."""
