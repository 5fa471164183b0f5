"""Whether an installed package works: train, predict and explain as users do.

``python tests/smoke.py``: no test framework and no compiler, so that it runs wherever a wheel is installed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++")


def widemargin(*arguments: str, given: str = "") -> str:
    """What the command prints."""
    command = [sys.executable, "-m", "widemargin", *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed with code {done.returncode}: {done.stderr}")
    return done.stdout


def main() -> None:
    import widemargin as package

    found = [name for name in COMPILERS if shutil.which(name)]
    home = Path(package.__file__).parent
    print(f"widemargin {package.__version__} of {home}, Python {sys.version.split()[0]}")
    print(f"Compilers on the path: {', '.join(found) or 'none'}")
    with tempfile.TemporaryDirectory() as folder:
        demo = json.loads(widemargin("demo", "--output", folder, "--json", "--quiet"))
        model = next(Path(folder).glob("*.wm"))
        text = "Return the eigenvalues of a symmetric matrix"
        line = json.dumps({"id": "a", "text": text}) + "\n"
        predicted = json.loads(widemargin("predict", str(model), "-", "--quiet", given=line))
        assert predicted["id"] == "a", predicted
        assert len(predicted["labels"]) == 1, predicted
        explained = json.loads(widemargin("explain", str(model), text, "--json"))
        total = explained["bias"] + sum(part["value"] for part in explained["contributions"])
        assert abs(total - explained["score"]) < 1e-6, explained
        assert explained["label"] == predicted["labels"][0], (explained["label"], predicted)
        api = package.TextClassifier.load(model)
        assert api.predict([text]).tolist() == predicted["labels"]
        assert demo, "the demo printed nothing"
    print("Trained, predicted and explained.")


if __name__ == "__main__":
    main()
