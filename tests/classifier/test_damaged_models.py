"""Model files with right checksums and wrong content: refused when they are loaded, or harmless."""

from __future__ import annotations

import copy
import functools
import io
import json
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from widemargin import (
    C45,
    Arow,
    AverageOf,
    BalancedWinnow,
    BalancedWinnowPlus,
    BoostedTrees,
    ChiSquareNetwork,
    DualSVM,
    GivenVectors,
    KernelSVM,
    LabelClusters,
    LabelWeightedSVM,
    LargeMarginWinnow,
    LatentSemanticIndexing,
    LinearSVM,
    LogisticRegression,
    MulticlassSVM,
    NaiveBayes,
    NearestNeighbors,
    Perceptron,
    PositiveWinnow,
    ProfileClassifier,
    RegularizedLeastSquares,
    Rocchio,
    SampledLeastSquares,
    SelectFeatures,
    SemiSupervisedBayes,
    TermClusters,
    TextClassifier,
    TransductiveSVM,
    Vectorizer,
    Winnow,
    _stored,
    models,
)
from widemargin.classifier.model_parts import FEATURES, LEARNERS, learner_name
from widemargin.cli import main
from widemargin.errors import DataError
from widemargin.features.sampling import SampleFeatures
from widemargin.models import Model

TEXTS = [
    "wheat and corn harvest",
    "the bank cut its rate",
    "corn exports rose",
    "bank profits fell",
    "wheat prices",
    "interest rate cut by the bank",
    "gas and oil",
    "oil exports rose",
    "crude oil harvest",
] * 2
BINARY = ["grain", "money", "grain", "money", "grain", "money", "other", "other", "other"] * 2
LABELS: dict[str, Any] = {
    "binary": [label if label == "grain" else "rest" for label in BINARY],
    "multiclass": BINARY,
    "multilabel": [(label,) if label != "other" else ("grain", "money") for label in BINARY],
    "paths": [{"grain": "goods/grain", "other": "goods"}.get(label, label) for label in BINARY],
    "sets of paths": [(f"all/{label}",) if label != "other" else ("money", "all/rest") for label in BINARY],
}
COUNTS = {"weighting": "txx"}
GIVEN = {"wheat": [1.0, 0.5], "corn": [1.0, 0.25], "bank": [-1.0, 0.5], "barley": [0.75, 0.25]}

# One classifier for every learner that can be saved, and for every form that its state may have.
CASES: dict[str, tuple[str, Callable[[], TextClassifier]]] = {
    "linear-svm": ("multiclass", lambda: TextClassifier(learner=LinearSVM(), estimate="k-fold", tune=None)),
    "linear-svm l1": (
        "multilabel",
        lambda: TextClassifier(learner=LinearSVM(penalty="l1", C=10), tune=None, estimate=None),
    ),
    "kernel-svm": ("multiclass", lambda: TextClassifier(learner=KernelSVM(), tune=None, estimate=None)),
    "kernel-svm poly": (
        "binary",
        lambda: TextClassifier(learner=KernelSVM(kernel="poly", degree=2), tune=None, estimate=None),
    ),
    "kernel-svm chi2": (
        "multiclass",
        lambda: TextClassifier(Vectorizer(**COUNTS), KernelSVM(kernel="chi2", scheme="dag"), estimate=None),
    ),
    "kernel-svm linear": (
        "multilabel",
        lambda: TextClassifier(learner=KernelSVM(kernel="linear"), tune=None, estimate=None),
    ),
    "transductive-svm": (
        "multiclass",
        lambda: TextClassifier(learner=TransductiveSVM(on_alarm="ignore"), estimate="k-fold", tune=None),
    ),
    "transductive-svm rbf": (
        "binary",
        lambda: TextClassifier(
            learner=TransductiveSVM(kernel="rbf", on_alarm="ignore"), tune=None, estimate=None
        ),
    ),
    "least-squares": (
        "multilabel",
        lambda: TextClassifier(learner=RegularizedLeastSquares(), tune=None, estimate=None),
    ),
    "sampled-least-squares": (
        "multiclass",
        lambda: TextClassifier(learner=SampledLeastSquares(9, sampling="uniform"), tune=None, estimate=None),
    ),
    "multiclass-svm": (
        "multiclass",
        lambda: TextClassifier(learner=MulticlassSVM(), tune=None, estimate=None),
    ),
    "multiclass-svm rbf": (
        "multiclass",
        lambda: TextClassifier(learner=MulticlassSVM(kernel="rbf"), tune=None, estimate=None),
    ),
    "chi-square-network": (
        "multiclass",
        lambda: TextClassifier(learner=ChiSquareNetwork(), tune=None, estimate=None),
    ),
    "arow": ("multiclass", lambda: TextClassifier(learner=Arow(), tune=None, estimate=None)),
    "arow label sets": (
        "multilabel",
        lambda: TextClassifier(learner=Arow(bias=None, forgetting=0.1), tune=None, estimate=None),
    ),
    "perceptron": ("multiclass", lambda: TextClassifier(learner=Perceptron(), tune=None, estimate=None)),
    "perceptron voted": (
        "multiclass",
        lambda: TextClassifier(learner=Perceptron(average="voted"), tune=None, estimate=None),
    ),
    "perceptron averaged": (
        "binary",
        lambda: TextClassifier(learner=Perceptron(average="averaged"), tune=None, estimate=None),
    ),
    "perceptron links": (
        "multiclass",
        lambda: TextClassifier(
            Vectorizer(**COUNTS), Perceptron("threshold", link="first-sight"), estimate=None
        ),
    ),
    "positive-winnow": (
        "multiclass",
        lambda: TextClassifier(Vectorizer(**COUNTS), PositiveWinnow(normalize=True), estimate=None),
    ),
    "balanced-winnow": (
        "multiclass",
        lambda: TextClassifier(Vectorizer(**COUNTS), BalancedWinnow(), estimate=None),
    ),
    "balanced-winnow-plus": (
        "binary",
        lambda: TextClassifier(Vectorizer(**COUNTS), BalancedWinnowPlus(average="voted"), estimate=None),
    ),
    "winnow": (
        "multiclass",
        lambda: TextClassifier(learner=Winnow(normalize=True, eta=0.5), tune=None, estimate=None),
    ),
    "large-margin-winnow": (
        "multiclass",
        lambda: TextClassifier(learner=LargeMarginWinnow(normalize=True), tune=None, estimate=None),
    ),
    "rocchio": ("multiclass", lambda: TextClassifier(learner=Rocchio(), tune=None, estimate=None)),
    "rocchio auto": ("multilabel", lambda: TextClassifier(learner=Rocchio("auto"), tune=None, estimate=None)),
    "c45": ("multiclass", lambda: TextClassifier(learner=C45(None, min_objects=1), tune=None, estimate=None)),
    "c45 rules": (
        "multilabel",
        lambda: TextClassifier(learner=C45(output="rules", min_objects=1), tune=None, estimate=None),
    ),
    "average-of": (
        "multilabel",
        lambda: TextClassifier(Vectorizer(blocks="words,chars"), AverageOf(), estimate=None),
    ),
    "label-weighted-svm": (
        "multilabel",
        lambda: TextClassifier(learner=LabelWeightedSVM(), tune=None, estimate=None),
    ),
    "logistic-regression": (
        "multiclass",
        lambda: TextClassifier(learner=LogisticRegression(), tune=None, estimate=None),
    ),
    "naive-bayes": ("multiclass", lambda: TextClassifier(learner=NaiveBayes(), tune=None, estimate=None)),
    "naive-bayes bernoulli": (
        "binary",
        lambda: TextClassifier(learner=NaiveBayes(event_model="bernoulli"), tune=None, estimate=None),
    ),
    "semi-supervised-bayes": (
        "multiclass",
        lambda: TextClassifier(learner=SemiSupervisedBayes(), tune=None, estimate=None),
    ),
    "boosted-trees": (
        "multiclass",
        lambda: TextClassifier(learner=BoostedTrees(5), tune=None, estimate=None),
    ),
    "nearest-neighbors": (
        "multiclass",
        lambda: TextClassifier(learner=NearestNeighbors(2), tune=None, estimate=None),
    ),
    "nearest-neighbors equal": (
        "binary",
        lambda: TextClassifier(learner=NearestNeighbors(vote="equal"), tune=None, estimate=None),
    ),
    "boosted-trees stumps": (
        "multilabel",
        lambda: TextClassifier(learner=BoostedTrees(5, base="stumps"), tune=None, estimate=None),
    ),
    "profiles": ("multiclass", lambda: TextClassifier(learner=ProfileClassifier(), tune=None, estimate=None)),
    "profiles votes": (
        "binary",
        lambda: TextClassifier(
            Vectorizer(**COUNTS), ProfileClassifier("ct", gather=1, n_neighbors=3), estimate=None
        ),
    ),
    "dual-svm": ("multiclass", lambda: TextClassifier(learner=DualSVM(), tune=None, estimate=None)),
}
# What surrounds the learner, once each.
AROUND: dict[str, tuple[str, Callable[[], TextClassifier]]] = {
    "estimates": (
        "multiclass",
        lambda: TextClassifier(estimate="leave-one-out", calibration="isotonic", tune=None),
    ),
    "thresholds": (
        "multilabel",
        lambda: TextClassifier(estimate="k-fold", thresholds="f1", calibration="platt", tune=None),
    ),
    "hierarchy": (
        "paths",
        lambda: TextClassifier(label_path="/", estimate="leave-one-out", calibration="platt", tune=None),
    ),
    "hierarchy of sets": (
        "sets of paths",
        lambda: TextClassifier(
            label_path="/", estimate="k-fold", thresholds="f1", calibration="isotonic", tune=None
        ),
    ),
    "offsets": (
        "multiclass",
        lambda: TextClassifier(estimate="k-fold", thresholds="f1-per-label", tune=None),
    ),
    "costs": ("multiclass", lambda: TextClassifier(estimate="k-fold", costs=2 - 2 * np.eye(3), tune=None)),
    "tuning": ("multiclass", lambda: TextClassifier(tune="fast", estimate=None)),
    "tuning per label": (
        "multilabel",
        lambda: TextClassifier(tune="fast", tune_per_label=True, estimate=None),
    ),
    "hashing": ("binary", lambda: TextClassifier(Vectorizer(n_hashed=64), tune=None, estimate=None)),
    "n-grams": (
        "binary",
        lambda: TextClassifier(
            Vectorizer(ngram_range=(1, 2), stop_words=["the", "and"], stemmer="porter"),
            tune=None,
            estimate=None,
        ),
    ),
    "blocks": (
        "multiclass",
        lambda: TextClassifier(Vectorizer(blocks="words,bigrams:0.5,chars,title"), tune=None, estimate=None),
    ),
    "given vectors": (
        "multiclass",
        lambda: TextClassifier(
            Vectorizer(blocks=["words", GivenVectors(GIVEN, name="given")]), tune=None, estimate=None
        ),
    ),
    "corpus vectors": (
        "multiclass",
        lambda: TextClassifier(Vectorizer(blocks="words,vectors:dims=4:min=1"), tune=None, estimate=None),
    ),
    "selected": ("multiclass", lambda: TextClassifier(features=SelectFeatures("chi2", 5), estimate=None)),
    "sampled": (
        "multiclass",
        lambda: TextClassifier(features=SampleFeatures(8, sampling="weighted"), estimate=None),
    ),
    "lsi": (
        "multilabel",
        lambda: TextClassifier(features=LatentSemanticIndexing(3, unit_length=True), estimate=None),
    ),
    "clusters": ("binary", lambda: TextClassifier(features=TermClusters(4), estimate=None)),
    "label-clusters": (
        "multiclass",
        lambda: TextClassifier(features=LabelClusters(4, unit_length=True), estimate=None),
    ),
}


@functools.cache
def stored(name: str) -> Model:
    """What the file of a classifier holds."""
    task, make = {**CASES, **AROUND}[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier = make().fit(TEXTS, LABELS[task])
    kept: list[Model] = []

    def keep(path, *, kind, config, arrays, texts, summary, force):
        kept.append(reread(kind, config, arrays, texts, summary))
        return 0

    from widemargin.classifier import storage

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage, "save_model", keep)
        classifier.save("nowhere")
    return kept[0]


def reread(kind: str, config: Any, arrays: Any, texts: Any, summary: Any) -> Model:
    """The content in a file whose checksums are right, read back."""
    file = io.BytesIO()
    models._write_zip(file, models._members(kind, config, arrays, texts, summary))
    return models._read(file, "the file")


def harmless(model: Model, why: Any, *, whole: bool = False) -> None:
    """Load a changed model: it is refused with its field named, or it predicts finite scores.

    `whole` puts it into a file first; otherwise it is what reading that file gives.
    """
    try:
        found = model
        if whole:
            found = reread(model.kind, model.config, model.arrays, model.texts, model.summary)
        classifier = TextClassifier.from_model(found, "the file")
    except DataError as error:
        refusal = str(error)
    else:
        assert scores_are_finite(classifier), why
        return
    assert refusal.startswith("the file "), why
    assert "Error:" not in refusal, (why, refusal)  # the net below the schema caught it


def scores_are_finite(classifier: TextClassifier) -> bool:
    with np.errstate(all="ignore"):
        scores = classifier.decision_function(TEXTS)
    classifier.predict(TEXTS)
    if classifier.calibration is not None and not np.isfinite(classifier.predict_proba(TEXTS)).all():
        return False
    return bool(np.isfinite(scores).all())


def changed_arrays(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    flat = array.reshape(-1)
    if array.dtype.kind == "f":
        for value in (math.nan, math.inf, -math.inf):
            for place in {0, len(flat) // 2, len(flat) - 1} if len(flat) else ():
                other = array.copy()
                other.reshape(-1)[place] = value
                yield f"{value} at {place}", other
    else:
        limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
        for value in (limits.min, limits.max, -1, 10**6) if limits is not None else ():
            if len(flat) and limits.min <= value <= limits.max:
                for place in (0, len(flat) - 1):
                    other = array.copy()
                    other.reshape(-1)[place] = value
                    yield f"{value} at {place}", other
    for kind in ("float64", "float32", "float16", "int64", "int32", "uint8", "bool"):
        if array.dtype != kind:
            with np.errstate(all="ignore"):
                yield f"as {kind}", array.astype(kind)
    if len(flat):
        yield "truncated", array[:-1]
        yield "doubled", np.concatenate([array, array])
    yield "flat" if array.ndim > 1 else "deep", flat if array.ndim > 1 else array[:, None]
    yield "transposed", array.T
    yield "empty", array[:0]
    yield "scalar", np.zeros((), array.dtype)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every field inside of objects and lists; of long lists to the first and last."""
    if isinstance(value, dict):
        for key in value:
            yield (*path, key)
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for i in sorted({0, len(value) - 1}) if value else ():
            yield (*path, i)
            yield from places(value[i], (*path, i))


WRONG = [None, True, -1, 10**18, 10**400, 1e308, 0.5, math.inf, math.nan, "", "strange", [], {}]
REMOVED = object()


def with_field(config: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    config = copy.deepcopy(config)
    inside: Any = config
    for step in path[:-1]:
        inside = inside[step]
    if value is REMOVED:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return config


def test_every_learner_that_can_be_saved_is_here():
    assert {name.split()[0] for name in CASES} == set(LEARNERS)
    assert {learner_name(make().learner) for _, make in CASES.values()} == set(LEARNERS)
    assert {stored(name).config["features"]["name"] for name in FEATURES} == set(FEATURES)


@pytest.mark.parametrize("name", [*CASES, *AROUND])
def test_arrays(name):
    model = stored(name)
    assert scores_are_finite(TextClassifier.from_model(model))
    own = "learner." if name in CASES else ""
    for key, array in model.arrays.items():
        if key.startswith(own):
            for how, wrong in changed_arrays(array):
                harmless(with_array(model, key, wrong), (key, how), whole=how.startswith("as "))
            harmless(with_array(model, key, None), (key, "removed"))


def with_array(model: Model, key: str, array: np.ndarray | None) -> Model:
    arrays = {name: values for name, values in model.arrays.items() if name != key}
    arrays |= {} if array is None else {key: array}
    return Model(model.manifest, model.config, arrays, model.texts, model.summary)


@pytest.mark.parametrize("name", [*CASES, *AROUND])
def test_configuration(name):
    model = stored(name)
    for path in places(model.config):
        if name in CASES and path[0] != "learner":
            continue
        for value in (REMOVED, *WRONG):
            config = with_field(model.config, path, value)
            harmless(Model(model.manifest, config, model.arrays, model.texts, model.summary), (path, value))


@pytest.mark.parametrize("name", AROUND)
def test_summary(name):
    model = stored(name)
    for path in places(model.summary):
        for value in (REMOVED, *WRONG):
            summary = with_field(model.summary, path, value)
            harmless(Model(model.manifest, model.config, model.arrays, model.texts, summary), (path, value))


@pytest.mark.parametrize("name", ["n-grams", "hashing"])
def test_texts(name):
    """The vocabulary is bytes: cut, not UTF-8, out of order."""
    model = stored(name)
    for key, text in model.texts.items():
        for wrong in (b"", text[:-1], text + b"x", b"\xff" * len(text), text[::-1], b"\x80" + text[1:]):
            texts = {**model.texts, key: wrong}
            harmless(Model(model.manifest, model.config, model.arrays, texts, model.summary), (key, wrong))
    harmless(Model(model.manifest, model.config, model.arrays, {}, model.summary), "no texts")


@pytest.mark.parametrize("learner", [Perceptron(), LinearSVM()])
def test_sizes_that_all_parts_agree_on_and_no_memory_holds(monkeypatch, learner):
    """A model of vectors has no vocabulary whose size would contradict."""
    from widemargin.classifier import storage

    kept: list[dict[str, Any]] = []
    monkeypatch.setattr(storage, "save_model", lambda path, **content: kept.append(content) or 0)
    TextClassifier(learner=learner, tune=None, estimate=None).fit(np.eye(18), BINARY).save("nowhere")
    (content,) = kept
    content["config"]["learner"]["state"]["n_features"] = content["summary"]["terms"] = 2**31 - 1
    monkeypatch.setattr(_stored, "_memory", lambda: 1e10)
    model = reread("text-classifier", content["config"], content["arrays"], {}, content["summary"])
    with pytest.raises(DataError, match=r"n_features.* GB of memory|' in arrays.safetensors has shape"):
        TextClassifier.from_model(model)


def nan_weights(model: Model) -> None:
    for name in ("learner.coef", "learner.coef_data"):
        if name in model.arrays:
            model.arrays[name] = model.arrays[name] * np.nan


def learner_state(model: Model) -> dict[str, Any]:
    state: dict[str, Any] = model.config["learner"]["state"]
    return state


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (nan_weights, "in arrays.safetensors holds numbers that are not finite"),
        (
            lambda m: learner_state(m)["labels"].update(kind=""),
            "'labels.kind' in manifest.json is ''",
        ),
        (lambda m: learner_state(m).update(n_features=math.inf), "n_features' in manifest.json is inf"),
        (
            lambda m: learner_state(m)["parameters"].update(costs=1),
            "'parameters.costs' in manifest.json",
        ),
        (lambda m: m.summary.update(documents=math.inf), "'summary.documents' in manifest.json is inf"),
    ],
)
def test_the_message_names_member_and_field(capfd, tmp_path, change, message):
    """Through the command: exit code 65 and one line."""
    found = stored("linear-svm")
    model = Model(
        found.manifest, *copy.deepcopy((found.config, dict(found.arrays), found.texts, found.summary))
    )
    change(model)
    path, data = tmp_path / "m.wm", tmp_path / "data.jsonl"
    content = {"config": model.config, "arrays": model.arrays, "texts": model.texts, "summary": model.summary}
    models.save_model(path, kind=model.kind, **content)
    data.write_text(json.dumps({"id": "a", "text": "corn"}) + "\n")
    commands = [["inspect", str(path)]]
    if "parameters" not in message:  # of the learner, which a scorer does without
        commands.append(["predict", str(path), str(data)])
    for command in commands:
        assert main(command) == 65
        printed = capfd.readouterr().err
        assert message in printed
        assert str(path) in printed
