"""From a user's settings to a release: the way all estimators share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.constraints.region import Region
from tacit.contract.assumptions import ONE_RECORD, VALID, needs_one_record
from tacit.contract.budget_warnings import plan_cautions
from tacit.contract.plan import Penalty, Plan, PublicFact
from tacit.contract.release import Release
from tacit.design.design import Design
from tacit.engine.refusals import CHOICES, Refusals
from tacit.engine.table import Table
from tacit.errors import BudgetError, PrivacyWarning, SettingError
from tacit.estimators.loss_choice import is_real
from tacit.losses import logistic
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import INTERVALS_BY_DEFAULT, make_plan, require_solver
from tacit.solvers.one_step import has_intervals
from tacit.solvers.signal import plan_warnings
from tacit.solvers.solver import PublicFacts, SolverOptions

DELTA_OF_PRIVATE_N = 1e-6
"""Or n_at_least^-1.1 where that is less: a default is never one to be warned of."""
LARGEST_PENALTY = 1e30
"""l2, radius and 1/radius beyond it would leave the range of floats inside a solver."""


@dataclass(frozen=True)
class Request:
    """A checked request for a fit, without the table."""

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
        """Records below which a table is refused: none are where their number is private."""
        return 2 if self.relation.n_is_public else 0

    def plan(self, design: Design, records: int | None, loss: Loss = logistic.LOSS) -> Plan:
        """Price the fit of a loss and a design; `records` is ignored where n is private."""
        if self.relation.n_is_public:
            if not _is_whole(records, 2):
                raise SettingError("The number of records must be at least 2, a whole number.")
            records = int(records or 0)
            delta = min(1e-5, records**-1.1)
        else:
            if self.n_at_least is None:
                raise SettingError(
                    "With add-remove the number of records is private: declare n_at_least."
                )
            records = self.n_at_least
            delta = min(DELTA_OF_PRIVATE_N, records**-1.1)
        if self.penalty.prior_mean is not None:
            expected = len(design.columns)
            if len(self.penalty.prior_mean) != expected:
                raise SettingError(f"prior_mean must have {expected} entries, one a column.")
        if self.penalty.constraint is not None:
            self.penalty.constraint.check(len(design.columns))
        budget = self.budget.with_delta(delta)
        facts = PublicFacts(design, records, self.relation, self.unit, budget, self.penalty, loss)
        options = self.options
        if self.intervals_by_default and not has_intervals(loss):
            options = replace(options, inference=False)
        plan = make_plan(facts, options)
        if needs_one_record(self.unit, column=design.beside.unit is not None):
            plan = plan.with_facts(PublicFact(ONE_RECORD, self.unit, "assumed"))
        return plan


def make_request(
    *,
    epsilon: float | None,
    delta: float | None,
    budget: Budget | None,
    relation: str | Relation,
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
) -> Request:
    """Check every setting that needs no table.

    Intervals are paid for unless they are declined (`inference` False) or, where nothing is said,
    the loss has none, or a penalty, a constraint, or a solver but Newton's is asked for.
    """
    by_default = inference is None
    if inference is None:
        free = not l2 and prior_mean is None and radius is None and constraint is None
        inference = free and solver in INTERVALS_BY_DEFAULT
    require_solver(solver)
    if invalid_rows is not None and invalid_rows not in CHOICES:
        raise SettingError(f'invalid_rows must be "error" or "zero"; got {invalid_rows!r}.')
    if random_state is not None and not _is_whole(random_state, 0):
        raise SettingError("random_state must be None or a whole number of at least 0.")
    if n_at_least is not None and not _is_whole(n_at_least, 2):
        raise SettingError("n_at_least must be a whole number of at least 2.")
    return Request(
        budget=make_budget(epsilon, delta, budget),
        relation=Relation.parse(relation),
        unit=unit,
        n_at_least=None if n_at_least is None else int(n_at_least),
        penalty=_penalty(l2, prior_mean, radius, constraint),
        options=SolverOptions(solver, output, iterations, step_size, max_passes, bool(inference)),
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


def fit_release(
    table: Table,
    request: Request,
    design: Design,
    facts: Sequence[PublicFact],
    on_plan: Callable[[Plan], None] | None = None,
    *,
    refusals: Refusals,
    loss: Loss = logistic.LOSS,
    warned: Sequence[str] = (),
) -> Release:
    """Admit the table, plan, run.

    Guarantee
    ---------
    - Warnings are of public facts alone, and come before anything is spent.
    """
    exact = request.budget.is_infinite
    with refusals.logged():
        table.admit(design, invalid_rows=refusals.invalid_rows, exact=exact, seed=request.seed)
    plan = request.plan(design, table.records, loss).with_facts(*facts)
    for text in (*warned, *plan_warnings(plan), *_more_columns_than_records(plan)):
        warnings.warn(text, UserWarning, stacklevel=3)
    for text in plan_cautions(plan):
        warnings.warn(text, PrivacyWarning, stacklevel=3)
    if on_plan is not None:
        on_plan(plan)
    return table.run(plan, seed=request.seed)


def _more_columns_than_records(plan: Plan) -> tuple[str, ...]:
    if plan.design.width <= plan.records:
        return ()
    text = (
        f"There are more coefficients ({plan.design.width}) than records: many fit equally well, "
        "and this is one of them. Use fewer columns, or l2=…"
    )
    return (text,)


def common_facts(
    request: Request,
    names: Sequence[str],
    *,
    invalid_rows: str,
    units: bool = False,
    types: Mapping[str, str] | None = None,
) -> list[PublicFact]:
    """What every fit takes as public, and on whose word; n is the number of units if there are.

    Where invalid records are refused, that none was refused is public as well. `types` are those
    that a library gave the columns before they came here, which a record may have decided.
    """
    facts = [PublicFact("columns", list(names), "assumed")]
    if types:
        facts.append(PublicFact("column types", dict(types), "assumed"))
    if request.relation.n_is_public:
        counted = "units" if units else "records"
        facts.append(PublicFact(f"number of {counted}", "n", "assumed"))
    else:
        facts.append(PublicFact("n_at_least", request.n_at_least, "declared"))
    if invalid_rows == "error":
        facts.append(PublicFact(VALID, True, "assumed"))
    return facts


def _penalty(
    l2: float, prior_mean: Sequence[float] | None, radius: float | None, constraint: Any
) -> Penalty:
    if not is_real(l2) or not 0 <= l2 <= LARGEST_PENALTY:
        raise SettingError(f"l2 must lie in [0, {LARGEST_PENALTY:g}]; got {l2!r}.")
    ends = 1 / LARGEST_PENALTY, LARGEST_PENALTY
    if radius is not None and (not is_real(radius) or not ends[0] <= radius <= ends[1]):
        raise SettingError(f"radius must lie in [{ends[0]:g}, {ends[1]:g}]; got {radius!r}.")
    prior = None
    if prior_mean is not None:
        values = np.asarray(prior_mean, dtype=np.float64)
        if values.ndim != 1 or not (np.abs(values) <= LARGEST_PENALTY).all():
            raise SettingError("prior_mean must be a sequence of moderate numbers, one a column.")
        prior = tuple(values.tolist())
    if constraint is not None and not isinstance(constraint, Region):
        raise SettingError("constraint must be one of tacit.constraints.region: Box, L1Ball, …")
    return Penalty(float(l2), prior, None if radius is None else float(radius), constraint)


def _is_whole(value: Any, least: int) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and int(value) >= least
