"""The last step from given answers: where it goes, what it leaves, what is released of it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.contract.plan import Plan
from tacit.contract.query import Answer, CurvatureAndScore, GradientNorm, GradientSum, Measure, Query
from tacit.losses.loss import Code
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.interval_rules import ONE_STEP, TAIL
from tacit.solvers.last_step import Pilot, calm, label_clip, rare_factor, take_step, tolerated_noise
from tacit.solvers.plenty_rules import PLENTY

N = 20_000
PLAIN = Coordinates(None, 4.0)


@cache
def planned(epsilon: float = 1.0) -> Plan:
    model = tacit.LogisticRegression(epsilon=epsilon, bounds=(-1, 1), inference=True)
    plan: Plan = model.plan(N, 3)
    return plan


class Given:
    """Answers with a mean gradient and a mean curvature that are written down; all rows have one norm."""

    def __init__(self, gradient: Any, curvature: Any, noise: float, norm: float = 2.0) -> None:
        self._gradient, self._curvature, self._noise, self._norm = gradient, curvature, noise, norm
        self.asked: list[Query] = []

    def ask(self, query: Query) -> Answer:
        if isinstance(query, GradientNorm):
            within = query.measure is Measure.WITHIN and query.start + query.cap >= self._norm
            return Answer(np.array([N * float(within)]), 1.0)
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
    part = 0.001 / least
    assert theta[3] == pytest.approx(0.1 - part * calm(np.array([part]), sandwich.step_noise / least)[0])
    assert sandwich.step[3] == 0.0
    # How far the truth may be: a response's spread and how far the pilot went there.
    assert sandwich.hidden_size == pytest.approx(np.sqrt(1 + 0.1**2))


def test_what_noise_explains_of_a_hidden_direction_is_left_out_and_the_rest_is_damped() -> None:
    assert not calm(np.array([0.1, -0.2]), noise=0.3).any()
    np.testing.assert_allclose(calm(np.array([0.01, 0.0]), noise=0.0), np.log1p(0.01) / 0.01)
    # A step of e³ - 1 leads 3 along: curvature grows by e^t on the way.
    assert np.expm1(3) * calm(np.array([np.expm1(3)]), noise=0.0)[0] == pytest.approx(3.0)
    assert 0.9 < 3.0 * calm(np.array([3.0]), noise=1.0)[0] < np.log(4.0)


def test_a_long_step_is_not_gone_and_told_as_long_as_it_may_be() -> None:
    gradient = np.array([1.0, -2.0, 0.0, 0.5])
    theta, sandwich, _ = step_of(gradient, [0.2] * 4)
    assert sandwich.capped
    assert np.linalg.norm(sandwich.step) == pytest.approx(ONE_STEP.longest)
    np.testing.assert_allclose(sandwich.step / ONE_STEP.longest, gradient / np.linalg.norm(gradient))
    # The pilot predicts better: no interval is given, and the curvature is another one out there.
    np.testing.assert_allclose(theta, 0.1)


def test_rows_keep_what_bounds_on_gradient_and_curvature_allow() -> None:
    largest = {}
    for share in (0.5, 0.01):
        pilot = Pilot(np.zeros(4), np.zeros(4), planned().loss, share=share)
        _, _, gate = step_of(np.zeros(4), [0.01] * 4, pilot=pilot)
        first, second = gate.asked
        assert isinstance(first, GradientSum)
        assert isinstance(second, CurvatureAndScore)
        assert first.loss.code is second.loss.code is Code.LOGISTIC
        assert first.shortened
        assert second.shortened
        assert second.score_share == ONE_STEP.score_share
        assert first.clip == pytest.approx(second.row_bound)
        # Rows of a gradient may be more curved than those of a matrix.
        assert first.loss.smoothness == pytest.approx(TAIL.loosened * second.loss.smoothness)
        largest[share] = second.loss.smoothness * second.row_bound**2
    assert largest[0.01] < 0.1 * largest[0.5]


@pytest.mark.parametrize("norm", [0.5, 4.5, 60.0])
def test_the_bound_of_rows_follows_their_norms_within_ends(norm: float) -> None:
    pilot = Pilot(np.zeros(4), np.zeros(4), planned().loss, share=0.5)
    gate = Given(np.zeros(4), 0.2 * np.eye(4), 1e-6, norm)
    take_step(gate, planned(), PLAIN, pilot, 2.0, None)
    asked = gate.asked[-1]
    assert isinstance(asked, CurvatureAndScore)
    usual = label_clip(planned().signal, 0.5) * 2
    most = ONE_STEP.row_most.at(planned().signal)
    ends = ONE_STEP.row_least * usual, most * usual
    assert ends[0] < 4.5 < ends[1]
    assert asked.row_bound == pytest.approx(min(max(norm, ends[0]), ends[1]), rel=0.06)


def test_rows_of_rare_labels_may_be_more_curved_and_are_bounded_earlier() -> None:
    found = {}
    for share in (0.03, 0.5):
        pilot = Pilot(np.zeros(4), np.zeros(4), planned().loss, share=share)
        gate = Given(np.zeros(4), 0.2 * np.eye(4), 1e-6, 60.0)
        take_step(gate, planned(), PLAIN, pilot, 2.0, None)
        asked = gate.asked[-1]
        assert isinstance(asked, CurvatureAndScore)
        level = 4 * share * (1 - share)
        most = ONE_STEP.row_most.at(planned().signal * level)
        most *= rare_factor(ONE_STEP.rare_rows, planned().signal, level)
        assert asked.row_bound == pytest.approx(most * 2 * label_clip(planned().signal, share))
        found[share] = asked.row_bound
    assert found[0.03] < 0.5 * found[0.5]
    growth = ONE_STEP.rare_curved
    assert rare_factor(growth, 1e4, 0.1) == growth.at(0.1) > 1.5
    assert rare_factor(growth, 1e2, 0.1) < 1.1
    assert rare_factor(growth, 1e4, 1.0) == 1.0


def test_with_plenty_rows_of_labels_follow_the_quantile_and_gradients_have_the_weights_of_matrices() -> None:
    plan = planned(50.0)
    gate = Given(np.full(4, 0.001), 0.2 * np.eye(4), 1e-6, 8.0)
    pilot = Pilot(np.full(4, 0.1), np.zeros(4), plan.loss, share=0.5)
    theta, _ = take_step(gate, plan, PLAIN, pilot, 2.0, None)
    gradients = [each for each in gate.asked if isinstance(each, GradientSum)]
    matrices = [each for each in gate.asked if isinstance(each, CurvatureAndScore)]
    assert len(gradients) == len(matrices) == PLENTY.steps + 1
    for asked, pair in zip(gradients, matrices, strict=True):
        assert asked.clip == pytest.approx(pair.row_bound) == pytest.approx(PLENTY.label_rows.high * 8.0, rel=0.06)
        assert asked.loss.smoothness == pytest.approx(pair.loss.smoothness)
        assert pair.loss.smoothness >= PLENTY.curved
    np.testing.assert_allclose(theta, 0.1 - (PLENTY.steps + 1) * 0.001 / 0.2, rtol=1e-2)


def test_rows_of_rare_labels_are_bounded_earlier() -> None:
    factors = [label_clip(1000.0, share) for share in (0.001, 0.01, 0.1, 0.5)]
    assert factors == sorted(factors)
    assert label_clip(1000.0, 0.3) == label_clip(1000.0, 0.7)
    assert label_clip(1000.0, 0.5) == pytest.approx(ONE_STEP.clip.at(1000.0) ** 0.5)


def test_more_noise_is_tolerated_where_labels_are_rare() -> None:
    def tolerated(share: float) -> float:
        return tolerated_noise(planned(), Pilot(np.zeros(4), np.zeros(4), planned().loss, 1, share))

    assert tolerated(0.5) < tolerated(0.4) < tolerated(0.01)
    assert tolerated(0.5) == pytest.approx(ONE_STEP.noisiest_odds)
    # Rates are exponentials: beyond half a logarithm of noise a rare share is a matter of chance.
    assert tolerated(0.001) == ONE_STEP.noisiest_log


def test_with_plenty_few_long_rows_are_not_bounded_earlier() -> None:
    """Where 0.2% of the records are elsewhere than at zero, the quantile of the norms says nothing of these."""
    bounds = {}
    for epsilon in (3.0, 50.0):
        plan, gate = planned(epsilon), Given(np.zeros(4), 0.2 * np.eye(4), 1e-6, 1.0)
        take_step(gate, plan, PLAIN, Pilot(np.zeros(4), np.zeros(4), plan.loss, share=0.5), 2.0, None)
        asked = gate.asked[-1]
        assert isinstance(asked, CurvatureAndScore)
        bounds[epsilon] = asked.row_bound
        assert asked.loss.smoothness >= PLENTY.curved
    assert bounds[50.0] >= bounds[3.0]
