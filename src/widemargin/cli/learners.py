"""The learners that `train` offers: their options on the command line, and which belong to which."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from widemargin.cli import online, squares
from widemargin.errors import UsageError

PANEL = "Learning"
KERNEL_PANEL = "Kernels (with --learner kernel-svm)"


class Name(StrEnum):
    linear_svm = "linear-svm"
    kernel_svm = "kernel-svm"
    least_squares = "least-squares"
    perceptron = "perceptron"
    positive_winnow = "positive-winnow"
    balanced_winnow = "balanced-winnow"
    balanced_winnow_plus = "balanced-winnow-plus"
    winnow = "winnow"
    large_margin_winnow = "large-margin-winnow"
    dual_svm = "dual-svm"

    @property
    def is_online(self) -> bool:
        """Whether it can learn from one document after the other."""
        return self.value in online.TAKES


class KernelName(StrEnum):
    linear = "linear"
    poly = "poly"
    rbf = "rbf"
    sigmoid = "sigmoid"
    chi2 = "chi2"


class LossName(StrEnum):
    hinge = "hinge"
    squared_hinge = "squared_hinge"


class SchemeName(StrEnum):
    one_vs_rest = "one-vs-rest"
    votes = "votes"
    dag = "dag"


Learner = Annotated[
    Name,
    typer.Option(
        "--learner",
        metavar="NAME",
        help="linear-svm: one weight a term, learned in seconds; kernel-svm: the SVM of the thesis with any "
        "kernel; least-squares: squared errors, whose leave-one-out has a closed form (with --features "
        "subspace:2000 on a sample of the features); or one that learns from document after document: "
        "perceptron, positive-winnow, balanced-winnow, balanced-winnow-plus, winnow, large-margin-winnow, "
        "dual-svm.",
        rich_help_panel=PANEL,
    ),
]
Cost = Annotated[
    float | None,
    typer.Option(
        "--C",
        metavar="X",
        help="The cost of training errors; inf allows none.",
        show_default="chosen by --tune, or 1",
        rich_help_panel=PANEL,
    ),
]
Loss = Annotated[
    LossName | None,
    typer.Option(
        "--loss",
        metavar="hinge|squared_hinge",
        help="How training errors count (linear-svm; a kernel-svm has the hinge loss).",
        show_default="hinge",
        rich_help_panel=PANEL,
    ),
]
Bias = Annotated[
    str | None,
    typer.Option(
        "--bias",
        metavar="SIZE|unregularized|stabilized|none",
        help="The threshold: a bias feature of this size; unregularized, as in the thesis; stabilized "
        "(kernel-svm); or none, hyperplanes through the origin.",
        show_default="1; kernel-svm: unregularized",
        rich_help_panel=PANEL,
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        "--class-weight",
        metavar="balanced",
        help="Let rare labels count as much as frequent ones.",
        show_default="none",
        rich_help_panel=PANEL,
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tol",
        metavar="X",
        help="When to stop: the relative duality gap; kernel-svm: the violation of optimality; "
        "least-squares: the relative residual.",
        show_default="0.001; least-squares: 0.000001; large-margin-winnow, dual-svm: all passes",
        rich_help_panel=PANEL,
    ),
]
Kernel = Annotated[
    KernelName | None,
    typer.Option(
        "--kernel",
        metavar="linear|poly|rbf|sigmoid|chi2",
        help="x.z, (gamma x.z + coef0)^degree, exp(-gamma |x-z|^2), tanh(gamma x.z + coef0), or "
        "exp(-gamma chi2(x,z)^power).",
        show_default="rbf",
        rich_help_panel=KERNEL_PANEL,
    ),
]
Gamma = Annotated[
    float | None,
    typer.Option(
        "--gamma",
        metavar="X",
        help="The kernel's gamma.",
        show_default="0.1",
        rich_help_panel=KERNEL_PANEL,
    ),
]
Degree = Annotated[
    int | None,
    typer.Option(
        "--degree",
        metavar="N",
        min=1,
        help="The degree of poly.",
        show_default="3",
        rich_help_panel=KERNEL_PANEL,
    ),
]
Coef0 = Annotated[
    float | None,
    typer.Option(
        "--coef0",
        metavar="X",
        help="The constant in poly and sigmoid.",
        show_default="1",
        rich_help_panel=KERNEL_PANEL,
    ),
]
Power = Annotated[
    float | None,
    typer.Option(
        "--power",
        metavar="X",
        help="The power of chi2.",
        show_default="1",
        rich_help_panel=KERNEL_PANEL,
    ),
]
StabilizerSize = Annotated[
    float | None,
    typer.Option(
        "--stabilizer-size",
        metavar="X",
        help="The length of the two artificial examples of the stabilized hyperplane.",
        show_default="1",
        rich_help_panel=KERNEL_PANEL,
    ),
]
Scheme = Annotated[
    SchemeName | None,
    typer.Option(
        "--scheme",
        metavar="one-vs-rest|votes|dag",
        help="Several classes: each against the rest, or each against each other with a vote of all pairs "
        "or one pair after the other.",
        show_default="one-vs-rest",
        rich_help_panel=KERNEL_PANEL,
    ),
]
Cache = Annotated[
    float | None,
    typer.Option(
        "--cache",
        metavar="MB",
        min=1,
        help="Megabytes for rows of the kernel matrix.",
        show_default="200",
        rich_help_panel=KERNEL_PANEL,
    ),
]

# Which kernels take which of the options, so that one that would do nothing is told.
_OF_KERNELS = {
    "gamma": ("poly", "rbf", "sigmoid", "chi2"),
    "degree": ("poly",),
    "coef0": ("poly", "sigmoid"),
    "power": ("chi2",),
}


def parameters(
    learner: Name,
    *,
    loss: LossName | None,
    bias: str | None,
    class_weight: str | None,
    C: float | None,
    regularization: float | None,
    tol: float | None,
    kernel: KernelName | None,
    kernel_options: dict[str, Any],
    online_options: dict[str, Any],
) -> dict[str, Any]:
    """The learner's parameters as the options ask for them, checked before the work begins.

    None stands for an option that was not given; `kernel_options` are those that only a `KernelSVM` has,
    `online_options` those of the online learners.
    """
    if class_weight not in (None, "balanced"):
        raise UsageError(f"--class-weight {class_weight}: the only choice is balanced.")
    given = {option: value for option, value in kernel_options.items() if value is not None}
    named = {option: value for option, value in online_options.items() if value is not None}
    if learner.is_online or learner is Name.least_squares:
        shared = {"loss": loss, "class_weight": class_weight, "C": C, "tol": tol, "kernel": kernel}
        shared["regularization"] = regularization
        named |= given | {option: value for option, value in shared.items() if value is not None}
        if bias is not None:
            named["bias"] = _bias(bias)
        return online.parameters(learner.value, named) if learner.is_online else squares.parameters(named)
    if regularization is not None:
        raise UsageError(
            "--regularization is for least squares; others have --C. Add --learner least-squares."
        )
    if named:
        option = {"max_iter": "passes"}.get(next(iter(named)), next(iter(named)))
        raise UsageError(f"--{option} is for online learners. Add --learner balanced-winnow, for example.")
    if learner is Name.linear_svm:
        if kernel is not None or given:
            option = "kernel" if kernel is not None else next(iter(given))
            raise UsageError(f"--{option} is for kernels. Add --learner kernel-svm.")
        given = {"loss": (loss or LossName.hinge).value, "bias": _bias(bias or "1")}
    else:
        given |= _kernel_parameters(given, kernel or KernelName.rbf, _bias(bias or "unregularized"), loss)
    C, tol = 1.0 if C is None else C, 1e-3 if tol is None else tol
    return {**given, "C": C, "tol": tol, "class_weight": class_weight}


def _kernel_parameters(
    given: dict[str, Any], kernel: KernelName, bias: float | str | None, loss: LossName | None
) -> dict[str, Any]:
    if loss is LossName.squared_hinge:
        raise UsageError("--loss squared_hinge is for --learner linear-svm; a kernel-svm has the hinge loss.")
    for option, kernels in _OF_KERNELS.items():
        if option in given and kernel.value not in kernels:
            raise UsageError(f"--{option} means nothing to the kernel {kernel.value}. Leave it out.")
    if "stabilizer_size" in given and bias != "stabilized":
        raise UsageError("--stabilizer-size is for the stabilized hyperplane. Add --bias stabilized.")
    return {"kernel": kernel.value, "bias": bias}


def make_learner(learner: Name, parameters: dict[str, Any]) -> Any:
    """The learner itself; importing it takes a moment."""
    from widemargin.classifier.model_parts import learner_class

    made = learner_class(learner.value)()
    known = made.get_params()
    # Not every learner draws numbers or shows a bar.
    idle = [name for name in ("random_state", "verbose") if name not in known]
    return made.set_params(**{name: value for name, value in parameters.items() if name not in idle})


def _bias(text: str) -> float | str | None:
    word = text.lower()
    if word == "none":
        return None
    if word in ("unregularized", "stabilized"):
        return word
    try:
        return float(text)
    except ValueError:
        raise UsageError(
            f"--bias {text}: expected a size, such as 1, or unregularized, stabilized or none."
        ) from None
