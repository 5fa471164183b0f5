"""Classifiers that leave documents undecided, and the profile that they do it by."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as Peer

from widemargin import LinearSVM, MulticlassSVM, NaiveBayes, TextClassifier, Vectorizer
from widemargin.classifier import Scorer
from widemargin.classifier.record.training_record import TrainingRecord
from widemargin.errors import DataError, UsageError
from widemargin.monitor.drift_monitor import DriftMonitor

TOPICS = {
    "grain": ["corn", "wheat", "harvest", "rye", "field", "crop", "barley", "oats", "silo"],
    "money": ["bank", "rate", "loan", "credit", "interest", "cash", "fund", "market", "bond"],
    "sport": ["ball", "goal", "team", "match", "player", "league", "cup", "referee", "score"],
}
COMMON = [f"common{i}" for i in range(20)]


def documents(n, seed=0, share=0.45):
    """Documents of common words and of words of their topic, few enough that some are decided wrong."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(list(TOPICS), n)
    made = []
    for label in labels:
        other = rng.choice(list(TOPICS))
        size = rng.integers(4, 12)
        own = rng.random(size)
        words = [
            rng.choice(TOPICS[label] if x < share else TOPICS[other] if x < share + 0.15 else COMMON)
            for x in own
        ]
        made.append(" ".join([*words, f"id{rng.integers(500)}"]))
    return made, labels


@pytest.fixture(scope="module")
def train():
    return documents(900)


@pytest.fixture(scope="module")
def classifier(train):
    return TextClassifier(learner=LinearSVM(), tune=None, abstain=0.05, estimate="leave-one-out").fit(*train)


def test_what_is_decided_keeps_the_promise(classifier):
    texts, labels = documents(3000, 1)
    found = classifier.predict_or_abstain(texts)
    decided = np.array([label is not None for label in found])
    assert 0.1 < decided.mean() < 1
    assert (found[decided] != labels[decided]).mean() <= 0.05
    assert (classifier.predict(texts) != labels).mean() > 0.06
    assert (classifier.predict(texts)[decided] == found[decided]).all()
    assert [why is None for why in classifier.rejected(texts)] == decided.tolist()


def test_documents_without_known_terms_are_left_undecided(classifier):
    assert classifier.rejected(["zzz qqq", ""]).tolist() == ["no known terms"] * 2
    strange = " ".join(f"strange{i}" for i in range(40))
    assert classifier.rejected([f"corn {strange}"]).tolist() == ["unlike training"]


def test_predict_always_decides(classifier):
    assert classifier.predict(["zzz qqq"])[0] in TOPICS


def test_the_rule_is_read_with_the_model(classifier, tmp_path):
    classifier.save(tmp_path / "model.wm")
    again = TextClassifier.load(tmp_path / "model.wm")
    assert again.abstain == "0.05"
    assert again.reject_ == classifier.reject_
    texts, _ = documents(300, 2)
    assert again.rejected(texts).tolist() == classifier.rejected(texts).tolist()
    scorer = Scorer.load(tmp_path / "model.wm")
    scores, seen = scorer.observe(texts)
    assert scorer.rejected(classifier.reject_, texts, scores, seen).tolist() == again.rejected(texts).tolist()
    # From counts, and in one call of the core.
    assert scores == pytest.approx(scorer.scores(texts), abs=1e-6)


def test_an_estimate_is_made_if_it_is_needed(train):
    classifier = TextClassifier(learner=LinearSVM(), tune=None, estimate=None, abstain=0.1).fit(*train)
    assert classifier.reject_.asked.error == 0.1
    plain = TextClassifier(learner=LinearSVM(), tune=None, estimate=None).fit(*train)
    assert plain.reject_ is None
    assert plain.record_.profile is None
    with pytest.raises(UsageError, match="--estimate"):
        plain.rejected(["corn"], 0.1)
    with pytest.raises(UsageError, match="abstain"):
        plain.rejected(["corn"])


def test_a_least_probability(train):
    classifier = TextClassifier(learner=LinearSVM(), tune=None, calibration="platt").fit(*train)
    texts, _ = documents(200, 3)
    out = classifier.rejected(texts, "confidence:0.7").astype(bool)
    likely = classifier.predict_proba(texts).max(axis=1) >= 0.7
    assert (~out <= likely).all()
    assert (~out).any()
    with pytest.raises(UsageError, match="--calibrate"):
        TextClassifier(learner=LinearSVM(), tune=None, estimate="k-fold").fit(*train).rejected(
            texts, "confidence:0.7"
        )


def test_label_sets(train):
    texts, labels = train
    sets = [
        (label, "long") if len(text.split()) > 9 else (label,)
        for text, label in zip(texts, labels, strict=True)
    ]
    classifier = TextClassifier(learner=LinearSVM(), tune=None, abstain=0.3).fit(texts, sets)
    found = classifier.predict_or_abstain(texts)
    assert None in found
    assert any(isinstance(each, tuple) for each in found)


@pytest.mark.parametrize(
    "learner", [NaiveBayes(), MulticlassSVM(), LinearSVM()], ids=lambda each: type(each).__name__
)
@pytest.mark.parametrize("two", [True, False])
def test_every_kind_of_model_has_a_profile(train, learner, two, tmp_path):
    texts, labels = train
    y = np.where(labels == "grain", "grain", "other") if two else labels
    classifier = TextClassifier(learner=learner, tune=None, estimate="k-fold").fit(texts[:200], y[:200])
    profile = classifier.record_.profile
    assert profile.documents == 200
    assert profile.reference.groups == ["labels", "scores", "unknown terms", "no known terms"]
    assert 0.05 < profile.sample.unknown.mean() < 0.6
    classifier.save(tmp_path / "model.wm")
    read = Scorer.load(tmp_path / "model.wm").record.profile
    for before, after in zip(profile.get_state()[1].values(), read.get_state()[1].values(), strict=True):
        assert before.tolist() == after.tolist()
    monitor = DriftMonitor(read.reference, classifier.label_space_.column_names.tolist())
    monitor.update(classifier.scorer.observe(texts[200:])[1])
    assert monitor.seen == 700


def test_vectors_have_a_profile_of_scores(train):
    X = Vectorizer().fit_transform(train[0])
    classifier = TextClassifier(learner=LinearSVM(), tune=None, estimate="k-fold").fit(X, train[1])
    assert classifier.record_.profile.reference.groups == ["labels", "scores"]
    assert len(classifier.rejected(X, 0.2)) == X.shape[0]


def test_bounds_leave_a_profile_of_terms(train):
    classifier = TextClassifier(learner=LinearSVM(), tune=None, estimate="xi-alpha").fit(*train)
    assert classifier.record_.profile.reference.groups == ["unknown terms", "no known terms"]
    with pytest.raises(UsageError, match="--estimate"):
        classifier.rejected(["corn"], 0.1)


def test_the_profile_is_that_of_left_out_documents(classifier, train):
    """In-sample figures would flatter: no term is unknown there, and nearly all decisions are right."""
    profile = classifier.record_.profile
    assert profile.sample.unknown.mean() > 0.02
    _, seen = classifier.scorer.observe(train[0])
    assert seen.unknown.max() == 0
    in_sample = (classifier.predict(train[0]) == train[1]).mean()
    assert profile.right.mean() < in_sample


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("profile.right", np.zeros(3, dtype=bool)),
        ("profile.score", np.zeros(900)),
        ("profile.unknown", np.full(900, np.nan, dtype=np.float32)),
        ("profile.label_counts", np.array([1, 2, 3])),
        ("documents", 5),
        ("empty", "a"),
        ("optimism", 7.0),
    ],
)
def test_a_damaged_profile_is_refused(classifier, name, value):
    config, arrays = classifier.record_.get_state()
    config = {**config, "profile": dict(config["profile"])}
    (config["profile"] if name in config["profile"] else arrays)[name] = value
    with pytest.raises(DataError):
        TrainingRecord.from_state(config, arrays, 3)


def test_arrays_without_their_profile_are_refused(classifier):
    _, arrays = classifier.record_.get_state()
    with pytest.raises(DataError, match="missing"):
        TrainingRecord.from_state({}, arrays, 3)


def test_a_peer_at_the_same_coverage_is_no_better(classifier, train):
    """The largest probability of a logistic regression, on the same terms."""
    texts, labels = documents(3000, 4)
    decided = ~classifier.rejected(texts).astype(bool)
    ours = (classifier.predict(texts)[decided] != labels[decided]).mean()
    peer = Peer(C=10, max_iter=500).fit(classifier.vectorizer_.transform(train[0]), train[1])
    chances = peer.predict_proba(classifier.vectorizer_.transform(texts))
    best = np.argsort(-chances.max(axis=1))[: decided.sum()]
    theirs = (peer.classes_[chances[best].argmax(axis=1)] != labels[best]).mean()
    assert ours <= theirs + 0.02
