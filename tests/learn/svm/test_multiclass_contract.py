"""Multi-class SVMs as learners like any other: scikit-learn's checks, bad input, files, texts."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from widemargin import LinearSVM, MulticlassSVM, TextClassifier
from widemargin.errors import DataError, UsageError

TEXTS = {
    "wheat": ["wheat harvest rises", "grain and wheat exports", "the wheat crop of kansas", "corn and wheat"],
    "money": ["the dollar falls", "interest rates rise", "bank lends dollar", "central bank rates"],
    "ships": ["the tanker sails", "port strike ends", "ships wait in port", "a tanker ran aground"],
}
DOCUMENTS = [text for texts in TEXTS.values() for text in texts] * 3
LABELS = [label for label, texts in TEXTS.items() for _ in texts] * 3


# The checks compare solutions of equivalent problems, so they are solved to high precision here.
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"
)  # some check data is badly scaled
@parametrize_with_checks(
    [
        MulticlassSVM(tol=1e-9, max_iter=20_000),
        MulticlassSVM(formulation="weston-watkins", tol=1e-9, max_iter=20_000),
        MulticlassSVM(kernel="rbf", tol=1e-9),
        MulticlassSVM(kernel="rbf", formulation="weston-watkins", tol=1e-9),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_several_labels_are_refused_with_a_cure(kernel):
    X = np.eye(3)
    for y in ([[1, 0], [0, 1], [1, 1]], [["a"], ["a", "b"], []]):
        with pytest.raises(UsageError, match=r"one class per document.*Use a LinearSVM"):
            MulticlassSVM(kernel=kernel).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C=0: expected a positive number"),
        ({"C": np.inf}, "C=inf: expected a positive number up to 1e100"),
        (
            {"formulation": "guermeur"},
            'formulation=\'guermeur\': expected "crammer-singer" or "weston-watkins"',
        ),
        ({"kernel": "cosine"}, "kernel='cosine': expected one of"),
        ({"bias": "unregularized"}, "bias='unregularized': expected"),
        ({"tol": 0}, "tol=0: expected a number of at least 1e-12"),
        ({"class_weight": {"d": 2.0}}, "class_weight has 'd', which is not a label"),
        ({"power": -1.0, "kernel": "chi2"}, r"power=-1.0: expected a positive number"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(UsageError, match=message):
        MulticlassSVM(**parameters).fit(np.eye(3), ["a", "b", "c"])


def test_bad_data_are_named():
    with pytest.raises(DataError, match="Negative values in data"):
        MulticlassSVM(kernel="chi2").fit(-np.eye(3), ["a", "b", "c"])
    with pytest.raises(DataError, match="square matrix"):
        MulticlassSVM(kernel="precomputed").fit(np.ones((3, 2)), ["a", "b", "c"])
    with pytest.raises(DataError, match="one class"):
        MulticlassSVM().fit(np.eye(3), ["a", "a", "a"])
    with pytest.raises(DataError, match="unlabeled"):
        MulticlassSVM().fit(np.eye(3), ["a", None, "b"])
    with pytest.raises(DataError, match="3 documents and 2 labels"):
        MulticlassSVM().fit(np.eye(3), ["a", "b"])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("formulation", ["crammer-singer", "weston-watkins"])
def test_empty_and_equal_rows_have_a_solution(kernel, formulation):
    """Without a bias feature, an empty row has no curvature: its loss is constant."""
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    model = MulticlassSVM(kernel=kernel, formulation=formulation, bias=None, tol=1e-9)
    model.fit(X, ["a", "b", "a", "b", "c"])
    assert model.duality_gap_ <= 1e-9 * model.objective_
    if kernel == "linear":
        assert model.xi_[0] == (1.0 if formulation == "crammer-singer" else 2.0)
    assert model.predict(np.array([[0.0, 2.0]])).tolist() == ["c"]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_says_when_it_did_not_converge(kernel):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 3, 50)
    with pytest.warns(ConvergenceWarning, match=r"duality gap is .* of the objective\. Raise max_iter"):
        model = MulticlassSVM(C=100, kernel=kernel, max_iter=2).fit(X, y)
    assert model.n_iter_ == 2
    assert model.duality_gap_ > 1e-3 * model.objective_


def test_says_when_the_kernel_is_indefinite():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        MulticlassSVM(C=10, kernel="sigmoid", gamma=1.0, coef0=-1.0, max_iter=50).fit(X, y)


@pytest.mark.parametrize("formulation", ["crammer-singer", "weston-watkins"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "chi2"])
def test_texts_are_classified_saved_and_loaded(kernel, formulation, tmp_path):
    learner = MulticlassSVM(kernel=kernel, formulation=formulation, gamma=0.5, power=0.5)
    model = TextClassifier(learner=learner, estimate="auto", calibration="platt", tune=None).fit(
        DOCUMENTS, LABELS
    )
    assert model.predict(["wheat and corn", "the bank", "a tanker in port"]).tolist() == list(TEXTS)
    assert model.training_summary_["estimates"]["method"] == "k-fold"
    model.save(tmp_path / "model.wm")
    again = TextClassifier.load(tmp_path / "model.wm")
    np.testing.assert_array_equal(again.decision_function(DOCUMENTS), model.decision_function(DOCUMENTS))
    np.testing.assert_array_equal(again.predict_proba(DOCUMENTS), model.predict_proba(DOCUMENTS))
    assert again.learner_.get_params() == model.learner_.get_params()


def test_linear_scores_are_explained():
    model = TextClassifier(learner=MulticlassSVM(), tune=None, estimate=None).fit(DOCUMENTS, LABELS)
    assert "wheat" in dict(model.top_terms("wheat", 3).positive)
    told = model.explain("the wheat harvest", "wheat")
    at = list(model.classes_).index("wheat")
    assert told.score == pytest.approx(model.decision_function(["the wheat harvest"])[0, at])
    by_kernel = TextClassifier(learner=MulticlassSVM(kernel="rbf"), tune=None, estimate=None).fit(
        DOCUMENTS, LABELS
    )
    with pytest.raises(UsageError, match="has no term weights"):
        by_kernel.explain("the wheat harvest")


def test_a_precomputed_kernel_is_not_saved():
    model = MulticlassSVM(kernel="precomputed").fit(np.eye(3), ["a", "b", "c"])
    with pytest.raises(UsageError, match="precomputed"):
        model.get_state()


def test_any_matrix_gives_the_same_machine():
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 6)) * (rng.random((40, 6)) < 0.5), rng.integers(0, 3, 40)
    first = MulticlassSVM(max_iter=100_000).fit(X, y)
    for other in (sp.csr_array(X), sp.csc_array(X), sp.coo_array(X)):
        found = MulticlassSVM(max_iter=100_000).fit(other, y)
        np.testing.assert_array_equal(found.coef_, first.coef_)


def test_weights_of_all_classes_add_up_to_zero():
    """Only differences of scores count, so the smallest weights are centered."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), rng.integers(0, 3, 40)
    together, apart = MulticlassSVM(max_iter=100_000).fit(X, y), LinearSVM(tol=0.01).fit(X, y)
    np.testing.assert_allclose(together.coef_.sum(axis=0), 0, atol=1e-12)
    assert np.abs(apart.coef_.sum(axis=0)).max() > 0.01
