"""Own losses in the kernels: whatever a function returns, no record outgrows its bound or reaches another one."""

import math
from typing import Any

import numpy as np
import pytest

from tacit.contract.query import (
    CurvatureAndScore,
    CurvatureTrace,
    DampedDirection,
    GradientSum,
    PerturbedMinimum,
    SecondMoments,
    Weights,
)
from tacit.errors import SettingError
from tacit.losses import own
from tacit.losses.loss import Code
from tacit.losses.own import OwnLoss
from tacit.mechanisms.gradient import integer_gradient_sum
from tests.rows.memory_stores import memory_store

BOUND = 10**6


def wild(margin: float, label: float) -> float:
    if margin > 2.0:
        raise ValueError("never told")
    return 1e300 * margin / label


def loss_of(function: Any, steepest: float = 1.0) -> OwnLoss:
    """A loss without the check of its derivative, of which there is none."""
    compiled = own._guarded(function, steepest)
    return OwnLoss("own", Code.OWN, steepest, math.inf, (0.0, 1.0, steepest), slope=function, compiled=compiled)


def records(rng: np.random.Generator, count: int) -> Any:
    """Rows of any length, and labels for which the loss divides by 0."""
    rows = rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-5, 5, (count, 1))
    return np.column_stack([rows, rng.choice([0.0, 1.0, -7.0], count)])


def test_no_record_outgrows_its_bound() -> None:
    rng, loss = np.random.default_rng(2), loss_of(wild)
    moved = 0
    for record in records(rng, 300):
        query = GradientSum(rng.normal(size=3) * 10, float(10 ** rng.uniform(-3, 3)), loss=loss)
        total = integer_gradient_sum(query, BOUND, memory_store(record[None]))
        assert sum(int(q) ** 2 for q in total) <= BOUND**2
        moved += bool(total.any())
    # The test is of something: most records contribute.
    assert moved > 100


def test_a_sum_is_that_of_its_records() -> None:
    rng, loss = np.random.default_rng(3), loss_of(wild)
    table = records(rng, 150)
    query = GradientSum(rng.normal(size=3), 1.0, loss=loss)
    single = sum(integer_gradient_sum(query, BOUND, memory_store(record[None])) for record in table)
    np.testing.assert_array_equal(integer_gradient_sum(query, BOUND, memory_store(table)), single)
    np.testing.assert_array_equal(integer_gradient_sum(query, BOUND, memory_store(table[::-1])), single)


@pytest.mark.parametrize(
    "query",
    [
        lambda loss: SecondMoments(1.0, None, np.zeros(3), Weights.CURVATURE, loss),
        lambda loss: CurvatureAndScore(np.zeros(3), 1.0, None, loss),
        lambda loss: CurvatureTrace(np.zeros(3), 1.0, None, loss),
        lambda loss: DampedDirection(np.zeros(3), np.zeros(3), 1.0, 1.0, None, loss),
        lambda loss: PerturbedMinimum(1.0, None, loss),
    ],
)
def test_nothing_that_needs_a_curvature_is_answered(query: Any) -> None:
    with pytest.raises(SettingError, match="nothing bounds its curvature"):
        query(loss_of(wild))
