"""McNemar's test against all divisions of the documents on which two methods differ."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widemargin.errors import UsageError
from widemargin.measure import mcnemar


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=11))
def test_the_p_value_is_the_share_of_divisions_as_uneven(pairs):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = mcnemar(first, second)
    differing = [a for a, b in pairs if a != b]
    assert (found.first, found.second) == (sum(differing), len(differing) - sum(differing))
    uneven = [
        abs(2 * sum(division) - len(differing)) >= abs(found.first - found.second)
        for division in product([0, 1], repeat=len(differing))
    ]
    assert found.p_value == pytest.approx(sum(uneven) / len(uneven))
    assert mcnemar(second, first).p_value == found.p_value


def test_answers_to_different_documents():
    with pytest.raises(UsageError, match="same documents"):
        mcnemar([True, False], [True])
