"""Tuning: the algorithm of joachims 6.2.3 over a declared space, in full and fast."""

from __future__ import annotations

import json
import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.naive_bayes import ComplementNB

from widemargin import KernelSVM, LinearSVM, Perceptron, Vectorizer
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.estimate.cross_validation import out_of_fold, scores_without
from widemargin.estimate.held_out import leave_one_out
from widemargin.estimate.xi_alpha import xi_alpha_of
from widemargin.labels import Labels
from widemargin.measure import contingency, micro, micro_prbep, prbep, precision_recall_average
from widemargin.report.tuning import tuning_table
from widemargin.tune import budget, race
from widemargin.tune.budget import predicted_passes
from widemargin.tune.criteria import Criterion
from widemargin.tune.search_space import COSTS, Space, representations
from widemargin.tune.tuning import tune

WORDS = {
    "grain": "wheat corn harvest harvests crop crops tonnes export exports farm",
    "money": "bank banks rate rates interest dollar currency loans loan fed",
    "oil": "crude barrel barrels opec oil drilling rig rigs export exports",
}
COMMON = ["the", "of", "and", "said", "to", "in", "a", "mln", "year", "company"]


def sample_texts(n=120, seed=0):
    """Texts of random words, most of them typical of their labels."""
    generator = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(n):
        own = [name for name in WORDS if generator.random() < 0.35]
        words = list(generator.choice(COMMON, 8))
        for name in own:
            words += list(generator.choice(WORDS[name].split(), 3))
        words += list(generator.choice(" ".join(WORDS.values()).split(), 2))
        texts.append(" ".join(generator.permutation(words)))
        labels.append(tuple(own))
    return texts, labels


TEXTS, LABELS = sample_texts()
SMALL = Space(representations()[:6], costs=(0.1, 1.0, 10.0))
K_FOLD = Criterion("k-fold", folds=4)


class TestSpace:
    def test_the_thesis_chooses_from_twelve_times_seven(self):
        assert len(Space().candidates()) == 84
        distinct = {json.dumps(candidate.parameters) for candidate in Space().candidates()}
        assert len(distinct) == 84
        assert [candidate.C for candidate in Space().candidates()[:7]] == sorted(COSTS)

    def test_what_the_user_has_comes_first_and_varies(self):
        found = representations({"stemmer": "german", "stop_words": {"und"}, "ngram_range": (1, 2)})
        assert found[0]["stemmer"] == "german"
        assert {one["stemmer"] for one in found} == {"german", None}
        assert all(one["ngram_range"] == (1, 2) for one in found)
        for one in found:
            Vectorizer(**one).fit(TEXTS)

    def test_characters_have_no_stems(self):
        found = representations({"units": "chars", "ngram_range": (3, 3)})
        assert len(found) == 3
        for one in found:
            Vectorizer(**one).fit(TEXTS)

    @pytest.mark.parametrize("empty", [{"representations": []}, {"learners": ()}, {"costs": []}], ids=str)
    def test_an_empty_space_is_refused(self, empty):
        with pytest.raises(UsageError, match=f"no {next(iter(empty))} to choose from"):
            Space(**empty)

    def test_a_learner_without_c_is_one_candidate(self):
        space = Space([{}], learners=[ComplementNB(), LinearSVM()], costs=(1.0, 2.0))
        assert [candidate.C for candidate in space.candidates()] == [None, 1.0, 2.0]


class TestCriterion:
    def test_measures_are_those_of_the_measure_package(self):
        X, (space, truth) = Vectorizer().fit_transform(TEXTS), Labels.of(LABELS).space_and_signs
        learner = LinearSVM().fit(X, LABELS)
        found = out_of_fold(learner, X, LABELS, folds=4, tol=0.01)
        table = contingency(truth, found.signs)
        judged = Criterion("k-fold", "pravg", folds=4).judge(learner, X, LABELS)
        assert judged.value == micro(precision_recall_average, table)
        np.testing.assert_array_equal(judged.by_label, precision_recall_average(table))
        judged = K_FOLD.judge(learner, X, LABELS)
        assert judged.value == micro_prbep(truth, found.scores)
        judged = Criterion("k-fold", average="macro", folds=4).judge(learner, X, LABELS)
        assert judged.value == pytest.approx(np.mean(prbep(truth, found.scores)))
        judged = Criterion("xi-alpha").judge(learner, X, LABELS)
        assert judged.value == micro(precision_recall_average, xi_alpha_of(learner, X, LABELS))
        assert space.n_columns == len(judged.by_label)

    def test_leave_one_out_is_that_of_the_scores_without_each_document(self):
        X, truth = Vectorizer().fit_transform(TEXTS[:40]), Labels.of(LABELS[:40]).signs
        learner = LinearSVM().fit(X, LABELS[:40])
        found = leave_one_out(learner, X, LABELS[:40])
        judged = Criterion("leave-one-out").judge(learner, X, LABELS[:40])
        assert judged.value == micro_prbep(truth, found.scores)
        assert judged.method == found.method == "leave-one-out"
        judged = Criterion("leave-one-out", "pravg").judge(learner, X, LABELS[:40])
        assert judged.value == micro(precision_recall_average, found.table)

    def test_classes_are_decided_by_the_highest_score(self):
        space, truth = Labels.of(["a", "b", "c"]).space_and_signs
        scores = np.array([[-1.0, -2.0, -3.0], [0.5, 1.0, -1.0], [-3.0, -1.0, -2.0]])
        assert Criterion("k-fold", "f1").of_scores(space, truth, scores).value == pytest.approx(2 / 3)

    def test_one_task_and_several_have_the_same_form(self):
        X, y = Vectorizer().fit_transform(TEXTS), ["grain" in labels for labels in LABELS]
        for estimate in ("k-fold", "xi-alpha"):
            assert Criterion(estimate).judge(LinearSVM().fit(X, y), X, y).by_label.shape == (1,)

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            ({"estimate": "guess"}, "estimate='guess'"),
            ({"measure": "luck"}, "measure='luck'"),
            ({"average": "median"}, "average='median'"),
            ({"estimate": "xi-alpha", "measure": "prbep"}, "no break-even"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, wrong, said):
        with pytest.raises(UsageError, match=said):
            Criterion(**wrong)


class TestExact:
    def test_it_is_the_algorithm_of_the_thesis(self):
        """Train every model, estimate it, take the best: 6.2.3, written out."""
        for criterion in (K_FOLD, Criterion("xi-alpha")):
            best = (-1.0, None)
            for candidate in SMALL.candidates():
                parameters = SMALL.representations[candidate.representation]
                X = Vectorizer(**parameters).fit_transform(TEXTS)
                learner = LinearSVM(C=candidate.C).fit(X, LABELS)
                value = criterion.judge(learner, X, LABELS).value
                if value > best[0]:
                    best = (value, (parameters, candidate.C))
            found = tune(TEXTS, LABELS, SMALL, effort="full", criterion=criterion, warm_start=False)
            chosen = found.candidates[found.chosen]
            assert (SMALL.representations[chosen.representation], chosen.C) == best[1]
            assert chosen.estimate == best[0]
            assert all(candidate.estimate is not None for candidate in found.candidates)

    def test_the_fitted_model_is_that_of_a_plain_fit(self):
        found = tune(TEXTS, LABELS, SMALL, effort="full", criterion=K_FOLD, warm_start=False)
        chosen = found.candidates[found.chosen]
        vectorizer = Vectorizer(**SMALL.representations[chosen.representation])
        X = vectorizer.fit_transform(TEXTS)
        assert (found.best.X != X).nnz == 0
        learner = LinearSVM(C=chosen.C).fit(X, LABELS)
        np.testing.assert_array_equal(found.best.learner.coef_, learner.coef_)
        unseen = found.best.vectorizer.transform(["wheat exports"])
        assert (unseen != vectorizer.transform(["wheat exports"])).nnz == 0
        assert found.best.learner.get_params() == learner.get_params()

    def test_a_choice_for_each_label(self):
        found = tune(TEXTS, LABELS, SMALL, effort="full", criterion=K_FOLD, per_label=True)
        values = np.array([candidate.by_label for candidate in found.candidates])
        np.testing.assert_array_equal(found.by_label, values.argmax(axis=0))
        assert sorted(np.concatenate([part.columns for part in found.parts])) == [0, 1, 2]
        for part in found.parts:
            candidate = found.candidates[part.candidate]
            assert part.learner.C == candidate.C
            assert part.vectorizer.weighting == SMALL.representations[candidate.representation]["weighting"]
            assert (found.by_label[part.columns] == part.candidate).all()

    def test_kernels_are_candidates(self):
        learners = [KernelSVM(kernel="rbf", gamma=gamma) for gamma in (0.1, 1.0)]
        space = Space([{}, {"weighting": "bxc"}], learners, costs=(1.0, 10.0))
        found = tune(TEXTS, LABELS, space, effort="full", criterion=Criterion("xi-alpha", risk_factor=1.0))
        assert len(found.candidates) == 8
        assert {candidate.parameters.get("gamma", 0.1) for candidate in found.candidates} == {0.1, 1.0}
        assert isinstance(found.best.learner, KernelSVM)

    def test_vectors_leave_learners_to_choose(self):
        X = Vectorizer().fit_transform(TEXTS)
        found = tune(X, LABELS, Space(costs=(0.1, 1.0)), effort="full", criterion=K_FOLD)
        assert found.best.vectorizer is None
        assert found.best.X is X
        assert [candidate.parameters for candidate in found.candidates] == [
            {"learner": "LinearSVM", "C": 0.1},
            {"learner": "LinearSVM", "C": 1.0},
        ]
        dense = tune(X.toarray(), LABELS, Space(costs=(0.1, 1.0)), effort="full", criterion=K_FOLD)
        assert dense.chosen == found.chosen

    def test_learners_of_others(self):
        space = Space([{"weighting": "txc"}], learners=[LinearSVM(), LinearSVM(loss="squared_hinge")])
        found = tune(TEXTS, LABELS, space, criterion=K_FOLD)
        assert any(c.parameters.get("loss") == "squared_hinge" for c in found.candidates)


class TestFast:
    def test_finalists_are_the_best_of_the_race_and_the_best_finalist_is_chosen(self):
        found = tune(TEXTS, LABELS, Space(), criterion=K_FOLD, finalists=4)
        raced = [candidate for candidate in found.candidates if candidate.held_out is not None]
        estimated = [candidate for candidate in found.candidates if candidate.estimate is not None]
        assert len(estimated) == 4
        assert len(raced) < len(found.candidates)
        assert min(c.held_out for c in estimated) >= max(c.held_out for c in raced if c.estimate is None)
        assert found.candidates[found.chosen].estimate == max(c.estimate for c in estimated)

    @pytest.mark.parametrize("effort", ["fast", "full"])
    @pytest.mark.parametrize("seed", range(4))
    def test_warm_and_cold_starts_choose_the_same(self, effort, seed):
        texts, labels = sample_texts(150, seed)
        warm, cold = (
            tune(texts, labels, SMALL, effort=effort, criterion=K_FOLD, warm_start=start)
            for start in (True, False)
        )
        estimates = [found.candidates[found.chosen].estimate for found in (warm, cold)]
        assert (
            estimates[0] == estimates[1]
        )  # of two candidates with the same estimate, the race may drop either
        if warm.chosen == cold.chosen:
            np.testing.assert_allclose(warm.best.learner.coef_, cold.best.learner.coef_, atol=0.05)

    def test_the_choice_is_nearly_as_good_as_the_best(self):
        for seed in range(3):
            texts, labels = sample_texts(300, seed)
            full = tune(texts, labels, Space(), effort="full", criterion=K_FOLD)
            fast = tune(texts, labels, Space(), criterion=K_FOLD)
            best = full.candidates[full.chosen].estimate
            assert full.candidates[fast.chosen].estimate > best - 0.02

    def test_as_few_candidates_as_finalists_need_no_race(self):
        found = tune(TEXTS, LABELS, Space([{}], costs=(0.1, 1.0)), criterion=K_FOLD)
        assert all(candidate.held_out is None for candidate in found.candidates)

    def test_large_collections_are_judged_on_a_sample(self, monkeypatch):
        monkeypatch.setattr(race, "_SMALL", 50)
        monkeypatch.setattr(race, "_LEARN_FROM", 30)
        truth = Labels.of(LABELS).signs
        (split,) = race.race_splits(truth, 0)
        assert len(split.seen) == 30
        assert len(split.unseen) == 60
        assert not set(split.seen) & set(split.unseen)
        raced = []

        def learn(learner, X_seen, X_unseen, *rest):
            raced.append((X_seen.shape[0], X_unseen.shape[0]))
            return scores_without(learner, X_seen, X_unseen, *rest)

        monkeypatch.setattr(race, "scores_without", learn)
        found = tune(TEXTS, LABELS, SMALL, criterion=K_FOLD)
        assert set(raced) == {(30, 60)}
        assert len(raced) == sum(candidate.held_out is not None for candidate in found.candidates)
        # The finalists are judged on all documents.
        full = tune(TEXTS, LABELS, SMALL, effort="full", criterion=K_FOLD)
        for fast, slow in zip(found.candidates, full.candidates, strict=True):
            assert fast.estimate is None or fast.estimate == pytest.approx(slow.estimate, abs=0.01)
        assert found.candidates[found.chosen].estimate is not None

    def test_costly_comparisons_use_two_folds(self, monkeypatch):
        trained = []

        def learn(learner, X_seen, *rest):
            trained.append(X_seen.shape[0])
            return scores_without(learner, X_seen, *rest)

        monkeypatch.setattr(race, "scores_without", learn)
        tune(TEXTS, LABELS, SMALL, criterion=K_FOLD)
        assert set(trained) == {96}
        usual = len(trained)
        trained.clear()
        monkeypatch.setattr(budget, "_LEAST", 0)
        found = tune(TEXTS, LABELS, SMALL, criterion=K_FOLD)
        assert set(trained) == {60}
        assert len(trained) < usual / 2
        assert found.criterion.folds == 2
        # Explicit efforts are not reduced.
        for effort in ("full", 1e3):
            assert tune(TEXTS, LABELS, SMALL, effort=effort, criterion=K_FOLD).criterion == K_FOLD

    def test_c_is_climbed_to_a_top(self):
        values = {0: 0.1, 1: 0.5, 2: 0.6, 3: 0.7, 4: 0.9, 5: 0.8, 6: 0.2}
        climber = race.Climber(Space([{}]).candidates(), [], warm=True)
        order = []
        while (place := climber.next_step()) is not None:
            order.append(place)
            climber.tried[place] = values[place]
        assert order == [3, 4, 5]
        climber.tried.clear()
        order = []
        while (place := climber.next_step()) is not None:
            order.append(place)
            climber.tried[place] = -values[place]
        assert order == [3, 4, 2, 1, 0]

    def test_the_same_seed_chooses_the_same(self):
        first, second = (tune(TEXTS, LABELS, SMALL, criterion=K_FOLD) for _ in range(2))
        assert [c.held_out for c in first.candidates] == [c.held_out for c in second.candidates]
        assert first.chosen == second.chosen


class TestBudget:
    def test_more_seconds_visit_more_candidates_in_the_same_order(self):
        visited = []
        for seconds in (1e-6, 1e-4, 2e-3, 5e-3, 1e-2, 0.1, 1e3):
            found = tune(TEXTS, LABELS, Space(), criterion=K_FOLD, effort=seconds)
            visited.append({k: c.held_out for k, c in enumerate(found.candidates) if c.held_out is not None})
            assert found.candidates[found.chosen].estimate is not None
        sizes = [len(one) for one in visited]
        assert sizes[0] == 1
        assert sizes == sorted(sizes)
        assert len(set(sizes)) > 3
        for fewer, more in pairwise(visited):
            assert fewer.items() <= more.items()

    def test_threads_and_time_change_nothing(self):
        def found(n_jobs):
            space = Space(representations()[:6], [LinearSVM(n_jobs=n_jobs)])
            return tune(TEXTS, LABELS, space, criterion=K_FOLD, effort=3e-3)

        one, two = found(1), found(2)
        assert [c.held_out for c in one.candidates] == [c.held_out for c in two.candidates]
        assert one.chosen == two.chosen
        np.testing.assert_array_equal(one.best.learner.coef_, two.best.learner.coef_)

    def test_predicted_passes(self):
        assert predicted_passes(Perceptron(max_iter=7), 100) == 7
        assert predicted_passes(ComplementNB(), 100) == predicted_passes(LinearSVM(tol=0.1), 100)
        assert predicted_passes(LinearSVM(np.inf), 100) == predicted_passes(LinearSVM(1000), 100)


class TestBadInput:
    def test_labels_with_one_example_or_none(self):
        Y = np.array([["grain" in labels, False, False] for labels in LABELS]).astype(int)
        Y[3, 1] = 1
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = tune(TEXTS, Y, SMALL, criterion=K_FOLD, per_label=True)
        told = [str(warning.message) for warning in caught if warning.category is DataWarning]
        assert sum("have one example" in text for text in told) == 1
        assert sum("have no example" in text for text in told) == 1
        assert found.by_label[2] == found.chosen

    @pytest.mark.parametrize("effort", ["fast", "full"])
    def test_fewer_examples_than_folds(self, effort):
        with pytest.warns(DataWarning, match="5 examples for 10 folds"):
            found = tune(TEXTS[:5], list("aabba"), SMALL, effort=effort, criterion=Criterion(folds=10))
        assert found.best.learner.predict(found.best.X).shape == (5,)

    def test_a_single_positive_example_still_gives_a_model(self):
        with pytest.warns(DataWarning, match="one example"):
            found = tune(TEXTS[:20], ["a"] * 19 + ["b"], SMALL, criterion=K_FOLD)
        assert found.best.learner.classes_.tolist() == ["a", "b"]

    def test_nothing_to_measure(self):
        Y = np.zeros((20, 2), int)
        Y[0, 0] = 1
        with pytest.warns(DataWarning) as caught:
            found = tune(TEXTS[:20], Y, SMALL, effort="full", criterion=Criterion("xi-alpha"))
        assert found.best.learner is not None
        assert any("one example" in str(warning.message) for warning in caught)

    def test_what_makes_no_sense_is_refused(self):
        with pytest.raises(UsageError, match="effort='slow'"):
            tune(TEXTS, LABELS, effort="slow")
        with pytest.raises(UsageError, match="finalists=0"):
            tune(TEXTS, LABELS, finalists=0)
        with pytest.raises(DataError, match="119 documents and 120 labels"):
            tune(TEXTS[1:], LABELS)


class TestReport:
    def test_optimism_is_reported_and_outcomes_are_dropped(self):
        for effort in ("fast", "full", 1.0):
            found = tune(TEXTS, LABELS, SMALL, effort=effort, criterion=K_FOLD)
            assert 0 <= found.to_dict()["optimism"] == found.optimism.value < 0.1
            seen = [c for c in found.candidates if (c.held_out, c.estimate) != (None, None)]
            assert found.optimism.candidates == len(seen)
            assert all(candidate.outcomes == [None, None] for candidate in found.candidates)
        assert tune(TEXTS, LABELS, SMALL, effort="full", criterion="xi-alpha").optimism.value == 0

    def test_everything_is_plain_data(self):
        space = Space([{"stop_words": {"the"}, "ngram_range": (1, 2)}, {}], costs=(np.float64(1.0), 2))
        found = tune(TEXTS, LABELS, space, criterion=K_FOLD, per_label=True)
        plain = json.loads(json.dumps(found.to_dict()))
        assert plain["candidates"][0]["parameters"]["stop_words"] == ["the"]
        assert set(plain["chosen_by_label"]) == {"grain", "money", "oil"}
        assert plain["candidates"][plain["chosen"]]["estimate"] == found.candidates[found.chosen].estimate

    def test_the_table_shows_what_varies_the_chosen_first(self):
        found = tune(TEXTS, LABELS, SMALL, criterion=K_FOLD)
        table = tuning_table(found.to_dict(), "Candidates", most=5)
        lines = table.plain().splitlines()
        names = [column.name for column in table.columns]
        assert names[:3] == ["weighting", "stop words", "C"]
        assert lines[2].endswith("chosen")
        assert len(table.rows) == 5
        assert "5 best of 18 candidates" in lines[-1]

    def test_learners_do_not_change(self):
        learner = LinearSVM(warm_start=False)
        space = Space([{}], [learner], costs=(0.1, 1.0, 5.0, 10.0))
        before = clone(learner).get_params()
        found = tune(sp.csr_array(Vectorizer().fit_transform(TEXTS)), LABELS, space, criterion=K_FOLD)
        assert learner.get_params() == before
        assert not hasattr(learner, "coef_")
        assert found.best.learner.warm_start is False


@pytest.mark.parametrize("effort", ["fast", "full"])
def test_texts_are_counted_once_for_all_weightings(effort, monkeypatch):
    counted = []
    own = Vectorizer.fit_counts
    monkeypatch.setattr(
        Vectorizer, "fit_counts", lambda self, *texts: counted.append(repr(self)) or own(self, *texts)
    )
    texts, labels = sample_texts(60)
    tune(
        texts, labels, Space(representations(), costs=(0.1, 1.0)), effort=effort, criterion=Criterion(folds=3)
    )
    assert len(counted) == len(set(counted)) == 4  # with and without stems, with and without stop words


@pytest.mark.slow
@pytest.mark.needs_corpus("reuters21578")
class TestReuters:
    @pytest.fixture
    def sample(self, corpus):
        part = corpus("reuters21578", "modapte").train
        Y = np.array(
            [[topic in labels for topic in ("earn", "acq", "crude", "grain")] for labels in part.labels]
        )
        return part.texts[:2500], Y[:2500].astype(int)

    def test_warm_and_cold_starts_choose_the_same(self, sample):
        space = Space(representations()[:6], costs=(0.1, 0.5, 1.0, 5.0, 10.0))
        for effort in ("fast", "full"):
            warm, cold = (
                tune(*sample, space, effort=effort, criterion=Criterion(folds=3), warm_start=start)
                for start in (True, False)
            )
            # Of two candidates with the same estimate, the race may drop either.
            estimates = [found.candidates[found.chosen].estimate for found in (warm, cold)]
            assert estimates[0] == estimates[1]

    def test_fast_loses_little_against_exact(self, sample):
        full = tune(*sample, Space(), effort="full", criterion=Criterion(folds=3))
        fast = tune(*sample, Space(), criterion=Criterion(folds=3))
        best = full.candidates[full.chosen].estimate
        assert full.candidates[fast.chosen].estimate > best - 0.005
        raced = [candidate for candidate in fast.candidates if candidate.held_out is not None]
        assert len(raced) < len(fast.candidates) / 2
