"""Tables 5.1 to 5.4 and Figures 5.2 to 5.4: published figures agree with each other, ours with them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from widemargin.papers import list_papers, run_paper
from widemargin.papers.joachims import figures_5 as joachims_5_figures
from widemargin.papers.joachims import table_5_1 as joachims_5_1
from widemargin.papers.joachims import table_5_4 as joachims_5_4
from widemargin.papers.joachims.estimators import (
    ESTIMATORS,
    HOLD_OUT,
    LEAVE_ONE_OUT,
    MEASURES,
    XI_ALPHA,
    C,
    estimates,
    in_percent,
    mean_and_deviation,
    trained,
)
from widemargin.papers.joachims.random_splits import Pool, random_split
from widemargin.papers.joachims.table_5_1 import MISSED, OPTIMISTIC, TABLES
from widemargin.papers.joachims.text_tasks import OHSUMED_CATEGORIES, REUTERS_TOPICS, WEBKB_CLASSES
from widemargin.papers.joachims.thesis_svm import linear_svm
from widemargin.weight.vectorizer import Vectorizer

ERROR, F1, RECALL, PRECISION = range(4)


def silent(stage: str) -> None:
    pass


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Documents of Zipfian words, each with one that tells its class in four of five documents."""
    random = np.random.default_rng(0)
    documents = []
    for number in range(201):
        words = [f"w{word}" for word in random.zipf(1.5, size=20) if word < 300]
        told = number % 2 if random.random() < 0.8 else 1 - number % 2
        documents.append(" ".join([*words, ("even", "odd")[told]]))
    return documents


@pytest.fixture(scope="module")
def pool(texts) -> Pool:
    numbers = np.arange(len(texts))
    member = np.column_stack([numbers % 2 == 1, numbers % 5 == 0])
    return Pool(
        "small", Vectorizer(weighting=None).fit_transform(texts), member, {"odd": 0, "fifth": 1}, ["A note."]
    )


class TestPublished:
    def test_the_categories_of_the_other_tables(self):
        names = [list(table.figures) for table in TABLES.values()]
        assert names == [list(REUTERS_TOPICS), list(WEBKB_CLASSES), list(OHSUMED_CATEGORIES)]

    def test_tables_and_figures_are_listed_with_what_they_read(self):
        papers = {paper.name: paper for paper in list_papers()}
        corpora = ("reuters21578", "webkb", "ohsumed")
        assert tuple(papers[f"joachims-{name}"].corpora for name in TABLES) == tuple((c,) for c in corpora)
        assert papers["joachims-5.4"].corpora == corpora
        for figure, topic in joachims_5_figures.FIGURES.items():
            paper = papers[f"joachims-figure-{figure}"]
            assert paper.plot
            assert paper.title.endswith(topic)

    @pytest.mark.parametrize("name", TABLES)
    def test_means_of_f1_are_near_those_of_the_mean_recall_and_precision(self, name):
        for category, figures in TABLES[name].figures.items():
            assert list(figures) == list(ESTIMATORS)
            for estimator, (mean, _) in figures.items():
                f1 = 2 * mean[PRECISION] * mean[RECALL] / (mean[PRECISION] + mean[RECALL])
                assert mean[F1] == pytest.approx(f1, abs=0.35), (category, estimator)

    @pytest.mark.parametrize("name", TABLES)
    def test_estimates_are_in_the_order_of_the_theory(self, name):
        for category, figures in TABLES[name].figures.items():
            loo, one, two = (np.array(figures[key][0]) for key in (LEAVE_ONE_OUT, *XI_ALPHA.values()))
            assert loo[ERROR] < one[ERROR] < two[ERROR], category
            assert (loo[1:] > one[1:]).all(), category
            assert (one[1:] > two[1:]).all(), category

    def test_deviations_are_small(self):
        for table in TABLES.values():
            for figures in table.figures.values():
                for mean, deviation in figures.values():
                    assert all(0 < d < m for m, d in zip(mean, deviation, strict=True))
                    assert max(deviation) <= 5.6


class TestRandomSplit:
    def test_as_if_the_documents_were_read_again(self, pool, texts):
        split = random_split(pool, 3, size=80)
        order = np.random.default_rng(3).permutation(len(texts))
        train, test = order[:80], order[-80:]
        vectorizer = Vectorizer(min_df=3, weighting="tfc")
        expected = vectorizer.fit_transform([texts[i] for i in train])
        np.testing.assert_array_equal(split.X_train.toarray(), expected.toarray())
        expected = vectorizer.transform([texts[i] for i in test])
        np.testing.assert_array_equal(split.X_test.toarray(), expected.toarray())
        np.testing.assert_array_equal(split.in_train, pool.member[train])
        np.testing.assert_array_equal(split.in_test, pool.member[test])

    def test_halves_have_no_document_in_common(self, pool):
        whole = Pool("", pool.counts, np.eye(len(pool.member), dtype=bool), {}, [])
        split = random_split(whole, 0)
        assert len(split.in_train) == len(split.in_test) == pool.half == 100
        assert split.in_train.any(axis=0).sum() + split.in_test.any(axis=0).sum() == 200
        assert not (split.in_train.any(axis=0) & split.in_test.any(axis=0)).any()

    def test_another_seed_another_split_and_small_ones_within_large_ones(self, pool):
        first = random_split(pool, 0, [0])
        assert first.in_train.shape == (100, 1)
        assert (first.in_train != random_split(pool, 1, [0]).in_train).any()
        np.testing.assert_array_equal(random_split(pool, 0, [0], 30).in_train, first.in_train[:30])


class TestEstimates:
    @pytest.mark.parametrize("columns", [[0], [0, 1]])
    def test_every_estimator_in_the_order_of_the_theory(self, pool, columns):
        tables = estimates(random_split(pool, 0, columns)).tables
        found = {name: in_percent(table) for name, table in tables.items()}
        assert set(found) == set(ESTIMATORS)
        assert all(figures.shape == (len(columns), 4) for figures in found.values())
        loo, one, two = (found[name] for name in (LEAVE_ONE_OUT, *XI_ALPHA.values()))
        assert (one[:, ERROR] <= two[:, ERROR]).all()
        assert (one[:, RECALL] >= two[:, RECALL]).all()
        assert (loo[:, ERROR] <= two[:, ERROR]).all()
        assert 5 < found[HOLD_OUT][0, ERROR] < 45, "a word tells it in four of five documents"

    def test_leave_one_out_is_retraining_without_each_document(self, pool):
        split = random_split(pool, 0, [0], 60)
        y = split.in_train[:, 0]
        scores = []
        for i in range(len(y)):
            others = np.arange(len(y)) != i
            learner = linear_svm(C, n_jobs=1).fit(split.X_train[others], y[others])
            scores.append(float(learner.decision_function(split.X_train[[i]])[0]))
        wrong = (np.array(scores) > 0) != y
        found = estimates(split)
        assert 0 < wrong.sum() == in_percent(found.tables[LEAVE_ONE_OUT])[0, ERROR] * 0.6
        risk = trained(split).left_out_risk(split.X_train, risk_factor=1)[:, 0]
        assert found.missed == np.count_nonzero(wrong & (risk < 1))
        assert LEAVE_ONE_OUT not in estimates(split, left_out=False).tables

    def test_mean_and_deviation_leave_out_what_is_not_defined(self):
        runs = np.array([[1.0, 2.0, np.nan], [2.0, np.nan, np.nan], [6.0, 4.0, np.nan]])
        mean, deviation = mean_and_deviation(runs)
        np.testing.assert_allclose(mean, [3, 3, np.nan])
        np.testing.assert_allclose(deviation, [math.sqrt(7), math.sqrt(2), np.nan])

    def test_optimistic_runs_promise_fewer_errors_or_more_of_the_rest(self):
        true = np.full((2, 5, 4), 50.0)
        promised = true.copy()
        promised[0, 0] = [40, 60, 40, 50]
        promised[1, 2] = [60, 60, 60, 40]
        runs = {HOLD_OUT: true, XI_ALPHA[1]: promised}
        assert joachims_5_1.optimistic(runs).tolist() == [10, 20, 10, 0]

    def test_steps_are_what_neither_condition_decides(self, pool):
        split = random_split(pool, 0)
        learner = trained(split)
        for risk_factor, share in zip(joachims_5_4.RHO, joachims_5_4.retrained(split), strict=True):
            risk = learner.left_out_risk(split.X_train, risk_factor=risk_factor)
            left = (risk >= 1 - 1e-9) & (learner.xi_ <= 1)
            assert 0 < share == pytest.approx(100 * left.mean())

    def test_more_steps_take_longer(self, pool):
        split = random_split(pool, 0)
        one, two = joachims_5_4.retraining_seconds(split, timed=3)
        assert one > 0
        assert one < two * 1.5, "rho = 2 decides on fewer examples; timings vary"
        assert joachims_5_4.library_seconds(split) > 0

    def test_a_step_trains_without_one_example(self, pool):
        split = random_split(pool, 0)
        y = split.y_train[:, [0]]
        learner = linear_svm(C, n_jobs=1).fit(split.X_train, y)
        whole = learner.alpha_.copy()
        left_out = int(learner.alpha_[:, 0].argmax())
        joachims_5_4._without(learner.set_params(warm_start=True), whole, split, y, left_out)
        others = np.arange(len(whole)) != left_out
        alone = linear_svm(C, n_jobs=1).fit(split.X_train[others], y[others])
        assert learner.alpha_[left_out, 0] == 0
        assert learner.objective_ == pytest.approx(alone.objective_, rel=1e-3)


@pytest.mark.needs_corpus("webkb")
class TestWebKB:
    @pytest.mark.paper("joachims-5.2")
    def test_a_small_table_5_2(self):
        result = joachims_5_1.run(silent, "5.2", splits=2, categories=("course", "student"), size=300)
        assert result.cell("course: hold-out", "F1").published == 94.2
        assert result.cell("student: xi-alpha rho=2, deviation", "precision").published == 0.6
        assert {cell.column for cell in result.cells} == set(MEASURES)
        for category in ("course", "student"):
            one, two = (result.cell(f"{category}: {name}", "error").ours for name in XI_ALPHA.values())
            assert one < two
            assert result.cell(f"{category}: hold-out, deviation", "error").ours > 0
            loo = result.cell(f"{category}: leave-one-out", "error").ours
            assert 0 < loo <= one
        assert result.cell(MISSED, "error").ours == 0
        assert math.isnan(result.cell(OPTIMISTIC, "error").published)
        assert any("300 training and 300 test documents" in note for note in result.notes)

    @pytest.mark.paper("joachims-5.4")
    def test_table_5_4_of_one_collection(self):
        result = joachims_5_4.run(silent, ("WebKB",), splits=1)
        fast, slow, library, one, two = result.cells
        assert (fast.published, slow.published) == (78.5, 235.4)
        assert 0 < library.ours < slow.ours < slow.published
        assert (one.published, two.published) == (6.78, 20.42)
        assert abs(one.difference) < 1
        assert abs(two.difference) < 2

    @pytest.mark.slow
    def test_table_5_2(self):
        check_table("joachims-5.2", error=1.0, f1=10.0)
        # Nearly a third of the pages could be wrong by the bound, and a tenth by the rule.
        student = [cell for cell in run_paper("joachims-5.2").cells if cell.row == "student: xi-alpha rho=2"]
        assert abs(student[ERROR].difference) < 3.5


def check_table(
    name: str, error: float, f1: float, apart: dict[str, tuple[float, float]] | None = None
) -> None:
    """Error and F1 as near to the published as that, conservative, and with deviations of the same size.

    `apart` has the two limits of categories with limits of their own.
    """
    result = run_paper(name)
    table = TABLES[name.removeprefix("joachims-")]
    for category in table.figures:
        truth, rule, bound = (
            [result.cell(f"{category}: {name}", measure).ours for measure in MEASURES]
            for name in (HOLD_OUT, *XI_ALPHA.values())
        )
        assert truth[ERROR] < rule[ERROR] < bound[ERROR]
        assert truth[F1] > rule[F1] > bound[F1]
        limits = (apart or {}).get(category, (error, f1))
        for estimator in (HOLD_OUT, XI_ALPHA[1]):
            for measure, limit in zip(("error", "F1"), limits, strict=True):
                assert abs(result.cell(f"{category}: {estimator}", measure).difference) < limit, category
            deviation = result.cell(f"{category}: {estimator}, deviation", "error")
            # Of ten runs; a quarter to four times the published one, which is of ten, too.
            assert deviation.published / 4 < deviation.ours < 4 * deviation.published
        if table.left_out:
            assert result.cell(f"{category}: {LEAVE_ONE_OUT}", "error").ours < rule[ERROR]
    if table.left_out:
        assert result.cell(MISSED, "error").ours == 0
    assert result.cell(OPTIMISTIC, "error").ours <= 5
    assert result.cell(OPTIMISTIC, "F1").ours <= 5


@pytest.mark.needs_corpus("reuters21578")
class TestReuters:
    @pytest.mark.paper("joachims-figure-5.2")
    def test_small_learning_curves(self):
        result = joachims_5_figures.run(silent, "5.2", sizes=(100, 800), splits=3, left_out=2)
        for estimator in joachims_5_figures.DRAWN:
            small, large = (result.cell(f"{size}: {estimator}", "error %") for size in (100, 800))
            assert math.isnan(large.published)
            assert large.ours < small.ours
        assert [panel.y_label for panel in result.panels] == ["error %", "F1 %"]
        for panel in result.panels:
            assert len(panel.lines) == 2 * len(joachims_5_figures.DRAWN)
            assert all(len(line.x) == len(line.y) == 2 for line in panel.lines)

    @pytest.mark.slow
    @pytest.mark.paper("joachims-5.1")
    def test_table_5_1(self):
        check_table("joachims-5.1", error=0.3, f1=4.5)

    @pytest.mark.slow
    def test_retraining_steps_as_published(self):
        result = joachims_5_4.run(silent, ("Reuters",))
        steps = [cell for cell in result.cells if cell.column in joachims_5_4.RETRAINED.values()]
        assert len(steps) == 2
        assert all(abs(cell.difference) < 0.02 for cell in steps)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "figure",
        [
            pytest.param(figure, marks=pytest.mark.paper(f"joachims-figure-{figure}"))
            for figure in joachims_5_figures.FIGURES
        ],
    )
    def test_figures_end_where_table_5_1_is(self, figure):
        result = run_paper(f"joachims-figure-{figure}")
        means = result.panels[0].lines[: len(joachims_5_figures.DRAWN)]
        assert [line.name for line in means] == list(joachims_5_figures.DRAWN)
        assert all(line.y[-1] < line.y[0] for line in means)
        last = [cell for cell in result.cells if cell.row.startswith("6,451") and cell.column == "error %"]
        assert len(last) == len(joachims_5_figures.DRAWN)
        for cell in last:
            # Words are not quite the published ones: estimates differ where the truth does not.
            share = 0.05 if cell.row.endswith(HOLD_OUT) else 0.1
            assert abs(cell.difference) < share * cell.published, cell


@pytest.mark.slow
@pytest.mark.needs_corpus("ohsumed")
@pytest.mark.paper("joachims-5.3")
def test_table_5_3():
    # The copy lacks 6,071 documents that are in no category, so that errors are shares of fewer documents,
    # most of all those of Pathology, and more of them belong to categories that are hard to tell apart.
    apart = {"Pathology": (6.5, 9.0), "Neoplasms": (3.6, 5.5), "Nervous System": (1.5, 12.5)}
    check_table("joachims-5.3", error=0.5, f1=4.0, apart=apart)
