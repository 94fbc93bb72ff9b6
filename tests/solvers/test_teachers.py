"""Teachers: what is asked, what it costs, and that the cost does not depend on the votes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.contract.block_query import BlackBox, VoteChecks, VoteCounts
from tacit.contract.query import Answer, Query
from tacit.errors import SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian, Repeated, Votes
from tacit.solvers.teachers import UNANSWERED, Teachers, plan
from tests.solvers.test_block_plans import facts

ROWS = 6
TEACHERS = Teachers(BlackBox(b"", (0.0,) * ROWS, (1.0, 1.0), (0.0, 0.0)), 50, 3, ROWS)
CONFIDENT = replace(TEACHERS, threshold=0.6, answers=2)


class Gate:
    """Answers with votes for class 2, and checks that pass for some rows."""

    def __init__(self, *passed: int) -> None:
        self.passed, self.asked = passed, list[Query]()

    def ask(self, query: Query) -> Answer:
        self.asked.append(query)
        if isinstance(query, VoteChecks):
            return Answer(np.array([40.0 if row in self.passed else 10.0 for row in range(ROWS)]), 1.0)
        assert isinstance(query, VoteCounts)
        return Answer(np.tile([1.0, 2.0, 30.0], (len(query.rows), 1)), 1.0)


def test_all_rows_are_labelled() -> None:
    found = TEACHERS.ask(Gate())
    assert found.labels.tolist() == [2] * ROWS
    assert TEACHERS.run(Gate(), None).theta.tolist() == [2.0] * ROWS  # type: ignore[arg-type]


@pytest.mark.parametrize(("passed", "answered"), [((), []), ((4,), [4]), ((1, 3, 5), [1, 3])])
def test_confident_answers_are_for_the_first_rows_that_passed(passed: tuple[int, ...], answered: list[int]) -> None:
    gate = Gate(*passed)
    found = CONFIDENT.ask(gate)
    assert found.rows.tolist() == answered
    assert np.flatnonzero(found.labels != UNANSWERED).tolist() == answered
    # The plan's votes are asked for in full, whatever passed: what is asked tells nothing more.
    assert len(gate.asked[1].rows) == 2  # type: ignore[union-attr]


def test_t43_the_cost_is_that_of_all_checks_and_votes() -> None:
    found = plan(facts(), CONFIDENT)
    checks, votes = found.events()
    assert isinstance(checks, Repeated)
    assert isinstance(votes, Repeated)
    assert isinstance(checks.event, Gaussian)
    assert isinstance(votes.event, Votes)
    assert votes.event.queries == 2
    assert found.steps[0].size == ROWS
    assert found.guarantee().epsilon <= 1.0
    assert plan(facts(), TEACHERS).guarantee().epsilon <= 1.0


@pytest.mark.parametrize(
    ("solver", "records", "said"),
    [(replace(TEACHERS, blocks=1), 1000, "at least two teachers"), (TEACHERS, 99, "Use fewer teachers")],
)
def test_too_few_teachers_or_records_are_refused(solver: Teachers, records: int, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        plan(facts(records), solver)


def test_pure_budgets_are_refused_and_none_is_free() -> None:
    with pytest.raises(SettingError, match="delta above 0"):
        plan(facts(epsilon=1.0, delta=0.0), TEACHERS)
    assert plan(replace(facts(), budget=Budget(epsilon=float("inf"))), TEACHERS).steps == ()
    given: Any = repr(TEACHERS)
    assert "BlackBox" not in given
