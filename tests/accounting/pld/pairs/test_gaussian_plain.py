import math

import mpmath
import numpy as np
import pytest

from tacit.accounting import gaussian
from tacit.accounting.pld.pairs.gaussian import GaussianPair, ObjectivePerturbation
from tacit.accounting.pld.pairs.pair import DIRECTIONS, Direction, Pair
from tacit.errors import SettingError


def profile(pair: Pair, direction: Direction, epsilon: float) -> float:
    tail_p, tail_q = pair.smooth(direction, np.array([epsilon]))
    losses, masses = pair.atoms(direction)
    atoms = float(np.sum(masses * np.maximum(-np.expm1(epsilon - losses), 0.0)))
    return float(tail_p[0] - math.exp(epsilon) * tail_q[0]) + atoms


def normal(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


@pytest.mark.parametrize("mu", [1e-3, 0.3, 1.0, 5.0])
def test_gaussian_profile_is_the_exact_curve(mu: float) -> None:
    for u in (-1.0, 0.0, 2.0):
        epsilon = max(mu * (u + mu / 2), 0.0)
        for direction in DIRECTIONS:
            assert profile(GaussianPair(mu), direction, epsilon) == pytest.approx(
                gaussian.delta(epsilon, mu), rel=1e-9, abs=1e-15
            )


@pytest.mark.parametrize("mu", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("c", [0.0, 0.25])
def test_objective_perturbation_has_the_published_profile(mu: float, c: float) -> None:
    one = ObjectivePerturbation(c, mu, 1)
    two = ObjectivePerturbation(c, mu, 2)
    k = mu * mu / 2
    for e in (-1.0, -0.1, 0.05, 0.5, 2.0, 6.0):
        epsilon = c + e
        below = 1 - 2 * math.exp(e) * float(normal(mpmath.mpf(-mu / 2)))
        expected = gaussian.delta(e, mu) if e >= 0 else below
        assert profile(one, "remove", epsilon) == pytest.approx(expected, rel=1e-8, abs=1e-14)
        inner = 1 - math.exp(e - k) * (1 - 2 * gaussian.delta(k, mu))
        expected = 2 * gaussian.delta(e, mu) if e >= k else inner
        assert profile(two, "remove", epsilon) == pytest.approx(expected, rel=1e-8, abs=1e-14)


def test_objective_perturbation_has_no_jacobian_in_the_add_direction() -> None:
    pair = ObjectivePerturbation(0.3, 0.5, 1, c_add=0.0)
    assert not pair.symmetric
    assert profile(pair, "add", 0.7) == pytest.approx(gaussian.delta(0.7, 0.5), rel=1e-9)
    assert profile(pair, "remove", 0.7) == pytest.approx(gaussian.delta(0.4, 0.5), rel=1e-9)
    assert ObjectivePerturbation(0.3, 0.5).symmetric


def test_loss_error_covers_the_rounded_argument() -> None:
    generator = np.random.default_rng(7)
    for _ in range(200):
        mu = float(10 ** generator.uniform(-6, 1.3))
        epsilon = float(mu * (generator.uniform(-8, 8) + mu / 2))
        pair = GaussianPair(mu)
        computed = float(pair.smooth("remove", np.array([epsilon]))[1][0])
        shift = pair.loss_error(abs(epsilon))
        with mpmath.workdps(50):
            m = mpmath.mpf(mu)
            ends = [normal(-(mpmath.mpf(epsilon) + sign * shift) / m - m / 2) for sign in (1, -1)]
            slack = mpmath.mpf(2) ** -45 * ends[1]
            assert ends[0] - slack <= computed <= ends[1] + slack


def test_without_sensitivity_nothing_is_lost() -> None:
    for pair in (GaussianPair(0.0), ObjectivePerturbation(0.0, 0.0)):
        assert profile(pair, "remove", 0.0) == 0.0


@pytest.mark.parametrize("mu", [-1.0, math.inf, math.nan])
def test_bad_parameters_are_refused(mu: float) -> None:
    with pytest.raises(SettingError, match="mu"):
        GaussianPair(mu)
    with pytest.raises(SettingError, match="mu"):
        ObjectivePerturbation(0.0, mu)
    with pytest.raises(SettingError, match="vertices"):
        ObjectivePerturbation(0.0, 1.0, 0)


@pytest.mark.parametrize("mu", [0.05, 0.5, 3.0])
@pytest.mark.parametrize("vertices", [3, 4, 9, 81])
def test_several_vertices_have_the_upper_tail_of_the_gaussian_loss(mu: float, vertices: int) -> None:
    """Against 50 digits: V conditioned on its upper 1/m tail, by its definition."""
    pair = ObjectivePerturbation(0.2, mu, vertices)
    with mpmath.workdps(50):
        m = mpmath.mpf(mu)
        start = m * m / 2 + m * mpmath.sqrt(2) * mpmath.erfinv(1 - mpmath.mpf(2) / vertices)
        for e in (-0.5, 0.0, float(start) / 2, float(start) + mu, float(start) + 5 * mu):
            at = max(mpmath.mpf(e), start)
            first, second = vertices * normal(m / 2 - at / m), vertices * normal(-m / 2 - at / m)
            expected = first - mpmath.exp(e) * second
            assert profile(pair, "remove", 0.2 + e) == pytest.approx(float(expected), rel=1e-8, abs=1e-14)
