"""Plans of rounds: what they cost, what they share it by, what they refuse."""

import math
from fractions import Fraction
from typing import Any

import pytest

from tacit.contract.plan import Penalty, Plan, Step
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import event_of
from tacit.design.design import matrix_design
from tacit.design.response import Binary, Continuous
from tacit.errors import SettingError
from tacit.losses import classification, regression
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.newton import Newton
from tacit.solvers.solver import PublicFacts, SolverOptions

FORMS = ("newton", "majorised-newton")


def planned(
    solver: str,
    loss: Loss = classification.LOGISTIC,
    *,
    n: int = 4000,
    d: int = 3,
    relation: Relation = Relation.REPLACE_ONE,
    penalty: Penalty | None = None,
    mu: float = 1.0,
    **wishes: Any,
) -> Plan:
    labels = Binary("y", (0, 1)) if loss.one_signed else Continuous.of("y", -1.0, 1.0)
    names = [f"x{j}" for j in range(d)]
    design = matrix_design(names, labels, bounds=(-1, 1), row_norm=None, intercept=True)
    budget = Budget(mu=mu, delta=1e-6)
    facts = PublicFacts(design, n, relation, "row", budget, penalty or Penalty(), loss)
    return make_plan(facts, SolverOptions(solver, **wishes))


def rounds_of(plan: Plan) -> Newton:
    assert isinstance(plan.solver, Newton)
    return plan.solver


def costs(plan: Plan, label: str) -> list[Fraction]:
    found = [step for step in plan.steps if step.label == label]
    return [cost(plan, step) for step in found for _ in range(step.times)]


def cost(plan: Plan, step: Step) -> Fraction:
    assert step.price is not None
    return event_of(step.kind, step.price, plan.relation, step.size).mu_squared


@pytest.mark.parametrize("loss", [classification.LOGISTIC, regression.SQUARED], ids=lambda loss: loss.name)
@pytest.mark.parametrize("solver", FORMS)
@pytest.mark.parametrize("n", [200, 4000, 10**6])
def test_the_whole_budget_is_spent(solver: str, loss: Loss, n: int) -> None:
    plan = planned(solver, loss, n=n)
    total = sum((step.times * cost(plan, step) for step in plan.steps), Fraction(0))
    assert Fraction(999_999, 10**6) <= total <= 1
    assert not plan.solver.intervals


@pytest.mark.parametrize("n", [100, 1000, 10**5, 10**9])
def test_newton_has_at_most_twenty_rounds(n: int) -> None:
    plan = planned("newton", n=n)
    assert 6 <= len(rounds_of(plan).step_sizes) <= 20
    assert [step.kind for step in plan.steps[-2:]] == [QueryKind.GRADIENT, QueryKind.SECOND_MOMENTS]


def test_much_evidence_ends_with_full_steps_and_little_with_damped_ones() -> None:
    sizes = {}
    for n in (200, 1000, 10**5):
        rounds = rounds_of(planned("newton", n=n))
        sizes[n] = rounds.step_sizes[-3:], rounds.output
    assert sizes == {200: ((0.5, 0.5, 0.5), "tail"), 1000: ((0.5, 0.5, 1.0), "last"), 10**5: ((0.5, 1.0, 1.0), "last")}


def test_prices_go_by_what_reaches_the_result() -> None:
    """With one full step at the end the last gradient gets three fifths and its even part."""
    plan = planned("newton", n=1000)
    gradients = costs(plan, "gradient")
    share = gradients[-1] / sum(gradients)
    assert float(share) == pytest.approx(0.6 + 0.4 / len(gradients), rel=1e-5)
    damped = costs(planned("newton", n=1000, step_size=0.5, iterations=8), "gradient")
    reach = [0.5 * 0.5**k for k in range(7, -1, -1)]
    expected = [0.4 / 8 + 0.6 * r / sum(reach) for r in reach]
    got = [float(part / sum(damped)) for part in damped]
    assert got == pytest.approx(expected, rel=1e-5)


def test_curvature_has_its_own_price() -> None:
    plan = planned("newton")
    bends, gradients = sum(costs(plan, "curvature")), sum(costs(plan, "gradient"))
    assert float(bends / (bends + gradients)) == pytest.approx(0.25, rel=1e-5)
    once = costs(planned("majorised-newton"), "bound on the curvature")
    assert [float(part) for part in once] == pytest.approx([0.15], rel=1e-5)


@pytest.mark.parametrize("relation", [Relation.REPLACE_ONE, Relation.ZERO_OUT])
def test_squares_are_as_noisy_as_a_coordinate_of_the_gradient(relation: Relation) -> None:
    """As if both had been one answer: noise of (min(r², c²) - κ)/2 and of -ψ(r) w z."""
    plan = planned("newton", regression.huber(1.345, relative=True), relation=relation)
    clip = rounds_of(plan).start.clip_factor * math.sqrt(plan.design.width)
    noise = {}
    for label, unit in (("gradient", 1.345 * clip), ("squared residuals", 1.345**2 / 2)):
        step = next(step for step in plan.steps if step.label == label)
        assert step.price is not None
        noise[label] = unit * 2.0**step.price.bits / step.price.bound
    assert noise["gradient"] == pytest.approx(noise["squared residuals"], rel=1e-4)


def test_wishes_are_honoured() -> None:
    plan = planned("newton", iterations=9, step_size=0.25, output="average")
    rounds = rounds_of(plan)
    assert rounds.step_sizes == (0.25,) * 9
    assert rounds.first_averaged == 0
    for solver in FORMS:
        assert planned(solver, max_passes=30).queries <= 30
        assert planned(solver, max_passes=22).queries == 22
        with pytest.raises(SettingError, match="at least 22"):
            planned(solver, max_passes=21)


def test_a_declared_scale_is_not_found_again() -> None:
    assert costs(planned("newton", regression.huber(0.2)), "squared residuals") == []
    assert len(costs(planned("newton", regression.SQUARED), "squared residuals")) >= 6


def test_answers_that_take_turns_are_read_together() -> None:
    plan = planned("newton", n=1000)
    lines = str(plan).splitlines()
    assert len(lines) == 1 + 5 + 1
    assert sum(step.times for step in plan.gathered()) == plan.queries


@pytest.mark.parametrize("solver", FORMS)
def test_what_has_no_rounds_is_refused(solver: str) -> None:
    with pytest.raises(SettingError, match="no rounds"):
        planned(solver, classification.hinge(1.0))
    with pytest.raises(SettingError, match="without l2"):
        planned(solver, penalty=Penalty(l2=1.0))
    with pytest.raises(SettingError, match="at most 1"):
        planned(solver, step_size=1.5)
    with pytest.raises(SettingError, match=r'There are no intervals for solver=.*solver="auto".*inference=False'):
        planned(solver, inference=True)
