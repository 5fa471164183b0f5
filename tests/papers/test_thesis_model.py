"""Chapter 4 and Figure 5.1: printed figures follow from printed concepts; our collections behave alike."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin.papers.joachims import figure_5_1
from widemargin.papers.joachims.chapter_4 import composition, concepts, difficulty, laws, simulations
from widemargin.papers.joachims.published import printed
from widemargin.theory.laws import ZipfLaw


def silent(stage: str) -> None:
    pass


class TestPrinted:
    def test_shares_of_table_4_2_are_the_printed_concept(self):
        model = concepts.MODELS["WebKB: course"]
        shares = printed("4.2")
        assert [int(row.split()[0]) for row in shares] == [f for _, _, f in model.sets]
        for side in (0, 1):
            assert sum(row[side] for row in shares.values()) == pytest.approx(100, abs=0.11)
            for (p, n, _), row in zip(model.sets, shares.values(), strict=True):
                assert (p, n)[side] == pytest.approx(2.77 * row[side], abs=0.6)

    @pytest.mark.parametrize("row", difficulty.PRINTED_BOUNDS)
    def test_printed_numerators_and_percentages(self, row):
        R2, inverse, numerator, n = difficulty.PRINTED_BOUNDS[row]
        assert R2 * inverse <= numerator < R2 * inverse + 1.1
        assert 100 * R2 * inverse / (n + 1) == pytest.approx(printed("4.3")[row][0], abs=0.1)
        # Tables 4.3 and 4.4 print the same runs without IDF.
        assert printed("4.3")[row][1:] == printed("4.4")[row][::2]

    def test_the_worked_examples_of_4_1(self):
        wrong, right, zipf = laws.worked()
        assert round(wrong.ours) == 10607
        assert right.ours == pytest.approx(right.published, rel=0.02)
        assert zipf.ours == pytest.approx(zipf.published, abs=4)


@pytest.mark.paper("joachims-figure-4.5")
def test_figure_4_5_gives_every_printed_number():
    result = concepts.run(silent, "4.5")
    for cell in result.cells:
        if not np.isnan(cell.published):
            assert cell.ours == pytest.approx(cell.published, abs=0.006), cell.row
    drawn = result.cell("1/delta^2 of 200 drawn documents", "value").ours
    assert drawn <= result.cell("1/delta^2 by Lemma 2", "value").ours


@pytest.mark.paper("joachims-section-4.4")
def test_section_4_4_gives_every_printed_number_but_one():
    result = concepts.run(silent, "4.4")
    for cell in result.cells:
        if cell.column == concepts.MARGIN:
            assert 0 <= cell.difference < 0.011, cell.row
            assert result.cell(cell.row, concepts.DRAWN).ours >= cell.ours - 1e-6
    assert result.cell("hf: high frequency", concepts.TFIDF).difference == pytest.approx(0.007, abs=1e-3)
    assert result.cell("lf: low frequency", concepts.LONGER).ours == pytest.approx(1.9)
    # TFIDF helps rare words and hurts frequent ones.
    for row, better in (("lf: low frequency", True), ("hf: high frequency", False)):
        weighted = result.cell(row, concepts.TFIDF).ours
        assert (weighted > result.cell(row, concepts.MARGIN).ours) == better


class TestSimulations:
    @pytest.mark.paper("joachims-section-4.7")
    def test_naive_bayes_cannot_learn_dependent_words(self):
        result = simulations.run(silent, "4.7", repeats=3)
        last = f"n={simulations.SIZES[-1]}"
        assert result.cell(last, "naive Bayes, dependent words").ours > 7
        assert result.cell(last, "SVM, dependent words").ours < 1
        assert result.cell(last, "naive Bayes, independent words").ours < 1
        assert len(result.panels[0].lines) == 4

    @pytest.mark.paper("joachims-section-4.6")
    def test_bounds_with_noise(self):
        result = simulations.run(silent, "4.6", repeats=3)
        rows = [f"noise {rate:g}" for rate in simulations.NOISE_RATES]
        for row in rows:
            assert result.cell(row, simulations.ERROR).ours <= result.cell(row, "Theorem 3, %").ours
            # Without a number, the intervals allow no separation.
            assert not result.cell(row, "trained margin, %").ours > result.cell(row, "intervals, %").ours
        bounds = [result.cell(row, "Theorem 3, %").ours for row in rows]
        assert bounds == sorted(bounds)
        exact = result.cell(rows[0], "Theorem 2 without noise, %").ours
        assert result.cell(rows[0], "intervals, %").ours == pytest.approx(exact, rel=1e-6)

    @pytest.mark.slow
    @pytest.mark.paper("joachims-section-10.5")
    def test_norms_suit_the_concepts_that_the_thesis_expects(self):
        result = simulations.run(silent, "10.5", repeats=4)
        first, last = (f"n={n}" for n in (simulations.SIZES[0], simulations.SIZES[3]))
        assert result.cell(f"sparse, {first}", "L1").ours < result.cell(f"sparse, {first}", "L2").ours
        assert result.cell(f"sparse, {last}", "L-infinity").ours > 20
        assert result.cell(f"dense, {last}", "L-infinity").ours <= result.cell(f"dense, {last}", "L2").ours
        assert result.cell(f"dense, {last}", "L1").ours > result.cell(f"dense, {last}", "L2").ours + 5

    @pytest.mark.slow
    @pytest.mark.paper("joachims-section-4.8")
    def test_every_learner_learns_every_concept(self):
        result = simulations.run(silent, "4.8", repeats=2)
        for name in simulations.CONCEPTS:
            for learner in simulations.LEARNERS:
                few = result.cell(f"{name}, n={simulations.SIZES[0]}", learner).ours
                many = result.cell(f"{name}, n={simulations.SIZES[-1]}", learner).ours
                assert many < min(few + 1, 20) or learner == "boosted stumps", (name, learner)
        # One word at a time suits a few strong words, but not thousands of weak ones.
        first, last = simulations.SIZES[0], simulations.SIZES[-1]
        assert result.cell(f"sparse, n={first}", "boosted stumps").ours == 0
        dense = result.cell(f"dense, n={last}", "boosted stumps").ours
        assert dense > result.cell(f"dense, n={last}", "SVM").ours + 10

    def test_the_three_norms_separate_and_are_smallest(self):
        X, y = simulations.balanced(simulations.SMALL["medium"], 20, 0)
        rules = {
            "1": simulations.least_l1(X, y),
            "2": simulations.least_l2(X, y),
            "inf": simulations.least_l_infinity(X, y),
        }
        norms = {"1": 1, "2": 2, "inf": np.inf}
        scaled = {name: w / (y * (X @ w)).min() for name, w in rules.items()}
        for name, w in scaled.items():
            assert (y * (X @ w)).min() == pytest.approx(1)
            for other in scaled.values():
                assert np.linalg.norm(w, norms[name]) <= np.linalg.norm(other, norms[name]) * (1 + 1e-3)


@pytest.mark.slow
@pytest.mark.needs_corpus("reuters21578", "webkb", "ohsumed")
class TestCollections:
    @pytest.mark.paper("joachims-section-4.1")
    def test_sizes(self):
        result = laws.run(silent, "4.1")
        for title in ("Reuters-21578", "WebKB"):
            for column in (laws.VOCABULARY, laws.LENGTH, laws.DISTINCT):
                cell = result.cell(title, column)
                assert cell.ours == pytest.approx(cell.published, rel=0.12), (title, column)
            assert 0.4 <= result.cell(title, laws.BETA).ours <= 0.65
            assert 8 <= result.cell(title, laws.HEAPS_K).ours <= 100

    @pytest.mark.paper("joachims-figure-4.3")
    def test_frequencies_follow_the_law(self):
        result = laws.run(silent, "4.3")
        for cell in result.cells:
            if cell.column == "R^2 of the logarithms":
                assert cell.ours > 0.98
            if cell.column == "phi":
                assert abs(cell.difference) < 0.2
            if cell.column == laws.FACTOR:
                assert cell.ours <= result.cell(cell.row, laws.PUBLISHED_FACTOR).ours * 1.02

    @pytest.mark.paper("joachims-4.2", "joachims-figure-4.6")
    def test_words_that_indicate_courses(self):
        table = composition.run(silent, "4.2")
        for cell in table.cells:
            if "course" in cell.row and cell.column == composition.POSITIVE:
                assert cell.ours == pytest.approx(cell.published, abs=6), cell.row
        words = composition.run(silent, "4.6")
        for kind in ("positive", "negative"):
            row = f"high-frequency {kind}"
            assert words.cell(row, composition.FOUND).ours > 80
            assert words.cell(row, composition.ELSEWHERE).ours == 0

    @pytest.mark.paper("joachims-4.3")
    def test_the_predicted_order_of_difficulty(self):
        result = difficulty.run(silent, "4.3")
        order = ["Reuters-21578: earn", "WebKB: course", "Ohsumed: Pathology"]
        for column in (difficulty.MODEL, difficulty.ESTIMATED):
            values = [result.cell(row, column).ours for row in order]
            assert values == sorted(values)
        for row in order:
            assert result.cell(row, "1/delta^2").ours == pytest.approx(
                result.cell(row, "1/delta^2").published, rel=2e-3
            )
            assert abs(result.cell(row, difficulty.NUMERATOR).difference) < 1.5
            assert abs(result.cell(row, difficulty.MODEL).difference) < 0.1
        errors = [result.cell(row, difficulty.ERROR).ours for row in order]
        assert max(errors[:2]) < errors[2]

    @pytest.mark.paper("joachims-4.4")
    def test_tfidf_weights_are_advised_as_in_the_thesis(self):
        result = difficulty.run(silent, "4.4")
        for row, best in (
            ("WebKB: course", "tf"),
            ("Reuters-21578: earn", "tf"),
            ("Ohsumed: Pathology", "tfidf"),
        ):
            inverse = {
                name: result.cell(row, f"R^2/delta^2 of the concept, {name}").ours for name in ("tf", "tfidf")
            }
            assert min(inverse, key=inverse.get) == best

    @pytest.mark.paper("joachims-section-4.3")
    def test_predicted_and_measured_ranks_agree(self):
        result = difficulty.run(silent, "section 4.3")
        for title in ("Reuters-21578", "Ohsumed"):
            assert result.cell(title, "bound and error").ours > 0.3
            assert result.cell(title, "bound by positives and 100 - PRBEP").ours > 0.3
            assert result.cell(title, "right advice on TFIDF, %").ours > 65

    @pytest.mark.paper("joachims-figure-5.1")
    def test_xi_alpha_next_to_tests(self):
        result = figure_5_1.run(silent, splits=2, categories=["earn", "corn"], size=1500)
        assert len(result.panels) == 4
        for category in ("earn", "corn"):
            high = result.cell(category, f"error, {figure_5_1.SHOWN[0]}").ours
            assert high > result.cell(category, f"error, {figure_5_1.SHOWN[1]}").ours


def test_the_factor_of_a_law_that_fits_is_1():
    law = ZipfLaw(1e5, 5, 1.2)
    fit = laws.fit_zipf(law.frequencies(np.arange(1, 2001)))
    assert laws.typical_factor(law, fit) == pytest.approx(1, abs=0.01)
