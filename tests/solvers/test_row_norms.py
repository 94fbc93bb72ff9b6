"""Norms of rows: what is asked, the part of the information that weights leave out, the bound that follows."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.contract.plan import Plan
from tacit.contract.purpose import Purpose
from tacit.contract.query import Answer, GradientNorm, Measure, Query
from tacit.losses import poisson, regression
from tacit.losses.loss import Loss
from tacit.planning.row_sums import RowSums
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.interval_rules import ONE_STEP, TAIL
from tacit.solvers.row_norms import FASTEST, RowNorms, ask_norms, measures_rows, shift_bound

N, WIDTH = 20_000, 4


@cache
def planned(epsilon: float = 3.0) -> Plan:
    model = tacit.LinearRegression(epsilon=epsilon, bounds=(-9, 9), y_bounds=(-1, 1), inference=True)
    plan: Plan = model.plan(N, WIDTH - 1)
    return plan


class Simulated:
    """Answers over public rows, without noise or with some on every count."""

    def __init__(self, rows: Any, noise: float = 0.0) -> None:
        self._sums = RowSums(rows, np.linspace(-1, 1, len(rows)))
        self._noise = noise
        self.asked: list[GradientNorm] = []

    def ask(self, query: Query) -> Answer:
        assert isinstance(query, GradientNorm)
        self.asked.append(query)
        return Answer(self._sums.total(query), self._noise)


def rows_of(tail: Any) -> Any:
    rng = np.random.default_rng(3)
    return np.column_stack([tail(rng), rng.standard_normal((N, WIDTH - 2)), np.ones(N)])


def test_the_quantile_is_that_of_the_rows_and_the_plan_is_what_is_asked() -> None:
    rows = rows_of(lambda rng: rng.standard_normal(N))
    gate = Simulated(rows)
    found = ask_norms(gate, planned(), Coordinates(None, 4.0))
    norms = np.linalg.norm(rows, axis=1)
    assert found.beyond == pytest.approx(1 - TAIL.held[1])
    assert found.quantile == pytest.approx(np.quantile(norms, TAIL.held[1]), rel=0.03)
    assert len(gate.asked) == ONE_STEP.row_rounds + 1
    assert planned().step(Purpose.ROW_NORMS).times == ONE_STEP.row_rounds
    assert planned().step(Purpose.ROW_TAIL).times == 1
    assert [query.measure for query in gate.asked[-2:]] == [Measure.WITHIN, Measure.SHARE]


@pytest.mark.parametrize("spread", [0.6, 0.8])
def test_what_is_left_out_is_near_what_the_rows_say(spread: float) -> None:
    rows = rows_of(lambda rng: np.exp(spread * rng.standard_normal(N)) / np.exp(spread**2))
    norms = np.linalg.norm(rows, axis=1)
    found = ask_norms(Simulated(rows), planned(), Coordinates(None, 4.0))
    assert not found.ordinary
    for bound in (3.5, 5.0):
        known = float(np.mean(np.maximum(norms**2 - bound**2, 0.0))) / 4
        usual = np.random.default_rng(1).chisquare(4, 400_000)
        scale = min(found.quantile, ONE_STEP.row_scale * np.sqrt(np.quantile(usual, 1 - found.beyond)))
        usual *= (scale / np.sqrt(np.quantile(usual, 1 - found.beyond))) ** 2
        known -= float(np.mean(np.maximum(usual - bound**2, 0.0))) / 4
        assert 0.3 * known - 0.003 < found.left_out(bound, 4.0) < 3 * max(known, 0.0) + 0.003


def test_without_long_rows_nothing_is_left_out_and_with_endless_ones_all() -> None:
    short = ask_norms(Simulated(rows_of(lambda rng: rng.uniform(-1, 1, N))), planned(), Coordinates(None, 4.0))
    assert short.left_out(8.0, 4.0) == 0.0
    wild = ask_norms(Simulated(rows_of(lambda rng: rng.standard_cauchy(N))), planned(), Coordinates(None, 4.0))
    assert wild.left_out(8.0, 4.0) == 1.0
    assert RowNorms(3.0, 0.02, None).left_out(8.0, 4.0) == 1.0


def test_normal_rows_are_ordinary_and_leave_out_nothing() -> None:
    """With the standard deviation of the noise as stated, and none drawn: twice it is far from their excess."""
    rows = np.random.default_rng(5).standard_normal((N, WIDTH))
    found = ask_norms(Simulated(rows, 60.0), planned(), Coordinates(None, 4.0))
    assert found.ordinary
    assert found.left_out(2.1, 4.0) == 0.0


def test_rows_are_long_by_their_excess_or_by_their_quantile() -> None:
    long = rows_of(lambda rng: np.exp(0.8 * rng.standard_normal(N)) / np.exp(0.64))
    assert not ask_norms(Simulated(long, 20.0), planned(), Coordinates(None, 4.0)).ordinary
    # As much noise hides the excess, but not the quantile of rows that are all longer.
    assert ask_norms(Simulated(long, 500.0), planned(), Coordinates(None, 4.0)).ordinary
    stretched = 1.5 * np.random.default_rng(5).standard_normal((N, WIDTH))
    assert not ask_norms(Simulated(stretched, 500.0), planned(), Coordinates(None, 4.0)).ordinary


def test_rows_with_high_rates_count_more() -> None:
    norms = ask_norms(
        Simulated(rows_of(lambda rng: np.exp(0.8 * rng.standard_normal(N)) / np.exp(0.64))),
        planned(),
        Coordinates(None, 4.0),
    )
    assert norms.left_out(4.0, 4.0) < norms.left_out(4.0, 4.0, 0.1) <= np.exp(FASTEST) * norms.left_out(4.0, 4.0)


def test_the_bound_grows_with_effects_of_numbers_and_not_with_the_level() -> None:
    plain, mean = Coordinates(None, 4.0), np.array([0.0, 0.0, 0.0, 1.0])
    slopes, loss = np.array([0.3, 0.0, 0.4, 0.0]), regression.SQUARED
    norms = RowNorms(3.0, 0.02, None)

    def bound(theta: Any, numbers: tuple[int, ...], some: RowNorms = norms, of: Loss = loss) -> float:
        return shift_bound(some, 4.0, of, plain, 0.2 * np.eye(4), theta, mean, numbers)

    found = bound(slopes, (0, 1, 2))
    assert found == pytest.approx(ONE_STEP.other_effects * 0.2 * 0.5 / 2)
    assert bound(slopes + 7 * mean, (0, 1, 2)) == pytest.approx(found)
    assert bound(slopes, (0,)) == pytest.approx(0.6 * found)
    assert bound(slopes, (1,)) == 0.0
    assert bound(slopes, (0, 1, 2), RowNorms(3.0, 0.02, None, ordinary=True)) == 0.0
    counts = poisson.weighted(1.0, 2.0, 50.0)
    assert bound(slopes, (0, 1, 2), of=counts) == pytest.approx(
        found * ONE_STEP.other_log_effects / ONE_STEP.other_effects
    )


def test_norms_are_asked_of_numbers_of_single_rows() -> None:
    plan = planned()
    assert measures_rows(plan.loss, plan.design)
    robust: Plan = tacit.HuberRegressor(epsilon=3.0, bounds=(-9, 9), y_bounds=(-1, 1), inference=True).plan(N, 3)
    assert not measures_rows(robust.loss, robust.design)
    bare: Plan = tacit.LinearRegression(
        epsilon=3.0, bounds=(-9, 9), y_bounds=(-1, 1), inference=True, fit_intercept=False
    ).plan(N, 3)
    assert not measures_rows(bare.loss, bare.design)


def test_units_of_one_row_each_are_fitted_and_not_refused_after_the_charge() -> None:
    """A column of units makes a store of persons, whose rows are not measured."""
    generator = np.random.default_rng(0)
    X = generator.uniform(0, 1, (3000, 2))
    y = (generator.random(3000) < X[:, 0]).astype(int)
    model = tacit.LogisticRegression(epsilon=3.0, bounds=(0, 1), classes=[0, 1], inference=True, max_rows_per_unit=1)
    with tacit.Ledger(budget=tacit.Budget(epsilon=4, delta=1e-5)):
        fitted = model.fit(X, y, units=np.arange(3000))
    assert Purpose.ROW_NORMS not in {step.purpose for step in fitted.plan_.steps}
