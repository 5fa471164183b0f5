"""C45 as an estimator: every task, every form of output, saving, explaining, refusing."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference import c45 as reference
from widemargin import C45, SelectFeatures, TextClassifier, Vectorizer
from widemargin._arrays import canonical_csr
from widemargin.classifier.scorer import Scorer
from widemargin.errors import DataError, UsageError
from widemargin.labels import Labels

KINDS = ["binary", "multiclass", "multilabel"]
OUTPUTS = ["tree", "rules"]


@parametrize_with_checks(
    [C45(), C45(None, penalty=False), C45(output="rules"), C45(0.1, min_objects=3, max_depth=4)]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def task(kind, *, n=60, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.6, (n, d)).astype(float)
    if kind == "multilabel":
        Y = np.column_stack([X[:, 0] > 0, (X[:, 1] > 1) | (X[:, 2] > 0), rng.random(n) < 0.3]).astype(int)
        return X, np.column_stack([Y, np.zeros(n, int), np.ones(n, int)])  # nobody's and everybody's label
    if kind == "binary":
        return X, np.where(X[:, 0] + X[:, 1] > 1, "spam", "ham")
    return X, np.array(["ham", "spam", "eggs", "oil"])[np.minimum(X[:, 3].astype(int), 3)]


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_leaves(kind):
    X, y = task(kind)
    weights = np.random.default_rng(1).integers(0, 4, len(X)) / 2
    model = C45(0.4, penalty=False).fit(sp.csr_array(X), y, weights)
    used = weights > 0
    signs = Labels.of(y).signs
    scores = model.decision_function(X).reshape(len(X), -1)
    for column in range(signs.shape[1]):
        tree = reference.grow(X[used], signs[used, column] > 0, weights[used], penalty=False)
        reference.prune(tree, 0.4)
        leaves = [tree.leaf(x) for x in X]
        expected = [(leaf.positive + 1) / (leaf.n + 2) - 0.5 for leaf in leaves]
        np.testing.assert_array_equal(scores[:, column], expected)
    if kind == "multilabel":
        assert (scores[:, 3] < 0).all()
        assert (scores[:, 4] > 0).all()


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_threads_formats_and_weights_change_nothing(kind, output):
    X, y = task(kind, n=200, d=40)
    ways = [
        (1, X, None),
        (3, sp.csr_array(X), None),
        (2, sp.csc_array(X), np.ones(len(X))),
        (1, X.astype("f"), 1.0),
    ]
    models = [C45(output=output, n_jobs=jobs).fit(each, y, weights) for jobs, each, weights in ways]
    states = [model.get_state()[1] for model in models]
    for state in states[1:]:
        for name, array in states[0].items():
            np.testing.assert_array_equal(array, state[name])
    scores = models[0].decision_function(X)
    for model, each in zip(models, (X, sp.csr_array(X), sp.coo_array(X), X.astype("f")), strict=True):
        np.testing.assert_array_equal(model.decision_function(each), scores)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_copied(kind, output, tmp_path):
    X, y = task(kind)
    model = C45(output=output).fit(X, y)
    again = C45.from_state(*model.get_state())
    for other in (again, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
        assert [line.n for line in other.outline(model.label_space_.column_names[0])]
    # The output of the last fit is the one that scores.
    other = {"tree": "rules", "rules": "tree"}[output]
    fresh = C45(output=other).fit(X, y)
    refitted = model.set_params(output=other).fit(X, y)
    np.testing.assert_array_equal(refitted.decision_function(X), fresh.decision_function(X))


def test_probabilities():
    for kind in KINDS:
        X, y = task(kind)
        model = C45().fit(X, y)
        found, scores = model.predict_proba(X), model.decision_function(X)
        assert (found > 0).all()
        assert (found < 1).all()
        if kind == "multilabel":
            np.testing.assert_array_equal(found, scores + 0.5)
        else:
            np.testing.assert_allclose(found.sum(axis=1), 1)
            best = model.classes_[found.argmax(axis=1)]
            assert best.tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_class_with_one_document_and_many_classes(output):
    X = np.eye(8)
    y = list("aabbccdE")
    model = C45(output=output, min_objects=1, confidence=0.9).fit(np.vstack([X, X]), y + y[:-1] + ["d"])
    assert model.decision_function(X).shape == (8, 5)
    lonely = C45(output=output).fit(X, y)
    assert (lonely.decision_function(X)[:, 0] < 0).all()  # one document is less than a branch needs


@pytest.mark.parametrize("depth", [1, 3])
def test_max_depth(depth):
    X, Y = task("multilabel", n=300)
    y = Y[:, 2]  # noise
    model = C45(None, max_depth=depth).fit(X, y)
    assert max(line.depth for line in model.outline()) == depth - 1
    unlimited = C45(None).fit(X, y)
    assert max(line.depth for line in unlimited.outline()) > 3


def test_less_confidence_and_more_objects_make_smaller_trees():
    X, Y = task("multilabel", n=400)
    sizes = [len(C45(c, penalty=False).fit(X, Y).trees_.n) for c in (None, 0.5, 0.25, 0.01)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]
    assert len(C45(None, penalty=False, min_objects=20).fit(X, Y).trees_.n) < sizes[0]


def test_a_penalty_for_many_values():
    """A column of noise with distinct values gains something by chance, but not what the choice costs."""
    rng = np.random.default_rng(3)
    noise, y = rng.random((60, 1)), rng.integers(0, 2, 60)
    assert len(C45(None).fit(noise, y).trees_.n) == 1
    assert len(C45(None, penalty=False).fit(noise, y).trees_.n) > 1


TEXTS = [
    "wheat and corn harvest", "corn exports rose", "the bank cut its rate", "bank profits fell",
    "wheat prices", "rate of the bank", "corn and wheat", "a bank holiday",
]  # fmt: skip
TOPICS = ["grain", "grain", "money", "money", "grain", "money", "grain", "money"]


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("labels", [TOPICS, [[topic] for topic in TOPICS], [*TOPICS[:6], "corn", "corn"]])
def test_explanations_are_paths(output, labels, tmp_path):
    texts = TEXTS * 3
    classifier = TextClassifier(Vectorizer(weighting="bxx"), C45(None, output=output), estimate=None)
    classifier.fit(texts, labels * 3)
    classifier.save(tmp_path / "m.wm")
    scorer = Scorer.load(tmp_path / "m.wm")
    for text in (*TEXTS, "nothing known"):
        scores = np.atleast_2d(classifier.decision_function([text]))
        for label in classifier.classes_:
            found = classifier.explain(text, label)
            total = found.bias + sum(part.value for part in found.contributions)
            assert total == pytest.approx(found.score, abs=1e-12)
            assert found == scorer.explain(text, label)
            if len(classifier.classes_) > 2:
                assert found.score == scores[0, classifier.classes_.tolist().index(label)]
            assert found.path is not None
            if found.path:
                assert found.path[-1].score == pytest.approx(found.score)
            for step in found.path:
                assert (step.value == 0) == (step.condition == f'no "{step.term}"')
    json = classifier.explain("the bank").to_dict()
    assert set(json["path"][0]) == {"condition", "term", "value", "score"}


def test_a_path_by_hand():
    classifier = TextClassifier(Vectorizer(weighting="bxx"), C45(None), estimate=None).fit(TEXTS, TOPICS)
    found = classifier.explain("the bank")
    (step,) = found.path
    assert (step.condition, step.term, step.value) == ('"bank"', "bank", 1.0)
    assert found.score == pytest.approx(5 / 6 - 0.5)  # all four documents with "bank": (4 + 1) / (4 + 2)
    assert found.bias == 0.0  # half of all documents
    (other,) = classifier.explain("the bank", "grain").path
    assert other.score == -step.score
    outline = classifier.outline("money")
    assert outline.words() == ['no "bank": not money (0 of 4)', '"bank": money (4 of 4)']
    assert classifier.outline("grain").words() == ['no "bank": grain (4 of 4)', '"bank": not grain (0 of 4)']
    leaf = outline.to_list()[1]
    assert leaf["conditions"] == [{"term": "bank", "above": True, "threshold": 0.0}]
    assert (leaf["documents"], leaf["with_label"], leaf["score"]) == (4.0, 4.0, step.score)


def test_terms_behind_selected_features_have_their_names():
    classifier = TextClassifier(learner=C45(None), features=SelectFeatures("ig", 2), estimate=None).fit(
        TEXTS * 3, TOPICS * 3
    )
    assert classifier.explain("a bank").path[0].term in ("bank", "corn", "wheat")
    assert any('"' in line for line in classifier.outline("money").words())


def test_other_learners_have_no_tree():
    classifier = TextClassifier(tune=None, estimate=None).fit(TEXTS, TOPICS)
    assert not classifier.has_outline
    with pytest.raises(UsageError, match=r"is not a tree\. Train a C45"):
        classifier.outline("money")
    assert classifier.explain("the bank").path is None
    assert "path" not in classifier.explain("the bank").to_dict()
    with pytest.raises(UsageError, match="no tree for 'oil'"):
        C45().fit(np.eye(4), ["a", "b", "c", "c"]).outline("oil")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"confidence": 0}, "confidence=0: expected a number between 0 and 1"),
        ({"confidence": 1.5}, "confidence=1.5"),
        ({"output": "forest"}, 'output=\'forest\': expected "tree" or "rules"'),
        ({"min_objects": 0}, "min_objects=0: expected a positive number"),
        ({"max_depth": 0}, "max_depth=0: expected a positive integer"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(UsageError, match=message):
        C45(**parameters).fit(np.eye(4), [0, 1, 0, 1])


def damaged(model, **changes):
    """The state of a model with other arrays."""
    config, arrays = model.get_state()
    for name, change in changes.items():
        arrays[name] = change(arrays[name].copy())
    return config, arrays


def changed(place, value):
    def change(array):
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("tree_left", changed(0, 0), "do not form trees"),  # a node that is its own child
        ("tree_right", changed(0, 1), "do not form trees"),  # two parents
        ("tree_right", changed(0, 2**31 - 1), "do not form trees"),
        ("tree_left", changed(0, -5), "do not form trees"),
        ("tree_column", changed(0, 99), "expected -1 to 11"),
        ("tree_column", changed(0, -2), "expected -1 to 11"),
        ("tree_column", changed(0, -1), "do not form trees"),  # nodes that nothing leads to
        ("tree_column", changed(-1, 1), "do not form trees"),  # a leaf that tests
        ("tree_begin", changed(0, 1), "does not divide"),
        ("tree_begin", changed(1, 2**40), "does not divide"),
        ("tree_begin", changed(1, 0), "does not divide"),
        ("tree_threshold", changed(0, np.nan), "not finite"),
        ("tree_n", changed(0, -1.0), "expected 0"),
        ("tree_positive", changed(0, 1e9), "exceeds"),
        ("tree_n", lambda array: array[:-1], "has shape"),
    ],
)
def test_damaged_trees_are_refused(name, change, message):
    X, y = task("multiclass", n=200)
    state = damaged(C45(None, penalty=False).fit(X, y), **{name: change})
    with pytest.raises(DataError, match=message):
        C45.from_state(*state)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("rules_begin", changed(-1, 10**6), "does not divide"),
        ("rules_begin", changed(1, 0), "does not divide"),
        ("rules_conditions_begin", changed(1, -3), "does not divide"),
        ("rules_conditions_begin", changed(-1, 10**6), "does not divide"),
        ("rules_column", changed(0, 12), "expected 0 to 11"),
        ("rules_above", changed(0, 2), "expected 0 to 1"),
        ("rules_positive", changed(0, 1e9), "exceeds"),
        ("rules_positive", lambda array: array[:-1], "exceeds"),
        ("rules_threshold", changed(0, np.inf), "not finite"),
    ],
)
def test_damaged_rules_are_refused(name, change, message):
    X, y = task("multiclass", n=200)
    model = C45(output="rules").fit(X, y)
    assert len(model.rules_.column) > 2
    with pytest.raises(DataError, match=message):
        C45.from_state(*damaged(model, **{name: change}))


def test_any_change_of_the_links_of_a_tree_is_refused_or_harmless():
    """Every walk ends, whatever numbers a file holds."""
    X, y = task("binary", n=200)
    model = C45(None, penalty=False).fit(X, y)
    rng, refused = np.random.default_rng(0), 0
    for _ in range(300):
        name = rng.choice(["left", "right", "column", "begin"])
        array = getattr(model.trees_, name).copy()
        array[rng.integers(len(array))] = rng.integers(-3, len(model.trees_.n) + 3)
        config, arrays = model.get_state()
        arrays[f"tree_{name}"] = array
        try:
            changed = C45.from_state(config, arrays)
        except DataError:
            refused += 1
            continue
        assert np.isfinite(changed.decision_function(X)).all()
    assert refused > 150


def test_columns_without_values_and_explicit_zeros():
    X, y = task("binary")
    wide = sp.csr_array(np.column_stack([X, np.zeros((len(X), 3))]))
    stored = canonical_csr(wide)
    data, indices = np.append(stored.data, 0.0), np.append(stored.indices, 14).astype(np.int32)
    indptr = np.append(stored.indptr[:-1], stored.indptr[-1] + 1)
    zeros = sp.csr_array((data, indices, indptr), shape=wide.shape)
    assert zeros.nnz == wide.nnz + 1
    trees = [C45().fit(each, y).trees_ for each in (X, wide, zeros)]
    for field in dataclasses.fields(trees[0]):
        for tree in trees[1:]:
            np.testing.assert_array_equal(getattr(tree, field.name), getattr(trees[0], field.name))
