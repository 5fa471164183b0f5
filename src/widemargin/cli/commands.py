"""Verbs made from the table of options: their parameters, their values, and how much of them help shows."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import Enum, StrEnum
from types import SimpleNamespace
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from widemargin.cli.options import REQUIRED, Option, options_of, panel_of

# A verb with no more options than these shows all of them.
FEW = 29


class Given(SimpleNamespace):
    """The values of the options of a verb, by their names.

    Attributes
    ----------
    typed : names of the options that were typed, and not left at their defaults
    """

    typed: frozenset[str] = frozenset()


def takes(verb: str) -> Callable[[Callable[[Given], None]], Callable[..., None]]:
    """Make a function of the given values a command with the options that the table has for `verb`."""
    options = options_of(verb)

    def decorate(function: Callable[[Given], None]) -> Callable[..., None]:
        def run(context: typer.Context, **values: Any) -> None:
            plain = {
                name: value.value if isinstance(value, Enum) else value for name, value in values.items()
            }
            function(Given(**plain, typed=_typed(context)))

        run.__doc__, run.__name__, run.__module__ = function.__doc__, function.__name__, function.__module__
        # typer reads the signature of the function that it calls.
        context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        parameters = [context, *(_parameter(option) for option in options.values())]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return run

    return decorate


def _typed(context: typer.Context) -> frozenset[str]:
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return frozenset(name for name, source in sources.items() if source and source.name == "COMMANDLINE")


def _parameter(option: Option) -> inspect.Parameter:
    default = False if option.kind is bool else option.default
    kind: Any = (
        StrEnum(option.name, [(word, word) for word in option.choices]) if option.choices else option.kind
    )
    how: dict[str, Any] = {
        "metavar": option.metavar,
        "help": option.help,
        "show_default": option.shown or not any(default is nothing for nothing in (None, False, REQUIRED)),
    }
    if option.least is not None:
        how["min"] = option.least
    described: Any = (
        typer.Option(*option.flags, rich_help_panel=panel_of(option) or None, **how)
        if option.flags
        else typer.Argument(**how)
    )
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        annotation=Annotated[kind if default is not None else kind | None, described],
        default=inspect.Parameter.empty if default is REQUIRED else default,
    )


class Command(TyperCommand):
    """A verb whose help lists what most people need, and all options or those of a learner on request."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        words, rest = args[:end], args[end:]
        options = options_of(ctx.command_path.partition(" ")[2].replace(" ", "-"))
        everything = "--help-all" in words or len(options) <= FEW
        learner = _value(words, "--learner")
        for parameter in self.params:
            option = options.get(parameter.name or "")
            if option is not None and option.flags:
                parameter.hidden = not (everything or _is_shown(option, learner))  # type: ignore[attr-defined]
        return super().parse_args(ctx, ["--help" if word == "--help-all" else word for word in words] + rest)


def _is_shown(option: Option, learner: str | None) -> bool:
    """Whether help lists an option: if it is common and does not belong to other learners, or to this one."""
    if learner is None or not option.learners:
        return option.common
    return learner in option.learners.split()


def _value(words: list[str], name: str) -> str | None:
    """What the last `name` is set to."""
    found = None
    for place, word in enumerate(words, 1):
        if word == name:
            found = "".join(words[place : place + 1])
        elif word.startswith(f"{name}="):
            found = word.partition("=")[2]
    return found
