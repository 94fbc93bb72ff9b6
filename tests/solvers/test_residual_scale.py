"""Residuals are measured by counts, and losses are in units of them."""

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.contract.query import Answer, Measure, Query, ResidualSize
from tacit.losses import regression
from tacit.losses.loss import Code
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.far_out_rules import FAR_OUT
from tacit.solvers.residual_scale import (
    Residuals,
    in_units,
    is_shared,
    loss_in_units,
    measure,
    shift_to_quantile,
    step_unit,
)

N = 5000
RESIDUALS = np.random.default_rng(2).normal(0.0, 0.1, N)
KNOWN = Residuals(size=0.3, deviation=0.375, rate=1.0)
HERE = Coordinates(None, 3.0)


class Measuring:
    """Answers measures of fixed residuals without noise."""

    def ask(self, query: Query) -> Answer:
        assert isinstance(query, ResidualSize)
        share: Any = {
            Measure.SIZE: np.minimum(np.abs(RESIDUALS) / query.cap, 1.0),
            Measure.SQUARE: np.minimum((RESIDUALS / query.cap) ** 2, 1.0),
            Measure.WITHIN: (query.start < RESIDUALS) & (query.start + query.cap >= RESIDUALS),
        }[query.measure]
        return Answer(np.array([float(share.sum())]), 0.0)


def plan_of(**settings: Any) -> Any:
    model = tacit.QuantileRegressor(epsilon=1.0, bounds=(-1, 1), y_bounds=(-1, 1), **settings)
    return model.plan(N, 2)


def test_one_round_finds_the_mean_size_and_several_the_deviation() -> None:
    plan = plan_of()
    assert measure(Measuring(), plan, 0, HERE, np.zeros(3), KNOWN, 1) is KNOWN
    size = measure(Measuring(), plan, 1, HERE, np.zeros(3), KNOWN, 1)
    assert size.size == pytest.approx(np.abs(RESIDUALS).mean(), rel=0.01)
    radius = measure(Measuring(), plan, 8, HERE, np.zeros(3), KNOWN, 1)
    assert radius.deviation == pytest.approx(0.1, rel=0.05)


def test_the_intercept_moves_to_the_quantile() -> None:
    plan = plan_of(quantile=0.9)
    moved = shift_to_quantile(Measuring(), plan, 12, HERE, np.zeros(3), KNOWN)
    assert moved[:2].tolist() == [0.0, 0.0]
    assert moved[-1] == pytest.approx(np.quantile(RESIDUALS, 0.9), abs=0.005)


def test_relative_losses_are_scaled() -> None:
    scaled = in_units(regression.huber(1.345, relative=True), 0.2)
    assert (scaled.shape[0], scaled.lipschitz, scaled.relative) == (0.269, 0.269, False)
    corner = in_units(regression.pinball(0.3, 0.5), 0.2)
    assert corner.smoothness == pytest.approx(0.5 / 0.1)


def test_the_first_stage_of_a_quantile_fits_the_middle() -> None:
    plan = plan_of(quantile=0.9)
    first, later = (loss_in_units(plan, KNOWN, first=first) for first in (True, False))
    assert (first.shape[0], later.shape[0]) == (0.5, 0.9)
    assert later.code is Code.PINBALL
    assert step_unit(first, KNOWN) == KNOWN.deviation


def test_far_out_the_deviation_is_measured_whatever_most_records_share() -> None:
    """Residuals of deviation .1 within ±1, of which .001 was said to hold most; one question, as without."""
    plan, known = (
        tacit.LinearRegression(epsilon=1.0, bounds=(-1, 1), y_bounds=(-1, 1)).plan(N, 2),
        Residuals(0.001, 0.001, 1.0),
    )
    assert is_shared(plan, known)
    assert not is_shared(plan, KNOWN)
    found = measure(Measuring(), plan, 1, HERE, np.zeros(3), known, 1, far_out=True)
    cut = np.minimum(np.abs(RESIDUALS), FAR_OUT.cut * 2)
    assert found.deviation == pytest.approx(np.sqrt(np.mean(cut**2)))
    assert found.size == pytest.approx(found.deviation / 1.25)


@pytest.mark.parametrize(("share", "believed"), [(0.029, False), (0.031, True)])
def test_a_mean_square_that_its_noise_explains_is_not_believed(share: float, believed: bool) -> None:
    class Noisy:
        def ask(self, query: Query) -> Answer:
            return Answer(np.array([share * N]), 0.01 * N)

    plan, known = (
        tacit.LinearRegression(epsilon=1.0, bounds=(-1, 1), y_bounds=(-1, 1)).plan(N, 2),
        Residuals(0.001, 0.001, 1.0),
    )
    found = measure(Noisy(), plan, 1, HERE, np.zeros(3), known, 1, far_out=True)
    assert (found is not known) == believed
