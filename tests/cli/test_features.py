"""Selected, sampled and constructed features, from the command line and in model files."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

from tests.cli.conftest import TICKETS
from widemargin import (
    C45,
    BoostedTrees,
    KernelSVM,
    LabelClusters,
    LatentSemanticIndexing,
    LinearSVM,
    NaiveBayes,
    NearestNeighbors,
    Perceptron,
    PositiveWinnow,
    Rocchio,
    SelectFeatures,
    TermClusters,
    TextClassifier,
    Vectorizer,
)
from widemargin.classifier.scorer import Scorer
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
        ("lsi:200", ("lsi", {"n_components": 200, "random_state": 0})),
        ("clusters:500", ("clusters", {"n_clusters": 500, "random_state": 0})),
        ("label-clusters:500", ("label-clusters", {"n_clusters": 500})),
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
        "lsi",
        "lsi:0",
        "clusters:5:rank=3",
        "label-clusters:10%",
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
    classifier = TextClassifier(learner=learner, features=features, estimate=None).fit(TEXTS, LABELS)
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
    classifier = TextClassifier(features=SelectFeatures("ig", 4), estimate=None).fit(X, y)
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
        TextClassifier(features=SelectFeatures(), tune="fast", estimate=None).fit(TEXTS, LABELS)


def test_damaged_selections_are_refused(tmp_path):
    TextClassifier(features=SelectFeatures("ig", 12), estimate=None).fit(TEXTS, LABELS).save(
        tmp_path / "model.wm"
    )
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


MADE = [
    LatentSemanticIndexing(5),
    LatentSemanticIndexing(4, unit_length=True),
    TermClusters(8, unit_length=True),
    LabelClusters(8),
]
OF_MADE = [
    LinearSVM(),
    KernelSVM(kernel="rbf"),
    KernelSVM(kernel="linear"),
    Rocchio(),
    NearestNeighbors(3),
    C45(min_objects=1),
    Perceptron(),
]


@pytest.mark.parametrize("features", MADE, ids=str)
@pytest.mark.parametrize("learner", OF_MADE, ids=str)
def test_new_features_are_learned_stored_and_explained(tmp_path, features, learner):
    classifier = TextClassifier(learner=learner, features=features, estimate=None).fit(TEXTS, LABELS)
    X = classifier.features_.transform(classifier.vectorizer_.transform(TEXTS))
    expected = classifier.decision_function(TEXTS)
    np.testing.assert_allclose(expected, classifier.learner_.decision_function(X), atol=1e-4)
    batches = np.concatenate([classifier.decision_function([text]) for text in TEXTS])
    np.testing.assert_allclose(batches, expected, atol=1e-5)
    classifier.save(tmp_path / "model.wm")
    again, scorer = TextClassifier.load(tmp_path / "model.wm"), Scorer.load(tmp_path / "model.wm", n_jobs=1)
    np.testing.assert_allclose(again.decision_function(TEXTS), expected, atol=1e-12)
    np.testing.assert_allclose(scorer.scores(TEXTS), expected, atol=1e-12)
    assert classifier.training_summary_["terms"] == X.shape[1] == len(again.made_features(3))
    words = set(classifier.vectorizer_.get_feature_names_out())
    for made, other in zip(classifier.made_features(3), again.made_features(3), strict=True):
        assert made.value == pytest.approx(other.value)
        assert [term for term, _ in made.terms] == [term for term, _ in other.terms]
        assert {term for term, _ in made.terms} <= words
    if isinstance(learner, KernelSVM) and learner.kernel == "rbf":
        return
    for text in TEXTS[:3]:
        found = scorer.explain(text)
        assert sum(part.value for part in found.contributions) + found.bias == pytest.approx(
            found.score, abs=1e-4
        )
        assert {part.term for part in found.contributions} <= words


def test_weights_of_singular_vectors_are_shown_as_weights_of_words():
    classifier = TextClassifier(features=LatentSemanticIndexing(5), estimate=None).fit(TEXTS, LABELS)
    names = classifier.vectorizer_.get_feature_names_out().tolist()
    weights = classifier.learner_.coef_ @ classifier.features_.components_
    column = classifier.classes_.tolist().index("billing")
    for term, weight in classifier.top_terms("billing", 5).positive:
        assert weight == pytest.approx(weights[column][names.index(term)], rel=1e-5)
    clusters = TextClassifier(features=TermClusters(8), estimate=None).fit(TEXTS, LABELS)
    shown = clusters.top_terms("billing", 3).positive
    assert shown[0][1] == pytest.approx(clusters.learner_.coef_[column].max())
    assert set(shown[0][0].removesuffix("+...").split("+")) <= set(names)
    with pytest.raises(UsageError, match="made_features"):
        clusters.selected_terms()
    with pytest.raises(UsageError, match="Pass LatentSemanticIndexing"):
        TextClassifier(tune=None, estimate=None).fit(TEXTS, LABELS).made_features()


@pytest.mark.parametrize("features", [LatentSemanticIndexing(5), TermClusters(8), LabelClusters(8)], ids=str)
def test_estimates_make_new_features_again_without_the_documents_held_out(features, monkeypatch):
    seen = []
    fit = type(features).fit

    def watched(self, X, y=None):
        seen.append(X.shape[0])
        return fit(self, X, y)

    monkeypatch.setattr(type(features), "fit", watched)
    classifier = TextClassifier(features=features, estimate="auto").fit(TEXTS, LABELS)
    assert classifier.training_summary_["estimates"]["method"] == "k-fold"
    assert seen[0] == len(TEXTS)
    assert len(seen) > 10
    assert all(n < len(TEXTS) for n in seen[1:])
    with pytest.warns(DataWarning, match="made of all documents"):
        TextClassifier(features=features, estimate="leave-one-out").fit(TEXTS, LABELS)


def test_learners_of_terms_that_are_there_or_not_refuse_singular_vectors(here, tickets, tmp_path):
    counts = Vectorizer(weighting="txx")
    for learner in (
        NaiveBayes(),
        PositiveWinnow(normalize=False),
        BoostedTrees(3, base="stumps"),
        KernelSVM(kernel="chi2"),
    ):
        with pytest.raises(UsageError, match="clusters:500"):
            TextClassifier(counts, learner, features=LatentSemanticIndexing(3), estimate=None).fit(
                TEXTS, LABELS
            )
        for features in (TermClusters(8), LabelClusters(8)):
            classifier = TextClassifier(counts, learner, features=features, estimate=None).fit(TEXTS, LABELS)
            assert np.isfinite(classifier.decision_function(TEXTS)).all()
    model = tmp_path / "model.wm"
    done = here("train", tickets, "-o", model, "--learner", "naive-bayes", "--features", "lsi:5")
    assert (done.returncode, "--features clusters:500" in done.stderr, model.exists()) == (2, True, False)


@pytest.mark.parametrize("option", ["lsi:5", "clusters:8", "label-clusters:8"])
def test_new_features_from_the_command_line(here, tickets, tmp_path, option):
    model = tmp_path / "made.wm"
    done = here("train", tickets, "-o", model, "--features", option, "--seed", "3", "--threads", "1")
    assert done.returncode == 0, done.stderr
    assert "cross-validation" in done.stdout
    listed = json.loads(here("inspect", model, "--features", "--json").stdout)
    assert len(listed["features"]) == int(option.rpartition(":")[2])
    assert listed["features"][0]["terms"][0]["term"]
    shown = here("inspect", model, "--features").stdout
    assert "strongest terms" in shown
    assert f"{len(listed['features'])} features, made of {listed['before']} terms" in shown
    named = "n_components=5" if option == "lsi:5" else "n_clusters=8"
    assert named in here("inspect", model).stdout
    assert here("predict", model, tickets, "-q").returncode == 0
    done = here("explain", model, TEXTS[0])
    assert (done.returncode, "contribution" in done.stdout) == (0, True)
    done = here("inspect", model, "--export-svmlight", tmp_path / "model.txt", "--label", "billing")
    assert (done.returncode, "without --features" in done.stderr) == (65, True)
    again = tmp_path / "again.wm"
    here("train", tickets, "-o", again, "--features", option, "--seed", "3", "--threads", "2")
    assert again.read_bytes() == model.read_bytes()
