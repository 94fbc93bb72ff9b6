"""The scale of residuals: it finds the errors' deviation and stays within its ends."""

from collections.abc import Callable
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.newton import plan_for
from tacit.losses import squared
from tacit.problem.query import Answer, Measure, Query, ResidualSize
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.joint_scale import LARGEST, SMALLEST, rescale

PLAN = plan_for(squared.LOSS, 20_000, 3, 1.0)
NOWHERE = Coordinates(None, 3.0)


class Told:
    """Answers with what a function says of the cap."""

    def __init__(self, answer: Callable[[ResidualSize], float]) -> None:
        self._answer = answer

    def ask(self, query: Query) -> Answer:
        asked = cast("ResidualSize", query)
        assert asked.measure is Measure.SQUARE
        return Answer(np.array([self._answer(asked)]), 1.0)


@pytest.mark.parametrize("deviation", [0.002, 0.05, 0.4])
@pytest.mark.parametrize("damping", [0.5, 1.0])
def test_the_deviation_of_normal_errors_is_found(deviation: float, damping: float) -> None:
    """20,000 normal errors; their scale has a standard error of 1%, and six are allowed."""
    errors = np.random.default_rng(3).normal(0.0, deviation, 20_000)
    gate = Told(lambda query: float(np.minimum((errors / query.cap) ** 2, 1.0).sum()))
    scale = 1.0
    for _ in range(16):
        scale = rescale(gate, PLAN, NOWHERE, np.zeros(3), scale, 1.345, damping)
    assert scale == pytest.approx(deviation, rel=0.06)


@given(st.floats(-1e12, 1e12), st.floats(SMALLEST, LARGEST), st.floats(1e-6, 1.0))
def test_the_scale_stays_within_its_ends(seen: float, scale: float, damping: float) -> None:
    found = rescale(Told(lambda _: seen), PLAN, NOWHERE, np.zeros(3), scale, 1.345, damping)
    assert SMALLEST <= found <= LARGEST
    assert found >= scale / 8 * (1 - 1e-9)
