"""Options of training on more documents than fit into memory."""

from __future__ import annotations

from pathlib import Path

from widemargin.cli.options.option import train

LARGE = (
    train(
        "--memory SIZE",
        "Train from disk, with about so much memory: 512MB, 2GB, 1.5GiB. Documents are read once; their "
        "counts are kept in compressed temporary files. For linear-svm.",
        shown="in memory; from disk with half of the free memory if the documents would not fit",
    ),
    train(
        "--scratch DIR",
        "Folder for the temporary files of --memory. They take about a quarter of the texts, and as much as "
        "the texts while they are tuned.",
        Path,
        shown="$TMPDIR, or /tmp",
    ),
)
