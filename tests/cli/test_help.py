"""Help shows what most people need; everything, or what a learner takes, is one word away."""

from __future__ import annotations

import re

import pytest

from widemargin.cli.options import TABLE, options_of

VERBS = {verb for panel in TABLE.values() for option in panel for verb in option.verbs.split()}


@pytest.fixture
def listed(here, monkeypatch):
    """The options that a command's help lists."""
    monkeypatch.setenv("COLUMNS", "200")

    def listed(*arguments):
        done = here(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        return set(re.findall(r"^│[ *]+(--[\w-]+)", done.stdout, re.MULTILINE))

    return listed


def flags(verb):
    return {option.flags[0] for option in options_of(verb).values() if option.flags}


def test_train_shows_what_most_people_need(listed):
    found = listed("train", "--help")
    assert {
        "--output",
        "--text",
        "--label",
        "--learner",
        "--C",
        "--tune",
        "--estimate",
        "--help-all",
    } <= found
    assert not found & {"--kernel", "--gamma", "--promotion", "--regularization", "--max-document", "--debug"}
    assert 18 <= len(found) <= 24


@pytest.mark.parametrize("verb", ["train", "label"])
def test_all_options(listed, verb):
    found = listed(verb, "--help-all")
    assert found == flags(verb) | {"--help"}
    assert listed(verb, "--help") < found


@pytest.mark.parametrize("verb", ["predict", "evaluate", "inspect", "explain", "demo"])
def test_verbs_with_few_options_show_all(listed, verb):
    assert listed(verb, "--help") == flags(verb) | {"--help"}


@pytest.mark.parametrize(
    ("words", "there", "not_there"),
    [
        (("--learner", "winnow"), {"--eta", "--normalize", "--passes", "--stream"}, {"--C", "--promotion"}),
        (("--learner=kernel-svm",), {"--kernel", "--gamma", "--C", "--bias"}, {"--eta", "--stream"}),
        (("--learner", "least-squares"), {"--regularization", "--tol"}, {"--C", "--loss"}),
        (
            ("--learner", "multiclass-svm"),
            {"--formulation", "--kernel", "--power", "--C"},
            {"--scheme", "--stabilizer-size", "--loss"},
        ),
        (
            ("--learner", "chi-square-network"),
            {"--gamma", "--power", "--regularization"},
            {"--C", "--degree"},
        ),
        (("--learner", "unheard-of"), {"--learner", "--tune"}, {"--kernel", "--eta"}),
    ],
)
def test_the_options_of_a_learner(listed, words, there, not_there):
    for arguments in ((*words, "--help"), ("--help", *words)):
        found = listed("train", *arguments)
        assert there <= found
        assert not found & not_there
        assert {"--output", "--text", "--json"} <= found


def test_a_value_that_looks_like_a_request_for_help(here, tmp_path):
    done = here("predict", "m.wm", "--", "--help-all")
    assert done.returncode == 66


def test_the_table_names_verbs_and_learners_that_exist(here):
    for verb in VERBS:
        assert here(*verb.split("-"), "--help").returncode == 0
    for panel in TABLE.values():
        for option in panel:
            verbs = option.verbs.split() if option.learners else []
            known = {name for verb in verbs for name in options_of(verb)["learner"].choices}
            assert set(option.learners.split()) <= known
            assert option.help.endswith(".")


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_no_name_stands_for_two_options(verb):
    options = [option for panel in TABLE.values() for option in panel if verb in option.verbs.split()]
    assert len(options) == len({option.name for option in options})
