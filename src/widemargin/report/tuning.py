"""The candidates that tuning compared, as a table."""

from __future__ import annotations

from typing import Any

from widemargin.report.tables import Column, Table

# Labels named for each value of C.
_LABELS = 3


def tuning_table(tuning: dict[str, Any], title: str = "", most: int | None = None) -> Table:
    """The candidates that tuning compared, the best first.

    Parameters
    ----------
    tuning : ``Tuning.to_dict()``
    most : show at most this many candidates

    Examples
    --------
    >>> found = {"parameters": {"tol": 0.1, "C": 1.0}, "held_out": 0.8, "estimate": 0.9, "seconds": 2}
    >>> other = {"parameters": {"tol": 0.1, "C": 5.0}, "held_out": 0.7, "estimate": None, "seconds": 1}
    >>> tuning = {"measure": "prbep", "estimate": "k-fold", "chosen": 0, "candidates": [found, other]}
    >>> print(tuning_table(tuning).plain())
    C    held-out prbep  k-fold prbep  seconds
    1.0            80.0          90.0      2.0  chosen
    5.0            70.0             -      1.0
    """
    candidates = tuning["candidates"]
    seen = [found for found in candidates if (found["held_out"], found["estimate"]) != (None, None)]
    chosen = candidates[tuning["chosen"]]
    # Estimated candidates come first, the best ones before the others.
    seen.sort(key=lambda found: (found is not chosen, -(found["estimate"] or 0), -(found["held_out"] or 0)))
    names = list(dict.fromkeys(name for found in candidates for name in found["parameters"]))
    # The learner says that it is an average.
    names = [name for name in names if name != "members"]
    varying = [name for name in names if len({str(c["parameters"].get(name)) for c in candidates}) > 1]
    columns = [Column(name.replace("_", " ")) for name in varying]
    measure = _measure(tuning)
    # The search over axes with limited effort has no other figures than those of held-out documents.
    estimated = tuning["estimate"] != "held-out"
    columns += [Column(f"held-out {measure}", "percent")]
    columns += [Column(f"{tuning['estimate']} {measure}", "percent")] if estimated else []
    columns += [Column("seconds", "decimal"), Column("")]
    rows = [
        [
            *(_shown(found["parameters"].get(name)) for name in varying),
            found["held_out"],
            *([found["estimate"]] if estimated else []),
            found["seconds"],
            "chosen" if found is chosen else "",
        ]
        for found in seen[:most]
    ]
    notes = []
    if tuning.get("chosen_by_label"):
        notes.append(f"C of each label: {costs_in_words(tuning)}.")
    if tuning.get("families"):
        notes.append(f"Best of each family: {families_in_words(tuning)}.")
    if len(rows) < len(candidates):
        notes.append(f"The {len(rows)} best of {len(candidates)} candidates; {len(seen)} were evaluated.")
    return Table(title, columns, list(rows), notes=notes)


def _measure(tuning: dict[str, Any]) -> str:
    """The measure by its common name: of exclusive classes, the micro-averaged F1 is the accuracy.

    Examples
    --------
    >>> _measure({"task": "multiclass", "measure": "f1", "average": "micro"}), _measure({"measure": "prbep"})
    ('accuracy', 'prbep')
    """
    exclusive = (tuning.get("task"), tuning.get("average")) == ("multiclass", "micro")
    return "accuracy" if exclusive and tuning["measure"] == "f1" else str(tuning["measure"])


def families_in_words(tuning: dict[str, Any]) -> str:
    """The measure of the best candidate of every family that tuning compared.

    Examples
    --------
    >>> words = {"family": "words", "candidate": 0, "value": 0.8}
    >>> families = [words, {"family": "chars", "candidate": 3, "value": 0.9}]
    >>> families_in_words({"chosen": 3, "families": families})
    'words 80.0, chars 90.0 (chosen)'
    """
    return ", ".join(
        f"{found['family']} {100 * found['value']:.1f}"
        f"{' (chosen)' if found['candidate'] == tuning['chosen'] else ''}"
        for found in tuning["families"]
    )


def _shown(value: Any) -> Any:
    """A value of a parameter; blocks as ``--blocks`` takes them.

    Examples
    --------
    >>> chars = {"name": "chars", "weight": 0.5, "min_df": 2}
    >>> _shown([{"name": "words", "weight": 1.0, "min_df": None}, chars])
    'words,chars:0.5:min=2'
    """
    if not isinstance(value, list) or not any(isinstance(part, dict) for part in value):
        return value
    return ",".join(part if isinstance(part, str) else _block(part) for part in value)


def _block(block: dict[str, Any]) -> str:
    weight = "" if block["weight"] == 1 else f":{block['weight']:g}"
    fewest = "" if block["min_df"] is None else f":min={block['min_df']}"
    return f"{block['name']}{weight}{fewest}"


def costs_in_words(tuning: dict[str, Any]) -> str:
    """Which labels have which C, if it was chosen for each.

    Examples
    --------
    >>> candidates = [{"parameters": {"C": 1.0}}, {"parameters": {"C": 10.0}}]
    >>> costs_in_words({"candidates": candidates, "chosen_by_label": {"a": 1, "b": 0, "c": 1}})
    '1 for 1 label (b), 10 for 2 labels (a, c)'
    """
    labels: dict[float, list[str]] = {}
    for label, number in tuning["chosen_by_label"].items():
        labels.setdefault(tuning["candidates"][number]["parameters"]["C"], []).append(label)
    return ", ".join(
        f"{C:g} for {len(names)} label{'' if len(names) == 1 else 's'} "
        f"({', '.join(names[:_LABELS])}{', ...' if len(names) > _LABELS else ''})"
        for C, names in sorted(labels.items())
    )
