"""One cluster of three workers in this process, for the tests that lose none."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.rows.cluster.clusters import workers


@pytest.fixture(scope="package")
def cluster() -> Iterator[Any]:
    with workers(3) as made:
        yield made
