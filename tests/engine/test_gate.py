"""The gates: a solver gets the plan's answers in the plan's order, and nothing else."""

import copy
import os
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tacit.contract.plan import Penalty, Plan
from tacit.contract.query import Answer, GradientSum, Query, SecondMoments
from tacit.contract.sensitivity import AnyPrice
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.engine.gate import OpenGate, PlannedGate
from tacit.errors import PlanViolation
from tacit.mechanisms.query_responder import Responder
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.solver import PublicFacts, SolverOptions
from tests.rows.memory_stores import memory_store

WIDTH = 3
GRADIENT = GradientSum(np.zeros(WIDTH), 1.0)
MOMENTS = SecondMoments(2.0)


def plan(epsilon: float = 1.0, **wishes: Any) -> Plan:
    design = matrix_design(["a", "b"], Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True)
    budget = Budget(epsilon=epsilon, delta=1e-6)
    facts = PublicFacts(design, 128, Relation.REPLACE_ONE, "row", budget, Penalty())
    return make_plan(facts, SolverOptions(**wishes))


class Recorder(Responder):
    """A responder that remembers what it was asked."""

    def __init__(self, private: bool = True) -> None:
        rows = np.random.default_rng(0).uniform(-1, 1, (128, WIDTH + 1))
        rows[:, -1] = rows[:, -1] > 0
        super().__init__(memory_store(rows), private=private, seed=0)
        self.asked: list[tuple[Query, AnyPrice]] = []

    def answer(self, query: Query, price: AnyPrice) -> Answer:
        self.asked.append((query, price))
        return super().answer(query, price)


def test_the_whole_plan_is_answered_at_its_prices() -> None:
    chosen = plan(iterations=4)
    recorder = Recorder()
    gate = PlannedGate(chosen, recorder)
    looks = chosen.steps[0].times
    for query in [MOMENTS] * looks + [GRADIENT] * 4:
        gate.ask(query)
    expected = [step.price for step in chosen.steps for _ in range(step.times)]
    assert [price for _, price in recorder.asked] == expected


def test_a_query_beyond_the_plan_is_refused_before_a_record_is_touched() -> None:
    recorder = Recorder()
    gate = PlannedGate(plan(solver="gradient", iterations=3), recorder)
    for _ in range(3):
        gate.ask(GRADIENT)
    for _ in range(2):
        with pytest.raises(PlanViolation, match="used up"):
            gate.ask(GRADIENT)
    assert len(recorder.asked) == 3


@pytest.mark.parametrize(
    ("wishes", "query", "words"),
    [
        ({"solver": "gradient"}, MOMENTS, "reserved gradient at this point"),
        ({}, GRADIENT, "reserved second-moments at this point"),
    ],
)
def test_another_kind_is_refused_before_a_record_is_touched(wishes: dict[str, Any], query: Query, words: str) -> None:
    recorder = Recorder()
    gate = PlannedGate(plan(**wishes), recorder)
    with pytest.raises(PlanViolation, match=words):
        gate.ask(query)
    assert recorder.asked == []


def test_a_query_is_known_by_its_exact_type() -> None:
    """A subclass could answer differently each time it is looked at: it is no query."""

    class Disguised(SecondMoments):
        kind = "gradient"

    recorder = Recorder()
    gate = PlannedGate(plan(), recorder)
    with pytest.raises(PlanViolation):
        gate.ask(Disguised(2.0))
    assert recorder.asked == []


def test_a_refused_query_does_not_use_up_a_step() -> None:
    recorder = Recorder()
    gate = PlannedGate(plan(solver="gradient", iterations=1), recorder)
    with pytest.raises(PlanViolation):
        gate.ask(MOMENTS)
    gate.ask(GRADIENT)
    with pytest.raises(PlanViolation):
        gate.ask(GRADIENT)


def test_an_answer_that_failed_is_spent() -> None:
    """What a mechanism may have begun cannot be asked for again at the same price."""

    class Failing(Recorder):
        def answer(self, query: Query, price: AnyPrice) -> Answer:
            super().answer(query, price)
            raise OSError("The disk is gone.")

    gate = PlannedGate(plan(solver="gradient", iterations=1), Failing())
    with pytest.raises(OSError, match="disk"):
        gate.ask(GRADIENT)
    with pytest.raises(PlanViolation, match="used up"):
        gate.ask(GRADIENT)


def test_a_plan_without_steps_answers_nothing() -> None:
    with pytest.raises(PlanViolation):
        PlannedGate(plan(np.inf), Recorder()).ask(GRADIENT)


def test_progress_is_told_after_each_answer() -> None:
    told: list[tuple[int, int, str]] = []
    chosen = plan(solver="gradient", iterations=2)
    gate = PlannedGate(chosen, Recorder(), lambda *facts: told.append(facts))
    gate.ask(GRADIENT)
    gate.ask(GRADIENT)
    assert told == [(1, 2, "gradient descent"), (2, 2, "gradient descent")]


def test_the_open_gate_refuses_private_plans() -> None:
    with pytest.raises(PlanViolation, match="private plan"):
        OpenGate(plan(), Recorder())


@pytest.mark.parametrize(
    ("query", "truth"),
    [
        (
            GradientSum(np.array([0.3, -0.2, 0.1]), 10.0),
            lambda Z, y: Z.T @ (1 / (1 + np.exp(-Z @ [0.3, -0.2, 0.1])) - y),
        ),
        (SecondMoments(10.0), lambda Z, y: Z.T @ Z),
    ],
    ids=["gradient", "second-moments"],
)
def test_the_open_gate_answers_without_noise(query: Query, truth: Callable[..., Any]) -> None:
    rows = np.random.default_rng(0).uniform(-1, 1, (128, WIDTH + 1))
    y = rows[:, -1] > 0
    gate = OpenGate(plan(np.inf), Recorder(private=False))
    answers = [gate.ask(query) for _ in range(2)]
    assert answers[0].noise_scale == 0.0
    np.testing.assert_array_equal(answers[0].value, answers[1].value)
    # The lattice of second moments is the square of one of 2^18 steps.
    np.testing.assert_allclose(answers[0].value, truth(rows[:, :-1], y), rtol=0, atol=0.02)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_gate_cannot_be_copied(copied: Callable[[Any], Any]) -> None:
    """A copy would have a count of its own, and answer free of charge."""
    with pytest.raises(PlanViolation, match="copied"):
        copied(PlannedGate(plan(solver="gradient", iterations=1), Recorder()))


def test_a_gate_does_not_answer_in_a_fork() -> None:
    gate = PlannedGate(plan(solver="gradient", iterations=1), Recorder())
    child = os.fork()
    if child == 0:  # the exit status says whether the fork was refused
        try:
            gate.ask(GRADIENT)
        except PlanViolation:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    gate.ask(GRADIENT)


def test_a_gate_answers_one_query_at_a_time() -> None:
    """What is asked while an answer is computed is refused, and costs the plan nothing."""
    recorder = Recorder()
    gate = PlannedGate(plan(solver="gradient", iterations=2), recorder)
    inner = recorder.answer

    def asking(query: Query, price: AnyPrice) -> Answer:
        with pytest.raises(PlanViolation, match="one query at a time"):
            gate.ask(query)
        return inner(query, price)

    recorder.answer = asking  # type: ignore[method-assign]
    gate.ask(GRADIENT)
    gate.ask(GRADIENT)
    assert len(recorder.asked) == 2
