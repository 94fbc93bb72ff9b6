"""Where gradients are clipped: the tail's law, what the clip trades, what is asked."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import tacit
from tacit.contract.plan import Plan
from tacit.contract.purpose import Purpose
from tacit.contract.query import Answer, GradientNorm, Measure, Query
from tacit.contract.sensitivity import Price
from tacit.losses import regression
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.gradient_tail import Clip, best_clip, bias_at, choose_clip, tail_law
from tacit.solvers.interval_rules import TAIL

HELD = 0.95
START = NormalDist().inv_cdf((1 + HELD) / 2)


def excess_of(power: float, clip: float, most: float = math.inf) -> float:
    """E min((g - clip)₊, most) for g = (|Z| / z_q)^power, so that 95% lie below 1."""

    def value(z: float) -> float:
        return float(min(max((z / START) ** power - clip, 0.0), most) * 2 * stats.norm.pdf(z))

    return float(integrate.quad(value, START, 12, limit=500, points=(START * 3 ** (1 / power),))[0])


def cut_excess(power: float) -> float:
    """What is asked for: the mean excess over the quantile 1, cut at so many quantiles."""
    return excess_of(power, 1.0, TAIL.cap)


def found_for(power: float, noise: float, *, largest: float = 1e9, scale: float = 0.8) -> Clip:
    return best_clip(1.0, HELD, cut_excess(power), largest=largest, noise=noise, scale=scale)


@pytest.mark.parametrize("noise", [0.001, 0.01, 0.05])
@pytest.mark.parametrize("power", [0.6, 1.0, 2.0, 3.0])
def test_a_known_law_is_found_by_its_excess_and_cut_where_noise_and_bias_are_least(power: float, noise: float) -> None:
    """Against numerical integrals and a minimiser; the clips tried are 4% apart."""
    scale = 0.8

    def loss(clip: float) -> float:
        return (noise * clip) ** 2 + (scale * excess_of(power, clip)) ** 2

    best = optimize.minimize_scalar(loss, bounds=(1.0, TAIL.farthest), method="bounded")
    found = found_for(power, noise, scale=scale)
    assert loss(found.norm) <= 1.1 * float(best.fun)
    # 1500 points of the law do not see the last of it.
    bias = scale * excess_of(power, found.norm)
    assert found.bias == pytest.approx(bias, rel=0.2, abs=0.05 * noise)


def test_less_noise_cuts_less_and_leaves_less_bias() -> None:
    clips = [found_for(2.0, noise) for noise in (0.3, 0.03, 0.003, 0.0003)]
    assert all(a.norm <= b.norm for a, b in itertools.pairwise(clips))
    assert all(a.bias >= b.bias for a, b in itertools.pairwise(clips))
    assert clips[0].norm == 1.0 < clips[-1].norm


def test_a_heavier_tail_is_cut_further_out() -> None:
    clips = [found_for(power, 0.01) for power in (0.5, 1.0, 2.0, 3.0)]
    assert all(a.norm <= b.norm for a, b in itertools.pairwise(clips))
    assert all(a.bias <= b.bias for a, b in itertools.pairwise(clips))


def test_everything_has_the_units_of_the_quantile() -> None:
    one = found_for(2.0, 0.01)
    many = best_clip(7.0, HELD, 7 * cut_excess(2.0), largest=7e9, noise=0.01, scale=0.8)
    assert many.norm == pytest.approx(7 * one.norm)
    assert many.bias == pytest.approx(7 * one.bias)


def test_no_gradient_is_longer_than_the_public_bound() -> None:
    """A bound a little beyond the quantile: nothing is cut, and nothing is biased."""
    found = found_for(3.0, 1e-6, largest=1.4)
    assert found.norm == pytest.approx(1.4)
    assert found.bias == pytest.approx(0.0, abs=1e-12)
    below = found_for(3.0, 0.01, largest=0.5)
    assert 1.0 <= below.norm <= 1.0 + 2e-6
    assert below.bias == 0.0


@pytest.mark.parametrize("excess", [-1.0, 0.0])
def test_an_excess_below_any_law_gives_the_lightest_that_is_tried(excess: float) -> None:
    found = best_clip(1.0, HELD, excess, largest=1e9, noise=0.01, scale=0.8)
    nearest = found_for(TAIL.powers[0], 0.01)
    assert found.norm == pytest.approx(nearest.norm, rel=0.05)
    assert found.bias == pytest.approx(nearest.bias, abs=1e-4)


def test_a_tail_heavier_than_any_that_is_known_has_no_bound_but_the_public_one() -> None:
    excess = 1.01 * (1 - HELD) * TAIL.cap
    found = best_clip(1.0, HELD, excess, largest=500.0, noise=0.01, scale=0.8)
    assert (found.norm, found.bias) == (1 + TAIL.cap, 0.8 * 500.0)
    # Where the public bound is near, an excess that it does not allow is noise, and no bias.
    near = best_clip(1.0, HELD, excess, largest=1.4, noise=1e-6, scale=0.8)
    assert near.norm == pytest.approx(1.4)
    assert near.bias == pytest.approx(0.0, abs=1e-9)


def planned() -> Plan:
    model = tacit.LinearRegression(epsilon=3.0, bounds=(-8, 8), y_bounds=(-20, 20), inference=True)
    plan: Plan = model.plan(20_000, 3)
    # Noise of 0.002 on the mean gradient of clip 1.
    price = Price(819, 15)
    steps = (replace(it, price=price) if it.purpose is Purpose.LAST_STEP else it for it in plan.steps)
    return replace(plan, steps=tuple(steps))


class Norms:
    """Measures norms without noise, whatever noise it says there is."""

    def __init__(self, norms: Any, noise: float = 0.0) -> None:
        self._norms, self._noise, self.asked = norms, noise, list[GradientNorm]()

    def ask(self, query: Query) -> Answer:
        assert isinstance(query, GradientNorm)
        self.asked.append(query)
        place = self._norms - query.start
        within = (place > 0) & (place <= query.cap)
        shares = within if query.measure is Measure.WITHIN else np.clip(place / query.cap, 0, 1)
        return Answer(np.array([float(shares.sum())]), self._noise)


def chosen(
    norms: Any, noise: float = 0.0, dimension: float = 4.0, largest: float = 50.0
) -> tuple[Clip, list[GradientNorm]]:
    gate, plan = Norms(norms, noise), planned()
    clip = choose_clip(gate, plan, Coordinates(None, dimension), np.zeros(4), 3.0, regression.SQUARED, largest)
    return clip, gate.asked


def test_the_quantile_is_sought_by_counts_and_the_excess_beyond_it_asked_once() -> None:
    norms = np.abs(np.random.default_rng(0).standard_normal(20_000))
    _, asked = chosen(norms)
    *counts, last = asked
    assert len(counts) == TAIL.rounds == planned().step(Purpose.GRADIENT_NORMS).times
    assert {query.measure for query in counts} == {Measure.WITHIN}
    # From below zero, so that norms of zero are counted: (-g, g].
    assert all(query.start == -query.cap / 2 for query in counts)
    assert last.measure is Measure.SHARE
    assert last.cap == TAIL.cap * last.start
    share = float(np.mean(norms <= last.start))
    # Seven halvings of the octaves below the public bound: the quantile is known within 10%.
    assert TAIL.held[0] - 0.02 < share < 1.0
    assert {query.row_bound for query in asked} == {3.0}


@pytest.mark.parametrize("law", ["normal", "exponential", "t3"])
def test_the_bias_bound_holds_for_laws_that_were_not_assumed(law: str) -> None:
    """In one dimension the clip moves the mean by E(g - G)₊ at most; the bound is larger."""
    rng = np.random.default_rng(1)
    norms = {
        "normal": np.abs(rng.standard_normal(20_000)),
        "exponential": rng.exponential(size=20_000),
        "t3": np.abs(rng.standard_t(3, 20_000)),
    }[law]
    clip, _ = chosen(norms, dimension=1.0)
    cut_off = float(np.maximum(norms - clip.norm, 0).mean())
    assert 0.5 * cut_off < clip.bias < 10 * max(cut_off, 0.002 * clip.norm)


def test_noise_of_the_excess_is_added_to_it() -> None:
    norms = np.abs(np.random.default_rng(0).standard_normal(20_000))
    quiet, _ = chosen(norms)
    doubtful, _ = chosen(norms, noise=500.0)
    assert doubtful.norm > quiet.norm
    assert doubtful.bias > quiet.bias


def test_norms_are_sought_no_further_than_the_public_bound() -> None:
    _, asked = chosen(np.full(20_000, 0.3), largest=0.4)
    assert max(query.cap / 2 for query in asked[:-1]) <= 0.4


def biased(norms: Any, noise: float, clip: Clip) -> tuple[float, list[GradientNorm]]:
    gate = Norms(norms, noise)
    return bias_at(gate, planned(), None, np.zeros(4), 3.0, regression.SQUARED, clip), gate.asked


def test_rows_that_are_not_fitted_leave_no_bound_where_noise_does_not_explain_them() -> None:
    clip = Clip(norm=2.0, bias=0.1, fitted=4.0, expected=0.002, worst=9.0)
    norms = np.ones(20_000)
    assert biased(norms, 5.0, clip)[0] == 0.1
    norms[:40] = 40.0
    assert biased(norms, 5.0, clip)[0] == 0.1
    norms[:70] = 40.0
    assert biased(norms, 5.0, clip)[0] == 9.0
    assert biased(norms, 30.0, clip)[0] == 0.1
    assert biased(norms, 5.0, replace(clip, expected=0.004))[0] == 0.1


def test_unfitted_rows_are_counted_once_beyond_the_fitted_norm_and_shortened() -> None:
    _, asked = biased(np.ones(20_000), 5.0, Clip(2.0, 0.1, 4.0, worst=9.0))
    assert [(it.start, it.measure, it.shortened) for it in asked] == [(4.0, Measure.WITHIN, True)]
    assert not biased(np.ones(20_000), 5.0, Clip(2.0, 0.0))[1]


def test_a_record_is_fitted_within_two_clips_and_eight_quantiles_or_three_deviations_in_a_row_far_out() -> None:
    norms = np.abs(np.random.default_rng(0).standard_normal(20_000))
    clip, asked = chosen(norms)
    near = min(TAIL.beyond[0] * clip.norm, TAIL.beyond[1] * asked[-1].start)
    assert clip.fitted == pytest.approx(max(near, TAIL.far_out * 3.0 * clip.deviation))
    heavy, asked = chosen(np.exp(2 * np.random.default_rng(0).standard_normal(20_000)), largest=1e6)
    assert heavy.fitted == pytest.approx(TAIL.beyond[1] * asked[-1].start)
    assert clip.worst == pytest.approx(TAIL.safety / 2 * 50.0)


@pytest.mark.parametrize("law", ["normal", "exponential", "lognormal"])
def test_the_law_of_the_tail_expects_as_many_beyond_as_there_are(law: str) -> None:
    rng = np.random.default_rng(2)
    norms = {
        "normal": np.abs(rng.standard_normal(20_000)),
        "exponential": rng.exponential(size=20_000),
        "lognormal": np.exp(rng.standard_normal(20_000)),
    }[law]
    clip, _ = chosen(norms, dimension=1.0, largest=500.0)
    beyond = float(np.mean(norms > clip.fitted))
    # The noise of the count is at least 5 of 20,000 at any budget of the study; lighter tails are no harm.
    assert -10 / 20_000 < clip.expected - beyond < 40 / 20_000


def test_a_heavy_law_has_the_same_mean_excess_and_more_far_beyond() -> None:
    light, heavy = (tail_law(1.0, HELD, cut_excess(2.0), 1e9, heavy=it) for it in (False, True))
    assert light is not None
    assert heavy is not None
    cut = [(1 - HELD) * float(np.minimum(law - 1, TAIL.cap).mean()) for law in (light, heavy)]
    assert cut[0] == pytest.approx(cut[1], rel=0.02)
    assert np.mean(heavy > 5) > np.mean(light > 5)


def test_a_public_bound_far_beyond_the_quantile_is_wide() -> None:
    norms = np.abs(np.random.default_rng(0).standard_normal(20_000))
    assert not chosen(norms, largest=2.0**9)[0].wide
    assert chosen(norms, largest=2.0**11)[0].wide


def test_spikes_that_no_quantile_sees_are_more_than_the_law_expects() -> None:
    rng = np.random.default_rng(3)
    norms = np.abs(rng.standard_normal(20_000))
    norms[:80] += 60.0
    clip, _ = chosen(norms, dimension=1.0, largest=500.0)
    assert biased(norms, 13.0, clip)[0] == clip.worst
    assert biased(norms[80:], 13.0, clip)[0] == clip.bias


def test_a_public_bound_that_ties_no_tail_doubles_the_bias() -> None:
    norms = np.abs(np.random.default_rng(0).standard_normal(20_000))
    tied, _ = chosen(norms, largest=2.0**11)
    loose, _ = chosen(norms, largest=2.0**13)
    assert loose.norm == pytest.approx(tied.norm)
    assert loose.bias == pytest.approx(TAIL.loose_safety * tied.bias)


def test_the_deviation_is_that_of_normal_residuals() -> None:
    norms = 0.7 * np.abs(np.random.default_rng(0).standard_normal(20_000))
    clip, _ = chosen(norms, dimension=4.0)
    # The quantile is known within 10%.
    assert clip.deviation * 2 == pytest.approx(0.7, rel=0.12)
