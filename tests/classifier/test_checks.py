"""Checks at the door: each mistake has its message, and real collections have none."""

from __future__ import annotations

import warnings

import pytest

from widemargin import TextClassifier, load_corpus
from widemargin.classifier.checks.of_documents import check_documents
from widemargin.classifier.checks.of_training import check_training
from widemargin.errors import DataError, DataWarning
from widemargin.labels import Labels
from widemargin.labels.truth import truth_of

N = 24
SENTENCES = [f"the ticket number {i} says that thing {i % 5} is broken again" for i in range(N)]
TEAMS = ["sales", "billing", "support"] * 8


def check(texts, labels, names=None):
    check_training(texts, Labels.of(labels), names)


def quiet(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        function(*arguments, **options)


def test_good_documents_pass():
    quiet(check, SENTENCES, TEAMS)
    quiet(check, ["corn harvest", "bank rate"], ["grain", "money"])
    quiet(check, ["a", "b"] * 15, ["x", "y"] * 15)


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (TEAMS, SENTENCES, "seem to be swapped.*Exchange --text and --label"),
        (SENTENCES, [f"T-{1000 + i}" for i in range(N)], "labels seem to be ids.*--label"),
        (SENTENCES, list(range(N)), "labels seem to be ids"),
        ([" "] * N, TEAMS, "All 24 texts are empty.*--text"),
        (["the same"] * N, TEAMS, "All 24 texts are the same, 'the same'"),
    ],
)
def test_errors(texts, labels, message):
    with pytest.raises(DataError, match=message):
        check(texts, labels)
    with pytest.raises(DataError, match=message):
        TextClassifier(tune=None).fit(texts, labels)


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (
            SENTENCES,
            [f"class {chr(97 + i)}" for i in range(N)],
            r"nearly as many classes \(24\) as documents",
        ),
        ([f"{1000 + i}" for i in range(N)], TEAMS, "texts look like numbers: 1000, 1001, 1002.*--text"),
        ([f"T-{i}" for i in range(N)], TEAMS, "texts look like ids"),
        ([*SENTENCES[:6], *[""] * 18], TEAMS, "75 % of the texts are empty"),
        (SENTENCES, ["a;b", "b;c", "a;c", "a"] * 6, "3 of 4 labels contain ';'.*--label-delimiter ';'"),
        (SENTENCES, ["a|b", "b|c", "a|c", "c"] * 6, r"--label-delimiter '\|'"),
        (SENTENCES, ["a, b", "b, c", "a, c", "c"] * 6, "--label-delimiter ','"),
        (SENTENCES, ["Billing", "billing "] * 12, "'Billing' and 'billing ' differ in case or white space"),
    ],
)
def test_warnings(texts, labels, message):
    with pytest.warns(DataWarning, match=message):
        check(texts, labels)


@pytest.mark.parametrize(
    "labels",
    [
        ["Austen, Jane", "Poe, Edgar", "Joyce, James", "Woolf, Virginia"] * 6,  # names have a comma
        ["Austin, Texas", "Dallas, Texas", "Boston, Massachusetts"] * 8,
        ["US", "UK"] * 12,
        ["comp.graphics", "sci.space", "rec.autos"] * 8,
    ],
)
def test_usual_labels_pass(labels):
    quiet(check, SENTENCES, labels)


def test_one_file_per_class_folder():
    texts = ["first\nsecond", "third\nfourth", "fifth"]
    message = "Each of the 3 class folders has exactly one file.*--format lines --label-from folder"
    with pytest.warns(DataWarning, match=message):
        check(texts, ["a", "b", "c"], ["a/1.txt", "b/1.txt", "c/1.txt"])
    quiet(check, texts, ["a", "b", "c"], ["1", "2", "3"])


def test_one_class_says_what_to_do():
    with pytest.raises(DataError, match=r"one class.*second class"):
        TextClassifier(tune=None).fit(SENTENCES, ["a"] * N)


SPACE = Labels.of(["billing", "sales", "support"]).space


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            ["Billing ", "SALES"],
            "'Billing ' is 'billing' and 'SALES' is 'sales' in the model.*write them alike",
        ),
        (["0", "1", "2"], "The data has numbers and the model names"),
        (["x", "y"], "knows none of the labels of the data .x, y.; its labels are billing, sales, support"),
    ],
)
def test_unknown_labels_are_an_error(labels, message):
    with pytest.raises(DataError, match=message):
        truth_of([(label,) for label in labels], SPACE)


def test_names_for_a_model_of_numbers():
    with pytest.raises(DataError, match="The data has names and the model numbers"):
        truth_of([("a",), ("b",)], Labels.of([1, 2, 3]).space)


@pytest.mark.filterwarnings("ignore:the data has")
def test_mostly_unknown_labels_are_a_warning():
    with pytest.warns(
        DataWarning, match="67 % of the documents have only labels that the model does not know"
    ):
        truth_of([("x",), ("y",), ("sales",)], SPACE)
    with pytest.warns(DataWarning, match="'Sales' is 'sales' in the model"):
        truth_of([("Sales",), ("sales",), ("sales",)], SPACE)


@pytest.fixture(scope="module")
def classifier():
    texts = [f"{text} and we have to look at it before the next day" for text in SENTENCES]
    return TextClassifier(tune=None).fit(texts * 2, TEAMS * 2)


FRENCH = ["le chat est sur la table et il ne dort pas", "elle a dit que ce n'est pas pour nous"] * 15


def test_another_language(classifier):
    with pytest.warns(DataWarning, match="in another language than the training documents"):
        check_documents(classifier.scorer, [f"{text} the next ticket" for text in FRENCH], strict=True)
    quiet(
        check_documents, classifier.scorer, [f"the next thing {i} is broken" for i in range(30)], strict=True
    )


def test_documents_without_known_terms(classifier):
    with pytest.raises(DataError, match=r"No document has a term that the model knows.*--text"):
        check_documents(classifier.scorer, ["xyz abc"] * 30, strict=True)
    with pytest.warns(DataWarning, match="another language"):
        check_documents(classifier.scorer, ["xyz abc"] * 30, strict=False)
    mixed = ["xyz"] * 17 + ["the ticket says that it is broken again"] * 13
    with pytest.warns(DataWarning, match="57 % of the documents have no term that the model knows"):
        check_documents(classifier.scorer, mixed, strict=True)
    quiet(check_documents, classifier.scorer, ["xyz abc"] * 5, strict=True)  # too few to tell


@pytest.mark.needs_corpus("reuters21578", "20newsgroups", "clinc150", "sms-spam", "imdb", "webkb", "ohsumed")
@pytest.mark.parametrize(
    "name", ["reuters21578", "20newsgroups", "clinc150", "sms-spam", "imdb", "webkb", "ohsumed"]
)
def test_real_collections_give_no_false_alarm(name):
    corpus = load_corpus(name)
    train = corpus.train.subset(range(0, len(corpus.train), 3))
    quiet(check_training, train.texts, Labels.of_documents(train.labels), train.ids)
    fitted = TextClassifier(tune=None).fit(train.texts, ["ab"[i % 2] for i in range(len(train))])
    test = train if corpus.test is None or not len(corpus.test) else corpus.test
    quiet(check_documents, fitted.scorer, test.texts, strict=True)
