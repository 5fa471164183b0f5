"""The published search beside SVM-light's own answer: 20 labeled Reuters stories, 380 unlabeled."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from widemargin import TransductiveSVM


def test_svmlight_comes_to_the_same_labels(reference):
    folder = reference("svmlight")
    run = json.loads((folder / "reuters-acq.json").read_text())["runs"][-1]
    X, y = load_svmlight_file(str(folder / "reuters-acq.transductive.svm"))
    theirs = np.array(run["decision_values"])
    options = {"positives": run["fraction"], "unlabeled": 0, "C_unlabeled": 20.0, "on_alarm": "ignore"}
    single = TransductiveSVM(20.0, switching="single", **options).fit(X, y)
    unlabeled = y == 0
    assert np.array_equal(single.transduction_[unlabeled], np.sign(theirs[unlabeled]))
    assert 2 * single.n_switches_[0] == run["switches"]
    assert single.scores_[:, 0] == pytest.approx(theirs, abs=5e-3)
    assert single.levels_[0][-1].margin == pytest.approx(1 / run["norm_w"], rel=1e-3)
    many = TransductiveSVM(20.0, **options).fit(X, y)
    assert many.objective_[0] <= single.objective_[0]
    assert sum(level.solutions for level in many.levels_[0]) < sum(
        level.solutions for level in single.levels_[0]
    )
