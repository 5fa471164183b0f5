"""What is planted is found, and nothing is found where there is nothing: copies, leaks, drift, languages."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin import Vectorizer
from widemargin.diagnose.confusions import find_confusions
from widemargin.diagnose.copies import find_copies
from widemargin.diagnose.drift import changed, find_drift
from widemargin.diagnose.give_aways import find_give_aways, term_table
from widemargin.diagnose.languages import find_languages, function_words
from widemargin.diagnose.parts import Part, label_sets, training_part
from widemargin.labels import Labels

RUNS = 100


def part(texts, labels=None, prefix="d"):
    sets = [None] * len(texts) if labels is None else [(label,) for label in labels]
    return Part([f"{prefix}{i}" for i in range(len(texts))], texts, sets)


class TestCopies:
    def test_planted_copies_leaks_and_contradictions(self, clean):
        texts, labels = clean()
        train = part([*texts, texts[0], texts[1] + "!"], [*labels, labels[0], "another"])
        test = part([texts[5], "new " + texts[6], "nothing like any of the others"], prefix="t")
        found = find_copies(train, test)
        assert (found.exact, found.near, found.leaked_exact, found.leaked_near) == (1, 1, 1, 1)
        assert [group.documents for group in found.contradictory] == [["d1", "d301"]]
        assert sorted((group.documents, group.test) for group in found.leaks) == [
            (["d5"], ["t0"]),
            (["d6"], ["t1"]),
        ]
        by_name = {tuple(group.documents + group.test): group for group in found.groups}
        assert by_name["d0", "d300"].exact
        assert not by_name["d1", "d301"].exact
        assert by_name["d6", "t1"].similarity < 1

    def test_nothing_where_there_is_nothing(self, clean):
        texts, labels = clean(600)
        found = find_copies(part(texts[:400], labels[:400]), part(texts[400:]))
        assert (found.groups, found.exact, found.near, found.leaked) == ([], 0, 0, 0)

    def test_documents_without_words_are_no_copies(self):
        found = find_copies(part(["", "", "a b c d"], ["x", "y", "x"]), None)
        assert (found.groups, found.exact) == ([], 0)


def drift_alarm(texts, labels, seed):
    order = np.random.default_rng(seed).permutation(len(texts))
    cut = 2 * len(texts) // 3
    parts = [part([texts[i] for i in some], [labels[i] for i in some]) for some in (order[:cut], order[cut:])]
    return find_drift(*parts).found


class TestDrift:
    def test_alike(self, clean):
        """At most one in a hundred collections without a drift gets an alarm."""
        alarms = sum(drift_alarm(*clean(150, seed=seed), seed) for seed in range(RUNS))
        assert alarms <= RUNS // 100

    def test_a_new_word(self, clean):
        texts, labels = clean()
        changed_texts = [f"{text} louvre" if i % 3 == 0 else text for i, text in enumerate(texts[200:])]
        found = find_drift(part(texts[:200], labels[:200]), part(changed_texts, labels[200:]))
        assert [change.name for change in found.terms] == ["louvre"]
        assert found.terms[0].train == 0
        assert found.terms[0].test == pytest.approx(0.34)
        assert found.unknown > found.expected_unknown

    def test_another_topic(self, clean):
        texts, labels = clean()
        first = [i for i, label in enumerate(labels) if label != "topic-2"]
        rest = [i for i, label in enumerate(labels) if label == "topic-2"]
        found = find_drift(
            part([texts[i] for i in first], [labels[i] for i in first]),
            part([texts[i] for i in rest], [labels[i] for i in rest]),
        )
        assert found.told_apart > 0.9
        assert [change.name for change in found.labels] == ["topic-2", "topic-0", "topic-1"]

    def test_without_labels(self, clean):
        texts, labels = clean()
        assert find_drift(part(texts[:200], labels[:200]), part(texts[200:])).labels == []

    def test_few_documents(self, clean):
        texts, labels = clean(12)
        found = find_drift(part(texts[:9], labels[:9]), part(texts[9:]))
        assert np.isnan(found.told_apart)
        assert not found.found

    def test_p_values_are_exact(self):
        from scipy.stats import fisher_exact

        first, second = np.array([5, 80, 0, 40]), np.array([50, 2, 30, 22])
        places, p = changed(first, 100, second, 60)
        exact = np.array(
            [
                fisher_exact(np.array([[a, 100 - a], [b, 60 - b]])).pvalue
                for a, b in zip(first, second, strict=True)
            ]
        )
        order = np.argsort(exact)
        assert places.tolist() == order[:3].tolist()
        expected = np.maximum.accumulate(exact[order] * np.arange(4, 0, -1))[:3]
        assert p == pytest.approx(expected)


def give_aways(texts, labels):
    vectorizer = Vectorizer()
    counts = vectorizer.fit_counts(texts)
    y = Labels.of(labels)
    signs = np.hstack([-y.signs, y.signs]) if y.space.kind == "binary" else y.signs
    table = term_table(counts.matrix, signs)
    names = y.space.classes.tolist()
    X, terms = vectorizer.weighed(counts).matrix, list(vectorizer.vocabulary_)
    return find_give_aways(table, counts.matrix, X, signs, names, terms, texts)


class TestGiveAways:
    def test_clean(self, clean):
        assert sum(bool(give_aways(*clean(120, seed=seed))) for seed in range(RUNS)) <= RUNS // 100

    @pytest.mark.parametrize("words", ["zxcvb", "sent via zxcvb"])
    def test_a_header(self, clean, words):
        texts, labels = clean()
        marked = [
            f"{words} {text}" if label == "topic-1" and i % 4 else text
            for i, (text, label) in enumerate(zip(texts, labels, strict=True))
        ]
        (found,) = give_aways(marked, labels)
        assert (found.label, found.kind, found.precision) == ("topic-1", "place", 1.0)
        assert set(found.terms) == set(words.split())
        assert found.recall == pytest.approx(0.75)
        assert found.f1 > found.f1_without

    def test_a_footer_of_two_classes(self, clean):
        texts, labels = clean(200, topics=2)
        marked = [
            f"{text} zxcvb" if label == "topic-0" else text for text, label in zip(texts, labels, strict=True)
        ]
        (found,) = give_aways(marked, labels)
        assert (found.label, found.terms, found.kind) == ("topic-0", ["zxcvb"], "place")

    @pytest.mark.parametrize(("name", "kind"), [("topic-2", "identifier"), ("about q77x", None)])
    def test_an_identifier(self, clean, name, kind):
        texts, labels = clean()
        generator = np.random.default_rng(0)
        marked = []
        for i, (text, label) in enumerate(zip(texts, labels, strict=True)):
            words = text.split()
            if label == "topic-2" and i % 5:
                words.insert(int(generator.integers(len(words))), "q77x")
            marked.append(" ".join(words))
        found = give_aways(marked, [label.replace("topic-2", name) for label in labels])
        # What the label is named after is no give-away.
        assert [(one.label, one.terms, one.kind) for one in found] == [(name, ["q77x"], kind)] * bool(kind)

    def test_a_word_that_decides_alone(self, clean):
        texts, labels = clean()
        generator = np.random.default_rng(0)
        marked = []
        for text, label in zip(texts, labels, strict=True):
            words = text.split()
            if label == "topic-0":
                for place in generator.integers(len(words), size=2):
                    words.insert(int(place), "wholly")
            marked.append(" ".join(words))
        (found,) = give_aways(marked, labels)
        assert (found.label, found.terms, found.kind) == ("topic-0", ["wholly"], "alone")
        # The name of the label is no give-away.
        named = [label.replace("topic-0", "wholly owned") for label in labels]
        assert give_aways(marked, named) == []

    def test_table_against_counting(self, clean):
        texts, labels = clean(60)
        vectorizer = Vectorizer(weighting=None)
        counts = vectorizer.fit_transform(texts)
        y = Labels.of(labels)
        table = term_table(counts, y.signs)
        has = counts.toarray() > 0
        for k in range(3):
            member = y.signs[:, k] > 0
            f1 = 2 * has[member].sum(axis=0) / (member.sum() + has.sum(axis=0))
            assert table.best_f1[k] == pytest.approx(f1.max())
            assert f1[table.best[k]] == pytest.approx(f1.max())
            assert table.vocabulary[k] == has[member].any(axis=0).sum()


class TestLanguages:
    def languages(self, texts):
        vectorizer = Vectorizer(weighting=None)
        counts = vectorizer.fit_transform(texts)
        return find_languages(counts, list(vectorizer.vocabulary_), list(range(len(texts))))

    def test_planted_sentences(self):
        english = [
            "The bank said that it will cut the rate, and that this was not what they had in mind."
        ] * 20
        others = {
            "German": "Die Bank hat gesagt, dass sie den Zins nicht mit der Absicht senkt.",
            "French": "La banque a dit que les taux ne sont pas dans la zone qui est prévue par le plan.",
            "Cyrillic script": "Банк сообщил, что снизит ставку в следующем месяце.",
            "Korean": "은행은 다음 달에 금리를 인하할 것이라고 말했다",
        }
        found = self.languages(english + list(others.values()))
        assert found.main == "English"
        assert found.others == {language: [20 + i] for i, language in enumerate(others)}

    def test_short_texts_are_unknown(self):
        found = self.languages(["printer jam", "disk fails"])
        assert (found.main, found.unknown, found.others) == (None, 2, {})

    @pytest.mark.needs_corpus("lingua-sentences")
    def test_sentences_of_many_languages(self):
        """Of a thousand sentences each, nearly all that are called another language are in one."""
        from widemargin import load_corpus

        corpus = load_corpus("lingua-sentences", split=None).train
        sentences = {"en": [], "de": [], "fr": [], "es": [], "it": [], "pt": [], "ru": [], "ko": []}
        for text, (language,) in zip(corpus.texts, corpus.labels, strict=True):
            if language in sentences:
                sentences[language].append(text)
        texts = 5 * sentences.pop("en")
        english = len(texts)
        for some in sentences.values():
            texts += some
        found = self.languages(texts)
        assert found.main == "English"
        wrong = sum(place < english for names in found.others.values() for place in names)
        assert wrong <= 0.01 * english
        right = sum(place >= english for names in found.others.values() for place in names)
        assert right > 0.4 * (len(texts) - english)

    def test_no_word_twice(self):
        for language, words in function_words().items():
            assert len(words) == len(set(words)), language
            assert all(len(word) > 1 for word in words), language


class TestConfusions:
    def test_labels_that_are_drawn_by_lot(self):
        generator = np.random.default_rng(0)
        codes = np.repeat(np.arange(4), 50)
        guess = codes.copy()
        guess[:100] = generator.integers(0, 2, 100)
        truth, decided = (np.where(np.arange(4) == one[:, None], 1, -1) for one in (codes, guess))
        (found,) = find_confusions(list("abcd"), truth.astype(np.int8), decided.astype(np.int8))
        assert (found.first, found.second, found.kind) == ("a", "b", "confused")
        assert found.merged_f1 == 1.0
        assert found.share == pytest.approx(np.mean(codes[:100] != guess[:100]))

    def test_the_same_label_twice(self):
        truth = -np.ones((100, 3), np.int8)
        truth[:40, 0] = truth[:38, 1] = truth[50:90, 2] = 1
        (found,) = find_confusions(["maize", "corn", "oil"], truth, truth)
        assert (found.first, found.second, found.kind, found.share) == ("maize", "corn", "alike", 0.95)

    def test_good_decisions_are_no_reason(self):
        codes = np.repeat(np.arange(3), 50)
        guess = codes.copy()
        guess[::12] = (codes[::12] + 1) % 3
        truth, decided = (np.where(np.arange(3) == one[:, None], 1, -1) for one in (codes, guess))
        assert find_confusions(list("abc"), truth.astype(np.int8), decided.astype(np.int8)) == []


def test_label_sets_and_names():
    given, labels = training_part(["a b", "c d"], [["x", "y"], []])
    assert (given.names, list(given.label_sets)) == ([0, 1], [("x", "y"), ()])
    assert label_sets(labels) == [("x", "y"), ()]
