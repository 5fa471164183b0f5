"""A loaded Scorer does what the classifier does, and a linear one without scikit-learn and SciPy."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from widemargin import (
    C45,
    AverageOf,
    BalancedWinnow,
    BoostedTrees,
    KernelSVM,
    LabelWeightedSVM,
    LinearSVM,
    LogisticRegression,
    MulticlassSVM,
    NaiveBayes,
    NearestNeighbors,
    ProfileClassifier,
    RegularizedLeastSquares,
    Rocchio,
    SelectFeatures,
    TextClassifier,
    Vectorizer,
)
from widemargin.classifier import Scorer
from widemargin.features.sampling import SampleFeatures
from widemargin.text.counting import Index

WORDS = {"grain": "wheat corn harvest crop", "money": "bank rate loan profit", "fuel": "oil gas barrel well"}
rng = np.random.default_rng(0)
LABELS = [str(label) for label in rng.choice(list(WORDS), size=60)]
TEXTS = [
    " ".join(
        rng.choice(f"{WORDS[label]} the and of {' '.join(WORDS.values())}".split(), size=rng.integers(3, 12))
    )
    for label in LABELS
]
SETS = [[label] if i % 5 else [label, "long"] for i, label in enumerate(LABELS)]
PATHS = [{"grain": "goods/grain", "fuel": "goods"}.get(label, label) for label in LABELS]
TWO = ["grain" if label == "grain" else "other" for label in LABELS]
NEW = ["corn and oil and a bank", "", "Wheat, wheat; WHEAT", "nothing known here", "the gas rate"]

LINEAR = {
    "classes": (TextClassifier(tune=None, estimate=None), LABELS),
    "two classes": (TextClassifier(learner=RegularizedLeastSquares(), tune=None, estimate=None), TWO),
    "label sets": (TextClassifier(estimate="k-fold", thresholds="f1", tune=None), SETS),
    "probabilities": (TextClassifier(estimate="k-fold", calibration="platt", tune=None), LABELS),
    "paths": (TextClassifier(label_path="/", estimate="k-fold", calibration="platt", tune=None), PATHS),
    "sets of paths": (
        TextClassifier(label_path="/", estimate="k-fold", thresholds="f1", calibration="isotonic", tune=None),
        [[path] if i % 5 else [path, "long"] for i, path in enumerate(PATHS)],
    ),
    "hashed": (
        TextClassifier(Vectorizer(n_hashed=256, ngram_range=(1, 2)), tune=None, estimate=None),
        LABELS,
    ),
    "stems": (
        TextClassifier(Vectorizer(stemmer="porter", stop_words="freewais"), tune=None, estimate=None),
        LABELS,
    ),
    "counts": (TextClassifier(Vectorizer(weighting=None), tune=None, estimate=None), LABELS),
    "selected": (TextClassifier(features=SelectFeatures("chi2", 6, unit_length=True), estimate=None), LABELS),
    "rocchio": (TextClassifier(learner=Rocchio(), tune=None, estimate=None), LABELS),
    "logistic": (TextClassifier(learner=LogisticRegression(), tune=None, estimate=None), LABELS),
    "logistic, label sets": (TextClassifier(learner=LogisticRegression(), tune=None, estimate=None), SETS),
    "average": (TextClassifier(Vectorizer(blocks="words,bigrams:0.5"), AverageOf(), estimate=None), SETS),
    "vectors": (
        TextClassifier(Vectorizer(blocks="words,vectors:dims=4:min=1"), tune=None, estimate=None),
        SETS,
    ),
    "average, two classes": (
        TextClassifier(
            learner=AverageOf([(None, LinearSVM()), ("words", LinearSVM(0.1))]), tune=None, estimate=None
        ),
        TWO,
    ),
    "label weights": (TextClassifier(learner=LabelWeightedSVM(), tune=None, estimate=None), LABELS),
    "label weights, two classes": (TextClassifier(learner=LabelWeightedSVM(), tune=None, estimate=None), TWO),
    "label weights, label sets": (
        TextClassifier(learner=LabelWeightedSVM(), estimate="auto", thresholds="f1", tune=None),
        SETS,
    ),
    "naive bayes": (TextClassifier(learner=NaiveBayes(), tune=None, estimate=None), SETS),
    "naive bayes, bernoulli": (
        TextClassifier(learner=NaiveBayes(event_model="bernoulli"), tune=None, estimate=None),
        LABELS,
    ),
    "sampled": (TextClassifier(features=SampleFeatures(8, random_state=0), estimate=None), LABELS),
}
OTHERS = {
    "sparse weights": (TextClassifier(learner=LinearSVM(sparse_coef=True), tune=None, estimate=None), LABELS),
    "few weights": (TextClassifier(learner=LinearSVM(penalty="l1", C=10), tune=None, estimate=None), LABELS),
    "boosted trees": (TextClassifier(learner=BoostedTrees(20), tune=None, estimate=None), SETS),
    "boosted stumps": (
        TextClassifier(learner=BoostedTrees(20, base="stumps"), tune=None, estimate=None),
        LABELS,
    ),
    "boosted stumps, shared": (
        TextClassifier(
            learner=BoostedTrees(20, base="stumps", committees="shared"), tune=None, estimate=None
        ),
        SETS,
    ),
    "online": (TextClassifier(learner=BalancedWinnow(), tune=None, estimate=None), LABELS),
    "profiles": (TextClassifier(Vectorizer(weighting=None), ProfileClassifier(), estimate=None), LABELS),
    "nearest neighbors": (TextClassifier(learner=NearestNeighbors(3), tune=None, estimate=None), SETS),
    "nearest neighbors, equal": (
        TextClassifier(learner=NearestNeighbors(3, vote="equal"), tune=None, estimate=None),
        TWO,
    ),
    "c45": (TextClassifier(learner=C45(None, min_objects=1), tune=None, estimate=None), LABELS),
    "c45 rules": (TextClassifier(learner=C45(output="rules", min_objects=1), tune=None, estimate=None), SETS),
    "kernel": (TextClassifier(learner=KernelSVM(kernel="rbf", gamma=1.0), tune=None, estimate=None), LABELS),
    "multiclass": (TextClassifier(learner=MulticlassSVM(), tune=None, estimate=None), LABELS),
    "multiclass kernel": (
        TextClassifier(learner=MulticlassSVM(kernel="rbf", gamma=1.0), tune=None, estimate=None),
        LABELS,
    ),
    "pairs": (
        TextClassifier(learner=KernelSVM(kernel="linear", scheme="votes"), tune=None, estimate=None),
        LABELS,
    ),
}


def fresh(name: str) -> tuple[TextClassifier, list]:
    """A copy, so that fitted parts do not live until the interpreter ends."""
    classifier, y = (LINEAR | OTHERS)[name]
    return clone(classifier), y


# Scores, decides, explains and lists terms, then says which libraries that took.
DRIVER = """
import json, sys
from widemargin.classifier import Scorer
scorer = Scorer.load(sys.argv[1])
texts = json.loads(sys.argv[2])
scores = scorer.scores(texts)
found = {"scores": scores.tolist(), "labels": scorer.rule.label_lists(scores)}
found["explained"] = [scorer.explain(text).to_dict() for text in texts]
found["top"] = scorer.top_terms(scorer.space.classes.tolist()[-1], 3)
if scorer.rule.calibration is not None:
    found["probabilities"] = scorer.rule.probabilities(scores).tolist()
found["heavy"] = sorted({"sklearn", "scipy"} & set(sys.modules))
print(json.dumps(found))
"""


@pytest.mark.parametrize("name", [*LINEAR, *OTHERS])
def test_a_loaded_scorer_gives_the_numbers_of_the_classifier(name, tmp_path):
    classifier, y = fresh(name)
    classifier.fit(TEXTS, y).save(tmp_path / "m.wm")
    scorer = Scorer.load(tmp_path / "m.wm")
    scores = scorer.scores(NEW)
    np.testing.assert_array_equal(scores, classifier.decision_function(NEW))
    decided = classifier.predict(NEW)
    expected = (
        [list(labels) for labels in decided]
        if isinstance(decided, list)
        else [[label] for label in decided.tolist()]
    )
    assert scorer.rule.label_lists(scores) == expected
    if classifier.has_weights:
        for text in NEW:
            found = scorer.explain(text)
            assert found == classifier.explain(text)
            assert found.bias + sum(part.value for part in found.contributions) == pytest.approx(found.score)


@pytest.mark.parametrize("name", LINEAR)
def test_a_linear_model_is_used_without_scikit_learn_and_scipy(name, tmp_path):
    classifier, y = fresh(name)
    classifier.fit(TEXTS, y).save(tmp_path / "m.wm")
    command = [sys.executable, "-c", DRIVER, str(tmp_path / "m.wm"), json.dumps(NEW)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert found["heavy"] == []
    assert found["scores"] == classifier.decision_function(NEW).tolist()
    assert found["explained"] == json.loads(json.dumps([classifier.explain(text).to_dict() for text in NEW]))
    if name == "probabilities":
        np.testing.assert_allclose(found["probabilities"], classifier.predict_proba(NEW), rtol=1e-12)


@pytest.mark.parametrize(
    "arguments", [["predict", "{model}", "{data}", "--scores", "--top", "2"], ["explain", "{model}", NEW[0]]]
)
def test_the_command_line_answers_without_them_too(arguments, tmp_path):
    TextClassifier(tune=None, estimate=None).fit(TEXTS, LABELS).save(tmp_path / "m.wm")
    (tmp_path / "d.jsonl").write_text(json.dumps({"text": NEW[0]}))
    given = [part.format(model=tmp_path / "m.wm", data=tmp_path / "d.jsonl") for part in arguments]
    driver = (
        "import sys; from widemargin.cli import main; code = main(sys.argv[1:]); "
        "print(sorted({'sklearn', 'scipy'} & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", driver, *given], check=True, capture_output=True, text=True)
    assert done.stdout
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", ["classes", "hashed", "stems", "selected"])
def test_an_explanation_tokenizes_the_text_once(name, monkeypatch):
    classifier, y = fresh(name)
    classifier.fit(TEXTS, y)
    calls = []
    for method in ("count", "locate"):
        own = getattr(Index, method)
        monkeypatch.setattr(
            Index,
            method,
            lambda self, *args, own=own, method=method: calls.append(method) or own(self, *args),
        )
    classifier.explain("corn and oil, corn")
    assert calls == ["locate"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"units": "chars", "ngram_range": (1, 3)},
        {"n_hashed": 64},
        {"stemmer": "porter"},
        {"weighting": None},
    ],
)
def test_the_row_from_the_places_of_terms_is_that_of_transform(options):
    vectorizer = Vectorizer(**options).fit(TEXTS)
    for text in [*TEXTS[:5], *NEW]:
        row, located = vectorizer.located_row(text)
        whole = vectorizer.transform([text])
        np.testing.assert_array_equal(row.indices, whole.indices)
        np.testing.assert_array_equal(row.data, whole.data)
        assert row.data.dtype == whole.data.dtype
        assert set(located.columns.tolist()) == set(row.indices.tolist())
