"""Plans of finite classes and of selected statistics: exact prices, and no run of what is asked in a session."""

from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest

from tacit.accounting.composition import compose
from tacit.contract.plan import Penalty
from tacit.contract.query import Answer, Gate
from tacit.contract.selection_query import CandidateChoice, SelectionLaw
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.errors import BudgetError, PlanViolation
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.hypotheses import Hypotheses, plan, statistic_plan
from tacit.solvers.solver import PublicFacts, SolverOptions

ROWS = ((0.5, 1.0, -1.0), (0.0, 2.0, 3.0))


def facts(budget: Budget, relation: Relation = Relation.REPLACE_ONE) -> PublicFacts:
    design = matrix_design(["a", "b"], Binary("y", (0, 1)), bounds=((0, -3), (2, 1)), row_norm=None, intercept=True)
    return PublicFacts(design, 100, relation, "row", budget, Penalty())


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("law", list(SelectionLaw))
def test_prices_are_exact(law: SelectionLaw, relation: Relation) -> None:
    known = facts(Budget(epsilon=0.7, delta=1e-6), relation)
    for made in (plan(known, SolverOptions(), Hypotheses(ROWS, 1.0, zero_one=True), law), statistic_plan(known, law)):
        assert compose(made.events(), relation).pure_epsilon == Fraction(0.7)


def test_hypotheses_are_asked_for_in_prepared_coordinates() -> None:
    asked: list[Any] = []

    class Recording:
        def ask(self, query: Any) -> Answer:
            asked.append(query)
            return Answer(np.array([1.0]), 0.0)

    made = plan(
        facts(Budget(epsilon=1.0, delta=0.0)),
        SolverOptions(),
        Hypotheses(ROWS, 1.0, zero_one=True),
        SelectionLaw.EXPONENTIAL,
    )
    solution = made.solver.run(cast("Gate", Recording()), made)
    assert isinstance(asked[0], CandidateChoice)
    assert np.allclose(made.design.to_user() @ solution.theta, ROWS[1])


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(BudgetError, match="no mu and no rho"):
        statistic_plan(facts(Budget(mu=1.0)), SelectionLaw.EXPONENTIAL)
    made = statistic_plan(facts(Budget(epsilon=1.0, delta=0.0)), SelectionLaw.EXPONENTIAL)
    with pytest.raises(PlanViolation, match="in a session"):
        made.solver.run(cast("Gate", None), made)
