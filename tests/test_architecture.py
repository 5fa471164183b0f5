"""docs/architecture.md names files and functions that exist, and every package and folder of the core."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src/widemargin"
TEXT = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`([\w/]+\.(?:py|hpp|cpp)(?::[\w.]+)?)`", TEXT)))


def names_of(path: Path) -> set[str]:
    """Functions and classes of a file, methods as Class.method; any word of a C++ header."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return set(re.findall(r"\w+", source))
    found = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}.{child.name}" for child in node.body if isinstance(child, ast.FunctionDef)
            }
    return found


@pytest.mark.parametrize(
    "named", [name for name in NAMED if "/" in name or (PACKAGE / name.split(":")[0]).exists()]
)
def test_files_and_functions_exist(named):
    file, _, name = named.partition(":")
    path = (ROOT if file.startswith(("core/", "tests/")) else PACKAGE) / file
    assert path.is_file(), f"docs/architecture.md names {file}, which does not exist"
    assert not name or name in names_of(path), f"docs/architecture.md names {name}, which is not in {file}"


def test_packages_and_folders_are_named():
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    folders = {f"core/{path.name}" for path in (ROOT / "core").iterdir() if path.is_dir()}
    missing = {name for name in packages | folders if f"`{name}/`" not in TEXT}
    assert not missing, f"docs/architecture.md does not name {sorted(missing)}"


def test_the_walk_is_long_enough():
    assert len(NAMED) > 30
