import math
from dataclasses import replace

import numpy as np
import pytest

from tacit.accounting.pld.distribution import Grid, LossDistribution, dyadic, from_pair
from tacit.accounting.pld.pairs.bounded_loss import ExponentialPair, LaplacePair, RandomisedResponse
from tacit.accounting.pld.pairs.gaussian import (
    DiscreteGaussianPair,
    GaussianPair,
    ObjectivePerturbation,
    PoissonGaussian,
    WithoutReplacementGaussian,
)
from tacit.accounting.pld.pairs.pair import Direction, Pair

PAIRS: list[Pair] = [
    GaussianPair(0.5),
    GaussianPair(4.0),
    LaplacePair(0.7),
    RandomisedResponse(0.4, 1e-3),
    DiscreteGaussianPair(1, 1.5),
    PoissonGaussian(1.25, 0.01),
    PoissonGaussian(3.0, 0.3),
    PoissonGaussian(1.0, 0.1, "replace-one"),
    WithoutReplacementGaussian(2.0, 0.1),
    ExponentialPair(1.0),
    ObjectivePerturbation(0.1, 0.5, 1, c_add=0.0),
    ObjectivePerturbation(0.1, 0.5, 2),
]
EPSILONS = np.concatenate([np.linspace(-1.5, 4.0, 45), [-0.0101, 1e-6, 0.011, 8.0, 20.0]])
SLACK = 1e-12


def exact(pair: Pair, direction: Direction, epsilon: float) -> float:
    tail_p, tail_q = pair.smooth(direction, np.array([epsilon]))
    losses, masses = pair.atoms(direction)
    atoms = float(np.sum(masses * np.maximum(-np.expm1(epsilon - losses), 0.0)))
    finite = float(tail_p[0] - math.exp(epsilon) * tail_q[0]) + atoms
    return finite + pair.infinite(direction)


def grids() -> list[Grid]:
    return [
        dyadic(2.0**-4, center=0, low=-12.0, high=25.0, per_octave=16),
        dyadic(2.0**-9, center=7, low=-12.0, high=25.0, per_octave=64),
        # Too short on both sides, and coarse.
        dyadic(0.37, center=1, low=-0.8, high=2.0, per_octave=4),
    ]


def is_above(law: LossDistribution, pair: Pair, direction: Direction) -> bool:
    return all(law.delta(e - law.loss_error) >= exact(pair, direction, e) * (1 - SLACK) - 1e-16 for e in EPSILONS)


def is_below(law: LossDistribution, pair: Pair, direction: Direction) -> bool:
    return all(law.delta(e + law.loss_error) <= exact(pair, direction, e) * (1 + SLACK) + 1e-16 for e in EPSILONS)


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_profiles_are_on_their_side(pair: Pair, direction: Direction) -> None:
    for grid in grids():
        upper = from_pair(pair, direction, grid, "upper")
        lower = from_pair(pair, direction, grid, "lower")
        assert np.all(upper.masses >= 0.0)
        assert np.all(lower.masses >= 0.0)
        assert upper.masses.sum() + upper.infinite == pytest.approx(1.0, abs=1e-12)
        assert lower.masses.sum() + lower.infinite <= 1.0 + 1e-12
        assert is_above(upper, pair, direction)
        assert is_below(lower, pair, direction)


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_rounding_to_the_wrong_side_would_be_caught(pair: Pair) -> None:
    grid = grids()[0]
    upper = from_pair(pair, "remove", grid, "upper")
    rounded_down = replace(upper, indices=upper.indices - 1)
    assert not is_above(rounded_down, pair, "remove")
    lower = from_pair(pair, "remove", grid, "lower")
    rounded_up = replace(lower, indices=lower.indices + 1)
    assert not is_below(rounded_up, pair, "remove")


def test_a_swapped_tail_would_be_caught() -> None:
    # Exchanging the directions of an asymmetric pair understates one of them.
    pair, grid = PoissonGaussian(1.25, 0.01), grids()[1]
    assert not is_above(from_pair(pair, "add", grid, "upper"), pair, "remove")


@pytest.mark.parametrize("bound", ["upper", "lower"])
def test_error_falls_with_the_square_of_the_step(bound: str) -> None:
    pair, errors = GaussianPair(1.0), []
    for power in (4, 6):
        # An off-grid epsilon, at which even the upper profile is not exact.
        epsilon = 0.5 + 2.0**-power / 3
        grid = dyadic(2.0**-power, center=0, low=-9.0, high=10.0, per_octave=1000)
        law = from_pair(pair, "remove", grid, bound)  # type: ignore[arg-type]
        errors.append(abs(law.delta(epsilon) - exact(pair, "remove", epsilon)))
    assert errors[1] < errors[0] / 10


def test_losses_beyond_the_grid_become_infinite_above_and_vanish_below() -> None:
    grid = dyadic(0.125, center=0, low=-4.0, high=1.0, per_octave=16)
    upper = from_pair(GaussianPair(1.0), "remove", grid, "upper")
    lower = from_pair(GaussianPair(1.0), "remove", grid, "lower")
    assert upper.infinite == pytest.approx(0.3085, abs=1e-3)
    assert lower.infinite == 0.0
    assert lower.delta(1.0) == 0.0


def test_atoms_on_the_grid_are_exact_on_both_sides() -> None:
    grid = dyadic(0.5, center=0, low=-1.0, high=1.0, per_octave=8)
    for bound in ("upper", "lower"):
        law = from_pair(RandomisedResponse(1.0), "remove", grid, bound)
        assert law.indices[law.masses > 1e-12].tolist() == [-2, 2]
