"""A run within a ledger: charged before its first answer, whatever becomes of it."""

from typing import Any

import numpy as np
import pytest

from tacit.contract.plan import Penalty, Plan
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.engine.table import Table
from tacit.errors import BudgetError, LedgerError
from tacit.estimators.classifiers import LogisticRegression
from tacit.ledger.ledger import Ledger
from tacit.ledger.repeated_fits import RefitWarning
from tacit.mechanisms.query_responder import Responder
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.solver import PublicFacts, SolverOptions

N = 200
DESIGN = matrix_design(("x0", "x1"), Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True)


def plan(epsilon: float = 1.0, solver: str = "auto") -> Plan:
    budget = Budget(epsilon=epsilon, delta=1e-6)
    facts = PublicFacts(DESIGN, N, Relation.REPLACE_ONE, "row", budget, Penalty())
    return make_plan(facts, SolverOptions(solver=solver))


def admitted(features: Any = None) -> Table:
    rng = np.random.default_rng(0)
    table = Table(rng.uniform(-1, 1, (N, 2)) if features is None else features, [0, 1] * (N // 2))
    table.admit(DESIGN, invalid_rows=None, exact=False)
    return table


def test_a_run_is_charged_its_plan_and_committed() -> None:
    with Ledger(budget=Budget(epsilon=3, delta=1e-6)) as ledger, admitted() as table:
        table.run(plan(), seed=None)
    (charge,) = ledger.charges()
    assert charge.events == plan().events()
    assert charge.release is not None


def test_t44_the_charge_is_there_before_the_first_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(budget=Budget(epsilon=3, delta=1e-6))
    seen: list[int] = []

    def interrupt(*arguments: Any) -> None:
        seen.append(len(ledger.charges()))
        raise KeyboardInterrupt

    monkeypatch.setattr(Responder, "answer", interrupt)
    with ledger, admitted() as table, pytest.raises(KeyboardInterrupt):
        table.run(plan(), seed=None)
    assert seen == [1]
    assert [charge.release for charge in ledger.charges()] == [None]


def test_a_run_beyond_the_budget_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Responder, "answer", None)
    with Ledger(budget=Budget(epsilon=0.5, delta=1e-6)) as ledger, admitted() as table:
        with pytest.raises(BudgetError):
            table.run(plan(), seed=None)
        assert ledger.charges() == ()


@pytest.mark.parametrize(("epsilon", "seed"), [(np.inf, None), (1.0, 7)])
def test_a_run_without_privacy_is_refused_within_a_ledger(epsilon: float, seed: int | None) -> None:
    with Ledger(budget=Budget(epsilon=3, delta=1e-6)) as ledger, admitted() as table:
        with pytest.raises(LedgerError, match="without privacy"):
            table.run(plan(epsilon), seed=seed)
        assert ledger.charges() == ()


def test_a_run_without_a_mu_is_refused_within_a_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Responder, "answer", None)
    with Ledger(budget=Budget(epsilon=3, delta=1e-6)) as ledger, admitted() as table:
        with pytest.raises(LedgerError, match=r'law="gdp", under which objective-perturbation has no price.*law="rdp"'):
            table.run(plan(solver="objective-perturbation"), seed=None)
        assert ledger.charges() == ()


def test_a_perturbed_objective_is_charged_to_a_ledger_by_rdp() -> None:
    fitted = plan(solver="objective-perturbation")
    with Ledger(budget=Budget(epsilon=3, delta=1e-6), law="rdp") as ledger, admitted() as table:
        table.run(fitted, seed=None)
    (charge,) = ledger.charges()
    assert charge.events == fitted.events()
    assert charge.release is not None
    total = ledger.certificate().rederive()
    assert total.epsilon == pytest.approx(fitted.guarantee().epsilon, rel=1e-6)


@pytest.mark.parametrize("budget", [Budget(epsilon=3, delta=1e-6), Budget(epsilon=3, delta=0)])
def test_what_the_law_cannot_price_is_refused_before_a_record_is_read(
    monkeypatch: pytest.MonkeyPatch, budget: Budget
) -> None:
    monkeypatch.setattr("tacit.engine.table.admit", None)
    features, solver = np.full((N, 2), np.nan), "auto" if budget.is_pure else "objective-perturbation"
    model = LogisticRegression(epsilon=1.0, delta=1e-6, bounds=(-1, 1), classes=[0, 1], solver=solver)
    with Ledger(budget=budget) as ledger, pytest.raises(LedgerError, match=r'has no price: .* law="rdp"'):
        model.fit(features, [0, 1] * (N // 2))
    assert ledger.charges() == ()


@pytest.mark.filterwarnings("error")
def test_the_same_data_again_outside_a_ledger_warns() -> None:
    features = np.zeros((N, 2))
    with admitted(features) as table:
        table.run(plan(), seed=None)
    with Ledger(budget=Budget(epsilon=3, delta=1e-6)), admitted(features) as table:
        table.run(plan(), seed=None)
    # Without privacy nothing is promised, and nothing adds up.
    with admitted(features) as table:
        table.run(plan(), seed=7)
    with admitted(features) as table, pytest.warns(RefitWarning, match="same data"):
        table.run(plan(), seed=None)
