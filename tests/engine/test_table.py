"""The table behind the door: what it tells, and that a run needs admitted records."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from tacit.contract.plan import Penalty, Plan
from tacit.contract.statistic_query import BoundedSums
from tacit.design.design import Design, matrix_design
from tacit.design.expression import Statistic
from tacit.design.expression_tree import Cell, Interval
from tacit.design.response import Binary
from tacit.engine.ledger_use import Refusals
from tacit.engine.table import Table
from tacit.errors import DataError, PlanViolation, SchemaError, SettingError
from tacit.mechanisms.query_responder import Responder
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import make_plan
from tacit.solvers.solver import PublicFacts, SolverOptions
from tacit.solvers.statistical_queries import QueryShape
from tacit.solvers.statistical_queries import plan as plan_statistics

N = 200


def design(*names: str, response: str = "y") -> Design:
    chosen = names or ("x0", "x1")
    return matrix_design(chosen, Binary(response, (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True)


def plan(epsilon: float = 1.0) -> Plan:
    budget = Budget(epsilon=epsilon, delta=1e-6)
    facts = PublicFacts(design(), N, Relation.REPLACE_ONE, "row", budget, Penalty())
    return make_plan(facts, SolverOptions())


def open_table() -> Table:
    rng = np.random.default_rng(0)
    return Table(rng.uniform(-1, 1, (N, 2)), rng.integers(0, 2, N))


def test_names_and_response_are_known_before_anything_is_read() -> None:
    table = open_table()
    assert (table.names, table.response) == (("x0", "x1"), "y")
    frame = Table(pd.DataFrame({"a": [0.0, 1.0], "b": [0, 1]}), "b")
    assert (frame.names, frame.response) == (("a", "b"), "b")
    assert frame.classes("b") == [0, 1]


@pytest.mark.parametrize("epsilon", [1.0, np.inf])
def test_a_run_without_admitted_records_is_refused(epsilon: float) -> None:
    with pytest.raises(SettingError, match="admitted"):
        open_table().run(plan(epsilon), seed=None)
    with pytest.raises(SettingError, match="admitted"):
        _ = open_table().records


def test_progress_of_reading_tells_nothing_of_the_records() -> None:
    calls: list[tuple[int, int, str]] = []

    def progress(done: int, total: int, label: str) -> None:
        calls.append((done, total, label))

    with Table(np.zeros((N, 2)), np.arange(N) % 2, progress=progress) as table:
        table.admit(design(), invalid_rows="error", exact=False)
    assert calls == [(0, 1, "reading records"), (1, 1, "reading records")]


def test_a_run_releases_what_the_plan_says() -> None:
    with open_table() as table:
        table.admit(design(), invalid_rows="error", exact=False)
        assert table.records == N
        release = table.run(plan(), seed=None)
    assert release.private
    assert release.theta.shape == (3,)
    assert release.plan == plan()


def test_refused_records_show_no_plan() -> None:
    """Records are admitted before a plan is shown, and it is shown before the first answer."""
    shown: list[Plan] = []
    with Table(np.array([[0.5, 0.5], [np.nan, 0.5]]), [0, 1]) as table, pytest.raises(DataError):
        table.fit(design(), lambda _: plan(), refusals=Refusals.settle(None), seed=None, on_plan=shown.append)
    assert shown == []


def test_a_plan_is_made_before_a_record_is_read() -> None:
    """n is known of a matrix, and not of a file."""
    asked: list[int | None] = []

    def refuse(n: int | None) -> Plan:
        asked.append(n)
        raise SettingError("No.")

    with Table(np.full((2, 2), np.nan), [0, 1]) as table, pytest.raises(SettingError, match="No"):
        table.fit(design(), refuse, refusals=Refusals.settle(None), seed=None)
    assert asked == [2]


def test_a_wide_sparse_table_is_refused_before_the_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    # Whitening writes rows out, and wide ones are not written out: that must not burn the budget.
    charged: list[Any] = []
    monkeypatch.setattr("tacit.engine.table.charge", lambda *asked, **_: charged.append(asked))
    monkeypatch.setattr("tacit.rows.storage.record_store.WIDEST_IMAGE", 2)
    unshifted = matrix_design(
        ("x0", "x1"), Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True, shifted=False
    )
    budget = Budget(epsilon=1.0, delta=1e-6)
    facts = PublicFacts(unshifted, N, Relation.REPLACE_ONE, "row", budget, Penalty())
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, N)
    with Table(sp.csr_array(rng.uniform(-1, 1, (N, 2))), labels) as table:
        table.admit(unshifted, invalid_rows="error", exact=False)
        with pytest.raises(SettingError, match="more than 2 columns"):
            table.run(make_plan(facts, SolverOptions()), seed=None)
        assert charged == []
        assert table.run(make_plan(facts, SolverOptions(solver="gradient")), seed=None).private
    assert len(charged) == 1


def test_the_released_plan_says_what_the_records_were_counted_as() -> None:
    """One seeded run with next to no noise, where a quarter of the records was declared."""
    budget = Budget(epsilon=1000.0, delta=1e-6)
    facts = PublicFacts(design(), 50, Relation.ADD_REMOVE, "row", budget, Penalty())
    with open_table() as table:
        table.admit(design(), invalid_rows="error", exact=False)
        release = table.run(make_plan(facts, SolverOptions()), seed=0)
    assert release.plan.total == pytest.approx(N, abs=5)
    assert (release.plan.records, release.plan.steps) == (50, make_plan(facts, SolverOptions()).steps)


def test_records_are_given_up_after_one_run() -> None:
    """A second run would be a second charge: the records must be admitted again for it."""
    table = open_table()
    table.admit(design(), invalid_rows="error", exact=False)
    table.run(plan(), seed=0)
    with pytest.raises(SettingError, match="admitted"):
        table.run(plan(), seed=0)
    table.admit(design(), invalid_rows="error", exact=False)
    assert table.run(plan(), seed=0).theta.shape == (3,)


def test_closing_forgets_the_records() -> None:
    with open_table() as table:
        table.admit(design(), invalid_rows="error", exact=False)
    with pytest.raises(SettingError, match="admitted"):
        table.run(plan(), seed=None)
    table.close()


def test_records_are_given_up_when_a_run_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> None:
        raise OSError("The disk is gone.")

    monkeypatch.setattr(Responder, "answer", fail)
    table = open_table()
    table.admit(design(), invalid_rows="error", exact=False)
    with pytest.raises(OSError, match="disk"):
        table.run(plan(), seed=None)
    monkeypatch.undo()
    with pytest.raises(SettingError, match="admitted"):
        table.run(plan(), seed=None)


def test_a_refused_table_leaves_nothing_behind() -> None:
    table = Table(np.array([[0.0, 0.0], [np.nan, 0.0]]), [0, 1])
    with pytest.raises(DataError):
        table.admit(design(), invalid_rows="error", exact=False)
    with pytest.raises(SettingError, match="admitted"):
        table.run(plan(), seed=None)


def test_an_unknown_column_is_named() -> None:
    with pytest.raises(SchemaError, match="'z'"):
        open_table().admit(design("z"), invalid_rows="error", exact=False)


def test_a_session_answers_its_plan_once_and_keeps_the_release() -> None:
    statistic = Statistic("x0", Cell("x0", 0, 1.0), Interval(-1.0, 1.0))
    facts = PublicFacts(design(), N, Relation.REPLACE_ONE, "row", Budget(epsilon=1.0, delta=1e-6), Penalty())
    planned = plan_statistics(facts, (QueryShape(1),))
    table = open_table()
    with pytest.raises(SettingError, match="admitted"), table.session(planned, seed=None):
        pass
    chosen = table.admit_by(design(), lambda n: planned, refusals=Refusals("error"), seed=None, exact=True)
    assert chosen == planned
    with table.session(planned, seed=None) as session:
        assert session.gate.ask(BoundedSums((statistic,))).noise_scale > 0
        with pytest.raises(PlanViolation, match="used up"):
            session.gate.ask(BoundedSums((statistic,)))
    with pytest.raises(SettingError, match="admitted"), table.session(planned, seed=None):
        pass
