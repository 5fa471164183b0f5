"""What a model remembers of its training."""
