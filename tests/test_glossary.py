"""Help texts and error messages use the words of docs/glossary.md."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import click
import pytest
import typer

from widemargin.cli.app import command_line

ROOT = Path(__file__).parent.parent
MESSAGES = {
    "UsageError",
    "DataError",
    "MissingFileError",
    "StorageError",
    "OutOfMemoryError",
    "DataWarning",
    "warn",
}


def banned_words() -> list[str]:
    """The last column of the table, split at commas."""
    rows = [line.strip("| \n").split("|") for line in (ROOT / "docs/glossary.md").read_text().splitlines()]
    cells = [row[2] for row in rows if len(row) == 3][2:]
    return [word.strip() for cell in cells for word in cell.split(",") if word.strip() not in ("", "-")]


PATTERN = re.compile(r"\b(" + "|".join(map(re.escape, banned_words())) + r")\b", re.IGNORECASE)


def commands(command: click.Command, name: str = "widemargin") -> list[tuple[str, click.Command]]:
    found = [(name, command)]
    for child, subcommand in getattr(command, "commands", {}).items():
        found += commands(subcommand, f"{name} {child}")
    return found


def test_the_glossary_is_a_table():
    assert len(banned_words()) > 15
    terms = re.findall(r"^\| ([a-z][^|]*) \|", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)[1:]
    assert len(terms) == len(set(terms))


@pytest.mark.parametrize(("name", "command"), commands(typer.main.get_command(command_line())))
def test_help_uses_the_words_of_the_glossary(name, command):
    texts = {name: command.help or ""}
    texts |= {
        f"{name} {parameter.name}": getattr(parameter, "help", None) or "" for parameter in command.params
    }
    for where, text in texts.items():
        found = PATTERN.search(" ".join(text.split()))
        assert found is None, f"{where}: {found.group()!r} in {text!r}"


@pytest.mark.parametrize("path", sorted((ROOT / "src").rglob("*.py")), ids=lambda path: path.stem)
def test_messages_use_the_words_of_the_glossary(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or _name(node.func) not in MESSAGES:
            continue
        for argument in node.args:
            text = " ".join(_text(argument).split())
            found = PATTERN.search(text)
            assert found is None, f"{path.name}, line {node.lineno}: {found.group()!r} in {text!r}"


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", None) or getattr(function, "id", "")


def _text(node: ast.expr) -> str:
    """The constant parts of a string, however it is composed."""
    parts = [
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    return "".join(parts) if isinstance(node, ast.JoinedStr | ast.Constant) else " ".join(parts)
