import math

import numpy as np
import pytest

from tacit.accounting import gaussian
from tacit.accounting.pld.grid_choice import coarse_pass
from tacit.accounting.pld.pairs.bounded_loss import LaplacePair
from tacit.accounting.pld.pairs.gaussian import GaussianPair, PoissonGaussian
from tacit.accounting.pld.pairs.pair import Pair


@pytest.mark.parametrize("mu", [1e-5, 0.1, 3.0])
def test_moments_of_a_gaussian_are_about_right(mu: float) -> None:
    coarse = coarse_pass([(GaussianPair(mu), 9)], "remove")
    for tilt in (0.0, 2.0 / mu):
        found = coarse.moments(tilt)
        assert found.variance == pytest.approx(9 * mu * mu, rel=0.05)
        exact = 9 * mu * mu * (0.5 + tilt)
        assert found.mean == pytest.approx(exact, rel=0.05, abs=0.15 * mu)


def test_aims_are_near_the_exact_curve() -> None:
    coarse = coarse_pass([(GaussianPair(0.1), 100)], "remove")
    aim = coarse.aim_at_delta(1e-6)
    assert aim.epsilon == pytest.approx(gaussian.epsilon(1.0, 1e-6), rel=0.1)
    aim = coarse.aim_at_epsilon(3.0)
    assert aim.log_delta == pytest.approx(math.log(gaussian.delta(3.0, 1.0)), rel=0.1)
    assert coarse.aim_at_epsilon(0.0).tilt == 0.0


def test_a_bounded_loss_does_not_ask_for_an_endless_tilt() -> None:
    aim = coarse_pass([(LaplacePair(1.0), 1)], "remove").aim_at_delta(1e-30)
    assert 0.0 < aim.tilt < 1e3
    assert aim.epsilon <= 1.001


def test_many_pairs_are_grouped_without_changing_much() -> None:
    generator = np.random.default_rng(5)
    items: list[tuple[Pair, int]] = [
        (PoissonGaussian(1 / generator.uniform(0.8, 3), generator.uniform(0.001, 0.02)), 1) for _ in range(80)
    ]
    many = coarse_pass(items, "remove").moments(3.0)
    parts = [coarse_pass([item], "remove").moments(3.0) for item in items]
    assert many.variance == pytest.approx(sum(part.variance for part in parts), rel=0.1)
    assert many.means.size == 80


def test_ranges_hold_almost_everything() -> None:
    coarse = coarse_pass([(PoissonGaussian(1.0, 0.01), 1000)], "remove").without_tails(math.log(1e-5))
    lowest, highest = coarse.ranges(coarse.aim_at_delta(1e-5))
    assert lowest[0] <= math.log(0.99)
    assert 2.0 < highest[0] < 10.0
