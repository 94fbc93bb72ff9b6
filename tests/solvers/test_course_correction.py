"""Noise and way of a descent, direction by direction: against descents that are taken step by step."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit import LinearRegression, PoissonRegressor
from tacit.solvers.coordinates import Coordinates, Vector
from tacit.solvers.course_correction import Course
from tacit.solvers.noisy_steps import Descent, take_steps
from tacit.solvers.staged_gradient import Staged
from tacit.solvers.step_correction import tail_variance, way_left
from tacit.solvers.wide_rules import COLUMNS

CURVATURE = np.array([0.9, 0.5, 0.1, 0.02])
FIRST = Descent(4, 0.8, 0.4, 1.2, "tail", 0.5)
SECOND = Descent(6, 1.1, 0.4, 1.2, "tail", 0.5)


def ends(descent: Descent, start: Vector, noise: Vector, curvature: Vector = CURVATURE) -> Vector:
    """Averaged iterates on ½ Σ a θ² with a given noise in each gradient, step after step."""

    def step(number: int, ahead: Vector) -> Vector:
        return np.asarray(ahead - descent.step_size * (curvature * ahead + noise[number]))

    return take_steps(start, descent.iterations, step, momentum=descent.momentum, first=descent.first_averaged)


def coordinates(resolved: Vector) -> Coordinates:
    width = len(resolved)
    return Coordinates(np.eye(width), float(width), None, (np.eye(width), resolved), 0.1)


@pytest.mark.parametrize("descent", [FIRST, SECOND, replace(SECOND, output="last"), replace(SECOND, output="average")])
def test_the_way_left_is_that_of_a_descent_without_noise(descent: Descent) -> None:
    found = ends(descent, np.ones(4), np.zeros((descent.iterations, 4)))
    np.testing.assert_allclose(way_left(CURVATURE, descent), found, atol=1e-12)


def test_steps_that_lead_away_leave_the_whole_way() -> None:
    assert way_left(np.ones(1), replace(SECOND, iterations=2000, step_size=50.0))[0] in (-1.0, 1.0)


def test_the_variance_of_two_stages_is_the_sum_over_every_noise() -> None:
    share = 0.8
    course = Course.at_start(coordinates(CURVATURE)).after(FIRST, 0.3, share).after(SECOND, 0.1, share)
    variance = np.zeros(4)
    for stage, (descent, noise) in enumerate(((FIRST, 0.3), (SECOND, 0.1))):
        for number in range(descent.iterations):
            one = np.zeros((descent.iterations, 4))
            one[number] = noise
            left = ends(descent, np.zeros(4), one, share * CURVATURE)
            if stage == 0:
                left = ends(SECOND, left, np.zeros((SECOND.iterations, 4)), share * CURVATURE)
            variance += left**2
    np.testing.assert_allclose(course.variance, variance, rtol=1e-10)
    # What shrinkage of the last stage alone would say is far too little where the curvature is small.
    alone = 0.01 * tail_variance(share * CURVATURE, SECOND)
    assert course.variance[3] > 3 * alone[3]


def test_blocks_of_noise_go_and_blocks_of_signal_stay() -> None:
    width = 60
    resolved = np.full(width, 0.1)
    resolved[:3] = 0.9
    # Directions that are resolved come first, in whatever units their columns are: these are the first two blocks.
    narrower = replace(coordinates(resolved), matrix=np.diag(np.arange(float(width), 0.0, -1)))
    course = Course.at_start(narrower).after(FIRST, 0.02, 1.0).after(SECOND, 0.01, 1.0)
    theta = np.sqrt(course.variance) * np.where(np.arange(width) % 2, 0.9, -0.9)
    theta[:3] = 5.0
    found, after = course.corrected(theta)
    np.testing.assert_allclose(found[:3], 5.0, rtol=1e-3)
    np.testing.assert_array_equal(found[3:], 0.0)
    np.testing.assert_array_equal(after.variance[3:], 0.0)
    np.testing.assert_array_equal(after.left[3:], 1.0)


def test_the_rest_of_the_way_is_gone_up_to_a_factor() -> None:
    course = Course.at_start(coordinates(np.array([0.9, 0.05]))).after(SECOND, 0.0, 1.0)
    found, after = course.corrected(np.ones(2), 1.35)
    reached = 1 - course.left
    np.testing.assert_allclose(found, [1 / reached[0], 1.35])
    assert after.left[0] == pytest.approx(0.0, abs=1e-12)
    assert after.left[1] > 0.5


def test_at_the_end_noise_counts_more_and_the_whole_factor_is_capped() -> None:
    course = Course.at_start(coordinates(np.full(8, 0.05))).after(SECOND, 0.01, 1.0)
    reached = 1 - course.left[0]
    assert reached < 0.5
    for deviations in (1.1, 1.3, 2.0, 100.0):
        theta = deviations * np.sqrt(course.variance)
        factor = course.corrected(theta, 1.3)[0] / theta
        expected = min(1.3, max(0.0, 1 - COLUMNS.noise / deviations**2) / reached)
        np.testing.assert_allclose(factor, expected, rtol=1e-12)
        # Between stages it is Stein's factor alone, and nothing grows.
        np.testing.assert_allclose(course.corrected(theta)[0] / theta, 1 - deviations**-2, rtol=1e-12)


def test_a_curvature_that_noise_hides_is_taken_as_the_smallest() -> None:
    hidden, smallest = (Course.at_start(coordinates(np.array([it]))).after(SECOND, 1.0, 1.0) for it in (0.0, 0.02))
    assert COLUMNS.smallest_curvature == 0.02
    np.testing.assert_array_equal(hidden.variance, smallest.variance)


def test_wide_fits_of_numbers_and_counts_are_corrected_and_no_others() -> None:
    linear: dict[str, Any] = {"epsilon": 1.0, "bounds": (-1, 1), "y_bounds": (0, 1)}
    plans = {
        "wide numbers": LinearRegression(**linear).plan(20_000, 300),
        "narrow numbers": LinearRegression(**linear).plan(20_000, 30),
        "penalised": LinearRegression(**linear, l2=0.1).plan(20_000, 300),
        "wide counts": PoissonRegressor(epsilon=1.0, bounds=(-1, 1), y_max=9).plan(20_000, 300),
        "narrow counts": PoissonRegressor(epsilon=1.0, bounds=(-1, 1), y_max=9).plan(20_000, 30),
    }
    followed = {name: plan.solver.follows_course for name, plan in plans.items() if isinstance(plan.solver, Staged)}
    assert {name for name, follows in followed.items() if follows} == {"wide numbers", "wide counts"}
    assert len(followed) == len(plans)
