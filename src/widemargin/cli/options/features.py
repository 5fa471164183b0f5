"""``train --features``: which features the learner sees."""

from __future__ import annotations

from typing import Any

from widemargin.errors import UsageError

SCORES = ("ig", "gini", "chi2", "odds", "bns", "df")
SAMPLES = ("subspace", "ridge", "weighted", "uniform")
# The names of what is made of terms in model files, and the parameter that says how many.
MADE = {"lsi": "n_components", "clusters": "n_clusters", "label-clusters": "n_clusters"}
COMBINATIONS = ("max", "average", "sum", "round-robin", "joint")


def parse(text: str, seed: int = 0) -> tuple[str, dict[str, Any]]:
    """What the option asks for: the name of a kind of features in model files, and its parameters.

    Examples
    --------
    >>> parse("ig:5000")
    ('selected', {'criterion': 'ig', 'n_features': 5000})
    >>> parse("subspace:2000:rank=100", seed=7)
    ('sampled', {'sampling': 'subspace', 'random_state': 7, 'n_features': 2000, 'rank': 100})
    >>> parse("lsi:200")
    ('lsi', {'n_components': 200, 'random_state': 0})
    """
    name, *parts = text.split(":")
    settings = dict(part.partition("=")[::2] if "=" in part else ("", part) for part in parts)
    if len(settings) != len(parts):
        raise UsageError(f"--features {text}: a setting is given twice. {_EXPECTED}")
    if name in SCORES:
        return "selected", {"criterion": name} | _selected(text, settings)
    if name in SAMPLES:
        return "sampled", {"sampling": name, "random_state": seed} | _sampled(text, name, settings)
    if name in MADE:
        seeded = {} if name == "label-clusters" else {"random_state": seed}
        return name, {MADE[name]: _made(text, settings)} | seeded
    raise UsageError(f"--features {text}: unknown score {name!r}. {_EXPECTED}")


_EXPECTED = f"Expected {', '.join((*SCORES, *SAMPLES, *MADE))} and a number, such as ig:5000."


def _selected(text: str, settings: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in settings.items():
        if key == "" and value.endswith("%"):
            found["percentile"] = _number(text, value[:-1], float)
        elif key == "":
            found["n_features"] = _number(text, value, int)
        elif key == "min":
            found["threshold"] = _number(text, value, float)
        elif key == "combine" and value in COMBINATIONS:
            found["combine"] = value
        else:
            raise UsageError(f"--features {text}: {key}={value} does not apply here. {_EXPECTED}")
    if len(found.keys() - {"combine"}) != 1:
        raise UsageError(f"--features {text}: give the number of terms once. {_EXPECTED}")
    return found


def _sampled(text: str, name: str, settings: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in settings.items():
        if key == "":
            found["n_features"] = _number(text, value, int)
        elif key == "lambda" and name == "ridge":
            found["regularization"] = _number(text, value, float)
        elif key == "rank" and name == "subspace":
            found["rank"] = _number(text, value, float if "." in value else int)
        else:
            raise UsageError(f"--features {text}: {key}={value} does not apply here. {_EXPECTED}")
    if "n_features" not in found:
        raise UsageError(f"--features {text}: give the approximate number of terms. {_EXPECTED}")
    return found


def _made(text: str, settings: dict[str, str]) -> int:
    if settings.keys() != {""}:
        raise UsageError(f"--features {text}: give only the number of new features. {_EXPECTED}")
    return int(_number(text, settings[""], int))


def _number(text: str, value: str, kind: type[int] | type[float]) -> int | float:
    try:
        number = kind(value)
    except ValueError:
        number = -1
    if number <= 0:
        raise UsageError(f"--features {text}: {value!r} is not a positive number. {_EXPECTED}")
    return number


def make(name: str, parameters: dict[str, Any], unit_length: bool, n_jobs: int | None = None) -> Any:
    """The selection itself; importing it takes a moment.

    Documents whose weighting gives them length 1 keep it; samples have a scale of their own.
    """
    from widemargin.classifier.model_parts import features_class

    more: dict[str, Any] = {} if name == "sampled" else {"unit_length": unit_length}
    more |= {"n_jobs": n_jobs} if name in MADE else {}
    return features_class(name)(**parameters, **more)
