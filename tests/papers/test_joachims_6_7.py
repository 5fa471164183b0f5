"""Table 6.7 on the real collection: as good as published."""

from __future__ import annotations

import pytest

from widemargin.papers.joachims import table_6_7 as joachims_6_7
from widemargin.papers.joachims.table_6_7 import COLUMNS, MICRO, PUBLISHED

pytestmark = pytest.mark.needs_corpus("reuters21578")


@pytest.fixture(scope="module")
def result():
    return joachims_6_7.run(lambda stage: None, COLUMNS[:2], methods=())


@pytest.mark.paper("joachims-6.7")
def test_every_published_cell_is_there(result):
    assert [(cell.row, cell.column) for cell in result.cells] == [
        (row, column) for column in ("linear SVM C=0.5", "linear SVM C=1.0") for row in PUBLISHED
    ]
    assert result.cell("ship", "linear SVM C=0.5").published == 87.4


def test_published_figures_are_there_for_every_column():
    assert all(len(figures) == len(COLUMNS) for figures in PUBLISHED.values())
    assert list(joachims_6_7.learners()) == list(COLUMNS)


@pytest.mark.slow
def test_biased_and_rbf_columns_reach_the_published_micro_averages():
    result = joachims_6_7.run(lambda stage: None, COLUMNS[2:], methods=())
    assert [cell.column for cell in result.cells if cell.row == MICRO] == list(COLUMNS[2:])
    for column in COLUMNS[2:]:
        assert abs(result.cell(MICRO, column).difference) < 1
    # The thesis: a kernel brings nothing here.
    assert result.cell(MICRO, COLUMNS[4]).ours < result.cell(MICRO, COLUMNS[3]).ours


def test_the_micro_average_of_the_90_topics_reaches_the_published_figure(result):
    # Published: 86.7 and 87.5. LinearSVC, with the same words and weights, reaches 86.6 and 87.4.
    assert result.cell(MICRO, "linear SVM C=0.5").ours >= 86.4
    assert result.cell(MICRO, "linear SVM C=1.0").ours >= 87.2


def test_large_topics_are_close(result):
    for cell in result.cells:
        if cell.row in ("earn", "acq"):
            assert abs(cell.difference) < 0.5
        elif cell.row != MICRO:
            # One document of the smallest topic, corn, is worth 1.8.
            assert abs(cell.difference) < 3


def test_the_notes_say_what_differs(result):
    assert any("bias" in note for note in result.notes)
