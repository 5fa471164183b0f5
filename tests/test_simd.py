"""The loops for any CPU give what the loops for this CPU give, up to rounding."""

import os
import subprocess
import sys

import numpy as np
import pytest

import widemargin._core as _core

# Every family of loops in core/simd: rows, labels, kernel machines, solution paths, Winnow, AROW, least
# squares, stumps.
FITS = """
import sys
import numpy as np
import scipy.sparse as sp
import widemargin._core as core
from widemargin import Arow, BalancedWinnow, BoostedTrees, DualSVM, KernelSVM, LargeMarginWinnow, LinearSVM
from widemargin import LabelWeightedSVM, LogisticRegression, MulticlassSVM, Perceptron
from widemargin import RegularizedLeastSquares, TransductiveSVM
from widemargin.estimate.held_out import leave_one_out
from widemargin.learn.trees.stumps import VOTES

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 21)) * (rng.random((90, 21)) < 0.5)
Y = (X @ rng.normal(size=(21, 37)) + 0.3 * rng.normal(size=(90, 37)) > 0).astype(int)
y, some = Y[:, 0], np.where(np.arange(90) < 30, Y[:, 0], -1)
exact = {"tol": 1e-8, "max_iter": 10000, "random_state": 0}
online = {"max_iter": 5, "random_state": 0}
stumps = {"base": "stumps"}
linear = LinearSVM(1.0, **exact).fit(X, Y)
kernel = KernelSVM(1.0, kernel="rbf", gamma=0.1, tol=1e-8).fit(X, y)
fitted = {
    "all labels": linear,
    "squared hinge": LinearSVM(1.0, loss="squared_hinge", **exact).fit(X, Y[:, :5]),
    "single precision": LinearSVM(1.0, **exact).fit(sp.csr_array(X.astype(np.float32)), Y[:, :3]),
    "one label": LinearSVM(1.0, bias=None, **exact).fit(X, y),
    "label weights": LabelWeightedSVM(1.0, **exact).fit(X, Y),
    "label weights, one label": LabelWeightedSVM(1.0, bias=None, **exact).fit(X, y),
    "logistic": LogisticRegression(10.0, **exact).fit(X, Y),
    "logistic, one label": LogisticRegression(10.0, **exact).fit(X, y),
    "rbf": kernel,
    "polynomial": KernelSVM(1.0, kernel="poly", tol=1e-8).fit(X, y),
    "two classes": MulticlassSVM(1.0, **exact).fit(X, y),
    "many classes": MulticlassSVM(0.1, **exact).fit(X, np.arange(90) % 41),
    "each class": MulticlassSVM(0.1, formulation="weston-watkins", **exact).fit(X, np.arange(90) % 7),
    "classes, rbf": MulticlassSVM(1.0, kernel="rbf", tol=1e-8).fit(X, np.arange(90) % 3),
    "transduction": TransductiveSVM(1.0, unlabeled=-1, tol=1e-8).fit(X, some),
    "least squares": RegularizedLeastSquares(solver="iterative", tol=1e-10).fit(X, Y),
    "arow": Arow(forgetting=0.1, **online).fit(X, Y),
    "arow, classes": Arow(**online).fit(X, np.arange(90) % 19),
    "perceptron": Perceptron(**online).fit(X, Y),
    **{f"{votes} votes": BoostedTrees(50, votes=votes, **stumps).fit(X, Y) for votes in VOTES},
    "dual": DualSVM(max_iter=200, random_state=0).fit(X, Y[:, :5]),
}
positive = {
    "winnow": BalancedWinnow(**online).fit(abs(X), Y),
    "large margin winnow": LargeMarginWinnow(**online).fit(abs(X), y),
}
results = {name: learner.decision_function(X) for name, learner in fitted.items()}
results |= {name: learner.decision_function(abs(X)) for name, learner in positive.items()}
results["linear, left out"] = leave_one_out(linear, X, Y).signs
results["rbf, left out"] = leave_one_out(kernel, X, y).signs
np.savez(sys.argv[1], simd=core.SIMD, **results)
"""


def fits(path, simd):
    environment = {**os.environ, "WIDEMARGIN_SIMD": simd}
    subprocess.run([sys.executable, "-c", FITS, str(path)], env=environment, check=True)
    with np.load(path) as found:
        return dict(found)


def test_both_sets_of_loops_agree(tmp_path):
    forced, chosen = fits(tmp_path / "baseline.npz", "baseline"), fits(tmp_path / "auto.npz", "auto")
    assert forced.pop("simd") == "baseline"
    assert chosen.pop("simd") in ("baseline", "avx2")
    for name, scores in forced.items():
        assert scores == pytest.approx(chosen[name], rel=1e-4, abs=1e-4), name


def test_the_choice_is_that_of_this_process():
    wanted = os.environ.get("WIDEMARGIN_SIMD", "auto")
    assert _core.SIMD in (("baseline",) if wanted == "baseline" else ("baseline", "avx2"))


def test_an_unknown_choice_is_refused():
    command = [sys.executable, "-c", "import widemargin._core"]
    environment = {**os.environ, "WIDEMARGIN_SIMD": "mmx"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode != 0
    assert "WIDEMARGIN_SIMD=mmx is unknown. Set it to baseline or auto" in run.stderr
