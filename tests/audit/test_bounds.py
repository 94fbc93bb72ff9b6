"""Lower bounds from scores: against exact binomials, simulated pairs and known limits."""

import math

import numpy as np
import pytest
from scipy import stats

from tacit.accounting import gaussian
from tacit.audit.bounds import Scores, best_cut, epsilon_lower, lower_rate, mu_lower, upper_rate

ALPHA = 1e-3


def gaussian_scores(rng: np.random.Generator, mu: float, runs: int) -> Scores:
    return Scores(rng.normal(size=runs), rng.normal(mu, size=runs))


def exact_tail(first: int, p: float, q: float, most: int) -> float:
    """P(Bin(first, p) + Bin(first, q) ≤ most)."""
    below = stats.binom.cdf(most - np.arange(first + 1), first, q)
    return float(stats.binom.pmf(np.arange(first + 1), first, p) @ below)


@pytest.mark.parametrize("events", [0, 1, 7, 100])
def test_rates_are_clopper_and_pearsons(events: int) -> None:
    exact = stats.binomtest(events, 100).proportion_ci(1 - 2 * ALPHA, "exact")
    assert upper_rate(events, 100, ALPHA) == pytest.approx(exact.high)
    assert lower_rate(events, 100, ALPHA) == pytest.approx(exact.low)


@pytest.mark.parametrize("runs", [50, 100, 1000])
@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 2.0, 3.0, 4.0])
def test_no_threshold_makes_the_bound_exceed_mu_too_often(mu: float, runs: int) -> None:
    """In exact arithmetic over all thresholds of the Gaussian pair: the false-alarm rate is at most alpha."""
    bounds = []
    for wrong in range(2 * runs + 1):
        rate = upper_rate(wrong, 2 * runs, ALPHA)
        bounds.append(max(0.0, -2 * stats.norm.ppf(rate)))
    most = int(np.sum(np.array(bounds) > mu)) - 1
    for cut in np.linspace(-3, mu + 3, 61):
        p, q = stats.norm.sf(cut), stats.norm.cdf(cut - mu)
        assert most < 0 or exact_tail(runs, p, q, most) <= ALPHA


def test_the_bound_of_a_count_of_wrong_guesses() -> None:
    scores = Scores(np.r_[np.zeros(93), np.ones(7)], np.r_[np.ones(95), np.zeros(5)])
    expected = -2 * stats.norm.ppf(stats.beta.ppf(1 - ALPHA, 13, 188))
    assert mu_lower(scores, 0.5, ALPHA) == pytest.approx(expected)
    assert mu_lower(scores, 0.5, ALPHA) <= expected


def test_a_thousand_runs_show_nine_tenths_of_mu_3() -> None:
    """2000 seeded pairs: the mean is 0.91 μ with deviation 0.026 μ, so 0.8 μ is four deviations away."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(2000):
        pilot, counted = gaussian_scores(rng, 3.0, 100), gaussian_scores(rng, 3.0, 1000)
        found.append(mu_lower(counted, best_cut(pilot), ALPHA) / 3.0)
    assert 0.9 < np.mean(found) < 0.92
    assert np.std(found) < 0.03
    assert min(found) > 0.8
    # 2 of 2000 are expected to exceed μ at most; more than 10 have probability below 1e-4.
    assert np.sum(np.array(found) > 1.0) <= 10


def test_epsilon_lower_holds_and_is_near_for_randomised_response() -> None:
    """500 seeded pairs at ε = 1; more than 6 false alarms have probability below 1e-5."""
    rng, epsilon = np.random.default_rng(2), 1.0
    honest = math.exp(epsilon) / (1 + math.exp(epsilon))
    found = []
    for _ in range(500):
        pilot, counted = (
            Scores(np.where(rng.random(n) > honest, 1.0, 0.0), np.where(rng.random(n) < honest, 1.0, 0.0))
            for n in (200, 2000)
        )
        found.append(epsilon_lower(pilot, counted, 0.0, ALPHA))
    assert np.sum(np.array(found) > epsilon) <= 6
    assert np.mean(found) > 0.75


@pytest.mark.parametrize("swapped", [True, False])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_epsilon_lower_finds_an_event_on_either_side_in_either_order(sign: float, swapped: bool) -> None:
    """Something that never happens in one world, and in a fifth of the runs of the other."""
    rng = np.random.default_rng(3)

    def scores(runs: int) -> Scores:
        usual = rng.random(runs)
        other = np.where(rng.random(runs) < 0.2, 5.0, rng.random(runs))
        pair = (other, usual) if swapped else (usual, other)
        return Scores(sign * pair[0], sign * pair[1])

    assert epsilon_lower(scores(200), scores(2000), 1e-5, ALPHA) > 2.5


def test_epsilon_lower_is_far_below_epsilon_where_events_are_rare() -> None:
    rng = np.random.default_rng(4)
    found = epsilon_lower(gaussian_scores(rng, 3.0, 100), gaussian_scores(rng, 3.0, 1000), 1e-5, ALPHA)
    assert 2.0 < found < gaussian.epsilon(3.0, 1e-5)


def test_no_difference_shows_nothing() -> None:
    same = Scores(np.zeros(100), np.zeros(100))
    assert mu_lower(same, best_cut(same), ALPHA) == 0.0
    assert epsilon_lower(same, same, 0.0, ALPHA) == 0.0


def test_the_cut_is_halfway_and_nearer_to_the_narrower_world() -> None:
    rng = np.random.default_rng(5)
    assert best_cut(gaussian_scores(rng, 3.0, 4000)) == pytest.approx(1.5, abs=0.1)
    uneven = Scores(rng.normal(0, 0.2, 4000), rng.normal(3, 2.0, 4000))
    assert 0.3 < best_cut(uneven) < 1.0
    assert np.isfinite(best_cut(Scores(np.zeros(50), np.r_[np.zeros(20), np.ones(30)])))


def test_the_roc_curve_runs_from_none_to_all() -> None:
    scores = Scores(np.array([0.0, 1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0, 3.0]))
    alarms, detections = scores.roc()
    np.testing.assert_array_equal(alarms, [0, 0, 0.0, 0.25, 0.75, 1])
    np.testing.assert_array_equal(detections, [0, 0, 0.5, 0.75, 1, 1])


def test_pilot_runs_are_not_counted() -> None:
    scores = Scores(np.arange(10.0), np.arange(10.0) + 20)
    pilot, counted = scores.split(3)
    assert (len(pilot.first), len(counted.second)) == (3, 7)
    assert counted.second[0] == 23.0
