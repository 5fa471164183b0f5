"""``widemargin inspect MODEL``: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from widemargin.cli import estimates, unlabeled
from widemargin.cli.commands import Given, takes
from widemargin.cli.files import check_model
from widemargin.cli.output import bytes_in_words, counted, print_json, say, shortened, show_table
from widemargin.cli.watching.drift import show_drift
from widemargin.errors import DataError, UsageError

if TYPE_CHECKING:
    from widemargin.classifier import TextClassifier, TopTerms
    from widemargin.classifier.outline import Outline
    from widemargin.report.tables import Table

EXAMPLE = "Example: widemargin inspect tickets.wm --label billing --terms 20"

# With many labels, the terms of all would hide the rest.
LABELS_SHOWN = 10
# And of a label hierarchy.
NODES_SHOWN = 60
# And of a tree of decisions, unless its label was chosen.
LINES_SHOWN = 20
# Terms of a feature that is made of many.
TERMS_SHOWN = 10
# And of a thesaurus.
CONCEPTS_SHOWN = 5


@takes("inspect")
def run(given: Given) -> None:
    """Show how a model was trained, its estimated quality, and the strongest terms of each label, or its tree
    or rules.
    """
    from widemargin.documents.formats.svmlight_model import is_svmlight_model
    from widemargin.models import load_model

    if given.export_svmlight is not None:
        check_model(given.export_svmlight, [given.model], force=given.force)
    if is_svmlight_model(given.model):
        if given.export_svmlight is not None:
            raise UsageError(
                f"--export-svmlight: {given.model} is an SVM-light model already. Copy the file."
            )
        _show_svmlight(given.model, given.json)
        return
    if given.drift is not None:
        show_drift(given.model, given.drift, given.json)
        return
    content = load_model(given.model)
    from widemargin.classifier import TextClassifier
    from widemargin.report.hierarchy import tree_list, tree_table

    classifier = TextClassifier.from_model(content, str(given.model))
    if given.suspects is not None:
        show_suspects(given.model, content.summary, given.suspects, given.json)
        return
    if given.features:
        show_features(given.model, classifier, given.json)
        return
    names = chosen_labels(given.label, classifier.classes_.tolist())
    shown = names if given.label or given.json else names[:LABELS_SHOWN]
    wanted = given.terms if classifier.has_weights else 0
    top = {str(name): classifier.top_terms(name, given.terms) for name in shown} if wanted else {}
    outlines = _outlines(classifier, shown, bool(given.label))
    tree = None if classifier.rule_.hierarchy is None else classifier.rule_.hierarchy.tree
    exported = None
    if given.export_svmlight is not None:
        exported = _export(classifier, given.model, given.export_svmlight, names if given.label else [])
    if given.json:
        print_json(
            {
                "model": str(given.model),
                "bytes": Path(given.model).stat().st_size,
                "library_version": content.manifest["library_version"],
                "summary": content.summary,
                **estimates.expected_on_test_set(content.summary, given.test_size),
                "labels": classifier.classes_.tolist(),
                **({} if tree is None else {"hierarchy": tree_list(tree)}),
                "vectorizer": content.config["vectorizer"],
                "features": content.config.get("features"),
                "learner": content.config["learner"],
                "arrays": content.manifest["arrays"],
                "terms": {
                    name: {"positive": _pairs(found.positive), "negative": _pairs(found.negative)}
                    for name, found in top.items()
                },
                **_as_lists(outlines),
                **(
                    {} if exported is None else {"exported": str(given.export_svmlight), "positive": exported}
                ),
            }
        )
        return
    say(f"{given.model}: {bytes_in_words(Path(given.model).stat().st_size)}, verified.")
    lines = description(content.manifest, classifier.classes_.tolist())
    width = max(12, *(len(key) for key, _ in lines))
    for key, value in lines:
        say(f"{key:<{width}} {value}")
    if tree is not None:
        say()
        show_table(tree_table(tree, NODES_SHOWN))
    estimates.show_expected(content.summary, most=LABELS_SHOWN, test_size=given.test_size)
    if top:
        say()
        show_table(terms_table(top))
        if len(shown) < len(names):
            say(f"... and {len(names) - len(shown)} more labels; show one with --label.")
    for found in outlines.values():
        _show_outline(found, whole=bool(given.label))
    if outlines and len(shown) < len(names):
        say(f"... and {len(names) - len(shown)} more labels; show one with --label.")
    if exported is not None:
        say(f"Wrote {given.export_svmlight} for svm_classify; positive scores mean {exported}.")


def _outlines(classifier: TextClassifier, labels: list[Any], chosen: bool) -> dict[str, Outline]:
    """The trees or rules of labels, unless the learner has none; of two classes, that of the second."""
    if not classifier.has_outline:
        return {}
    columns = labels if chosen else [each for each in labels if each in classifier.label_space_.column_names]
    return {str(label): classifier.outline(label) for label in columns}


def _as_lists(outlines: dict[str, Outline]) -> dict[str, Any]:
    return {"outline": {name: found.to_list() for name, found in outlines.items()}} if outlines else {}


def _show_outline(found: Outline, *, whole: bool) -> None:
    lines = found.words()
    shown = lines if whole else lines[:LINES_SHOWN]
    say("", f"{found.label}:", *(f"  {line}" for line in shown))
    if len(shown) < len(lines):
        say(f"  ... and {len(lines) - len(shown)} more lines; show all with --label.")


def show_features(model: Path, classifier: TextClassifier, json: bool) -> None:
    """The terms that the learner sees, the best first."""
    from widemargin.report.tables import Column, Table

    if classifier.features_ is None:
        raise DataError(f"{model} uses all its terms. Train with --features to select some.")
    from widemargin.classifier.representation import makes_features

    if makes_features(classifier.features_):
        show_made_features(model, classifier, json)
        return
    found = classifier.selected_terms()
    if json:
        terms = [{"term": term, "score": score} for term, score in found]
        print_json({"model": str(model), "before": classifier.n_features_in_, "features": terms})
        return
    show_table(Table("", [Column("term"), Column("score", "decimal", 6)], [list(pair) for pair in found]))
    say(f"{len(found):,} of {counted(classifier.n_features_in_, 'term')}.")


def show_made_features(model: Path, classifier: TextClassifier, json: bool) -> None:
    """What the features that the learner sees are made of."""
    from widemargin.report.tables import Column, Table

    found = classifier.made_features(TERMS_SHOWN)
    if json:
        listed = [{"value": value, "terms": _pairs(terms)} for value, terms in found]
        print_json({"model": str(model), "before": classifier.n_features_in_, "features": listed})
        return
    projected = hasattr(classifier.features_, "singular_values_")
    columns = [
        Column("feature"),
        Column("singular value", "decimal", 3) if projected else Column("terms", "count"),
        Column("strongest terms"),
    ]
    rows = [
        [str(number), value, " ".join(("" if weight > 0 else "-") + term for term, weight in terms)]
        for number, (value, terms) in enumerate(found, start=1)
    ]
    show_table(Table("", columns, list(rows)))
    say(f"{len(found):,} features, made of {counted(classifier.n_features_in_, 'term')}.")


def show_suspects(model: Path, summary: dict[str, Any], most: int, json: bool) -> None:
    """Labels of training documents that are probably wrong."""
    from widemargin.report.estimates import suspects_table

    if "suspects_by" not in summary:
        raise DataError(
            f"{model} has no scores of documents left out of training, so no label can be suspected. Train "
            f"with "
            f"--estimate leave-one-out or k-fold."
        )
    found, by = summary["suspects"][:most], summary["suspects_by"]
    if json:
        print_json({"model": str(model), "found": len(summary["suspects"]), "by": by, "suspects": found})
        return
    if not found:
        say(f"{estimates.WORDS[by].capitalize()} contradicts no label of the training documents strongly.")
        return
    show_table(suspects_table(found, estimates.WORDS[by]))
    say(f"{len(found)} of {counted(len(summary['suspects']), 'label')} that look wrong, worst first.")


def _export(classifier: TextClassifier, model: Path, target: Path, labels: list[Any]) -> str:
    """Write SVM-light's model and return the label that its positive scores mean."""
    from widemargin.documents.formats.svmlight_model import write_svmlight_model
    from widemargin.learn.svm.svmlight_model import to_svmlight

    if classifier.features_ is not None:
        raise DataError(
            f"{model} uses selected or new features, which an SVM-light model cannot store. Train "
            f"without --features."
        )
    if classifier.vectorizer_ is not None:
        raise DataError(f"{model} was trained on texts, but SVM-light models take vectors. Train on vectors.")
    if len(labels) > 1:
        raise UsageError("--export-svmlight writes one label. Give --label once.")
    columns = classifier.label_space_.column_names.tolist()
    if not labels and len(columns) > 1:
        raise UsageError(
            f"--export-svmlight writes one label, but the model has {len(columns)}. Choose one with --label."
        )
    label = (labels or columns)[0]
    rule = to_svmlight(classifier.learner_, label)
    rule.n_documents = int(classifier.training_summary_["documents"])
    write_svmlight_model(rule, target)
    return str(label)


def _show_svmlight(path: Path, json: bool) -> None:
    """The settings in a model of SVM-light."""
    from widemargin.documents.formats.svmlight_model import read_svmlight_model

    model = read_svmlight_model(path)
    found = {
        "kernel": model.kernel,
        **model.kernel_parameters,
        "training_documents": model.n_documents,
        "features": model.n_features,
        "support_vectors": len(model.coefficients),
        "threshold": model.threshold,
    }
    if json:
        print_json({"model": str(path), "svmlight_version": model.version, **found})
        return
    say(f"{path}: {bytes_in_words(path.stat().st_size)}, a model of SVM-light {model.version}.")
    for key, value in found.items():
        say(f"{key.replace('_', ' '):<18} {value:,}" if isinstance(value, int) else f"{key:<18} {value}")


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
        *([("unlabeled", unlabeled.in_words(summary["pool"]))] if "pool" in summary else []),
        *_hierarchy(summary),
        ("terms", _terms(summary, config)),
        (
            "vectorizer",
            _settings(config["vectorizer"]) if config["vectorizer"] else "none: vectors were given",
        ),
        *_blocks(config["vectorizer"]),
        *_thesaurus(config["vectorizer"]),
        ("learner", f"{learner} {_settings(state)}"),
    ]
    lines += _decides(summary["task"], manifest)
    supports = manifest["arrays"].get("learner.dual_coef")
    if supports is not None:
        name, what = (
            ("centers", "center") if learner == "chi-square-network" else ("supports", "support vector")
        )
        lines.append((name, counted(supports["shape"][1], what)))
    kept = manifest["arrays"].get("learner.documents_data")
    if kept is not None:
        n = manifest["arrays"]["learner.documents_indptr"]["shape"][0] - 1
        lines.append(("keeps", f"{counted(n, 'document')}, {counted(kept['shape'][0], 'value')}"))
    if summary.get("objective"):
        gap = f", duality gap {summary['duality_gap']:.2g}" if "duality_gap" in summary else ""
        lines.append(("objective", f"{summary['objective']:.6g}{gap}"))
    return lines


def _hierarchy(summary: dict[str, Any]) -> list[tuple[str, str]]:
    found = summary.get("hierarchy")
    if found is None:
        return []
    paths = "one path per document" if found["one_path"] else "any number of paths per document"
    levels = counted(found["levels"], "level")
    return [("hierarchy", f"{levels}, separator {found['separator']}, {paths}, {found['rule']}")]


def _decides(task: str, manifest: dict[str, Any]) -> list[tuple[str, str]]:
    """How one of several classes is decided, unless by the largest score."""
    arrays, decision = manifest["arrays"], manifest["config"].get("decision", {})
    if "decision.costs" in arrays:
        return [("decides", f"by the least expected cost, probabilities by {decision['calibration']}")]
    if task == "multiclass" and "decision.thresholds" in arrays:
        goal = decision.get("thresholds") or "a goal"
        return [("decides", f"by score minus threshold, chosen for {goal}")]
    return []


def _terms(summary: dict[str, Any], config: dict[str, Any]) -> str:
    kept = f"{summary['terms']:,}"
    chosen = config.get("features")
    if chosen is None:
        return kept
    return f"{kept} of {summary['terms_before']:,}, {chosen['name']}: {_settings(chosen['state'])}"


def _blocks(vectorizer: dict[str, Any] | None) -> list[tuple[str, str]]:
    """One line per block: its weight, its columns and where its terms stand; and the columns of texts."""
    vectorizer = vectorizer or {}
    lines = []
    if vectorizer.get("fields"):
        lines.append(("columns", ", ".join(vectorizer["fields"])))
    if vectorizer.get("blocks") is None:
        return lines
    for block, n_columns in zip(vectorizer["blocks"], vectorizer["block_columns"], strict=True):
        low, high = block["ngram_range"]
        lengths = f"{low}-grams" if low == high else f"{low}- to {high}-grams"
        what = f"{lengths} of {block['units'].replace('_', ' ')}"
        where = f" in {block['field']}" if block["field"] else ""
        weight = f"weight {block['weight']:g}, {counted(n_columns, 'term')}"
        if block.get("dims") is not None:
            weight += f", vectors of {counted(block['dims'], 'dimension')}"
        lines.append((f"block {block['name']}", f"{weight}: {what}{where}"))
    return lines


def _thesaurus(vectorizer: dict[str, Any] | None) -> list[tuple[str, str]]:
    """The first concepts with their entries, on a line of its own."""
    concepts = (vectorizer or {}).get("thesaurus")
    if not concepts:
        return []
    each = [f"{name} ({shortened(', '.join(entries), 60)})" for name, entries in concepts.items()]
    shown = ", ".join(each[:CONCEPTS_SHOWN]) + (", ..." if len(each) > CONCEPTS_SHOWN else "")
    return [("thesaurus", f"{counted(len(concepts), 'concept')}: {shown}")]


def terms_table(top: dict[str, TopTerms]) -> Table:
    """One row per label: the terms for it and against it."""
    from widemargin.report.tables import Column, Table

    rows = [
        [name, " ".join(term for term, _ in found.positive), " ".join(term for term, _ in found.negative)]
        for name, found in top.items()
    ]
    return Table("", [Column("label"), Column("terms for it"), Column("terms against it")], list(rows))


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
    of_blocks = ("units", "ngram_range") if state.get("blocks") else ()
    for key, value in state.get("parameters", state).items():
        if key in of_blocks:
            continue
        if key == "ngram_range":
            longest = max(value[1], 2 if state.get("phrases") is not None else 1)
            shown.append(f"ngrams={value[0]}-{longest}")
        elif isinstance(value, str | int | float) and key != "n_documents":
            shown.append(f"{key}={value}")
    return ", ".join(shown)
