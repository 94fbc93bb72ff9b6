"""The last step from given answers: where it goes, what it leaves, what is released of it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.contract.plan import Plan
from tacit.contract.query import Answer, CurvatureAndScore, GradientSum, Query
from tacit.losses.loss import Code
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.interval_rules import ONE_STEP
from tacit.solvers.last_step import Pilot, label_clip, take_step, tolerated_noise

N = 20_000
PLAIN = Coordinates(None, 4.0)


@cache
def planned(epsilon: float = 1.0) -> Plan:
    model = tacit.LogisticRegression(epsilon=epsilon, bounds=(-1, 1), inference=True)
    plan: Plan = model.plan(N, 3)
    return plan


class Given:
    """Answers with a mean gradient and a mean curvature that are written down."""

    def __init__(self, gradient: Any, curvature: Any, noise: float) -> None:
        self._gradient, self._curvature, self._noise = gradient, curvature, noise
        self.asked: list[Query] = []

    def ask(self, query: Query) -> Answer:
        self.asked.append(query)
        if isinstance(query, GradientSum):
            return Answer(N * np.asarray(self._gradient), N * 1e-6)
        assert isinstance(query, CurvatureAndScore)
        bound = query.loss.smoothness
        both = np.stack([N * self._curvature / bound, N * np.eye(4) / 5])
        return Answer(both, N * self._noise / bound)


def step_of(gradient: Any, values: Any, noise: float = 1e-6, pilot: Pilot | None = None) -> tuple[Any, Any, Given]:
    gate = Given(gradient, np.diag(np.asarray(values, dtype=float)), noise)
    start = pilot or Pilot(np.full(4, 0.1), np.zeros(4), planned().loss, share=0.5)
    return *take_step(gate, planned(), PLAIN, start, 2.0, None), gate


def test_it_is_one_newton_step_from_the_pilot() -> None:
    gradient, values = np.array([0.01, -0.02, 0.0, 0.03]), np.array([0.1, 0.2, 0.25, 0.15])
    theta, sandwich, gate = step_of(gradient, values)
    np.testing.assert_allclose(theta, 0.1 - gradient / values)
    np.testing.assert_allclose(sandwich.step, gradient / values)
    assert [type(query) for query in gate.asked] == [GradientSum, CurvatureAndScore]
    assert (sandwich.lifted, sandwich.capped) == (False, False)
    np.testing.assert_allclose(np.diagonal(sandwich.curvature), values)
    assert sandwich.step_noise == pytest.approx(1e-6)
    assert sandwich.curvature_noise == pytest.approx(1e-6)
    # With next to no noise of its own the whole step was the pilot's error.
    assert sandwich.pilot_error == pytest.approx(float(np.sum(sandwich.step**2)), rel=1e-3)


def nearer(gradient: Any, noise: float) -> tuple[Any, Any, Given]:
    class Loud(Given):
        def ask(self, query: Query) -> Answer:
            found = super().ask(query)
            return Answer(found.value, N * noise) if isinstance(query, GradientSum) else found

    gate = Loud(gradient, np.diag([0.1, 0.2, 0.25, 0.15]), 1e-6)
    start = Pilot(np.full(4, 0.1), np.zeros(4), planned().loss, share=0.5)
    return *take_step(gate, planned(3.0), PLAIN, start, 2.0, None), gate


def test_where_the_signal_is_large_there_are_two_steps_and_the_last_begins_where_the_first_led() -> None:
    gradient, values = np.array([0.01, -0.02, 0.0, 0.03]), np.array([0.1, 0.2, 0.25, 0.15])
    theta, sandwich, gate = nearer(gradient, 1e-9)
    first, _, second, _ = gate.asked
    assert isinstance(first, GradientSum)
    assert isinstance(second, GradientSum)
    np.testing.assert_allclose(first.theta, 0.1)
    np.testing.assert_allclose(second.theta, 0.1 - gradient / values, atol=1e-12)
    # The gradient of this gate does not change, so the last step is as long as the first.
    np.testing.assert_allclose(theta, 0.1 - 2 * gradient / values, atol=1e-12)
    np.testing.assert_allclose(sandwich.step, gradient / values)
    assert [type(query) for query in gate.asked] == [GradientSum, CurvatureAndScore] * 2


def test_what_noise_explains_of_the_first_step_is_not_stepped() -> None:
    gradient, values = np.array([0.01, -0.02, 0.0, 0.03]), np.array([0.1, 0.2, 0.25, 0.15])
    square, own = float(np.sum((gradient / values) ** 2)), float(np.sum(values**-2.0))
    for part in (0.3, 1.0, 4.0):
        _, _, gate = nearer(gradient, float(np.sqrt(part * square / own)))
        second = gate.asked[2]
        assert isinstance(second, GradientSum)
        np.testing.assert_allclose(second.theta, 0.1 - max(0.0, 1 - part) * gradient / values, atol=1e-12)


def test_a_long_first_step_is_cut() -> None:
    _, _, gate = nearer(np.array([5.0, 0.0, 0.0, 0.0]), 1e-9)
    second = gate.asked[2]
    assert isinstance(second, GradientSum)
    np.testing.assert_allclose(second.theta, [0.1 - ONE_STEP.longest, 0.1, 0.1, 0.1])


def test_directions_below_the_noise_are_left_to_the_pilot() -> None:
    gradient, values = np.array([0.01, -0.02, 0.0, 0.001]), [0.1, 0.2, 0.25, 0.001]
    theta, sandwich, _ = step_of(gradient, values, noise=0.005)
    least = sandwich.visible
    assert 0.001 < least < 0.1
    assert sandwich.lifted
    np.testing.assert_allclose(theta[:3], 0.1 - gradient[:3] / values[:3])
    # Damped: not by its own curvature, a thousandth, but by the least that is visible.
    assert theta[3] == pytest.approx(0.1 - 0.001 / least)
    assert sandwich.step[3] == 0.0
    # How far the truth may be: a response's spread and how far the pilot went there.
    assert sandwich.hidden_size == pytest.approx(np.sqrt(1 + 0.1**2))


def test_a_long_step_is_cut_and_points_where_it_did() -> None:
    gradient = np.array([1.0, -2.0, 0.0, 0.5])
    theta, sandwich, _ = step_of(gradient, [0.2] * 4)
    assert sandwich.capped
    assert np.linalg.norm(sandwich.step) == pytest.approx(ONE_STEP.longest)
    np.testing.assert_allclose(sandwich.step / ONE_STEP.longest, gradient / np.linalg.norm(gradient))
    np.testing.assert_allclose(theta, 0.1 - sandwich.step)


def test_rare_labels_weigh_by_a_bound_on_their_curvature_and_even_ones_do_not() -> None:
    codes = {}
    for share in (0.5, 0.01):
        pilot = Pilot(np.zeros(4), np.zeros(4), planned().loss, share=share)
        _, _, gate = step_of(np.zeros(4), [0.01] * 4, pilot=pilot)
        first, second = gate.asked
        assert isinstance(first, GradientSum)
        assert isinstance(second, CurvatureAndScore)
        assert first.loss == second.loss
        codes[share] = first.loss.code
        # Where weights fall the score has a share, and its clip is that of the gradient.
        assert (second.score_share is None) is (share == 0.5)
        assert first.clip == pytest.approx(second.row_bound * second.loss.lipschitz)
    assert codes == {0.5: Code.LOGISTIC, 0.01: Code.WEIGHTED_LOGISTIC}


def test_rows_of_rare_labels_are_bounded_earlier() -> None:
    factors = [label_clip(1000.0, share) for share in (0.001, 0.01, 0.1, 0.5)]
    assert factors == sorted(factors)
    assert label_clip(1000.0, 0.3) == label_clip(1000.0, 0.7)
    assert label_clip(1000.0, 0.5) == pytest.approx(ONE_STEP.clip.at(1000.0) ** 0.5)


def test_more_noise_is_tolerated_where_labels_are_rare() -> None:
    def tolerated(share: float) -> float:
        return tolerated_noise(planned(), Pilot(np.zeros(4), np.zeros(4), planned().loss, 1, share))

    assert tolerated(0.5) < tolerated(0.1) < tolerated(0.01)
    assert tolerated(0.5) == pytest.approx(ONE_STEP.noisiest_odds)
