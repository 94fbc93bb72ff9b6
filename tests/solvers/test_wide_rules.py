"""When columns are standardised by sums: by public facts alone."""

from typing import Any

import pytest

import tacit
from tacit.contract.plan import Plan
from tacit.solvers.whitened_gradient import StandardisedWhitening, sums_before
from tacit.solvers.wide_rules import COLUMNS


def kinds(plan: Plan) -> list[str]:
    return [str(step.kind) for step in plan.steps if step.kind in {"column-moments", "second-moments"}]


def logistic(n: int, d: int, **settings: Any) -> Plan:
    given: dict[str, Any] = {"epsilon": 1.0, "bounds": (-1, 1), "inference": False, **settings}
    return tacit.LogisticRegression(**given).plan(n, d)


@pytest.mark.parametrize(("d", "expected"), [(150, ["second-moments"]), (300, ["column-moments", "second-moments"])])
def test_wide_tables_are_standardised_first(d: int, expected: list[str]) -> None:
    plan = logistic(20_000, d)
    assert kinds(plan) == expected
    assert sums_before(plan.solver.whitening) == (COLUMNS.queries if d >= COLUMNS.wide else 0)  # type: ignore[attr-defined]


def test_a_faint_and_very_wide_table_is_not_whitened() -> None:
    assert kinds(logistic(8_000, 1100)) == ["column-moments"]
    assert kinds(logistic(80_000, 1100)) == ["column-moments", "second-moments"]


def test_few_passes_leave_no_room_for_sums() -> None:
    assert "column-moments" not in kinds(logistic(20_000, 300, max_passes=3))


def test_sums_and_second_moments_cost_what_second_moments_did() -> None:
    """The whole plan stays within the budget, and moments take an eighth, an eighth and three quarters."""
    plan = logistic(20_000, 300)
    sums, moments, *_ = (step for step in plan.steps if step.kind in {"column-moments", "second-moments"})
    shares = [2 * 4 * sums.price.bound**2 / 4**sums.price.bits, 2 * moments.price.bound**2 / 4**moments.price.bits]  # type: ignore[union-attr]
    assert shares[0] / sum(shares) == pytest.approx(0.25, rel=1e-3)


def test_short_integers_are_for_faint_second_moments_of_single_records() -> None:
    def bound(plan: Plan) -> int:
        return next(step.price.bound for step in plan.steps if step.kind == "second-moments")  # type: ignore[union-attr]

    assert bound(logistic(20_000, 300)) <= COLUMNS.steps**2 * 301
    assert bound(logistic(20_000, 300, epsilon=60.0)) > COLUMNS.steps**2 * 301


@pytest.mark.parametrize("model", [tacit.LinearRegression, tacit.PoissonRegressor])
def test_numbers_and_counts_are_standardised_too(model: type) -> None:
    own = {"y_max": 9} if model is tacit.PoissonRegressor else {"y_bounds": (0, 1)}
    plan = model(epsilon=1.0, bounds=(-1, 1), inference=False, **own).plan(50_000, 300)
    assert kinds(plan) == ["column-moments", "second-moments"]
    assert isinstance(plan.solver.whitening, StandardisedWhitening)


def test_faint_labels_and_numbers_have_a_larger_ridge_than_narrow_tables() -> None:
    def ridge(model: Any, n: int, d: int = 300, **own: Any) -> float:
        plan = model(epsilon=1.0, bounds=(-1, 1), **own).plan(n, d)
        return float(plan.solver.whitening.ridge)

    assert ridge(tacit.LogisticRegression, 20_000) == COLUMNS.ridge_of_two
    assert ridge(tacit.LogisticRegression, 60_000) == COLUMNS.ridge[1]
    narrow = ridge(tacit.PoissonRegressor, 20_000, y_max=9)
    assert ridge(tacit.LinearRegression, 20_000, y_bounds=(0, 1)) == pytest.approx(COLUMNS.ridge_of_numbers * narrow)
