"""The planner: never beyond the budget, never beyond the passes, nothing but public facts."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.accounting.composition import compose
from tacit.contract.plan import Penalty, Plan, Solution
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, GradientSum, QueryKind
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.errors import BudgetError, SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.event import Event, Laplace, Repeated
from tacit.privacy.relation import Relation
from tacit.solvers import choice
from tacit.solvers.choice import SOLVERS, PlanSolver, make_plan
from tacit.solvers.coordinates import gradient_bound
from tacit.solvers.gradient import Gradient
from tacit.solvers.newton import Newton
from tacit.solvers.noisy_steps import take_steps
from tacit.solvers.requirements import Requirement, public_n, require
from tacit.solvers.solver import PublicFacts, SolverOptions, assembled, priced
from tacit.solvers.whitened_gradient import WhitenedGradient

NEWTON_FORMS = ("newton", "majorised-newton")

FACTORS = {
    ("gradient", "replace-one"): 4,
    ("noisy-minimum", "replace-one"): 4,
    ("second-moments", "replace-one"): 2,
    ("sandwich", "replace-one"): 2,
}
"""Squared sensitivity over the squared bound (THEORY); 1 for the other relations."""


def facts(
    n: int = 10_000,
    d: int = 5,
    budget: Budget | None = None,
    relation: Relation = Relation.REPLACE_ONE,
    penalty: Penalty | None = None,
) -> PublicFacts:
    names = [f"x{j}" for j in range(d)]
    design = matrix_design(names, Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True)
    chosen = Budget(epsilon=1.0, delta=1e-6) if budget is None else budget
    return PublicFacts(design, n, relation, "row", chosen, penalty or Penalty())


def exact_cost(plan: Plan) -> Fraction:
    """μ² of all answers, from bounds and bits alone."""
    total = Fraction(0)
    for step in plan.steps:
        assert step.price is not None
        factor = FACTORS.get((str(step.kind), str(plan.relation)), 1)
        one = Fraction(factor * step.size * step.price.bound**2, 4**step.price.bits)
        total += step.times * one
    return total


def exact_delta(epsilon: float, mu_squared: Fraction) -> Any:
    """δ(ε) of a Gaussian with this μ², to 60 digits."""
    with mpmath.workdps(60):
        mu = mpmath.sqrt(mpmath.mpf(mu_squared.numerator) / mu_squared.denominator)
        eps = mpmath.mpf(epsilon)
        return mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu)


GAUSSIAN = tuple(name for name in SOLVERS if name != "stochastic")
"""Solvers whose events have a μ; steps over batches are in test_stochastic_plan.py."""
wishes = st.builds(
    SolverOptions,
    solver=st.sampled_from(GAUSSIAN),
    output=st.sampled_from([None, "average", "tail", "last"]),
    iterations=st.none() | st.integers(1, 2000),
    step_size=st.none() | st.floats(1e-6, 1e6),
    inference=st.booleans(),
) | st.builds(SolverOptions, solver=st.sampled_from(GAUSSIAN), max_passes=st.integers(1, 500), inference=st.booleans())


@given(
    n=st.integers(2, 10**9),
    d=st.integers(1, 120),
    epsilon=st.floats(1e-4, 1e3),
    delta=st.floats(1e-30, 0.5),
    relation=st.sampled_from(list(Relation)),
    asked=wishes,
)
@settings(max_examples=80)
def test_t34_the_budget_is_never_exceeded(
    n: int, d: int, epsilon: float, delta: float, relation: Relation, asked: SolverOptions
) -> None:
    """Against the exact curve of the Gaussian, in 60 digits; a refusal is an error of ours."""
    try:
        plan = make_plan(facts(n, d, Budget(epsilon=epsilon, delta=delta), relation), asked)
    except (BudgetError, SettingError):
        return
    if plan.draws_batches:
        # Few passes over a table of many steps; they have no μ.
        assert asked.solver == "auto"
        assert plan.guarantee().epsilon <= epsilon
        return
    if asked.solver in {"exponential", "frank-wolfe"}:
        # A selection has no μ.
        assert plan.guarantee().epsilon <= epsilon
        return
    cost = exact_cost(plan)
    assert exact_delta(epsilon, cost) <= delta
    assert cost == compose(plan.events()).mu_squared
    assert plan.queries == sum(step.times for step in plan.steps)
    if asked.iterations is not None:
        solver: Any = plan.solver
        walk = getattr(solver, "pilot", solver)
        walk = getattr(walk, "descent", walk)
        steps = len(solver.step_sizes) if isinstance(solver, Newton) else getattr(walk, "iterations", None)
        assert getattr(walk, "rounds", steps) == asked.iterations
    for step in plan.steps:
        assert step.price is not None
        assert 0 <= step.price.bits <= 52
        # A direction is no sum over records, and a minimum is found from sums of two words.
        if step.kind not in {QueryKind.DIRECTION, QueryKind.MINIMUM, QueryKind.NOISY_MINIMUM}:
            assert step.price.bound * n <= 2**61


@given(mu=st.floats(1e-3, 10), n=st.integers(1000, 10**7), d=st.integers(1, 50))
@settings(max_examples=40)
def test_t34_nearly_all_of_the_budget_is_used(mu: float, n: int, d: int) -> None:
    """Rounding strands less than a millionth of μ² on tables of ordinary size."""
    plan = make_plan(facts(n, d, Budget(mu=mu, delta=1e-6)), SolverOptions(iterations=20))
    allowed = Fraction(mu) ** 2
    assert allowed * (1 - Fraction(1, 10**6)) <= exact_cost(plan) <= allowed


@pytest.mark.parametrize("solver", ["auto", "gradient", "whitened-gradient"])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
def test_passes_are_capped_on_large_tables(solver: str, epsilon: float) -> None:
    budget = Budget(epsilon=epsilon, delta=1e-6)
    for n, d in ((10**7, 1), (10**6, 10), (10**6, 100), (10**5, 200)):
        assert make_plan(facts(n, d, budget), SolverOptions(solver)).queries <= 30
    for n, d in ((10**6, 5), (10**4, 5), (10**3, 1)):
        assert make_plan(facts(n, d, budget), SolverOptions(solver)).queries <= 1000
    for name in NEWTON_FORMS:
        assert make_plan(facts(10**6, 10, budget), SolverOptions(name)).queries <= 48


@pytest.mark.parametrize("solver", ["gradient", "whitened-gradient"])
@pytest.mark.parametrize("passes", [2, 3, 10, 50])
def test_a_declared_cap_on_passes_holds(solver: str, passes: int) -> None:
    for n in (1000, 10**7):
        plan = make_plan(facts(n), SolverOptions(solver, max_passes=passes))
        assert plan.queries <= passes


def test_wishes_are_honoured() -> None:
    plan = make_plan(facts(), SolverOptions("gradient", "last", 7, 0.25))
    assert isinstance(plan.solver, Gradient)
    descent = plan.solver.descent
    assert (plan.solver.name, descent.output) == ("gradient", "last")
    assert (descent.iterations, descent.step_size) == (7, 0.25)
    assert [(step.kind, step.times) for step in plan.steps] == [(QueryKind.GRADIENT, 7)]
    white = make_plan(facts(), SolverOptions(output="average", iterations=9, step_size=1.5))
    assert isinstance(white.solver, WhitenedGradient)
    descent = white.solver.descent
    assert (descent.output, descent.step_size) == ("average", 1.5)
    assert white.steps[-1].times == 9


@pytest.mark.parametrize("solver", ["gradient", "whitened-gradient"])
def test_forecasts_are_given_where_they_are_proven(solver: str) -> None:
    assert make_plan(facts(), SolverOptions(solver, "last")).forecast is None
    for output in ("average", "tail"):
        forecast = make_plan(facts(), SolverOptions(solver, output)).forecast
        assert forecast is not None
        assert 0 < forecast.excess_loss < np.inf
    too_long = SolverOptions("gradient", step_size=1e6, iterations=5)
    assert make_plan(facts(), too_long).forecast is None


def test_forecasts_improve_with_records_and_budget() -> None:
    for solver in ("gradient", "whitened-gradient"):
        losses = []
        for n, epsilon in ((1000, 0.5), (10_000, 0.5), (10_000, 2.0), (100_000, 2.0)):
            plan = make_plan(facts(n, 5, Budget(epsilon=epsilon, delta=1e-6)), SolverOptions(solver))
            assert plan.forecast is not None
            losses.append(plan.forecast.excess_loss)
        assert losses == sorted(losses, reverse=True)


def test_the_unbounded_budget_has_no_steps() -> None:
    plan = make_plan(facts(budget=Budget(epsilon=np.inf)), SolverOptions())
    assert (plan.steps, plan.private, plan.events()) == ((), False, ())


def test_a_budget_that_buys_noise_alone_is_refused() -> None:
    with pytest.raises(BudgetError, match="too small"):
        make_plan(facts(budget=Budget(mu=1e-14)), SolverOptions("gradient", iterations=100))


def test_t38_equal_facts_make_equal_plans() -> None:
    assert make_plan(facts(), SolverOptions()) == make_plan(facts(), SolverOptions())
    assert str(make_plan(facts(), SolverOptions())) == str(make_plan(facts(), SolverOptions()))


@dataclass(frozen=True)
class HalfSteps:
    """A toy solver: descent with half the longest stable step, in prepared coordinates."""

    rounds: int
    name: str = "half-steps"
    intervals: ClassVar[bool] = False
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        clip = gradient_bound(plan)
        length = 0.5 / (plan.loss.smoothness * plan.design.row_norm**2)

        def step(_: int, theta: Any) -> Any:
            answer = gate.ask(GradientSum(theta, clip, loss=plan.loss))
            return theta - length * answer.value / plan.count

        start = np.zeros(plan.design.width)
        return Solution(take_steps(start, self.rounds, step, first=self.rounds // 2))


def plan_half_steps(known: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    require((Requirement(public_n, "half-steps needs a public n."),), known, options)
    rounds = options.iterations or 40
    steps = (priced(known, QueryKind.GRADIENT, allowed, rounds, Purpose.DESCENT),)
    return assembled(known, HalfSteps(rounds), steps)


@pytest.fixture
def half_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a contributor does: a file, as above, and one line in choice.py."""
    monkeypatch.setattr(choice, "SOLVERS", {**choice.SOLVERS, "half-steps": plan_half_steps})


@pytest.mark.usefixtures("half_steps")
def test_a_solver_is_added_by_a_file_and_one_line() -> None:
    """Its plan is priced, charged, run through the gate and certified as any other."""
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (20_000, 2))
    y = (rng.random(20_000) < 1 / (1 + np.exp(-3 * X[:, 0]))).astype(int)
    model = tacit.LogisticRegression(
        epsilon=4.0, bounds=(-1, 1), solver="half-steps", iterations=30, random_state=1
    ).fit(X, y)
    assert model.plan_.solver == HalfSteps(30)
    assert model.plan_.queries == 30
    assert model.coef_[0, 0] > 1.0 > abs(model.coef_[0, 1])
    assert model.certificate_.document["solver"] == "half-steps"


@pytest.mark.usefixtures("half_steps")
def test_what_an_added_solver_requires_is_refused_by_name() -> None:
    with pytest.raises(SettingError, match="needs a public n"):
        make_plan(facts(relation=Relation.ADD_REMOVE), SolverOptions("half-steps"))


@dataclass(frozen=True)
class LaplacePlan(Plan):
    """A plan of three answers with Laplace noise, of an epsilon each."""

    each: Fraction = Fraction(0)

    def events(self) -> tuple[Event, ...]:
        return (Repeated(Laplace(self.each, 1), 3),)


def pure_solver(share: Fraction) -> PlanSolver:
    def plan(known: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
        shared = vars(assembled(known, HalfSteps(3), ()))
        return LaplacePlan(**shared, each=share * allowed)

    return plan


PURE = Budget(epsilon=0.3, delta=0)


def test_a_pure_plan_spends_exactly_its_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "PURE_SOLVERS", {"half-steps": pure_solver(Fraction(1, 3))})
    plan = make_plan(facts(budget=PURE), SolverOptions("half-steps"))
    found = plan.guarantee()
    assert (found.epsilon, found.delta, found.mu) == (0.3, 0.0, None)
    assert plan.strength == 0.3 / math.sqrt(2)
    assert plan.cautions() == ()
    assert "δ = 0)" in str(plan)
    assert choice.plan_warnings(plan) == ()
    with pytest.raises(SettingError, match='"half-steps" is for delta=0 alone'):
        make_plan(facts(), SolverOptions("half-steps"))


@pytest.mark.parametrize("share", [Fraction(1, 3) + Fraction(1, 10**30), Fraction(1)])
def test_a_pure_plan_beyond_its_epsilon_is_never_returned(monkeypatch: pytest.MonkeyPatch, share: Fraction) -> None:
    monkeypatch.setattr(choice, "PURE_SOLVERS", {"half-steps": pure_solver(share)})
    with pytest.raises(AssertionError, match="more than its budget"):
        make_plan(facts(budget=PURE), SolverOptions("half-steps"))


def test_a_gaussian_plan_is_never_returned_for_a_pure_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "PURE_SOLVERS", {"half-steps": plan_half_steps})
    with pytest.raises(AssertionError, match="more than its budget"):
        make_plan(facts(budget=PURE), SolverOptions("half-steps"))


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name not in choice.PURE_SOLVERS])
def test_a_solver_with_gaussian_noise_is_refused_at_delta_zero(monkeypatch: pytest.MonkeyPatch, solver: str) -> None:
    monkeypatch.setattr(choice, "PURE_SOLVERS", {"half-steps": pure_solver(Fraction(1, 3))})
    with pytest.raises(
        SettingError, match=r'needs Gaussian noise, which delta=0 .* Use solver="half-steps" or a delta'
    ):
        make_plan(facts(budget=PURE), SolverOptions(solver))


def test_a_pure_budget_without_a_pure_solver_is_refused_before_a_record_is_read() -> None:
    broken = np.full((100, 2), np.nan)
    with pytest.raises(SettingError, match="delta=0"):
        tacit.LogisticRegression(epsilon=1.0, delta=0, bounds=(0, 1)).fit(broken, np.zeros(100))
    with pytest.raises(SettingError, match="search for bounds needs Gaussian noise, which delta=0"):
        tacit.GaussianMean(epsilon=1.0, delta=0, bounds="private").fit(broken)


def test_an_unknown_solver_is_refused() -> None:
    with pytest.raises(SettingError, match="solver must be one of 'auto'"):
        make_plan(facts(), SolverOptions("half-steps"))


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "auto"])
def test_intervals_of_a_chosen_solver_are_refused_but_at_infinite_epsilon(solver: str) -> None:
    asked = SolverOptions(solver, inference=True)
    with pytest.raises(SettingError, match=r"intervals|LinearRegression"):
        make_plan(facts(4000, 3, Budget(epsilon=1.0, delta=1e-6)), asked)
    assert make_plan(facts(4000, 3, Budget(epsilon=math.inf)), asked).solver.intervals
