"""Tables 4.1, 6.8, 6.9 and 8.1 to 8.3: the published figures agree with each other, ours with them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from widemargin.labels import LabelSpace
from widemargin.papers import run_paper
from widemargin.papers.break_even import ERROR, break_even_cells
from widemargin.papers.joachims import table_6_8 as joachims_6_8
from widemargin.papers.joachims import table_8_1 as joachims_8_1
from widemargin.papers.joachims import text_tasks
from widemargin.papers.joachims.chapter_4 import margins as joachims_4_1
from widemargin.papers.joachims.text_tasks import OHSUMED_CATEGORIES, REUTERS_TOPICS, WEBKB_CLASSES, TextTask
from widemargin.papers.joachims.thesis_svm import linear_svm, rbf_svm, support_vectors

NAMES = {
    "Reuters-21578": list(REUTERS_TOPICS),
    "WebKB": list(WEBKB_CLASSES),
    "Ohsumed": list(OHSUMED_CATEGORIES),
}


def silent(stage: str) -> None:
    pass


@pytest.fixture(scope="module")
def small() -> TextTask:
    """Three classes of random documents of unit length, told apart by a word each."""
    random = np.random.default_rng(0)
    classes = random.integers(3, size=150)
    X = random.random((150, 12)) * (random.random((150, 12)) < 0.5)
    X[np.arange(150), classes] += 1
    X = sp.csr_array(X / np.linalg.norm(X, axis=1, keepdims=True))
    member = classes[:, None] == np.arange(3)
    space = LabelSpace("multilabel", np.array(["C01", "C02", "C03"]))
    names = {"second": "C02", "third": "C03"}
    truth = np.where(member[100:], 1, -1).astype(np.int8)
    return TextTask("small", space, X[:100], X[100:], member[:100], truth, names, [])


class TestPublished:
    def test_the_same_categories_everywhere(self):
        assert [list(rows) for _, rows in joachims_4_1.COLLECTIONS] == list(NAMES.values())
        assert [list(table.rows) for table in joachims_8_1.TABLES.values()] == list(NAMES.values())
        assert list(joachims_6_8.TABLES["6.8"].rows) == [*NAMES["WebKB"], "microavg.", ERROR]
        assert list(joachims_6_8.TABLES["6.9"].rows) == [*NAMES["Ohsumed"], "microavg. (all 23)"]

    def test_bounded_support_vectors_are_support_vectors(self):
        for table in joachims_8_1.TABLES.values():
            for figures in table.rows.values():
                _, support, bounded, _, kernel_support, kernel_bounded = figures
                assert bounded < support
                assert kernel_bounded < kernel_support

    def test_the_printed_average_of_all_four_web_categories_is_that_of_the_rows(self):
        table = joachims_8_1.TABLES["8.2"]
        for column, average in ((0, table.average[0]), (3, table.average[1])):
            assert np.mean([row[column] for row in table.rows.values()]) == pytest.approx(average, abs=0.06)

    def test_micro_averages_lie_among_the_categories(self):
        table = joachims_6_8.TABLES["6.8"].rows
        each = np.array([table[name] for name in NAMES["WebKB"]])
        assert (each.min(axis=0) < table["microavg."]).all()
        assert (each.max(axis=0) > table["microavg."]).all()


class TestSmall:
    def test_columns_by_published_name(self, small):
        assert small.column("third") == 2
        assert small.labels("second").tolist() == small.in_train[:, 1].tolist()
        assert small.first(10).X_train.shape == (10, 12)

    def test_break_even_cells(self, small):
        published = {"second": (90.0, 91.0), "all": (80.0, 81.0), ERROR: (1.0, 2.0)}
        learners = {"linear": linear_svm(10.0), "RBF": rbf_svm(0.3, 10.0)}
        cells = break_even_cells(small, learners, published, "all", silent)
        assert [(cell.row, cell.column, cell.published) for cell in cells] == [
            (row, column, figures[number])
            for number, column in enumerate(learners)
            for row, figures in published.items()
        ]
        for cell in cells:
            assert (cell.ours < 25) if cell.row == ERROR else (cell.ours > 75), cell

    def test_margin_and_loss_are_the_two_parts_of_the_objective(self, small):
        cells = joachims_4_1.margins(small, {"second": (1, 0), "third": (1, 0)}, silent)
        assert len(cells) == 4
        learner = linear_svm(joachims_4_1.C).fit(small.X_train, small.labels("third"))
        found = {(cell.row, cell.column): cell.ours for cell in cells}
        inverse, loss = (found["small: third", column] for column in (joachims_4_1.MARGIN, joachims_4_1.LOSS))
        assert inverse / 2 + joachims_4_1.C * loss == pytest.approx(learner.objective_, rel=1e-2)

    def test_support_vectors_are_those_within_the_margin(self, small):
        for learner in (linear_svm(0.5), rbf_svm(0.5, 0.5)):
            y = small.labels("third")
            learner.fit(small.X_train, y)
            support, bounded = support_vectors(learner)
            margins = np.where(y, 1, -1) * learner.decision_function(small.X_train)
            assert 0 < bounded < support < len(y)
            # Those beyond the margin support nothing, those within it are bounded.
            assert support <= np.count_nonzero(margins < 1 + 1e-2)
            assert bounded >= np.count_nonzero(margins < 1 - 1e-2)


@pytest.mark.needs_corpus("webkb")
class TestWebKB:
    def test_pages_that_have_moved_are_left_out(self):
        task = text_tasks.webkb(silent)
        assert len(task.in_train) == 3958
        assert len(task.truth) == 226
        assert (task.in_train.sum(axis=1) == 1).all()

    @pytest.mark.paper("joachims-8.2")
    def test_support_vectors_of_one_category(self):
        result = joachims_8_1.run(silent, "8.2", ("course",))
        assert [cell.column for cell in result.cells] == list(joachims_8_1.COLUMNS)
        for kernel in ("linear", "RBF"):
            cell = result.cell("course", f"{kernel} SVs")
            assert abs(cell.difference) < 0.1 * cell.published
        assert result.cell("course", "RBF bounded SVs").ours <= 2, "separable but for two equal pages"
        assert result.cell("course", "linear bounded SVs").ours > 100

    @pytest.mark.slow
    @pytest.mark.paper("joachims-6.8")
    def test_table_6_8(self):
        result = joachims_6_8.run(silent, "6.8", methods=())
        for cell in result.cells:
            if cell.row == "microavg.":
                assert abs(cell.difference) < 2
            if cell.row == ERROR:
                # One of 226 pages is 0.44.
                assert abs(cell.difference) < 3


@pytest.mark.slow
@pytest.mark.needs_corpus("ohsumed")
class TestOhsumed:
    @pytest.mark.paper("joachims-6.9")
    def test_table_6_9_orders_columns_as_published(self):
        result = joachims_6_8.run(silent, "6.9", methods=())
        micro = [cell for cell in result.cells if cell.row.startswith("microavg")]
        assert len(micro) == 4
        # Between two and two and a half points below, in each column: the copy has 7,065 training documents
        # of 10,000. Kernels do not help, the narrower one helps less.
        assert all(-2.5 < cell.difference < 0 for cell in micro)
        linear, _, wide, narrow = (cell.ours for cell in micro)
        assert wide < narrow < linear

    @pytest.mark.paper("joachims-8.3")
    def test_table_8_3_has_support_vectors_in_proportion(self):
        result = joachims_8_1.run(silent, "8.3", ("Cardiovascular", "Immunologic"))
        for cell in result.cells:
            if cell.column.endswith(" SVs") and "bounded" not in cell.column:
                # 7,065 documents of 10,000.
                assert 0.5 * cell.published < cell.ours < cell.published


@pytest.mark.slow
@pytest.mark.needs_corpus("reuters21578", "webkb", "ohsumed")
@pytest.mark.paper("joachims-4.1")
def test_table_4_1_text_has_wide_margins():
    result = run_paper("joachims-4.1")
    # Largest differences when this was written: 8, 19 and 36 %. The copy of Ohsumed has 7,065 of 10,000
    # training documents.
    margins = {"Reuters-21578": 0.1, "WebKB": 0.2, "Ohsumed": 0.4}
    # Two equal pages of WebKB in different classes have a slack of 2 together in each of them.
    losses = {"Reuters-21578": 2, "WebKB": 2.2, "Ohsumed": 0.5}
    assert len(result.cells) == 2 * (10 + 4 + 5)
    for cell in result.cells:
        collection = cell.row.partition(":")[0]
        if cell.column == joachims_4_1.LOSS:
            assert abs(cell.difference) < losses[collection], cell
        else:
            assert abs(cell.difference) < margins[collection] * cell.published, cell


@pytest.mark.slow
@pytest.mark.needs_corpus("reuters21578")
@pytest.mark.paper("joachims-8.1")
def test_table_8_1_has_the_published_support_vectors():
    result = joachims_8_1.run(silent, "8.1", ("wheat", "corn"))
    assert [cell.column for cell in result.cells] == 2 * list(joachims_8_1.COLUMNS)
    for cell in result.cells:
        if cell.column.endswith("bounded SVs"):
            assert abs(cell.difference) < 0.1 * cell.published + 5, cell
        elif cell.column.endswith("SVs"):
            assert abs(cell.difference) < 0.1 * cell.published, cell
