"""The online learners on the command line: their options, and which of them each takes."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from widemargin.errors import UsageError

PANEL = "Online learners"

# What each takes besides bias, passes and the machine's settings; the weighting that its paper gives it.
TAKES: dict[str, tuple[str, ...]] = {
    "perceptron": ("bias", "eta", "average"),
    "positive-winnow": ("promotion", "demotion", "average"),
    "balanced-winnow": ("promotion", "demotion", "average"),
    "balanced-winnow-plus": ("promotion", "demotion", "average"),
    "winnow": ("bias", "eta", "average", "normalize"),
    "large-margin-winnow": ("bias", "eta", "normalize", "C", "class_weight", "tol"),
    "dual-svm": ("bias", "eta", "C", "class_weight", "tol"),
}
# dagan's strength of a feature is best the square root of its count, zhang's features are binary.
WEIGHTINGS = {
    name: "sxx" if name in ("positive-winnow", "balanced-winnow", "balanced-winnow-plus") else "bxx"
    for name in TAKES
}


class AverageName(StrEnum):
    averaged = "averaged"
    voted = "voted"


Eta = Annotated[
    float | None,
    typer.Option(
        "--eta",
        metavar="X",
        help="The rate of updates (perceptron, winnow, large-margin-winnow, dual-svm).",
        show_default="0.01; of the last two: Newton's step",
        rich_help_panel=PANEL,
    ),
]
Promotion = Annotated[
    float | None,
    typer.Option(
        "--promotion",
        metavar="X",
        help="What weights are multiplied by after a missed document (positive- and balanced-winnow).",
        show_default="1.1",
        rich_help_panel=PANEL,
    ),
]
Demotion = Annotated[
    float | None,
    typer.Option(
        "--demotion",
        metavar="X",
        help="What they are multiplied by after a document that was taken wrongly.",
        show_default="0.9",
        rich_help_panel=PANEL,
    ),
]
Average = Annotated[
    AverageName | None,
    typer.Option(
        "--average",
        metavar="averaged|voted",
        help="Average the weights over all documents, or let all rules vote.",
        show_default="the last rule",
        rich_help_panel=PANEL,
    ),
]
Normalize = Annotated[
    bool | None,
    typer.Option(
        "--normalize",
        help="Weights of a constant sum (winnow, large-margin-winnow).",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
Passes = Annotated[
    int | None,
    typer.Option(
        "--passes",
        metavar="N",
        min=1,
        help="Passes over the documents, at most; a stream is passed over once.",
        show_default="50; large-margin-winnow, dual-svm: 200",
        rich_help_panel=PANEL,
    ),
]
Stream = Annotated[
    bool,
    typer.Option(
        "--stream",
        help="Learn from JSON Lines as they come, also from a pipe without end: predict each document, learn "
        "it, forget it. Terms are hashed, new labels are welcome, and lines that are no documents are "
        "skipped (--errors strict stops there).",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
SaveEvery = Annotated[
    int | None,
    typer.Option(
        "--save-every",
        metavar="N",
        min=1,
        help="With --stream: save after every N documents. Ctrl-C saves what has been learned, too.",
        show_default="once a minute",
        rich_help_panel=PANEL,
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="With --stream: go on with the model in MODEL, if there is one, with its own settings.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
MaxLabels = Annotated[
    int,
    typer.Option(
        "--max-labels",
        metavar="N",
        min=2,
        help="With --stream: stop when more labels have come, each of which takes memory.",
        rich_help_panel=PANEL,
    ),
]


def parameters(learner: str, given: dict[str, Any]) -> dict[str, Any]:
    """The parameters of an online learner; `given` has the options that somebody wrote."""
    known = TAKES[learner]
    for option in given:
        if option not in (*known, "max_iter"):
            raise UsageError(f"--{option.replace('_', '-')} means nothing to {learner}. Leave it out.")
    if "bias" in given and isinstance(given["bias"], str):
        raise UsageError(f"--bias {given['bias']}: {learner} takes a size, such as 1, or none.")
    # Texts come as square roots of counts already (WEIGHTINGS).
    fixed: dict[str, dict[str, Any]] = {
        "positive-winnow": {"normalize": True},
        "balanced-winnow-plus": {"strength": "given"},
    }
    return {**fixed.get(learner, {}), **given}
