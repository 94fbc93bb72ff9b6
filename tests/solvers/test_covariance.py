"""Plans of a covariance, and the choice of coordinates for the second query, by what the first released."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.plan import Penalty, Plan
from tacit.contract.query import Answer, Query, QueryKind, SecondMoments
from tacit.design.attached_columns import AttachedColumns, Unit
from tacit.design.design import matrix_design
from tacit.design.response import Absent
from tacit.errors import SettingError
from tacit.losses import regression
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.solver import PublicFacts, SolverOptions

N = 20_000


def facts(relation: Relation = Relation.REPLACE_ONE) -> PublicFacts:
    design = matrix_design(["a", "b"], Absent(), bounds=(-1, 1), row_norm=None, intercept=True)
    budget = Budget(epsilon=1.0, delta=1e-6)
    return PublicFacts(design, N, relation, "row", budget, Penalty(), regression.SCATTER)


class Moments:
    """A gate over known rows (u, 1), without noise but with its scale; keeps what it was asked."""

    def __init__(self, rows: Any) -> None:
        self.rows, self.asked = rows, list[SecondMoments]()

    def ask(self, query: Query) -> Answer:
        assert isinstance(query, SecondMoments)
        self.asked.append(query)
        rows = self.rows if query.matrix is None else self.rows @ query.matrix
        return Answer(rows.T @ rows, 1.0)


def rows(spread: float) -> Any:
    u = np.random.default_rng(5).uniform(-1, 1, (N, 2)) * spread
    return np.column_stack([u, np.ones(N)])


def plan(**options: Any) -> Plan:
    return make_plan(facts(), SolverOptions(**options))


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("solver", ["auto", "moments"])
def test_t03_a_plan_costs_the_budget(relation: Relation, solver: str) -> None:
    known = facts(relation)
    found = make_plan(known, SolverOptions(solver))
    allowed = mu_squared_of(known.budget)
    assert 0.99 * allowed < compose(found.events()).mu_squared <= allowed
    moments = [step for step in found.steps if step.kind is QueryKind.SECOND_MOMENTS]
    assert sum(step.times for step in moments) == (2 if solver == "auto" else 1)


@pytest.mark.parametrize(("spread", "whitened"), [(0.05, True), (1.0, False)])
def test_narrow_columns_are_asked_for_in_whitened_coordinates(spread: float, whitened: bool) -> None:
    table = rows(spread)
    gate, chosen = Moments(table), plan()
    found = chosen.solver.run(gate, chosen)
    assert [query.matrix is None for query in gate.asked] == [True, not whitened]
    assert found.moments is not None
    np.testing.assert_allclose(found.moments, table.T @ table / N, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.theta, table.mean(axis=0), atol=1e-9)


def test_moments_alone_asks_once_in_prepared_coordinates() -> None:
    gate, chosen = Moments(rows(0.05)), plan(solver="moments")
    chosen.solver.run(gate, chosen)
    assert [query.matrix for query in gate.asked] == [None]
    assert not chosen.solver.maps_rows


def test_units_are_not_whitened() -> None:
    known = facts()
    units = replace(known, design=replace(known.design, attached=AttachedColumns(unit=Unit("who", 3))))
    assert not make_plan(units, SolverOptions()).solver.maps_rows


def test_without_a_public_n_the_matrix_is_divided_by_its_own_count() -> None:
    chosen = make_plan(facts(Relation.ADD_REMOVE), SolverOptions("moments"))
    found = chosen.solver.run(Moments(rows(1.0)[: N // 2]), replace(chosen, total=float(N)))
    assert found.moments is not None
    assert found.moments[-1, -1] == 1.0


def test_another_solver_is_refused() -> None:
    with pytest.raises(SettingError, match='"moments" for prepared coordinates'):
        plan(solver="newton")


def test_the_second_query_has_four_fifths_of_the_budget_and_rows_of_three_root_d() -> None:
    chosen = plan()
    first, second = (compose([event]).mu_squared for event in chosen.events())
    assert float(second / first) == pytest.approx(4.0, rel=1e-3)
    gate = Moments(rows(0.05))
    chosen.solver.run(gate, chosen)
    assert gate.asked[0].row_bound == chosen.design.row_norm
    assert gate.asked[1].row_bound == pytest.approx(3.0 * 3**0.5, rel=2e-2)
