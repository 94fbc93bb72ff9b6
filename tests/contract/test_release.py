"""A release on the user's scale."""

from dataclasses import replace

import numpy as np

import tacit
from tacit.constraints.region import Box
from tacit.contract.plan import Penalty, Plan
from tacit.contract.release import Release
from tacit.design.response import Classes, Continuous


def plan_of(epsilon: float = 1.0) -> Plan:
    return tacit.LogisticRegression(epsilon=epsilon, bounds=(0, 4)).plan(n=5000, d=2)


THETA = np.array([1.0, -2.0, 0.5])


def test_coefficients_are_on_the_users_scale_with_the_intercept_first() -> None:
    release = Release(plan_of(), THETA)
    # Columns are mapped by (x - 2) / 2.
    np.testing.assert_allclose(release.coefficients(), [0.5 - (1.0 - 2.0), 0.5, -1.0])
    assert [row[:2] for row in release.estimates()] == [["Intercept", 1.5], ["x0", 0.5], ["x1", -1.0]]
    assert all(row[2:] == [None, None, None] for row in release.estimates())


def test_the_center_and_scale_of_a_response_are_undone() -> None:
    plan = plan_of()
    response = Continuous.of("y", 10.0, 30.0)
    moved = replace(plan, design=replace(plan.design, response=response))
    found, plain = Release(moved, THETA).coefficients(), Release(plan, THETA).coefficients()
    np.testing.assert_allclose(found, 10.0 * plain + [20.0, 0.0, 0.0])


def test_several_classes_have_a_column_each() -> None:
    plan = plan_of()
    three = Classes("y", ("a", "b", "c"))
    moved = replace(plan, design=replace(plan.design, response=three))
    release = Release(moved, np.column_stack([THETA, 2 * THETA, 0 * THETA]))
    np.testing.assert_allclose(release.coefficients()[:, 1], 2 * Release(plan, THETA).coefficients())
    assert [row[0] for row in release.estimates()][:4] == ["a: Intercept", "a: x0", "a: x1", "b: Intercept"]


def test_rounding_does_not_leave_the_region() -> None:
    region = Box(-0.75, 0.25)
    plan = replace(plan_of(), penalty=Penalty(constraint=region))
    np.testing.assert_array_equal(Release(plan, THETA).coefficients(), [1.5, 0.25, -0.75])


def test_noise_from_a_chosen_seed_protects_nobody() -> None:
    assert Release(plan_of(), THETA).private
    assert not Release(plan_of(), THETA, reproducible=True).private
    assert not Release(plan_of(float("inf")), THETA).private
