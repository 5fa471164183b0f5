"""Options of work on a cluster."""

from __future__ import annotations

from widemargin.cli.options.option import Option

_WHERE = (
    "local starts a worker process per core (local:2: two); the address of a Dask scheduler, such as "
    "tcp://10.0.0.1:8786, or its scheduler file uses its workers. Needs the extra dask."
)

CLUSTER = (
    Option(
        "--cluster local|ADDRESS",
        f"Train on the workers of a Dask cluster, from disk as with --memory: they read files and divide "
        f"the labels. The model is that of one machine. Learners but linear-svm are trained here, with "
        f"candidates and folds on the workers. {_WHERE}",
        "train",
        shown="off",
    ),
    Option(
        "--cluster-method auto|labels|cocoa",
        "With --cluster: divide the labels among workers, each of which reads all documents; or the "
        "documents (CoCoA+, up to the tolerance the same model). auto: documents if they exceed the free "
        "disk of a worker, otherwise labels.",
        "train",
        shown="auto",
    ),
    Option(
        "--cluster local|ADDRESS",
        f"Label files on the workers of a Dask cluster. -o then names a new folder: a .jsonl file per input "
        f"file, in their order, and manifest.json. The folder appears when all is done. {_WHERE}",
        "predict",
        shown="off",
    ),
    Option(
        "--cluster local|ADDRESS",
        f"Train and measure on the workers of a Dask cluster; the figures are the same. {_WHERE}",
        "compare",
        shown="off",
    ),
)
