"""Selected and sampled features, from the command line and in model files."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

from tests.cli.conftest import TICKETS
from widemargin import KernelSVM, SelectFeatures, TextClassifier
from widemargin.cli.options.features import parse
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.features.sampling import SampleFeatures
from widemargin.models import load_model, save_model

TEXTS, LABELS = [ticket["text"] for ticket in TICKETS], [ticket["labels"][0] for ticket in TICKETS]


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("df:min=3", ("selected", {"criterion": "df", "threshold": 3.0})),
        ("chi2:10%", ("selected", {"criterion": "chi2", "percentile": 10.0})),
        ("gini:500:combine=sum", ("selected", {"criterion": "gini", "combine": "sum", "n_features": 500})),
        ("weighted:50", ("sampled", {"sampling": "weighted", "random_state": 0, "n_features": 50})),
        (
            "ridge:50:lambda=0.4",
            ("sampled", {"sampling": "ridge", "random_state": 0, "n_features": 50, "regularization": 0.4}),
        ),
        (
            "subspace:50:rank=0.9",
            ("sampled", {"sampling": "subspace", "random_state": 0, "n_features": 50, "rank": 0.9}),
        ),
    ],
)
def test_the_option_in_words(option, expected):
    assert parse(option) == expected


@pytest.mark.parametrize(
    "option",
    [
        "ig",
        "best:5",
        "ig:many",
        "ig:-5",
        "ig:5:7",
        "ig:5:min=3",
        "ig:5:rank=3",
        "ig:5:combine=min",
        "uniform:5:rank=3",
        "subspace:rank=3",
        "subspace:5:lambda=3",
        "ridge:5:lambda=0",
        ":",
        "df:min=x",
    ],
)
def test_options_without_a_meaning(option):
    with pytest.raises(UsageError, match="such as ig:5000"):
        parse(option)


@pytest.mark.parametrize(
    "features",
    [
        SelectFeatures("chi2", 12, unit_length=True),
        SampleFeatures(30, rank=5),
        SelectFeatures("df", 9),
    ],
)
@pytest.mark.parametrize("learner", [None, KernelSVM(kernel="rbf")])
def test_classifiers_come_back_from_files(tmp_path, features, learner):
    classifier = TextClassifier(learner=learner, features=features).fit(TEXTS, LABELS)
    X = classifier.features_.transform(classifier.vectorizer_.transform(TEXTS))
    expected = classifier.learner_.decision_function(X)
    np.testing.assert_allclose(classifier.decision_function(TEXTS), expected, rtol=1e-6)
    classifier.save(tmp_path / "model.wm")
    again = TextClassifier.load(tmp_path / "model.wm")
    np.testing.assert_allclose(again.decision_function(TEXTS), expected, rtol=1e-6)
    assert again.selected_terms() == classifier.selected_terms()
    assert len(again.selected_terms()) == classifier.training_summary_["terms"] == X.shape[1]
    assert again.n_features_in_ == len(again.vectorizer_.vocabulary_)
    if learner is None:
        terms = dict(classifier.selected_terms())
        found = classifier.explain(TEXTS[0])
        assert sum(part.value for part in found.contributions) + found.bias == pytest.approx(found.score)
        assert {part.term for part in found.contributions} <= set(terms)
        assert {term for term, _ in classifier.top_terms("billing").positive} <= set(terms)


def test_vectors_are_selected_too(tmp_path):
    rng = np.random.default_rng(0)
    X, y = sp.random_array((30, 20), density=0.5, rng=rng, format="csr"), np.tile(["a", "b"], 15)
    classifier = TextClassifier(features=SelectFeatures("ig", 4)).fit(X, y)
    classifier.save(tmp_path / "model.wm")
    np.testing.assert_allclose(
        TextClassifier.load(tmp_path / "model.wm").decision_function(X), classifier.decision_function(X)
    )
    assert [int(term) - 1 for term, _ in classifier.selected_terms()] == np.argsort(
        -classifier.features_.scores_, kind="stable"
    )[:4].tolist()


def test_estimates_after_a_selection_by_labels_are_said_to_be_optimistic():
    with pytest.warns(DataWarning, match="slightly optimistic"):
        TextClassifier(features=SelectFeatures("ig", 12), estimate="leave-one-out").fit(TEXTS, LABELS)
    with pytest.raises(UsageError, match="for all features"):
        TextClassifier(features=SelectFeatures(), tune="fast").fit(TEXTS, LABELS)


def test_damaged_selections_are_refused(tmp_path):
    TextClassifier(features=SelectFeatures("ig", 12)).fit(TEXTS, LABELS).save(tmp_path / "model.wm")
    model = load_model(tmp_path / "model.wm")
    for columns in (model.arrays["features.columns"] + 10**6, model.arrays["features.columns"][:5]):
        scores = model.arrays["features.scores"][: len(columns)]
        arrays = {**model.arrays, "features.columns": columns, "features.scores": scores}
        save_model(
            tmp_path / "bad.wm",
            kind=model.kind,
            config=model.config,
            arrays=arrays,
            texts=model.texts,
            summary=model.summary,
        )
        with pytest.raises(DataError, match="a usable classifier"):
            TextClassifier.load(tmp_path / "bad.wm")


def test_trained_inspected_and_used(here, tickets, tmp_path):
    model = tmp_path / "few.wm"
    done = here("train", tickets, "-o", model, "--features", "chi2:12", "--estimate", "none")
    assert done.returncode == 0, done.stderr
    assert "and 12 terms of " in done.stdout
    done = here("inspect", model, "--features", "--json")
    listed = json.loads(done.stdout)
    assert len(listed["features"]) == 12
    assert listed["before"] > 12
    scores = [row["score"] for row in listed["features"]]
    assert scores == sorted(scores, reverse=True)
    assert "12 of " in here("inspect", model, "--features").stdout
    assert "criterion=chi2, n_features=12" in here("inspect", model).stdout
    assert here("predict", model, tickets, "-q").returncode == 0


def test_mistakes_on_the_command_line(here, tickets, tmp_path):
    model = tmp_path / "all.wm"
    done = here("train", tickets, "-o", model, "--features", "best:5")
    assert (done.returncode, "such as ig:5000" in done.stderr) == (2, True)
    done = here("train", tickets, "-o", model, "--features", "ig:5", "--tune", "fast")
    assert (done.returncode, "either --tune or --features" in done.stderr) == (2, True)
    assert here("train", tickets, "-o", model, "--estimate", "none", "--tune", "none").returncode == 0
    done = here("inspect", model, "--features")
    assert (done.returncode, "uses all its terms" in done.stderr) == (65, True)
