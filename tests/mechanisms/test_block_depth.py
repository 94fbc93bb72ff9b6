"""Deep points: depths and distances of sensitivity 1, the law of the draw, and privacy on neighbouring points."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tacit.contract.block_price import DepthPrice, depth_price
from tacit.contract.block_query import BlockDepth, LeastSquares
from tacit.contract.sensitivity import Price
from tacit.mechanisms.block_depth import answer_block_depth, boxes, distance, draw_point, log_volumes, outermost
from tacit.noise.entropy import SeededEntropy

PRICE = depth_price(Fraction(2), Fraction(1, 10**5))


def reach(results: np.ndarray, price: DepthPrice = PRICE) -> int:
    return distance(log_volumes(*boxes(results)), len(results), price)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.sampled_from([0.01, 1.0, 100.0]))
def test_one_block_changes_the_distance_by_at_most_one(seed: int, width: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    results = rng.normal(size=(200, width)) * rng.choice([1.0, size], size=(200, 1))
    moved = results.copy()
    moved[rng.integers(200)] = rng.choice([0.0, 1.0, -50.0, 1e6], size=width)
    assert abs(reach(results) - reach(moved)) <= 1


def density(results: np.ndarray, grid: np.ndarray, price: DepthPrice) -> np.ndarray:
    """Of the draw in one dimension, by the definition of depth."""
    depth = np.minimum((results[:, 0][:, None] <= grid).sum(0), (results[:, 0][:, None] >= grid).sum(0))
    weight = np.where(depth >= outermost(len(results)), np.exp(float(price.rate) * depth), 0.0)
    return np.asarray(weight / weight.sum())


def test_stable_neighbours_have_close_laws() -> None:
    """Numerically, on 60 pairs: P ≤ e^(2 rate + shell) P' + shell, both ways, where the distance is at least 2."""
    rng = np.random.default_rng(5)
    grid, compared = np.linspace(-4, 4, 40_001), 0
    price = DepthPrice(Fraction(1, 2), Fraction(3, 4), Fraction(1, 50))
    for _ in range(60):
        results = rng.normal(size=(80, 1))
        moved = results.copy()
        moved[rng.integers(80)] = rng.choice([-50.0, 50.0, 0.0])
        if reach(results, price) < 2:
            continue
        compared += 1
        first, second = density(results, grid, price), density(moved, grid, price)
        ratio = math.exp(float(2 * price.rate + price.shell))
        for one, two in ((first, second), (second, first)):
            assert np.maximum(one - ratio * two, 0.0).sum() <= float(price.shell) + 1e-3
    assert compared > 20


@pytest.mark.parametrize("width", [1, 2])
def test_the_draw_has_its_law(width: int) -> None:
    """Seeded, 3,000 draws of the first coordinate against rejection from the definition; two-sample KS at 1e-6."""
    rng = np.random.default_rng(8)
    results = rng.normal(size=(40, width))
    lower, upper = boxes(results)
    t, rate, entropy = outermost(40), float(PRICE.rate), SeededEntropy(9)
    draws = np.array([draw_point(lower, upper, PRICE, t, entropy) for _ in range(3000)])
    points = rng.uniform(lower[t - 1], upper[t - 1], size=(60_000, width))
    below = (results[:, None] <= points).sum(0)
    depth = np.minimum(below, 40 - below).min(axis=1)
    kept = points[rng.random(60_000) < np.exp(rate * (depth - depth.max()))]
    assert len(kept) > 1000
    assert stats.ks_2samp(draws[:, 0], kept[:, 0]).pvalue > 1e-6


def test_a_failed_test_is_an_answer() -> None:
    apart = np.linspace(-1, 1, 30).reshape(-1, 1) ** 21
    query = BlockDepth(LeastSquares(1), 30)
    assert reach(apart) < PRICE.threshold - 5
    assert np.isnan(answer_block_depth(query, PRICE, apart, SeededEntropy(1)).value).all()


def test_a_stable_point_is_among_the_results() -> None:
    rng = np.random.default_rng(2)
    results = rng.normal(size=(400, 2)) + np.array([1e9, -3.0])
    query = BlockDepth(LeastSquares(2), 400)
    found = answer_block_depth(query, PRICE, results, SeededEntropy(1)).value
    assert np.abs(found - [1e9, -3.0]).max() < 1.0
    assert answer_block_depth(query, Price(1, 0), results, None).value.tolist() == np.median(results, axis=0).tolist()


def test_flat_boxes_raise_nothing() -> None:
    flat = np.zeros((40, 2))
    assert reach(flat) == 0
    lower, upper = boxes(flat)
    assert draw_point(lower, upper, PRICE, 10, SeededEntropy(1)).tolist() == [0.0, 0.0]
