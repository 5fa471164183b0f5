"""`TextClassifier()` and ``widemargin train`` have one set of defaults."""

from __future__ import annotations

import json
import warnings

import pytest
from sklearn.base import clone

from widemargin import (
    LinearSVM,
    LogisticRegression,
    Rocchio,
    SelectFeatures,
    TextClassifier,
    TransductiveSVM,
    Vectorizer,
)
from widemargin.classifier.model_parts import learner_class
from widemargin.cli.commands import Given
from widemargin.cli.options import chosen_learner, options_of
from widemargin.cli.options.learners import LEARNERS
from widemargin.cli.options.text import vectorizing
from widemargin.errors import UsageError
from widemargin.models import load_model
from widemargin.tune.learners import FEWEST, text_options

from .conftest import TICKETS

TEXTS = [ticket["text"] for ticket in TICKETS]
NAMES = [ticket["labels"][0] for ticket in TICKETS]
TASKS = {
    "two classes": ["network" if name == "network" else "other" for name in NAMES],
    "classes": NAMES,
    "label sets": [
        [name, "wrong"] if "wrong" in text or i % 4 == 0 else [name] if i % 5 else []
        for i, (text, name) in enumerate(zip(TEXTS, NAMES, strict=True))
    ],
}
SMALL = ["corn harvest", "bank rate", "corn exports", "bank profits"]


def contents(path):
    """What a model file holds, except for the record of the training documents and what they are called."""
    model = load_model(path)
    config = {name: value for name, value in model.config.items() if name != "record"}
    summary = {name: value for name, value in model.summary.items() if name != "suspects"}
    arrays = {name: a.tobytes() for name, a in model.arrays.items() if not name.startswith("record.")}
    return config, summary, arrays, model.texts


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("task", TASKS)
def test_the_same_model(here, tmp_path, task, seed):
    y = TASKS[task]
    rows = [{"text": text, "labels": label} for text, label in zip(TEXTS, y, strict=True)]
    path = tmp_path / "tickets.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = here("train", path, "-o", tmp_path / "command.wm", "--seed", seed)
    assert done.returncode == 0, done.stderr
    classifier = TextClassifier(random_state=seed).fit(TEXTS, y)
    classifier.save(tmp_path / "python.wm")
    assert "tuning" in classifier.training_summary_
    assert "estimates" in classifier.training_summary_
    assert (classifier.thresholds_ is not None) == (task == "label sets")
    assert contents(tmp_path / "python.wm") == contents(tmp_path / "command.wm")


def defaults_of(verb: str) -> Given:
    return Given(**{name: option.default for name, option in options_of(verb).items()})


@pytest.mark.parametrize("name", LEARNERS.split())
def test_learners_and_their_terms(name):
    """What the command makes of no options is what the classes make of no arguments."""
    given = defaults_of("train")
    given.learner = name
    made = chosen_learner.make_learner(name, chosen_learner.parameters(given))
    learner = learner_class(name)()
    assert made.get_params() == learner.get_params()
    terms = Vectorizer(**vectorizing(given, text_options(name)))
    assert terms.get_params() == parts_of(TextClassifier(learner=learner))["vectorizer"]


def parts_of(classifier):
    found = classifier.get_params(deep=True)
    return {
        part: {name.removeprefix(f"{part}__"): value for name, value in found.items() if f"{part}__" in name}
        for part in ("vectorizer", "learner")
    }


def shown_defaults():
    """Every default that help shows, learner by learner, if it is a value: (option, learner, value)."""
    for verb in ("train", "label"):
        for option in options_of(verb).values():
            *_, general = option.shown.split(";")[0].split(", or ")
            own = dict(part.split(": ") for part in option.shown.split("; ")[1:] if ": " in part)
            own = {name.strip(): value for names, value in own.items() for name in names.split(",")}
            for learner in option.learners.split():
                value = own.get(learner, general)
                try:
                    value = float(value)
                except ValueError:
                    if value not in option.choices:
                        continue
                name = {"naive-bayes": "semi-supervised-bayes"}.get(learner, learner)
                yield verb, option, name if verb == "label" else learner, value


def test_defaults_that_help_shows():
    checked = set()
    for _, option, learner, value in shown_defaults():
        if learner == "self-training":
            continue  # its --C is that of the learner that it trains
        name = chosen_learner.PARAMETERS.get(option.name, option.name)
        found = learner_class(learner)().get_params().get(name)
        if found is None or (found == "auto" and option.name == "loss"):
            continue
        assert found == value, (option.flags, learner)
        checked.add((learner, name))
    assert ("transductive-svm", "C") in checked
    assert len(checked) > 60


class TestAuto:
    """What `tune="auto"`, `estimate="auto"` and `thresholds="auto"` stand for."""

    def fitted(self, *parts, y=NAMES, **settings):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return TextClassifier(*parts, **settings).fit(TEXTS, y)

    def test_parts_that_are_given_are_kept(self):
        both = self.fitted(Vectorizer(), LinearSVM(C=3))
        assert "tuning" not in both.training_summary_
        assert both.learner_.C == 3
        terms = self.fitted(learner=LinearSVM(C=3, loss="hinge"), estimate=None)
        candidates = terms.training_summary_["tuning"]["candidates"]
        assert {candidate["parameters"]["C"] for candidate in candidates} == {3.0}
        assert {candidate["parameters"].get("loss") for candidate in candidates} <= {None, "hinge"}
        learner = self.fitted(Vectorizer(ngram_range=(1, 2)), estimate=None)
        candidates = learner.training_summary_["tuning"]["candidates"]
        assert len({str(candidate["parameters"].get("weighting")) for candidate in candidates}) == 1
        assert len({candidate["parameters"]["C"] for candidate in candidates}) > 1

    @pytest.mark.parametrize(
        "settings",
        [{"tune": None}, {"features": SelectFeatures("chi2", 20)}, {"learner": Rocchio()}],
        ids=["off", "features", "another learner"],
    )
    def test_tuning_is_off(self, settings):
        assert "tuning" not in self.fitted(**settings, estimate=None).training_summary_

    def test_other_learners_that_are_tuned(self):
        assert "tuning" in self.fitted(learner=LogisticRegression(), estimate=None).training_summary_

    def test_parameters_that_are_set_are_kept(self):
        """As options of the command: everything else is tuned."""
        classifier = TextClassifier(estimate=None).set_params(learner__C=3.0, vectorizer__stemmer=None)
        classifier = clone(classifier).fit(TEXTS, NAMES)
        candidates = classifier.training_summary_["tuning"]["candidates"]
        assert {candidate["parameters"]["C"] for candidate in candidates} == {3.0}
        assert {candidate["parameters"].get("stemmer") for candidate in candidates} == {None}
        assert len({candidate["parameters"].get("weighting") for candidate in candidates}) > 1
        replaced = classifier.set_params(learner=LinearSVM(C=2.0))
        assert replaced.given_parts == {"learner"}

    def test_estimates_and_thresholds(self):
        sets = TASKS["label sets"]
        plain = {"tune": None}
        assert self.fitted(y=sets, **plain).thresholds_ is not None
        assert self.fitted(y=sets, **plain, thresholds=None).thresholds_ is None
        off = self.fitted(y=sets, **plain, estimate=None)
        assert off.thresholds_ is None
        assert "estimates" not in off.training_summary_
        assert self.fitted(**plain).training_summary_["estimates"]["method"] == "leave-one-out"

    def test_learners_of_unlabeled_documents_are_not_estimated(self):
        learner = TransductiveSVM(on_alarm="ignore")
        y = [name if i % 2 else None for i, name in enumerate(NAMES)]
        assert "estimates" not in self.fitted(learner=learner, y=y).training_summary_

    @pytest.mark.filterwarnings("error")
    def test_few_documents_train_once_and_quietly(self):
        assert len(SMALL) < FEWEST
        for y in (["grain", "money"] * 2, list("abcd"), [["a"], ["b"], [], ["a", "b"]]):
            summary = TextClassifier().fit(SMALL, y).training_summary_
            assert not {"tuning", "estimates"}.intersection(summary)
        asked = TextClassifier(estimate="leave-one-out").fit(SMALL, ["grain", "money"] * 2)
        assert "estimates" in asked.training_summary_

    def test_the_command_says_so(self, here, tmp_path):
        path = tmp_path / "few.jsonl"
        rows = zip(SMALL, ["a", "b", "a", "b"], strict=True)
        path.write_text("".join(json.dumps({"text": text, "labels": [label]}) + "\n" for text, label in rows))
        done = here("train", path, "-o", tmp_path / "m.wm")
        assert done.returncode == 0
        assert "4 labeled documents: too few to tune or to estimate quality." in done.stderr

    def test_a_wrong_word_is_refused(self):
        with pytest.raises(UsageError, match="tune='slow'"):
            TextClassifier(tune="slow").fit(TEXTS, NAMES)
