"""Plenty of budget comes in without a jump, from public facts, and leaves small signals and large tables alone."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import pytest

import tacit
from tacit.contract.plan import Plan
from tacit.contract.purpose import Purpose
from tacit.contract.sensitivity import event_of
from tacit.losses import classification, poisson, regression
from tacit.solvers.interval_rules import GROUPS, ONE_STEP
from tacit.solvers.one_step import near_steps
from tacit.solvers.plenty_rules import PLENTY, grown, plenty_at, plenty_of
from tacit.solvers.rules import TABLES

FEW_CELLS = 80_000.0
MODELS: dict[str, Any] = {
    "binomial": tacit.LogisticRegression,
    "gaussian": tacit.LinearRegression,
    "poisson": tacit.PoissonRegressor,
}


@cache
def planned(family: str, epsilon: float, n: int = 20_000) -> Plan:
    every: dict[str, dict[str, Any]] = {"binomial": {}, "gaussian": {"y_bounds": (0, 60)}, "poisson": {"y_max": 60}}
    ends = every[family]
    plan: Plan = MODELS[family](epsilon=epsilon, bounds=(-6, 6), inference=True, **ends).plan(n, 3)
    return plan


def share(plan: Plan, purpose: Purpose) -> float:
    costs = {
        place: step.times * event_of(step.kind, step.price, plan.relation, step.size).mu_squared
        for place, step in enumerate(plan.steps)
        if step.price is not None
    }
    return float(sum(costs[place] for place in costs if plan.steps[place].purpose is purpose) / sum(costs.values()))


def test_the_rules_are_among_all_groups() -> None:
    assert PLENTY in GROUPS


def test_it_begins_beyond_epsilon_3_at_20000_records_and_is_whole_at_50() -> None:
    for family in MODELS:
        assert plenty_at(planned(family, 3.0)) == 0.0
        assert 0.0 < plenty_at(planned(family, 10.0)) < plenty_at(planned(family, 20.0)) < 1.0
        assert plenty_at(planned(family, 50.0)) == 1.0


def test_it_needs_records_and_signal_both() -> None:
    low, high = PLENTY.records
    assert plenty_of(low, 1e9, FEW_CELLS) == 0.0
    assert plenty_of(1e9, PLENTY.signal[0], FEW_CELLS) == 0.0
    assert plenty_of(high, PLENTY.signal[1], FEW_CELLS) == 1.0
    assert plenty_of(math.sqrt(low * high), 1e9, FEW_CELLS) == pytest.approx(0.5)


def test_tables_whose_passes_are_capped_have_none() -> None:
    assert plenty_of(1e9, 1e9, TABLES.large) == 0.0


def test_factors_come_in_without_a_jump() -> None:
    assert grown(3.0, 0.0) == 1.0
    assert grown(3.0, 1.0) == 3.0
    assert grown(4.0, 0.5) == pytest.approx(2.0)


def test_there_are_more_steps_before_the_last_and_as_before_without_plenty() -> None:
    assert near_steps(classification.LOGISTIC, 0.0) == (ONE_STEP.near, 1)
    assert near_steps(classification.LOGISTIC, 1.0) == (PLENTY.near, PLENTY.steps)
    assert near_steps(poisson.loss(1.0, 3.0), 1.0) == (PLENTY.near, PLENTY.steps)
    assert near_steps(regression.SQUARED, 0.0)[1] == 0
    assert near_steps(regression.SQUARED, 1.0) == (PLENTY.near, PLENTY.straight)
    assert near_steps(regression.huber(1.0), 1.0)[1] == 0


@pytest.mark.parametrize("family", list(MODELS))
def test_most_goes_to_the_last_gradient_and_nothing_beyond_the_budget(family: str) -> None:
    little, much = planned(family, 3.0), planned(family, 50.0)
    assert share(much, Purpose.LAST_STEP) > 0.6 > share(little, Purpose.LAST_STEP)
    assert share(much, Purpose.DESCENT) < 0.06
    assert much.strength is not None
