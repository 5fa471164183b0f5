"""The learner that the options choose: its parameters, and the learner itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from widemargin.cli.options.learners import (
    BOOSTING,
    C45,
    KERNELS,
    LEARNING,
    NAIVE_BAYES,
    NEIGHBORS,
    ONLINE,
    PROFILES,
    ROCCHIO,
)
from widemargin.cli.options.online import ONLINE_LEARNING
from widemargin.cli.options.option import Option
from widemargin.cli.options.start_weights import read_start_weights
from widemargin.cli.options.streams import STREAMS
from widemargin.errors import UsageError

# Which kernels take which options.
_OF_KERNELS = {
    "gamma": ("poly", "rbf", "sigmoid", "chi2"),
    "degree": ("poly",),
    "coef0": ("poly", "sigmoid"),
    "power": ("chi2",),
}
# Besides online learners.
_SIZES_ONLY = ("label-weighted-svm", "multiclass-svm", "logistic-regression")
# Options with another name than their parameter.
PARAMETERS = {
    "start_weights": "start_weight",
    "passes": "max_iter",
    "neighbors": "n_neighbors",
    "rounds": "n_estimators",
}


def is_online(learner: str) -> bool:
    """Whether it can learn from one document after the other."""
    return learner in ONLINE.split()


def parameters(given: Any) -> dict[str, Any]:
    """The parameters of the learner that were given, checked before the work begins."""
    learner = given.learner
    of_one_learner = NAIVE_BAYES + ROCCHIO + C45 + BOOSTING + KERNELS + NEIGHBORS + PROFILES
    options = LEARNING + of_one_learner + ONLINE_LEARNING + STREAMS
    found = given_of(given, learner, [option for option in options if "train" in option.verbs.split()])
    for option in STREAMS:
        found.pop(option.name, None)
    found = {PARAMETERS.get(name, name): value for name, value in found.items()}
    if "bias" in found:
        found["bias"] = _bias(found["bias"], learner)
    if "balance" in found:
        found["balance"] = _number_or_auto("--balance", found["balance"], 0.15)
    if "start_weight" in found:
        found["start_weight"] = _start_weight(found["start_weight"], given)
    if "gather" in found:
        found["gather"] = _gather(found["gather"])
    if "negative_weight" in found:
        found["negative_weight"] = _number_or_auto("--negative-weight", found["negative_weight"], 0.25)
    if "confidence" in found:
        found["confidence"] = _confidence(found["confidence"])
    if "rivals" in found:
        found["rivals"] = _rivals(found["rivals"])
    if found.pop("rules", False):
        found["output"] = "rules"
    if learner in ("kernel-svm", "multiclass-svm"):
        _check_kernel(found, "rbf" if learner == "kernel-svm" else "linear")
    return found


def given_of(given: Any, learner: str, options: Iterable[Option]) -> dict[str, Any]:
    """What was given of options that are for some learners; one that is for another learner is refused."""
    found: dict[str, Any] = {}
    for option in options:
        value = getattr(given, option.name, option.default)
        if not option.learners or value is None or value is False or value == option.default:
            continue
        if learner not in option.learners.split():
            raise UsageError(f"{option.flags[0]} does not apply to {learner}. {_instead(option, learner)}")
        found[option.name] = value
    return found


def options_for(parameters: dict[str, Any]) -> list[str]:
    """The options that set these parameters of a learner.

    Examples
    --------
    >>> options_for({"C": 0.5, "event_model": "complement", "max_iter": 20, "normalize": True})
    ['--C', '0.5', '--event-model', 'complement', '--passes', '20', '--normalize']
    """
    names = {parameter: option for option, parameter in PARAMETERS.items()}
    words = []
    for name, value in parameters.items():
        option = f"--{names.get(name, name).replace('_', '-')}"
        words += (
            [option] if value is True else [option, f"{value:g}" if isinstance(value, float) else str(value)]
        )
    return words


def _instead(option: Option, learner: str) -> str:
    if option.name == "C" and learner == "least-squares":
        return "Use --regularization."
    if option.learners == ONLINE:
        return "It is for online learners, such as --learner arow."
    *some, last = option.learners.split()
    return f"It is for --learner {', '.join(some) + ' or ' if some else ''}{last}."


def _check_kernel(found: dict[str, Any], usual: str) -> None:
    loss = found.pop("loss", "hinge")
    if loss != "hinge":
        raise UsageError(f"--loss {loss} does not apply to kernel-svm, which has the hinge loss.")
    kernel = found.get("kernel", usual)
    for option, kernels in _OF_KERNELS.items():
        if option in found and kernel not in kernels:
            raise UsageError(f"--{option} does not apply to the kernel {kernel}.")
    if "stabilizer_size" in found and found.get("bias") != "stabilized":
        raise UsageError("--stabilizer-size is for the stabilized hyperplane. Add --bias stabilized.")


def make_learner(learner: str, parameters: dict[str, Any]) -> Any:
    """The learner itself; importing it takes a moment."""
    from widemargin.classifier.model_parts import learner_class

    made = learner_class(learner)()
    known = made.get_params()
    # Not every learner draws numbers or shows a bar.
    idle = [name for name in ("random_state", "verbose") if name not in known]
    return made.set_params(**{name: value for name, value in parameters.items() if name not in idle})


def _start_weight(file: str, given: Any) -> dict[str, float]:
    if given.stream:
        raise UsageError("--start-weights needs a vocabulary, and a stream has none. Omit one of them.")
    return read_start_weights(file)


def _number_or_auto(option: str, text: str, example: float) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{option} {text}: expected auto, or a number such as {example:g}.") from None


def _gather(text: str) -> int | str:
    if text == "class":
        return text
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise UsageError(f"--gather {text}: expected class, or a number of documents such as 5.")
    return int(text)


def _confidence(text: str) -> float | None:
    if text.lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--confidence {text}: expected a number such as 0.25, or none.") from None


def _rivals(text: str) -> float | None:
    if text.lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--rivals {text}: expected a number such as 0.5, or none.") from None


def _bias(text: str, learner: str) -> float | str | None:
    word = text.lower()
    if word == "none":
        return None
    if word in ("unregularized", "stabilized"):
        only_sizes = is_online(learner) or learner in _SIZES_ONLY
        if only_sizes or (word == "stabilized" and learner == "least-squares"):
            other = "" if only_sizes else ", unregularized"
            raise UsageError(f"--bias {word}: {learner} takes a size, such as 1{other}, or none.")
        return word
    try:
        return float(text)
    except ValueError:
        raise UsageError(
            f"--bias {text}: expected a size, such as 1, or unregularized, stabilized or none."
        ) from None
