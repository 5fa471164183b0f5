"""Nearest neighbors against their definition written out, scikit-learn's, and searches among the others."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.learn.test_interrupt import interrupt
from tests.reference import neighbors as reference
from widemargin import NearestNeighbors, TextClassifier, Vectorizer, leave_one_out
from widemargin._arrays import canonical_csr
from widemargin.classifier.scorer import Scorer
from widemargin.errors import DataError, UsageError
from widemargin.estimate.training_rows import TrainingRows
from widemargin.labels import Labels

KINDS = ["binary", "multiclass", "multilabel"]
VOTES = ["weighted", "equal"]


@parametrize_with_checks(
    [NearestNeighbors(), NearestNeighbors(3, vote="equal")],
    expected_failed_checks=lambda estimator: (
        {"check_classifiers_multilabel_output_format_predict_proba": "a label without votes has the share 0"}
        if estimator.n_neighbors == 3
        else {}
    ),
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def task(kind, *, n=40, d=15, seed=0):
    """Weights with empty rows, duplicates and terms that nobody has, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, (n, d)) * rng.integers(1, 4, (n, d)).astype(float)
    X[3], X[:, 5], X[9], X[11] = 0, 0, X[8], 3 * X[8]
    if kind == "multilabel":
        Y = (rng.random((n, 5)) < 0.3).astype(int)
        Y[:, 3], Y[:, 4] = 0, 1  # one that no document has, one that all have
        return X, Y
    return X, np.array(["ham", "spam", "eggs", "oil"])[rng.integers(0, 2 if kind == "binary" else 4, n)]


def expected_scores(X, new, signs, weights, k, vote, left_out=False):
    found = reference.cosines(reference.unit(new), reference.unit(X))
    weighted = vote == "weighted"
    return np.array(
        [
            reference.scores(row, signs, weights, k, weighted=weighted, left_out=i if left_out else None)
            for i, row in enumerate(found)
        ]
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("vote", VOTES)
@pytest.mark.parametrize("k", [1, 4, 15, None])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_definition(kind, vote, k, weighted):
    X, y = task(kind)
    new = np.concatenate([X, task(kind, seed=1)[0]])
    weights = np.random.default_rng(1).choice([0, 0.5, 0.3, 1, 2.5], len(X)) if weighted else np.ones(len(X))
    model = NearestNeighbors(k, vote=vote).fit(sp.csr_array(X), y, weights if weighted else None)
    signs = Labels.of(y).signs
    found = model.decision_function(new).reshape(len(new), -1)
    expected = expected_scores(X, new, signs, weights, k or 30, vote)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.decision_function(sp.csr_array(new)).reshape(found.shape), found)
    if kind != "binary":
        np.testing.assert_allclose(model.predict_proba(new), (1 + expected) / 2, rtol=1e-12, atol=1e-12)


values = st.sampled_from([0, 0, 0, 1, 2, 5])
signed = st.sampled_from([0, 0, 1, 2, -1, 1e-30])


def matrices(numbers, n=12):
    return st.lists(st.lists(numbers, min_size=4, max_size=4), min_size=2, max_size=n).map(
        lambda rows: np.array(rows, dtype=float)
    )


@given(
    st.one_of(matrices(values), matrices(signed)),
    st.one_of(matrices(values, 3), matrices(signed, 3)),
    st.integers(1, 12),
    st.one_of(st.none(), st.lists(st.sampled_from([0, 0.25, 1, 3]), min_size=12, max_size=12)),
)
def test_neighbors_and_ties_of_any_documents(X, new, k, weights):
    """Documents, cosines and their order, bit by bit."""
    weights = np.ones(len(X)) if weights is None else np.array(weights[: len(X)])
    y = np.arange(len(X)) % 2
    if not weights.any() or k > weights.sum():
        with pytest.raises((UsageError, DataError)):
            NearestNeighbors(k).fit(X, y, weights)
        return
    found = NearestNeighbors(k).fit(X, y, weights).nearest(new)
    for i, row in enumerate(reference.cosines(reference.unit(new), reference.unit(X))):
        expected = reference.nearest(row, weights, k)
        here = found.documents[i] >= 0
        assert here[: len(expected)].all()
        documents, cosines, counts = (part[i][here].tolist() for part in found)
        assert list(zip(documents, cosines, counts, strict=True)) == expected


def text_like(n, d, seed, length=25):
    """Sparse rows whose columns are as frequent as words, some of them in most rows."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, d + 1)
    rows = np.repeat(np.arange(n), length)
    columns = rng.choice(d, n * length, p=shares / shares.sum())
    X = sp.csr_array((rng.integers(1, 4, n * length).astype(float), (rows, columns)), shape=(n, d))
    return X, np.log(1.2 * n / (1 + np.bincount(X.indices, minlength=d)))


@pytest.mark.parametrize("k", [1, 7, 30, 500, 3000])
def test_the_bounds_reject_no_neighbor(k):
    """Enough documents and frequent terms for every bound, and many equal cosines."""
    X, idf = text_like(3000, 400, 0)
    X = (X @ sp.diags_array(idf)).tocsr()
    new = sp.vstack([X[:20], (text_like(40, 400, 1)[0] @ sp.diags_array(idf)).tocsr()]).tocsr()
    X = sp.vstack([X[:2500], X[:500]]).tocsr()  # duplicates
    found = NearestNeighbors(k).fit(X, np.arange(3000) % 3).nearest(new)
    exact = reference.cosines(reference.unit(new.toarray()), reference.unit(X.toarray()))
    for i, row in enumerate(exact):
        order = np.lexsort((np.arange(len(row)), -row))[:k]
        order = order[row[order] > 0]
        assert found.documents[i].tolist() == order.tolist() + [-1] * (k - len(order))
        np.testing.assert_array_equal(found.cosines[i, : len(order)], row[order])


def test_blocks_of_documents():
    """More documents than are searched at a time."""
    X, _ = text_like(70_000, 60, 0, length=6)
    new, _ = text_like(12, 60, 1, length=5)
    found = NearestNeighbors(40).fit(X, np.arange(70_000) % 2).nearest(new)
    exact = reference.cosines(reference.unit(new.toarray()), reference.unit(X.toarray()))
    for i, row in enumerate(exact):
        order = np.lexsort((np.arange(len(row)), -row))[:40]
        assert found.documents[i].tolist() == order.tolist()
    skipped = sp.csr_array((new.shape[0], 60))
    assert (NearestNeighbors(40).fit(X, np.arange(70_000) % 2).nearest(skipped).documents == -1).all()


def test_scikit_learns_neighbors_and_classes():
    rng = np.random.default_rng(0)
    X, new = rng.random((200, 8)), rng.random((50, 8))
    y = rng.integers(0, 4, 200)
    peer = KNeighborsClassifier(7, algorithm="brute", metric="cosine").fit(X, y)
    model = NearestNeighbors(7, vote="equal").fit(X, y)
    distances, documents = peer.kneighbors(new)
    np.testing.assert_array_equal(model.nearest(new).documents, documents)
    np.testing.assert_allclose(1 - model.nearest(new).cosines, distances, atol=1e-6)
    np.testing.assert_array_equal(model.predict(new), peer.predict(new))
    np.testing.assert_allclose(model.predict_proba(new), peer.predict_proba(new), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("vote", VOTES)
@pytest.mark.parametrize("k", [1, 6, 25, None])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_is_a_search_among_the_others(kind, vote, k, weighted):
    X, y = task(kind, n=25, d=12)
    weights = np.random.default_rng(3).choice([0, 0.4, 2, 3.5], 25) if weighted else np.ones(25)
    labels = Labels.of(y)
    model = NearestNeighbors(k, vote=vote).fit(X, labels, weights if weighted else None)
    found = model.left_out_scores(sp.csr_array(X), y, weights)
    expected = expected_scores(X, X, labels.signs, weights, k or 30, vote, left_out=True)
    np.testing.assert_allclose(found.scores, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found.truth, labels.signs)
    assert found.method == "leave-one-out"
    if k != 25:  # where one fewer is left
        for i in range(25):
            rest = np.delete(np.arange(25), i)
            fresh = NearestNeighbors(k, vote=vote).fit(X[rest], labels.take(rest), weights[rest])
            scores = fresh.decision_function(X[[i]]).ravel()
            np.testing.assert_allclose(found.scores[i], scores, rtol=1e-12, atol=1e-12)


def test_leave_one_out_takes_the_training_documents():
    X, y = task("binary")
    model = NearestNeighbors(3).fit(X, y)
    for other, labels in ((X[::-1], y), (X[:9], y[:9]), (X + 1, y)):
        with pytest.raises(DataError, match=r"the 40 training documents in their order"):
            model.left_out_scores(other, labels)


def test_leave_one_out_as_new_documents():
    """A term that no other document has no longer lengthens the row, which changes who is nearest."""
    texts = ["corn wheat corn", "corn oil barley", "bank rate cut", "rate bank", "oil bank barrel", "oil gas"]
    y = ["grain", "grain", "money", "money", "fuel", "fuel"]
    vectorizer = Vectorizer()
    counts = vectorizer.fit_counts(texts)
    X = vectorizer.weighed(counts).matrix
    labels = Labels.of(y)
    model = NearestNeighbors(2).fit(X, labels)
    rows = TrainingRows(X, labels, texts, vectorizer, counts)
    found = leave_one_out(model, X, y, rows=rows)
    new = rows.as_new().rows.toarray()
    assert not np.allclose(new, X.toarray())
    exact = reference.cosines(reference.unit(new), reference.unit(X.toarray()))
    for i, row in enumerate(exact):
        expected = reference.scores(row, labels.signs, np.ones(6), 2, left_out=i)
        np.testing.assert_allclose(found.scores[i], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_add_up(kind, weighted):
    X, y = task(kind)
    weights = np.random.default_rng(1).integers(1, 4, len(X)).astype(float) if weighted else None
    whole = NearestNeighbors(5).fit(X, y, weights)
    parts = NearestNeighbors(5)
    classes = None if kind == "multilabel" else np.unique(y)
    for some in np.array_split(np.arange(len(X)), 9):
        of_part = None if weights is None else weights[some]
        parts.partial_fit(sp.csr_array(X[some]), y[some], classes, sample_weight=of_part)
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))
    np.testing.assert_array_equal(parts.documents_.toarray(), whole.documents_.toarray())
    np.testing.assert_array_equal(
        parts.left_out_scores(X, y).scores, whole.left_out_scores(X, y, weights).scores
    )


def test_labels_that_arrive_later():
    X, _ = task("binary", n=12)
    sets = [["a"], ["b"], [], ["a", "b"], ["0"], ["0", "b"]] * 2
    parts = NearestNeighbors(4).partial_fit(X[:4], sets[:4]).partial_fit(X[4:], sets[4:])
    whole = NearestNeighbors(4).fit(X, sets)
    assert parts.classes_.tolist() == ["0", "a", "b"]
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))
    y = ["a", "b", "a", "c", "b", "0"] * 2
    one_each = NearestNeighbors(4).partial_fit(X[:3], y[:3]).partial_fit(X[3:], y[3:])
    np.testing.assert_array_equal(
        one_each.decision_function(X), NearestNeighbors(4).fit(X, y).decision_function(X)
    )


def test_a_weight_is_a_number_of_copies():
    X, y = task("multiclass")
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = NearestNeighbors(9).fit(X, y, weights)
    copies = NearestNeighbors(9).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.decision_function(X), copies.decision_function(X), atol=1e-12)


def test_empty_documents_get_the_shares_of_the_labels():
    X, Y = task("multilabel")
    model = NearestNeighbors(5).fit(X, Y)
    empty = model.decision_function(sp.csr_array((2, X.shape[1])))
    np.testing.assert_allclose(empty, np.tile(2 * Y.mean(axis=0) - 1, (2, 1)), atol=1e-12)
    assert empty[0, 3] == -1
    assert empty[0, 4] == 1
    only_empty = NearestNeighbors().fit(sp.csr_array((3, 4)), [0, 1, 1])
    np.testing.assert_allclose(only_empty.decision_function(np.ones((1, 4))), 1 / 3)
    np.testing.assert_allclose(
        only_empty.left_out_scores(sp.csr_array((3, 4)), [0, 1, 1]).scores[:, 0], [1, 0, 0]
    )


def test_tiny_and_large_values_have_cosines():
    X = np.array([[3e-170, 4e-170], [3e90, 4e90], [5e-324, 0], [0, 1.0]])
    model = NearestNeighbors(2).fit(X, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.nearest(X[:2]).documents, [[0, 1], [0, 1]])
    np.testing.assert_allclose(model.documents_.toarray()[2], [1, 0])


def test_threads_do_not_change_the_scores():
    X, idf = text_like(2000, 300, 0)
    y = np.arange(2000) % 5
    one, two = (NearestNeighbors(9, n_jobs=jobs).fit(X @ sp.diags_array(idf), y) for jobs in (1, 3))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    left_out = [model.left_out_scores(X @ sp.diags_array(idf), y).scores for model in (one, two)]
    np.testing.assert_array_equal(*left_out)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_ends_with_ctrl_c(n_jobs):
    X, _ = text_like(60_000, 50, 0, length=20)
    model = NearestNeighbors(1000, n_jobs=n_jobs).fit(X, np.arange(60_000) % 2)
    interrupt(lambda: model.decision_function(X))


def test_it_is_pickled_and_cloned():
    X, y = task("binary")
    model = NearestNeighbors(3).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_the_callers_matrix_is_copied():
    X, y = task("binary")
    X = sp.csr_array(X)
    model = NearestNeighbors(3).fit(X, y)
    before = model.documents_.toarray()
    X.data[:], X.indices[:], X.indptr[:] = 7, 0, 0
    np.testing.assert_array_equal(model.documents_.toarray(), before)


class TestBadInput:
    def test_more_neighbors_than_documents(self):
        X, y = task("binary")
        with pytest.raises(UsageError, match=r"n_neighbors=41, but there are only 40 training documents\. "):
            NearestNeighbors(41).fit(X, y)
        with pytest.raises(UsageError, match=r"only 20 training documents by their weights"):
            NearestNeighbors(21).fit(X, y, np.full(40, 0.5))
        assert NearestNeighbors(40).fit(X, y).predict(X).shape == (40,)
        assert NearestNeighbors().fit(X[:9], y[:9]).predict(X).shape == (40,)

    def test_more_neighbors_than_have_arrived(self):
        X, y = task("binary")
        model = NearestNeighbors(10).partial_fit(X[:4], y[:4], ["ham", "spam"])
        with pytest.raises(UsageError, match="n_neighbors=10, but there are only 4"):
            model.predict(X)
        with pytest.raises(UsageError, match="n_neighbors=10, but there are only 4"):
            model.get_state()
        assert model.partial_fit(X[4:], y[4:]).predict(X).shape == (40,)

    @pytest.mark.parametrize("k", [0, -1, 1.5, "many", True])
    def test_n_neighbors_is_a_count(self, k):
        with pytest.raises(UsageError, match=r"n_neighbors=.*a positive integer .*or None"):
            NearestNeighbors(k).fit([[1.0], [2.0]], [0, 1])

    def test_unknown_votes(self):
        with pytest.raises(UsageError, match=r'vote=.*"weighted" or "equal"'):
            NearestNeighbors(1, vote="distance").fit([[1.0], [2.0]], [0, 1])

    def test_numbers_of_documents_and_labels(self):
        with pytest.raises(DataError, match="2 documents and 3 labels"):
            NearestNeighbors(1).partial_fit([[1.0], [2.0]], [0, 1, 1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("vote", VOTES)
def test_scores_are_sums_over_terms(kind, vote):
    X, y = task(kind)
    weights = np.random.default_rng(0).choice([0.5, 1, 2], len(X))
    model = NearestNeighbors(6, vote=vote).fit(X, y, weights)
    for row in [*task(kind, seed=1)[0][:10], np.zeros(15)]:
        csr = canonical_csr(row[None, :])
        constants, parts = model.score_parts(csr)
        scores = np.ravel(model.decision_function(row[None, :]))
        np.testing.assert_allclose(constants + parts.sum(axis=0), scores, rtol=1e-6, atol=1e-6)
        voters = model.voters(csr)
        assert len(voters) == int((model.nearest(row[None, :]).documents >= 0).sum())
        if voters:
            assert sum(voter.share for voter in voters) == pytest.approx(1)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_saved_and_loaded(tmp_path, kind):
    texts = ["wheat corn corn", "corn harvest", "bank rate", "the bank", "crude oil oil", "oil bank"]
    y = {
        "binary": ["a", "a", "b", "b", "b", "a"],
        "multiclass": ["a", "a", "b", "b", "c", "c"],
        "multilabel": [["a"], ["a"], ["b"], [], ["c"], ["b", "c"]],
    }[kind]
    classifier = TextClassifier(learner=NearestNeighbors(2), tune=None, estimate=None).fit(texts, y)
    classifier.save(tmp_path / "m.wm")
    loaded = TextClassifier.load(tmp_path / "m.wm")
    scores = classifier.learner_.decision_function(classifier.vectorizer_.transform(texts))
    np.testing.assert_array_equal(loaded.decision_function(texts), scores)
    np.testing.assert_array_equal(Scorer.load(tmp_path / "m.wm").scores(texts), scores)
    found = loaded.explain("corn corn bank")
    np.testing.assert_allclose(
        found.bias + sum(part.value for part in found.contributions), found.score, rtol=1e-6
    )
    assert [voter.document for voter in found.voters] == [0, 1]
    assert [voter.labels for voter in found.voters] == [["a"], ["a"]]
    assert found.to_dict()["voters"][0]["cosine"] == found.voters[0].cosine
    more = ["corn bank", "oil"], y[:2]
    np.testing.assert_array_equal(
        loaded.partial_fit(*more).decision_function(texts),
        classifier.partial_fit(*more).decision_function(texts),
    )


def test_weights_are_saved():
    X, y = task("multiclass")
    model = NearestNeighbors(4).fit(X, y, np.arange(40) / 20)
    again = NearestNeighbors.from_state(*model.get_state())
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
