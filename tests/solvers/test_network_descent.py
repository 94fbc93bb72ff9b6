"""Descent of a network: the updates of torch's optimisers, on answers that are scripted."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from tacit.contract.network_query import BLOCK, Network
from tacit.contract.query import Answer
from tacit.solvers.network_descent import NetworkDescent, NetworkState

STEPS, COUNT = 12, 50.0
ANSWERS = np.random.default_rng(1).normal(size=(STEPS, 4)) * COUNT


class Script:
    """A gate that has its answers."""

    def __init__(self, first: int = 0) -> None:
        self.asked = first
        self.seen: list[np.ndarray] = []

    def ask(self, query: Any) -> Answer:
        self.seen.append(query.theta)
        self.asked += 1
        return Answer(ANSWERS[self.asked - 1], 1.0)


class Counted:
    count = COUNT


def solver(**settings: Any) -> NetworkDescent:
    start = NetworkState.at(np.arange(4.0))
    return NetworkDescent(Network(None, None, ""), start, STEPS, 1.0, 0.1, BLOCK, BLOCK, **settings)


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_steps_are_those_of_torch(optimiser: str) -> None:
    settings: dict[str, Any] = {"optimiser": optimiser, "momentum": 0.8, "weights": "last"}
    found = solver(**settings).run(Script(), Counted()).theta  # type: ignore[arg-type]
    theta = torch.arange(4.0, dtype=torch.float64).requires_grad_()
    twin: torch.optim.Optimizer = (
        torch.optim.SGD([theta], 0.1, momentum=0.8)
        if optimiser == "sgd"
        else torch.optim.Adam([theta], 0.1, betas=(0.8, 0.999), eps=1e-8)
    )
    for answer in ANSWERS:
        theta.grad = torch.from_numpy(answer / COUNT)
        twin.step()
    np.testing.assert_allclose(found, theta.detach().numpy(), rtol=1e-9)


def test_averages_are_of_the_last_steps() -> None:
    gate = Script()
    states: list[NetworkState] = []
    found = solver(tail=0.25, observer=states.append).run(gate, Counted()).theta  # type: ignore[arg-type]
    np.testing.assert_allclose(found, sum(state.theta for state in states[-3:]) / np.float64(3))
    assert [state.done for state in states] == list(range(1, STEPS + 1))
    np.testing.assert_array_equal(states[0].average, states[0].theta)


@pytest.mark.parametrize("schedule", ["constant", "linear", "cosine"])
def test_a_run_in_parts_is_the_run_as_a_whole(schedule: str) -> None:
    whole = solver(schedule=schedule)
    states: list[NetworkState] = []
    begun: list[int] = []
    first = replace(whole, stop=5, observer=states.append, before_step=begun.append)
    first.run(Script(), Counted())  # type: ignore[arg-type]
    second = replace(whole, start=states[-1], before_step=begun.append)
    parts = second.run(Script(5), Counted()).theta  # type: ignore[arg-type]
    np.testing.assert_array_equal(parts, whole.run(Script(), Counted()).theta)  # type: ignore[arg-type]
    assert begun == list(range(1, STEPS + 1))


def test_schedules_fall_to_zero() -> None:
    for schedule, last in (("constant", 1.0), ("linear", 1 / STEPS), ("cosine", 0.017)):
        paces = [solver(schedule=schedule)._pace(step) for step in range(STEPS)]
        assert paces[0] == 1.0
        assert paces[-1] == pytest.approx(last, rel=0.02)
