"""Chapter 7: transduction."""
