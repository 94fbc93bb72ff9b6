"""The loop of noisy steps: momentum, averages, and bounds on iterates."""

import numpy as np
import pytest

from tacit.solvers.noisy_steps import FARTHEST, first_averaged, take_steps


def test_iterates_follow_the_recursion_with_momentum() -> None:
    seen = []

    def step(number: int, ahead: np.ndarray) -> np.ndarray:
        seen.append((number, float(ahead[0])))
        return 0.5 * ahead

    found = take_steps(np.array([1.0]), 3, step, momentum=0.5, first=2)
    # θ: 1, 0.5; φ = 0.5 + 0.5·(0.5 - 1) = 0.25, θ = 0.125; φ = 0.125 + 0.5·(0.125 - 0.5)
    assert seen == [(0, 1.0), (1, 0.25), (2, -0.0625)]
    assert found.tolist() == [-0.03125]


@pytest.mark.parametrize(("first", "mean"), [(0, 2.5), (2, 3.5), (3, 4.0)])
def test_the_result_is_the_mean_of_the_last_iterates(first: int, mean: float) -> None:
    found = take_steps(np.zeros(1), 4, lambda _, theta: theta + 1.0, first=first)
    assert found.tolist() == [mean]


def test_iterates_stay_within_what_a_query_takes() -> None:
    found = take_steps(np.ones(2), 9, lambda _, theta: -theta * 1e40, first=0)
    assert np.abs(found).max() <= FARTHEST


def test_outputs_name_their_iterates() -> None:
    assert [first_averaged(10, output, 0.5) for output in ("average", "tail", "last")] == [0, 5, 9]
    assert [first_averaged(1, output, 0.5) for output in ("average", "tail", "last")] == [0, 0, 0]
