"""A model recognizes its training documents, unless it is told to keep nothing of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin import LinearSVM, TextClassifier
from widemargin.classifier import Scorer
from widemargin.classifier.record.text_hashes import among, distinct, hash_texts
from widemargin.classifier.record.training_record import TrainingRecord
from widemargin.classifier.record.word_profile import WORDS, WordProfile
from widemargin.errors import DataError, UsageError

TEXTS = ["Corn harvest is up", "Bank rate cut", "Wheat \u00e9t\u00e9", "Bank profits fell"]
LABELS = ["grain", "money", "grain", "money"]


def fitted(**options):
    return TextClassifier(learner=LinearSVM(), tune=None, **options).fit(TEXTS, LABELS)


def test_copies_are_recognized_and_others_are_not(tmp_path):
    classifier = fitted()
    asked = ["corn  HARVEST\nis up ", "WHEAT\u00a0\u00c9T\u00c9", "corn harvest is down", "", " \t", "Bank"]
    expected = [True, True, False, False, False, False]
    assert classifier.seen(asked).tolist() == expected
    classifier.save(tmp_path / "model.wm")
    assert Scorer.load(tmp_path / "model.wm").seen(asked).tolist() == expected
    assert TextClassifier.load(tmp_path / "model.wm").seen(asked).tolist() == expected


def test_the_same_training_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        fitted().save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    hashes = fitted().record_.hashes
    assert hashes.dtype == np.uint64
    assert (np.diff(hashes.astype(object)) > 0).all()


def test_nothing_is_kept_on_request(tmp_path):
    classifier = fitted(keep_hashes=False)
    assert classifier.record_.hashes is None
    classifier.save(tmp_path / "model.wm")
    with pytest.raises(UsageError, match=r"no hashes of its training texts.*--no-hashes"):
        TextClassifier.load(tmp_path / "model.wm").seen(TEXTS)


def test_unlabeled_documents_are_not_training_documents():
    with pytest.warns(UserWarning, match="have no label"):
        classifier = TextClassifier(tune=None).fit([*TEXTS, "oil"], [*LABELS, None])
    assert classifier.seen([*TEXTS, "oil"]).tolist() == [True] * 4 + [False]


def test_vectors_have_no_hashes():
    classifier = TextClassifier(tune=None).fit(np.eye(4), LABELS)
    assert classifier.record_.is_empty


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=6), max_size=8), st.lists(st.text(max_size=6), max_size=8))
def test_as_comparing_plain_texts(known, asked):
    def plain(text):
        blanks = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \u00a0\u2009\u202f\u3000"
        return "".join(character for character in text.casefold() if character not in blanks)

    expected = [bool(plain(text)) and plain(text) in set(map(plain, known)) for text in asked]
    assert among(hash_texts(asked), distinct(hash_texts(known))).tolist() == expected


def test_bytes_and_strings_are_the_same():
    assert hash_texts([text.encode() for text in TEXTS]).tolist() == hash_texts(TEXTS).tolist()


def test_words_tell_languages_apart():
    english = ["the cat is on the mat and it was there", "he said that it is not on the table"] * 20
    french = ["le chat est sur la table et il ne dort pas", "elle a dit que ce n'est pas pour nous"] * 20
    profile = WordProfile.of(english)
    assert profile.usual > 0.9
    assert profile.share(english[:5]) == 1
    assert profile.share(french) < 0.1
    assert profile.share(["", "..."]) is None
    assert WordProfile.of(["", "..."]) is None


def test_only_frequent_words_are_kept():
    texts = [" ".join(f"w{i}x{j}" for j in range(50)) + " common" for i in range(200)]
    profile = WordProfile.of(texts)
    assert len(profile.words) == WORDS
    assert profile.share(["common"]) == 1


@pytest.mark.parametrize(
    ("config", "arrays", "message"),
    [
        ({"usual_words": 2}, {"words": np.array([1, 2], np.int32)}, "usual_words"),
        ({"usual_words": 0.5}, {"words": np.array([2, 1], np.int32)}, "not sorted"),
        ({"usual_words": 0.5}, {"words": np.array([], np.int32)}, "empty"),
        ({"usual_words": 0.5}, {}, "words"),
        ({}, {"words": np.array([1], np.int32)}, "usual_words"),
    ],
)
def test_damaged_words_are_refused(config, arrays, message):
    with pytest.raises(DataError, match=message):
        TrainingRecord.from_state(config, arrays)
