import itertools
import math
import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from tacit.accounting import best, gaussian
from tacit.accounting.training_run import Run
from tacit.accounting.with_replacement import with_replacement_profile
from tacit.privacy.event import (
    DiscreteGaussian,
    Gaussian,
    Laplace,
    Pure,
    SampledWithoutReplacement,
    SampledWithReplacement,
)
from tacit.privacy.relation import Relation

POINTS = (0.0, 0.02, 0.3, 1.5)


def stated(event: SampledWithReplacement, epsilon: float) -> float:
    profile = with_replacement_profile(event)
    assert profile is not None
    return float(profile.delta_of_epsilon(np.array([epsilon]))[0])


def shifts(draws: int, population: int, record: float, others: list[float]) -> dict[float, float]:
    """The law of the sum's shift when each draw is the record or what it would be instead."""
    law: dict[float, float] = {}
    for taken in itertools.product((0, 1), repeat=draws):
        weight = math.prod(1 / population if it else 1 - 1 / population for it in taken)
        shift = sum(it * (record - other) for it, other in zip(taken, others, strict=True))
        law[shift] = law.get(shift, 0.0) + weight
    return law


def divergence(first: dict[float, float], second: dict[float, float], epsilon: float) -> float:
    """The hockey-stick divergence of two mixtures of unit Gaussians, to 30 digits."""
    with mpmath.workdps(30):
        factor = mpmath.exp(epsilon)
        signed = [(s, mpmath.mpf(w)) for s, w in first.items()]
        signed += [(s, -factor * w) for s, w in second.items()]

        def excess(y: mpmath.mpf) -> mpmath.mpf:
            return sum(w * mpmath.npdf(y - s) for s, w in signed)

        grid = np.linspace(-16.0, 16.0, 1601)
        values = np.sum([float(w) * np.exp(-0.5 * (grid - s) ** 2) for s, w in signed], axis=0)
        turns = np.flatnonzero(np.sign(values[:-1]) != np.sign(values[1:]))
        roots = [mpmath.findroot(excess, (grid[i], grid[i + 1]), solver="ridder") for i in turns]
        edges = [mpmath.mpf(-16), *roots, mpmath.mpf(16)]
        pieces = [
            sum(w * (mpmath.ncdf(b - s) - mpmath.ncdf(a - s)) for s, w in signed) for a, b in itertools.pairwise(edges)
        ]
        return float(sum(max(piece, mpmath.mpf(0)) for piece in pieces))


# The record before and after, and the records that the draws would be instead, of norm up to 1.
NEIGHBOURS = [
    (1.0, -1.0, [-1.0, -1.0, -1.0]),
    (1.0, -1.0, [1.0, 1.0, 1.0]),
    (1.0, -1.0, [0.0, 0.0, 0.0]),
    (1.0, -1.0, [1.0, -1.0, 0.0]),
    (1.0, -1.0, [1.0, 1.0, -1.0]),
    (1.0, 0.0, [-1.0, 0.3, 1.0]),
    (0.5, -1.0, [1.0, -1.0, 1.0]),
]


@pytest.mark.parametrize(("record", "instead", "others"), NEIGHBOURS)
@pytest.mark.parametrize("noise", [1.0, 3.0])
@pytest.mark.parametrize("population", [2, 20])
def test_never_below_the_divergence_of_neighbours(
    record: float, instead: float, others: list[float], noise: float, population: int
) -> None:
    first = shifts(3, population, record / noise, [it / noise for it in others])
    second = shifts(3, population, instead / noise, [it / noise for it in others])
    event = SampledWithReplacement(Gaussian(4, noise * noise), 3, population)
    for epsilon in POINTS:
        bound = stated(event, epsilon)
        assert divergence(first, second, epsilon) <= bound
        assert divergence(second, first, epsilon) <= bound


@pytest.mark.parametrize("mu", [0.05, 0.4, 1.5])
@pytest.mark.parametrize(("draws", "population"), [(3, 100), (6, 3), (40, 10), (300, 10)])
def test_exact_where_all_other_records_are_alike(draws: int, population: int, mu: float) -> None:
    numbers = np.arange(draws + 1.0)
    law = dict(zip(mu * numbers, stats.binom.pmf(numbers, draws, 1 / population), strict=True))
    likely = {shift: weight for shift, weight in law.items() if weight > 1e-25 and shift < 12.0}
    event = SampledWithReplacement(Gaussian(mu * mu, 1), draws, population)
    for epsilon in (0.1, 0.5, 2.0):
        exact = divergence(likely, {0.0: 1.0}, epsilon)
        assert exact * (1 - 1e-9) - 1e-25 <= stated(event, epsilon)
        if 1e-9 < exact < 0.05 and sum(likely.values()) > 1.0 - 1e-13:
            assert stated(event, epsilon) <= exact * 1.002


@pytest.mark.parametrize("draws", [1, 5])
@pytest.mark.parametrize("population", [1, 3, 40])
def test_pure_releases_never_below_the_sum_of_copies_with_laplace_noise(draws: int, population: int) -> None:
    law = shifts(draws, population, 1.0, [0.0] * draws)
    event = SampledWithReplacement(Laplace(1, 1), draws, population)
    grid = np.linspace(-30.0, 30.0, 600_001)
    densities = {s: 0.5 * np.exp(-np.abs(grid - s)) for s in {*law, 0.0}}
    mixed = np.sum([w * densities[s] for s, w in law.items()], axis=0)
    for epsilon in POINTS:
        for first, second in ((mixed, densities[0.0]), (densities[0.0], mixed)):
            exact = np.maximum(first - math.exp(epsilon) * second, 0.0).sum() * (grid[1] - grid[0])
            assert exact <= stated(event, epsilon) + 1e-4 * exact + 1e-7


def test_one_pure_draw_is_a_sample_without_replacement() -> None:
    largest = math.log1p(0.1 * math.expm1(1.0))
    event = SampledWithReplacement(Pure(1), 1, 10)
    assert stated(event, largest + 1e-6) < 1e-12
    exact = 0.1 * (math.e - (1 + math.expm1(0.05) / 0.1)) / (1.0 + math.e)
    assert stated(event, 0.05) == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize(("draws", "population"), [(1, 1), (1, 100), (10, 100), (300, 1000), (1000, 300)])
def test_at_most_the_theorem_that_reveals_the_number_of_copies(draws: int, population: int) -> None:
    event = SampledWithReplacement(Gaussian(1, 4), draws, population)
    for base in (0.0, 0.3, 2.0):
        # Balle, Barthe and Gaboardi (2018), Theorem 10.
        weights = stats.binom.pmf(np.arange(1, draws + 1), draws, 1.0 / population)
        deltas = [gaussian.delta(base, 0.5 * copies) for copies in range(1, draws + 1)]
        drawn = 1.0 - (1.0 - 1.0 / population) ** draws
        known = float(weights @ deltas)
        found = stated(event, math.log1p(drawn * math.expm1(base)))
        assert found <= known * (1 + 1e-3) + 1e-12
        if draws == 1:
            assert found == pytest.approx(known, rel=1e-3)


@pytest.mark.parametrize("inner", [Pure(1), Gaussian(1, 4), Gaussian(9, 1)])
@pytest.mark.parametrize(("draws", "population"), [(1, 1), (5, 20), (50, 10)])
def test_the_profile_is_one(inner: Pure | Gaussian, draws: int, population: int) -> None:
    profile = with_replacement_profile(SampledWithReplacement(inner, draws, population))
    assert profile is not None
    x = np.linspace(0.2, 4.0, 400)
    values = profile.delta_of_epsilon(np.log(x))
    assert np.all(values >= np.maximum(1.0 - x, 0.0) - 1e-12)
    assert np.all(np.diff(values) <= 1e-15)
    assert np.all(np.diff(values, 2) >= -1e-12)
    points = np.array([0.05, 0.4, 3.0])
    above, below = profile.delta_of_epsilon(points), profile.delta_of_epsilon(-points)
    np.testing.assert_allclose(below, -np.expm1(-points) + np.exp(-points) * above, rtol=1e-6)


def test_a_hundred_steps_cost_little_more_than_without_replacement() -> None:
    run = Run(
        noise=2,
        steps=100,
        relation=Relation.REPLACE_ONE,
        sample_rate=0.01,
        sampling="with-replacement",
        population=100_000,
    )
    found = best([run.event], delta=1e-5, relation="replace-one")
    assert found.epsilon < 0.85
    assert 0.7 < found.lower < 0.794


def test_a_million_draws_take_no_longer_than_a_thousand() -> None:
    event = SampledWithReplacement(Gaussian(1, 1), 10**6, 10**8)
    start = time.perf_counter()
    found = best([event] * 100, delta=1e-5, relation="replace-one")
    assert time.perf_counter() - start < 2.0
    assert found.epsilon < 0.85
    many = SampledWithReplacement(Gaussian(1, 10**8), 10**6, 1000)
    assert best([many], delta=1e-5, relation="replace-one").epsilon < 0.5


def test_rare_draws_cost_what_they_cost_without_replacement() -> None:
    drawn = best([SampledWithReplacement(Gaussian(4, 9), 1, 100)], delta=1e-6, relation="replace-one")
    sampled = SampledWithoutReplacement(Gaussian(4, 9), 1, 100)
    known = best([sampled], delta=1e-6, relation="replace-one")
    assert drawn.epsilon == pytest.approx(known.epsilon, rel=1e-3)


def test_equal_events_share_a_profile_and_others_have_none() -> None:
    first = with_replacement_profile(SampledWithReplacement(Gaussian(1, 4), 5, 50))
    assert first == with_replacement_profile(SampledWithReplacement(Gaussian(1, 4), 5, 50))
    assert with_replacement_profile(SampledWithReplacement(DiscreteGaussian(1, 4), 5, 50)) is None
    assert with_replacement_profile(SampledWithReplacement(Gaussian(10**120, 1), 5, 50)) is None


@pytest.mark.parametrize(("mu", "draws"), [(1, 50), (20, 3)])
def test_nodes_that_fall_together_raise_no_warning(mu: int, draws: int) -> None:
    # Of one record all draws are copies: at small losses the profile is 1 at nodes a float apart.
    event = SampledWithReplacement(Gaussian(mu * mu, 1), draws, 1)
    with mpmath.workdps(30):
        shift = mpmath.mpf(mu * draws)
        for epsilon in (0.0, 1e-12, 300.0, 690.0):
            edge = epsilon / shift - shift / 2
            exact = mpmath.ncdf(-edge) - mpmath.exp(epsilon) * mpmath.ncdf(-edge - shift)
            assert stated(event, epsilon) >= exact


@pytest.mark.parametrize(
    ("mu", "draws", "population", "epsilon"),
    [
        (0.010066873378406331, 3, 1602, 0.00020029709315915866),
        (0.012352864019357606, 2, 2552, 0.00010872049557996834),
        (0.012352864019357606, 2, 2552, 0.00010388015715357961),
    ],
)
def test_just_below_0_the_profile_keeps_its_digits(mu: float, draws: int, population: int, epsilon: float) -> None:
    event = SampledWithReplacement(Gaussian(Fraction(mu) ** 2, 1), draws, population)
    with mpmath.workdps(40):
        # H is at least 1 - x, whatever the neighbours are.
        assert stated(event, -epsilon) >= -mpmath.expm1(-mpmath.mpf(epsilon))
