"""What SVM-light 6.02 answers on 400 Reuters stories, at its epsilon of 0.001."""

from __future__ import annotations

import json

import numpy as np
import pytest

from widemargin import KernelSVM, LinearSVM
from widemargin.documents.formats.svmlight import read_vectors

RUNS = {
    "linear biased C=1": {"C": 1.0, "kernel": "linear"},
    "linear biased C=0.1 cost 5": {"C": 0.1, "kernel": "linear", "class_weight": {"1": 5.0}},
    "linear biased C=1000": {"C": 1000.0, "kernel": "linear"},
    "linear unbiased C=1": {"C": 1.0, "kernel": "linear", "bias": None},
    "polynomial degree 2 (s a*b+c)^d s=1 c=1 C=1": {
        "kernel": "poly",
        "degree": 2,
        "gamma": 1.0,
        "coef0": 1.0,
    },
    "rbf gamma=1 C=10": {"C": 10.0, "kernel": "rbf", "gamma": 1.0},
}


@pytest.fixture(scope="module")
def stories(reference):
    folder = reference("svmlight")
    answers = json.loads((folder / "reuters-acq.json").read_text())
    train, test = (read_vectors(folder / answers[part]) for part in ("train", "test"))
    width = max(train.X.shape[1], test.X.shape[1])
    for part in (train, test):
        part.X.resize((part.X.shape[0], width))
    y = np.array([labels[0] for labels in train.labels])
    return train.X, y, test.X, {run["name"]: run for run in answers["runs"]}


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("name", RUNS)
def test_agrees_with_svm_light(stories, name, tol):
    X, y, X_test, answers = stories
    answer = answers[name]
    model = KernelSVM(**RUNS[name], tol=tol).fit(X, y)
    scores = model.decision_function(X_test)
    np.testing.assert_allclose(scores, answer["decision_values"], atol=3e-3)
    assert -model.intercept_[0] == pytest.approx(answer["b"], abs=2e-3)
    assert len(model.support_) == pytest.approx(answer["n_sv"], abs=4)
    assert model.bounded_.sum() == pytest.approx(answer["n_bounded"], abs=2)
    assert model.alpha_.sum() == pytest.approx(answer["sum_alpha"], rel=1e-3)
    assert 1 / model.margin_ == pytest.approx(answer["norm_w"], rel=1e-3)
    assert model.xi_.sum() == pytest.approx(answer["l1_loss"], abs=0.05)


@pytest.mark.parametrize("name", [name for name, run in RUNS.items() if run["kernel"] == "linear"])
def test_the_linear_solver_agrees_with_svm_light(stories, name):
    X, y, X_test, answers = stories
    parameters = {"bias": "unregularized"} | RUNS[name]
    del parameters["kernel"]
    model = LinearSVM(**parameters, tol=1e-5, max_iter=1_000_000).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X_test), answers[name]["decision_values"], atol=3e-3)
    assert -model.intercept_[0] == pytest.approx(answers[name]["b"], abs=2e-3)
    assert np.linalg.norm(model.coef_[0]) == pytest.approx(answers[name]["norm_w"], rel=1e-3)
