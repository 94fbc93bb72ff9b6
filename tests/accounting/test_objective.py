import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tacit.accounting import gaussian
from tacit.accounting.objective import jacobian_term, objective_epsilon, objective_mu
from tacit.privacy.event import ObjectivePerturbation
from tacit.privacy.relation import Relation

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE


@pytest.mark.parametrize("ratio", [Fraction(1, 10**12), Fraction(1, 40), Fraction(3), 10**9])
def test_the_jacobian_term_is_never_below_the_logarithm(ratio: Fraction | int) -> None:
    with mpmath.workdps(40):
        exact = mpmath.log(1 + mpmath.mpf(Fraction(ratio).numerator) / Fraction(ratio).denominator)
    found = jacobian_term(ObjectivePerturbation(1, 1, ratio, 1))
    assert exact <= found <= exact * (1 + 1e-14)


def test_t22_replace_one_doubles_the_gradient() -> None:
    event = ObjectivePerturbation(9, 16, 1, 1)
    assert objective_mu(event, ADD) == objective_mu(event, Relation.ZERO_OUT) == 0.75
    assert objective_mu(event, REPLACE) == 1.5


def _delta_of_loss(losses: np.ndarray, epsilon: float) -> float:
    return float(np.mean(np.maximum(-np.expm1(epsilon - losses), 0.0)))


@pytest.mark.parametrize("signs", [1, 2])
@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_the_closed_form_is_the_profile_of_the_dominating_loss(
    signs: int, relation: Relation
) -> None:
    # Quantiles of the noise in place of draws: nothing random, error below 1e-5 at 2e5 points.
    event = ObjectivePerturbation(1, 4, Fraction(1, 10), signs)
    c, mu = jacobian_term(event), objective_mu(event, relation)
    delta = 1e-2
    epsilon = objective_epsilon(event, relation, delta)
    noise = math.sqrt(2.0) * _erf_inverse(np.linspace(-1, 1, 200_001)[1:-1])
    one = np.maximum(0.0, 0.5 * mu * mu + mu * noise)
    losses = c + (one if signs == 1 else 0.5 * mu * mu + mu * np.abs(noise))
    assert _delta_of_loss(losses, epsilon) <= delta + 1e-5
    if signs == 1 or relation is ADD:
        assert _delta_of_loss(losses, 0.99 * epsilon) > delta
    assert epsilon >= c + gaussian.epsilon(mu, delta)


def _erf_inverse(points: np.ndarray) -> np.ndarray:
    from scipy import special

    return np.asarray(special.erfinv(points))


def test_the_density_of_a_perturbed_logistic_minimiser_obeys_the_profile() -> None:
    # One feature, three other records; neighbours differ by adding x = 1, y = 1. The density of
    # the minimiser is that of the noise at minus the gradient, times the second derivative.
    ridge, scale = 1.0, 2.0
    others = [(0.7, 1.0), (-0.4, 1.0), (0.9, -1.0)]
    theta = np.linspace(-40.0, 40.0, 400_001)

    def density(records: list[tuple[float, float]]) -> np.ndarray:
        gradient, curvature = ridge * theta, np.full_like(theta, ridge)
        for x, y in records:
            q = 1.0 / (1.0 + np.exp(y * x * theta))
            gradient -= y * x * q
            curvature += x * x * q * (1.0 - q)
        normal = np.exp(-0.5 * (gradient / scale) ** 2) / (scale * math.sqrt(2.0 * math.pi))
        return np.asarray(normal * curvature)

    with_record, without = density([*others, (1.0, 1.0)]), density(others)
    step = float(theta[1] - theta[0])
    event = ObjectivePerturbation(1, 4, Fraction(1, 4), 1)
    for delta in (1e-2, 1e-4):
        epsilon = objective_epsilon(event, ADD, delta)
        for p, q in ((with_record, without), (without, with_record)):
            assert float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum()) * step <= delta
