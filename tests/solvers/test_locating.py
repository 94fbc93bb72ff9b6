"""Bounds found by counts: of any location and scale, from the answers alone, as often as planned.

Noise is seeded wherever a number depends on it, so no test can fail by chance.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tacit.contract.plan import Penalty, Plan
from tacit.contract.query import Answer, ColumnCounts, Query
from tacit.contract.sensitivity import Price
from tacit.design.attached_columns import AttachedColumns, Weighting
from tacit.design.design import Design, matrix_design
from tacit.design.response import Binary, Continuous, Response
from tacit.engine.gate import OpenGate, PlannedGate
from tacit.errors import PlanViolation, SettingError
from tacit.mechanisms.query_responder import Responder
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source
from tacit.solvers.exact import Exact
from tacit.solvers.locating import exact_locating, grid_value, locate, with_bounds, with_locating
from tacit.solvers.rules import BOUNDS
from tacit.solvers.solver import PublicFacts, assembled

N = 4000
Generator = np.random.Generator
Columns = dict[str, Callable[[Generator, int], NDArray[Any]]]
SMOOTH: Columns = {
    "standard": lambda rng, n: rng.normal(size=n),
    "far": lambda rng, n: 1e6 + rng.normal(size=n),
    "far and narrow": lambda rng, n: -1e6 + 1e-3 * rng.normal(size=n),
    "narrow": lambda rng, n: 1e-3 * rng.normal(size=n),
    "vast": lambda rng, n: 1e12 * rng.normal(size=n),
    "tiny": lambda rng, n: 1e-12 * (5 + rng.normal(size=n)),
    "lognormal": lambda rng, n: np.exp(rng.normal(size=n)),
    "uniform": lambda rng, n: rng.random(n),
}
LUMPED: Columns = {
    "even": lambda rng, n: (rng.random(n) < 0.5) * 1.0,
    "tenth": lambda rng, n: (rng.random(n) < 0.1) * 1.0,
    "rare": lambda rng, n: (rng.random(n) < 0.01) * 1.0,
    "usual": lambda rng, n: (rng.random(n) < 0.97) * 1.0,
    "coded 2010 and 2011": lambda rng, n: 2010.0 + (rng.random(n) < 0.05),
    "constant": lambda rng, n: np.full(n, 7.3),
    "zero": lambda rng, n: np.zeros(n),
    "few": lambda rng, n: rng.poisson(0.3, n).astype(float),
}


def table(columns: Columns, n: int = N) -> NDArray[np.float64]:
    rng = np.random.default_rng(5)
    return np.column_stack([column(rng, n) for column in columns.values()])


def open_design(count: int, response: Response | None = None, *, intercept: bool = True) -> Design:
    return matrix_design(
        [f"x{j}" for j in range(count)],
        response or Binary("y", (0, 1)),
        bounds="private",
        row_norm=None,
        intercept=intercept,
    )


def plan_of(design: Design, mu: float, records: int = N, relation: Relation = Relation.REPLACE_ONE) -> Plan:
    facts = PublicFacts(design, records, relation, "row", Budget(mu=mu), Penalty())
    return with_locating(facts, Fraction(mu) ** 2, lambda _rest: assembled(facts, Exact(), ()))


def found(
    plan: Plan,
    X: NDArray[np.float64],
    y: NDArray[np.float64] | None = None,
    *,
    seed: int = 0,
    attached: dict[str, NDArray[Any]] | None = None,
) -> Design:
    """Bounds over the real records, through the real gate and mechanism."""
    labels = np.arange(len(X)) % 2 if y is None else y
    store = admit(open_source(X, labels, attached=attached), plan.design, invalid_rows="zero")
    with Responder(store, private=plan.private, seed=seed) as responder:
        if not plan.private:
            return locate(OpenGate(plan, responder), plan)
        gate = PlannedGate(plan, responder)
        design = locate(gate, plan)
        with pytest.raises(PlanViolation, match="used up"):
            gate.ask(ColumnCounts((0,), np.zeros(1), np.ones(1)))
    return design


def ends(design: Design) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    pairs = np.array([(column.lower, column.upper) for column in design.columns])
    return pairs[:, 0], pairs[:, 1]


def share_outside(
    X: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.asarray(np.mean(np.clip(X, lower, upper) != X, axis=0))


def test_the_grid_has_the_order_of_its_places() -> None:
    near = np.arange(-1000, 1000)
    octaves = np.arange(-2 * BOUNDS.octaves, 2 * BOUNDS.octaves) << 32
    places = np.unique(np.concatenate([near, octaves, octaves + 1, octaves - 1, [BOUNDS.farthest]]))
    values = grid_value(places)
    assert (np.diff(values) > 0).all()
    assert values[-1] == 2.0**BOUNDS.octaves
    one = BOUNDS.octaves << 32
    assert grid_value(np.array([one, one + 1])).tolist() == [1.0, 1.0 + 2.0**-32]


def test_next_to_no_noise_finds_median_and_radius() -> None:
    X = table(SMOOTH)
    plan = plan_of(open_design(X.shape[1]), 1.0)
    fine = tuple(replace(step, price=Price(2**36, 20)) for step in plan.steps)
    lower, upper = ends(found(replace(plan, steps=fine), X))
    median, half = (lower + upper) / 2, (upper - lower) / 2
    # Half widths are 32 / Φ⁻¹(.99) radii of the share .98.
    radius = half / (BOUNDS.half_width / 2.3263478740408408)
    truth = np.quantile(np.abs(X - median), 0.98, axis=0, method="inverted_cdf")
    assert (radius >= truth * (1 - 1e-5)).all()
    assert (radius <= truth * 2**0.25 * (1 + 1e-5)).all()
    below = np.mean(median >= X, axis=0)
    # Of the narrow column far away, one record in twenty lies in the median's cell of the grid.
    assert (np.abs(below - 0.5) <= 0.05).all()
    assert (np.abs(np.delete(below, 2) - 0.5) <= 1 / N).all()


@pytest.mark.parametrize("mu", [0.25, 1.0, 5.0, 25.0])
def test_columns_of_any_location_and_scale(mu: float) -> None:
    """n·μ from 1000 to 100 000 with 8 columns, 5 tables each."""
    X = table(SMOOTH)
    spread, middle = X.std(axis=0), np.median(X, axis=0)
    plan = plan_of(open_design(X.shape[1]), mu)
    for seed in range(5):
        lower, upper = ends(found(plan, X, seed=seed))
        half = (upper - lower) / 2 / spread
        assert (half > 8).all()
        assert (half < 80).all()
        assert (np.abs((lower + upper) / 2 - middle) < spread).all()
        outside = share_outside(X, lower, upper)
        assert outside.max() < 2e-3
        assert np.delete(outside, list(SMOOTH).index("lognormal")).max() == 0


def test_few_records_and_a_small_budget() -> None:
    """n·μ = 500 and 5 columns: the share of the budget rises to 11%, and every column is found."""
    X = table(SMOOTH, 500)[:, :5]
    plan = plan_of(open_design(5), 1.0, 500)
    for seed in range(20):
        lower, upper = ends(found(plan, X, seed=seed))
        half = (upper - lower) / 2 / X.std(axis=0)
        assert ((half > 16) & (half < 80)).all()


@pytest.mark.parametrize("mu", [0.25, 1.0, 5.0, 25.0])
def test_columns_of_few_values_keep_them_apart(mu: float) -> None:
    """No width collapses to the one value most records have, nor drowns the others."""
    X = table(LUMPED)
    plan = plan_of(open_design(X.shape[1]), mu)
    for seed in range(5):
        lower, upper = ends(found(plan, X, seed=seed))
        half = (upper - lower) / 2
        assert ((half > 0.4) & (half < 50)).all()
        outside = share_outside(X, lower, upper)
        assert outside[:-1].max() == 0
        assert outside[-1] < 0.05


@pytest.mark.parametrize("intercept", [True, False])
def test_a_response_is_found_like_a_column(intercept: bool) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(3, 1, (N, 2)), rng.normal(-4e4, 10, N)
    plan = plan_of(open_design(2, Continuous.opened("y"), intercept=intercept), 2.0)
    assert plan.locating is not None
    assert plan.locating.columns == (0, 1, 2 + intercept)
    design = found(plan, X, y)
    response = design.response
    assert isinstance(response, Continuous)
    assert -4e4 - 500 < response.lower < y.min() < y.max() < response.upper < -4e4 + 500
    center = (response.lower + response.upper) / 2 if intercept else 0.0
    assert response.center == center
    assert [column.center == 0 for column in design.columns] == [not intercept] * 2
    assert design.open_places == ()


def test_without_noise_no_record_is_clipped() -> None:
    X = np.column_stack([table(SMOOTH), table(LUMPED)])
    X[7] *= 1e5
    plan = plan_of(open_design(X.shape[1]), 1.0)
    locating = exact_locating(plan.design)
    open_plan = replace(plan, budget=Budget(epsilon=math.inf), steps=(), locating=locating)
    lower, upper = ends(found(open_plan, X))
    assert ((lower <= X) & (upper >= X)).all()
    assert (upper - lower < 5 * np.abs(X - np.median(X, axis=0)).max(axis=0) + 2.001).all()


def test_a_private_number_of_records_is_counted() -> None:
    X = table(SMOOTH)
    plan = plan_of(open_design(X.shape[1]), 2.0, 500, Relation.ADD_REMOVE)
    lower, upper = ends(found(plan, X))
    half = (upper - lower) / 2 / X.std(axis=0)
    assert ((half > 8) & (half < 80)).all()


def test_weights_say_which_records_count() -> None:
    rng = np.random.default_rng(4)
    heavy = rng.random(N) < 0.4
    X = np.where(heavy, rng.normal(10, 1, N), rng.normal(-500, 1, N))[:, None]
    design = replace(open_design(1), attached=AttachedColumns(Weighting("w", 1.0)))
    plan = plan_of(design, 20.0)
    lower, upper = ends(found(plan, X, attached={"w": heavy * 0.5 + 1e-4}))
    assert -60 < lower[0] < 5
    assert 15 < upper[0] < 80


def test_t40_invalid_records_take_no_part() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(1000, 1, (N, 1))
    X[: N // 3] = np.nan
    lower, upper = ends(found(plan_of(open_design(1), 2.0), X))
    assert 940 < lower[0] < 997
    assert 1003 < upper[0] < 1060


def test_t02_one_record_far_away_is_one_record() -> None:
    X = table(SMOOTH)
    plan = plan_of(open_design(X.shape[1]), 1e3)
    far = X.copy()
    far[17] = 1e300
    near = ends(found(plan, X))
    away = ends(found(plan, far))
    np.testing.assert_allclose(away[1] - away[0], near[1] - near[0], rtol=0.2)


def test_the_order_of_the_records_does_not_matter() -> None:
    X = table(SMOOTH)
    plan = plan_of(open_design(X.shape[1]), 1.0)
    assert found(plan, X) == found(plan, X[np.random.default_rng(0).permutation(N)])


class Recorder:
    """A gate that keeps what it was asked, and what it answered."""

    def __init__(self, gate: PlannedGate) -> None:
        self.gate = gate
        self.answers: list[Answer] = []
        self.queries: list[Query] = []

    def ask(self, query: Query) -> Answer:
        self.queries.append(query)
        self.answers.append(self.gate.ask(query))
        return self.answers[-1]


class Replay:
    """A gate without records."""

    def __init__(self, answers: list[Answer]) -> None:
        self.answers = answers
        self.asked = 0

    def ask(self, query: Query) -> Answer:
        assert isinstance(query, ColumnCounts)
        self.asked += 1
        return self.answers[self.asked - 1]


def test_t03_t36_bounds_come_from_the_paid_answers_and_nothing_else() -> None:
    X = np.column_stack([table(SMOOTH), table(LUMPED)])
    plan = plan_of(open_design(X.shape[1]), 1.0)
    store = admit(open_source(X, np.arange(N) % 2), plan.design)
    with Responder(store, private=True, seed=1) as responder:
        recorder = Recorder(PlannedGate(plan, responder))
        design = locate(recorder, plan)
    assert len(recorder.answers) == plan.queries
    assert all(query.size == X.shape[1] for query in recorder.queries)  # type: ignore[union-attr]
    assert locate(Replay(recorder.answers), plan) == design


@settings(max_examples=60)
@given(st.lists(st.floats(-1e300, 1e300), min_size=53, max_size=53), st.floats(0, 1e9))
def test_t40_any_answers_give_usable_bounds_in_as_many_questions(values: list[float], noise: float) -> None:
    plan = plan_of(open_design(1, Continuous.opened("y")), 1.0)
    gate = Replay([Answer(np.array([value, -value]), noise) for value in values])
    design = locate(gate, plan)
    assert gate.asked == plan.queries
    lower, upper = ends(design)
    response = design.response
    assert isinstance(response, Continuous)
    for low, high in ((lower[0], upper[0]), (response.lower, response.upper)):
        assert math.isfinite(high - low)
        assert low < high


def test_only_named_columns_get_bounds() -> None:
    design = matrix_design(["a", "b"], Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True)
    changed = with_bounds(design, (1,), np.array([3.0]), np.array([5.0]))
    assert changed.columns[0] == design.columns[0]
    assert (changed.columns[1].center, changed.columns[1].scale) == (4.0, 1.0)


def test_a_plan_without_open_columns_finds_nothing() -> None:
    plan = replace(plan_of(open_design(1), 1.0), locating=None)
    with pytest.raises(SettingError, match="no bounds"):
        locate(Replay([]), plan)
