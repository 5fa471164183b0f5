"""The loops for any CPU give what the loops for this CPU give, up to rounding."""

import os
import subprocess
import sys

import numpy as np
import pytest

import widemargin._core as _core

# Every dispatch: blocks of labels, pairs, the tableau of leave-one-out, tall matrices, logarithms of weights.
FITS = """
import sys
import numpy as np
import widemargin._core as core
from widemargin import KernelSVM, LargeMarginWinnow, LinearSVM, RegularizedLeastSquares
from widemargin.estimate.leave_one_out import leave_one_out

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 21)) * (rng.random((90, 21)) < 0.5)
Y = (X @ rng.normal(size=(21, 19)) + 0.3 * rng.normal(size=(90, 19)) > 0).astype(int)
linear = LinearSVM(1.0, tol=1e-8, max_iter=10000, random_state=0).fit(X, Y)
kernel = KernelSVM(1.0, gamma=0.1, tol=1e-8).fit(X, Y[:, 0])
results = {
    "linear": linear.decision_function(X),
    "kernel": kernel.decision_function(X),
    "squares": RegularizedLeastSquares().fit(X, Y).decision_function(X),
    "winnow": LargeMarginWinnow(max_iter=5, random_state=0).fit(abs(X), Y[:, 0]).decision_function(abs(X)),
    "left out": leave_one_out(kernel, X, Y[:, 0]).signs,
}
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
