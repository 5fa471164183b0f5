"""The file of --start-weights: what is wrong in it, and which options it cannot go with."""

from __future__ import annotations

import pytest


@pytest.fixture
def train(here, tickets, tmp_path):
    def train(content, *options):
        path = tmp_path / "weights.tsv"
        path.write_bytes(content)
        words = ("--learner", "winnow", "--start-weights", path, *options)
        return here("train", tickets, "-o", tmp_path / "m.wm", *words)

    return train


def test_a_known_and_an_unknown_term(train):
    done = train("invoice\t0.2\nOil\u00e9\t1\n".encode(), "--estimate", "none")
    assert done.returncode == 0, done.stderr
    assert "1 of 2 terms are not in the vocabulary and are ignored ('Oil\u00e9')" in done.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "weights.tsv: is empty"),
        (b"invoice 0.2\n", "line 1: found 'invoice 0.2'. Expected a term, a tab, and a number above 0"),
        (b"invoice\t0.2\nrefund\tmuch\n", "line 2"),
        (b"invoice\t-1\n", "line 1"),
        (b"invoice\tnan\n", "line 1"),
        (b"invoice\t1\ninvoice\t2\n", "line 2: 'invoice' is there twice"),
        (b"\xff\t1\n", "not UTF-8"),
    ],
)
def test_what_is_wrong_in_the_file(train, content, words):
    done = train(content)
    assert done.returncode == 65
    assert words in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--stream",), "a stream has none"),
        (("--hashed", "1000"), "must not be hashed"),
        (("--features", "ig:5"), "or selected"),
        (("--tune", "fast"), "--tune none"),
        (("--learner", "linear-svm"), "--start-weights does not apply to linear-svm"),
    ],
)
def test_what_it_cannot_go_with(train, options, words):
    done = train(b"invoice\t0.2\n", *options)
    assert done.returncode == 2
    assert words in done.stderr


def test_terms_that_no_document_has_and_a_file_that_is_not_there(train, here, tickets, tmp_path):
    done = train(b"zebra\t0.2\n")
    assert done.returncode == 2
    assert "none of its 1 terms, such as 'zebra'" in done.stderr
    words = ("--learner", "winnow", "--start-weights", tmp_path / "none.tsv")
    done = here("train", tickets, "-o", tmp_path / "m.wm", *words)
    assert done.returncode == 66
    assert "none.tsv: there is no such file" in done.stderr


def test_complements_need_binary_documents(here, tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("text,label\ncorn and corn,grain\nbank and rate,money\n")
    words = ("--learner", "balanced-winnow", "--updates", "all", "--text", "text", "--label", "label")
    done = here("train", path, "-o", tmp_path / "m.wm", *words)
    assert done.returncode == 65
    assert "--weighting bxx" in done.stderr


def test_a_hard_margin_that_does_not_exist_is_told(here, tmp_path):
    path = tmp_path / "same.svm"
    path.write_text("1 1:1\n-1 1:1\n1 2:1\n-1 3:1\n")
    words = ("--learner", "dual-svm", "--C", "inf", "--estimate", "none")
    done = here("train", path, "-o", tmp_path / "m.wm", *words)
    assert done.returncode == 0, done.stderr
    assert "are not separated. If no weights do that, pass a finite C" in done.stderr
    assert here("predict", tmp_path / "m.wm", path).returncode == 0
