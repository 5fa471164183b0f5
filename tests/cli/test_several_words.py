"""Phrases, pairs and concepts by the command: the model is what the library learns with the same settings."""

from __future__ import annotations

import json
import shlex

import pytest

from tests.cli.conftest import TICKETS, write_jsonl
from widemargin import TextClassifier, Vectorizer
from widemargin.text.thesaurus import read_thesaurus

TEXTS = [ticket["text"] for ticket in TICKETS]
THESAURUS = "# of the tests\nbill: invoice, the payment\nwifi\tnetwork\nrouter\tnetwork\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The tickets and a thesaurus."""
    folder = tmp_path_factory.mktemp("several")
    write_jsonl(folder / "data.jsonl", TICKETS)
    (folder / "words.txt").write_text(THESAURUS)
    return folder


def options_of(files, name):
    """An option as it is typed, and the parameters that mean the same."""
    words = files / "words.txt"
    return {
        "phrases": (("--phrases", "4.5"), {"phrases": 4.5}),
        "longer phrases": (("--phrases", "4.5", "--ngrams", "1-3"), {"phrases": 4.5, "ngram_range": (1, 3)}),
        "after": (("--pairs", "after:1"), {"pairs": "after:1"}),
        "near": (("--pairs", "near:2:min=1"), {"pairs": "near:2:min=1"}),
        "thesaurus": (("--thesaurus", str(words)), {"thesaurus": read_thesaurus(words)}),
        "count": (("--pairs", "near:1", "--min-count", "2"), {"pairs": "near:1", "min_count": 2}),
    }[name]


NAMES = ["phrases", "longer phrases", "after", "near", "thesaurus", "count"]


@pytest.mark.parametrize("name", NAMES)
def test_train_and_what_follows(run, files, tmp_path, name):
    options, settings = options_of(files, name)
    model = tmp_path / "m.wm"
    data = files / "data.jsonl"
    done = run("train", data, "-o", model, "--tune", "none", *options, "--json")
    assert done.returncode == 0, done.stderr
    found = TextClassifier.load(model).vectorizer_
    assert list(found.vocabulary_) == list(Vectorizer(**settings).fit(TEXTS).vocabulary_)
    assert list(found.vocabulary_) != list(Vectorizer().fit(TEXTS).vocabulary_)
    if name == "thesaurus":  # the model needs the file no more
        (files / "words.txt").rename(tmp_path / "moved.txt")
    try:
        predicted = run("predict", model, data)
        assert predicted.returncode == 0, predicted.stderr
        assert len(predicted.stdout.splitlines()) == len(TICKETS)
        measured = run("evaluate", model, data, "--json", "-q")
        assert json.loads(measured.stdout)["measured"]["accuracy"]["value"] > 0.8
        explained = json.loads(run("explain", model, TEXTS[0], "--json").stdout)
        total = explained["bias"] + sum(part["value"] for part in explained["contributions"])
        assert total == pytest.approx(explained["score"], abs=1e-6)
        shown = run("inspect", model).stdout
    finally:
        if name == "thesaurus":
            (tmp_path / "moved.txt").rename(files / "words.txt")
    for parameter, value in settings.items():
        if parameter == "thesaurus":
            assert "thesaurus    2 concepts: bill (invoice, the payment), network (router, wifi)" in shown
        elif parameter != "ngram_range":
            assert f"{parameter}={value}" in shown
    if "phrases" in settings:
        assert f"ngrams=1-{settings.get('ngram_range', (1, 2))[1]}" in shown


def test_the_words_of_a_pair_are_colored(here, tmp_path):
    from widemargin.cli.verbs.explain import colored

    texts = ["oil at any price", "price of oil", "corn and oats", "oats or corn"]
    classifier = TextClassifier(Vectorizer(pairs="near:3", max_df=0.5), estimate=None, tune=None)
    explanation = classifier.fit(texts, ["oil", "oil", "corn", "corn"]).explain("Oil, the Price")
    assert [text for text, style in colored("Oil, the Price", explanation) if style] == ["Oil", "Price"]


@pytest.mark.parametrize("name", NAMES)
def test_label(here, files, tmp_path, name):
    options, settings = options_of(files, name)
    records = [{**ticket, "labels": None} if n % 3 else ticket for n, ticket in enumerate(TICKETS)]
    data = write_jsonl(tmp_path / "some.jsonl", records)
    model, out = tmp_path / "m.wm", tmp_path / "out.jsonl"
    done = here("label", data, "-o", out, "--model", model, "--on-alarm", "ignore", *options)
    assert done.returncode == 0, done.stderr
    if name == "thesaurus":  # phrases and pairs have no blocks
        settings = {**settings, "blocks": ["words", "vectors"]}
    found = list(TextClassifier.load(model).vectorizer_.vocabulary_)
    assert found == list(Vectorizer(**settings).fit(TEXTS).vocabulary_)


@pytest.mark.parametrize("name", ["phrases", "near", "thesaurus", "count"])
def test_compare(here, files, tmp_path, name):
    options, _ = options_of(files, name)

    def compared(*options):
        done = here(
            "compare", files / "data.jsonl", "--learners", "naive-bayes,profiles", "--folds", "3", "--json",
            "-q", *options,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    found, usual = compared(*options), compared()
    sizes, usual_sizes = (
        {row["learner"]: row["model_bytes"] for row in each["rows"]} for each in (found, usual)
    )
    assert sizes["naive-bayes"] != usual_sizes["naive-bayes"]
    if "--min-count" not in options:  # what applies to words does not concern characters
        assert sizes["profiles"] == usual_sizes["profiles"]
    commands = [found["command"], found["faster_command"]]
    for command in filter(None, commands):
        assert (shlex.join(options) in command) or "profiles" in command
        words = shlex.split(command)[1:]
        words[words.index("-o") + 1] = str(tmp_path / "m.wm")
        assert here(*words, "-q", "--estimate", "none", "--force").returncode == 0


def test_streams_have_pairs_and_concepts(run, files, tmp_path):
    model = tmp_path / "m.wm"
    options = ("--pairs", "after:2", "--thesaurus", str(files / "words.txt"), "--hashed", "4096")
    done = run("train", files / "data.jsonl", "-o", model, "--stream", "--learner", "perceptron", *options)
    assert done.returncode == 0, done.stderr
    found = TextClassifier.load(model).vectorizer_
    expected = Vectorizer(
        pairs="after:2", thesaurus=read_thesaurus(files / "words.txt"), n_hashed=4096, weighting=None
    ).fit(TEXTS)
    assert (found.counted(TEXTS).matrix != expected.transform(TEXTS)).nnz == 0


@pytest.mark.parametrize("verb", ["train", "compare"])
@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--pairs", "beside:3"), 2, "expected after:K or near:K"),
        (("--pairs", "near"), 2, "such as near:3"),
        (("--phrases", "often"), 2, "--phrases"),
        (("--thesaurus", "missing.txt"), 66, "There is no thesaurus missing.txt"),
        (("--thesaurus", "twice.txt"), 65, "twice.txt, line 3: 'car' stands for 'truck' here and"),
        (("--thesaurus", "words.txt"), 65, "words.txt, line 1: found neither a colon nor a tab"),
    ],
)  # fmt: skip
def test_mistakes(run, files, tmp_path, verb, options, code, message):
    (tmp_path / "twice.txt").write_text("car: automobile\n# and\ntruck: lorry, car\n")
    (tmp_path / "words.txt").write_text("car\n")
    output = ("-o", "m.wm") if verb == "train" else ()
    done = run(verb, files / "data.jsonl", *output, *options, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert not (tmp_path / "m.wm").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--phrases", "-3"), "expected the smallest log-likelihood ratio"),
        (("--phrases", "5", "--units", "chars"), "phrases does not apply to units='chars'"),
        (("--pairs", "near:2", "--learner", "profiles"), "pairs does not apply to units='chars'"),
        (("--pairs", "near:2:min=2", "--hashed", "99"), "Hashed terms cannot be pruned"),
        (("--stream", "--learner", "winnow", "--phrases", "5"), "--phrases needs all documents at once"),
        (("--stream", "--learner", "winnow", "--min-count", "5"), "--min-count needs all documents at once"),
    ],
)
def test_options_that_do_not_go_together(run, files, tmp_path, options, message):
    done = run("train", files / "data.jsonl", "-o", tmp_path / "m.wm", *options)
    assert done.returncode == 2, done.stderr
    assert message in " ".join(done.stderr.split())


def test_the_thesaurus_is_not_overwritten(run, files):
    words = files / "words.txt"
    for options in (("train", "-o"), ("label", "-o")):
        done = run(options[0], files / "data.jsonl", options[1], words, "--thesaurus", words, "--force")
        assert done.returncode != 0
        assert words.read_text() == THESAURUS
