"""What holds for every test: nothing is written into the account of whoever runs them."""

from collections.abc import Iterator

import pytest

from tacit.ledger.repeated_fits import REMEMBER


@pytest.fixture(autouse=True, scope="session")
def _no_memory_of_fits() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(REMEMBER, "0")
        yield
