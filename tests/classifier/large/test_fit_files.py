"""Training from files equals training in memory, however the files, the memory and the threads are."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

import widemargin.classifier.large.assessing as assessing
from tests.classifier.large.conftest import documents, shards, write
from widemargin import LinearSVM, Rocchio, TextClassifier, Vectorizer
from widemargin.documents.reading import read_collection
from widemargin.errors import DataError, DataWarning, UsageError

TIGHT = {"tol": 1e-12, "max_iter": 20_000, "n_jobs": 1}
PLAIN = {"tune": None, "estimate": None, "thresholds": None}
OPTIONS = {
    "words": {},
    "bigrams": {"ngram_range": (1, 2), "min_df": 2},
    "blocks": {"blocks": ["words", "chars:0.5"], "min_df": 2},
    "pruned": {"min_df": 2, "max_df": 0.5, "max_features": 40},
    "often": {"min_count": 3, "stop_words": "freewais", "stemmer": "porter"},
    "hashed": {"n_hashed": 512},
    "counts": {"weighting": "txx"},
    "phrases": {"phrases": 3.84, "min_df": 2},
}


def classifier(options=None, learner=None, **settings):
    made = LinearSVM(**{**TIGHT, **(learner or {})})
    return TextClassifier(Vectorizer(**(options or {})), made, **{**PLAIN, **settings})


def fit_both(tmp_path, records, options=None, learner=None, **settings):
    path = write(tmp_path / "all.jsonl", records)
    large = classifier(options, learner, **settings).fit_files(path)
    small = classifier(options, learner, **settings).fit(read_collection(path))
    return large, small


def coefficients(made):
    coef = made.learner_.coef_
    return coef.toarray() if hasattr(coef, "toarray") else np.asarray(coef)


def same(large, small, tolerance=1e-6):
    assert large.classes_.tolist() == small.classes_.tolist()
    assert large.label_space_ == small.label_space_
    if large.vectorizer_ is not None and large.vectorizer_.n_hashed is None:
        assert list(large.vectorizer_.vocabulary_) == list(small.vectorizer_.vocabulary_)
        assert large.vectorizer_.document_frequencies_.tolist() == (
            small.vectorizer_.document_frequencies_.tolist()
        )
    dense = [
        np.asarray(m.learner_.coef_.toarray() if hasattr(m.learner_.coef_, "toarray") else m.learner_.coef_)
        for m in (large, small)
    ]
    np.testing.assert_allclose(*dense, atol=tolerance)
    np.testing.assert_allclose(large.learner_.intercept_, small.learner_.intercept_, atol=tolerance)


@pytest.mark.parametrize("options", OPTIONS)
def test_text_options(tmp_path, sets, options):
    same(*fit_both(tmp_path, sets, OPTIONS[options]))


@pytest.mark.parametrize("kind", ["sets", "classes", "binary"])
@pytest.mark.parametrize(
    "learner", [{}, {"loss": "squared_hinge", "bias": None}, {"class_weight": "balanced"}]
)
def test_kinds_of_labels(tmp_path, kind, learner):
    large, small = fit_both(tmp_path, documents(150, kind), learner=learner)
    same(large, small)
    new = [record["text"] for record in documents(50, kind, seed=9)]
    assert np.array_equal(large.predict(new), small.predict(new)) or large.predict(new) == small.predict(new)
    assert large.training_summary_["documents"] == 150
    assert large.training_summary_["memory"]["scratch"] > 0


def saved(made, path):
    made.save(path)
    return path.read_bytes()


def test_files_memory_and_threads_do_not_matter(tmp_path, sets):
    folder = tmp_path / "parts"
    parts = shards(folder, sets, 5)
    one = write(tmp_path / "one.jsonl", sets)
    reversed_ = write(tmp_path / "reversed.jsonl", sets[::-1])
    runs = [
        (one, "2GB", 1),
        (reversed_, "100MB", 2),
        (parts, "150MB", 2),
        (parts[::-1], "2GB", 1),
        (str(folder / "*.jsonl"), "300MB", 1),
    ]
    found = [
        saved(
            classifier(
                learner={"tol": 1e-3, "n_jobs": threads}, estimate="auto", thresholds="auto"
            ).fit_files(source, memory=memory),
            tmp_path / f"{number}.wm",
        )
        for number, (source, memory, threads) in enumerate(runs)
    ]
    assert all(each == found[0] for each in found[1:])


def test_other_formats(tmp_path, classes):
    expected = classifier().fit_files(write(tmp_path / "all.jsonl", classes))
    rows = [(record["id"], record["text"], record["labels"][0]) for record in classes]
    table = tmp_path / "all.csv"
    table.write_text("id,text,label\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    packed = tmp_path / "all.jsonl.gz"
    packed.write_bytes(gzip.compress(b"".join(json.dumps(record).encode() + b"\n" for record in classes)))
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    names = ["id", "text", "label"]
    columns = [pa.array(list(column)) for column in zip(*rows, strict=True)]
    (tmp_path / "columns").mkdir()
    for number, some in enumerate((slice(0, 100), slice(100, 300))):
        part = pa.table([column[some] for column in columns], names=names)
        parquet.write_table(part, tmp_path / "columns" / f"{number}.parquet")
    for source in (table, packed, str(tmp_path / "columns" / "*.parquet")):
        found = classifier().fit_files(source)
        assert np.array_equal(coefficients(found), coefficients(expected))


def vectors(path, n=200, seed=0, costs=True):
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        label = rng.choice([-1, 1])
        columns = np.sort(rng.choice(30, 5, replace=False)) + 1
        values = rng.random(5) + 0.4 * label * (columns < 8)
        cost = f" cost:{rng.choice([0.5, 1, 2])}" if costs else ""
        lines.append(
            f"{label}{cost} " + " ".join(f"{c}:{v:.4f}" for c, v in zip(columns, values, strict=True))
        )
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("costs", [False, True])
def test_vectors(tmp_path, costs):
    path = vectors(tmp_path / "v.svm", costs=costs)
    more = vectors(tmp_path / "w.svm", 50, 1, costs=False)
    made = LinearSVM(**TIGHT)
    large = TextClassifier(learner=made, **PLAIN).fit_files([path, more], memory="200MB")
    small = TextClassifier(learner=made, **PLAIN).fit(read_collection([path, more]))
    same(large, small)
    assert large.vectorizer_ is None
    other = TextClassifier(learner=made, **PLAIN).fit_files([more, path])
    assert np.array_equal(coefficients(other), coefficients(large))


def test_several_columns_of_text(tmp_path, classes):
    records = [
        {"id": r["id"], "title": r["text"][:20], "body": r["text"][20:], "labels": r["labels"]}
        for r in classes
    ]
    path = write(tmp_path / "c.jsonl", records)
    options = {"blocks": ["words", "title:0.5"], "fields": ("title", "body")}
    large = classifier(options).fit_files(path, text=["title", "body"])
    small = classifier(options).fit(read_collection(path, text=["title", "body"]))
    same(large, small)
    assert large.record_.reading["text"] == ["title", "body"]


def test_paths_of_labels(tmp_path, classes):
    tree = {"grain": "farm/grain", "money": "city/money", "sport": "city"}
    for kind in ("sets", "classes", "binary"):
        records = [
            {**record, "labels": [tree[label] for label in record["labels"]]}
            for record in documents(150, kind)
        ]
        large, small = fit_both(tmp_path, records, label_path="/", estimate="auto", thresholds="auto")
        same(large, small)
        assert large.rule_.hierarchy.summary() == small.rule_.hierarchy.summary()
        nodes = [m.rule_.hierarchy.tree for m in (large, small)]
        assert nodes[0].documents.tolist() == nodes[1].documents.tolist()
        assert nodes[0].own.tolist() == nodes[1].own.tolist()


def test_estimates_of_few_documents_are_those_in_memory(tmp_path, sets):
    large, small = fit_both(tmp_path, sets, estimate="leave-one-out", thresholds="f1", calibration="platt")
    one, other = large.training_summary_["estimates"], small.training_summary_["estimates"]
    assert one["method"] == other["method"] == "leave-one-out"
    assert one["micro"]["f1"]["value"] == pytest.approx(other["micro"]["f1"]["value"], abs=0.01)
    np.testing.assert_allclose(large.thresholds_, small.thresholds_, atol=0.02)
    assert large.record_.hashes.tolist() == small.record_.hashes.tolist()
    assert large.record_.profile is not None
    assert large.seen([sets[0]["text"], "nothing like it"]).tolist() == [True, False]


@pytest.mark.parametrize("method", ["auto", "k-fold", "hold-out", "xi-alpha", "leave-one-out"])
@pytest.mark.parametrize("kind", ["sets", "classes", "binary"])
def test_estimates_over_blocks(tmp_path, monkeypatch, method, kind):
    monkeypatch.setattr(assessing, "MOST_VALUES", 0)
    records = documents(300, kind)
    large, small = fit_both(tmp_path, records, learner={"tol": 1e-4}, estimate=method, calibration="platt")
    one, other = large.training_summary_["estimates"], small.training_summary_["estimates"]
    assert one["method"] == ("k-fold" if method == "auto" else method)
    assert one["n"] == (60 if method == "hold-out" else 300)
    loose = 0.15 if method == "hold-out" else 0.06
    assert one["micro"]["f1"]["value"] == pytest.approx(other["micro"]["f1"]["value"], abs=loose)
    assert large.predict_proba([records[0]["text"]]).shape == (1, len(large.classes_))
    path = tmp_path / "m.wm"
    large.save(path)
    again = TextClassifier.load(path)
    assert "memory" not in again.training_summary_
    assert np.array_equal(coefficients(again), coefficients(large))


def test_xi_alpha_bounds_are_those_in_memory(tmp_path, monkeypatch, sets):
    monkeypatch.setattr(assessing, "MOST_VALUES", 0)
    large, small = fit_both(tmp_path, sets, estimate="xi-alpha")
    assert large.training_summary_["estimates"] == small.training_summary_["estimates"]


def test_tuned_on_a_sample(tmp_path, sets):
    path = write(tmp_path / "all.jsonl", sets)
    found = [
        TextClassifier(random_state=1).fit_files(source, memory=memory)
        for source, memory in ((path, "2GB"), (shards(tmp_path / "p", sets, 3), "200MB"))
    ]
    tuning = found[0].training_summary_["tuning"]
    assert tuning["documents"] == 300
    assert found[0].learner_.C == found[1].learner_.C
    assert saved(found[0], tmp_path / "a.wm") == saved(found[1], tmp_path / "b.wm")
    assert found[0].training_summary_["estimates"]["micro"]["f1"]["value"] > 0.5


def test_what_applies():
    for settings, word in (
        ({"features": object()}, "--features"),
        ({"tune_per_label": True}, "--tune-per-label"),
        ({"unlabeled_use": "self-training"}, "--unlabeled"),
        ({"estimate": "bootstrap"}, "--estimate bootstrap"),
        ({"calibration": "length"}, "--calibrate length"),
    ):
        with pytest.raises(UsageError, match=word):
            classifier(**settings).fit_files("nothing.jsonl")
    for learner, word in (
        ({"loss": "f1"}, "--loss f1"),
        ({"penalty": "l1"}, "--penalty l1"),
        ({"bias": "unregularized"}, "--bias"),
        ({"C": np.inf}, "--C"),
        ({"stop": "gradient"}, "stop"),
    ):
        with pytest.raises(UsageError, match=word):
            classifier(learner=learner).fit_files("nothing.jsonl")
    with pytest.raises(UsageError, match="--learner linear-svm"):
        TextClassifier(learner=Rocchio(), **PLAIN).fit_files("nothing.jsonl")
    with pytest.raises(UsageError, match="block vectors"):
        classifier({"blocks": ["words", "vectors"]}).fit_files("nothing.jsonl")


def test_documents_without_labels(tmp_path, two):
    records = [dict(record) for record in two]
    for record in records[::3]:
        record["labels"] = None
    large = classifier().fit_files(write(tmp_path / "a.jsonl", records))
    assert large.training_summary_["unlabeled"] == len(records[::3])
    kept = [record for record in records if record["labels"] is not None]
    same(large, classifier().fit_files(write(tmp_path / "b.jsonl", kept)), 0)
    with pytest.raises(DataError, match="None of the 2 documents has a label"):
        classifier().fit_files(write(tmp_path / "c.jsonl", [{"text": "a"}, {"text": "b"}]))


def test_mistakes_are_told(tmp_path):
    swapped = [
        {"id": str(i), "text": ("red", "blue")[i % 2], "labels": [f"a long label that is a text {i}"]}
        for i in range(40)
    ]
    with pytest.raises(DataError, match="swapped"):
        classifier().fit_files(write(tmp_path / "a.jsonl", swapped))
    one = [{"id": str(i), "text": f"word{i}", "labels": ["a"]} for i in range(40)]
    with pytest.raises(DataError, match="one class"):
        classifier().fit_files(write(tmp_path / "b.jsonl", one))
    variants = [{"id": str(i), "text": f"corn {i}", "labels": [("Grain", "grain")[i % 2]]} for i in range(40)]
    with pytest.warns(DataWarning, match="differ in case"):
        classifier().fit_files(write(tmp_path / "c.jsonl", variants))
