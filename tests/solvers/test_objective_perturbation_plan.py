"""Plans that perturb the objective: within ε at δ, close to it, and refused by public facts."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.plan import Penalty
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import MinimumPrice
from tacit.design.attached_columns import AttachedColumns, Offset, Unit
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.errors import BudgetError, SettingError
from tacit.losses import poisson, regression
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan, plan_warnings
from tacit.solvers.objective_perturbation import plan as plan_perturbed
from tacit.solvers.solver import PublicFacts, SolverOptions

PUBLIC = (Relation.REPLACE_ONE, Relation.ZERO_OUT)
SOLVER = "objective-perturbation"


def facts(
    epsilon: float = 1.0,
    relation: Relation = Relation.REPLACE_ONE,
    n: int = 5000,
    d: int = 4,
    budget: Budget | None = None,
) -> PublicFacts:
    names = [f"x{j}" for j in range(d)]
    design = matrix_design(names, Binary("y", (0, 1)), bounds=(-3, 3), row_norm=None, intercept=True)
    chosen = Budget(epsilon=epsilon, delta=1e-6) if budget is None else budget
    return PublicFacts(design, n, relation, "row", chosen, Penalty())


@pytest.mark.parametrize("relation", PUBLIC)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
def test_the_plan_spends_the_budget_and_no_more(epsilon: float, relation: Relation) -> None:
    plan = make_plan(facts(epsilon, relation), SolverOptions(SOLVER))
    guarantee = plan.guarantee()
    assert guarantee.mu is None
    assert epsilon * (1 - 1e-3) < guarantee.epsilon <= epsilon
    price = next(step.price for step in plan.steps if step.kind is QueryKind.MINIMUM)
    assert isinstance(price, MinimumPrice)
    # A part in ten thousand more noise-free would be beyond it.
    bold = replace(price, bound=price.bound + price.bound // 2000)
    steps = tuple(replace(step, price=bold) if step.kind is QueryKind.MINIMUM else step for step in plan.steps)
    assert replace(plan, steps=steps).guarantee().epsilon > epsilon


def test_t22_the_accountants_agree_on_the_plan() -> None:
    """The Rényi curve never says less than the loss distributions; no lower bound is attained."""
    from tacit.accounting.accountants import ACCOUNTANTS
    from tacit.accounting.composition import count_events

    plan = make_plan(facts(2.0), SolverOptions(SOLVER))
    counts = count_events(plan.events(), plan.relation)
    lower, upper = ACCOUNTANTS["pld"].law(counts, plan.relation, 1e-6) or (0.0, 0.0)
    renyi = ACCOUNTANTS["rdp"].law(counts, plan.relation, 1e-6)
    assert renyi is not None
    assert 1.98 < upper <= renyi[1] * (1 + 1e-9)
    assert lower == 0.0


def test_what_was_spent_before_is_counted() -> None:
    """With part of the budget gone elsewhere the minimum gets more noise."""
    given = facts(2.0)
    allowed = mu_squared_of(given.budget)
    whole = plan_perturbed(given, SolverOptions(SOLVER), allowed)
    rest = plan_perturbed(given, SolverOptions(SOLVER), allowed * Fraction(7, 10))
    before = Gaussian(allowed * Fraction(3, 10), 1)
    together = compose([before, *rest.events()], given.relation).epsilon(1e-6)
    assert 2.0 * (1 - 1e-3) < together <= 2.0
    first, second = whole.steps[0].price, rest.steps[0].price
    assert first is not None
    assert second is not None
    assert second.bound < first.bound


def test_the_ridge_gets_stronger_where_noise_is() -> None:
    """The ratio of curvature and ridge falls with ε, and c stays a part of ε."""
    ratios = []
    for epsilon in (0.1, 1.0, 8.0):
        price = make_plan(facts(epsilon), SolverOptions(SOLVER)).steps[0].price
        assert isinstance(price, MinimumPrice)
        ratios.append(price.ratio)
        assert math.log1p(price.ratio) < 0.9 * epsilon
    assert ratios == sorted(ratios)


def test_the_plan_judges_itself_by_the_mu_of_its_epsilon() -> None:
    plan = make_plan(facts(1.0), SolverOptions(SOLVER))
    assert plan.strength == pytest.approx(math.sqrt(mu_squared_of(plan.budget)), rel=1e-3)
    assert plan.signal == pytest.approx(5000 * (plan.strength or 0) / 5)
    small = make_plan(facts(0.1, n=50), SolverOptions(SOLVER))
    assert any("small for this table" in text for text in plan_warnings(small))


def test_private_bounds_and_intervals_are_refused() -> None:
    names = ["a", "b"]
    design = matrix_design(names, Binary("y", (0, 1)), bounds="private", row_norm=None, intercept=True)
    given = replace(facts(2.0, n=20_000), design=design)
    with pytest.raises(SettingError, match="declared bounds"):
        make_plan(given, SolverOptions(SOLVER))
    with pytest.raises(SettingError, match="There are no intervals for solver='objective-perturbation'"):
        make_plan(facts(2.0), SolverOptions(SOLVER, inference=True))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"relation": Relation.ADD_REMOVE}, "public n"),
        ({"penalty": Penalty(radius=1.0)}, "no prior_mean, radius"),
        ({"penalty": Penalty(l2=1.0, prior_mean=(0.0,) * 4)}, "no prior_mean, radius"),
        ({"loss": poisson.loss(2.0, 5.0)}, "not for the poisson loss: the error of its computed gradient"),
        ({"loss": regression.huber(1.0, relative=True)}, "its scale is found in the records: declare it"),
    ],
)
def test_facts_that_have_no_proof_are_refused(changes: dict[str, Any], match: str) -> None:
    with pytest.raises(SettingError, match=match):
        make_plan(replace(facts(), **changes), SolverOptions(SOLVER))


@pytest.mark.parametrize(
    "attached", [AttachedColumns(unit=Unit("who", 2)), AttachedColumns(offset=Offset("o", -1.0, 1.0))]
)
def test_units_and_offsets_are_refused(attached: AttachedColumns) -> None:
    given = facts()
    with pytest.raises(SettingError, match="plain records"):
        make_plan(replace(given, design=replace(given.design, attached=attached)), SolverOptions(SOLVER))


@pytest.mark.parametrize("budget", [Budget(mu=0.5, delta=1e-6), Budget(rho=0.1, delta=1e-6)])
def test_a_budget_without_epsilon_is_refused(budget: Budget) -> None:
    with pytest.raises(BudgetError, match="no mu and no rho"):
        make_plan(facts(budget=budget), SolverOptions(SOLVER))


@pytest.mark.parametrize("wish", [{"iterations": 5}, {"step_size": 0.1}, {"output": "last"}, {"max_passes": 50}])
def test_wishes_that_mean_nothing_here_are_refused(wish: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=next(iter(wish))):
        make_plan(facts(), SolverOptions(SOLVER, **wish))


def test_a_budget_that_buys_nothing_is_refused() -> None:
    with pytest.raises(BudgetError, match="too small"):
        make_plan(facts(budget=Budget(epsilon=1e-14, delta=1e-300)), SolverOptions(SOLVER))


@pytest.mark.parametrize("epsilon", [501.0, 1e3, 1e5, 1e300])
def test_a_budget_beyond_the_accountants_is_refused(epsilon: float) -> None:
    with pytest.raises(BudgetError, match="up to epsilon = 500"):
        make_plan(facts(epsilon), SolverOptions(SOLVER))
    assert make_plan(facts(500.0), SolverOptions(SOLVER)).guarantee().epsilon <= 500.0
