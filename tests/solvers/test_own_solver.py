"""Own solvers: what they propose is priced, and what they ask beyond it is refused."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.contract.plan import Plan, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import ColumnCounts, Gate, GradientSum, QueryKind
from tacit.contract.sensitivity import Price
from tacit.errors import LedgerError, PlanViolation, SettingError
from tacit.solvers.choice import SOLVERS
from tacit.solvers.coordinates import gradient_bound, public_clip
from tacit.solvers.solver import PublicFacts, SolverOptions, assembled, priced

RNG = np.random.default_rng(4)
X = RNG.uniform(-1, 1, (4000, 2))
Y = (RNG.random(4000) < 1 / (1 + np.exp(-3 * X[:, 0]))).astype(int)


@dataclass
class Steps:
    """Plain descent, as somebody outside would write it; it is not even frozen."""

    rounds: int = 30
    asked: int = 30
    factor: Fraction = Fraction(1)
    query: Any = None
    result: Any = None
    changes: Any = None
    bound: Any = gradient_bound
    name = "steps"

    def plan(self, facts: PublicFacts, _options: SolverOptions, allowed: Fraction) -> Any:
        steps = (priced(facts, QueryKind.GRADIENT, allowed * self.factor, self.rounds, Purpose.DESCENT),)
        plan = assembled(facts, self, steps)
        return plan if self.changes is None else self.changes(plan)

    def run(self, gate: Gate, plan: Plan) -> Any:
        theta = np.zeros(plan.design.width)
        length = 1 / (plan.loss.smoothness * plan.design.row_norm**2)
        iterates = []
        for _ in range(self.asked):
            query = self.query or GradientSum(theta, self.bound(plan), loss=plan.loss)
            theta = theta - length * gate.ask(query).value / plan.count
            iterates.append(theta)
        return Solution(theta, iterates=np.array(iterates)) if self.result is None else self.result

    intervals, maps_rows = False, False


def model(solver: Any, **settings: Any) -> Any:
    return tacit.LogisticRegression(**{"epsilon": 4.0, "bounds": (-1, 1), "solver": solver, **settings})


@pytest.mark.parametrize("settings", [{}, {"relation": "zero-out"}, {"relation": "add-remove", "n_at_least": 3000}])
def test_it_is_priced_run_and_certified(settings: dict[str, Any]) -> None:
    before = dict(SOLVERS)
    fit = model(Steps(), random_state=1, **settings).fit(X, Y)
    assert fit.coef_[0, 0] > 1.0 > abs(fit.coef_[0, 1])
    assert fit.certificate_.document["solver"] == "own: steps"
    assert fit.plan_.guarantee().epsilon <= 4.0
    assert len(fit.release_.path) == 30
    assert dict(SOLVERS) == before


def test_at_infinite_epsilon_it_runs_without_noise() -> None:
    solver = Steps(rounds=3000, asked=3000)
    mine, exact = (model(each, epsilon=math.inf).fit(X, Y) for each in (solver, "auto"))
    np.testing.assert_allclose(mine.coef_, exact.coef_, atol=1e-6)
    assert not mine.certificate_.document["private"]


@pytest.mark.parametrize(
    "fault",
    [Steps(asked=31), Steps(query=ColumnCounts((0,), np.array([0.0]), np.array([1.0])))],
    ids=["one answer too many", "another kind"],
)
def test_the_gate_keeps_to_the_plan(fault: Steps) -> None:
    with pytest.raises(PlanViolation):
        model(fault).fit(X, Y)


def with_step(**changes: Any) -> Any:
    return lambda plan: replace(plan, steps=(replace(plan.steps[0], **changes),))


@pytest.mark.usefixtures("nothing_spent")
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Steps(factor=Fraction(11, 10)), "cost μ = .* are allowed"),
        (Steps(changes=lambda _: None), "must return"),
        (Steps(changes=lambda plan: replace(plan, steps=())), "must return"),
        (Steps(changes=with_step(times=0)), "must return"),
        (Steps(changes=with_step(times=-3)), "must return"),
        (Steps(changes=with_step(price=None)), "must return"),
        (Steps(changes=with_step(price=Price(2**40, 10))), "must return"),
        (Steps(changes=with_step(price=Price(1, 60))), "must return"),
        (Steps(changes=with_step(size=2)), "must return"),
        (Steps(changes=with_step(kind=QueryKind.MINIMUM)), "must return"),
        (Steps(changes=lambda plan: replace(plan, solver=3)), "method run"),
    ],
)
def test_a_proposal_that_cannot_be_kept_is_refused(fault: Steps, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        model(fault).fit(X, Y)


def test_only_the_steps_of_a_proposal_are_taken() -> None:
    def lies(plan: Plan) -> Plan:
        return replace(plan, relation=tacit.Relation.ZERO_OUT, records=10**9, unit="nobody", loss=None)  # type: ignore[arg-type]

    plan = model(Steps(changes=lies)).plan(4000, 2)
    assert (str(plan.relation), plan.records, plan.unit, plan.loss.name) == ("replace-one", 4000, "row", "logistic")


@pytest.mark.parametrize(
    "result", [3, Solution(np.zeros(7)), Solution(np.full(3, np.nan)), Solution(np.zeros(3), iterates=np.zeros((2, 5)))]
)
def test_coefficients_that_are_none_are_refused(result: Any) -> None:
    with pytest.raises(SettingError, match="shape"):
        model(Steps(result=result)).fit(X, Y)


@pytest.mark.parametrize("solver", [object(), 3, None, Steps, Step])
def test_what_is_no_solver_is_refused(solver: Any) -> None:
    with pytest.raises(SettingError, match="solver must be one of"):
        model(solver).plan(1000, 2)


def test_there_are_no_intervals() -> None:
    with pytest.raises(SettingError, match="no intervals"):
        model(Steps(), inference=True).plan(1000, 2)


def test_a_ledger_charges_it_but_no_key_stands_for_it() -> None:
    ledger = tacit.Ledger(budget=tacit.Budget(epsilon=8, delta=1e-4))
    with ledger:
        model(Steps(), classes=(0, 1)).fit(X, Y)
    assert len(ledger.charges()) == 1
    with ledger.request("again"), pytest.raises(LedgerError, match="own loss or solver"):
        model(Steps(), classes=(0, 1)).fit(X, Y)


class Shifting(Price):
    """A price whose noise is another one each time that it is read."""

    read = 0

    def __getattribute__(self, name: str) -> Any:
        if name == "bits":
            Shifting.read += 1
            return 20 if Shifting.read == 1 else 0
        return super().__getattribute__(name)


@pytest.mark.filterwarnings("ignore:The budget is small")
def test_what_is_priced_is_what_the_gate_goes_by() -> None:
    """Steps are read once and rebuilt of plain numbers: a price that changes afterwards changes nothing."""

    def forged(plan: Plan) -> Plan:
        (step,) = plan.steps
        made = replace(plan, steps=(replace(step, price=Shifting(1024, 20)),))
        Shifting.read = 0
        return made

    fitted = model(Steps(rounds=1, asked=1, changes=forged)).fit(X, Y)
    (step,) = fitted.plan_.steps
    assert type(step.price) is Price
    assert step.price == Price(1024, 20)


def test_a_clip_that_noise_swamps_is_warned_of_and_a_public_one_is_not() -> None:
    """The fault: squares have no bounded slope, and by the recipe of the docs noise was 71 times what it need be."""
    numbers = np.where(Y, 0.3, -0.2)

    def least_squares(solver: Any, epsilon: float = 4.0) -> Any:
        return tacit.LinearRegression(epsilon=epsilon, bounds=(-1, 1), y_bounds=(-1, 1), solver=solver, random_state=1)

    with pytest.warns(UserWarning, match=r"Noise swamps .* public_clip\(plan\)"):
        least_squares(Steps()).fit(X, numbers)
    least_squares(Steps(), math.inf).fit(X, numbers)
    fit = least_squares(Steps(bound=public_clip)).fit(X, numbers)
    assert public_clip(fit.plan_) == 2 * fit.plan_.design.row_norm < gradient_bound(fit.plan_) / 10
    exact = least_squares("auto", math.inf).fit(X, numbers)
    np.testing.assert_allclose(fit.coef_, exact.coef_, atol=0.1)


def test_where_slopes_are_bounded_the_public_clip_is_that_bound() -> None:
    plan = model("auto").plan(n=5000, d=2)
    assert public_clip(plan) == gradient_bound(plan)
