"""Divide documents into parts to train, to tune and to test on."""

from __future__ import annotations

from widemargin.documents.splitting.division import Split, split

__all__ = ["Split", "split"]
