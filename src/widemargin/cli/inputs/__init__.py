"""Small files that options name."""
