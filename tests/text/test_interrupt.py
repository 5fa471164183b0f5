"""Ctrl-C ends a long count soon, and leaves the vectorizer as it was."""

from __future__ import annotations

import signal
import threading

import pytest

from widemargin import Vectorizer


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an interval timer")
@pytest.mark.parametrize(
    "settings", [{}, {"units": "chars", "ngram_range": (5, 5)}, {"n_hashed": 64}], ids=str
)
def test_a_signal_ends_the_count(settings):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals arrive in the main thread")

    def press(number, frame):
        raise KeyboardInterrupt

    # One string many times: minutes of work in little memory.
    texts = ["wheat and corn and oil " * 20_000] * 50_000
    found = Vectorizer(n_jobs=2, **settings)
    before = signal.signal(signal.SIGALRM, press)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            found.fit(texts)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not hasattr(found, "n_documents_")
