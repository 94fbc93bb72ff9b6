"""The scale of residuals: it finds the errors' deviation and stays within its ends."""

from collections.abc import Callable
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.newton import plan_for
from tacit.contract.query import Answer, Measure, Query, ResidualSize
from tacit.losses import regression
from tacit.losses.constants import expected_square
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.interval_rules import NEWTON
from tacit.solvers.nuisance import rescale

SMALLEST, LARGEST = NEWTON.scale_ends

PLAN = plan_for(regression.SQUARED, 20_000, 3, 1.0)
NOWHERE = Coordinates(None, 3.0)


class Told:
    """Answers with what a function says of the cap."""

    def __init__(self, answer: Callable[[ResidualSize], float], noise: float = 1.0) -> None:
        self._answer, self._noise = answer, noise

    def ask(self, query: Query) -> Answer:
        asked = cast("ResidualSize", query)
        assert asked.measure is Measure.SQUARE
        return Answer(np.array([self._answer(asked)]), self._noise)


@pytest.mark.parametrize("deviation", [0.002, 0.05, 0.4])
@pytest.mark.parametrize("damping", [0.5, 1.0])
def test_the_deviation_of_normal_errors_is_found(deviation: float, damping: float) -> None:
    """20,000 normal errors; their scale has a standard error of 1%, and six are allowed."""
    errors = np.random.default_rng(3).normal(0.0, deviation, 20_000)
    gate = Told(lambda query: float(np.minimum((errors / query.cap) ** 2, 1.0).sum()))
    scale, prior = 1.0, NEWTON.scale_prior
    for _ in range(16):
        scale, prior = rescale(gate, PLAN, NOWHERE, np.zeros(3), scale, damping, prior)
    assert scale == pytest.approx(deviation, rel=0.06)


@given(st.floats(-1e12, 1e12), st.floats(SMALLEST, LARGEST), st.floats(1e-6, 1.0))
def test_the_scale_stays_within_its_ends(seen: float, scale: float, damping: float) -> None:
    gate = Told(lambda _: seen)
    found, prior = rescale(gate, PLAN, NOWHERE, np.zeros(3), scale, damping, NEWTON.scale_prior)
    assert 0 < prior < NEWTON.scale_prior + 2 * NEWTON.scale_drift
    assert SMALLEST <= found <= LARGEST
    assert found >= scale / 8 * (1 - 1e-9)


def test_noise_is_believed_less_and_less() -> None:
    """500 runs of 40 answers, each with noise of 0.4 of the records; the deviation is 0.1.

    Gains of ½ in every round leave a deviation of 0.7 in the logarithm, falling ones half of it.
    """
    rng, noise = np.random.default_rng(4), 0.4 * PLAN.count

    def noised(query: ResidualSize) -> float:
        reach = query.cap / 0.1
        return PLAN.count * expected_square(reach) / reach**2 + noise * rng.standard_normal()

    found = []
    for _ in range(500):
        scale, prior = 0.1, NEWTON.scale_prior
        for _ in range(40):
            gate = Told(noised, noise)
            scale, prior = rescale(gate, PLAN, NOWHERE, np.zeros(3), scale, 0.5, prior)
        found.append(np.log(scale))
    assert np.std(found) < 0.45
