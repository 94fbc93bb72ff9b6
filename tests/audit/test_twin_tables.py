"""Two tables behind one gate: exact shifts, and what they must agree with."""

from fractions import Fraction

import numpy as np
import pytest

from tacit import LogisticRegression
from tacit.audit.registry import REPLAYED
from tacit.audit.simulated_pairs import Outcome, contrary_row, lone_row
from tacit.audit.twin_tables import Pair, Records, TwinTables
from tacit.contract.query import QueryKind
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.rows.storage.record_store import MemoryStore


def test_the_realised_cost_of_a_mean_is_exact() -> None:
    """A row of the largest norm against a blank one: all of the budget, but for the rounding of the row."""
    fit = REPLAYED["mean"]
    plan = fit.plan(1.0)
    run = TwinTables.of(plan, fit.pair(fit.relation, fit.outcome, fit.records, 2)).run(0, 1)
    (shift,) = run.shifts
    assert shift.kind is QueryKind.GRADIENT
    assert run.realised == shift.realised
    assert Fraction(999_999, 1_000_000) < shift.realised / shift.paid <= 1
    assert run.within_paid


def test_equal_tables_realise_nothing() -> None:
    fit = REPLAYED["newton"]
    table = contrary_row(Relation.ZERO_OUT, Outcome.LABELS, 64, 2).second
    run = TwinTables.of(fit.plan(1.0), Pair(table, table)).run(1, 1)
    assert run.realised == 0
    assert run.log_ratio == 0.0
    assert len(run.shifts) == fit.plan(1.0).queries


def test_the_run_is_the_fit_of_the_estimator() -> None:
    """The same seed gives the coefficients that the estimator releases, in whatever coordinates it works."""
    pair = lone_row(Relation.REPLACE_ONE, Outcome.LABELS, 64, 2)
    for name in ("whitened-gradient", "newton", "objective-perturbation"):
        model = LogisticRegression(epsilon=3.0, delta=1e-5, bounds=(-1, 1), classes=(0, 1), random_state=7, solver=name)
        released = model.fit(pair.second.X, pair.second.y).release_.theta
        run = TwinTables.of(model.plan(64, 2), pair).run(1, 7)
        np.testing.assert_array_equal(run.solution.theta, released)


def test_a_pair_can_be_run_again_and_again() -> None:
    tables = TwinTables.of(REPLAYED["auto"].plan(1.0), contrary_row(Relation.ZERO_OUT, Outcome.LABELS, 64, 2))
    first, second = (tables.run(0, 3) for _ in range(2))
    assert first.log_ratio == second.log_ratio
    assert first.shifts == second.shifts


def test_other_storages_are_read_anew() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.choice([-1.0, 1.0], (30, 2)), rng.integers(0, 2, 30)
    units = np.repeat(np.arange(15), 2)
    attached = {"unit": units}
    model = LogisticRegression(
        budget=Budget(mu=1.0), bounds=(-1, 1), classes=(0, 1), max_rows_per_unit=2, solver="whitened-gradient"
    )
    with pytest.warns(UserWarning, match="budget is small"):
        plan = model.fit(X, y, units=units).plan_
    other = X.copy()
    other[:2] *= -1
    tables = TwinTables.of(plan, Pair(Records(X, y, attached), Records(other, 1 - y, attached)))
    assert not isinstance(tables.prepared[0], MemoryStore)
    assert tables.run(0, 1).log_ratio == tables.run(0, 1).log_ratio
