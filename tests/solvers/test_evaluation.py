"""Evaluations: one noised sum at the price of the budget, exact without noise."""

import math
from typing import Any

import numpy as np
import pytest

from tacit.contract.plan import Penalty
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.design.design import matrix_design
from tacit.design.response import Binary, Classes, Continuous, Response
from tacit.errors import SettingError
from tacit.losses import classification
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.evaluation import OF_NUMBERS, plan_evaluation, variance
from tacit.solvers.rules import EVALUATION
from tacit.solvers.solver import PublicFacts

LABELS = Binary("y", (0, 1))
EVERY = (Relation.REPLACE_ONE, Relation.ZERO_OUT, Relation.ADD_REMOVE)


def facts(response: Response, relation: Relation = Relation.REPLACE_ONE, **budget: Any) -> PublicFacts:
    design = matrix_design(["a", "b"], response, bounds=(-1, 1), row_norm=None, intercept=True)
    spent = Budget(**(budget or {"epsilon": 1.0, "delta": 1e-6}))
    return PublicFacts(design, 500, relation, "row", spent, Penalty(), classification.LOGISTIC)


@pytest.mark.parametrize("relation", EVERY)
@pytest.mark.parametrize("response", [LABELS, Continuous.of("y", 2.0, 6.0)])
def test_the_plan_costs_the_budget(response: Response, relation: Relation) -> None:
    plan = plan_evaluation(facts(response, relation), (0.0, 0.0, 0.0))
    assert {step.kind for step in plan.steps} == {QueryKind.COUNTS}
    assert plan.guarantee().epsilon <= 1.0
    assert plan.guarantee().epsilon == pytest.approx(1.0, rel=1e-4)
    assert plan.queries == 1 + (relation is Relation.ADD_REMOVE)


def test_one_record_changes_the_number_of_wrong_labels_by_one() -> None:
    plan = plan_evaluation(facts(LABELS, mu=0.5, delta=1e-6), (0.0, 0.0, 0.0))
    (step,) = plan.steps
    assert step.purpose is Purpose.WRONG_LABELS
    # The noise on the count is 1 / μ, for every relation: a count has sensitivity 1.
    assert step.noise_share(1) == pytest.approx(2.0, rel=1e-6)


def test_without_noise_there_is_no_price() -> None:
    plan = plan_evaluation(facts(LABELS, epsilon=math.inf), (0.0, 0.0, 0.0))
    assert [step.price for step in plan.steps] == [None]


def test_several_classes_are_refused() -> None:
    with pytest.raises(SettingError, match="two classes"):
        plan_evaluation(facts(Classes("y", (0, 1, 2))), tuple(np.zeros(9)))
    with pytest.raises(SettingError, match="declared bounds"):
        plan_evaluation(facts(Continuous.opened("y")), (0.0, 0.0, 0.0))


@pytest.mark.parametrize("relation", EVERY)
def test_every_score_is_within_the_budget(relation: Relation) -> None:
    cases = (LABELS, ("accuracy", "auc", "log_loss", "calibration")), (Continuous.of("y", 2.0, 6.0), OF_NUMBERS)
    for response, scores in cases:
        plan = plan_evaluation(facts(response, relation), (0.0, 0.0, 0.0), scores)
        assert plan.guarantee().epsilon <= 1.0
        assert plan.guarantee().epsilon == pytest.approx(1.0, rel=1e-4)
    purposes = [step.purpose for step in plan.steps]
    assert purposes.count(Purpose.SQUARED_RESIDUALS) == 2


def test_accuracy_and_calibration_cost_nothing_more() -> None:
    plan = plan_evaluation(facts(LABELS), (0.0, 0.0, 0.0), ("accuracy", "zero_one_loss", "calibration", "auc"))
    assert [step.purpose for step in plan.steps] == [Purpose.WRONG_LABELS, Purpose.SCORES]
    assert len(plan.design.columns) == 3 + EVALUATION.groups


def test_a_variance_is_at_most_what_the_range_allows() -> None:
    assert variance(0.2, None) == pytest.approx(0.16)
    assert variance(0.2, (0.05, 0.0)) == pytest.approx(0.01)
    assert variance(0.2, (0.05, 0.02)) == pytest.approx(0.03)
    assert variance(0.2, (-1.0, 9.0)) == pytest.approx(0.16)
    assert variance(-0.1, (0.0, 0.0)) == 0.0
