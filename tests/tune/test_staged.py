"""The default search of tuning: axes one after another, within a budget of predicted work."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.staged_search import best_on_axis, held_out_value
from tests.tune.test_tuning import LABELS, TEXTS, sample_texts
from widemargin import KernelSVM, LinearSVM, LogisticRegression, NaiveBayes, TextClassifier, Vectorizer
from widemargin.errors import DataWarning, UsageError
from widemargin.labels import Labels
from widemargin.tune.budget import Budget, predicted_passes
from widemargin.tune.criteria import Criterion
from widemargin.tune.race import loosened
from widemargin.tune.staged import search
from widemargin.tune.staged.applicable import describe, fields_of, is_english
from widemargin.tune.staged.axes import COSTS, Axes, Documents
from widemargin.tune.staged.families import FAMILIES, best_of_families, family
from widemargin.tune.staged.search import staged_race
from widemargin.tune.staged.splits import affordable_folds, splits_in_time, staged_splits
from widemargin.tune.tuning import tune
from widemargin.tune.winners import Task

CLASSES = [min(labels) if labels else "none" for labels in LABELS]
BY = Criterion("k-fold", "f1")


def raced(texts, y, axes, *, effort="fast", warm=False, **more):
    """The race alone."""
    y = Labels.of(y)
    task = Task(texts, y, None, warm, 0, np.zeros(1, np.int64))
    return staged_race(task, axes, BY, Budget.of(effort), fast=effort == "fast", **more)


def names(axes, **documents):
    return [axis.name for axis in axes.of(Documents(**documents))]


class TestAxes:
    @pytest.mark.parametrize(
        "learner", [LinearSVM(bias="unregularized"), LinearSVM(C=np.inf), LinearSVM(penalty="l1")]
    )
    def test_slacks_are_not_squared_where_that_is_refused(self, learner):
        assert "loss" in names(Axes.around(learner=LinearSVM(C=2)))
        assert "loss" not in names(Axes.around(learner=learner))

    def test_everything_is_free_by_default(self):
        found = names(Axes.around(), fields=("title",), multilabel=True, number=5000)
        expected = ["learner", "title", "bigrams", "idf_power", "tf", "stemmer", "stop_words", "loss"]
        assert found[: len(expected)] == expected
        assert "chars" in found
        assert "vectors" not in found

    def test_vectors_of_the_collection_for_short_documents(self):
        found = names(Axes.around(), short=True, fields=("title",))
        assert found[-2:] == ["title", "vectors"]
        assert "vectors" not in names(Axes.around(Vectorizer(ngram_range=(1, 2))), short=True)

    @pytest.mark.parametrize(
        ("vectorizer", "kept"),
        [
            ({"ngram_range": (1, 2)}, ("bigrams", "chars", "title")),
            ({"units": "chars", "ngram_range": (3, 3)}, ("bigrams", "chars", "stemmer", "stop_words")),
            ({"blocks": ("words", "bigrams")}, ("bigrams", "chars", "title")),
            ({"n_hashed": 1024}, ("bigrams", "chars")),
            ({"pairs": "near:3"}, ("bigrams", "chars")),
            ({"weighting": "txc"}, ("tf", "idf_power")),
            ({"weighting": "txx"}, ("tf", "idf_power", "bigrams", "chars")),
            ({"idf_power": 0.7}, ("idf_power",)),
            ({"stemmer": "german"}, ("stemmer",)),
            ({"stop_words": ["the"]}, ("stop_words",)),
        ],
        ids=str,
    )
    def test_what_is_given_is_kept(self, vectorizer, kept):
        found = names(Axes.around(Vectorizer(**vectorizer)), fields=("title",))
        assert not set(kept) & set(found)
        assert "loss" in found

    def test_names_are_kept_at_any_value(self):
        axes = Axes.around(given=["ngram_range", "stemmer", "weighting", "loss", "C"])
        assert names(axes) == ["idf_power", "stop_words"]
        assert axes.costs == (1.0,)

    def test_every_alternative_is_another_point_that_can_be_fitted(self):
        axes = Axes.around()
        for axis in axes.of(Documents(2000, multilabel=True, fields=("first-line",), short=True)):
            for point in axis.around(axes.start):
                assert point.key != axes.start.key
                X = Vectorizer(**point.representation).fit_transform([*TEXTS[:30], *TEXTS[:30]])
                point.learner.fit(X, [*LABELS[:30], *LABELS[:30]])

    def test_an_average_has_the_cost_of_its_leader(self):
        axes = Axes.around()
        (axis,) = (axis for axis in axes.of(Documents(multilabel=True)) if axis.name == "average")
        (point,) = axis.around(axes.start.but(C=5.0, balance=0.3))
        assert [(type(member).__name__, member.C, member.balance) for _, member in point.learner.members] == [
            ("LabelWeightedSVM", 5.0, 0.3),
            ("LinearSVM", 5.0, 0.3),
        ]
        assert axis.around(point) == []
        assert predicted_passes(point.learner, 10) == 3 * predicted_passes(LinearSVM(C=5.0), 10)
        assert all(member.tol == 0.1 for _, member in loosened(point.learner).members)

    def test_other_learners_only_where_the_learner_is_free(self):
        others = {"learner", "average"}
        assert others <= set(names(Axes.around(), multilabel=True))
        for axes in (Axes.around(learner=LinearSVM()), Axes.around(given=["loss"]), Axes.around(given=["C"])):
            assert not others & set(names(axes, multilabel=True))
        assert not others & set(names(Axes.around(), multilabel=False))

    def test_vectors_have_only_learners(self):
        assert names(Axes.around(), vectors=True) == ["loss"]
        axes = Axes.around(learner=LogisticRegression())
        assert names(axes, vectors=True) == []
        assert len(axes.costs_of(axes.learner)) > 3

    def test_nothing_to_choose(self):
        axes = Axes.around(learner=LogisticRegression(C=2.0))
        assert axes.is_single(Documents(vectors=True))
        assert not axes.is_single(Documents())

    def test_c_for_each_label_and_no_costs_are_refused(self):
        with pytest.raises(UsageError, match="each label already"):
            Axes.around(learner=LinearSVM(C=[1.0, 2.0]))
        with pytest.raises(UsageError, match="no costs"):
            Axes(costs=())


class TestDocuments:
    def test_language(self):
        assert is_english(["How do I cancel the order that I made?"])
        assert not is_english(["Wie storniere ich die Bestellung, die ich gemacht habe?"])
        assert not is_english(["¿Cómo puedo cancelar el pedido que hice?", ""])

    def test_fields(self):
        title = "Wheat up\n" + "prices of wheat rose again " * 5
        assert fields_of([title] * 9 + ["one line"]) == ("title",)
        assert fields_of([title] * 5 + ["one line"] * 5) == ()
        assert fields_of(["Subject: wheat\n\nUp."] * 3) == ("subject",)
        assert fields_of(["a\x1fb"], ("title", "body")) == ("title",)
        assert fields_of([]) == ()

    def test_length(self):
        brief, long = "wheat rose by a cent", "prices of wheat rose again " * 40
        assert describe([brief] * 3 + [long], Vectorizer(), multilabel=False).short
        assert not describe([brief] + [long] * 3, Vectorizer(), multilabel=False).short

    def test_bytes_and_vectors(self):
        assert describe([b"the \xff price of it"], Vectorizer(), multilabel=False).english
        assert describe(np.eye(3), Vectorizer(), multilabel=True) == Documents(
            3, vectors=True, multilabel=True
        )


class TestSearch:
    @pytest.mark.parametrize("y", [LABELS, CLASSES, [label == "oil" for label in CLASSES]], ids=len)
    def test_every_value_is_that_of_a_vectorizer_fitted_on_what_it_learns_from(self, y):
        race = raced(TEXTS, y, Axes.around())
        assert len(race.splits) == 5
        for stage in race.stages.values():
            for place, value in stage.climber.tried.items():
                C = stage.climber.candidates[place].C
                expected = held_out_value(TEXTS, y, race.splits, stage.point, C, BY)
                assert value == pytest.approx(expected, abs=1e-9), stage.point

    @pytest.mark.parametrize("seed", range(3))
    def test_every_axis_takes_the_best_of_all_its_points(self, seed, monkeypatch):
        monkeypatch.setattr(search, "_WORTH", 0.0)
        texts, y = sample_texts(80, seed)
        axes = Axes.around(learner=LinearSVM(C=1.0), given=["C"])
        race = raced(texts, y, axes)
        leader = axes.start
        for axis in axes.of(race.documents):
            leader, value = best_on_axis(texts, y, race.splits, leader, 1.0, axis, BY)
        best = max(race.stages.values(), key=lambda stage: stage.best)
        assert best.best == pytest.approx(value, abs=1e-9)
        assert race.stages[leader.key].best == best.best

    @pytest.mark.parametrize("effort", ["fast", "full", 0.01])
    @pytest.mark.parametrize("seed", range(3))
    def test_never_worse_than_the_starting_point(self, effort, seed):
        texts, y = sample_texts(100, seed)
        race = raced(texts, y, Axes.around(), effort=effort)
        start = race.stages[Axes.around().start.key]
        assert max(stage.best for stage in race.stages.values()) >= start.best
        found = tune(texts, y, effort=effort)
        estimated = [c for c in found.candidates if c.estimate is not None]
        assert found.candidates[found.chosen].estimate == max(c.estimate for c in estimated)

    def test_many_more_terms_must_be_worth_it(self, monkeypatch):
        def chosen():
            texts, y = sample_texts(100, 1)
            race = raced(texts, y, Axes.around(given=["C"]))
            return max(race.stages.values(), key=lambda stage: stage.best), race

        monkeypatch.setattr(search, "_WORTH", 2.0)
        _, race = chosen()
        for stage in race.stages.values():
            # No candidate with many more terms leads, so none is the base of others.
            assert len(stage.point.representation["blocks"] or ("words",)) <= 2

    @pytest.mark.parametrize("y", [LABELS, CLASSES], ids=["sets", "classes"])
    def test_threads_change_nothing(self, y):
        one, two = (
            tune(TEXTS, y, Axes.around(Vectorizer(n_jobs=n), LinearSVM(n_jobs=n), given=()), effort=0.1)
            for n in (1, 2)
        )
        assert [c.held_out for c in one.candidates] == [c.held_out for c in two.candidates]
        assert one.chosen == two.chosen
        np.testing.assert_array_equal(one.best.learner.coef_, two.best.learner.coef_)

    def test_the_model_is_that_of_a_plain_fit(self):
        found = tune(TEXTS, CLASSES)
        chosen = found.candidates[found.chosen]
        vectorizer = Vectorizer(**chosen.space.representations[chosen.representation])
        X = vectorizer.fit_transform(TEXTS)
        assert abs(X - found.best.X).max() == 0
        learner = chosen.new_learner().fit(X, CLASSES)
        np.testing.assert_allclose(learner.coef_, found.best.learner.coef_, atol=0.05)

    def test_blocks_are_counted_once_in_the_race(self, monkeypatch):
        counted = []
        own = Vectorizer.fit_counts
        monkeypatch.setattr(
            Vectorizer, "fit_counts", lambda self, *texts: counted.append(repr(self)) or own(self, *texts)
        )
        raced(TEXTS, LABELS, Axes.around(), effort="full")
        assert len(counted) == len(set(counted))
        assert sum("chars" in one for one in counted) == 1

    def test_weights_of_documents_count(self):
        weights = np.where(np.arange(len(TEXTS)) % 2, 1.0, 1e-3)
        plain, weighted = tune(TEXTS, CLASSES), tune(TEXTS, CLASSES, sample_weight=weights)
        assert plain.candidates[0].held_out != weighted.candidates[0].held_out


class TestBudget:
    def test_a_step_is_made_only_if_it_is_paid(self):
        sizes = []
        for seconds in (1e-9, 1e-3, 1e-2, 0.1, 10.0):
            race = raced(TEXTS, LABELS, Axes.around(), effort=seconds)
            steps = sum(len(stage.climber.tried) for stage in race.stages.values())
            sizes.append(steps)
            if steps > 1:
                assert race.budget.left >= 0
        assert sizes[0] == 1  # the starting point takes part whatever it costs
        assert sizes[-1] > sizes[0]

    def test_the_clock_is_not_read(self, monkeypatch):
        expected = tune(TEXTS, LABELS, effort=0.05)
        monkeypatch.setattr("time.perf_counter", iter(range(0, 10**9, 1000)).__next__)
        found = tune(TEXTS, LABELS, effort=0.05)
        assert [c.held_out for c in found.candidates] == [c.held_out for c in expected.candidates]
        assert found.chosen == expected.chosen

    def test_folds_are_as_many_as_the_budget_allows(self):
        assert affordable_folds(1e9, 0, 1, 1) == 5
        assert affordable_folds(6.0, 0, 1, 1.4) == 3
        assert affordable_folds(0.5, 0, 1, 1) == 1

    def test_large_collections_are_sampled(self):
        truth = np.where(np.arange(30_000) % 3 == 0, 1, -1).astype(np.int8)[:, None]
        (split,) = staged_splits(truth, 0, None, 1)
        assert 3000 <= len(split.seen) <= 4000
        assert len(split.unseen) == pytest.approx(2 * len(split.seen), abs=2)
        assert not set(split.seen) & set(split.unseen)


class TestTime:
    @settings(max_examples=60, deadline=None)
    @given(
        st.lists(st.one_of(st.integers(-3, 9), st.just(float("nan"))), min_size=1, max_size=40), st.booleans()
    )
    def test_training_documents_are_earlier(self, times, limited):
        times = np.array(times, dtype=float)
        splits = splits_in_time(times, 5 if limited else np.inf)
        known = np.where(np.isnan(times), -np.inf, times)
        assert bool(splits) == (len(np.unique(known)) > 1)
        for split in splits:
            assert min(len(split.seen), len(split.unseen)) > 0
            assert known[split.seen].max() < known[split.unseen].min()
            assert not limited or len(split.seen) <= 5 or len(splits) > 1

    def test_a_race_in_time(self):
        times = np.arange(len(TEXTS))[::-1].astype(float)
        race = raced(TEXTS, LABELS, Axes.around(), times=times)
        assert len(race.splits) == 3
        for split in race.splits:
            assert times[split.seen].max() < times[split.unseen].min()
        found = tune(TEXTS, LABELS, times=times)
        assert found.to_dict()["estimate"] == "later documents"

    def test_equal_times_are_no_order(self):
        with pytest.warns(DataWarning, match="same time"):
            tune(TEXTS, LABELS, times=np.ones(len(TEXTS)))

    def test_wrong_times_are_refused(self):
        with pytest.raises(UsageError, match="120 documents and 3 times"):
            tune(TEXTS, LABELS, times=[1, 2, 3])


class TestSmall:
    @pytest.mark.parametrize("effort", ["fast", "full", 0.01])
    @pytest.mark.parametrize(
        ("texts", "y"),
        [
            (["corn", "wheat corn", "bank", "bank rate"], list("aabb")),
            (["corn", "bank"], list("ab")),
            (["same text"] * 6, list("ababab")),
            (["corn", "corn up", "wheat"], [("a",), ("a",), ()]),
            (["corn", "", "wheat", "?"], list("aabb")),
            (["a", "b", "c", "d", "e", "f"], list("abcdef")),
        ],
        ids=["two each", "one each", "equal texts", "one label", "empty texts", "no two alike"],
    )
    def test_a_model_comes_out(self, texts, y, effort):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = tune(texts, y, effort=effort)
        assert len(found.best.learner.predict(found.best.X)) == len(texts)

    @pytest.mark.parametrize("learner", [NaiveBayes(), KernelSVM(), LogisticRegression()], ids=str)
    def test_other_learners(self, learner):
        classifier = TextClassifier(learner=learner, tune="fast", estimate=None).fit(TEXTS, CLASSES)
        assert type(classifier.learner_) is type(learner)
        assert (classifier.predict(TEXTS) == np.array(CLASSES)).mean() > 0.7


class TestReport:
    def test_the_best_of_every_family(self):
        found = tune(TEXTS, LABELS).to_dict()
        assert json.loads(json.dumps(found)) == found
        assert {one["family"] for one in found["families"]} >= {"words", "bigrams", "chars"}
        for one in found["families"]:
            same = [c for c in found["candidates"] if family(c["parameters"]) == one["family"]]
            best = max(c["held_out"] for c in same if c["held_out"] is not None)
            assert one["value"] == best or one["candidate"] == found["chosen"]
        assert found["chosen"] in [one["candidate"] for one in found["families"]]

    @pytest.mark.parametrize(
        ("parameters", "expected"),
        [
            ({"weighting": "ltc", "blocks": None}, "words"),
            ({"weighting": "ltc", "blocks": ["words", "bigrams:0.5"]}, "bigrams"),
            ({"blocks": [{"name": "words", "field": None}, {"name": "x", "field": "title"}]}, "fields"),
            ({"blocks": ["words", "title:0.5", "chars"]}, "chars"),
            ({"weighting": "ltc", "ngram_range": [1, 2]}, "n-grams"),
            ({"learner": "LinearSVM", "C": 1.0}, "vectors"),
            ({"weighting": "ltc", "learner": "LabelWeightedSVM"}, "per-label weights"),
            ({"weighting": "ltc", "learner": "AverageOf"}, "average"),
        ],
        ids=str,
    )
    def test_families(self, parameters, expected):
        assert family(parameters) == expected
        assert expected in FAMILIES

    def test_the_chosen_one_stands_for_its_family(self):
        words = {"parameters": {"weighting": "ltc"}, "held_out": 0.9, "estimate": None}
        other = {**words, "held_out": 0.8}
        assert best_of_families([words, other], 1) == [{"family": "words", "candidate": 1, "value": 0.8}]

    def test_optimism_counts_all_candidates(self):
        for effort in ("fast", "full"):
            found = tune(TEXTS, CLASSES, effort=effort)
            assert found.optimism.candidates == len(found.candidates)
            assert 0 <= found.optimism.value < 0.1
            assert all(candidate.outcomes == [None, None] for candidate in found.candidates)

    def test_a_choice_per_label_has_all_costs(self):
        classifier = TextClassifier(tune="fast", tune_per_label=True, estimate=None).fit(TEXTS, LABELS)
        assert len(classifier.learner_.C) == 3
        assert set(classifier.learner_.C) <= set(COSTS)


class TestExplicit:
    def test_a_given_learner_stays(self):
        classifier = TextClassifier(learner=LinearSVM(), tune="fast", estimate=None).fit(TEXTS, LABELS)
        assert type(classifier.learner_) is LinearSVM

    def test_parameters_that_were_set_are_kept(self):
        classifier = TextClassifier(tune="fast", estimate=None).set_params(
            vectorizer__ngram_range=(1, 1), vectorizer__weighting="ltc", learner__loss="hinge", learner__C=1.0
        )
        classifier.fit(TEXTS, CLASSES)
        assert classifier.vectorizer_.blocks is None
        assert classifier.vectorizer_.weighting == "ltc"
        assert (classifier.learner_.loss, classifier.learner_.C) == ("hinge", 1.0)
