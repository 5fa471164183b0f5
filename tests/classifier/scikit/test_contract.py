"""What scikit-learn's tools expect of `TextClassifier` and `Vectorizer`."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import check_is_fitted

from widemargin import Arow, LinearSVM, LogisticRegression, TextClassifier, Vectorizer
from widemargin.errors import UsageError

GRAIN = [
    "corn harvest",
    "wheat exports rose",
    "corn and wheat prices",
    "a good wheat harvest",
    "maize corn up",
]
MONEY = [
    "the bank cut its rate",
    "bank profits fell",
    "the rate of the bank",
    "profits and rates",
    "bank loans",
]
OIL = ["crude oil output", "oil and gas", "opec crude output rose", "gas prices fell", "an oil field"]
TEXTS = 2 * [*GRAIN, *MONEY, *OIL]
LABELS = 2 * (["grain"] * 5 + ["money"] * 5 + ["oil"] * 5)
SETS = [[label, "up"] if "rose" in text else [label] for text, label in zip(TEXTS, LABELS, strict=True)]
PLAIN = {"tune": None, "estimate": None}


class OnMatrices(TextClassifier):
    """Says that it takes matrices, as it does, so that scikit-learn checks more than cloning."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array, tags.input_tags.sparse = False, True, True
        return tags


NOT_ARRAYS = "lists and objects that are not arrays hold documents, not rows of numbers"
EXPECTED = {
    "check_sample_weights_not_an_array": NOT_ARRAYS,
    "check_classifier_data_not_an_array": NOT_ARRAYS,
    "check_classifiers_train": NOT_ARRAYS,
    "check_sample_weight_equivalence_on_dense_data": "equal to the tolerance of the solver, not to 1e-7",
    "check_sample_weight_equivalence_on_sparse_data": "equal to the tolerance of the solver, not to 1e-7",
    "check_complex_data": "complex labels are refused before complex vectors",
    "check_dtype_object": "matrices of objects are refused, not converted",
}


with warnings.catch_warnings():
    warnings.simplefilter("ignore", SkipTestWarning)  # of texts, only cloning is checked
    checks = parametrize_with_checks(
        [TextClassifier(**PLAIN), OnMatrices(**PLAIN), Vectorizer(), Vectorizer(n_hashed=64)],
        expected_failed_checks=lambda estimator: EXPECTED if isinstance(estimator, OnMatrices) else {},
    )


@checks
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


class TestParameters:
    def test_of_default_parts(self):
        classifier = TextClassifier()
        found = classifier.get_params()
        assert found["learner"] is None
        assert found["learner__C"] == LinearSVM().C
        assert found["vectorizer__weighting"] == Vectorizer().weighting
        assert "learner__C" not in classifier.get_params(deep=False)
        assert clone(classifier).get_params() == found

    def test_set_together_with_their_part(self):
        classifier = TextClassifier(learner=LogisticRegression()).set_params(learner=None, learner__C=3.0)
        assert classifier.learner.get_params() == LinearSVM(C=3.0).get_params()
        with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
            TextClassifier().set_params(learner__depth=3)

    def test_fitted(self):
        for estimator in (TextClassifier(**PLAIN), Vectorizer()):
            with pytest.raises(NotFittedError):
                check_is_fitted(estimator)
            check_is_fitted(estimator.fit(TEXTS, LABELS))


class TestSearches:
    def test_grid_search_on_the_defaults(self):
        search = GridSearchCV(TextClassifier(**PLAIN), {"learner__C": [1e-3, 1.0]}, cv=2)
        search.fit(TEXTS, LABELS)
        assert len(search.cv_results_["params"]) == 2
        assert search.best_params_["learner__C"] == search.best_estimator_.learner_.C
        assert search.predict(["wheat"]).tolist() == ["grain"]

    def test_grid_search_with_tuning(self):
        """What is set by the search is kept, the rest is tuned."""
        search = GridSearchCV(TextClassifier(estimate=None), {"learner__C": [1.0]}, cv=2).fit(TEXTS, LABELS)
        tried = search.best_estimator_.training_summary_["tuning"]["candidates"]
        assert {candidate["parameters"]["C"] for candidate in tried} == {1.0}
        assert len(tried) > 1

    def test_in_two_processes(self):
        grid = {"learner__C": [0.1, 1.0], "vectorizer__weighting": ["ltc", "bxc"]}
        alone, two = (
            GridSearchCV(TextClassifier(**PLAIN), grid, cv=2, n_jobs=n).fit(TEXTS, LABELS) for n in (1, 2)
        )
        np.testing.assert_array_equal(
            two.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"]
        )

    def test_cross_validation(self):
        assert cross_val_score(TextClassifier(**PLAIN), TEXTS, LABELS, cv=2).mean() > 0.9
        scores = cross_val_predict(TextClassifier(**PLAIN), TEXTS, LABELS, cv=2, method="decision_function")
        assert scores.shape == (len(TEXTS), 3)
        calibrated = TextClassifier(**PLAIN, calibration="platt")
        found = cross_val_predict(calibrated, TEXTS, LABELS, cv=2, method="predict_proba")
        np.testing.assert_allclose(found.sum(axis=1), 1)

    def test_pickles(self):
        classifier = TextClassifier(**PLAIN).set_params(learner__C=2.0).fit(TEXTS, LABELS)
        again = pickle.loads(pickle.dumps(classifier))
        np.testing.assert_array_equal(again.decision_function(TEXTS), classifier.decision_function(TEXTS))
        assert again.explicit == classifier.explicit


class TestPipelines:
    def test_classifier_at_the_end(self):
        pipeline = Pipeline([("classify", TextClassifier(**PLAIN))]).set_params(classify__learner__C=2.0)
        assert pipeline.fit(TEXTS, LABELS).score(TEXTS, LABELS) == 1
        assert pipeline["classify"].learner_.C == 2.0

    def test_vectorizer_and_learner(self):
        pipeline = make_pipeline(Vectorizer(), LinearSVM()).fit(TEXTS, LABELS)
        ours = TextClassifier(Vectorizer(), LinearSVM(), estimate=None).fit(TEXTS, LABELS)
        np.testing.assert_allclose(
            pipeline.decision_function(TEXTS), ours.decision_function(TEXTS), atol=1e-6
        )

    def test_vectorizer_in_columns(self):
        pd = pytest.importorskip("pandas")
        table = pd.DataFrame({"title": TEXTS, "body": TEXTS[::-1], "length": [len(text) for text in TEXTS]})
        columns = ColumnTransformer(
            [
                ("title", Vectorizer(), "title"),
                ("body", Vectorizer(min_df=2), "body"),
                ("length", "passthrough", ["length"]),
            ]
        )
        X = columns.fit_transform(table)
        width = sum(Vectorizer(**given).fit(TEXTS).n_columns for given in ({}, {"min_df": 2}))
        assert X.shape == (len(TEXTS), width + 1)
        names = columns.get_feature_names_out().tolist()
        assert names[-1] == "length__length"
        assert "title__corn" in names
        union = FeatureUnion(
            [("words", Vectorizer()), ("chars", Vectorizer(units="chars", ngram_range=(2, 2)))]
        )
        assert union.fit(TEXTS).get_feature_names_out()[0].startswith("words__")


class TestOutput:
    @pytest.mark.parametrize("form", ["pandas", "polars"])
    def test_sparse_rows_are_no_data_frame(self, form):
        pytest.importorskip(form)
        vectorizer = Vectorizer().set_output(transform=form)
        with pytest.raises(ValueError, match=r"sparse matrix.*set_output\(transform='default'\)"):
            vectorizer.fit_transform(TEXTS)
        assert sp.issparse(vectorizer.set_output(transform="default").fit_transform(TEXTS))

    def test_names_of_features(self):
        vectorizer = Vectorizer().fit(["wheat up", "corn"])
        assert vectorizer.get_feature_names_out().tolist() == ["corn", "up", "wheat"]
        with pytest.raises(UsageError, match="Hashed terms have no names"):
            Vectorizer(n_hashed=8).fit(["wheat"]).get_feature_names_out()


class TestWeights:
    def test_routing(self):
        with sklearn.config_context(enable_metadata_routing=True):
            classifier = TextClassifier(**PLAIN)
            assert "texts" not in str(get_routing_for_object(classifier))
            assert "texts" not in str(get_routing_for_object(Vectorizer()))
            classifier = classifier.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
            weights = np.where(np.array(LABELS) == "oil", 0.0, 1.0)
            search = GridSearchCV(classifier, {"learner__C": [0.1, 1.0]}, cv=2)
            search.fit(TEXTS, LABELS, sample_weight=weights)
        # No weight, no rule: what weighs nothing is never found.
        assert "oil" not in search.predict(TEXTS)
        assert search.best_score_ > 0.9

    def test_scores(self):
        classifier = TextClassifier(**PLAIN).fit(TEXTS, LABELS)
        wrong = ["grain" if label == "oil" else label for label in LABELS]
        weights = np.where(np.array(LABELS) == "oil", 3.0, 1.0)
        assert classifier.score(TEXTS, wrong) == pytest.approx(20 / 30)
        assert classifier.score(TEXTS, wrong, sample_weight=weights) == pytest.approx(20 / 50)


@pytest.fixture(scope="module")
def classifier():
    return TextClassifier(learner=LinearSVM(C=10), **PLAIN).fit(TEXTS, SETS)


class TestScoresOfLabelSets:
    def test_all_labels_have_to_be_right(self, classifier):
        assert classifier.score(TEXTS, SETS) == 1
        assert classifier.score(TEXTS, [set(labels) for labels in SETS]) == 1
        several = [labels if len(labels) > 1 else [*labels, "new"] for labels in SETS]
        share = np.mean([len(labels) > 1 for labels in SETS])
        assert classifier.score(TEXTS, several) == pytest.approx(share)
        assert classifier.score(TEXTS[:5], [["grain"]] * 5) == pytest.approx(0.8)
        weights = [0.0 if len(labels) > 1 else 1.0 for labels in SETS]
        assert classifier.score(TEXTS, several, sample_weight=weights) == 0

    def test_as_of_an_indicator(self, classifier):
        Y = np.array([[label in labels for label in classifier.classes_] for labels in SETS]).astype(int)
        Y[:7, 0] = 1 - Y[:7, 0]
        indicator = TextClassifier(learner=LinearSVM(C=10), **PLAIN).fit(TEXTS, Y)
        share = indicator.score(TEXTS, Y)
        assert share == sklearn.metrics.accuracy_score(Y, indicator.predict(TEXTS))
        sets = [[str(j) for j in np.flatnonzero(row)] for row in Y]
        assert TextClassifier(learner=LinearSVM(C=10), **PLAIN).fit(TEXTS, sets).score(TEXTS, sets) == share

    def test_in_cross_validation(self):
        """By a splitter: a number of folds is stratified by classes, and sets are none."""
        found = cross_val_score(
            TextClassifier(**PLAIN), TEXTS, SETS, cv=KFold(3, shuffle=True, random_state=0)
        )
        assert ((found > 0) & (found <= 1)).all()


class TestMissingMethods:
    def test_probabilities(self):
        classifier = TextClassifier(**PLAIN).fit(TEXTS, LABELS)
        assert not hasattr(classifier, "predict_proba")
        with pytest.raises(
            AttributeError, match=r'LinearSVM are not probabilities. Pass calibration="platt"'
        ):
            classifier.predict_proba(TEXTS)
        assert hasattr(TextClassifier(calibration="platt"), "predict_proba")
        assert hasattr(TextClassifier(learner=LogisticRegression()), "predict_proba")

    def test_partial_fit(self):
        assert not hasattr(TextClassifier(), "partial_fit")
        with pytest.raises(AttributeError, match=r"LinearSVM requires all documents at once.*Arow"):
            TextClassifier().partial_fit(TEXTS, LABELS)
        assert hasattr(TextClassifier(learner=Arow()), "partial_fit")
