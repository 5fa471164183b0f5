"""Zhang's and Dagan's tables: what is printed, and on the real collection what they claim."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from widemargin import LinearSVM
from widemargin.documents.corpora import load_corpus
from widemargin.measure import micro_prbep
from widemargin.papers.dagan import tables as dagan
from widemargin.papers.dagan import versions as dagan_versions
from widemargin.papers.joachims.text_tasks import texts_of
from widemargin.papers.zhang import prior as zhang_prior
from widemargin.papers.zhang import readings as zhang_readings
from widemargin.papers.zhang import section_3 as zhang_section_3
from widemargin.papers.zhang import tables as zhang
from widemargin.papers.zhang.tables import ALL, COLUMNS, TOP


def quietly(stage: str) -> None:
    pass


class TestZhang:
    @pytest.mark.parametrize("table", ["1", "2"])
    def test_every_published_row_has_all_columns(self, table):
        rows = zhang.PUBLISHED[table]
        assert len(rows) == 12
        assert all(len(figures) == len(COLUMNS) for figures in rows.values())
        # The plain normalized and unnormalized Winnow make the same mistakes.
        assert all(figures[2] == figures[4] for figures in rows.values())

    @pytest.mark.needs_corpus("reuters21578")
    @pytest.mark.paper("zhang-1")
    def test_normalized_and_unnormalized_winnow_rank_alike(self):
        result = zhang.run(quietly, "1", ["UWin", "NWin"], passes=3)
        assert {cell.row for cell in result.cells} == set(zhang.PUBLISHED["1"])
        for row in zhang.PUBLISHED["1"]:
            assert result.cell(row, "UWin").ours == pytest.approx(result.cell(row, "NWin").ours, abs=0.05)
        assert result.cell(TOP, "UWin").ours > result.cell(ALL, "UWin").ours > 50

    @pytest.mark.slow
    @pytest.mark.needs_corpus("reuters21578")
    @pytest.mark.parametrize(
        "table", [pytest.param(table, marks=pytest.mark.paper(f"zhang-{table}")) for table in ("1", "2")]
    )
    def test_the_large_margin_learners_are_ahead(self, table):
        # C = 1 is what cross-validation on training documents chooses for both of them.
        margin, plain = ("LM-UWin", "LM-NWin"), ("Perceptron", "UWin")
        result = zhang.run(quietly, table, [*plain, *margin], costs=(1.0,))
        for better in margin:
            for row in (TOP, ALL):
                assert abs(result.cell(row, better).difference) < 1
            for worse in plain:
                assert result.cell(ALL, better).ours > result.cell(ALL, worse).ours + 5
                assert result.cell(TOP, better).ours > result.cell(TOP, worse).ours + 1

    @pytest.mark.slow
    @pytest.mark.needs_corpus("reuters21578")
    def test_the_dual_updates_reach_the_support_vector_machine(self):
        # The step of 0.01 overshoots on long documents, and yet the ranking is that of the exact solution.
        result = zhang.run(quietly, "1", ["SVM"], costs=(0.1,))
        X, X_test, in_train, truth, _ = zhang.selected_stems(quietly)
        exact = LinearSVM(0.1).fit(X, in_train).decision_function(X_test)
        assert result.cell(ALL, "SVM").ours == pytest.approx(100 * micro_prbep(truth, exact, "own"), abs=0.3)

    @pytest.mark.needs_corpus("reuters21578")
    def test_the_cost_is_chosen_on_training_documents(self):
        result = zhang.run(quietly, "1", ["SVM"], passes=1, costs=(0.001, 0.1))
        assert any(note.startswith("SVM: C = 0.1; cross-validation finds") for note in result.notes)

    @pytest.mark.needs_corpus("reuters21578")
    @pytest.mark.paper("zhang-readings")
    def test_readings_select_for_all_topics_or_for_each(self):
        names = ["Table 1: gains added", "300 of each topic"]
        result = zhang_readings.run(quietly, names, passes=1)
        assert len(result.cells) == len(names) * len(zhang_readings.COSTS)
        assert all(50 < cell.ours < 90 for cell in result.cells)

    @pytest.mark.slow
    @pytest.mark.needs_corpus("reuters21578")
    def test_only_a_larger_constant_helps_the_plain_learners_as_published(self):
        # Written after the figures had been seen, all of them on training documents.
        names = ["Table 1: gains added", "all stems", "without stop words", "a constant of 10"]
        result = zhang_readings.run(quietly, names)
        table, every, unstopped, constant = (
            {column: result.cell(name, column).ours for column in zhang_readings.COSTS} for name in names
        )
        for column in ("Perceptron", "UWin"):
            assert abs(table[column] - every[column]) < 1
            assert table[column] < unstopped[column] < constant[column]
            assert constant[column] > table[column] + 2
        assert unstopped["SVM"] > table["SVM"]
        assert all(abs(one["LM-UWin"] - table["LM-UWin"]) < 1 for one in (every, unstopped, constant))

    @pytest.mark.slow
    @pytest.mark.needs_corpus("webkb")
    @pytest.mark.paper("zhang-webkb")
    def test_pages_in_a_random_order_let_the_exact_steps_arrive(self):
        # In the order of the files, class by class, they are far below the solution after all passes.
        result = zhang.run(quietly, "webkb", costs=(0.01,), passes=50)
        assert {cell.row for cell in result.cells} == set(zhang.WEBKB_ROWS)
        ours = {column: result.cell("accuracy", column).ours for column in zhang.WEBKB}
        assert ours[zhang.EXACT] > 88
        # The printed rate overshoots on long pages.
        assert ours[zhang.EXACT] > ours["SVM"]
        # Printed is "about 66 %".
        assert abs(ours[zhang.BAYES] - 66) < 1.5

    @pytest.mark.slow
    @pytest.mark.needs_corpus("reuters21578")
    @pytest.mark.paper("zhang-figure-1")
    def test_the_curves_fall(self):
        result = zhang.run(quietly, "figure-1", ["Perceptron"], passes=20)
        curve = [cell.ours for cell in result.cells]
        assert len(curve) == 20
        assert curve[0] > curve[-1]
        assert all(math.isnan(cell.published) for cell in result.cells)
        assert [line.name for line in result.panels[0].lines] == ["Perceptron"]

    def test_stop_words_are_the_second_row_of_webkb(self):
        assert zhang.WEBKB_ROWS == {zhang.ACCURACY: None, zhang.STOPPED: "freewais"}

    @pytest.mark.needs_corpus("reuters21578")
    @pytest.mark.paper("zhang-prior")
    def test_priors_are_even_or_vectors_of_the_same_mean(self):
        result = zhang_prior.run(quietly, even=(0.01,), passes=2)
        assert {cell.row for cell in result.cells} == {"mu = 0.01", zhang_prior.GAINS, zhang_prior.RARE}
        assert len(result.cells) == 3 * 2 * len(zhang_prior.COLUMNS)
        assert all(50 < cell.ours < 95 for cell in result.cells)
        scaled = zhang_prior._scaled(np.array([0.0, 1.0, 3.0]))
        assert scaled.mean() == pytest.approx(zhang_prior.PRINTED)
        assert (scaled > 0).all()

    @pytest.mark.paper("zhang-section-3")
    def test_each_family_wins_where_theory_says_so(self):
        result = zhang_section_3.run(quietly, sizes=(200,), repeats=1)
        assert len(result.panels) == 6

        def ours(documents, target, column):
            return result.cell(f"{documents}; {target} target", column).ours

        cube, sphere, sparse = zhang_section_3.DOCUMENTS
        svm, winnow = zhang_section_3.SVM, zhang_section_3.MARGIN_WINNOW
        two, one = zhang_section_3.TERM_TWO, zhang_section_3.TERM_ONE
        # The family with the smaller term has the smaller error.
        assert ours(cube, "sparse", one) < ours(cube, "sparse", two)
        assert ours(cube, "sparse", winnow) < ours(cube, "sparse", svm) - 10
        assert ours(sphere, "dense", two) < ours(sphere, "dense", one)
        assert ours(sphere, "dense", svm) < ours(sphere, "dense", winnow)
        # Text: both learn, and the terms are of one order.
        assert max(ours(sparse, "sparse", column) for column in (svm, winnow)) < 5
        assert 0.2 < ours(sparse, "sparse", one) / ours(sparse, "sparse", two) < 5

    def test_documents_of_the_simulation_are_apart_from_the_hyperplane(self):
        rng = np.random.default_rng(0)
        w = np.zeros(zhang_section_3.N_FEATURES)
        w[:5] = [1, -1, 1, -1, 1]
        for draw in zhang_section_3.DOCUMENTS.values():
            X, y = zhang_section_3._labeled(draw, w, 50, rng)
            assert X.shape == (50, len(w))
            assert (y * (X @ w)).min() > 0
            assert set(y) == {-1.0, 1.0}


class TestDagan:
    def test_systems_of_others_have_only_published_figures(self):
        assert dagan.OTHERS["Ripper"] == (79.6, 71.9)
        assert not set(dagan.OTHERS) & set(dagan.TABLE_2)

    @pytest.mark.needs_corpus("reuters21578")
    @pytest.mark.paper("dagan-versions")
    def test_other_versions_discard_other_features(self):
        result = dagan_versions.run(quietly, n_draws=1, passes=3)
        left = {cell.row: cell.ours for cell in result.cells if cell.column == dagan_versions.LEFT}
        assert len(left) == 3 * 3 + 2 + 2 + 2
        for row in dagan_versions.NEAR_ZERO:
            assert left[f"{row}: no discarding"] == 0
            assert left[f"{row}: near the start, as published"] > left[f"{row}: near zero"]
        assert all(30 < c.ours < 95 for c in result.cells if c.column == dagan_versions.BREAK_EVEN)

    def test_every_version_has_its_learner(self):
        for row, printed in dagan.TABLE_1.items():
            assert len(printed) == len(dagan.VERSIONS)
            for version, figure in zip(dagan.VERSIONS, printed, strict=True):
                learner = dagan.variant(row, version, 1.1, 0.02, 50)
                assert type(learner).__name__.startswith(row)
                assert (learner.threshold_range == dagan.RANGE) == (version in dagan.VERSIONS[2:])
                assert learner.discard_below == (0.02 if version == "Discard" else None)
                assert math.isnan(figure) == (version == "Norm" and row != "PositiveWinnow")

    @pytest.mark.needs_corpus("reuters21578")
    def test_a_draw_is_disjoint_and_has_ten_topics(self):
        documents = texts_of(load_corpus("reuters21578", "modapte").train)
        counts = sp.csr_array(np.arange(1, len(documents) + 1)[:, None])  # a document's only count names it
        samples = dagan._draw(documents, counts, dagan._vectorizer(), np.random.default_rng(0))
        parts = [part.data for sample in samples for part in (sample.counts, sample.test_counts)]
        assert [len(part) for part in parts] == [2000, 1000, 2000, 1000]
        assert len(np.unique(np.concatenate(parts))) == 6000
        for sample in samples:
            assert sample.in_train.shape[1] == sample.truth.shape[1] == 10
            assert (sample.in_train.sum(axis=0) >= 5).all()
            assert ((sample.truth > 0).sum(axis=0) >= 5).all()

    @pytest.mark.slow
    @pytest.mark.needs_corpus("reuters21578")
    @pytest.mark.paper("dagan-1")
    def test_versions_gain_as_published(self):
        # Written after the figures had been seen. Published beside these, each of one draw: discarding gains
        # 0.3 with positive Winnow and linear strengths 2.4 with balanced Winnow (here nothing), and the
        # Perceptron loses 2.9 by the range (here nothing, on average).
        result = dagan.run(quietly, "1")

        def gain(row, version, over):
            return result.cell(row, version).ours - result.cell(row, over).ours

        assert gain("PositiveWinnow", "Norm", "Basic") > 5
        assert gain("PositiveWinnow", "theta-range", "Norm") > 1
        assert gain("BalancedWinnow", "theta-range", "Basic") > 0
        assert abs(gain("Perceptron", "theta-range", "Basic")) < 1
        for row in dagan.TABLE_1:
            assert gain(row, "Linear Freq.", "theta-range") > (-2 if row == "BalancedWinnow" else 0)
            assert gain(row, "Sqrt. Freq.", "theta-range") > 2
            assert gain(row, "Discard", "Sqrt. Freq.") > (-1 if row == "PositiveWinnow" else 0)
        for row in ("BalancedWinnow", "PositiveWinnow"):
            assert result.cell(row, "Discard").ours > result.cell("Perceptron", "Discard").ours

    @pytest.mark.slow
    @pytest.mark.needs_corpus("reuters21578")
    @pytest.mark.paper("dagan-2")
    def test_balanced_winnow_plus_is_ahead_of_rocchio(self):
        result = dagan.run(quietly, "2")
        for column in dagan.SPLITS:
            ours = {row: result.cell(row, column).ours for row in dagan.TABLE_2}
            assert ours["BalancedWinnow+"] > ours["Rocchio"] + 3
            assert ours["Rocchio"] > ours["Bayes"]
        assert result.cell("BalancedWinnow+", "Apte's split").ours >= 83.3
        for row, printed in dagan.OTHERS.items():
            for column, figure in zip(dagan.SPLITS, printed, strict=True):
                cell = result.cell(row, column)
                assert cell.published == figure or math.isnan(figure)
                assert math.isnan(cell.ours)
        assert "Ripper" in result.table().plain()
