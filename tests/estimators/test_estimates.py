"""Estimates: what a noised sum says of a mean, with its noise and a bound on its standard error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tacit.contract.plan import Penalty, Plan
from tacit.contract.query import Answer
from tacit.contract.statistic_query import BoundedSums, GroupSums
from tacit.design.design import matrix_design
from tacit.design.expression import Statistic
from tacit.design.expression_tree import Cell, Interval
from tacit.design.response import Absent
from tacit.estimators.estimates import group_estimate, mean_estimate, release_of
from tacit.losses import regression
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.solver import PublicFacts
from tacit.solvers.statistical_queries import QueryShape, plan

CELL = Cell("x", 0, 1.0)
X = Statistic("x", CELL, Interval(0.0, 10.0))
FLAG = Statistic("x > 3", CELL, Interval(0.0, 1.0, truth=True))


def planned(relation: Relation = Relation.REPLACE_ONE, total: float | None = None) -> Plan:
    design = matrix_design(["x"], Absent(), bounds=(0, 10), row_norm=None, intercept=True)
    budget = Budget(epsilon=1.0, delta=1e-6)
    facts = PublicFacts(design, 1000, relation, "row", budget, Penalty(), regression.DISTANCE)
    return replace(plan(facts, (QueryShape(2),)), total=total)


def test_a_mean_is_on_the_users_scale() -> None:
    answer = Answer(np.array([200.0, -400.0]), 30.0)
    answered, found = mean_estimate(BoundedSums((X, FLAG)), answer, planned(), single=False)
    np.testing.assert_allclose(found.value, [6.0, 0.3])
    np.testing.assert_allclose(found.noise_scale, [0.15, 0.015])
    np.testing.assert_allclose(found.standard_error, np.hypot(found.noise_scale, np.sqrt([24.0, 0.21]) / 1000**0.5))
    np.testing.assert_allclose(answered.shares, [0.2, -0.4])
    assert [column.name for column in answered.columns] == ["x", "x > 3"]


def test_one_mean_is_a_number() -> None:
    _, found = mean_estimate(BoundedSums((X,)), Answer(np.array([200.0]), 30.0), planned(), single=True)
    assert isinstance(found.value, float)
    assert float(found) == pytest.approx(6.0)
    assert found.bounds == (0.0, 10.0)


def test_what_noise_has_taken_out_of_the_bounds_can_be_clipped_back() -> None:
    _, found = mean_estimate(BoundedSums((X,)), Answer(np.array([1500.0]), 900.0), planned(), single=True)
    assert found.value == pytest.approx(12.5)
    assert found.clipped == 10.0
    assert found.standard_error == pytest.approx(found.noise_scale)


def test_the_noise_of_a_private_count_is_part_of_the_noise() -> None:
    """To first order the ratio of a sum and a count has both of their noises."""
    private = planned(Relation.ADD_REMOVE, total=2000.0)
    count_noise = private.steps[0].noise_share(1.0)
    _, found = mean_estimate(BoundedSums((X,)), Answer(np.array([1000.0]), 30.0), private, single=True)
    assert found.noise_scale == pytest.approx(5 * np.hypot(30.0, 0.5 * count_noise) / 2000)


def test_group_means_are_ratios_of_sums_and_counts() -> None:
    query = GroupSums((X, FLAG), CELL, 2)
    answer = Answer(np.array([[500.0, 100.0, -250.0], [300.0, -300.0, 0.0]]), 10.0)
    answered, found = group_estimate(query, answer, planned(), ("a", "b"), single=False)
    np.testing.assert_allclose(found.value, [[6.0, 0.25], [0.0, 0.5]])
    np.testing.assert_allclose(found.noise_scale[0, 0], 5 * 10 * np.hypot(1, 0.2) / 500)
    np.testing.assert_allclose(found.shares, [0.5, 0.3])
    assert found.groups == ("a", "b")
    assert found.share_noise == pytest.approx(0.01)
    names = [column.name for column in answered.columns]
    assert names == ["x=a", "x=b", "x | x=a", "x > 3 | x=a", "x | x=b", "x > 3 | x=b"]


@pytest.mark.parametrize("count", [-50.0, 0.0, 1e-12])
def test_t40_an_empty_group_has_finite_means_within_the_bounds(count: float) -> None:
    query = GroupSums((X,), CELL, 2)
    answer = Answer(np.array([[count, 40.0], [900.0, 0.0]]), 10.0)
    _, found = group_estimate(query, answer, planned(), ("a", "b"), single=True)
    assert found.value.shape == (2,)
    assert 0.0 <= found.value[0] <= 10.0
    assert found.shares[0] >= 0.0
    exact = Answer(np.array([[0.0, 0.0], [900.0, 0.0]]), 0.0)
    assert np.isfinite(group_estimate(query, exact, planned(), ("a", "b"), single=True)[1].value).all()


def test_the_release_has_the_means_as_coefficients() -> None:
    answer = Answer(np.array([200.0, -400.0]), 30.0)
    answered, found = mean_estimate(BoundedSums((X, FLAG)), answer, planned(), single=False)
    release = release_of(planned(), [answered, answered], seeded=False)
    np.testing.assert_allclose(release.coefficients(), np.tile(found.value, 2))
    assert release.private
    assert not release_of(planned(), [], seeded=True).private
    assert release_of(planned(), [], seeded=True).coefficients().shape == (0,)
