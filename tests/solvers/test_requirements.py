"""Requirements of solvers: the first that is missing is named."""

import pytest

from tacit.contract.plan import Penalty
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.errors import BudgetError
from tacit.losses.loss import Code
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.requirements import Requirement, leaves_out, loss_is, no_intervals, no_penalty, public_n, require
from tacit.solvers.solver import PublicFacts, SolverOptions


def facts(n: int = 1000, relation: Relation = Relation.REPLACE_ONE) -> PublicFacts:
    design = matrix_design(["a"], Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True)
    return PublicFacts(design, n, relation, "row", Budget(mu=1.0), Penalty())


def test_the_first_missing_property_is_named() -> None:
    requirements = (
        Requirement(loss_is(Code.LOGISTIC), "never said"),
        Requirement(no_penalty, "nor this"),
        Requirement(public_n, "nor this"),
        Requirement(no_intervals, "{solver} has no intervals for the {loss} loss", BudgetError),
        Requirement(leaves_out("output"), "not reached"),
    )
    require(requirements, facts(), SolverOptions("some"))
    with pytest.raises(BudgetError, match="'some' has no intervals for the logistic loss"):
        require(requirements, facts(), SolverOptions("some", output="last", inference=True))
