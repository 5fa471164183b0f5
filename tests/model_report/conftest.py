"""Models to report on, trained once."""

from __future__ import annotations

import warnings

import pytest

from tests.model_report.tasks import Task, task_of


@pytest.fixture(scope="session")
def tasks(tmp_path_factory) -> dict[str, Task]:
    folder = tmp_path_factory.mktemp("reported")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {kind: task_of(kind, folder) for kind in ("binary", "multiclass", "multilabel")}
