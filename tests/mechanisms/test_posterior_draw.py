"""Draws from posteriors: their law against quadrature and closed forms, their sensitivity, and every size of table."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tacit.contract.selection_query import PosteriorDraw
from tacit.contract.sensitivity import Price
from tacit.errors import SettingError
from tacit.losses import classification, regression
from tacit.losses.loss import Loss
from tacit.losses.posterior_envelope import smallest_ridge
from tacit.mechanisms.posterior_draw import answer_posterior, energy_of, find_mode
from tacit.noise.entropy import SeededEntropy
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

PRICE = Price(2**30, 29)
"""μ = 2 for zero-out."""


def table(rows: int, width: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1, 1, size=(rows, width + 1))
    values[:, width - 1] = 1.0
    values[:, width] = rng.random(rows) < 1 / (1 + np.exp(-2 * values[:, 0]))
    return values


def asked(width: int, proposals: int = 64, clip: float = 1.5) -> PosteriorDraw:
    root, radius = smallest_ridge(width, proposals)
    return PosteriorDraw(clip, (root * clip) ** 2, radius, proposals)


def test_the_law_of_one_coefficient_is_that_of_quadrature() -> None:
    """1,500 draws; Kolmogorov-Smirnov at 1e-6 against the density on a fine grid. Twice k fails."""
    query, store = asked(1), memory_store(table(40, 1))
    energy = energy_of(query, PRICE, store)
    grid = np.linspace(-12, 12, 20_001)
    heights = energy.heights(grid[:, np.newaxis])
    mass = np.exp(-(heights - heights.min()))
    cdf = np.cumsum(mass) / mass.sum()
    entropy = SeededEntropy(4)
    drawn = [float(answer_posterior(query, PRICE, store, entropy).value[0]) for _ in range(1500)]
    assert stats.kstest(drawn, lambda t: np.interp(t, grid, cdf)).pvalue > 1e-6
    wrong = replace(energy, factor=2.0 * energy.factor).heights(grid[:, np.newaxis])
    faulty = np.cumsum(np.exp(-(wrong - wrong.min())))
    assert stats.kstest(drawn, lambda t: np.interp(t, grid, faulty / faulty[-1])).pvalue < 1e-6


def test_projections_in_three_dimensions_are_those_of_quadrature() -> None:
    """1,500 draws; KS of three projections at 2.5e-7 each, against weights on a grid of 41³ points."""
    query, store = asked(3), memory_store(table(60, 3))
    energy = energy_of(query, PRICE, store)
    mode, _, (values, vectors) = find_mode(energy)
    axis = np.linspace(-6, 6, 41)
    steps = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    points = mode + steps @ (vectors / np.sqrt(values)).T
    heights = energy.heights(points)
    mass = np.exp(-(heights - heights.min()))
    entropy = SeededEntropy(9)
    drawn = np.array([answer_posterior(query, PRICE, store, entropy).value for _ in range(1500)])
    whitened = (drawn - mode) @ (vectors * np.sqrt(values))
    for direction in (np.eye(3)[0], np.eye(3)[1], np.eye(3)[2]):
        ends = axis + (axis[1] - axis[0]) / 2
        cdf = np.array([mass[steps @ direction <= end].sum() for end in ends]) / mass.sum()
        found = stats.kstest(whitened @ direction, lambda t, e=ends, c=cdf: np.interp(t, e, c))
        # The grid's own error is below 0.02.
        assert found.statistic < math.sqrt(math.log(2 / 2.5e-7) / (2 * 1500)) + 0.02


@pytest.mark.parametrize("width", [1, 4, 10])
def test_without_records_the_draw_is_the_prior(width: int) -> None:
    """1,000 draws of N(0, 1/λ) by n = 0; the squared norm's law at 1e-6."""
    query, entropy = asked(width), SeededEntropy(width)
    store = memory_store(table(0, width))
    drawn = np.array([answer_posterior(query, PRICE, store, entropy).value for _ in range(1000)])
    assert stats.kstest(query.ridge * (drawn**2).sum(axis=1), stats.chi2(width).cdf).pvalue > 1e-6
    assert stats.kstest(math.sqrt(query.ridge) * drawn[:, 0], stats.norm.cdf).pvalue > 1e-6


@pytest.mark.parametrize("loss", [classification.LOGISTIC, regression.smooth_huber(0.5)], ids=lambda loss: loss.name)
def test_neighbours_gradients_differ_by_at_most_the_stated_bound(loss: Loss) -> None:
    """At random points and bad records: √λ·bound / 2^bits, twice that where a record is replaced."""
    query = replace(asked(3), loss=loss)
    largest = math.sqrt(query.ridge) * PRICE.bound / 2**PRICE.bits
    values = table(8, 3)
    rng = np.random.default_rng(1)
    for bad in ([1e6, 0, 0, 1], [-1e6, 1, 1, 0], [0, 0, 1, -1e6], [1e3, 1e3, 1e3, 0]):
        replaced, blank = values.copy(), values.copy()
        replaced[0], blank[0] = bad, 0.0
        for theta in rng.normal(size=(20, 3)) * 5:
            base, two, one, less = (
                energy_of(query, PRICE, memory_store(it)).bend(theta)[0] for it in (values, replaced, blank, values[1:])
            )
            assert np.linalg.norm(two - base) <= 2 * largest * (1 + 1e-9)
            assert np.linalg.norm(one - base) <= largest * (1 + 1e-9)
            assert np.linalg.norm(less - base) <= largest * (1 + 1e-9)


@pytest.mark.parametrize("rows", [1, 2, 64, 3000])
def test_usual_tables_accept_in_the_first_batch(rows: int) -> None:
    query = asked(4)
    answer = answer_posterior(query, PRICE, memory_store(table(rows, 4)), SeededEntropy(rows))
    assert np.isfinite(answer.value).all()
    assert answer_posterior(query, PRICE, memory_store(table(rows, 4)), None).noise_scale == 0.0


def test_a_constant_label_and_collinear_rows_have_a_mode() -> None:
    values = table(500, 4)
    values[:, 4] = 1.0
    values[:, 1] = values[:, 0]
    mode, tilt, _ = find_mode(energy_of(asked(4), PRICE, memory_store(values)))
    assert tilt <= 2.0**-10
    assert np.isfinite(mode).all()


def test_units_and_offsets_are_refused() -> None:
    with pytest.raises(SettingError, match="without offset or units"):
        answer_posterior(asked(3), PRICE, person_store([table(3, 3)[:2], table(3, 3)[:1]], 2), None)
