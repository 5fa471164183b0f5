"""Figures 7.3 to 7.12, Tables 9.1 to 9.3 and Figures 9.3 to 9.5: printed figures, samples, small runs."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from widemargin import NaiveBayes
from widemargin.measure import prbep
from widemargin.papers import list_papers
from widemargin.papers.joachims import few_labels
from widemargin.papers.joachims import figures_9 as joachims_9_figures
from widemargin.papers.joachims import table_7_3 as joachims_7_3
from widemargin.papers.joachims import table_7_5 as joachims_7_5
from widemargin.papers.joachims import table_7_6 as joachims_7_6
from widemargin.papers.joachims import table_9_1 as joachims_9_1
from widemargin.papers.joachims.table_7_5 import ALARM, BAYES, GUARDED, LIGHTER, MACRO, NEW, SVM, TSVM
from widemargin.papers.result import SPREAD


def silent(stage: str) -> None:
    pass


def ours(result, row, column):
    return result.cell(row, column).ours


class TestPublished:
    @pytest.mark.parametrize("name", joachims_7_5.FIGURES)
    def test_the_printed_macro_average_is_the_mean_of_the_rows(self, name):
        rows = dict(joachims_7_5.FIGURES[name].rows)
        macro = list(rows.pop(MACRO))
        if name == "7.5":
            assert macro[1] == 60.8
            macro[1] = 61.3  # what the printed rows give
        assert np.mean(list(rows.values()), axis=0) == pytest.approx(macro, abs=0.051)
        bayes = dict(joachims_7_5.FIGURES[name].bayes)
        assert list(bayes) == [*rows, MACRO]
        # One row of Figure 7.5 is 0.1 off by rounding.
        assert bayes.pop(MACRO) == pytest.approx(np.mean(list(bayes.values())), abs=0.051)

    def test_tables_of_times_have_the_rows_of_the_tables_of_break_evens(self):
        for times, break_evens in (("9.1", "7.5"), ("9.2", "7.8"), ("9.3", "7.11")):
            expected = [row for row in joachims_7_5.FIGURES[break_evens].rows if row != MACRO]
            assert list(joachims_9_1.TABLES[times].rows) == expected

    def test_all_are_listed(self):
        names = {paper.name for paper in list_papers()}
        figures = ("7.3", "7.5", "7.6", "7.7", "7.8", "7.9", "7.10", "7.11", "7.12", "9.3", "9.4", "9.5")
        assert {f"joachims-figure-{figure}" for figure in figures} <= names
        assert {f"joachims-{table}" for table in joachims_9_1.TABLES} <= names


def check_small_figure(result, table, names):
    """Figures 7.5, 7.8 and 7.11: means over the categories, and a guard that chooses one of two columns."""
    published = joachims_7_5.FIGURES[table].rows
    assert list(dict.fromkeys(cell.row for cell in result.cells)) == [*names, MACRO]
    for row in (*names, MACRO):
        assert (result.cell(row, SVM).published, result.cell(row, TSVM).published) == published[row]
        assert result.cell(row, BAYES).published == joachims_7_5.FIGURES[table].bayes[row]
        for column in (BAYES, SVM, TSVM, LIGHTER, GUARDED, *NEW):
            assert 0 <= ours(result, row, column) <= 100
    for column in (BAYES, SVM, TSVM, LIGHTER, GUARDED, ALARM, *NEW):
        categories = [ours(result, name, column) for name in names]
        assert ours(result, MACRO, column) == pytest.approx(np.mean(categories))
    for name in names:
        believed = {0.0: LIGHTER, 100.0: SVM}.get(ours(result, name, ALARM))
        if believed is not None:
            assert ours(result, name, GUARDED) == pytest.approx(ours(result, name, believed))


def check_switches(result, rows, field):
    """Figures 9.4, 9.5 and Tables 9.1 to 9.3 count what the machine itself says: its first sample.

    `rows`: of each row the numbers of labeled and of test documents, and the category.
    """
    found = []
    for row, (labeled, n_test, category) in rows.items():
        sample = few_labels.draw(field, labeled, 0, n_test).column(field.names.index(category))
        for switching in ("single", "multiple"):
            machine = few_labels.transduce(sample, switching=switching)
            assert ours(result, row, f"{switching} switches") == machine.n_switches_[0], (row, switching)
            found.append(machine.n_switches_[0])
    assert max(found) > 0


@pytest.mark.paper("joachims-figure-7.3")
def test_the_tcat_simulation_learns_from_the_test_set():
    result = joachims_7_3.run(silent, (2, 8), (4, 100), repeats=10)
    inductive = [ours(result, f"n={n}", joachims_7_3.INDUCTIVE) for n in (2, 8)]
    transductive = [ours(result, f"n={n}", "TSVM, k=100") for n in (2, 8)]
    assert inductive[1] < inductive[0]
    assert transductive[0] < inductive[0] / 2
    assert transductive[0] < ours(result, "n=2", "TSVM, k=4"), "the more test documents the better"
    assert len(result.panels[0].lines) == 3


@pytest.mark.needs_corpus("reuters21578")
class TestReuters:
    @pytest.fixture(scope="class")
    @classmethod
    def field(cls):
        return few_labels.reuters_field(silent)

    def test_samples(self, field):
        small, large = few_labels.draw(field, 17, 3, 300), few_labels.draw(field, 34, 3, 300)
        assert small.X.shape[0] == 317
        assert small.member[:17].any(axis=0).all(), "an example of each topic"
        np.testing.assert_array_equal(small.member[:17], large.member[:17])
        np.testing.assert_array_equal(small.in_test, large.in_test)
        assert np.isnan(small.y[17:]).all()
        np.testing.assert_array_equal(small.y[:17], small.member[:17])
        lengths = small.X.multiply(small.X).sum(axis=1)
        assert lengths.max() == pytest.approx(1, abs=1e-5)
        assert small.X.sum(axis=0).min() > 0, "no term that occurs nowhere in the sample"
        assert few_labels.draw(field, 17, 3).X.shape[0] == 17 + 3299

    def test_new_documents_are_in_neither_set(self, field):
        sample = few_labels.draw(field, 17, 3, 300)
        assert sample.X_new.shape[0] == len(field.train) - 17 == len(sample.in_new)
        assert sample.X_new.shape[1] == sample.X.shape[1], "the words of the sample"
        # Every training document once: labeled, or new.
        np.testing.assert_array_equal(
            sample.member[:17].sum(axis=0) + sample.in_new.sum(axis=0), field.member[field.train].sum(axis=0)
        )
        # The inductive rule is the one whose scores transduction keeps.
        sample = sample.column(1)
        machine = few_labels.transduce(sample)
        np.testing.assert_allclose(
            few_labels.induce(sample).decision_function(sample.X), machine.inductive_[:, 0], atol=5e-3
        )
        expected = 100 * prbep(sample.in_new[:, 0], sample.X_new @ machine.coef_[0])
        np.testing.assert_allclose(few_labels.new_break_even(sample, machine), expected)

    @pytest.mark.paper("joachims-figure-7.5", "joachims-figure-7.7")
    def test_small_figures_7_5_and_7_7(self, field):
        result = joachims_7_5.run(silent, "7.5", samples=2, n_test=400, field=field)
        assert ours(result, MACRO, LIGHTER) != ours(result, MACRO, SVM), "unlabeled documents have a say"
        check_small_figure(result, "7.5", field.names)
        for topic in field.names:
            assert ours(result, topic, ALARM) in (0, 50, 100)
        assert ours(result, "earn", SVM) > 50
        curve = joachims_7_6.run(silent, "7.7", sizes=(100, 400), samples=2, field=field)
        for column in (BAYES, SVM, TSVM, LIGHTER):
            assert ours(curve, "400", column) == pytest.approx(ours(result, MACRO, column))
            assert ours(curve, "100", column) != ours(curve, "400", column)
        (panel,) = curve.panels
        assert [(line.name, line.x) for line in panel.lines] == [
            (name, [100, 400]) for name in (BAYES, SVM, TSVM, LIGHTER, *NEW)
        ]
        assert panel.lines[2].y == [ours(curve, row, TSVM) for row in ("100", "400")]

    @pytest.mark.paper("joachims-figure-7.6")
    def test_small_figure_7_6_rises_with_the_labels(self, field):
        result = joachims_7_6.run(silent, "7.6", sizes=(17, 136), samples=2, n_test=300, field=field)
        for column in (BAYES, SVM, TSVM, LIGHTER):
            # 15 points when this was written; the published curves rise by about as much.
            assert ours(result, "136", column) > ours(result, "17", column) + 5
        assert math.isnan(result.cell("17", SVM).published), "not all test documents"
        few = dataclasses.replace(field, test=field.test[:200])
        everything = joachims_7_6.run(silent, "7.6", sizes=(17,), samples=1, field=few)
        printed = [everything.cell("17", column).published for column in (BAYES, SVM, TSVM)]
        assert printed == [35.9, 48.4, 60.8]

    def test_naive_bayes_selects_words_of_the_labeled_documents(self, field):
        sample = few_labels.draw(field, 60, 0, 200)
        known = sample.counts[:60].astype(float)
        seen = np.flatnonzero(known.sum(axis=0))
        assert 300 < len(seen) < sample.counts.shape[1]
        # All of them: the same as without a selection.
        scores = (
            NaiveBayes()
            .fit(known[:, seen], sample.member[:60])
            .decision_function(sample.counts[60:][:, seen].astype(float))
        )
        np.testing.assert_allclose(
            few_labels.bayes_break_even(sample, 10**6), 100 * prbep(sample.in_test, scores)
        )
        few = few_labels.bayes_break_even(sample, 100)
        assert not np.allclose(few, few_labels.bayes_break_even(sample, 10**6))

    @pytest.mark.paper("joachims-9.1")
    def test_small_table_9_1(self, field):
        result = joachims_9_1.run(silent, "9.1", samples=1, n_test=300, field=field)
        assert result.cell("acq", "single switches").published == 554
        assert math.isnan(result.cell("acq", "multiple switches").published)
        check_switches(result, {name: (17, 300, name) for name in field.names}, field)

    @pytest.mark.paper("joachims-figure-9.3")
    def test_small_figure_9_3(self, field):
        result = joachims_9_figures.margins(silent, (5, 150), samples=1, field=field)
        (line,) = result.panels[0].lines
        sample = joachims_9_figures.balanced(field, field.names.index("acq"), 5, 150, 0)
        machine = few_labels.transduce(sample, switching="single")
        assert line.x == list(range(machine.n_switches_[0] + 1)), "a point for every switch"
        assert len(line.x) > 1
        # The labels before the first switch are those of the inductive machine.
        scores = machine.inductive_[:, 0]
        ranked = np.argsort(-scores[10:], kind="stable") + 10
        labels = np.where(sample.member[:, 0], 1, -1)
        labels[ranked[:150]], labels[ranked[150:]] = 1, -1
        assert line.y[0] == pytest.approx(joachims_9_figures.inverse_margin(sample.X, labels), rel=1e-3)
        assert line.y[-1] == pytest.approx(
            joachims_9_figures.inverse_margin(sample.X, np.where(machine.transduction_ > 0, 1, -1))
        )
        factor = ours(result, "first / last", joachims_9_figures.INVERSE_MARGIN)
        assert factor == pytest.approx(line.y[0] / line.y[-1])

    @pytest.mark.paper("joachims-figure-9.4")
    def test_small_figure_9_4(self, field):
        result = joachims_9_figures.against_training_documents(
            silent, (17, 68), samples=1, topics=1, n_test=200, field=field
        )
        check_switches(result, {"17": (17, 200, "earn"), "68": (68, 200, "earn")}, field)
        assert {cell.row for cell in result.cells} == {"17", "68"}, "no exponent"

    @pytest.mark.paper("joachims-figure-9.5")
    def test_small_figure_9_5(self, field):
        result = joachims_9_figures.against_test_documents(
            silent, (100, 200), samples=1, topics=1, field=field
        )
        check_switches(result, {"100": (17, 100, "earn"), "200": (17, 200, "earn")}, field)
        assert result.cell("exponent", "single CPU s").published == 1.5
        seconds = [ours(result, row, "single CPU s") for row in ("100", "200")]
        slope = math.log(seconds[1] / seconds[0]) / math.log(2)
        assert ours(result, "exponent", "single CPU s") == pytest.approx(slope)
        _, switches = result.panels
        assert {line.name: line.y for line in switches.lines} == {
            name: [ours(result, row, name) for row in ("100", "200")]
            for name in ("single switches", "multiple switches")
        }


@pytest.mark.needs_corpus("webkb")
@pytest.mark.paper(
    *(f"joachims-figure-{figure}" for figure in ("7.8", "7.9", "7.10", "7.12")), "joachims-9.2"
)
def test_small_figures_of_webkb():
    field = few_labels.webkb_field(silent)
    assert len(field.train) + len(field.test) == 4184
    sample = few_labels.draw(field, 9, 0, 200)
    counts = field.counts[np.concatenate([field.train, field.test])]
    assert sample.X.shape[1] < counts.shape[1]
    result = joachims_7_6.run(silent, "7.9", sizes=(9, 36), samples=1, n_test=200, field=field)
    assert math.isnan(result.cell("9", TSVM).published), "not all test documents"
    assert math.isnan(ours(result, "9", f"{TSVM} {SPREAD}")), "one sample has no spread"
    shares = joachims_7_6.run(silent, "7.12", sizes=(9,), samples=1, n_test=200, field=field)
    machine = few_labels.transduce(sample)
    for name, alarm in zip(field.names, few_labels.alarms(machine), strict=True):
        compared = alarm.shares["all"]
        assert ours(shares, f"9, {name}", "training documents") == 100 * compared.labeled_at_risk / 9
        assert ours(shares, f"9, {name}", "test documents") == 100 * compared.unlabeled_at_risk / 200
    table = joachims_7_5.run(silent, "7.8", samples=1, n_test=200, field=field)
    check_small_figure(table, "7.8", field.names)
    project = joachims_7_6.run(silent, "7.10", sizes=(9, 36), samples=1, n_test=200, field=field)
    for column in (BAYES, SVM, TSVM, LIGHTER):
        assert ours(result, "9", column) == pytest.approx(ours(table, "course", column))
        assert ours(project, "9", column) == pytest.approx(ours(table, "project", column))
    assert ours(project, "36", SVM) > ours(project, "9", SVM)
    times = joachims_9_1.run(silent, "9.2", samples=1, n_test=200, field=field)
    assert times.cell("project", "single switches").published == 878
    check_switches(times, {name: (9, 200, name) for name in field.names}, field)


@pytest.mark.needs_corpus("ohsumed")
@pytest.mark.paper("joachims-figure-7.11", "joachims-9.3")
def test_small_figures_of_ohsumed():
    field = few_labels.ohsumed_field(silent)
    result = joachims_7_5.run(silent, "7.11", samples=1, n_test=500, field=field)
    check_small_figure(result, "7.11", field.names)
    # 0.9 above the published one when this was written, on one sample and 500 of 6,864 test documents.
    assert abs(result.cell(MACRO, SVM).difference) < 5
    times = joachims_9_1.run(silent, "9.3", samples=1, n_test=300, field=field)
    assert times.cell("Pathology", "single switches").published == 1833
    check_switches(times, {name: (120, 300, name) for name in field.names}, field)


@pytest.mark.slow
@pytest.mark.needs_corpus("reuters21578")
def test_figure_7_5_on_a_few_samples():
    result = joachims_7_5.run(silent, "7.5", samples=3)
    assert ours(result, MACRO, SVM) == pytest.approx(48.4, abs=6)
    assert ours(result, MACRO, TSVM) > ours(result, MACRO, SVM)
