"""Ctrl-C and failures end kernel machines at once, whatever their threads are waiting for.

Every case is minutes of work, in another process; what does not end is stopped by a time-out.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

PREPARE = """
import resource, signal, sys, threading, time
import numpy as np
from widemargin import KernelSVM, TransductiveSVM
from widemargin._arrays import canonical_csr
from widemargin.learn.kernels import Kernel
from widemargin.learn.svm.dual_problem import (Method, solve_dual)

n, n_jobs = 20_000, int(sys.argv[1])
generator = np.random.default_rng(0)
X = generator.normal(size=(n, 200)).astype(np.float32)
y = np.where(generator.random(n) > 0.5, 1, -1)

def method(**changes):
    options = dict(
        tol=1e-3, working_set=10, selection="steepest", shrinking=True, shrink_history=10,
        shrink_threshold=0.0, cache_megabytes=1.0, max_iter=10**9, seed=0, n_jobs=n_jobs, verbose=False,
    )
    return Method(**{**options, **changes})

def start_from_all_examples(X=X, n_labels=1, **changes):
    signs, upper = np.tile(y[: len(X)], (n_labels, 1)).astype(np.int8), np.ones((n_labels, len(X)))
    solve_dual(
        canonical_csr(X), None, Kernel("rbf", 0.1), signs, upper, method(**changes),
        equality=True, start=np.full((n_labels, len(X)), 0.5),
    )
"""

CASES = {
    "fit": "KernelSVM(1e3, gamma=0.1, n_jobs=n_jobs).fit(X, y)",
    "fit of labels": "KernelSVM(1e3, gamma=0.1, n_jobs=n_jobs).fit(X, generator.integers(0, 4, n))",
    "start": "start_from_all_examples()",
    "start of pairs": 'start_from_all_examples(selection="second-order", working_set=2, cache_megabytes=4e3)',
    "large working sets": "KernelSVM(1e6, gamma=1e-3, working_set=3000, n_jobs=n_jobs).fit(X, y)",
    "scores": "machine.decision_function(X)",
    "leave-one-out": "machine.left_out_scores(X, y, accuracy=0.01, n_jobs=n_jobs)",
    "transduction": 'TransductiveSVM(kernel="rbf", n_jobs=n_jobs).fit(X, some)',
}

# A machine with all examples for support vectors, without having been trained.
MACHINE = """
import warnings
import scipy.sparse as sp
warnings.simplefilter("ignore")
machine = KernelSVM(gamma=0.1, max_iter=1, n_jobs=n_jobs).fit(X[:50], y[:50])
machine.support_vectors_, machine.dual_coef_ = sp.csr_array(X), np.ones((1, n))
machine.support_, machine.alpha_ = np.arange(n), np.full(n, 0.5)
machine.max_iter = 10**9
some = [int(label) if k < 200 else None for k, label in enumerate(y)]
"""

INTERRUPT = """
def press(number, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, press)
for name, work in CASES.items():
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        work()
    except KeyboardInterrupt:
        print(name)
"""


def run(program, *arguments, timeout=150):
    found = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=timeout
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs an interval timer")
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_signal_ends_everything(n_jobs):
    cases = ", ".join(f"{name!r}: lambda: {work}" for name, work in CASES.items())
    program = PREPARE + MACHINE + f"CASES = {{{cases}}}" + INTERRUPT
    assert run(program, str(n_jobs)).split("\n") == [*CASES, ""]


# Two labels with the same signs want the same rows at the same time. Their values do not exist: whoever makes
# a row fails, and the other must not wait for it.
FAILURE = """
Y = np.column_stack([y > 0] * 4).astype(int)[:2000]
try:
    KernelSVM(kernel="poly", degree=2.5, coef0=0.0, n_jobs=n_jobs).fit(X[:2000], Y)
except ValueError as error:
    print(str(error)[:10])
"""


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_a_row_that_fails_ends_those_who_wait_for_it(n_jobs):
    assert run(PREPARE + FAILURE, str(n_jobs)) == "degree=2.5\n"


# Room for some rows, not for all.
MEMORY = """
few = X[:12_000, :4].copy()
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
limit = used + (450 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    start_from_all_examples(few, 4, selection="second-order", working_set=2, cache_megabytes=4e3)
except MemoryError:
    print("no memory")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on memory")
@pytest.mark.parametrize("n_jobs", [1, 4])
def test_a_row_without_memory_ends_those_who_wait_for_it(n_jobs):
    assert run(PREPARE + MEMORY, str(n_jobs)) == "no memory\n"
