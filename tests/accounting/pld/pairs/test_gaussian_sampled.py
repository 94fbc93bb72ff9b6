import math

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.accounting import gaussian
from tacit.accounting.pld.pairs.gaussian import PoissonGaussian, WithoutReplacementGaussian
from tacit.accounting.pld.pairs.pair import Direction, Pair, tail_error
from tacit.errors import SettingError


def profile(pair: Pair, direction: Direction, epsilon: float) -> float:
    tail_p, tail_q = pair.smooth(direction, np.array([epsilon]))
    losses, masses = pair.atoms(direction)
    atoms = float(np.sum(masses * np.maximum(-np.expm1(epsilon - losses), 0.0)))
    return float(tail_p[0] - math.exp(epsilon) * tail_q[0]) + atoms


def normal(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def exact_tails(mu: float, rate: float, direction: Direction, epsilon: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Both tails of the add-remove pair, by inverting the loss with many digits."""
    m, q = mpmath.mpf(mu), mpmath.mpf(rate)
    e = epsilon if direction == "remove" else -epsilon
    ratio = (mpmath.exp(e) - 1 + q) / q
    if ratio <= 0:
        return (mpmath.mpf(1), mpmath.mpf(1)) if direction == "remove" else (mpmath.mpf(0),) * 2
    edge = mpmath.log(ratio) / m + m / 2
    if direction == "remove":
        return (1 - q) * normal(-edge) + q * normal(m - edge), normal(-edge)
    return normal(edge), (1 - q) * normal(edge) + q * normal(edge - m)


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_tails_are_exact_within_their_declared_errors(direction: Direction) -> None:
    generator = np.random.default_rng(11)
    for _ in range(250):
        mu = float(10 ** generator.uniform(-4, 1.0))
        rate = float(10 ** generator.uniform(-6, -0.001))
        x = generator.uniform(-7, 9 + mu)
        loss = float(np.log1p(rate * np.expm1(mu * x - mu * mu / 2)))
        epsilon = loss if direction == "remove" else -loss
        pair = PoissonGaussian(mu, rate)
        computed = pair.smooth(direction, np.array([epsilon]))
        shift = pair.loss_error(abs(epsilon))
        with mpmath.workdps(50):
            ends = [exact_tails(mu, rate, direction, epsilon + s * shift) for s in (1, -1)]
            for which in (0, 1):
                value = float(computed[which][0])
                slack = float(tail_error(computed[which])[0]) + 1e-300
                assert ends[0][which] - slack <= value <= ends[1][which] + slack


def test_replace_one_tails_are_exact_within_their_declared_errors() -> None:
    generator = np.random.default_rng(12)
    for _ in range(150):
        mu = float(10 ** generator.uniform(-4, 1.0))
        rate = float(10 ** generator.uniform(-6, -0.001))
        with mpmath.workdps(60):
            m, q = mpmath.mpf(mu), mpmath.mpf(rate)

            def loss(x: mpmath.mpf, m: mpmath.mpf = m, q: mpmath.mpf = q) -> mpmath.mpf:
                up, down = (mpmath.exp(s * m * x - m * m / 2) for s in (1, -1))
                return mpmath.log((1 - q + q * up) / (1 - q + q * down))

            epsilon = float(loss(mpmath.mpf(generator.uniform(-8, 8 + mu))))
            pair = PoissonGaussian(mu, rate, "replace-one")
            computed = pair.smooth("remove", np.array([epsilon]))
            shift = pair.loss_error(abs(epsilon))
            ends = []
            for s in (1, -1):
                c, k = 1 - q, q * mpmath.exp(-m * m / 2)
                power = mpmath.exp(mpmath.mpf(epsilon) + s * shift)
                root = c * (power - 1) + mpmath.sqrt((c * (power - 1)) ** 2 + 4 * k * k * power)
                edge = mpmath.log(root / (2 * k)) / m
                ends.append([c * normal(-edge) + q * normal(t * m - edge) for t in (1, -1)])
            for which in (0, 1):
                slack = float(tail_error(computed[which])[0]) + 1e-300
                assert ends[0][which] - slack <= float(computed[which][0])
                assert float(computed[which][0]) <= ends[1][which] + slack


def by_integration(mu: float, rate: float, epsilon: float) -> float:
    """The hockey-stick divergence of the replace-one pair, by a fine trapezoidal sum."""
    x = np.linspace(-12 - mu, 12 + mu, 400001)
    density = [np.exp(-0.5 * (x - c) ** 2) / math.sqrt(2 * math.pi) for c in (0.0, mu, -mu)]
    p = (1 - rate) * density[0] + rate * density[1]
    q = (1 - rate) * density[0] + rate * density[2]
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum() * (x[1] - x[0]))


@pytest.mark.parametrize(("mu", "rate"), [(0.5, 0.1), (1.0, 0.01), (2.0, 0.6), (1.5, 1.0)])
def test_replace_one_profile_is_the_integral_of_the_densities(mu: float, rate: float) -> None:
    pair = PoissonGaussian(mu, rate, "replace-one")
    for epsilon in (-0.7, -0.05, 0.0, 0.05, 0.7, 2.0):
        exact = by_integration(mu, rate, epsilon)
        assert profile(pair, "remove", epsilon) == pytest.approx(exact, abs=2e-9)


def test_replace_one_pair_dominates_all_pairs_of_records() -> None:
    # Two records anywhere in the ball, in two dimensions: opposite on its surface is the worst.
    generator = np.random.default_rng(3)
    axis = np.linspace(-8, 8, 321)
    x, y = np.meshgrid(axis, axis)
    cell = (axis[1] - axis[0]) ** 2

    def density(center: NDArray[np.float64]) -> NDArray[np.float64]:
        square = (x - center[0]) ** 2 + (y - center[1]) ** 2
        values: NDArray[np.float64] = np.exp(-0.5 * square) / (2 * math.pi)
        return values

    for _ in range(25):
        mu, rate = generator.uniform(0.3, 2.0), generator.uniform(0.05, 0.95)
        old, new = (
            mu * generator.uniform(0, 1) ** 0.3 * np.array([math.cos(a), math.sin(a)])
            for a in generator.uniform(0, 2 * math.pi, 2)
        )
        base = (1 - rate) * density(np.zeros(2))
        p, q = base + rate * density(old), base + rate * density(new)
        pair = PoissonGaussian(float(mu), float(rate), "replace-one")
        for epsilon in (-0.5, 0.0, 0.3, 1.0):
            value = float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum() * cell)
            assert value <= profile(pair, "remove", epsilon) + 1e-6


@pytest.mark.parametrize("relation", ["add-remove", "zero-out", "replace-one"])
def test_rate_one_is_the_gaussian_mechanism(relation: str) -> None:
    factor = 2.0 if relation == "replace-one" else 1.0
    pair = PoissonGaussian(0.4, 1.0, relation)  # type: ignore[arg-type]
    for epsilon in (0.0, 0.5, 2.0):
        expected = gaussian.delta(epsilon, 0.4 * factor)
        assert profile(pair, "remove", epsilon) == pytest.approx(expected, rel=1e-7, abs=1e-15)


@pytest.mark.parametrize(("mu", "rate"), [(0.5, 0.1), (2.0, 0.01), (1.0, 0.9), (8.0, 1e-4)])
def test_without_replacement_is_amplification_above_and_symmetric_below(mu: float, rate: float) -> None:
    pair = WithoutReplacementGaussian(mu, rate)
    for inner in (0.0, 0.2, 1.0, 3.0):
        epsilon = math.log1p(rate * math.expm1(inner))
        amplified = rate * gaussian.delta(inner, mu)
        assert profile(pair, "remove", epsilon) == pytest.approx(amplified, rel=1e-7, abs=1e-15)
        # Exchanging the two worlds: H_x(P|Q) = 1 - x + x H_{1/x}(Q|P).
        mirrored = -math.expm1(-epsilon) + math.exp(-epsilon) * amplified
        assert profile(pair, "remove", -epsilon) == pytest.approx(mirrored, rel=1e-9, abs=1e-15)


def test_without_replacement_profile_is_convex_in_the_exponential() -> None:
    pair = WithoutReplacementGaussian(1.5, 0.2)
    x = np.linspace(0.4, 2.5, 400)
    values = np.array([profile(pair, "add", math.log(point)) for point in x])
    assert np.all(np.diff(values, 2) >= -1e-13)
    assert values[0] <= 1.0


def test_masses_add_up() -> None:
    for pair in (PoissonGaussian(1.0, 0.2), WithoutReplacementGaussian(1.0, 0.2)):
        tail_p, tail_q = pair.smooth("remove", np.array([-np.inf]))
        atoms = pair.atoms("remove")[1].sum()
        assert tail_p[0] + atoms == pytest.approx(1.0, abs=1e-14)
        assert tail_q[0] + atoms == pytest.approx(1.0, abs=1e-14)


def test_nothing_sampled_is_nothing_lost() -> None:
    for pair in (PoissonGaussian(1.0, 0.0), WithoutReplacementGaussian(1.0, 0.0)):
        assert profile(pair, "remove", 0.0) == 0.0


def test_t28_fixed_size_samples_have_a_pair_of_their_own() -> None:
    # Poisson and fixed-size sampling differ even at equal rate and equal sensitivity.
    poisson = profile(PoissonGaussian(1.0, 0.1, "replace-one"), "remove", 0.05)
    fixed = profile(WithoutReplacementGaussian(2.0, 0.1), "remove", 0.05)
    assert abs(poisson - fixed) > 1e-3


def test_large_noise_and_small_rates_stay_finite() -> None:
    points = np.array([-690.0, -1e-12, 0.0, 1e-12, 690.0])
    for mu in (1e-6, 1.0, 100.0):
        for rate in (1e-12, 1e-3, 1.0 - 2.0**-53, 1.0):
            for relation in ("add-remove", "replace-one"):
                pair = PoissonGaussian(mu, rate, relation)
                for direction in ("remove", "add"):
                    for tail in pair.smooth(direction, points):
                        assert np.all(np.isfinite(tail))
                        assert np.all(np.diff(tail) <= 0.0)


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(SettingError, match="rate"):
        PoissonGaussian(1.0, 1.1)
    with pytest.raises(SettingError, match="relation"):
        PoissonGaussian(1.0, 0.1, "swap")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="mu_replace"):
        WithoutReplacementGaussian(-1.0, 0.1)
