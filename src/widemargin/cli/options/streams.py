"""The options of `train --stream`."""

from __future__ import annotations

from widemargin.cli.options.learners import ONLINE
from widemargin.cli.options.option import train

STREAMS = (
    train(
        "--stream",
        "Learn from JSON Lines as they arrive, also from an endless pipe: predict each document, learn from "
        "it, forget it. Terms are hashed and weighted by the documents so far, new labels may appear, and "
        "malformed lines are skipped (--errors strict stops there).",
        bool,
        common=True,
        learners=ONLINE,
    ),
    train(
        "--save-every N",
        "With --stream: save after every N documents. Ctrl-C also saves the model.",
        int,
        shown="once a minute",
        learners=ONLINE,
        least=1,
    ),
    train(
        "--resume",
        "With --stream: continue with the model in MODEL, if there is one, and with its settings.",
        bool,
        learners=ONLINE,
    ),
    train(
        "--drift-alarm N",
        "With --stream: report when old documents among the last N, such as 2000, no longer help to learn "
        "the new ones (SVMs on windows, compared by xi-alpha estimates).",
        int,
        shown="off",
        learners=ONLINE,
        least=100,
    ),
    train(
        "--max-labels N",
        "With --stream: stop when there are more than N distinct labels. Each takes memory.",
        int,
        1000,
        learners=ONLINE,
        least=2,
    ),
)
