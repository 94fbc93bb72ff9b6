"""A search: the charge comes first, and only the best leaves."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.accounting.best_of_runs import search_events
from tacit.engine.search import Search, SearchTable, Trial, run_search
from tacit.errors import BudgetError, DataError, LedgerError
from tacit.ledger import Ledger
from tacit.ledger.current_ledger import active_ledger
from tacit.privacy.budget import Budget
from tacit.privacy.event import PoissonRuns
from tacit.privacy.relation import Relation

PRICE = search_events(Budget(epsilon=1.0, delta=1e-6), PoissonRuns(10))


def searching(law_mean: int = 10, seed: int | None = None) -> Search:
    price = PRICE if law_mean == 10 else search_events(Budget(epsilon=1.0, delta=1e-6), PoissonRuns(law_mean))
    return Search(price, Relation.REPLACE_ONE, "row", 4, 50, Fraction(1, 5), seed)


def attempt(setting: int, _validating: NDArray[np.bool_], number: int) -> Trial[int]:
    return Trial(setting, -abs(setting - 2.0), number)


def test_the_first_of_the_best_is_kept() -> None:
    best, charged = run_search(searching(seed=1), attempt)
    assert best is not None
    assert best.setting == 2
    assert charged is None


def test_without_a_trial_there_is_none() -> None:
    price = search_events(Budget(epsilon=1.0, delta=1e-6), PoissonRuns(Fraction(1, 10**6)))
    best, _ = run_search(Search(price, Relation.REPLACE_ONE, "row", 4, 50, Fraction(1, 5)), attempt)
    assert best is None


def test_the_whole_search_is_charged_before_a_trial_and_trials_charge_nothing() -> None:
    ledger = Ledger(budget=Budget(epsilon=3.0, delta=1e-6), law="rdp")
    seen = []

    def look(setting: int, validating: NDArray[np.bool_], number: int) -> Trial[int]:
        seen.append((len(ledger.charges()), active_ledger()))
        return attempt(setting, validating, number)

    with ledger:
        _, charged = run_search(searching(), look)
    assert set(seen) <= {(1, None)}
    assert charged is not None
    (charge,) = ledger.charges()
    assert charge.events == PRICE.events()


def test_a_search_beyond_the_budget_tries_nothing() -> None:
    tried = []
    with Ledger(budget=Budget(epsilon=0.1, delta=1e-6), law="rdp"), pytest.raises(BudgetError):
        run_search(searching(), lambda *it: tried.append(it))  # type: ignore[arg-type]
    assert not tried


def test_a_ledger_of_squares_refuses_by_name() -> None:
    with Ledger(budget=Budget(epsilon=3.0, delta=1e-6)), pytest.raises(LedgerError, match='law="rdp"'):
        run_search(searching(), attempt)


def test_a_seeded_search_is_refused_in_a_ledger() -> None:
    with Ledger(budget=Budget(epsilon=3.0, delta=1e-6), law="rdp"), pytest.raises(LedgerError, match="without privacy"):
        run_search(searching(seed=1), attempt)


def test_coins_are_of_units_and_nobody_has_one() -> None:
    table = SearchTable(np.zeros((5, 2)), np.zeros(5), {"unit": ["7", "a", None, "007", 7.0]}, unit="unit", fewest=2)
    assert table.units == 2
    assert table.records_of(np.array([True, False])).tolist() == [True, False, False, True, True]
    assert table.names == ("x0", "x1")
    plain = SearchTable([[1.0, 2.0], "odd", [3, 4]], [0, 1, 0], {}, unit=None, fewest=2)
    assert plain.units == 3
    assert plain.X.shape == (3, 2)
    with pytest.raises(DataError, match="fewer than 2 persons"):
        SearchTable(np.zeros((5, 2)), np.zeros(5), {"unit": [1] * 5}, unit="unit", fewest=2)
