"""Texts and labels as columns of a pandas table, which come in several types and with any index."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin import LinearSVM, TextClassifier
from widemargin.errors import DataWarning

pd = pytest.importorskip("pandas")

TEXTS = ["wheat and corn harvest", "the bank cut its rate", "corn exports rose", "bank profits fell"] * 3
LABELS = {
    "binary": ["grain", "money"] * 6,
    "multiclass": ["grain", "money", "trade", "money"] * 3,
    "numbers": [3, 7] * 6,
    "booleans": [False, True] * 6,
}
TYPES = [None, object, "string", "category"]


@pytest.mark.parametrize("task", LABELS)
@pytest.mark.parametrize("kind", TYPES)
def test_as_lists(tmp_path, task, kind):
    """The same as with lists: labels, explanations, terms, and after saving."""
    y = pd.Series(LABELS[task], index=range(100, 112), dtype=kind)
    plain = TextClassifier(tune=None, estimate=None).fit(TEXTS, list(y))
    found = TextClassifier(tune=None, estimate=None).fit(pd.Series(TEXTS, index=list("abcdefghijkl")), y)
    assert found.classes_.tolist() == plain.classes_.tolist()
    assert list(found.predict(pd.Series(TEXTS))) == list(plain.predict(TEXTS))
    for label in (None, *found.classes_):
        ours, theirs = found.explain(TEXTS[0], label), plain.explain(TEXTS[0], label)
        assert ours.label == theirs.label
        assert label is not None or isinstance(ours.label, str if kind == "string" else type(LABELS[task][0]))
        assert ours.score == theirs.score
        assert ours.to_dict() == theirs.to_dict()
    assert found.top_terms(found.classes_[0]) == plain.top_terms(plain.classes_[0])
    found.save(tmp_path / "m.wm")
    loaded = TextClassifier.load(tmp_path / "m.wm")
    assert list(loaded.predict(TEXTS)) == list(plain.predict(TEXTS))
    assert loaded.explain(TEXTS[0]).label == plain.explain(TEXTS[0]).label


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=["None", "nan", "NA"])
@pytest.mark.parametrize("kind", TYPES)
def test_missing_labels(kind, missing):
    """Whatever pandas makes of a missing label, the document is left out with a warning."""
    y = pd.Series([*LABELS["multiclass"][:-2], missing, missing], dtype=kind, index=range(5, 17))
    with pytest.warns(DataWarning, match="2 of 12 documents have no label"):
        found = TextClassifier(tune=None, estimate=None).fit(pd.Series(TEXTS), y)
    assert found.classes_.tolist() == ["grain", "money", "trade"]


@pytest.mark.parametrize("kind", TYPES)
def test_a_learner_takes_a_column_of_labels(kind):
    X, y = np.random.default_rng(0).normal(size=(12, 3)), LABELS["multiclass"]
    found = LinearSVM().fit(pd.DataFrame(X), pd.Series(y, dtype=kind, index=range(3, 15)))
    assert list(found.predict(pd.DataFrame(X))) == list(LinearSVM().fit(X, y).predict(X))
