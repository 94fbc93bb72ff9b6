"""Second moments and first steps read all of a table unless it is large."""

from __future__ import annotations

import math

import pytest

from tacit.contract.checked_query import PART
from tacit.contract.plan import Penalty
from tacit.design.design import matrix_design
from tacit.design.response import Binary, Continuous
from tacit.losses import regression
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.newton_polish import NewtonPolish
from tacit.solvers.rules import TABLES
from tacit.solvers.solver import PublicFacts, SolverOptions
from tacit.solvers.staged_gradient import Staged


def facts(records: int, width: int, relation: Relation = Relation.REPLACE_ONE) -> PublicFacts:
    design = matrix_design(
        [f"x{j}" for j in range(width - 1)], Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True
    )
    return PublicFacts(design, records, relation, "row", Budget(epsilon=1.0, delta=1e-6), Penalty())


def test_small_tables_are_read_whole() -> None:
    assert facts(10_000, 20).one_in_of_moments(0.1, 2.0) == 1


@pytest.mark.parametrize("records", [10**6, 10**7, 10**9])
@pytest.mark.parametrize("width", [11, 51, 301])
@pytest.mark.parametrize("mu", [0.003, 0.06, 1.0])
def test_the_noise_stays_a_small_share_of_what_is_read(records: int, width: int, mu: float) -> None:
    every = facts(records, width).one_in_of_moments(mu, 2.0)
    assert every in {1, PART}
    edge = math.sqrt(2 * width) * math.sqrt(2) * 4 * width / mu
    assert every == 1 or edge * every / records <= TABLES.noise_norm
    assert every == 1 or records / every >= 1000 * width


def test_a_large_table_is_read_in_part() -> None:
    plan = make_plan(facts(10**7, 51), SolverOptions())
    assert isinstance(plan.solver, NewtonPolish)
    assert plan.solver.whitening.one_in > 1


@pytest.mark.parametrize("records", [10**6, 10**8])
@pytest.mark.parametrize("mu", [0.003, 0.06, 1.0])
def test_the_noise_of_a_first_step_stays_small(records: int, mu: float) -> None:
    every = facts(records, 51).one_in_of_steps(mu, 4.0)
    assert every in {1, PART}
    assert every == 1 or 2 * 4.0 * 51 / (mu * records / every) <= TABLES.step_noise


def test_a_first_stage_reads_a_part_and_the_last_reads_all() -> None:
    names = [f"x{j}" for j in range(50)]
    design = matrix_design(names, Continuous("y", -1.0, 1.0, 0.0, 1.0), bounds=(-1, 1), row_norm=None, intercept=True)
    budget = Budget(epsilon=1.0, delta=1e-6)
    every = []
    for relation in (Relation.REPLACE_ONE, Relation.ADD_REMOVE):
        about = PublicFacts(design, 10**7, relation, "row", budget, Penalty(), loss=regression.SQUARED)
        solver = make_plan(about, SolverOptions()).solver
        assert isinstance(solver, Staged)
        every.append([stage.descent.one_in for stage in solver.stages])
    assert every == [[PART, 1], [PART, 1]]
