"""The verbs put together, and what every run has in common: exit codes, warnings, signals, closed pipes."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Annotated, Any, NoReturn, TextIO

import typer

from widemargin import __version__
from widemargin.cli import failed_import
from widemargin.cli.commands import Command
from widemargin.cli.interrupts import INTERRUPTED, Interrupts
from widemargin.cli.output import complain, complain_as_is, say, say_help
from widemargin.errors import StorageError, WidemarginError

# In the order of the help.
VERBS = (
    "demo",
    "train",
    "predict",
    "evaluate",
    "identify",
    "inspect",
    "explain",
    "label",
    "compare",
    "diagnose",
    "report",
    "split",
    "serve",
)
GROUPS = ("corpus", "papers")  # with verbs of their own
TERMINATED = 143
INTERNAL = 1
# Some releases of typer bring click along under another name.
_ClickException: Any = typer.BadParameter.__mro__[2]


def command_line(verbs: Sequence[str] = (*VERBS, *GROUPS)) -> typer.Typer:
    """The program with its verbs, or with some of them: making all takes longer than one prediction."""
    app = typer.Typer(
        name="widemargin",
        help="Learn text classifiers from labeled documents in seconds, and estimate how good they are.",
        epilog="Start here: widemargin demo",
        add_completion=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_start)
    for name in verbs:
        verb = importlib.import_module(f"widemargin.cli.verbs.{name}")
        if name in GROUPS:
            app.add_typer(verb.app, name=name)
            continue
        app.command(
            name=name,
            # The lines of a paragraph are one line, which the terminal wraps at its own width.
            help="\n\n".join(" ".join(part.split()) for part in (verb.run.__doc__ or "").split("\n\n")),
            epilog=verb.EXAMPLE,
            cls=Command,
        )(verb.run)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        say(f"widemargin {__version__}")
        raise typer.Exit


def _start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        say_help(context.get_help())


def run(arguments: Sequence[str] | None, interrupts: Interrupts) -> int:
    """Run one verb and return its exit code: see `widemargin.cli.main`."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    # A stream that was closed before the start is no reason to fail.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        # A lone surrogate in a document, or a terminal that is not UTF-8, must not end a run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        with _one_line_warnings(), _terminable():
            code = _invoke(given)
            sys.stdout.flush()
            return code
    except KeyboardInterrupt:
        _report("interrupted", debug)
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return 0
    except WidemarginError as error:
        _report(f"error: {error}", debug)
        return error.exit_code
    except OSError as error:
        # What no verb expected, such as a full disk behind stdout.
        if error.errno in (errno.ENOSPC, errno.EIO, errno.EFBIG):
            _forget_stdout()
        _report(f"error: {error}", debug)
        return StorageError.exit_code
    except MemoryError as error:
        reason = f" ({error})" if str(error) else ""
        _report(
            f"error: there is not enough memory{reason}. Work on fewer documents, or raise the limit.", debug
        )
        return StorageError.exit_code
    except Exception as error:
        if interrupts.asked:
            # What a library made of the interruption.
            _report("interrupted", debug)
            return INTERRUPTED
        if isinstance(error, ImportError):
            _report(f"error: {failed_import(error)}", debug)
            return StorageError.exit_code
        if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
            _report(
                "error: the system allows no more threads. Pass --threads 1, or raise the limit (ulimit -u, "
                "ulimit -v).",
                debug,
            )
            return StorageError.exit_code
        _report(
            f"internal error: {type(error).__name__}: {error}. Run again with --debug and report it.", debug
        )
        return INTERNAL


def _invoke(arguments: list[str]) -> int:
    first = arguments[:1]
    known = first and first[0] in (*VERBS, *GROUPS)
    command = typer.main.get_command(command_line(first) if known else command_line())
    try:
        with command.make_context("widemargin", arguments) as context:
            command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    except _ClickException as error:
        where = getattr(error, "ctx", None)
        message = error.format_message()
        if message:  # a group without a verb has shown its help instead
            complain(f"error: {message}")
        if message and where is not None:
            complain(f"Try: {where.command_path} --help")
        return int(getattr(error, "exit_code", 2))
    return 0


def _report(message: str, debug: bool) -> None:
    """Say on stderr what went wrong: one line, or with --debug the traceback before it."""
    with contextlib.suppress(OSError, ValueError):
        if debug:
            import traceback

            complain_as_is(traceback.format_exc().rstrip("\n"))
        complain(message)


def _forget_stdout() -> None:
    """Send what is left in stdout to nowhere, so that the interpreter can flush it when it ends."""
    with contextlib.suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


@contextlib.contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Print each warning once, as one line on stderr."""
    shown: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        text = " ".join(str(message).split())
        if text not in shown:
            shown.add(text)
            complain(f"warning: {text}")

    with warnings.catch_warnings():
        # Warnings of a library to its developers do not help a user of the command line.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        warnings.filterwarnings("always", category=UserWarning)
        warnings.showwarning = show
        yield


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Leave by an exception when asked to terminate, so that temporary files are removed."""

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(TERMINATED)

    try:
        previous = signal.signal(signal.SIGTERM, leave)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
