"""Section 6.3.4: other kernels beside the linear one, on part of Reuters-21578."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin.papers.joachims.chapter_6 import kernels
from widemargin.papers.joachims.table_6_7 import MICRO
from widemargin.papers.joachims.text_tasks import REUTERS_TOPICS

COLUMNS = [kernels.LINEAR, kernels.LINEAR_BEST, "poly d=2", kernels.RBF, kernels.RBF_EACH]


def silent(stage: str) -> None:
    pass


@pytest.fixture(scope="module")
def result():
    return kernels.run(silent, (1.0, 10.0), (2,), (0.1, 1.0), examples=500)


def test_the_best_machine_is_that_of_the_highest_micro_average():
    machines = [kernels.Machine(f"C={k}", np.zeros(2), micro, 1.0) for k, micro in enumerate((1.0, 3.0, 2.0))]
    assert kernels.best(machines).setting == "C=1"


@pytest.mark.needs_corpus("reuters21578")
class TestReuters:
    @pytest.mark.paper("joachims-section-6.3.4")
    def test_every_kernel_has_a_column(self, result):
        assert list(dict.fromkeys(cell.column for cell in result.cells)) == COLUMNS
        for column in COLUMNS:
            rows = [cell.row for cell in result.cells if cell.column == column]
            counts = [] if column == kernels.LINEAR else [kernels.BETTER, kernels.WORSE]
            assert rows == [*REUTERS_TOPICS, MICRO, *counts, kernels.SECONDS]

    def test_only_the_linear_machine_has_published_figures(self, result):
        assert result.cell("earn", kernels.LINEAR).published == 98.2
        assert {cell.column for cell in result.cells if not np.isnan(cell.published)} == {kernels.LINEAR}

    def test_choices_on_the_test_documents_are_no_worse(self, result):
        micro = {column: result.cell(MICRO, column).ours for column in COLUMNS}
        assert micro[kernels.LINEAR_BEST] >= micro[kernels.LINEAR]
        for topic in REUTERS_TOPICS:
            assert result.cell(topic, kernels.RBF_EACH).ours >= result.cell(topic, kernels.RBF).ours
        better, worse = (result.cell(row, kernels.RBF_EACH).ours for row in (kernels.BETTER, kernels.WORSE))
        assert 0 <= better + worse <= 90


@pytest.mark.slow
@pytest.mark.needs_corpus("reuters21578")
@pytest.mark.paper("joachims-section-6.3.4")
def test_no_kernel_is_consistently_better_than_the_linear_one():
    result = kernels.run(silent, (1.0, 10.0, 1000.0), (2, 3), (0.01, 0.3))
    linear = result.cell(MICRO, kernels.LINEAR)
    assert abs(linear.difference) < 1
    for column in ("poly d=2", "poly d=3", kernels.RBF):
        assert result.cell(MICRO, column).ours < linear.ours + 1
        assert result.cell(kernels.WORSE, column).ours > 0
