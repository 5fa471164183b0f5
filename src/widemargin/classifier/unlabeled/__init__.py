"""Unlabeled documents beside the training documents: read and checked, used, and whether that helps."""
