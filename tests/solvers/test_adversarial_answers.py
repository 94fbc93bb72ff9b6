"""Attacks on fits with intervals, kept as tests: no answer changes the questions.

A gate gives answers that no records give: zeros, noise alone, the ends of 64-bit sums. The solver
must ask all that was reserved, in its order, and nothing that would be refused after it was paid.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tacit
from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.plan import Plan
from tacit.contract.query import KIND_OF, Answer, ColumnCounts, CurvatureAndScore, GradientSum, Query, SecondMoments
from tacit.contract.release import Release
from tacit.inference.results import Results
from tacit.mechanisms.kernels import enforceable
from tacit.mechanisms.moments import pair_limit
from tacit.rows.storage.tiles import public_matrix
from tacit.solvers.counting import count_records
from tacit.solvers.locating import locate

MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "labels": (tacit.LogisticRegression, {}),
    "numbers": (tacit.LinearRegression, {"y_bounds": (-5, 5)}),
    "robust": (tacit.HuberRegressor, {"y_bounds": (-5, 5)}),
    "counts": (tacit.PoissonRegressor, {"y_max": 50}),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "zero-out": {"relation": "zero-out", "max_weight": 2.0},
    "short rows": {"row_norm": 1.0, "fit_intercept": False},
    "persons": {"relation": "add-remove", "max_rows_per_unit": 3},
    "private bounds": {"bounds": "private"},
}
ANSWERS = ("noise", "zero", "far", "wrapped", "all", "none", "any size", "one is wrapped", "mixed")


class StrangeGate:
    """Answers what it is asked with integers that have nothing to do with records."""

    def __init__(self, plan: Plan, kind: str, seed: int) -> None:
        self.plan, self.kind, self.rng = plan, kind, np.random.default_rng(seed)
        self.schedule = [step for step in plan.steps for _ in range(step.times)]
        self.asked: list[tuple[str, Any]] = []
        self.settled: bytes | None = None

    def ask(self, query: Query) -> Answer:
        step = self.schedule[len(self.asked)]
        assert KIND_OF[type(query)] is step.kind
        assert getattr(query, "size", 1) == step.size
        self.asked.append((str(step.kind), step.price))
        self.require_answerable(query)
        shape, unit = self.shape_and_unit(query, step.price.bound)  # type: ignore[union-attr]
        noise = 2.0**step.price.bits  # type: ignore[union-attr]
        integers = self.integers(shape, noise, float(step.price.bound))  # type: ignore[union-attr]
        if len(shape) > 1:
            integers = (integers + integers.swapaxes(-1, -2)) / 2
        return Answer(integers / unit, noise / unit)

    def require_answerable(self, query: Any) -> None:
        """As the responder does."""
        width = self.plan.design.width
        if isinstance(query, ColumnCounts):
            assert self.settled is None
            return
        if query.matrix is not None:
            public_matrix(query.matrix, width)
        assert query.theta is None or query.theta.shape == (width,)
        asked = None if query.matrix is None else query.matrix.tobytes()
        if not isinstance(query, SecondMoments):
            self.settled = self.settled or asked
        assert asked == self.settled or isinstance(query, SecondMoments)

    def shape_and_unit(self, query: Any, bound: int) -> tuple[tuple[int, ...], float]:
        width, rows = self.plan.design.width, self.plan.design.unit_rows
        match query:
            case GradientSum():
                return (width,), enforceable(bound, width) / query.clip
            case SecondMoments():
                limit = enforceable(math.isqrt(bound), width * rows)
                return (width, width), (limit / query.row_bound) ** 2
            case CurvatureAndScore():
                limit = pair_limit(bound, query.joint, width * rows)
                return (2, width, width), (limit / query.row_bound) ** 2
        return (getattr(query, "size", 1),), float(bound)

    def integers(self, shape: tuple[int, ...], noise: float, bound: float) -> NDArray[np.float64]:
        rng, kind = self.rng, self.kind
        if kind == "mixed":
            kind = str(rng.choice(ANSWERS[:-1]))
        if kind == "one is wrapped":
            kind = "wrapped" if rng.random() < 0.1 else "noise"
        everyone = np.full(shape, bound * self.plan.records)
        return np.asarray(
            {
                "noise": noise * rng.normal(size=shape),
                "zero": np.zeros(shape),
                "far": 1e6 * noise * rng.normal(size=shape),
                "wrapped": rng.uniform(-(2.0**63), 2.0**63, shape),
                "all": everyone,
                "none": -everyone,
                "any size": rng.choice([-1, 1], shape) * 2.0 ** rng.uniform(0, 62, shape),
            }[kind]
        )


def plan_of(model: str, records: int, columns: int, **settings: Any) -> Plan:
    make, facts = MODELS[model]
    if settings.get("relation") == "add-remove":
        settings["n_at_least"] = records
    settings = {"epsilon": 1.0, "delta": 1e-6, "bounds": (-1, 1), **facts, **settings}
    plan: Plan = make(inference=True, **settings).plan(records, columns)
    return plan


def questions(plan: Plan, kind: str, seed: int) -> list[tuple[str, Any]]:
    """What a solver asks at such answers; its result must be finite, and all of it readable."""
    gate = StrangeGate(plan, kind, seed)
    if plan.locating is not None:
        plan = gate.plan = replace(plan, design=locate(gate, plan))
    if plan.counting:
        plan = count_records(gate, plan)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = plan.solver.run(gate, plan)
        assert np.isfinite(found.theta).all()
        results = Results(Release(plan, found.theta, reproducible=False, sandwich=found.sandwich))
        if results.offered:
            assert str(results.summary())
            assert not np.isnan(results.cov_params()).any()
    return gate.asked


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("model", MODELS)
def test_no_answer_changes_the_questions(model: str, settings: str) -> None:
    """Nine kinds of answers, twice, for a weak and a strong signal."""
    for records, epsilon in ((300, 0.1), (20_000, 3.0)):
        plan = plan_of(model, records, 3, **{"epsilon": epsilon, **SETTINGS[settings]})
        planned = [(str(step.kind), step.price) for step in plan.steps for _ in range(step.times)]
        for seed, kind in enumerate(2 * ANSWERS):
            assert questions(plan, kind, seed) == planned, (records, kind)


FACTORS = {"gradient": 4, "second-moments": 2, "sandwich": 2, "counts": 1}


@pytest.mark.parametrize("relation", ["replace-one", "zero-out", "add-remove"])
@pytest.mark.parametrize("model", MODELS)
def test_the_steps_cost_no_more_than_the_budget_and_hardly_less(model: str, relation: str) -> None:
    """In rationals, summed here by the table of sensitivities; low signals and high ones."""
    grid = (
        (epsilon, records, columns, more)
        for epsilon in (0.01, 0.3, 3.0, 30.0)
        for records in (30, 300, 3000, 1_000_000)
        for columns in (1, 12)
        for more in ({}, {"max_weight": 2.0}, {"fit_intercept": False, "iterations": 5})
    )
    for epsilon, records, columns, more in grid:
        plan = plan_of(model, records, columns, epsilon=epsilon, relation=relation, **dict(more))
        spent = Fraction(0)
        for step in plan.steps:
            factor = FACTORS[str(step.kind)] if relation == "replace-one" else 1
            price: Any = step.price
            once = Fraction(factor * step.size * price.bound**2, 4**price.bits)
            spent += once * step.times
        assert spent == compose(plan.events(), plan.relation).square
        allowed = mu_squared_of(plan.budget)
        assert allowed * Fraction(99, 100) < spent <= allowed, (epsilon, records, columns, more)
