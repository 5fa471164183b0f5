"""Options of `report`, and the page of `diagnose`."""

from __future__ import annotations

from pathlib import Path

from widemargin.cli.options.option import REQUIRED, Option

REPORT = (
    Option(
        "MODEL", "A model file that `train` or `label` wrote, or one of SVM-light.", "report", Path, REQUIRED
    ),
    Option(
        "[TEST]...",
        "Labeled documents that the model has not seen. To compare two models: the other model, then the "
        "documents.",
        "report",
        list[str],
    ),
    Option(
        "--output -o FILE", "The page to write, an .html file.", "report", Path, "report.html", common=True
    ),
    Option(
        "--train DATA",
        "The training documents: for the learning curve, near-duplicates among the test documents, and the "
        "texts of training documents whose labels look wrong.",
        "report",
        shown="none",
        common=True,
    ),
    Option(
        "--html FILE",
        "Also write the diagnosis as a page for a browser (needs matplotlib).",
        "diagnose",
        Path,
        shown="none",
        common=True,
    ),
)
