"""What is found of counts before the last step, against simulated counts."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from tacit import PoissonRegressor
from tacit.contract.query import Answer, Query, ResidualSize
from tacit.losses.bounded_poisson import expected_clip, loss
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.interval_rules import LEVEL
from tacit.solvers.nuisance import Level, count_cap, sampling_variance, solve_dispersion
from tacit.solvers.one_step import OneStep

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
    found, steepness = solve_dispersion(mean, float(seen))
    assert found == pytest.approx(dispersion, abs=0.035)
    assert steepness > 0.1


def test_squares_beyond_any_law_end_at_the_largest_dispersion() -> None:
    assert solve_dispersion(2.5, 100.0)[0] == pytest.approx(5.0)
    assert solve_dispersion(2.5, -100.0)[0] == 0.0


@pytest.mark.parametrize(("mean", "dispersion"), [(0.6, 0.0), (2.5, 0.5), (9.0, 0.3)])
@pytest.mark.parametrize("factor", [-0.5, 0.3])
def test_what_the_estimated_dispersion_adds(mean: float, dispersion: float, factor: float) -> None:
    top = 1.2 * mean
    rates = [mean * part for part in LEVEL.rates]
    counts = {rate: drawn(rate, dispersion) for rate in rates}

    def residuals(rate: float, around: float) -> np.ndarray:
        reach = 2 * max(1.0, math.sqrt(around))
        shift = expected_clip(np.array([around]), 0.0)[0][0]
        kept = np.clip(around - counts[rate], -reach, reach) + shift
        return np.asarray(min(1.0, top / around) * kept)

    def slope(of: Callable[[float, float], np.ndarray]) -> float:
        ends = math.exp(-0.02), math.exp(0.02)
        return float(
            np.mean([(of(r, r * ends[1]) - of(r, r * ends[0])).mean() / 0.04 for r in rates])
        )

    follow = slope(lambda rate, around: squares_of(counts[rate], around)) / slope(residuals)
    added = []
    for rate in rates:
        residual = residuals(rate, rate)
        square = squares_of(counts[rate], rate) - follow * residual
        added.append((residual + factor * square).var() - residual.var())
    expected = float(np.mean(added))
    assert sampling_variance(mean, dispersion, top, factor) == pytest.approx(expected, abs=0.05)


def test_counts_are_cut_where_their_mean_would_be_noise() -> None:
    def cap(n: int, largest: int) -> float:
        model = PoissonRegressor(epsilon=1.0, bounds=(-1, 1), y_max=largest, inference=True)
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


def test_what_a_pilots_noise_adds_to_squares_goes_by_the_iterates_that_were_averaged() -> None:
    def dispersion(output: str) -> float:
        model = PoissonRegressor(
            epsilon=1.0, bounds=(-1, 1), y_max=50, inference=True, iterations=10, output=output
        )
        level = Level(loss(2.0, 0.0, 5.0), math.log(2.0), 2.0, 2.0)
        plan, pilot = model.plan(2000, 3), np.zeros(4)
        assert isinstance(plan.solver, OneStep)
        found = plan.solver.second_level(
            HalfOfThem(), plan, Coordinates(None, 4.0), pilot, level, 0.7
        )
        return found.dispersion

    def by_hand(averaged: int) -> float:
        return solve_dispersion(2.0, LEVEL.squares / 2 - 4 * 0.7**2 / (0.81 * averaged * 2.0))[0]

    for output, averaged in (("tail", 6), ("average", 10), ("last", 1)):
        assert dispersion(output) == pytest.approx(by_hand(averaged), rel=1e-6)
    assert dispersion("last") < dispersion("tail")
