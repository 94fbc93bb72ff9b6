"""An opened holdout: the charge comes first, and is of all releases."""

import numpy as np
import pytest

from tacit.contract.holdout_price import holdout_price
from tacit.engine.holdout import HoldoutTerms, opened_holdout
from tacit.engine.table import Table
from tacit.errors import BudgetError, LedgerError
from tacit.estimators.statistics_gate import stored_design
from tacit.ledger import Ledger
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.schema.columns import NumericColumn
from tacit.schema.schema import Schema

DESIGN = stored_design(Schema({"x0": NumericColumn(-1.0, 1.0)}), None)
BUDGET = Budget(epsilon=1.0, delta=0)
TERMS = HoldoutTerms(holdout_price(BUDGET, Relation.REPLACE_ONE, 2, 50), 10, Relation.REPLACE_ONE, "row")


def table() -> Table:
    opened = Table(np.linspace(-1, 1, 50).reshape(-1, 1))
    opened.admit(DESIGN, invalid_rows="zero", exact=True)
    return opened


def test_the_whole_is_charged_before_the_first_claim() -> None:
    ledger = Ledger(budget=Budget(epsilon=1.5, delta=0), law="pure")
    with ledger, opened_holdout(table(), TERMS) as (comparisons, charged):
        assert charged is not None
        assert comparisons.remaining == 2
        assert len(ledger.charges()) == 1
    with ledger, pytest.raises(BudgetError), opened_holdout(table(), TERMS):
        pass


def test_a_ledger_without_a_price_for_it_refuses_it() -> None:
    with (
        Ledger(budget=Budget(epsilon=5, delta=1e-6)) as ledger,
        pytest.raises(LedgerError, match="reusable holdout has no price"),
        opened_holdout(table(), TERMS),
    ):
        pass
    assert not ledger.charges()
