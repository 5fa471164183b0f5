"""The size and shape of the sources: files that can be read in a sitting, folders that can be overlooked,
and no package that uses what is private to another."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path
    for folder in ("core", "src")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".hpp", ".cpp")
)
MOST_LINES = 400
# The verbs of the command line are many, and each paper's tables stand in one folder.
MOST_FILES = Counter({"src/widemargin/cli/verbs": 20, "src/widemargin/papers/joachims": 30})


def test_no_file_is_long():
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in SOURCES
    }
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


def test_no_folder_is_crowded():
    folders = Counter(path.parent.relative_to(ROOT).as_posix() for path in SOURCES)
    assert {name: count for name, count in folders.items() if count > (MOST_FILES[name] or 15)} == {}


def package_of(module: str) -> str:
    """The package below `widemargin` that a module belongs to; of `learn`, the folder in it.

    Examples
    --------
    >>> package_of("widemargin.learn.svm.linear_svm"), package_of("widemargin._arrays")
    ('learn.svm', '_arrays')
    """
    parts = module.split(".")[1:]
    return ".".join(parts[:2]) if parts[0] == "learn" and len(parts) > 2 else parts[0]


def is_private(name: str) -> bool:
    """Whether a name is private; `_replace` and `_asdict` are the public methods of named tuples."""
    return (
        name.startswith("_") and not name.startswith("__") and name not in ("_replace", "_asdict", "_fields")
    )


def private_imports(path: Path) -> list[str]:
    """What a file imports from another package, or names through a module of one, that begins with an
    underscore."""
    module = path.relative_to(ROOT / "src").with_suffix("").as_posix().replace("/", ".")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found, modules = [], {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("widemargin."):
            continue
        if package_of(f"{node.module}.x") == package_of(f"{module}.x"):
            continue
        for name in node.names:
            if name.name.startswith("_") and node.module != "widemargin":
                found.append(f"{node.module}.{name.name}")
            modules[name.asname or name.name] = node.module
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in modules
            and is_private(node.attr)
        ):
            found.append(f"{modules[node.value.id]}.{node.value.id}.{node.attr}")
    return found


@pytest.mark.parametrize(
    "path", [path for path in SOURCES if path.suffix == ".py" and "src" in path.parts], ids=lambda p: p.stem
)
def test_nothing_private_crosses_packages(path):
    assert private_imports(path) == []


def defined(tree: ast.Module) -> set[str]:
    """The names of functions, classes and attributes that a file defines."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def test_private_members_are_used_in_their_own_package():
    """`object._member` appears only in the top-level package that defines `_member`."""
    trees = {
        path.relative_to(ROOT / "src/widemargin"): ast.parse(path.read_text(encoding="utf-8"))
        for path in SOURCES
        if path.suffix == ".py" and "src" in path.parts
    }
    own: dict[str, set[str]] = {}
    for path, tree in trees.items():
        own.setdefault(path.parts[0], set()).update(defined(tree))
    found = [
        f"{path}:{node.lineno}: {ast.unparse(node)}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and is_private(node.attr)
        and node.attr not in own[path.parts[0]]
        and ast.unparse(node.value) not in ("self", "cls", "super()")
    ]
    assert found == [], "\n".join(found)
