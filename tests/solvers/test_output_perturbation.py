"""Output perturbation: the plan, its ridge, the user's units, what is asked and what is refused."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.plan import Penalty
from tacit.contract.query import Answer, NoisyMinimum, Query
from tacit.contract.sensitivity import GammaPrice, Price
from tacit.design.attached_columns import AttachedColumns, Offset, Unit, Weighting
from tacit.design.design import Design, matrix_design
from tacit.design.response import Binary, Continuous, Response
from tacit.errors import BudgetError, SettingError
from tacit.losses import classification, regression
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan, plan_warnings
from tacit.solvers.interval_rules import OUTPUT_PERTURBATION
from tacit.solvers.output_perturbation import NAME, OutputPerturbation, bounded, user_ridge, user_units
from tacit.solvers.solver import PublicFacts, SolverOptions

PUBLIC = (Relation.REPLACE_ONE, Relation.ZERO_OUT)
ASKED = SolverOptions(NAME)
LABELS = Binary("y", (0, 1))


def design_of(bounds: Any = (-3, 3), response: Response = LABELS, row_norm: float | None = None, d: int = 4) -> Design:
    names = [f"x{j}" for j in range(d)]
    return matrix_design(names, response, bounds=bounds, row_norm=row_norm, intercept=True)


def facts(budget: Budget | None = None, relation: Relation = Relation.REPLACE_ONE, **changes: Any) -> PublicFacts:
    chosen = Budget(epsilon=1.0, delta=1e-6) if budget is None else budget
    return replace(PublicFacts(design_of(), 5000, relation, "row", chosen, Penalty()), **changes)


@given(
    epsilon=st.floats(1e-3, 100),
    delta=st.sampled_from([0.0, 1e-9, 1e-3]),
    relation=st.sampled_from(PUBLIC),
    n=st.integers(2, 10**8),
    l2=st.sampled_from([0.0, 1e-4, 1.0]),
)
def test_t34_a_plan_spends_the_budget_and_no_more(
    epsilon: float, delta: float, relation: Relation, n: int, l2: float
) -> None:
    budget = Budget(epsilon=epsilon, delta=delta)
    plan = make_plan(facts(budget, relation, records=n, penalty=Penalty(l2)), ASKED)
    total = compose(plan.events(), relation)
    if delta == 0.0:
        assert total.pure_epsilon is not None
        assert Fraction(epsilon) * (1 - Fraction(1, 10**5)) < total.pure_epsilon <= Fraction(epsilon)
        assert isinstance(plan.steps[0].price, GammaPrice)
    else:
        allowed = mu_squared_of(budget)
        assert allowed * (1 - Fraction(1, 10**6)) < total.mu_squared <= allowed
        assert isinstance(plan.steps[0].price, Price)
    assert plan.queries == 1
    assert plan.requires_whole_table


@pytest.mark.parametrize("budget", [Budget(mu=0.3, delta=1e-6), Budget(rho=0.05, delta=1e-6)])
def test_it_is_gaussian_and_has_a_mu(budget: Budget) -> None:
    plan = make_plan(facts(budget), ASKED)
    assert plan.guarantee().mu == pytest.approx(math.sqrt(mu_squared_of(budget)), rel=1e-6)


@pytest.mark.parametrize("relation", PUBLIC)
@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize(("response", "loss"), [(LABELS, classification.LOGISTIC), (None, regression.huber(0.5))])
def test_the_ridge_minimises_the_forecast(
    relation: Relation, pure: bool, response: Response | None, loss: Loss
) -> None:
    """λR²/2 + nβv/2 over rows of norm 1: no other ridge does better, and the plan's forecast is its value."""
    design = design_of(response=response or Continuous.of("y", -1, 1))
    given = facts(Budget(epsilon=0.7, delta=0.0 if pure else 1e-6), relation, design=design, loss=loss)
    plan = make_plan(given, ASKED)
    assert isinstance(plan.solver, OutputPerturbation)
    radius = OUTPUT_PERTURBATION.norm if response else OUTPUT_PERTURBATION.response_norm
    noise = 6 / 0.7**2 if pure else 1 / float(mu_squared_of(given.budget))

    def bound(ridge: float) -> float:
        variance = (given.sensitivity * loss.lipschitz / ridge) ** 2 * noise
        return (ridge * radius**2 / 2 + given.records * loss.smoothness * variance / 2) / given.records

    ridge = plan.solver.ridge / design.row_norm**2
    assert plan.forecast is not None
    assert plan.forecast.excess_loss == pytest.approx(bound(ridge))
    assert bound(ridge) <= min(bound(ridge * 1.01), bound(ridge / 1.01))


class Gate:
    """Answers ones, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Query] = []

    def ask(self, query: Query) -> Answer:
        self.asked.append(query)
        assert isinstance(query, NoisyMinimum)
        return Answer(np.ones(5), 1.0)


def test_one_minimum_is_asked_for_in_prepared_coordinates() -> None:
    plan, gate = make_plan(facts(), ASKED), Gate()
    theta = plan.solver.run(gate, plan).theta
    (query,) = gate.asked
    assert isinstance(query, NoisyMinimum)
    assert isinstance(plan.solver, OutputPerturbation)
    assert (query.clip, query.ridge, query.matrix) == (plan.design.row_norm, plan.solver.ridge, None)
    assert not plan.solver.maps_rows
    np.testing.assert_array_equal(theta, np.ones(5))


def test_the_users_l2_is_asked_for_in_the_users_units() -> None:
    design = design_of(((-3, 0, -1, 5), (3, 10, 1, 7)))
    plan, gate = make_plan(facts(design=design, penalty=Penalty(0.1)), ASKED), Gate()
    theta = plan.solver.run(gate, plan).theta
    (query,) = gate.asked
    assert isinstance(query, NoisyMinimum)
    assert plan.solver.maps_rows
    # Half widths 3, 5, 1, 1 and 1 for the intercept, over the largest.
    expected = np.array([3, 5, 1, 1, 1]) / 5
    np.testing.assert_allclose(np.diagonal(query.matrix), expected)  # type: ignore[arg-type]
    np.testing.assert_allclose(theta, expected)
    assert query.clip == pytest.approx(np.linalg.norm(expected))
    assert query.ridge == pytest.approx(0.1 * 5000 / 25)


@pytest.mark.parametrize("scale", [1.0, 7.0])
@pytest.mark.parametrize("loss", [regression.SQUARED, regression.huber(0.2), regression.pinball(0.5, 0.1)])
@pytest.mark.parametrize("weight", [None, 4.0])
def test_the_ridge_is_the_users_penalty_in_prepared_units(scale: float, loss: Loss, weight: float | None) -> None:
    """n·(l2/2)·(‖coef‖² + intercept²), over scale^degree and the largest weight, is (ridge/2)·‖ψ‖² for every ψ."""
    design = design_of((-2, 6), Continuous.of("y", -scale, scale))
    if weight is not None:
        design = replace(design, attached=AttachedColumns(weighting=Weighting("w", weight)))
    given = facts(design=design, loss=loss, penalty=Penalty(0.3))
    psi = np.random.default_rng(0).normal(size=5)
    matrix, _ = user_units(design)
    prepared = matrix @ psi
    slopes = design.to_user()[1:] @ prepared
    intercept = scale * prepared[-1]
    penalty = 5000 * 0.3 / 2 * (slopes @ slopes + intercept**2)
    assert user_ridge(given) / 2 * psi @ psi == pytest.approx(penalty / scale**loss.degree / (weight or 1.0))


@given(st.data())
def test_the_norm_bound_of_the_users_units_holds(data: st.DataObject) -> None:
    ends = st.floats(-100, 100)
    lower = np.array(data.draw(st.lists(ends, min_size=4, max_size=4)))
    upper = lower + np.array(data.draw(st.lists(st.floats(0.01, 100), min_size=4, max_size=4)))
    row_norm = data.draw(st.sampled_from([None, 0.5, 1.5]))
    design = design_of((lower, upper), row_norm=row_norm)
    matrix, norm = user_units(design)
    corner = np.array(data.draw(st.lists(st.sampled_from([-1.0, 1.0, 0.3]), min_size=4, max_size=4)))
    corner *= min(1.0, design.feature_norm / np.linalg.norm(corner))
    assert np.linalg.norm(matrix.T @ np.append(corner, 1.0)) <= norm * (1 + 1e-12)


def test_least_squares_grows_linearly_beyond_the_width_of_the_bounds() -> None:
    assert bounded(regression.SQUARED) == regression.huber(2.0)
    assert bounded(classification.LOGISTIC) is classification.LOGISTIC


@pytest.mark.parametrize("budget", [Budget(epsilon=1.0, delta=1e-6), Budget(epsilon=1.0, delta=0.0)])
@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"relation": Relation.ADD_REMOVE}, "public n"),
        ({"penalty": Penalty(radius=1.0)}, "no prior_mean, radius and constraint"),
        ({"penalty": Penalty(l2=1.0, prior_mean=(0.0,) * 4)}, "no prior_mean, radius and constraint"),
        ({"loss": regression.huber(1.0, relative=True)}, "huber loss: its scale is found in the records"),
        ({"loss": classification.weighted_logistic(0.1)}, "weighted-logistic loss"),
        ({"loss": replace(classification.LOGISTIC, smoothness=math.inf)}, "logistic loss: its slope jumps"),
    ],
)
def test_what_has_no_proof_is_refused_by_its_property(budget: Budget, changes: dict[str, Any], match: str) -> None:
    with pytest.raises(SettingError, match=match):
        make_plan(facts(budget, **changes), ASKED)


@pytest.mark.parametrize(
    "attached", [AttachedColumns(unit=Unit("who", 2)), AttachedColumns(offset=Offset("o", -1.0, 1.0))]
)
def test_units_and_offsets_are_refused(attached: AttachedColumns) -> None:
    with pytest.raises(SettingError, match="plain records"):
        make_plan(facts(design=replace(design_of(), attached=attached)), ASKED)


@pytest.mark.parametrize(
    "wish", [{"iterations": 5}, {"step_size": 0.1}, {"output": "last"}, {"max_passes": 50}, {"l2": 0.0}]
)
def test_wishes_that_mean_nothing_here_are_refused(wish: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=next(iter(wish))):
        make_plan(facts(), SolverOptions(NAME, **wish))


def test_no_ridge_is_refused_with_the_property_that_is_missing() -> None:
    with pytest.raises(SettingError, match="strongly convex"):
        make_plan(facts(), SolverOptions(NAME, l2=0.0))


def test_private_bounds_and_intervals_are_refused() -> None:
    with pytest.raises(SettingError, match="declared bounds"):
        make_plan(facts(design=design_of("private")), ASKED)
    with pytest.raises(SettingError, match="no intervals"):
        make_plan(facts(), SolverOptions(NAME, inference=True))


@pytest.mark.parametrize("budget", [Budget(epsilon=1e-9, delta=0.0), Budget(epsilon=1e-14, delta=1e-300)])
def test_a_budget_that_buys_nothing_is_refused(budget: Budget) -> None:
    with pytest.raises(BudgetError, match="too small"):
        make_plan(facts(budget), ASKED)


@pytest.mark.parametrize(("l2", "warned"), [(1e-6, True), (0.1, False), (0.0, False)])
def test_a_small_l2_is_warned_of(l2: float, *, warned: bool) -> None:
    plan = make_plan(facts(penalty=Penalty(l2)), ASKED)
    assert any("l2 is small" in text for text in plan_warnings(plan)) is warned


def test_without_a_budget_the_users_ridge_is_exact_and_no_ridge_is_the_usual_fit() -> None:
    infinite = Budget(epsilon=math.inf)
    penalised = make_plan(facts(infinite, penalty=Penalty(0.1)), ASKED)
    assert isinstance(penalised.solver, OutputPerturbation)
    assert penalised.steps == ()
    assert make_plan(facts(infinite), ASKED).solver == make_plan(facts(infinite), SolverOptions()).solver
