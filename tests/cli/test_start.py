"""What a run imports: as little as its verb needs. Modules are counted, not seconds."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from widemargin.cli.app import GROUPS, VERBS


def modules_after(code: str, **how) -> set[str]:
    """The modules of a new interpreter after `code`; what it prints goes to stderr."""
    program = f"""
import contextlib, json, sys
with contextlib.redirect_stdout(sys.stderr):
    {code}
print(json.dumps(sorted(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, **how)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("verb", ["predict", "explain", "corpus"])
def test_a_verb_is_made_alone(verb):
    found = modules_after(f"from widemargin.cli import main; main([{verb!r}, '--help'])")
    made = {name.rpartition(".")[2] for name in found if name.startswith("widemargin.cli.verbs.")}
    assert verb in made
    # A verb may use parts of another one, but none needs all of them.
    assert len(made & {*VERBS, *GROUPS}) <= len(VERBS) // 2


def test_help_lists_every_verb(here):
    shown = here("--help")
    for verb in (*VERBS, *GROUPS):
        assert verb in shown.stdout


def test_importing_the_classifier_adds_a_fifth_to_scikit_learn_at_most():
    base = modules_after("import sklearn.base")
    ours = modules_after("from widemargin import TextClassifier; TextClassifier")
    assert len(ours - base) <= len(base) / 5
    # What tunes, estimates, reports and prints comes when it is used.
    heavy = ("widemargin.tune.staged", "widemargin.estimate.assessment", "widemargin.cli", "rich", "typer")
    assert not {name for name in ours if name.startswith(heavy)} - base
