"""Scales that floats cannot hold are refused from public facts, before anything is planned."""

from typing import Any

import pytest

from tacit.contract.plan import Penalty
from tacit.design.design import matrix_design
from tacit.design.response import Absent, Binary, Continuous, Response
from tacit.errors import SettingError
from tacit.losses import classification, regression
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.solver import LARGEST_RATIO, PublicFacts, SolverOptions, require_moderate_scales


def facts(
    bounds: Any = (0.0, 1.0), response: Response | None = None, row_norm: float | None = None, **penalty: Any
) -> PublicFacts:
    about = response or Continuous.of("y", -1.0, 1.0)
    design = matrix_design(["a", "b"], about, bounds=bounds, row_norm=row_norm, intercept=True)
    loss = regression.SQUARED if isinstance(about, Continuous) else classification.LOGISTIC
    budget = Budget(epsilon=1.0, delta=1e-6)
    return PublicFacts(design, 1000, Relation.REPLACE_ONE, "row", budget, Penalty(**penalty), loss)


@pytest.mark.parametrize("bounds", [(0, 1), (-1e-20, 1e-20), (1e6, 2e6), (0, 1e20)])
def test_ordinary_scales_pass(bounds: tuple[float, float]) -> None:
    require_moderate_scales(facts(bounds))
    require_moderate_scales(facts(bounds, Binary("y", (0, 1))))
    require_moderate_scales(facts(bounds, Continuous.of("y", 0.0, 1e15)))


@pytest.mark.parametrize("wide", [2.1 * LARGEST_RATIO, 1e140])
def test_response_and_columns_too_far_apart_are_refused(wide: float) -> None:
    for about in (
        facts((0.0, wide)),
        facts((0.0, 1 / wide)),
        facts(response=Continuous.of("y", 0.0, wide)),
        facts(response=Continuous.of("y", 0.0, 1 / wide)),
        facts((0.0, 1 / wide), Binary("y", (0, 1))),
    ):
        with pytest.raises(SettingError, match="too far apart"):
            require_moderate_scales(about)
    require_moderate_scales(facts((0.0, 1 / wide), Absent()))


def test_a_row_norm_far_below_the_columns_is_refused() -> None:
    require_moderate_scales(facts(row_norm=1e-5))
    with pytest.raises(SettingError, match="row_norm is far below"):
        require_moderate_scales(facts(row_norm=1e-7))


def test_a_prior_mean_far_outside_of_the_bounds_is_refused() -> None:
    require_moderate_scales(facts(l2=1.0, prior_mean=(0.0, 1e50)))
    with pytest.raises(SettingError, match="prior_mean is too large"):
        require_moderate_scales(facts(l2=1.0, prior_mean=(0.0, 1e61)))


def test_bounds_that_are_yet_to_be_found_pass_beside_moderate_ones() -> None:
    require_moderate_scales(facts("private"))
    with pytest.raises(SettingError, match="too far apart"):
        require_moderate_scales(facts("private", Continuous.of("y", 0.0, 1e40)))


def test_a_plan_is_refused_as_its_scales_are() -> None:
    with pytest.raises(SettingError, match="too far apart"):
        make_plan(facts((0.0, 1e120)), SolverOptions())
