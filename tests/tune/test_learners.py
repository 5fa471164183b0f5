"""The table of learners: one entry each, with parameters that exist and weights that suit the learner."""

from __future__ import annotations

import pytest

from widemargin import Vectorizer
from widemargin.classifier.model_parts import learner_class
from widemargin.cli.options.learners import LEARNERS
from widemargin.tune.learners import ENTRIES, text_options


def test_every_learner_of_the_command_line_has_an_entry():
    assert set(LEARNERS.split()) <= set(ENTRIES), "add an entry to tune/learners.py"


@pytest.mark.parametrize("name", list(ENTRIES))
def test_settings_are_parameters(name):
    entry = ENTRIES[name]
    for setting in entry.settings:
        learner_class(name)(**setting)
    Vectorizer(**entry.text)
    assert len(entry.settings) <= 4
    assert entry.work.units(1000, 50_000, 10) > 0


@pytest.mark.parametrize("name", list(ENTRIES))
def test_texts_are_weighted_alike_by_name_and_by_learner(name):
    own = getattr(learner_class(name), "text_options", None)
    assert own is None or own == text_options(name)
