"""The budget that the options spell."""

import pytest

from tacit.cli.options import budget_of
from tacit.errors import BudgetError
from tacit.privacy.budget import Budget


def test_each_currency() -> None:
    assert budget_of(1.0, 1e-6, None, None) == Budget(epsilon=1, delta=1e-6)
    assert budget_of(None, None, 0.3, None) == Budget(mu=0.3)
    assert budget_of(None, 1e-7, None, 0.1) == Budget(rho=0.1, delta=1e-7)


def test_no_budget_names_the_options() -> None:
    with pytest.raises(BudgetError, match=r"--epsilon.*--mu.*--rho"):
        budget_of(None, 1e-6, None, None)
