"""Examples of a network in the engine: a plan is run once, charged first, and never without noise."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.contract.plan import Plan
from tacit.engine.network_examples import NetworkExamples, load_parameters, parameter_vector
from tacit.errors import PlanViolation, SettingError
from tacit.neural import DPTrainer, mlp
from tacit.privacy.budget import Budget

N = 200
INPUTS = np.random.default_rng(0).normal(size=(N, 3)).astype(np.float32)
LABELS = (INPUTS[:, 0] > 0).astype(np.int64)


def plan() -> Plan:
    return DPTrainer(module=mlp(3, 2, (4,)), epsilon=2.0, delta=1e-5, batch_size=50, steps=3).plan(N)


def examples() -> NetworkExamples:
    return NetworkExamples(INPUTS, LABELS, np.ones(N, dtype=np.bool_))


def test_examples_are_used_once() -> None:
    held = examples()
    assert held.records == N
    assert held.run(plan(), seed=None).theta.shape == (4 * 3 + 4 + 8 + 2,)
    with pytest.raises(SettingError, match="used"):
        held.run(plan(), seed=None)


def test_an_infinite_budget_is_refused() -> None:
    with pytest.raises(SettingError, match="torch alone"):
        examples().run(replace(plan(), budget=Budget(epsilon=np.inf)), seed=None)


def test_no_step_beyond_the_plan_is_answered() -> None:
    planned = plan()
    more: Any = replace(planned, solver=replace(planned.solver, steps=4))  # type: ignore[type-var]
    with pytest.raises(PlanViolation, match="used up"):
        examples().run(more, seed=None)


def test_progress_is_told_of_steps() -> None:
    seen: list[tuple[int, int, str]] = []
    examples().run(plan(), seed=None, progress=lambda *told: seen.append(told))
    assert [done for done, _, _ in seen] == [1, 2, 3]


def test_parameters_come_back_as_they_were_set() -> None:
    module = mlp(3, 2, (4,))
    theta = np.arange(parameter_vector(module).size) / 8
    load_parameters(module, theta)
    np.testing.assert_array_equal(parameter_vector(module), theta)
