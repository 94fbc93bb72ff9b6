"""The settings of a fit, checked before any record is read, and the plan they lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.constraints.region import Region
from tacit.contract.guarantee_caveats import ONE_RECORD, VALID, needs_one_record
from tacit.contract.plan import Penalty, Plan, PublicFact
from tacit.design.design import Design
from tacit.engine.ledger_use import CHOICES
from tacit.errors import BudgetError, InputError, SettingError
from tacit.losses import logistic
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import INTERVALS_BY_DEFAULT, make_plan, require_solver
from tacit.solvers.one_step import has_intervals
from tacit.solvers.solver import PublicFacts, SolverOptions
from tacit.validate import is_whole, one_of, whole, within

DELTA_OF_PRIVATE_N = 1e-6
"""Or n_at_least^-1.1 where that is less: a default is never one to be warned of."""
LARGEST_PENALTY = 1e30
"""l2, radius and 1/radius beyond it would leave the range of floats inside a solver."""
TRIED_RECORDS = tuple(10**power for power in (4, 6, 3, 5, 7, 2, 8, 9))
"""Where only reading can tell n, settings are refused at once if no such number has a plan."""


@dataclass(frozen=True)
class Settings:
    """Checked settings of a fit, without its design and its table."""

    budget: Budget
    relation: Relation
    unit: str
    n_at_least: int | None
    penalty: Penalty
    options: SolverOptions
    invalid_rows: str | None
    """None: "error" outside a ledger, "zero" inside one."""
    seed: int | None
    intervals_by_default: bool = False
    """Whether nobody asked for intervals: they are left out where a loss has none."""

    @property
    def fewest(self) -> int:
        """Fewer records are refused: 2, or 0 where their number is private."""
        return 2 if self.relation.n_is_public else 0

    def plan(self, design: Design, records: int | None, loss: Loss = logistic.LOSS) -> Plan:
        """Plan the fit of a loss and a design; `records` is ignored where n is private."""
        if self.relation.n_is_public:
            if not is_whole(records, 2):
                raise SettingError("The number of records must be at least 2, a whole number.")
            records, largest_delta = int(records or 0), 1e-5
        elif self.n_at_least is None:
            raise SettingError(
                "With add-remove the number of records is private: declare n_at_least."
            )
        else:
            records, largest_delta = self.n_at_least, DELTA_OF_PRIVATE_N
        self._require_penalty_fits(len(design.columns))
        budget = self.budget.with_delta(min(largest_delta, records**-1.1))
        facts = PublicFacts(design, records, self.relation, self.unit, budget, self.penalty, loss)
        options = self.options
        if self.intervals_by_default and not has_intervals(loss):
            options = replace(options, inference=False)
        plan = make_plan(facts, options)
        if needs_one_record(self.unit, column=design.attached.unit is not None):
            plan = plan.with_facts(PublicFact(ONE_RECORD, self.unit, "assumed"))
        return plan

    def first_plan(self, cases: Sequence[tuple[Design, Loss]], records: int | None) -> Plan:
        """Plan the first of some possible cases that has a plan.

        Guarantee
        ---------
        - Settings are refused if no case has a plan. Where n is not known yet (`records` is None),
          that means for none of the numbers in `TRIED_RECORDS`.
        """
        known = records is not None or not self.relation.n_is_public
        refusals = []
        for number in (records,) if known else TRIED_RECORDS:
            for design, loss in cases:
                try:
                    return self.plan(design, number, loss)
                except InputError as error:
                    refusals.append(error)
        raise refusals[0]

    def facts(
        self, names: Sequence[str], types: Mapping[str, str], *, invalid_rows: str, units: bool
    ) -> list[PublicFact]:
        """What every fit takes as public, and on whose word; n is the number of units if there are.

        Where invalid records are refused, that none was refused is public as well. `types` are
        those that a library gave the columns before they came here, which a record may have
        decided.
        """
        facts = [PublicFact("columns", list(names), "assumed")]
        if types:
            facts.append(PublicFact("column types", dict(types), "assumed"))
        if self.relation.n_is_public:
            counted = "units" if units else "records"
            facts.append(PublicFact(f"number of {counted}", "n", "assumed"))
        else:
            facts.append(PublicFact("n_at_least", self.n_at_least, "declared"))
        if invalid_rows == "error":
            facts.append(PublicFact(VALID, True, "assumed"))
        return facts

    def _require_penalty_fits(self, columns: int) -> None:
        prior_mean, constraint = self.penalty.prior_mean, self.penalty.constraint
        if prior_mean is not None and len(prior_mean) != columns:
            raise SettingError(f"prior_mean must have {columns} entries, one a column.")
        if constraint is not None:
            constraint.check(columns)


def check_settings(
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    budget: Budget | None = None,
    relation: str | Relation = Relation.REPLACE_ONE,
    unit: str = "row",
    n_at_least: int | None = None,
    solver: str = "auto",
    output: str | None = None,
    iterations: int | None = None,
    step_size: float | None = None,
    max_passes: int | None = None,
    radius: float | None = None,
    l2: float = 0.0,
    prior_mean: Sequence[float] | None = None,
    constraint: Any = None,
    inference: bool | None = None,
    invalid_rows: str | None = None,
    random_state: int | None = None,
) -> Settings:
    """Check every setting that needs neither a design nor a table.

    `inference` None means yes, unless the loss has no intervals, or a penalty, a constraint or
    another solver than Newton's is asked for.
    """
    by_default = inference is None
    if inference is None:
        free = not l2 and prior_mean is None and radius is None and constraint is None
        inference = free and solver in INTERVALS_BY_DEFAULT
    options = SolverOptions(solver, output, iterations, step_size, max_passes, bool(inference))
    require_solver(solver)
    if invalid_rows is not None:
        one_of("invalid_rows", invalid_rows, CHOICES)
    if random_state is not None and not is_whole(random_state, 0):
        raise SettingError("random_state must be None or a whole number of at least 0.")
    return Settings(
        budget=make_budget(epsilon, delta, budget),
        relation=Relation.parse(relation),
        unit=unit,
        n_at_least=None if n_at_least is None else whole("n_at_least", n_at_least, 2),
        penalty=_penalty(l2, prior_mean, radius, constraint),
        options=options,
        invalid_rows=invalid_rows,
        seed=None if random_state is None else int(random_state),
        intervals_by_default=by_default,
    )


def make_budget(epsilon: float | None, delta: float | None, budget: Budget | None) -> Budget:
    """One budget from epsilon and delta, or the budget that was given in their place."""
    if budget is not None:
        if epsilon is not None or delta is not None:
            raise BudgetError("Give either budget=… or epsilon=… (and delta=…), not both.")
        if not isinstance(budget, Budget):
            raise BudgetError("budget must be a tacit.Budget, for example Budget(mu=0.3).")
        return budget
    if epsilon is None:
        raise BudgetError(
            "epsilon has no default: declare epsilon=… (for example 1.0), or budget=…"
        )
    return Budget(epsilon=epsilon, delta=delta)


def _penalty(
    l2: float, prior_mean: Sequence[float] | None, radius: float | None, constraint: Any
) -> Penalty:
    prior = None
    if prior_mean is not None:
        values = np.asarray(prior_mean, dtype=np.float64)
        if values.ndim != 1 or not (np.abs(values) <= LARGEST_PENALTY).all():
            raise SettingError("prior_mean must be a sequence of moderate numbers, one a column.")
        prior = tuple(values.tolist())
    if constraint is not None and not isinstance(constraint, Region):
        raise SettingError("constraint must be one of tacit.constraints.region: Box, L1Ball, …")
    ball = (
        None if radius is None else within("radius", radius, 1 / LARGEST_PENALTY, LARGEST_PENALTY)
    )
    return Penalty(within("l2", l2, 0.0, LARGEST_PENALTY), prior, ball, constraint)
