"""Training documents as new ones, and new documents beside them."""
