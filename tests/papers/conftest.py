"""Which entry of the registry a test runs: ``@pytest.mark.paper("joachims-8.2")``, checked when it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from widemargin.papers import PaperResult

HERE = Path(__file__).parent
FILES, NAMES = pytest.StashKey[set[Path]](), pytest.StashKey[set[str]]()
_made: set[str] = set()


@pytest.fixture(autouse=True, scope="module")
def results():
    """Notes the name of every result that the tests and fixtures of a module make."""
    _made.clear()
    make = PaperResult.__init__

    def noted(self, name, *values, **named):
        make(self, name, *values, **named)
        _made.add(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PaperResult, "__init__", noted)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    outcome = yield
    missing = _entries(pyfuncitem) - _made
    assert not missing, f"marked as a test of {sorted(missing)}, but it made no such result"
    return outcome


@pytest.hookimpl(tryfirst=True)  # before slow tests are left out
def pytest_collection_modifyitems(config, items):
    ours = [item for item in items if item.path.parent == HERE]
    config.stash[FILES] = {item.path for item in ours}
    config.stash[NAMES] = set().union(*map(_entries, ours))


@pytest.fixture
def entries_run(pytestconfig):
    """The entries that are run by a test, slow or not."""
    if pytestconfig.stash[FILES] != set(HERE.glob("test_*.py")):
        pytest.skip("only some of the tests of published tables have been collected")
    return pytestconfig.stash[NAMES]


def _entries(item) -> set[str]:
    return {name for marker in item.iter_markers("paper") for name in marker.args}
