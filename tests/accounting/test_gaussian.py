import itertools
import math
import time
import warnings

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.accounting import gaussian
from tacit.errors import BudgetError

DIGITS = 60
TIGHT = 1e-9
SETTINGS = settings(max_examples=150, deadline=None)

any_amount = st.one_of(st.floats(min_value=0.0, max_value=math.inf), st.floats(min_value=1e-9, max_value=1e3))
any_probability = st.one_of(
    st.floats(min_value=0.0, max_value=1.0), st.floats(min_value=-320.0, max_value=0.0).map(lambda power: 10.0**power)
)


def exact_delta(epsilon: float, mu: float) -> mpmath.mpf:
    """The definition of the curve; at most 20 digits of 80 are lost to its cancellation."""
    with mpmath.workdps(DIGITS + 20):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        root = mpmath.sqrt(2)
        first = mpmath.erfc((e / m - m / 2) / root) / 2
        return +(first - mpmath.exp(e) * mpmath.erfc((e / m + m / 2) / root) / 2)


def random_points(count: int, seed: int, largest_u: float) -> list[tuple[float, float]]:
    """Points (epsilon, mu) spread over mu and over the size of the delta they give."""
    generator = np.random.default_rng(seed)
    points = []
    for _ in range(count):
        mu = float(10.0 ** generator.uniform(-9, 3))
        u = generator.uniform(max(-mu / 2, -9.0), largest_u)
        points.append((float(max(mu * (u + mu / 2), 0.0)), mu))
    return points


CORNERS = list(
    itertools.product(
        [0.0, 1e-300, 1e-12, 1e-4, 0.1, 1.0, 30.0, 1e3], [1e-9, 1e-4, 0.1, 0.999999, 1.0, 1.000001, 2.0, 44.0, 1e3]
    )
)


@pytest.mark.parametrize(
    "points",
    [CORNERS, random_points(1500, 1, 12.0), random_points(150, 2, 36.0)],
    ids=["corners", "random", "deep tail"],
)
def test_delta_is_above_the_oracle_and_tight(points: list[tuple[float, float]]) -> None:
    for epsilon, mu in points:
        value, exact = gaussian.delta(epsilon, mu), exact_delta(epsilon, mu)
        assert 0.0 < value <= 1.0
        assert value >= exact or value == 1.0, (epsilon, mu)
        if exact > 1e-300:
            assert value <= exact * (1 + TIGHT), (epsilon, mu)


def test_delta_at_epsilon_zero_is_the_total_variation_distance() -> None:
    for mu in (1e-9, 1e-3, 0.7, 1.5, 5.0):
        exact = math.erf(mu / math.sqrt(8.0))
        assert gaussian.delta(0.0, mu) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    ("delta", "expected"),
    [
        (1e-5, [0.03252, 0.14221, 0.26805, 0.50155, 0.71912, 0.92493, 1.66603]),
        (1e-6, [0.02754, 0.12411, 0.23670, 0.44833, 0.64773, 0.83786, 1.53155]),
    ],
)
def test_mu_matches_the_published_table(delta: float, expected: list[float]) -> None:
    for epsilon, digits in zip([0.1, 0.5, 1, 2, 3, 4, 8], expected, strict=True):
        assert round(gaussian.mu(epsilon, delta), 5) == digits


def test_epsilon_matches_the_published_values() -> None:
    assert round(gaussian.epsilon(0.3, 1e-5), 3) == 1.132
    assert round(gaussian.epsilon(1.0, 1e-5), 3) == 4.377


def calibration_points() -> list[tuple[float, float]]:
    generator = np.random.default_rng(3)
    return [
        (float(10.0 ** generator.uniform(-4, 3)), float(10.0 ** generator.uniform(-30, -0.005))) for _ in range(400)
    ] + list(itertools.product([0.0, 1e-4, 1.0, 1e3], [1e-30, 1e-6, 0.5, 0.99]))


def test_mu_is_below_the_oracle_and_tight() -> None:
    for epsilon, delta in calibration_points():
        mu = gaussian.mu(epsilon, delta)
        assert exact_delta(epsilon, mu) <= delta, (epsilon, delta)
        assert exact_delta(epsilon, mu * (1 + TIGHT)) > delta, (epsilon, delta)


def test_calibration_is_safe_in_floating_point() -> None:
    generator = np.random.default_rng(4)
    for epsilon, delta in calibration_points():
        mu = gaussian.mu(epsilon, delta)
        assert gaussian.delta(epsilon, mu) <= delta
        assert gaussian.epsilon(mu, delta) <= epsilon
        # Smaller mus nearby, which a sum of squares below the budget can give.
        nearby = mu * (1.0 - 10.0 ** generator.uniform(-16, -8))
        assert gaussian.epsilon(nearby, delta) <= epsilon


def test_epsilon_is_above_the_oracle_and_tight() -> None:
    generator = np.random.default_rng(5)
    for _ in range(400):
        mu = float(10.0 ** generator.uniform(-9, 3))
        delta = float(10.0 ** generator.uniform(-30, -0.005))
        epsilon = gaussian.epsilon(mu, delta)
        assert gaussian.delta(epsilon, mu) <= delta
        assert exact_delta(epsilon, mu) <= delta
        if epsilon > 0.0:
            # Tight in delta where epsilon itself is ill-conditioned, tight in epsilon elsewhere.
            smaller = exact_delta(epsilon * (1 - TIGHT), mu)
            assert smaller > delta * (1 - TIGHT), (mu, delta)


def test_epsilon_is_zero_from_the_total_variation_distance_on() -> None:
    for mu in (1e-6, 0.5, 3.0):
        distance = gaussian.delta(0.0, mu)
        assert gaussian.epsilon(mu, distance) == 0.0
        assert gaussian.epsilon(mu, distance * (1 - 1e-6)) > 0.0


@SETTINGS
@given(any_amount, any_amount, any_amount, any_amount)
def test_t18_delta_falls_with_epsilon_and_grows_with_mu(
    first: float, second: float, third: float, fourth: float
) -> None:
    small_epsilon, large_epsilon = sorted((first, second))
    small_mu, large_mu = sorted((third, fourth))
    if large_mu > 1e3:
        return
    less = gaussian.delta(large_epsilon, small_mu)
    assert less <= gaussian.delta(small_epsilon, large_mu) * (1 + TIGHT) + 1e-300


def test_t18_more_noise_means_smaller_epsilon() -> None:
    epsilons = [gaussian.epsilon(1.0 / noise_scale, 1e-6) for noise_scale in range(1, 60)]
    assert all(later < earlier for earlier, later in itertools.pairwise(epsilons))
    mus = [gaussian.mu(epsilon, 1e-6) for epsilon in np.geomspace(1e-3, 1e3, 60)]
    assert all(later > earlier for earlier, later in itertools.pairwise(mus))
    mus = [gaussian.mu(1.0, delta) for delta in np.geomspace(1e-30, 0.99, 60)]
    assert all(later > earlier for earlier, later in itertools.pairwise(mus))


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.5, 1e-6), (10.0, 1e-2), (50.0, 0.1)])
def test_t19_noise_is_calibrated_by_the_exact_curve(epsilon: float, delta: float) -> None:
    classical = epsilon / math.sqrt(2.0 * math.log(1.25 / delta))
    mu = gaussian.mu(epsilon, delta)
    assert exact_delta(epsilon, mu) <= delta
    if epsilon <= 1.0:
        assert mu > 1.1 * classical
    else:
        # The classical formula is no theorem here and breaks its promise.
        assert exact_delta(epsilon, classical) > delta
        assert mu < classical


def test_t24_conversion_rounds_against_us() -> None:
    generator = np.random.default_rng(6)
    for rho in 10.0 ** generator.uniform(-6, 2, 200):
        mu = math.sqrt(2.0 * rho)
        epsilon = gaussian.epsilon(mu, 1e-6)
        assert exact_delta(epsilon, mu) <= 1e-6
        # The conversion from zCDP (Bun and Steinke 2016, Proposition 1.3) is valid and looser.
        assert epsilon <= rho + 2.0 * math.sqrt(rho * math.log(1e6))


def test_ends_of_the_range() -> None:
    infinite = math.inf
    assert gaussian.delta(1.0, 0.0) == gaussian.delta(0.0, 0.0) == 0.0
    assert gaussian.delta(1.0, infinite) == 1.0
    assert gaussian.delta(infinite, 1.0) == gaussian.delta(infinite, infinite) == 0.0
    assert gaussian.delta(1e3, 1e-9) == math.ulp(0.0)
    assert gaussian.epsilon(0.0, 0.0) == gaussian.epsilon(5.0, 1.0) == 0.0
    assert gaussian.epsilon(1.0, 0.0) == gaussian.epsilon(infinite, 0.5) == infinite
    assert gaussian.mu(infinite, 1e-6) == gaussian.mu(1.0, 1.0) == infinite
    assert gaussian.mu(1.0, 0.0) == 0.0
    assert gaussian.mu(0.0, 0.5) == pytest.approx(1.3489795, rel=1e-7)


@SETTINGS
@given(any_amount, any_amount, any_probability)
@example(5e-324, 5e-324, 5e-324)
@example(1e308, 1e308, 1e-320)
@example(1.7e308, 1e154, 0.9999999999999999)
@example(1e308, 1e-9, 1e-6)
@example(0.0, 1e-320, 1e-310)
def test_nothing_overflows_warns_or_is_nan(epsilon: float, mu: float, delta: float) -> None:
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        assert 0.0 <= gaussian.delta(epsilon, mu) <= 1.0
        smallest = gaussian.epsilon(mu, delta)
        assert smallest >= 0.0
        assert gaussian.delta(smallest, mu) <= delta
        largest = gaussian.mu(epsilon, delta)
        assert largest >= 0.0
        assert gaussian.delta(epsilon, largest) <= delta or delta == 1.0
        assert gaussian.epsilon(largest, delta) <= epsilon


@pytest.mark.parametrize("wrong", [-1.0, -math.inf, math.nan])
def test_arguments_outside_their_range_are_refused(wrong: float) -> None:
    for function in (gaussian.delta, gaussian.epsilon, gaussian.mu):
        for arguments in ((wrong, 0.1), (0.1, wrong)):
            with pytest.raises(BudgetError, match=r"expected|must"):
                function(*arguments)


def test_delta_above_one_is_refused() -> None:
    for function in (gaussian.epsilon, gaussian.mu):
        with pytest.raises(BudgetError, match=r"expected|must"):
            function(1.0, 1.0 + 1e-9)


def test_calibration_takes_less_than_a_millisecond() -> None:
    points = calibration_points()
    seconds = []
    for epsilon, delta in points:
        start = time.thread_time()
        gaussian.mu(epsilon, delta)
        seconds.append(time.thread_time() - start)
    # The median: one call may meet a pause that is not its own.
    assert sorted(seconds)[len(seconds) // 2] < 1e-3


def test_allowance_covers_the_special_functions() -> None:
    generator = np.random.default_rng(7)
    points = [*generator.uniform(-0.6, 1.0, 400), *generator.uniform(0.0, 1e3, 400)]
    for point in points:
        with mpmath.workdps(30):
            t = mpmath.mpf(float(point))
            tail = mpmath.erfc(t / mpmath.sqrt(2))
            exact = mpmath.sqrt(mpmath.pi / 2) * mpmath.exp(t * t / 2) * tail
            error = abs(gaussian._mills(float(point)) / exact - 1)
        assert error <= gaussian._ALLOWANCE / 4
