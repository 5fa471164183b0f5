"""Every option of every verb, and every word that an option chooses from, is used by a test of its verb.

What is read here is the source of the tests, not their runs: a test counts for an option of a verb when it
names both, itself or through a fixture, a helper or a constant that it uses, and does not only expect a
failure. That the option has its effect is for that test to show; here it is only sure that there is one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from widemargin.cli.app import command_line

HERE = Path(__file__).parent
# Nobody chooses these: help and version have tests of their own.
OF_THE_PROGRAM = {"--help", "--version"}


def verbs() -> Iterator[tuple[tuple[str, ...], Any]]:
    """The words of every command, and the command."""

    def below(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
        if not hasattr(command, "commands"):
            yield path, command
        for name, inner in getattr(command, "commands", {}).items():
            yield from below(inner, (*path, name))

    yield from below(typer.main.get_command(command_line()), ())


def wanted() -> dict[tuple[tuple[str, ...], str, str], set[str]]:
    """For each verb, option and choice (or ""): the spellings of the option."""
    found = {}
    for path, command in verbs():
        for parameter in command.params:
            if parameter.param_type_name != "option" or OF_THE_PROGRAM & set(parameter.opts):
                continue
            found[path, parameter.opts[0], ""] = set(parameter.opts)
            for word in (parameter.metavar or "").split("|"):
                # Capitals stand for something else (SIZE), and a number for any number (10s).
                if word.islower() and word[0].isalpha():
                    found[path, parameter.opts[0], word] = set(parameter.opts)
    return found


class Source:
    """The words that the tests of a file use, each test with what it leans on."""

    def __init__(self, tree: ast.Module, shared: dict[str, ast.AST]) -> None:
        self.named: dict[str, ast.AST] = dict(shared)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                self.named[node.name] = node
        for node in tree.body:
            for target in getattr(node, "targets", [getattr(node, "target", None)]):
                if isinstance(target, ast.Name):
                    self.named[target.id] = node
        self.tests = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        ]

    def words(self, test: ast.FunctionDef) -> set[str]:
        """The strings in a test and in what it names, directly or not."""
        found: set[str] = set()
        seen: set[str] = set()
        waiting: list[ast.AST] = [test]
        while waiting:
            for node in ast.walk(waiting.pop()):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value)
                name = node.arg if isinstance(node, ast.arg) else getattr(node, "id", None)
                if name in self.named and name not in seen and self.named[name] is not test:
                    seen.add(name)
                    waiting.append(self.named[name])
        return found


def only_fails(test: ast.FunctionDef) -> bool:
    """Whether a test compares exit codes, and none of them with 0."""
    codes = [
        node
        for node in ast.walk(test)
        if isinstance(node, ast.Compare)
        and any(getattr(part, "attr", "") == "returncode" for part in ast.walk(node.left))
    ]
    return bool(codes) and not any(
        isinstance(part, ast.Constant) and part.value == 0 and not isinstance(part.value, bool)
        for code in codes
        for right in code.comparators
        for part in ast.walk(right)
    )


def used() -> list[set[str]]:
    """The words of every test of the command line."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(HERE.glob("*.py"))}
    common = Source(trees.pop(HERE / "conftest.py"), {}).named
    del trees[Path(__file__)]
    sources = [Source(tree, common) for tree in trees.values()]
    return [source.words(test) for source in sources for test in source.tests if not only_fails(test)]


def mentions(words: set[str], verb: tuple[str, ...], spellings: set[str], choice: str) -> bool:
    named = any(word == option or word.startswith(f"{option}=") for word in words for option in spellings)
    return named and set(verb) <= words and (not choice or choice in words)


def missing(tests: list[set[str]]) -> list[str]:
    return [
        " ".join((*verb, option, choice)).strip()
        for (verb, option, choice), spellings in wanted().items()
        if not any(mentions(words, verb, spellings, choice) for words in tests)
    ]


def test_every_option_is_used_by_a_test_of_its_verb():
    assert missing(used()) == [], "add a test that shows what the option does"


def test_what_no_test_uses_is_found():
    without = [words - {"--units", "isotonic"} for words in used()]
    assert missing(without) == [
        "train --units",
        "train --units words",
        "train --units chars",
        "train --units chars_in_words",
        "train --units bytes",
        "train --calibrate isotonic",
        "label --units",
        "label --units words",
        "label --units chars",
        "label --units chars_in_words",
        "label --units bytes",
    ]


@pytest.mark.parametrize(
    ("body", "fails"),
    [
        ("assert run('x').returncode == 2", True),
        ("assert run('x').returncode == 0", False),
        ("assert (done.returncode, done.stderr) == (0, '')", False),
        ("assert done.returncode in (2, 66)", True),
        ("assert 'y' in run('x').stdout", False),
    ],
)
def test_tests_that_only_expect_failures_do_not_count(body, fails):
    (test,) = ast.parse(f"def test(): {body}").body
    assert only_fails(test) == fails
