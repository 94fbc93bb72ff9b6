import importlib
import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest

from tacit.accounting import gaussian
from tacit.accounting.pld import BelowRoundOff, Composed, GridTooLong, compose
from tacit.accounting.pld.pairs.bounded_loss import ExponentialPair, LaplacePair, RandomisedResponse
from tacit.accounting.pld.pairs.gaussian import (
    DiscreteGaussianPair,
    GaussianPair,
    ObjectivePerturbation,
    PoissonGaussian,
    WithoutReplacementGaussian,
)
from tacit.accounting.pld.pairs.pair import Pair
from tacit.errors import SettingError

oracle: Any = importlib.import_module("dp_accounting.pld.privacy_loss_distribution")


def on_a_grid(mu: float, times: int) -> Composed:
    """Gaussian pairs that are not recognised as such."""
    return Composed(((GaussianPair(mu), times),))


@pytest.mark.parametrize("delta", [0.1, 1e-5, 1e-12, 1e-20])
@pytest.mark.parametrize(("mu", "times"), [(0.5, 4), (0.01, 1000), (3.0, 2), (1e-4, 50)])
def test_gaussian_composition_contains_the_exact_curve(mu: float, times: int, delta: float) -> None:
    lower, upper = on_a_grid(mu, times).epsilon(delta)
    exact = gaussian.epsilon(mu * math.sqrt(times), delta)
    assert lower <= exact * (1 + 1e-12)
    assert upper >= exact * (1 - 1e-12)
    assert upper - lower <= 5e-4 * upper + 1e-9


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0, 9.0])
def test_gaussian_deltas_contain_the_exact_curve(epsilon: float) -> None:
    lower, upper = on_a_grid(0.1, 100).delta(epsilon)
    exact = gaussian.delta(epsilon, 1.0)
    assert lower <= exact <= upper
    assert upper - lower <= 0.02 * upper


def test_gaussians_alone_are_exact() -> None:
    composed = compose([(GaussianPair(0.3), 4), (GaussianPair(0.8), 1)])
    lower, upper = composed.epsilon(1e-6)
    exact = gaussian.epsilon(1.0, 1e-6)
    assert lower <= exact
    assert exact * (1 - 1e-13) <= upper <= lower * (1 + 1e-8)
    lower, upper = composed.delta(2.0)
    exact = gaussian.delta(2.0, 1.0)
    assert lower <= exact
    assert exact * (1 - 1e-13) <= upper <= lower * (1 + 1e-8)


def exact_randomised_response(epsilons: list[tuple[float, float, int]], at: float) -> mpmath.mpf:
    """Sum over the numbers of lies of each kind, with 40 digits."""
    with mpmath.workdps(40):
        value = mpmath.mpf(0)
        finite = mpmath.mpf(1)
        for _, delta, times in epsilons:
            finite *= (1 - mpmath.mpf(delta)) ** times
        for lies in itertools.product(*(range(times + 1) for _, _, times in epsilons)):
            loss, mass = mpmath.mpf(0), mpmath.mpf(1)
            for (epsilon, _, times), number in zip(epsilons, lies, strict=True):
                e = mpmath.mpf(epsilon)
                loss += (times - 2 * number) * e
                truth = 1 / (1 + mpmath.exp(-e))
                mass *= mpmath.binomial(times, number) * truth ** (times - number)
                mass *= (1 - truth) ** number
            value += mass * max(1 - mpmath.exp(at - loss), 0)
        return 1 - finite + finite * value


@pytest.mark.parametrize(
    "kinds", [[(0.1, 0.0, 60)], [(0.5, 1e-7, 12)], [(0.1, 0.0, 12), (0.237, 1e-8, 7), (0.05, 0.0, 9)]], ids=str
)
def test_randomised_response_contains_the_exact_sum(kinds: list[tuple[float, float, int]]) -> None:
    composed = compose([(RandomisedResponse(e, d), times) for e, d, times in kinds])
    for epsilon in (0.0, 0.35, 1.0, 2.2):
        lower, upper = composed.delta(epsilon)
        exact = exact_randomised_response(kinds, epsilon)
        assert lower <= exact <= upper
        assert upper - lower <= 0.03 * upper


def test_t33_optimal_composition_of_pure_mechanisms() -> None:
    # Kairouz, Oh and Viswanath (2015), Theorem 3.3, for 30 mechanisms of epsilon 0.2.
    k, e = 30, 0.2
    for i in (6, 9, 12):
        at = (k - 2 * i) * e
        exact = (
            sum(
                math.comb(k, number) * (math.exp((k - number) * e) - math.exp((k - 2 * i + number) * e))
                for number in range(i)
            )
            / (1 + math.exp(e)) ** k
        )
        lower, upper = compose([(RandomisedResponse(e), k)]).delta(at)
        assert lower <= exact * (1 + 1e-9)
        assert exact * (1 - 1e-9) <= upper <= exact * (1 + 1e-4)


@pytest.mark.parametrize(
    ("rate", "noise", "times", "expected"),
    [(0.01, 0.8, 1000, 3.1410), (0.004, 0.7, 2500, 2.8076), (0.05, 2.0, 400, 2.2464)],
)
def test_t31_sampled_gaussians_are_priced_above_the_limit_theorem(
    rate: float, noise: float, times: int, expected: float
) -> None:
    # The values are those of dp-accounting's pessimistic estimate on a grid of 1e-4.
    lower, upper = compose([(PoissonGaussian(1 / noise, rate), times)]).epsilon(1e-5)
    assert lower <= expected * (1 + 1e-4)
    assert expected * (1 - 1e-4) <= upper <= expected * (1 + 2e-4)
    limit = rate * math.sqrt(times * math.expm1(1 / noise**2))
    assert lower > gaussian.epsilon(limit, 1e-5)


def random_mix(seed: int) -> tuple[list[tuple[Pair, int]], Any, Any]:
    """A mix of mechanisms, and the other library's pessimistic and optimistic composition."""
    generator = np.random.default_rng(seed)
    step = float(generator.choice([1e-3, 5e-4]))
    items: list[tuple[Pair, int]] = []
    composed = {True: oracle.identity(step, True), False: oracle.identity(step, False)}

    def add(pair: Pair, times: int, build: Any, **arguments: float) -> None:
        items.append((pair, times))
        for pessimistic in (True, False):
            settings = {
                "value_discretization_interval": step,
                "pessimistic_estimate": pessimistic,
                "use_connect_dots": pessimistic,
            }
            law = build(**arguments, **settings)
            composed[pessimistic] = composed[pessimistic].compose(law.self_compose(times))

    if generator.random() < 0.7:
        noise, rate = float(generator.uniform(0.8, 4)), float(10 ** generator.uniform(-2.5, -0.5))
        add(
            PoissonGaussian(1 / noise, rate),
            int(generator.integers(1, 60)),
            oracle.from_gaussian_mechanism,
            standard_deviation=noise,
            sampling_prob=rate,
        )
    if generator.random() < 0.5:
        noise = float(generator.uniform(2, 20))
        add(
            GaussianPair(1 / noise),
            int(generator.integers(1, 6)),
            oracle.from_gaussian_mechanism,
            standard_deviation=noise,
        )
    if generator.random() < 0.5:
        scale = float(generator.uniform(2, 20))
        add(LaplacePair(1 / scale), int(generator.integers(1, 10)), oracle.from_laplace_mechanism, parameter=scale)
    if generator.random() < 0.4:
        sigma = float(generator.uniform(2, 9))
        times = int(generator.integers(1, 5))
        items.append((DiscreteGaussianPair(1, sigma), times))
        for pessimistic in (True, False):
            law = oracle.from_discrete_gaussian_mechanism(
                sigma, 1, value_discretization_interval=step, pessimistic_estimate=pessimistic
            )
            composed[pessimistic] = composed[pessimistic].compose(law.self_compose(times))
    return items, composed[True], composed[False]


@pytest.mark.parametrize("seed", range(20))
def test_t22_agrees_with_another_library_on_random_mixes(seed: int) -> None:
    items, pessimistic, optimistic = random_mix(seed)
    delta = 10.0 ** -np.random.default_rng(seed).integers(3, 9)
    _, upper = compose(items).epsilon(delta) if items else (0.0, 0.0)
    above = pessimistic.get_epsilon_for_delta(delta)
    assert upper >= optimistic.get_epsilon_for_delta(delta)
    assert upper <= max(1.01 * above, above + 1e-4)


def test_the_worse_direction_counts() -> None:
    lower, upper = compose([(ObjectivePerturbation(0.0, 0.5, 1, c_add=0.3), 2)]).epsilon(1e-5)
    symmetric = compose([(ObjectivePerturbation(0.3, 0.5, 1), 2)]).epsilon(1e-5)
    one_way = compose([(ObjectivePerturbation(0.0, 0.5, 1), 2)]).epsilon(1e-5)
    assert (lower, upper) == pytest.approx(symmetric, rel=1e-3)
    assert lower > one_way[1] + 0.5


def test_replace_one_agrees_with_another_library() -> None:
    relation = importlib.import_module("dp_accounting").NeighboringRelation.REPLACE_ONE
    law = oracle.from_gaussian_mechanism(
        1.5, sampling_prob=0.05, neighboring_relation=relation, value_discretization_interval=1e-3
    )
    above = law.self_compose(40).get_epsilon_for_delta(1e-6)
    lower, upper = compose([(PoissonGaussian(1 / 1.5, 0.05, "replace-one"), 40)]).epsilon(1e-6)
    assert lower <= above
    assert upper == pytest.approx(above, rel=1e-3)


MIX: list[tuple[Pair, int]] = [
    (GaussianPair(0.3), 2),
    (LaplacePair(0.1), 5),
    (PoissonGaussian(1.0, 0.01), 100),
    (WithoutReplacementGaussian(1.0, 0.02), 50),
    (ExponentialPair(0.1), 3),
    (ObjectivePerturbation(0.01, 0.1, 1, c_add=0.0), 1),
    (RandomisedResponse(0.05, 1e-9), 2),
]


def test_t21_repetition_equals_a_list() -> None:
    listed = [(pair, 1) for pair, times in MIX for _ in range(times)]
    assert compose(MIX).epsilon(1e-6) == compose(listed).epsilon(1e-6)
    # Also where the pairs are not equal, only nearly so.
    apart: list[tuple[Pair, int]] = [(LaplacePair(0.1 * (1 + i * 1e-9)), 1) for i in range(20)]
    first = compose(apart).epsilon(1e-6)
    second = compose([(LaplacePair(0.1), 20)]).epsilon(1e-6)
    assert first[0] <= second[1] * (1 + 1e-7)
    assert second[0] <= first[1]


def test_order_does_not_matter() -> None:
    first, second = (compose(items).epsilon(1e-6) for items in (MIX, MIX[::-1]))
    assert first[1] == pytest.approx(second[1], rel=1e-9)


def test_epsilon_and_delta_are_inverse() -> None:
    composed = compose(MIX)
    lower, upper = composed.epsilon(1e-6)
    at_lower, at_upper = composed.delta(lower), composed.delta(upper)
    assert at_lower[1] >= 1e-6
    assert at_upper[0] <= 1e-6
    assert composed.safe_epsilon(1e-6) == upper


def test_t27_reading_changes_nothing() -> None:
    composed = compose(MIX)
    assert composed.epsilon(1e-6) == composed.epsilon(1e-6)


def best(items: list[tuple[Pair, int]], delta: float) -> float | None:
    try:
        return compose(items).safe_epsilon(delta)
    except (GridTooLong, BelowRoundOff):
        return None


@pytest.mark.parametrize("rate", [0.0, 1e-6, 1e-3, 0.3, 1.0])
def test_t26_corners_are_finite_and_monotone_or_refused(rate: float) -> None:
    for times, delta in itertools.product((1, 10**6), (1e-20, 1e-5)):
        found = [best([(PoissonGaussian(1 / noise, rate), times)], delta) for noise in (0.01, 0.5, 3.0, 1e6)]
        priced = [value for value in found if value is not None]
        assert all(0.0 <= value < math.inf for value in priced)
        # Below 1e-6 the smallest step of the grid shows.
        assert all(a >= b * (1 - 1e-3) - 1e-6 for a, b in itertools.pairwise(priced))


def test_monotone_in_rate_count_and_delta() -> None:
    rates = [compose([(PoissonGaussian(1.0, q), 300)]).safe_epsilon(1e-5) for q in (0.01, 0.0101)]
    counts = [compose([(PoissonGaussian(1.0, 0.01), t)]).safe_epsilon(1e-5) for t in (300, 310)]
    deltas = [compose([(PoissonGaussian(1.0, 0.01), 300)]).safe_epsilon(d) for d in (1e-5, 9e-6)]
    for smaller, larger in (rates, counts, deltas):
        assert 0.0 < smaller < larger


def test_nothing_released_costs_nothing() -> None:
    free: list[tuple[Pair, int]] = [
        (PoissonGaussian(1.0, 0.0), 9),
        (GaussianPair(0.0), 1),
        (RandomisedResponse(2.0), 0),
    ]
    assert compose(free).epsilon(1e-9) == (0.0, 0.0)
    assert compose([]).delta(0.0) == (0.0, 0.0)


def test_leaks_add_up() -> None:
    lower, upper = compose([(RandomisedResponse(0.1, 1e-4), 50)]).epsilon(1e-3)
    assert math.isinf(lower)
    assert math.isinf(upper)


def test_many_different_pairs() -> None:
    generator = np.random.default_rng(2)
    items: list[tuple[Pair, int]] = [
        (PoissonGaussian(1 / generator.uniform(0.8, 3), generator.uniform(0.001, 0.02)), 1) for _ in range(120)
    ]
    lower, upper = compose(items).epsilon(1e-5)
    finer = Composed(compose(items).items[:99], 0.0).safe_epsilon(1e-5)
    assert finer < upper
    assert lower <= upper <= 1.1 * lower


@pytest.mark.parametrize(
    ("items", "word"), [([(GaussianPair(1.0), -1)], "times"), ([(GaussianPair(1.0), 1.5)], "times")]
)
def test_bad_counts_are_refused(items: list[tuple[Pair, int]], word: str) -> None:
    with pytest.raises(SettingError, match=word):
        compose(items)


def test_bad_questions_are_refused() -> None:
    composed = compose(MIX)
    for delta in (0.0, 1.0, math.nan):
        with pytest.raises(SettingError, match="delta"):
            composed.epsilon(delta)
    with pytest.raises(SettingError, match="epsilon"):
        composed.delta(-0.1)
    with pytest.raises(SettingError, match="tolerance"):
        compose(MIX, tolerance=0.0)
