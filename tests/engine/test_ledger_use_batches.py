"""Fits over batches within a ledger: by law rdp, and refused by the others before a record is read."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import BudgetError, LedgerError
from tacit.ledger.ledger import Ledger
from tacit.privacy.budget import Budget

RNG = np.random.default_rng(0)
X, Y = RNG.uniform(0, 1, (2000, 2)), RNG.integers(0, 2, 2000)
SETTINGS: dict[str, Any] = {"epsilon": 0.5, "delta": 1e-7, "bounds": (0, 1), "classes": [0, 1], "solver": "stochastic"}
WHOLE = Budget(epsilon=2, delta=1e-6)


def test_the_charge_has_the_events_of_the_plan(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db", budget=WHOLE, law="rdp") as ledger:
        model = tacit.LogisticRegression(**SETTINGS).fit(X, Y)
        (charge,) = ledger.charges()
        assert charge.events == model.plan_.events()
        assert charge.release is not None
        assert model.certificate_.private
        assert model.certificate_.check().consistent


def test_the_ledger_ends_where_its_budget_does(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db", budget=WHOLE, law="rdp") as ledger:
        for _ in range(40):
            try:
                tacit.LogisticRegression(**SETTINGS).fit(X, Y)
            except BudgetError:
                break
        assert 1 <= len(ledger.charges()) < 40


@pytest.mark.parametrize("law", ["gdp", "zcdp"])
def test_another_law_refuses_before_a_record_is_read(law: str) -> None:
    broken = np.full((2000, 2), np.nan)
    with Ledger(budget=WHOLE, law=law) as ledger, pytest.raises(LedgerError, match='law="rdp"'):
        tacit.LogisticRegression(**SETTINGS).fit(broken, Y)
    assert ledger.charges() == ()
