"""Attacks on the privacy claim, kept as tests: sums, noise and plans hold."""

from __future__ import annotations

import gc
import math
import types
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tacit
from tacit.contract.query import GradientSum, QueryKind, SecondMoments
from tacit.contract.sensitivity import event_of, price_for
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.engine.gate import OpenGate, PlannedGate
from tacit.engine.table import Table
from tacit.errors import PlanViolation, SettingError
from tacit.mechanisms.gradient import answer_gradient, integer_gradient_sum
from tacit.mechanisms.kernels import add_gradients, enforceable, quantise_rows
from tacit.mechanisms.moments import answer_second_moments, integer_second_moments
from tacit.mechanisms.query_responder import Responder
from tacit.noise.entropy import SystemEntropy
from tacit.privacy.relation import Relation
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source
from tacit.rows.storage.tiles import LANES, to_rows
from tests.rows.memory_stores import memory_store

LOGISTIC = ((0, np.zeros(2)), (False, False))
LOGISTIC_MOMENTS = ((0, np.zeros(2), (0.25, 1.0)), (False, False))

# --- sums, noise and plans ----------------------------------------------------------------------


def hostile_row(rng: np.random.Generator, width: int) -> NDArray[np.float64]:
    """A finite row meant to outgrow its bound."""
    makers: list[Callable[[], NDArray[np.float64]]] = [
        lambda: rng.normal(size=width),
        lambda: np.full(width, (0.5 + 2.0**-53) * 10.0 ** rng.integers(-30, 30)),
        lambda: 10.0 ** rng.uniform(-320, 308, width),
        lambda: np.full(width, 10.0 ** rng.uniform(-320, 308)),
        lambda: rng.choice([0.0, -0.0, 5e-324, 2.2e-308, 2.0**-300, 1.0, 1e153, -1.7e308], width),
    ]
    return makers[rng.integers(len(makers))]()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_row_outgrows_its_bound(dtype: Any) -> None:
    """Widths to 1000, bounds from 0, any scale, huge parameters, responses outside {0, 1}."""
    rng = np.random.default_rng(11)
    for _ in range(3000):
        width = int(rng.choice([1, 2, 3, 4, 7, 16, 64, 255, 1000]))
        bound = int(rng.choice([0, 1, math.isqrt(width) + 1, int(2 ** rng.uniform(0, 36)), 2**36]))
        with np.errstate(over="ignore"):
            row = hostile_row(rng, width).astype(dtype)
        row[~np.isfinite(row)] = np.finfo(dtype).max
        tile = np.zeros((1, width + 1, LANES), dtype=dtype)
        lane = int(rng.integers(LANES))
        tile[0, :width, lane] = row
        tile[0, width, lane] = rng.choice([0.0, 1.0, 0.5, 7.0, -3.0, 3e38])
        theta = rng.choice([0.0, 1e100, -1e100, 1.0], width) * rng.normal(size=width)
        limit = enforceable(bound, width)
        scale = float(rng.choice([0.0, math.inf, math.nan, 1e308, limit * 10 ** rng.uniform(-99, 99)]))
        total = np.zeros(width, dtype=np.int64)
        add_gradients(
            tile,
            theta,
            *LOGISTIC,
            (scale, limit, float(np.divide(limit, scale or 1.0)) if rng.random() < 0.5 else np.inf),
            total,
        )
        assert sum(int(q) ** 2 for q in total) <= bound**2
        out = np.full((width, LANES), 7.0)
        room = enforceable(math.isqrt(bound), width)
        row_bound = float(10.0 ** rng.uniform(-100, 100))
        quantise_rows(tile, theta, int(rng.integers(3)), *LOGISTIC_MOMENTS, (row_bound, room), out)
        assert sum(int(v) ** 2 for v in out[:, lane]) <= bound
        assert not np.delete(out, lane, axis=1).any()


@pytest.mark.parametrize("scale", [0.0, 1e308, math.inf, math.nan])
@pytest.mark.parametrize("downweighted", [False, True])
def test_zero_rows_add_nothing_whatever_the_scale(scale: float, downweighted: bool) -> None:
    total = np.zeros(4, dtype=np.int64)
    tiles = np.zeros((3, 5, LANES), dtype=np.float32)
    add_gradients(
        tiles,
        np.full(4, 1e100),
        *LOGISTIC,
        (scale, enforceable(2**36, 4), enforceable(2**36, 4) / (scale or 1.0) if downweighted else np.inf),
        total,
    )
    assert not total.any()


@pytest.mark.parametrize("width", [1, 3, 4, 13])
def test_sums_do_not_depend_on_place_block_threads_or_padding(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(width)
    count = 777
    table = rng.normal(size=(count, width)) * 10.0 ** rng.uniform(-3, 3, (count, 1))
    table[::7] *= 1e300
    table[9] = np.nan
    labels = (rng.random(count) < 0.5).astype(int)
    names = [f"x{j}" for j in range(width)]
    design = matrix_design(names, Binary("y", (0, 1)), bounds=(-2, 3), row_norm=None, intercept=True)
    store = admit(open_source(table, labels), design, invalid_rows="zero")
    rows = to_rows(store.block(0), count)
    fortran = admit(open_source(np.asfortranarray(table), labels), design, invalid_rows="zero")
    assert np.array_equal(to_rows(fortran.block(0), count), rows)
    matrix = rng.normal(size=(width + 1, width + 1)) * 10.0 ** rng.uniform(-15, 14)
    gradient = GradientSum(rng.normal(size=width + 1) * 1e50, 1.3, matrix)
    moments = SecondMoments(0.7, matrix)

    def sums(records: NDArray[Any], block_rows: int) -> tuple[NDArray[np.int64], ...]:
        placed = memory_store(records, block_rows=block_rows)
        mapped = placed.map(matrix)
        return (integer_gradient_sum(gradient, 2**30, mapped), integer_second_moments(moments, 2**34, placed))

    reference = sums(rows, 1024)
    padded = np.zeros((count + 200, width + 2), dtype=rows.dtype)
    padded[np.sort(rng.choice(len(padded), count, replace=False))] = rows
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("TACIT_THREADS", threads)
        for records in (rows[rng.permutation(count)], padded):
            for block_rows in (64, 320):
                for got, expected in zip(sums(records, block_rows), reference, strict=True):
                    assert np.array_equal(got, expected)


SHARED = [[0.3, 0.1, 1.0, 0.0], [-0.2, 0.5, 1.0, 1.0]]
PAIRS = [
    ("flip", QueryKind.GRADIENT, Relation.REPLACE_ONE, [1, 1, 1, 0], [1, 1, 1, 1]),
    ("huge", QueryKind.GRADIENT, Relation.REPLACE_ONE, [1e150, -1e150, 1, 0], [-1e150, 1e150, 1, 0]),
    ("zero", QueryKind.GRADIENT, Relation.ZERO_OUT, [1, 1, 1, 0], [0, 0, 0, 0]),
    ("add", QueryKind.GRADIENT, Relation.ADD_REMOVE, [1, 1, 1, 0], None),
    ("axes", QueryKind.SECOND_MOMENTS, Relation.REPLACE_ONE, [1, 0, 0, 0], [0, 1, 0, 0]),
    ("diagonals", QueryKind.SECOND_MOMENTS, Relation.REPLACE_ONE, [1, 1, 0, 0], [1, -1, 0, 0]),
    ("zero", QueryKind.SECOND_MOMENTS, Relation.ZERO_OUT, [1, 0, 0, 0], [0, 0, 0, 0]),
    ("add", QueryKind.SECOND_MOMENTS, Relation.ADD_REMOVE, [1, 1, 1, 0], None),
]


@pytest.mark.parametrize(("name", "kind", "relation", "one", "other"), PAIRS)
def test_worst_pairs_are_told_apart_as_well_as_claimed_and_no_better(
    name: str, kind: QueryKind, relation: Relation, one: list[float], other: list[float] | None
) -> None:
    """The likelihood-ratio statistic has shift μ: measured within five standard errors of it."""
    draws = 3000
    price = price_for(kind, Fraction(1), relation, records=1000, width=3)
    answer: Any = answer_gradient if kind is QueryKind.GRADIENT else answer_second_moments
    query = GradientSum(np.zeros(3), 1e-3) if kind is QueryKind.GRADIENT else SecondMoments(1e-3)
    stores = [memory_store(np.array([*SHARED, *([row] if row else [])], dtype=float)) for row in (one, other)]
    exact = [answer(query, price, store, None).value for store in stores]
    samples = [
        np.array(
            [np.vdot(answer(query, price, store, SystemEntropy()).value, exact[0] - exact[1]) for _ in range(draws)]
        )
        for store in stores
    ]
    spread = math.sqrt((samples[0].var() + samples[1].var()) / 2)
    measured = (samples[0].mean() - samples[1].mean()) / spread
    claimed = math.sqrt(event_of(kind, price, relation).mu_squared)
    assert abs(measured - claimed) < 5 * math.sqrt(2 / draws), name


def test_a_private_plan_gets_no_free_answers() -> None:
    plan = tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 1), iterations=3).plan(1000, 3)
    responder = Responder(memory_store(np.ones((5, 5))), private=True, seed=None)
    with pytest.raises(PlanViolation):
        OpenGate(plan, responder)
    gate = PlannedGate(plan, responder)
    looks = plan.steps[0].times
    for _ in range(looks):  # refused queries use their turn up
        with pytest.raises(SettingError):
            gate.ask(SecondMoments(1.0, np.full((4, 4), 1e50)))
    for _ in range(3):
        gate.ask(GradientSum(np.zeros(4), 1.0))
    with pytest.raises(PlanViolation):
        gate.ask(GradientSum(np.zeros(4), 1.0))


def test_a_table_is_run_once() -> None:
    table = Table(np.zeros((50, 1)), [0, 1] * 25)
    design = matrix_design(table.names, Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True)
    plan = tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 1)).plan(50, 1)
    table.admit(design, invalid_rows="error", exact=False)
    table.run(plan, seed=None)
    with pytest.raises(SettingError):
        table.run(plan, seed=None)


def reachable(start: object) -> list[object]:
    """Everything an object keeps alive, modules and code left aside."""
    seen: dict[int, object] = {}
    stack = [start]
    while stack:
        item = stack.pop()
        if id(item) in seen or isinstance(item, type | types.ModuleType | types.FunctionType):
            continue
        seen[id(item)] = item
        if isinstance(item, np.ndarray) and item.base is not None:
            stack.append(item.base)
        stack.extend(gc.get_referents(item))
    return list(seen.values())


@pytest.mark.parametrize("relation", list(Relation))
def test_a_fitted_model_keeps_neither_rows_nor_a_private_count(relation: Relation) -> None:
    rng = np.random.default_rng(0)
    count = 3001
    model = tacit.LogisticRegression(
        epsilon=1.0, bounds=(-1, 1), relation=relation.value, n_at_least=None if relation.n_is_public else 1000
    ).fit(rng.uniform(-1, 1, (count, 3)), rng.random(count) < 0.5)
    kept = reachable(model)
    assert all(item.size < 100 for item in kept if isinstance(item, np.ndarray))
    if not relation.n_is_public:
        # Rows are padded to 3008; blocks and tiles would show as these.
        assert not {3000, 3001, 3008, 47} & {item for item in kept if type(item) is int}
        assert "3001" not in model.certificate_.to_json()
