"""What the fuzzer found stays found, and the first cases of one seed survive. `make fuzz` runs many more."""

from pathlib import Path

import pytest

from tests.fuzz.targets import TARGETS, case_of, check

CASES = sorted((Path(__file__).parent / "cases").glob("*.bin"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_find_of_the_past(path):
    name = max((name for name in TARGETS if path.stem.startswith(name + "-")), key=len, default=None)
    if name is None:
        pytest.skip("needs pyarrow")
    check(TARGETS[name], path.read_bytes())


@pytest.mark.parametrize(
    "name", ["archives", "matrix", "model", "row-block", "svmlight-model", "terms-on-disk", "vectors"]
)
def test_the_first_cases_of_a_seed(name):
    outcomes = {check(TARGETS[name], case_of(name, 1, number)) for number in range(60)}
    assert len(outcomes) > 1  # some are refused, some are not: the mutations reach beyond the first check


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_a_case_is_the_same_in_every_run(name):
    assert case_of(name, 5, 3) == case_of(name, 5, 3)
    assert len({case_of(name, 5, number) for number in range(20)}) > 1
