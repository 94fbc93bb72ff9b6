"""Subsample and aggregate as a solver: its figures, its blocks, and what it refuses."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit import Budget, Ledger, LinearRegression, LogisticRegression
from tacit.errors import SettingError
from tacit.solvers.aggregate import NAME, Aggregate, block_count, require_rows, rows_needed
from tacit.solvers.block_rules import BLOCKS

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 1, (20_000, 3))
COEF = np.array([4.0, -3.0, 1.0])
Y = RNG.random(20_000) < 1 / (1 + np.exp(-(X @ COEF - 1)))


def model(**given: Any) -> LogisticRegression:
    return LogisticRegression(**{"epsilon": 4.0, "bounds": (0, 1), "solver": NAME, "classes": [False, True], **given})


def test_20_000_records_are_fitted_at_epsilon_4() -> None:
    """Seeded."""
    found = model(random_state=1).fit(X, Y)
    assert found.score(X, Y) >= 0.70
    assert np.abs(found.coef_[0] - COEF).max() < 0.8
    assert found.certificate_.document["events"][0]["arithmetic"] == "exact"


def test_without_noise_it_is_the_mean_of_the_blocks() -> None:
    exact = model(epsilon=math.inf).fit(X, Y)
    again = model(epsilon=math.inf).fit(X, Y)
    assert isinstance(exact.plan_.solver, Aggregate)
    assert exact.coef_.tolist() == again.coef_.tolist()
    assert np.abs(exact.coef_[0] - LogisticRegression(epsilon=math.inf, bounds=(0, 1)).fit(X, Y).coef_[0]).max() < 0.3
    assert not exact.certificate_.private


def test_numbers_are_fitted_too() -> None:
    """Seeded."""
    y = X @ [1.0, -0.5, 0.2] + 0.1 * RNG.normal(size=len(X))
    found = LinearRegression(epsilon=4.0, bounds=(0, 1), y_bounds=(-1, 2), solver=NAME, random_state=2).fit(X, y)
    assert np.abs(found.coef_ - [1.0, -0.5, 0.2]).max() < 0.1


def test_the_number_of_blocks_grows_faster_than_the_root_of_n_with_the_jackknife() -> None:
    with_jackknife = [block_count(10**power, 3, 4.0, jackknife=True) for power in (6, 9)]
    without = [block_count(10**power, 3, 4.0, jackknife=False) for power in (6, 9)]
    assert with_jackknife[1] / with_jackknife[0] == pytest.approx(10**2, rel=0.02)
    assert without[1] / without[0] == pytest.approx(10**1.5, rel=0.02)


def test_a_block_has_enough_rows_by_rule() -> None:
    for records in (100, 1000, 10_000):
        blocks = block_count(records, 4, 1e9, jackknife=True)
        assert blocks == max(2, math.floor(records / (BLOCKS.rows_a_number * 4)))
    assert rows_needed(1000, 10, 4) == 50


def test_blocks_smaller_than_d_are_refused_by_public_numbers() -> None:
    require_rows(100, 10, 10)
    with pytest.raises(SettingError, match="fewer than the 11 numbers"):
        require_rows(100, 10, 11)
    with pytest.raises(SettingError, match="Use blocks=1 or fewer"):
        model().plan(5, 3)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"l2": 0.1}, "takes no l2"),
        ({"inference": True}, "no intervals"),
        ({"iterations": 5}, "takes no iterations"),
        ({"bounds": "private"}, "needs declared bounds"),
        ({"delta": 0.0}, "delta=0 does not allow"),
        ({"classes": [0, 1, 2]}, "not for the softmax loss"),
    ],
)
def test_what_it_cannot_do_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingError, match=said):
        model(**given).plan(20_000, 3)


def test_private_numbers_of_records_need_no_count() -> None:
    """Seeded; the plan goes by n_at_least, and the divisor is the number of blocks."""
    found = model(relation="add-remove", n_at_least=10_000, random_state=3).fit(X, Y)
    assert len(found.plan_.steps) == 1
    assert found.score(X, Y) > 0.7
    few = model(relation="add-remove", n_at_least=10_000, random_state=3).fit(X[:3], Y[:3])
    assert np.abs(few.coef_).max() < 3.0


def test_units_are_in_one_block_each() -> None:
    """Seeded."""
    units = np.repeat(np.arange(10_000), 2)
    found = model(max_rows_per_unit=2, random_state=4).fit(X, Y, units=units)
    assert found.score(X, Y) > 0.7
    assert found.plan_.unit == "unit"


def test_a_ledger_is_charged_for_the_plan_and_not_for_a_refusal() -> None:
    with Ledger(budget=Budget(epsilon=5.0, delta=1e-5)) as ledger:
        with pytest.raises(SettingError, match="Use blocks=1"):
            model(delta=1e-6).fit(X[:4], Y[:4])
        assert ledger.charges() == ()
        model(delta=1e-6).fit(X, Y)
        assert len(ledger.charges()) == 1
        assert ledger.certificate().check().consistent


def test_the_plan_costs_at_most_its_budget() -> None:
    for epsilon in (0.1, 1.0, 10.0):
        plan = model(epsilon=epsilon, delta=1e-6).plan(20_000, 3)
        assert plan.guarantee().epsilon <= epsilon
        assert plan.requires_whole_table
        assert isinstance(plan.events()[0].event.mu_squared, Fraction)  # type: ignore[attr-defined]
