"""Level and slope at the end: what clipping took is given back, and noise is not believed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import tacit
from tacit.contract.plan import Penalty, Plan
from tacit.contract.query import Answer, Measure, Query, ResidualSize
from tacit.design.design import matrix_design
from tacit.design.response import Continuous
from tacit.losses import regression
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.recalibration import believed, recalibrate
from tacit.solvers.rules import CORRECTIONS
from tacit.solvers.solver import PublicFacts, SolverOptions
from tacit.solvers.staged_gradient import Staged

Vector = NDArray[np.float64]
RECORDS = 2000


class Exact:
    """A gate that answers residual measures without noise, and says that noise was there."""

    def __init__(self, rows: Vector, y: Vector, noise: float = 0.0) -> None:
        self.rows, self.y, self.noise = rows, y, noise
        self.asked: list[Measure] = []

    def ask(self, query: Query) -> Answer:
        assert isinstance(query, ResidualSize)
        self.asked.append(query.measure)
        p = np.clip(self.rows @ query.theta, query.lowest, query.highest)
        gap = self.y - p
        share = {
            Measure.SHARE: (gap - query.start) / query.cap,
            Measure.TILT: 0.5 + gap * (p - query.start) / (2 * query.cap),
        }[query.measure]
        return Answer(np.array([np.clip(share, 0, 1).sum()]), self.noise)


def plan(*, intercept: bool = True, **facts: Penalty) -> Plan:
    design = matrix_design(
        ["a", "b"], Continuous("y", -1.0, 1.0, 0.0, 1.0), bounds=(-1, 1), row_norm=None, intercept=intercept
    )
    known = PublicFacts(
        design,
        RECORDS,
        Relation.REPLACE_ONE,
        "row",
        Budget(mu=1.0),
        facts.get("penalty", Penalty()),
        regression.SQUARED,
    )
    return make_plan(known, SolverOptions())


def table(slope: float, level: float, *, intercept: bool = True) -> tuple[Vector, Vector, Vector]:
    """Rows, coefficients and a response that they predict with another level and slope."""
    rng = np.random.default_rng(2)
    rows = rng.uniform(-1, 1, (RECORDS, 2 + intercept))
    if intercept:
        rows[:, -1] = 1.0
    theta = np.array([0.2, -0.1, 0.05])[: 2 + intercept]
    p = rows @ theta
    center = p.mean() if intercept else 0.0
    return rows, theta, center + level + slope * (p - center) + rng.normal(0, 0.05, RECORDS)


def repaired(rows: Vector, theta: Vector, y: Vector, *, noise: float = 0.0, signal: float = 1e4) -> Vector:
    chosen = plan(intercept=rows.shape[1] == 3)
    coordinates = Coordinates(None, 3.0, (rows.T @ rows / len(rows), None))
    gate = Exact(rows, y, noise)
    return recalibrate(gate, chosen, signal, coordinates, theta, (0.04, 0.04), 0.0)


@pytest.mark.parametrize(("slope", "level"), [(1.0, 0.0), (1.3, 0.1), (0.6, -0.05)])
def test_without_noise_level_and_slope_are_those_of_least_squares(slope: float, level: float) -> None:
    rows, theta, y = table(slope, level)
    p = rows @ theta
    b, a = np.polyfit(p, y, 1)
    assert rows @ repaired(rows, theta, y) == pytest.approx(a + b * p, abs=2e-3)


def test_without_an_intercept_the_slope_alone_is_repaired() -> None:
    rows, theta, y = table(1.4, 0.0, intercept=False)
    p = rows @ theta
    assert repaired(rows, theta, y) == pytest.approx(theta * (p @ y) / (p @ p), abs=2e-3)


def test_noise_is_not_believed() -> None:
    rows, theta, y = table(1.3, 0.1)
    assert repaired(rows, theta, y, noise=1e4).tolist() == theta.tolist()


def test_a_slope_is_kept_within_reason() -> None:
    rows, theta, y = table(30.0, 0.0)
    found = repaired(rows, theta, np.clip(y, -1, 1))
    assert found[:2] == pytest.approx(CORRECTIONS.largest_slope * theta[:2])


def test_a_spread_that_the_noise_of_the_look_hides_does_not_turn_the_slope_over() -> None:
    """Regression: one fit in a hundred at ε = 0.1 had a slope of 3 for 1.

    Where predictions are large, residuals are mostly positive and now and then far below: a clip
    at a small spread takes that for a slope.
    """
    rng = np.random.default_rng(5)
    rows, theta, _ = table(1.0, 0.0)
    skewed = np.where(rng.random(RECORDS) < 0.1, -0.9, 0.1)
    y = rows @ theta + 0.2 * rows[:, 0] * skewed
    hidden = Coordinates(None, 3.0, (np.zeros((3, 3)), None))
    sizes = 1.4 * 0.8 * float(np.std(rows @ theta)), 0.04
    slopes = [
        recalibrate(Exact(rows, y), plan(), 10.0, hidden, theta, known, 0.0)[0] / theta[0]
        for known in ((0.04, 0.04), sizes)
    ]
    assert slopes[0] > 2.0
    assert slopes[1] == pytest.approx(1.0, abs=0.3)


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_a_correction_is_never_enlarged_nor_turned(found: float, noise: float) -> None:
    kept = believed(found, noise)
    assert 0 <= kept * np.sign(found) <= abs(found)


def test_it_is_planned_for_free_least_squares_alone() -> None:
    solver = plan().solver
    assert isinstance(solver, Staged)
    assert solver.recalibration is not None
    assert plan().steps[-1].label == "level and slope"
    penalised = plan(penalty=Penalty(l2=0.1)).solver
    assert isinstance(penalised, Staged)
    assert penalised.recalibration is None


def test_skewed_errors_bias_the_mean_less_than_clipping_alone_would() -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (20_000, 3))
    errors = np.minimum(rng.lognormal(0, 1.5, len(X)), 40.0)
    y = 2 + X @ np.array([3.0, -2.0, 1.0]) + errors
    bias: dict[float | None, float] = {}
    for radius in (None, 1e6):
        facts: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6, "bounds": (-1, 1)}
        found = [
            tacit.LinearRegression(**facts, y_bounds=(-10, 60), radius=radius, random_state=seed)
            .fit(X, y)
            .predict(X)
            .mean()
            for seed in range(5)
        ]
        bias[radius] = abs(float(np.mean(found)) - y.mean())
    # A ball, however wide, leaves the result as it is.
    assert bias[None] < 0.65 * bias[1e6]
