"""`identify`: lines as they arrive, documents, segments, and models of other learners."""

from __future__ import annotations

import csv
import json
import random
import subprocess

import pytest

from tests.cli.conftest import COMMAND, TICKETS, environment

WORDS = {
    "en": "the weather of this morning was rather cold and nobody wanted to leave their house before noon "
    "because there would be nothing worth seeing anyway although some children were playing with snow",
    "de": "das Wetter an diesem Morgen war ziemlich kalt und niemand wollte sein Haus vor dem Mittag "
    "verlassen weil es ohnehin nichts zu sehen geben würde obwohl einige Kinder mit dem Schnee spielten",
    "fr": "le temps de ce matin était plutôt froid et personne ne voulait quitter sa maison avant midi parce "
    "que de toute façon il n'y aurait rien à voir bien que quelques enfants jouaient avec la neige",
}
ENGLISH, GERMAN, FRENCH = "nobody wanted snow", "niemand wollte das Haus", "personne ne voulait"


def sentences(seed=0, each=40):
    """Sentences of words of a language in random order."""
    rng = random.Random(seed)
    return [
        {"id": f"{language}{i}", "text": " ".join(rng.choices(words.split(), k=12)), "labels": [language]}
        for language, words in WORDS.items()
        for i in range(each)
    ]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(scope="module")
def model(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("languages")
    (folder / "langs.jsonl").write_text(lines(sentences()))
    done = run(
        "train", folder / "langs.jsonl", "--learner", "profiles", "-o", folder / "langs.wm", "--quiet",
        "--estimate", "none",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "langs.wm"


def rows(done):
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_line_has_a_row(run, model):
    found = rows(run("identify", model, "-", "--quiet", stdin=f"{ENGLISH}\n\n{GERMAN}\r\n{FRENCH}"))
    assert [row["id"] for row in found] == ["1", "2", "3", "4"]
    assert [row["labels"] for row in found][0::2] == [["en"], ["de"]]
    assert found[3]["labels"] == ["fr"]
    assert found[1]["certainty"] == pytest.approx(1 / 3, abs=1e-5)  # nothing is known of an empty line
    for row in found:
        assert set(row) == {"id", "labels", "certainty", "runner_up"}
        assert row["runner_up"] not in row["labels"]
        assert 0 <= row["certainty"] <= 1
    assert found[0]["certainty"] > 0.9


def test_per_line_is_the_default(run, model, tmp_path):
    (tmp_path / "lines.txt").write_text(f"{ENGLISH}\n{GERMAN}\n")
    plain = run("identify", model, tmp_path / "lines.txt")
    assert plain.stdout == run("identify", model, tmp_path / "lines.txt", "--per-line").stdout
    assert "a document per line" in plain.stderr
    assert len(rows(plain)) == 2


def test_a_whole_document(run, model):
    (row,) = rows(run("identify", model, "-", "--per-document", stdin=f"{GERMAN}\n{GERMAN}\n"))
    assert (row["id"], row["labels"]) == ("1", ["de"])


def test_segments_of_a_mixed_document(run, model):
    english, german = "there would be nothing worth seeing ", "weil es ohnehin nichts zu sehen geben würde "
    text = english + german + english
    found = rows(run("identify", model, "-", "--segments", "--keep-text", "--switch-cost", "1", stdin=text))
    assert [row["labels"] for row in found] == [["en"], ["de"], ["en"]]
    assert [row["start"] for row in found] == [0, *(row["end"] for row in found[:-1])]
    assert found[-1]["end"] == len(text)
    for row, expected in zip(found, (0, len(english), len(english) + len(german)), strict=True):
        assert abs(row["start"] - expected) <= 12
        assert row["text"] == text[row["start"] : row["end"]]
    # Nothing is worth a change that costs too much.
    assert len(rows(run("identify", model, "-", "--segments", "--switch-cost", "1e6", stdin=text))) == 1
    by_line = rows(run("identify", model, "-", "--segments", "--per-line", stdin=f"{english}\n{german}\n"))
    assert [(row["id"], row["labels"]) for row in by_line] == [("1", ["en"]), ("2", ["de"])]


def test_records_of_other_formats(run, model, tmp_path):
    (tmp_path / "new.csv").write_text(f"key,body\na,{ENGLISH}\nb,{FRENCH}\n")
    found = rows(run("identify", model, tmp_path / "new.csv", "--text", "body", "--id", "key"))
    assert [(row["id"], row["labels"]) for row in found] == [("a", ["en"]), ("b", ["fr"])]
    as_lines = rows(run("identify", model, tmp_path / "new.csv", "--format", "lines"))
    assert len(as_lines) == 3


def test_tables_and_files(run, model, tmp_path):
    out = tmp_path / "out.tsv"
    done = run(
        "identify", model, "-", "-o", out, "--json", "--safe-csv", "--keep-text", "--threads", "1", "--quiet",
        stdin=f"={ENGLISH}\n{GERMAN}\n",
    )  # fmt: skip
    assert done.returncode == 0
    assert json.loads(done.stdout)["rows"] == 2
    with out.open(newline="") as file:
        table = list(csv.DictReader(file, delimiter="\t"))
    assert table[0]["text"] == f"'={ENGLISH}"
    assert [row["labels"] for row in table] == ["en", "de"]
    assert set(table[0]) == {"id", "text", "labels", "certainty", "runner_up"}


def test_threads_do_not_change_the_answers(run, model):
    text = "\n".join(row["text"] for row in sentences(seed=1))
    one, two = (run("identify", model, "-", "--threads", n, stdin=text).stdout for n in ("1", "2"))
    assert one == two


def test_answers_come_as_lines_arrive(model):
    process = subprocess.Popen(
        [*COMMAND, "identify", str(model), "-", "--quiet"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for text, label in ((ENGLISH, "en"), (FRENCH, "fr")):
        process.stdin.write(f"{text}\n".encode())
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["labels"] == [label]
    process.stdin.close()
    assert process.wait(timeout=60) == 0


def test_undecodable_bytes(run, model):
    (row,) = rows(run("identify", model, "-", stdin=ENGLISH.encode() + b"\xff\xfe\n"))
    assert row["labels"] == ["en"]
    assert rows(run("identify", model, "-", "--errors", "strict", stdin=ENGLISH))[0]["labels"] == ["en"]
    assert rows(run("identify", model, "-", "--errors", "replace", stdin=b"\xff\n"))[0]["id"] == "1"
    latin = "à midi il était à la maison".encode("latin-1")
    (row,) = rows(run("identify", model, "-", "--encoding", "latin-1", stdin=latin))
    assert row["labels"] == ["fr"]


def test_what_is_refused(run, model, tmp_path):
    assert run("identify", model, "-").returncode == 65  # nothing to read
    assert run("identify", model, "missing.txt").returncode == 66
    assert run("identify", model, "-", "--per-line", "--per-document", stdin="x").returncode == 2
    assert run("identify", model, "-", "--switch-cost", "3", stdin="x").returncode == 2
    done = run("identify", model, "-", "--max-document", "10B", "--debug", stdin=ENGLISH)
    assert (done.returncode, "max-document" in done.stderr) == (65, True)
    done = run("identify", model, "-", "--max-document", "10B", "--per-document", stdin="one\ntwo\nthree\n")
    assert done.returncode == 65
    strict = run("identify", model, "-", "--errors", "strict", stdin=ENGLISH.encode() + b"\xff\xfe\n")
    assert strict.returncode == 65
    (tmp_path / "new.csv").write_text(f"key,body\na,{ENGLISH}\n")
    done = run("identify", model, tmp_path / "new.csv", "--per-line", "--text", "body")
    assert (done.returncode, "plain text" in done.stderr) == (2, True)
    (tmp_path / "v.svm").write_text("1 1:0.5\n")
    assert run("identify", model, tmp_path / "v.svm").returncode == 65


def test_large_enough_documents(run, model):
    found = rows(run("identify", model, "-", "--max-document", "1kB", "--debug", stdin=ENGLISH))
    assert found[0]["labels"] == ["en"]


def test_other_learners_identify_with_their_own_probabilities(run, tmp_path):
    (tmp_path / "tickets.jsonl").write_text(lines(TICKETS))
    trained = tmp_path / "tickets.wm"
    common = ("train", tmp_path / "tickets.jsonl", "-o", trained, "--quiet", "--tune", "none")
    assert run(*common, "--calibrate", "platt").returncode == 0
    (row,) = rows(run("identify", trained, "-", stdin="vpn timeout, and slow router\n"))
    assert row["labels"] == ["network"]
    text = '{"text": "vpn timeout, and slow router"}\n'
    (proba,) = rows(run("predict", trained, "-", "--proba", stdin=text))
    assert row["certainty"] == pytest.approx(proba["probabilities"]["network"], abs=1e-6)
    assert run(*common).returncode == 0
    done = run("identify", trained, "-", stdin="x\n")
    assert (done.returncode, "--calibrate" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    "choice",
    [
        ["--dissimilarity", "kl"],
        ["--dissimilarity", "kl-all"],
        ["--dissimilarity", "ct", "--direction", "text-to-profile"],
        ["--dissimilarity", "cosine", "--gather", "class"],
        ["--dissimilarity", "chi2", "--gather", "1", "--neighbors", "3"],
        ["--dissimilarity", "chi2-asymmetric", "--direction", "profile-to-text", "--unseen", "0.5"],
    ],
)
def test_the_options_of_profiles(run, tmp_path, choice):
    (tmp_path / "langs.jsonl").write_text(lines(sentences(each=12)))
    done = run(
        "train", tmp_path / "langs.jsonl", "--learner", "profiles", "-o", tmp_path / "m.wm", "--quiet",
        "--estimate", "none", "--calibrate", "length", *choice,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    from widemargin import TextClassifier

    parameters = TextClassifier.load(tmp_path / "m.wm").learner_.get_params()
    names = {"--neighbors": "n_neighbors"}
    for option, value in zip(choice[::2], choice[1::2], strict=True):
        assert str(parameters[names.get(option, option.removeprefix("--"))]) == value


def test_gather_takes_a_number_or_class(run, tmp_path):
    (tmp_path / "langs.jsonl").write_text(lines(sentences(each=3)))
    done = run(
        "train", tmp_path / "langs.jsonl", "--learner", "profiles", "-o", tmp_path / "m.wm", "--gather", "0"
    )
    assert (done.returncode, "--gather" in done.stderr) == (2, True)
    done = run("train", tmp_path / "langs.jsonl", "-o", tmp_path / "m.wm", "--gather", "class")
    assert (done.returncode, "does not apply" in done.stderr) == (2, True)


def test_too_little_text_to_calibrate(run, tmp_path):
    few = [{"text": "the house", "labels": ["en"]}, {"text": "das Haus", "labels": ["de"]}]
    (tmp_path / "few.jsonl").write_text(lines(few))
    done = run(
        "train", tmp_path / "few.jsonl", "--learner", "profiles", "-o", tmp_path / "m.wm", "--min-count", "1",
        "--estimate", "none",
    )  # fmt: skip
    assert (done.returncode, "more text" in done.stderr) == (0, True)
    done = run("identify", tmp_path / "m.wm", "-", stdin="the house\n")
    assert (done.returncode, "more text" in done.stderr) == (2, True)
