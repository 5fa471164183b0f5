"""Least squares on the command line: their option, and which of the others they take."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from widemargin.errors import UsageError

Regularization = Annotated[
    float | None,
    typer.Option(
        "--regularization",
        metavar="X",
        min=0.0,
        help="Lambda, what squared weights cost (least-squares).",
        show_default="1",
        rich_help_panel="Learning",
    ),
]


def parameters(given: dict[str, Any]) -> dict[str, Any]:
    """The parameters of least squares; `given` has the options that somebody wrote.

    Examples
    --------
    >>> parameters({"regularization": 0.4, "bias": None})
    {'regularization': 0.4, 'bias': None}
    """
    for option in given:
        if option not in ("regularization", "bias", "class_weight", "tol"):
            cure = "It has --regularization instead." if option == "C" else "Leave it out."
            name = {"max_iter": "passes"}.get(option, option.replace("_", "-"))
            raise UsageError(f"--{name} means nothing to least-squares. {cure}")
    if given.get("bias") == "stabilized":
        raise UsageError("--bias stabilized: least-squares take a size, such as 1, unregularized, or none.")
    return given
