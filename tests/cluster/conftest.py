"""A cluster of two worker processes."""

from __future__ import annotations

import pytest

from widemargin.cluster import connected


@pytest.fixture(scope="module")
def tasks():
    with connected("local:2") as found:
        yield found
