"""Nothing that a verb reads, and nothing that it did not write, is overwritten."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from tests.cli.conftest import COMMAND, TICKETS, environment, write_jsonl
from widemargin.cli.app import command_line

VECTORS = "1 1:1 2:0.5\n-1 2:1 3:1\n1 1:0.5\n-1 3:0.25\n"


@pytest.fixture
def files(tmp_path, model) -> Path:
    """A folder with one file of everything that verbs read."""
    write_jsonl(tmp_path / "data.jsonl", TICKETS)
    write_jsonl(tmp_path / "more.jsonl", [{"id": "m", "text": "printer jam"}])
    shutil.copy(model, tmp_path / "m.wm")
    (tmp_path / "stop.txt").write_text("the\nand\n")
    (tmp_path / "costs.csv").write_text("truth,decision,cost\nbilling,network,1\nnetwork,billing,1\n")
    (tmp_path / "data.svm").write_text(VECTORS)
    for label in ("billing", "network"):
        (tmp_path / "folder" / label).mkdir(parents=True)
        for i in range(3):
            (tmp_path / "folder" / label / f"{i}.jsonl").write_text(f"{label} {i}")
    return tmp_path


def under_another_name(folder: Path, name: str, how: str) -> Path:
    """The file `name` of `folder` as itself, or through a link."""
    path = folder / name
    if how == "relative":
        return Path("..", folder.name, name)
    other = folder / f"other{path.suffix}"
    if how == "symlink":
        other.symlink_to(path)
    elif how == "hard link":
        os.link(path, other)
    return path if how == "itself" else other


# What a verb writes, and what it reads: the command with OUT for what it is told to write, then its inputs.
WRITERS: dict[str, list[tuple[list[str], list[str]]]] = {
    "train": [
        (["data.jsonl", "--stop-words", "stop.txt", "--force", "-o", "OUT"], ["data.jsonl", "stop.txt"]),
        (["data.jsonl", "--costs", "costs.csv", "--force", "-o", "OUT"], ["costs.csv"]),
        (["data.svm", "--force", "-o", "OUT"], ["data.svm"]),
        (
            ["data.jsonl", "--learner", "winnow", "--start-weights", "stop.txt", "--force", "-o", "OUT"],
            ["stop.txt"],
        ),
        (["folder", "--force", "-o", "OUT"], ["folder/billing/1.jsonl"]),
        (["data.jsonl", "--stream", "--learner", "perceptron", "--force", "-o", "OUT"], ["data.jsonl"]),
    ],
    "predict": [
        (["m.wm", "data.jsonl", "-o", "OUT"], ["data.jsonl"]),
        (["m.jsonl", "data.jsonl", "-o", "OUT"], ["m.jsonl"]),
        (["m.wm", "data.jsonl", "--costs", "costs.csv", "-o", "OUT"], ["costs.csv"]),
        (["m.wm", "folder", "-o", "OUT"], ["folder/network/0.jsonl"]),
        (["m.wm", "data.jsonl", "--monitor", "OUT"], ["data.jsonl", "m.wm"]),
    ],
    "label": [
        (["data.jsonl", "more.jsonl", "-o", "OUT"], ["data.jsonl", "more.jsonl"]),
        (["data.jsonl", "more.jsonl", "--stop-words", "stop.jsonl", "-o", "OUT"], ["stop.jsonl"]),
        (["data.jsonl", "more.jsonl", "--query", "jam", "-o", "OUT"], ["data.jsonl", "more.jsonl"]),
        (["data.png", "--format", "jsonl", "--simulate", "6", "--plot", "OUT"], ["data.png"]),
    ],
    "compare": [
        (
            ["data.png", "--format", "jsonl", "--learners", "naive-bayes", "--plot", "OUT"],
            ["data.png"],
        ),
        (
            ["data.jsonl", "data.png", "--format", "jsonl", "--learners", "naive-bayes", "--plot", "OUT"],
            ["data.png"],
        ),
        (["data.jsonl", "--stop-words", "stop.png", "--plot", "OUT"], ["stop.png"]),
    ],
    "identify": [(["c.wm", "data.jsonl", "-o", "OUT"], ["data.jsonl"])],
    "diagnose": [
        (["data.png", "more.jsonl", "--format", "jsonl", "--plot", "OUT"], ["data.png"]),
        (["data.jsonl", "more.png", "--format", "jsonl", "--plot", "OUT"], ["more.png"]),
    ],
    "inspect": [(["v.wm", "--export-svmlight", "OUT"], ["v.wm"])],
    "report": [
        (["m.wm", "data.html", "--format", "jsonl", "-o", "OUT"], ["data.html"]),
        (["m.wm", "data.jsonl", "--train", "more.html", "--format", "jsonl", "-o", "OUT"], ["more.html"]),
    ],
    "split": [
        (["more.jsonl", "data.jsonl", "--force", "--train", "OUT", "--test-file", "t.jsonl"], ["data.jsonl"])
    ],
}
# What these write is checked by tests of their own, or is never read.
ELSEWHERE = {"demo", "corpus export", "papers run"}


def test_every_writing_verb_is_here():
    """A verb with an option for a file to write declares its inputs here."""
    writers = set()
    command = typer.main.get_command(command_line())
    for name, verb in command.commands.items():
        parts = {f"{name} {part}": sub for part, sub in getattr(verb, "commands", {}).items()} or {name: verb}
        for whole, sub in parts.items():
            options = {option for parameter in sub.params for option in parameter.opts}
            if options & {"--output", "-o", "--plot", "--export-svmlight"}:
                writers.add(whole)
    assert writers == set(WRITERS) | ELSEWHERE


CASES = [
    pytest.param(verb, arguments, source, how, id=f"{verb}-{'-'.join(arguments[:2])}-{source}-{how}")
    for verb, commands in WRITERS.items()
    for arguments, sources in commands
    for source in sources
    for how in ("itself", "relative", "symlink", "hard link")
]


@pytest.mark.parametrize(("verb", "arguments", "source", "how"), CASES)
def test_output_over_input_is_refused(here, files, verb, arguments, source, how):
    shutil.copy(files / "m.wm", files / "m.jsonl")
    shutil.copy(files / "stop.txt", files / "stop.jsonl")
    shutil.copy(files / "stop.txt", files / "stop.png")
    for ending in ("png", "html"):
        shutil.copy(files / "data.jsonl", files / f"data.{ending}")
        shutil.copy(files / "more.jsonl", files / f"more.{ending}")
    if "v.wm" in arguments:
        assert here("train", "data.svm", "-o", "v.wm", "-q", cwd=files).returncode == 0
    if "c.wm" in arguments:
        command = ["data.jsonl", "-o", "c.wm", "-q", "--tune", "none", "--calibrate", "platt"]
        assert here("train", *command, cwd=files).returncode == 0
    before = (files / source).read_bytes()
    output = under_another_name(files, source, how)
    done = here(verb, *(str(output) if part == "OUT" else part for part in arguments), cwd=files)
    assert done.returncode == 2, done.stderr
    assert "input of this command" in done.stderr
    assert "Write to another file" in done.stderr
    assert (files / source).read_bytes() == before


def test_standard_input_that_is_the_output(files):
    """The shell has opened the file already, and a rename would leave only the new one."""
    import subprocess

    before = (files / "data.jsonl").read_bytes()
    for arguments in (["predict", "m.wm", "-"], ["label", "-"], ["train", "--force", "-"]):
        with (files / "data.jsonl").open("rb") as source:
            done = subprocess.run(
                [*COMMAND, *arguments, "-o", "data.jsonl"],
                stdin=source,
                capture_output=True,
                cwd=files,
                env=environment(),
                check=False,
            )
        assert done.returncode == 2
        assert b"standard input" in done.stderr
        assert (files / "data.jsonl").read_bytes() == before


def test_beside_an_input_is_no_problem(here, files):
    """A new file in a folder that is read, and a file that is none of the inputs."""
    assert (
        here(
            "predict", "m.wm", "folder", "--format", "folder", "-o", "folder/new.jsonl", cwd=files
        ).returncode
        == 0
    )
    assert here("predict", "m.wm", "data.jsonl", "-o", "more.jsonl", cwd=files).returncode == 0
    assert len((files / "more.jsonl").read_text().splitlines()) == len(TICKETS)


class TestModelsReplaceModelsOnly:
    @pytest.mark.parametrize("more", [[], ["--stream", "--learner", "perceptron"]])
    def test_train(self, here, files, more):
        command = ["train", "data.jsonl", "-q", *(more or ["--tune", "none"])]
        precious = files / "more.jsonl"
        before = precious.read_bytes()
        done = here(*command, "-o", precious, cwd=files)
        assert done.returncode == 2
        assert "not a model" in done.stderr
        assert "--force" in done.stderr
        assert precious.read_bytes() == before
        assert here(*command, "-o", precious, "--force", cwd=files).returncode == 0
        assert precious.read_bytes().startswith(b"PK")
        assert here(*command, "-o", precious, cwd=files).returncode == 0  # it is a model now

    def test_an_empty_file_holds_nothing_to_lose(self, here, files):
        (files / "new.wm").touch()
        done = here("train", "data.jsonl", "-q", "--tune", "none", "-o", "new.wm", cwd=files)
        assert done.returncode == 0

    def test_before_the_data_are_read(self, here, files):
        done = here("train", "nowhere.jsonl", "-o", "more.jsonl", cwd=files)
        assert done.returncode == 2

    def test_export(self, here, files):
        assert here("train", "data.svm", "-o", "v.wm", "-q", cwd=files).returncode == 0
        command = ["inspect", "v.wm", "--export-svmlight"]
        done = here(*command, "stop.txt", cwd=files)
        assert done.returncode == 2
        assert (files / "stop.txt").read_text() == "the\nand\n"
        for _ in range(2):  # the second replaces a model
            assert here(*command, "v.model", cwd=files).returncode == 0
        assert here(*command, "stop.txt", "--force", cwd=files).returncode == 0

    def test_demo(self, here, tmp_path):
        (tmp_path / "train.jsonl").write_text("mine")
        done = here("demo", "-o", tmp_path)
        assert done.returncode == 2
        assert "train.jsonl" in done.stderr
        (tmp_path / "model.wm").write_text("mine too")
        assert here("demo", "-o", tmp_path).returncode == 2
        assert (tmp_path / "train.jsonl").read_text() == "mine"


class TestCollections:
    @pytest.fixture
    def home(self, tmp_path, monkeypatch) -> Callable[[str, str], Path]:
        """A collection whose only file has the name that exporting or drawing writes."""
        from widemargin.documents.corpora import registry

        monkeypatch.setenv("WIDEMARGIN_DATA", str(tmp_path))
        source = registry.SOURCES["a1a"]

        def make(name: str, file: str) -> Path:
            from dataclasses import replace

            monkeypatch.setitem(registry.SOURCES, name, replace(source, name=name, files=(file,)))
            (tmp_path / file).write_text(VECTORS)
            return tmp_path / file

        return make

    def test_export(self, here, home):
        file = home("a1a", "train.svm")
        done = here("corpus", "export", "a1a", "-o", file.parent)
        assert done.returncode == 2
        assert file.read_text() == VECTORS

    def test_plot(self, here, home):
        pytest.importorskip("matplotlib")
        file = home("reuters21578", "reuters.png")
        done = here("papers", "run", "joachims-figure-4.2", "--plot", file)
        assert done.returncode == 2
        assert file.read_text() == VECTORS

    def test_fetch(self, tmp_path, monkeypatch):
        """The archive under the name of what it is to become."""
        from widemargin.documents.corpora import fetching, registry
        from widemargin.errors import UsageError

        name = registry.find_source("sms-spam").files[0]
        archive = tmp_path / name
        archive.parent.mkdir(parents=True, exist_ok=True)
        archive.write_bytes(b"an archive")
        monkeypatch.setattr(fetching, "find_files", lambda source, home: None)
        with pytest.raises(UsageError, match="input of this command"):
            fetching.fetch_corpus("sms-spam", tmp_path, archive)
        assert archive.read_bytes() == b"an archive"


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_python_may_replace_what_it_reads(tmp_path):
    """In Python the new file is complete before the old one goes: rewriting in place is well defined."""
    from widemargin.documents.reading import read_documents
    from widemargin.documents.writing import write_jsonl as write

    path = write_jsonl(tmp_path / "data.jsonl", TICKETS)
    assert write(read_documents(path), path) == len(TICKETS)
    assert len(path.read_text().splitlines()) == len(TICKETS)
