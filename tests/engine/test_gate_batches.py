"""A step over batches is answered as it was planned: by its own query, once, and never as a full sum."""

import numpy as np
import pytest

from tacit.contract.query import BatchGradientSum, GradientSum, SecondMoments
from tacit.engine.gate import OpenGate, PlannedGate
from tacit.errors import PlanViolation, SettingError
from tacit.mechanisms.query_responder import Responder
from tacit.privacy.budget import Budget
from tacit.solvers.choice import make_plan
from tacit.solvers.solver import SolverOptions
from tests.rows.memory_stores import memory_store
from tests.solvers.batch_facts import facts

WIDTH = 3
BATCH, FULL = BatchGradientSum(np.zeros(WIDTH), 1.0), GradientSum(np.zeros(WIDTH), 1.0)


def responder(*, private: bool = True) -> Responder:
    rows = np.random.default_rng(0).uniform(-1, 1, (500, WIDTH + 1))
    rows[:, -1] = rows[:, -1] > 0
    return Responder(memory_store(rows), private=private, seed=0)


def test_no_other_query_is_answered_and_none_beyond_the_plan() -> None:
    known = facts(n=500, d=WIDTH - 1)
    own = make_plan(known, SolverOptions("stochastic", iterations=3, clip=1.0))
    gate = PlannedGate(own, responder())
    for query in (FULL, SecondMoments(2.0)):
        with pytest.raises(PlanViolation, match="batch-gradient"):
            gate.ask(query)
    for _ in range(3):
        gate.ask(BATCH)
    with pytest.raises(PlanViolation, match="used up"):
        gate.ask(BATCH)


def test_a_batch_is_not_answered_at_a_full_step() -> None:
    plan = make_plan(facts(n=500, d=WIDTH - 1), SolverOptions("gradient", iterations=3))
    with pytest.raises(PlanViolation, match="reserved gradient"):
        PlannedGate(plan, responder()).ask(BATCH)


def test_without_noise_there_are_no_batches() -> None:
    plan = make_plan(facts(n=500, d=WIDTH - 1, budget=Budget(epsilon=np.inf)), SolverOptions("stochastic"))
    with pytest.raises(SettingError, match="of its own kind"):
        OpenGate(plan, responder(private=False)).ask(BATCH)


def test_t32_two_answers_have_two_batches() -> None:
    """At rate 1/2 over 500 records, equal batches have probability 2^-500; noise is far below a record."""
    known = facts(n=500, d=WIDTH - 1, budget=Budget(epsilon=1e4, delta=1e-6))
    plan = make_plan(known, SolverOptions("stochastic", iterations=8, clip=1.0, sample_rate=0.5))
    gate = PlannedGate(plan, responder())
    answers = [gate.ask(BATCH) for _ in range(8)]
    gaps = [np.abs(one.value - two.value).max() for k, one in enumerate(answers) for two in answers[:k]]
    assert min(gaps) > 0
    assert max(gaps) > 5 * answers[0].noise_scale
