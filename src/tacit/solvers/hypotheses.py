"""A learner over a finite class: one of the user's hypotheses, or one of some statistics, selected by its score.

With k hypotheses and losses in [0, 1], the exponential mechanism of range ε has an excess sum of losses above
2(log k + log(1/β)) / ε with probability at most β where a record is replaced, half of that where it is blanked.

References
----------
Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith (2011), "What can we learn privately?", Theorem 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.contract.plan import Plan, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, QueryKind
from tacit.contract.selection_price import selection_price
from tacit.contract.selection_query import CandidateChoice, SelectionLaw
from tacit.errors import BudgetError, PlanViolation
from tacit.solvers import requirements as needs
from tacit.solvers.requirements import Requirement, require
from tacit.solvers.solver import CoefficientSolver, PublicFacts, SolverOptions, assembled

NAME = "hypotheses"
BUDGET = Requirement(
    lambda facts, _: facts.budget.epsilon is not None,
    "A selection has no mu and no rho of its own: give a budget of epsilon, with or without delta.",
    BudgetError,
)
REQUIRES = (
    BUDGET,
    needs.NO_INTERVALS,
    Requirement(
        lambda facts, _: facts.design.attached.unit is None, "Hypotheses are compared on plain records, without units."
    ),
    Requirement(needs.declared_bounds, "Hypotheses need declared bounds: they are in the user's units."),
    Requirement(needs.no_penalty, "Hypotheses take no l2, prior_mean, radius and constraint: leave them out."),
    Requirement(lambda _, options: options.solver == "auto", "A finite class has no solver to choose: leave it out."),
    *needs.takes_no(NAME, "iterations", "step_size", "output", "max_passes", "clip", "noise_multiplier"),
)


@dataclass(frozen=True)
class Hypotheses(CoefficientSolver):
    """Coefficients of the user's columns, intercept first, one hypothesis a row; losses are clipped to `cap`."""

    rows: tuple[tuple[float, ...], ...]
    cap: float
    zero_one: bool
    name: str = NAME
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for one of them."""
        design = plan.design
        given = np.array(self.rows) - design.shift()
        prepared = np.ascontiguousarray(np.linalg.solve(design.to_user(), given.T).T)
        index = gate.ask(CandidateChoice(prepared, self.cap, plan.loss, self.zero_one)).value[0]
        return Solution(prepared[int(index)].copy())


@dataclass(frozen=True)
class SelectedStatistic(CoefficientSolver):
    """One statistic of some, asked for in a session."""

    law: str
    name: str = "selection"
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Refuse: which statistics are compared is decided outside, in a session."""
        del gate, plan
        raise PlanViolation("A statistic is selected in a session.")


def plan(facts: PublicFacts, options: SolverOptions, solver: Hypotheses, law: SelectionLaw) -> Plan:
    """Price a hypothesis; without noise (ε = ∞) it is the best one.

    Guarantee
    ---------
    - The event costs exactly ε, whatever δ is.
    """
    require(REQUIRES, facts, options)
    if facts.budget.is_infinite:
        return assembled(facts, solver, ())
    price = selection_price(QueryKind.SELECTION, Fraction(facts.budget.epsilon or 0), facts.relation, law=law)
    return assembled(facts, solver, (Step(QueryKind.SELECTION, price, 1, Purpose.CANDIDATE),))


def statistic_plan(facts: PublicFacts, law: SelectionLaw) -> Plan:
    """Price the choice of a statistic.

    Guarantee
    ---------
    - The event costs exactly ε.
    """
    require((BUDGET,), facts, SolverOptions())
    solver = SelectedStatistic(str(law))
    if facts.budget.is_infinite:
        return assembled(facts, solver, ())
    kind = QueryKind.SIGNED_SELECTION
    price = selection_price(kind, Fraction(facts.budget.epsilon or 0), facts.relation, law=law)
    return assembled(facts, solver, (Step(kind, price, 1, Purpose.CANDIDATE),))
