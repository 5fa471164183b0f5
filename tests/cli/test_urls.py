"""Documents by URL on the command line: every verb reads them, and no output shows a password."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.conftest import TICKETS, write_jsonl
from tests.file_server import serving

SECRET = "hunter2-secret"


@pytest.fixture(scope="module")
def site():
    with serving() as site:
        lines = [json.dumps(ticket).encode() + b"\n" for ticket in TICKETS]
        site.files |= {"data/a.jsonl": b"".join(lines[::2]), "data/b.jsonl": b"".join(lines[1::2])}
        site.files["all.jsonl"] = b"".join(lines)
        yield site


@pytest.fixture(scope="module")
def signed(site):
    return site.url("all.jsonl").replace("://", f"://me:{SECRET}@") + f"?X-Amz-Signature={SECRET}"


def test_training_on_a_pattern(site, here, tmp_path):
    copies = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    for copy in copies:
        copy.write_bytes(site.files[f"data/{copy.name}"])
    rows = []
    for sources in ([site.url("data/*.jsonl")], copies):
        done = here("train", *sources, "-o", tmp_path / "m.wm", "--tune", "none", "--estimate", "none")
        assert done.returncode == 0, done.stderr
        rows.append(here("predict", tmp_path / "m.wm", *copies, "--scores").stdout)
    assert rows[0] == rows[1]


@pytest.mark.parametrize(
    "words",
    [
        "predict MODEL URL --scores",
        "predict MODEL URL -o OUT.csv",
        "evaluate MODEL URL --json",
        "evaluate MODEL URL",
        "diagnose URL URL --json",
        "compare URL URL --learners naive-bayes,rocchio",
        "split URL --train OUT.train.jsonl --test-file OUT.test.jsonl --test 0.3",
        "label URL URL -o OUT.jsonl",
        "train URL -o OUT.wm --tune none",
        "train URL -o OUT.wm --stream --learner winnow",
        "train URL --unlabeled URL -o OUT.wm --tune none --json",
        "report MODEL URL -o OUT.html",
    ],
)
def test_every_verb_reads_a_url_and_shows_no_secret(words, here, model, signed, tmp_path):
    known = {"MODEL": str(model), "URL": signed}
    arguments = [known.get(word, word.replace("OUT", str(tmp_path / "out"))) for word in words.split()]
    done = here(*arguments)
    assert done.returncode == 0, done.stderr
    assert SECRET not in done.stdout + done.stderr
    for written in tmp_path.iterdir():
        assert SECRET.encode() not in written.read_bytes()


@pytest.mark.parametrize("words", ["predict MODEL", "evaluate MODEL", "train -o OUT.wm"])
def test_a_missing_object(words, here, model, site, tmp_path):
    arguments = [
        str(model) if word == "MODEL" else word.replace("OUT", str(tmp_path / "m")) for word in words.split()
    ]
    done = here(arguments[0], *arguments[1:], site.url("none.jsonl"))
    assert done.returncode == 66
    assert site.url("none.jsonl") in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_download_that_is_cut_leaves_no_model(here, site, tmp_path):
    site.files["cut.jsonl"] = site.files["all.jsonl"]
    site.faults["cut.jsonl"] = "cut"
    done = here("train", site.url("cut.jsonl"), "-o", tmp_path / "m.wm")
    assert done.returncode == 65
    assert "cut.jsonl: ends early" in done.stderr
    assert not list(tmp_path.iterdir())


def test_training_from_disk(here, site, tmp_path):
    words = ("--tune", "none", "--estimate", "none", "--scratch", tmp_path / "scratch", "--memory", "400MB")
    (tmp_path / "scratch").mkdir()
    done = here("train", site.url("data/*.jsonl"), "-o", tmp_path / "m.wm", *words)
    assert done.returncode == 0, done.stderr
    local = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    for path in local:
        path.write_bytes(site.files[f"data/{path.name}"])
    here("train", *local, "-o", tmp_path / "local.wm", *words)
    rows = [here("predict", tmp_path / name, *local, "--scores").stdout for name in ("m.wm", "local.wm")]
    assert rows[0] == rows[1]
    assert not list((tmp_path / "scratch").iterdir())


def test_a_download_that_is_cut_leaves_no_temporary_files(here, site, tmp_path):
    site.files["cut.jsonl"] = site.files["all.jsonl"]
    site.faults["cut.jsonl"] = "cut"
    (tmp_path / "scratch").mkdir()
    words = ("--tune", "none", "--scratch", tmp_path / "scratch", "--memory", "400MB")
    done = here("train", site.url("all.jsonl"), site.url("cut.jsonl"), "-o", tmp_path / "m.wm", *words)
    assert done.returncode == 65
    assert "cut.jsonl: ends early" in done.stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["scratch"]


@pytest.mark.parametrize(
    "words",
    [
        "train DATA -o s3://bucket/model.wm",
        "predict MODEL DATA -o s3://bucket/rows.csv",
        "split DATA --test 0.3 -o https://host/parts",
        "diagnose DATA --html https://host/a.html",
        "report MODEL -o s3://bucket/a.html",
    ],
)
def test_output_is_local(words, here, model, tmp_path):
    data = write_jsonl(tmp_path / "data.jsonl", TICKETS)
    arguments = [{"MODEL": model, "DATA": data}.get(word, word) for word in words.split()]
    done = here(*arguments)
    assert done.returncode == 2, done.stderr
    assert re.search(r"Output is always written to disk, not to (s3|https)://", done.stderr)


def test_output_that_is_also_input_under_another_name(here, tmp_path):
    data = write_jsonl(tmp_path / "data.jsonl", TICKETS)
    before = data.read_bytes()
    done = here("split", data.as_uri(), "--train", data, "--test-file", tmp_path / "t.jsonl", "--test", "0.3")
    assert done.returncode == 2
    assert "is an input of this command" in done.stderr
    assert data.read_bytes() == before
