"""Small tasks with errors in them, and hostile ones, for reports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from widemargin import NaiveBayes, TextClassifier
from widemargin.documents.collection import Collection

WORDS = {
    "grain": "wheat corn rye harvest bushel crop",
    "money": "bank rate loan yen dollar credit",
    "ships": "port vessel cargo freight crew dock",
    "oil": "crude barrel well drill gas pipe",
}
COMMON = "the a of said new market year last price high low week people state"
HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script>",
    '"><img src=x onerror="window.hacked = 3">',
    "' onfocus='window.hacked = 4' autofocus='",
    "<!-- <script>",
    "javascript:window.hacked=5",
    "<a href='javascript:window.hacked=6'>go</a>",
    "\u202egnp.exe\u2066 turned",
    "nul \x00 and \x1b[31m escape",
    "]]>&lt;b&gt;&amp;&#60;script&#62;",
    "x" * 1500,
    "line\u2028separator\u2029here",
    "<style>*{display:none}</style>",
    "<iframe src='https://example.com/'></iframe>",
    "<svg/onload=window.hacked=7>",
    "$x^{2$ \\frac{",
    "{{constructor.constructor('window.hacked=8')()}}",
    "<base href='https://example.com/'>",
    "__proto__",
    "constructor",
    "=cmd|' /C calc'!A0",
    "a=b=0.5",
    'it\'s "quoted" `now` $(hack)',
    "<meta http-equiv=refresh content='0;url=https://example.com/'>",
    "_underscore",
]


def documents(n: int, task: str, seed: int) -> Collection:
    """Texts about one or several subjects, a tenth of them with a wrong label."""
    random = np.random.default_rng(seed)
    names = list(WORDS) if task != "binary" else list(WORDS)[:2]
    found = Collection()
    for i in range(n):
        several = 1 + (task == "multilabel" and random.random() < 0.3)
        subjects = list(random.choice(names, size=several, replace=False))
        words = list(random.choice(COMMON.split(), size=8))
        for subject in subjects:
            words += list(random.choice(WORDS[subject].split(), size=2))
        random.shuffle(words)
        if random.random() < 0.1:
            subjects = [random.choice(names)]
        found.ids.append(f"{task}-{seed}-{i}")
        found.texts.append(" ".join(words))
        found.labels.append(tuple(sorted({str(subject) for subject in subjects})))
    return found


def hostile_documents(n: int, seed: int) -> Collection:
    """Texts, ids and labels that try to break out of a page."""
    random = np.random.default_rng(seed)
    found = Collection()
    for i in range(n):
        label = HOSTILE[i % len(HOSTILE)]
        words = " ".join(random.choice(COMMON.split(), size=5))
        other = HOSTILE[random.integers(len(HOSTILE))]
        found.ids.append(f"{other} {i}")
        found.texts.append(f"{words} subject{i % len(HOSTILE)} {other}\n{words}\r\n{label} \ud800")
        found.labels.append((label,))
    return found


@dataclass(frozen=True)
class Task:
    """A model file and another one, with their training and test documents."""

    model: Path
    other: Path
    train: Collection
    test: Collection


def task_of(kind: str, folder: Path) -> Task:
    """Train a model on `documents`."""
    train, test = documents(160, kind, 0), documents(120, kind, 1)
    y = train.labels if kind == "multilabel" else [labels[0] for labels in train.labels]
    goal = "f1" if kind == "multilabel" else None
    options = {"thresholds": goal, "estimate": "k-fold", "calibration": "platt", "tune": None}
    classifier = TextClassifier(**options).fit(train.texts, y)
    classifier.save(folder / f"{kind}.wm")
    # Another learner that saw half of the documents.
    other = TextClassifier(learner=NaiveBayes(), tune=None, estimate=None).fit(train.texts[:80], y[:80])
    other.save(folder / f"{kind}-bayes.wm")
    return Task(folder / f"{kind}.wm", folder / f"{kind}-bayes.wm", train, test)
