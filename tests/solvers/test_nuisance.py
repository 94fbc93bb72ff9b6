"""What is found of counts before the last step, against simulated counts."""

import math

import numpy as np
import pytest

from tacit import HuberRegressor, PoissonRegressor
from tacit.contract.purpose import Purpose
from tacit.contract.query import Answer, Measure, Query, ResidualSize
from tacit.losses.loss import Loss
from tacit.losses.poisson import bounded
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.interval_rules import LEVEL
from tacit.solvers.nuisance import (
    Level,
    count_cap,
    dispersed_level,
    residual_threshold,
    solve_dispersion,
    threshold_of,
    top_rate,
)

DRAWS = 400_000


def drawn(rate: float, dispersion: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    if dispersion == 0.0:
        return rng.poisson(rate, DRAWS).astype(float)
    return rng.poisson(rate * rng.gamma(1 / dispersion, dispersion, DRAWS)).astype(float)


def squares_of(counts: np.ndarray, rate: float) -> np.ndarray:
    return np.minimum((counts - rate) ** 2 / max(1.0, rate), LEVEL.squares)


@pytest.mark.parametrize(("mean", "dispersion"), [(2.5, 0.0), (2.5, 0.5), (8.0, 0.2)])
def test_dispersion_explains_the_squares_it_was_seen_by(mean: float, dispersion: float) -> None:
    """The mean of 3 × 400000 squares has a deviation below 0.002, and α one below 0.006."""
    rates = [mean * part for part in LEVEL.rates]
    seen = np.mean([squares_of(drawn(rate, dispersion), rate).mean() for rate in rates])
    assert solve_dispersion(mean, float(seen)) == pytest.approx(dispersion, abs=0.035)


def test_squares_beyond_any_law_end_at_the_largest_dispersion() -> None:
    assert solve_dispersion(2.5, 100.0) == pytest.approx(5.0)
    assert solve_dispersion(2.5, -100.0) == 0.0


def test_counts_are_cut_where_their_mean_would_be_noise() -> None:
    def cap(n: int, largest: int) -> float:
        model = PoissonRegressor(epsilon=1.0, bounds=(-1, 1), y_max=largest, solver="newton")
        return count_cap(model.plan(n, 3))

    assert cap(500, 100) == 4.0
    assert 4.0 < cap(20_000, 100) < 100.0
    assert cap(10**7, 100) == 100.0
    assert cap(500, 3) == 3.0


class HalfOfThem:
    """Answers every count with half of 2000 records."""

    def ask(self, query: Query) -> Answer:
        assert isinstance(query, ResidualSize)
        return Answer(np.array([1000.0]), 0.0)


def test_what_noise_added_to_squares_is_taken_off_before_they_are_explained() -> None:
    model = PoissonRegressor(epsilon=1.0, bounds=(-1, 1), y_max=50, solver="newton")
    plan, level = model.plan(2000, 3), Level(bounded(2.0, 0.0, 5.0), math.log(2.0), 2.0, 2.0)

    def shift(added: float) -> Loss:
        return dispersed_level(HalfOfThem(), plan, Coordinates(None, 4.0), np.zeros(4), level, added).loss

    for added in (1.0, 1.8, 100.0):
        explained = solve_dispersion(2.0, LEVEL.squares / 2 - added)
        assert shift(added) == bounded(2.0, explained, top_rate(plan, 2.0))
    assert shift(1.0) != shift(1.8) != shift(100.0) == bounded(2.0, 0.0, top_rate(plan, 2.0))


class Residuals:
    """Normal residuals of deviation 0.2, without noise."""

    def __init__(self) -> None:
        self.values = 0.2 * np.random.default_rng(0).standard_normal(20_000)
        self.asked = 0

    def ask(self, query: Query) -> Answer:
        assert isinstance(query, ResidualSize)
        assert query.measure is Measure.WITHIN
        self.asked += 1
        within = (self.values > query.start) & (self.values <= query.start + query.cap)
        return Answer(np.array([float(within.sum())]), 0.0)


@pytest.mark.parametrize("size", [0.1, 0.16, 0.4])
def test_the_threshold_of_a_robust_score_goes_by_the_residuals_not_by_a_guess(size: float) -> None:
    """Six halvings of six octaves: the radius is known within 7%."""
    model = HuberRegressor(epsilon=3.0, bounds=(-8, 8), y_bounds=(-20, 20), inference=True)
    plan, gate = model.plan(20_000, 3), Residuals()
    found = residual_threshold(gate, plan, None, np.zeros(4), size)
    assert found == pytest.approx(threshold_of(plan) * 0.2, rel=0.08)
    assert gate.asked == plan.step(Purpose.RESIDUALS).times
