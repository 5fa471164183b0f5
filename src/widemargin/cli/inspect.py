"""``widemargin inspect MODEL``: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from widemargin.cli import options
from widemargin.cli.output import bytes_in_words, counted, print_json, shortened, show_table
from widemargin.errors import UsageError

if TYPE_CHECKING:
    from widemargin.classifier import TopTerms
    from widemargin.report.tables import Table

EXAMPLE = "Example: widemargin inspect tickets.wm --label billing --terms 20"

# Terms of every label would drown the rest when there are many.
LABELS_SHOWN = 10


def run(
    model: options.ModelFile,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="X", help="Only the terms of this label (may be repeated)."),
    ] = None,
    terms: Annotated[
        int, typer.Option("--terms", metavar="N", min=0, help="Terms a label, for and against.")
    ] = 8,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Show what a model is: how it was trained, and the terms that speak for and against its labels."""
    from widemargin.models import load_model

    content = load_model(model)
    from widemargin.classifier import TextClassifier

    classifier = TextClassifier.from_model(content, str(model))
    names = chosen_labels(label, classifier.classes_.tolist())
    shown = names if label or json else names[:LABELS_SHOWN]
    top = {str(name): classifier.top_terms(name, terms) for name in shown} if terms else {}
    if json:
        print_json(
            {
                "model": str(model),
                "bytes": Path(model).stat().st_size,
                "library_version": content.manifest["library_version"],
                "summary": content.summary,
                "labels": classifier.classes_.tolist(),
                "vectorizer": content.config["vectorizer"],
                "learner": content.config["learner"],
                "arrays": content.manifest["arrays"],
                "terms": {
                    name: {"positive": _pairs(found.positive), "negative": _pairs(found.negative)}
                    for name, found in top.items()
                },
            }
        )
        return
    print(f"{model}: {bytes_in_words(Path(model).stat().st_size)}, verified.")
    for key, value in description(content.manifest, classifier.classes_.tolist()):
        print(f"{key:<12} {value}")
    if not top:
        return
    print()
    show_table(terms_table(top))
    if len(shown) < len(names):
        print(f"... and {len(names) - len(shown)} more labels; ask for one with --label.")


def description(manifest: dict[str, Any], labels: list[Any]) -> list[tuple[str, str]]:
    """What is worth saying about a model, line by line."""
    summary, config = manifest["summary"], manifest["config"]
    learner, state = config["learner"]["name"], config["learner"]["state"]
    listed = ", ".join(shortened(label, 40) for label in labels[:12]) + (", ..." if len(labels) > 12 else "")
    lines = [
        ("written by", f"widemargin {manifest['library_version']}"),
        ("trained on", counted(summary["documents"], "document")),
        ("task", summary["task"]),
        ("labels", f"{len(labels):,}: {listed}"),
        ("terms", f"{summary['terms']:,}"),
        (
            "vectorizer",
            _settings(config["vectorizer"]) if config["vectorizer"] else "none: vectors were given",
        ),
        ("learner", f"{learner} {_settings(state)}"),
    ]
    if summary.get("objective"):
        lines.append(("objective", f"{summary['objective']:.6g}, duality gap {summary['duality_gap']:.2g}"))
    return lines


def terms_table(top: dict[str, TopTerms]) -> Table:
    """One row a label: what speaks for it, what against."""
    from widemargin.report.tables import Column, Table

    rows = [
        [name, " ".join(term for term, _ in found.positive), " ".join(term for term, _ in found.negative)]
        for name, found in top.items()
    ]
    return Table("", [Column("label"), Column("speaks for it"), Column("speaks against it")], list(rows))


def chosen_labels(wanted: list[str] | None, labels: list[Any]) -> list[Any]:
    if not wanted:
        return labels
    by_name = {str(label): label for label in labels}
    for name in wanted:
        if name not in by_name:
            shown = ", ".join(list(by_name)[:10]) + (", ..." if len(by_name) > 10 else "")
            raise UsageError(f"The model has no label {name!r}. Its labels are {shown}.")
    return [by_name[name] for name in wanted]


def _pairs(terms: list[tuple[str, float]]) -> list[dict[str, Any]]:
    return [{"term": term, "weight": weight} for term, weight in terms]


def _settings(state: dict[str, Any]) -> str:
    """The settings that are plain values, as name=value."""
    shown = []
    for key, value in state.get("parameters", state).items():
        if key == "ngram_range":
            shown.append(f"ngrams={value[0]}-{value[1]}")
        elif isinstance(value, str | int | float) and key != "n_documents":
            shown.append(f"{key}={value}")
    return ", ".join(shown)
