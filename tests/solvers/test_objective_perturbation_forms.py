"""Forms of objective perturbation beside the tight one, other losses, and a user's ridge: priced within the budget."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.accounting.composition import compose
from tacit.accounting.objective_perturbation import jacobian_term, objective_mu
from tacit.contract.plan import Penalty, Plan
from tacit.contract.sensitivity import MinimumPrice, PurePrice, SoftmaxPrice, TwoSignedPrice, objective_event, ridge_of
from tacit.design.design import matrix_design
from tacit.design.response import Binary, Classes, Continuous, Response
from tacit.errors import BudgetError, SettingError
from tacit.losses import classification, regression
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.objective_perturbation import CLASSICAL, NAME
from tacit.solvers.output_perturbation import user_ridge, user_units
from tacit.solvers.solver import PublicFacts, SolverOptions

PUBLIC = (Relation.REPLACE_ONE, Relation.ZERO_OUT)
NUMBER = Continuous.of("y", -3.0, 5.0)
LOSSES: dict[str, tuple[Loss, Response]] = {
    "logistic": (classification.LOGISTIC, Binary("y", (0, 1))),
    "hinge": (classification.hinge(), Binary("y", (0, 1))),
    "softmax": (classification.SOFTMAX, Classes.of("y", (0, 1, 2, 3))),
    "least squares": (regression.SQUARED, NUMBER),
    "huber": (regression.huber(0.3), NUMBER),
    "pinball": (regression.pinball(0.9, 0.1), NUMBER),
}


def facts(
    loss: str = "logistic", relation: Relation = Relation.ZERO_OUT, l2: float = 0.0, **budget: float
) -> PublicFacts:
    chosen, response = LOSSES[loss]
    design = matrix_design(["a", "b"], response, bounds=(-3, 3), row_norm=None, intercept=True)
    given = Budget(**{"epsilon": 1.0, "delta": 1e-6, **budget})
    return PublicFacts(design, 5000, relation, "row", given, Penalty(l2), chosen)


def price_of(plan: Plan) -> Any:
    (step,) = plan.steps
    return step.price


@pytest.mark.parametrize("relation", PUBLIC)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 20.0])
def test_every_loss_spends_the_budget_and_no_more(loss: str, relation: Relation, epsilon: float) -> None:
    given = facts(loss, relation, epsilon=epsilon)
    plan = make_plan(given, SolverOptions(NAME))
    assert epsilon * (1 - 2e-3) < plan.guarantee().epsilon <= epsilon
    price = price_of(plan)
    kinds = {"softmax": SoftmaxPrice, "logistic": MinimumPrice, "hinge": MinimumPrice}
    assert type(price) is kinds.get(loss, TwoSignedPrice)
    assert plan.loss == (regression.huber(2.0) if loss == "least squares" else given.loss)
    pure = make_plan(replace(given, budget=Budget(epsilon=epsilon, delta=0)), SolverOptions(NAME))
    assert isinstance(price_of(pure), PurePrice)
    total = compose(pure.events(), relation).pure_epsilon
    assert total is not None
    assert Fraction(epsilon) * Fraction(999, 1000) < total <= Fraction(epsilon)


@pytest.mark.parametrize(("times", "most"), [(1.0, 0.64), (2.0, 0.5), (2.0, 0.6), (10.0, 0.42)])
def test_tight_noise_is_at_most_six_tenths_of_that_of_2012(times: float, most: float) -> None:
    """Zero-out, ε = 1, δ = 1e-6, equal λ: from `times` their least ridge 2β/ε, of which their noise takes no notice."""
    given = facts(l2=1.0)
    _, clip = user_units(given.design)
    ridge = times * 2 * clip**2 / 4
    equal = replace(given, penalty=Penalty(ridge / user_ridge(given)))
    ours, theirs = (price_of(make_plan(equal, SolverOptions(name))) for name in (NAME, CLASSICAL))
    for price in (ours, theirs):
        assert ridge_of(price, clip, classification.LOGISTIC) == pytest.approx(ridge, rel=1e-9)
    noise = [2.0**price.bits / price.bound for price in (ours, theirs)]
    assert noise[1] == pytest.approx(math.sqrt(8 * math.log(2e6) + 4), rel=1e-9)
    assert noise[0] <= most * noise[1]


@pytest.mark.parametrize("relation", PUBLIC)
@pytest.mark.parametrize("loss", ["logistic", "hinge", "least squares", "huber"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-6), (1.0, 1e-3), (8.0, 1e-9), (100.0, 1e-6)])
def test_the_classical_form_is_within_its_budget_by_the_tight_price(
    loss: str, relation: Relation, epsilon: float, delta: float
) -> None:
    plan = make_plan(facts(loss, relation, epsilon=epsilon, delta=delta), SolverOptions(CLASSICAL))
    assert plan.solver.name == CLASSICAL
    assert plan.guarantee().epsilon <= epsilon
    event = objective_event(price_of(plan))
    factor = epsilon / math.sqrt(8 * math.log(2 / delta) + 4 * epsilon)
    assert objective_mu(event, relation) == pytest.approx(factor, rel=1e-9)
    assert jacobian_term(event) == pytest.approx(math.log1p(epsilon / 2))


def test_the_classical_form_is_for_one_predictor_and_a_delta() -> None:
    with pytest.raises(SettingError, match="one linear predictor"):
        make_plan(facts("softmax"), SolverOptions(CLASSICAL))
    with pytest.raises(SettingError, match="delta=0 does not allow"):
        make_plan(facts(delta=0), SolverOptions(CLASSICAL))


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_users_ridge_is_used_where_the_budget_allows_it(loss: str, delta: float) -> None:
    given = facts(loss, l2=0.05, delta=delta)
    plan = make_plan(given, SolverOptions(NAME))
    _, clip = user_units(given.design)
    assert ridge_of(price_of(plan), clip, plan.loss) == pytest.approx(user_ridge(given), rel=1e-6)
    assert plan.penalty.l2 == pytest.approx(0.05, rel=1e-6)
    assert plan.guarantee().epsilon <= 1.0
    # A stronger one needs less noise.
    strong = make_plan(facts(loss, l2=5.0, delta=delta), SolverOptions(NAME))
    assert price_of(strong).bound > price_of(plan).bound


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_ridge_too_weak_for_the_budget_is_raised_until_its_jacobian_costs_half(loss: str, delta: float) -> None:
    plan = make_plan(facts(loss, l2=1e-9, delta=delta), SolverOptions(NAME))
    price = price_of(plan)
    if isinstance(price, PurePrice):
        assert plan.guarantee().epsilon <= 1.0
        assert float(2 * price.bound / 2**price.bits) == pytest.approx(2 * 0.4975, rel=1e-3)
    else:
        assert jacobian_term(objective_event(price)) == pytest.approx(0.5, rel=1e-9)
    # The plan states the ridge that is used.
    assert plan.penalty.l2 > 1e-6


@pytest.mark.parametrize("relation", PUBLIC)
def test_the_pure_form_charges_the_jacobian_once(relation: Relation) -> None:
    """ε = c + sensitivity / scale, with c = log(1 + β/λ) and not twice that."""
    plan = make_plan(facts(relation=relation, l2=1.0, delta=0), SolverOptions(NAME))
    price = price_of(plan)
    sensitivity = 2 if relation is Relation.REPLACE_ONE else 1
    rate = sensitivity * price.bound / 2**price.bits
    assert rate + math.log1p(price.ratio) + float(price.cover) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-7])
def test_a_pure_budget_that_buys_nothing_is_refused(epsilon: float) -> None:
    with pytest.raises(BudgetError, match="too small"):
        make_plan(facts(epsilon=epsilon, delta=0), SolverOptions(NAME))


def test_what_all_classes_have_in_common_is_taken_away() -> None:
    plan = make_plan(facts("softmax"), SolverOptions(NAME))

    class Gate:
        def ask(self, query: Any) -> Any:
            assert query.classes == 4
            return type("Answer", (), {"value": np.arange(12.0).reshape(3, 4)})

    theta = plan.solver.run(Gate(), plan).theta
    np.testing.assert_allclose(theta.mean(axis=1), 0.0, atol=1e-15)
    np.testing.assert_allclose(theta[:, 1] - theta[:, 0], 1.0)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_losses_are_refused_by_the_property_they_miss(delta: float) -> None:
    for loss in (regression.huber(1.0, relative=True), classification.weighted_logistic(0.1)):
        with pytest.raises(SettingError, match=f"not for the {loss.name} loss"):
            make_plan(replace(facts("huber", delta=delta), loss=loss), SolverOptions(NAME))
