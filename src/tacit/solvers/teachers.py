"""Private aggregation of teacher ensembles (PATE): teachers on disjoint blocks vote on public rows, with noise.

GNMax: the class with most noised votes. Confident GNMax: only where the noised largest number of votes reaches a
threshold, for at most `answers` rows. Every check and every answer of the plan is paid for, given or not, so the cost
does not depend on the votes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.accounting.composition import mu_squared_of
from tacit.contract.block_query import BlackBox, VoteChecks, VoteCounts
from tacit.contract.plan import Plan, PublicFact, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, QueryKind
from tacit.contract.sensitivity import price_for
from tacit.errors import SettingError
from tacit.solvers.aggregate import rows_needed
from tacit.solvers.block_rules import BLOCKS
from tacit.solvers.solver import PublicFacts, assembled

UNANSWERED = -1


@dataclass(frozen=True)
class TeacherAnswers:
    """Noised votes (answered row, class), which public rows these are, and the deviation of the noise of a vote."""

    votes: NDArray[np.float64]
    rows: NDArray[np.int64]
    noise_scale: float
    labels: NDArray[np.int64]
    """The number of the class of each public row, or UNANSWERED."""


@dataclass(frozen=True, repr=False)
class Teachers:
    """Teachers, the public rows that they vote on (the size of the function), and how many votes are shown."""

    function: BlackBox
    blocks: int
    classes: int
    answers: int
    threshold: float | None = None
    name: str = "teachers"
    intervals: ClassVar[bool] = False
    maps_rows: ClassVar[bool] = False

    def __repr__(self) -> str:
        return f"Teachers(blocks={self.blocks}, rows={self.function.size}, answers={self.answers})"

    def ask(self, gate: Gate) -> TeacherAnswers:
        """Ask for the confidence where it is checked, then for the votes of the rows that passed, in their order."""
        rows = np.arange(self.function.size)
        if self.threshold is not None:
            found = gate.ask(VoteChecks(self.function, self.blocks, self.classes)).value
            passed = np.flatnonzero(found >= self.threshold * self.blocks)
            # As many votes as the plan reserved, whether they are needed or not; further ones are not looked at.
            others = np.setdiff1d(rows, passed)
            rows = np.concatenate([passed, others])[: self.answers]
            kept = min(len(passed), self.answers)
        else:
            rows, kept = rows[: self.answers], self.answers
        answer = gate.ask(VoteCounts(self.function, self.blocks, self.classes, tuple(rows.tolist())))
        votes, rows = answer.value[:kept], rows[:kept]
        labels = np.full(self.function.size, UNANSWERED, dtype=np.int64)
        labels[rows] = votes.argmax(axis=1) if kept else 0
        return TeacherAnswers(votes, rows, answer.noise_scale, labels)

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask the teachers; the coefficients are the numbers of the classes."""
        del plan
        return Solution(self.ask(gate).labels.astype(np.float64))


def plan(facts: PublicFacts, solver: Teachers) -> Plan:
    """Price checks and votes.

    Guarantee
    ---------
    - The plan's events cost at most the budget, in exact rationals, whatever the votes are.
    """
    if solver.blocks < 2:
        raise SettingError("There must be at least two teachers.")
    if facts.records < 2 * solver.blocks:
        raise SettingError(
            f"{solver.blocks} teachers of {facts.records} records have {facts.records / solver.blocks:.3g} each. Use "
            f"fewer teachers, or more records."
        )
    needed = rows_needed(facts.records, solver.blocks, 1)
    solver = replace(solver, function=replace(solver.function, rows_needed=needed))
    public = [PublicFact("teachers", solver.blocks, "declared")]
    if facts.budget.is_infinite:
        return assembled(facts, solver, ()).with_facts(*public)
    if facts.budget.is_pure:
        raise SettingError("Votes of teachers have Gaussian noise: give a delta above 0.")
    allowed = mu_squared_of(facts.budget)
    checked = solver.threshold is not None
    share = BLOCKS.checks if checked else 0
    shape = {"records": solver.blocks, "width": 1}
    steps = []
    if checked:
        rows = solver.function.size
        price = price_for(QueryKind.VOTE_CHECKS, allowed * share, facts.relation, size=rows, **shape)
        steps.append(Step(QueryKind.VOTE_CHECKS, price, 1, Purpose.CONFIDENCE, rows))
    price = price_for(QueryKind.VOTE_COUNTS, allowed * (1 - share), facts.relation, size=solver.answers, **shape)
    steps.append(Step(QueryKind.VOTE_COUNTS, price, 1, Purpose.LABELS, solver.answers))
    return assembled(facts, solver, steps).with_facts(*public)
