"""SVM-light's models as learners, and learners as SVM-light's models."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from widemargin import KernelSVM, LinearSVM
from widemargin.documents.formats.svmlight import read_vectors
from widemargin.documents.formats.svmlight_model import (
    SvmLightModel,
    read_svmlight_model,
    write_svmlight_model,
)
from widemargin.errors import UsageError
from widemargin.learn.svm.svmlight_model import from_svmlight, to_svmlight

HEADER = """SVM-light Version V6.02
{type} # kernel type
2 # kernel parameter -d 
0.25 # kernel parameter -g 
0.5 # kernel parameter -s 
-0.75 # kernel parameter -r 
empty# kernel parameter -u 
4 # highest feature index 
9 # number of training documents 
4 # number of support vectors plus 1 
0.125 # threshold b, each following line is a SV (starting with alpha*y)
0.5 1:1 3:2 #
-1.5 2:-1 #
2 1:0.5 4:1 #
"""  # noqa: W291  the blanks are SVM-light's
SUPPORTS = np.array([[1, 0, 2, 0], [0, -1, 0, 0], [0.5, 0, 0, 1]])
FACTORS = [0.5, -1.5, 2.0]
# The kernels as SVM-light's documentation gives them.
FORMULAS = {
    0: lambda a, b: a @ b,
    1: lambda a, b: (0.5 * (a @ b) - 0.75) ** 2,
    2: lambda a, b: np.exp(-0.25 * sum((a - b) ** 2)),
    3: lambda a, b: np.tanh(0.5 * (a @ b) - 0.75),
}


def random_task(n=60, d=30, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, density=0.3, format="csr", random_state=rng, dtype=np.float64)
    return sp.csr_array(X), (X @ rng.normal(size=(d, classes))).argmax(axis=1)


@pytest.mark.parametrize("type", FORMULAS)
def test_a_model_file_scores_as_its_formula_says(tmp_path, type):
    (tmp_path / "model").write_text(HEADER.format(type=type))
    learner = from_svmlight(read_svmlight_model(tmp_path / "model"))
    assert isinstance(learner, LinearSVM if type == 0 else KernelSVM)
    X = np.random.default_rng(1).normal(size=(20, 4))
    expected = [
        sum(f * FORMULAS[type](s, x) for f, s in zip(FACTORS, SUPPORTS, strict=True)) - 0.125 for x in X
    ]
    np.testing.assert_allclose(learner.decision_function(X), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(learner.predict(X), np.where(np.array(expected) > 0, 1, -1))


def test_the_users_own_kernel_is_unknown(tmp_path):
    (tmp_path / "model").write_text(HEADER.format(type=4))
    with pytest.raises(UsageError, match="-t 4"):
        from_svmlight(read_svmlight_model(tmp_path / "model"))


def test_names_for_the_classes():
    model = SvmLightModel("linear", np.ones(1), sp.csr_array(np.array([[1.0]])), 0.0)
    learner = from_svmlight(model, ("ham", "spam"))
    assert learner.predict(np.array([[2.0], [-2.0]])).tolist() == ["spam", "ham"]
    with pytest.raises(UsageError, match="sorted order"):
        from_svmlight(model, ("spam", "ham"))


LEARNERS = {
    "linear": lambda: LinearSVM(2.0),
    "linear, sparse": lambda: LinearSVM(2.0, sparse_coef=True),
    "linear kernel": lambda: KernelSVM(2.0, kernel="linear"),
    "poly": lambda: KernelSVM(2.0, kernel="poly", gamma=0.5, degree=2, coef0=0.25),
    "rbf": lambda: KernelSVM(2.0, gamma=0.7),
    "rbf with a bias feature": lambda: KernelSVM(2.0, gamma=0.7, bias=1.5),
    "rbf without a bias": lambda: KernelSVM(2.0, gamma=0.7, bias=None),
    "rbf, stabilized": lambda: KernelSVM(2.0, gamma=0.7, bias="stabilized"),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_comes_back_from_its_model_file(tmp_path, name):
    X, y = random_task()
    learner = LEARNERS[name]().fit(X, y)
    write_svmlight_model(to_svmlight(learner), tmp_path / "model")
    read = read_svmlight_model(tmp_path / "model")
    assert read.n_documents == 60
    assert read.n_features == 30
    scores = from_svmlight(read).decision_function(X)
    np.testing.assert_allclose(scores, learner.decision_function(X), rtol=1e-12, atol=1e-12)
    assert len(set((scores > 0).tolist())) == 2, "every document is on one side: the test tests little"


def test_indefinite_sigmoid_comes_back(tmp_path):
    X, y = random_task()
    with pytest.warns(ConvergenceWarning, match="definite"):
        learner = KernelSVM(0.5, kernel="sigmoid", gamma=0.1, coef0=0.0).fit(X, y)
    write_svmlight_model(to_svmlight(learner), tmp_path / "model")
    scores = from_svmlight(read_svmlight_model(tmp_path / "model")).decision_function(X)
    np.testing.assert_allclose(scores, learner.decision_function(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("make", [LinearSVM, KernelSVM])
def test_one_label_of_several(make):
    X, y = random_task(classes=4)
    learner = make().fit(X, y)
    with pytest.raises(UsageError, match=r"one for each of 4 labels\. Pass one"):
        to_svmlight(learner)
    with pytest.raises(UsageError, match=r"no label 7\. Its labels are 0, 1, 2, 3"):
        to_svmlight(learner, 7)
    for label in range(4):
        scores = from_svmlight(to_svmlight(learner, label)).decision_function(X)
        np.testing.assert_allclose(scores, learner.decision_function(X)[:, label], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("make", [LinearSVM, KernelSVM])
def test_either_of_two_classes_may_be_plus_one(make):
    X, y = random_task()
    learner = make().fit(X, np.array(["ham", "spam"])[y])
    scores = learner.decision_function(X)
    np.testing.assert_allclose(
        from_svmlight(to_svmlight(learner, "ham")).decision_function(X), -scores, rtol=1e-12, atol=1e-12
    )
    np.testing.assert_array_equal(
        from_svmlight(to_svmlight(learner, "spam")).decision_function(X),
        from_svmlight(to_svmlight(learner)).decision_function(X),
    )


def test_only_support_vectors_of_the_rule_are_written():
    X, y = random_task(classes=3)
    learner = KernelSVM(1.0, gamma=1.0).fit(X, y)
    for label in range(3):
        model = to_svmlight(learner, label)
        assert len(model.coefficients) == model.support_vectors.shape[0] == learner.n_support_[label]
        assert model.coefficients.all()


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (lambda: KernelSVM(kernel="chi2"), "no kernel chi2"),
        (lambda: KernelSVM(kernel="poly", degree=1.5), "integer degree"),
    ],
)
def test_what_svm_light_does_not_have(learner, message):
    X, y = random_task()
    with pytest.raises(UsageError, match=message):
        to_svmlight(learner().fit(X, y))


@pytest.mark.parametrize("scheme", ["votes", "dag"])
def test_pairwise_rules_are_not_one_rule(scheme):
    X, y = random_task(classes=3)
    with pytest.raises(UsageError, match="every pair of classes"):
        to_svmlight(KernelSVM(scheme=scheme).fit(X, y), 1)


RUNS = {
    "linear biased C=1": {"kernel": "linear", "C": 1.0},
    "linear biased C=1000": {"kernel": "linear", "C": 1000.0},
    "linear unbiased C=1": {"kernel": "linear", "C": 1.0, "bias": None},
    "polynomial degree 2 (s a*b+c)^d s=1 c=1 C=1": {"kernel": "poly", "degree": 2, "gamma": 1.0, "C": 1.0},
    "rbf gamma=1 C=10": {"gamma": 1.0, "C": 10.0},
}


@pytest.mark.parametrize("name", RUNS)
def test_the_written_model_gives_svm_lights_own_scores(reference, tmp_path, name):
    """Trained here, written, read back: what `svm_classify` said about the test stories."""
    folder = reference("svmlight")
    runs = {run["name"]: run for run in json.loads((folder / "reuters-acq.json").read_text())["runs"]}
    train = read_vectors(folder / "reuters-acq.train.svm")
    test = read_vectors(folder / "reuters-acq.test.svm", n_features=train.X.shape[1])
    learner = KernelSVM(tol=1e-4, **RUNS[name]).fit(train.X, [labels[0] for labels in train.labels])
    model = to_svmlight(learner)
    assert abs(model.threshold - runs[name]["b"]) < 2e-3
    assert len(model.coefficients) == pytest.approx(runs[name]["n_sv"], abs=3)
    assert np.abs(model.coefficients).sum() == pytest.approx(runs[name]["sum_alpha"], rel=2e-3)
    write_svmlight_model(model, tmp_path / "model")
    scores = from_svmlight(read_svmlight_model(tmp_path / "model")).decision_function(test.X)
    np.testing.assert_allclose(scores, runs[name]["decision_values"], atol=2e-3)
