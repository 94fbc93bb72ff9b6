"""The simulated gate answers in the plan's order, with the noise of its prices."""

import numpy as np
import pytest

from tacit import LogisticRegression
from tacit.contract.query import GradientSum
from tacit.planning.simulated_gate import SimulatedGate

PLAN = LogisticRegression(epsilon=1.0, bounds=(0, 1), classes=(0, 1), solver="gradient", iterations=400).plan(1000, 2)
ROWS = np.column_stack([np.zeros((10, 2)), np.ones(10)])


def test_noise_has_the_scale_of_the_price_and_does_not_depend_on_the_records_stood_for() -> None:
    # 1200 draws: a ratio of variances outside 0.8 to 1.25 has a probability below 1e-6.
    for records in (10, 1_000_000):
        gate = SimulatedGate(PLAN, ROWS, np.ones(10), np.random.default_rng(1), records)
        answers = [gate.ask(GradientSum(np.zeros(3), 1.0)) for _ in range(400)]
        values = np.array([answer.value for answer in answers])
        ratio = values.var(axis=0).mean() / answers[0].noise_scale ** 2
        assert 0.8 < ratio < 1.25


def test_only_what_was_reserved_is_answered() -> None:
    from tacit.contract.query import SecondMoments

    gate = SimulatedGate(PLAN, ROWS, np.ones(10), None)
    with pytest.raises(AssertionError, match="reserved"):
        gate.ask(SecondMoments(1.0))


@pytest.mark.parametrize("solver", ["output-perturbation", "objective-perturbation"])
def test_minima_without_noise_solve_the_penalised_equations(solver: str) -> None:
    from tacit.planning.forecast import forecast

    plan = LogisticRegression(epsilon=1.0, bounds=(0, 1), classes=(0, 1), solver=solver).plan(5000, 2)
    assert 0 < forecast(plan, runs=5).excess_loss < 0.2
