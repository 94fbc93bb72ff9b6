"""All solvers on public rows, and a refusal for rows that are not."""

import pyarrow as pa
import pytest

import tacit
from tacit import Budget, Ledger
from tacit.errors import LedgerError, SettingError, TacitError
from tacit.planning.demo_table import CLINIC_SCHEMA, clinic_table
from tacit.solvers.choice import PURE_SOLVERS, SOLVERS

TABLE = pa.table(dict(clinic_table(2000)))
SCHEMA = tacit.Schema.parse(CLINIC_SCHEMA)
FORMULA = "readmit ~ age"


def test_every_solver_of_the_registry_appears_once() -> None:
    found = tacit.compare(FORMULA, tacit.public(TABLE), SCHEMA, epsilon=2.0, repeats=1)
    assert sorted(it.solver for it in found.results) == sorted({*SOLVERS, *PURE_SOLVERS})
    applicable = {it.solver: it for it in found.applicable}
    assert {"auto", "gradient", "aggregate", "objective-perturbation"} <= set(applicable)
    refused = {it.solver: it.refused for it in found.results if it.refused}
    assert "LinearRegression" in str(refused["moments"])
    errors = [it.error for it in found.applicable]
    assert errors == sorted(errors)  # type: ignore[type-var]
    assert all("ε = " in it.guarantee for it in found.applicable)
    assert applicable["aggregate"].arithmetic == "exact"
    assert applicable["objective-perturbation"].arithmetic == "bounded-float"
    assert (found.records, found.measure) == (2000, "excess log loss")


def test_numbers_are_judged_by_their_variance() -> None:
    found = tacit.compare(
        "age ~ C(ward)", tacit.public(TABLE), SCHEMA, "gaussian", epsilon=2.0, solvers=["moments"], repeats=1
    )
    assert found.measure == "excess mean squared error / variance"
    assert abs(found.results[0].error or 1.0) < 0.5


def test_rows_that_are_not_public_are_refused_unread() -> None:
    class Secret:
        def __getattr__(self, name: str) -> object:
            raise AssertionError("a record was read")

    with pytest.raises(SettingError, match="public or simulated alone"):
        tacit.compare(FORMULA, Secret(), SCHEMA, epsilon=1.0)
    with pytest.raises(SettingError, match="Nothing was spent"):
        tacit.compare(FORMULA, TABLE, SCHEMA, epsilon=1.0)
    with pytest.raises(SettingError, match="A solver"):
        tacit.compare(FORMULA, tacit.public(TABLE), SCHEMA, epsilon=1.0, solvers=["no such"])


def test_inside_a_ledger_it_is_refused() -> None:
    with Ledger(budget=Budget(epsilon=5.0, delta=1e-5), unit="patient") as ledger:
        with pytest.raises(TacitError) as refused:
            tacit.compare(FORMULA, tacit.public(TABLE), SCHEMA, epsilon=1.0, delta=1e-6)
        assert isinstance(refused.value, LedgerError | SettingError)
        assert ledger.charges() == ()
