"""Starting: importing TextClassifier, and labeling one line of text, from the start of the process.

Peers: importing sklearn.base, which every scikit-learn estimator needs; importing sklearn.svm; and a pipeline
of TfidfVectorizer and LinearSVC, trained on the same texts, that joblib loads to label the same line.

Every time is that of a whole process, with its bytecode cached. pandas is hidden from all of them: if it is
installed, scikit-learn imports it, which would only slow the peers. Where both sides label the line, the
labels must be equal; where the peer only imports, ours must print a label, or be a class.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from _compare import Check, Row, arguments, in_turns, report

LINE = "my invoice shows the wrong amount"
WORDS = {
    "billing": ["invoice", "refund", "amount", "charged", "payment", "wrong"],
    "network": ["wifi", "router", "vpn", "timeout", "cable", "slow"],
    "hardware": ["printer", "screen", "keyboard", "battery", "fan", "disk"],
}
HIDDEN = """
import sys

class Hidden:
    def find_spec(name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Hidden)
"""
LOADED = "import joblib; print(joblib.load(sys.argv[1]).predict([sys.stdin.read()])[0])"


def tickets() -> tuple[list[str], list[str]]:
    """Made-up tickets, and their labels."""
    pairs = [
        (f"my {first} and the {second}", label)
        for label, words in WORDS.items()
        for first in words
        for second in words
        if first != second
    ]
    return [text for text, _ in pairs], [label for _, label in pairs]


def process(code: str, folder: str, *words: str, given: str = "") -> Callable[[], str]:
    """A new interpreter that runs `code`; returns what it prints."""
    # Bytecode has a folder of its own: it may not be allowed beside the sources, or be older than they are.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-c", HIDDEN + code, *words]

    def run() -> str:
        done = subprocess.run(
            command, input=given, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    return run


def rows(repeats: int) -> Iterator[Row]:
    import joblib
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    from widemargin import TextClassifier

    with tempfile.TemporaryDirectory() as folder:
        own, other = str(Path(folder, "tickets.wm")), str(Path(folder, "tickets.joblib"))
        TextClassifier(tune=None).fit(*tickets()).save(own)
        joblib.dump(make_pipeline(TfidfVectorizer(), LinearSVC()).fit(*tickets()), other)

        ours, peer = in_turns(
            process("from widemargin import TextClassifier; print(TextClassifier.__name__)", folder),
            process("import sklearn.base", folder),
            repeats=repeats,
        )
        imported = Check("not a class", float(ours.result != "TextClassifier"), 0.0)
        yield Row("import TextClassifier", "import sklearn.base", ours.seconds, peer.seconds, [imported])

        predict = "from widemargin.cli import main; sys.exit(main())"
        ours, svm, pipeline = in_turns(
            process(predict, folder, "predict", own, "-", given=json.dumps({"text": LINE})),
            process("import sklearn.svm", folder),
            process(LOADED, folder, other, given=LINE),
            repeats=repeats,
        )
        labels = json.loads(ours.result)["labels"]
        answered = Check("no label", float(len(labels) != 1), 0.0)
        yield Row("label one line", "import sklearn.svm", ours.seconds, svm.seconds, [answered])
        same = Check("another label", float(labels != [pipeline.result]), 0.0)
        yield Row("label one line", "the line by joblib's pipeline", ours.seconds, pipeline.seconds, [same])


if __name__ == "__main__":
    given = arguments(__doc__, repeats=9).parse_args()
    sys.exit(report(rows(given.repeats), given.json))
