"""What solvers share: options, the cap on passes."""

from typing import Any

import pytest

from tacit.contract.plan import Penalty
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.errors import SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.solver import PublicFacts, SolverOptions, require_passes


def facts(n: int = 1000, relation: Relation = Relation.REPLACE_ONE) -> PublicFacts:
    design = matrix_design(["a"], Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True)
    return PublicFacts(design, n, relation, "row", Budget(mu=1.0), Penalty())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"output": "first"}, "output must be one of 'average', 'tail', 'last'"),
        ({"iterations": 0}, "iterations must be a whole number of at least 1"),
        ({"max_passes": 2.5}, "max_passes must be a whole number"),
        ({"step_size": -1.0}, "step_size must be"),
        ({"step_size": float("nan")}, "step_size must be"),
        ({"step_size": 1e40}, "step_size must"),
    ],
)
def test_options_that_no_plan_can_honour_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingError, match=said):
        SolverOptions(**options)


def test_counting_the_records_takes_a_pass() -> None:
    public, private = facts(), facts(relation=Relation.ADD_REMOVE)
    assert public.passes_allowed(SolverOptions(max_passes=9)) == 9
    assert private.passes_allowed(SolverOptions(max_passes=9)) == 8
    assert facts(10**7).passes_allowed(SolverOptions()) == 30
    with pytest.raises(SettingError, match="at least 7"):
        require_passes(SolverOptions(max_passes=6, iterations=2), 3, 2)
