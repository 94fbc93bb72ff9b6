"""The settings of a fit and the limits of weights, units and exposures, checked before a record is read; their plan."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tacit.constraints.region import Region
from tacit.contract.plan import MANY_ROWS, ONE_RECORD, VALID, FullPenalty, Penalty, Plan, PublicFact
from tacit.contract.released_statistic import checked_statistics
from tacit.design.attached_columns import AttachedColumns, Offset, Unit, Weighting
from tacit.design.design import Design
from tacit.documents.dataclass_json import to_plain
from tacit.engine.ledger_use import CHOICES
from tacit.engine.table import Table
from tacit.errors import BoundsError, BudgetError, InputError, SettingError
from tacit.estimators.loss_choice import require_positive
from tacit.estimators.public_rows import require_start
from tacit.losses import classification
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.choice import INTERVALS_BY_DEFAULT, make_plan, require_solver
from tacit.solvers.requirements import has_intervals
from tacit.solvers.solver import PublicFacts, SolverOptions
from tacit.validate import is_number, one_of, whole, within

WEIGHT, UNIT, ORDER, EXPOSURE = "sample_weight", "unit", "order", "exposure"
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
    seed: int | None
    intervals_by_default: bool = False
    """Whether nobody asked for intervals: they are left out where a loss has none."""

    @property
    def fewest(self) -> int:
        """Fewer records are refused: 2, or 0 where their number is private."""
        return 2 if self.relation.n_is_public else 0

    def public_facts(self, design: Design, records: int | None, loss: Loss) -> PublicFacts:
        """What a plan is made from; `records` is ignored where n is private."""
        if self.relation.n_is_public:
            records, largest_delta = whole("The number of records", records, 2), 1e-5
        elif self.n_at_least is None:
            raise SettingError("With add-remove the number of records is private: declare n_at_least.")
        else:
            records, largest_delta = self.n_at_least, DELTA_OF_PRIVATE_N
        prior_mean, constraint, columns = self.penalty.prior_mean, self.penalty.constraint, len(design.columns)
        if prior_mean is not None and len(prior_mean) != columns:
            raise SettingError(f"prior_mean must have {columns} entries, one a column.")
        if constraint is not None:
            constraint.check(columns)
        budget = self.budget.with_delta(min(largest_delta, records**-1.1))
        return PublicFacts(design, records, self.relation, self.unit, budget, self.penalty, loss)

    def plan(
        self,
        design: Design,
        records: int | None,
        loss: Loss = classification.LOGISTIC,
        planner: Callable[[PublicFacts, SolverOptions], Plan] = make_plan,
    ) -> Plan:
        """Plan the fit of a loss and a design; `records` is ignored where n is private."""
        facts = self.public_facts(design, records, loss)
        without = self.intervals_by_default and not has_intervals(loss)
        plan = planner(facts, replace(self.options, inference=False) if without else self.options)
        if design.attached.unit is None and self.unit not in {"row", "record"}:
            plan = plan.with_facts(PublicFact(ONE_RECORD, self.unit, "assumed"))
        return plan

    def starting_at(self, start: tuple[float, ...]) -> Settings:
        """Return the settings of a fit that begins at prepared coefficients, which are public."""
        return replace(self, options=replace(self.options, start=start))

    def first_plan(
        self,
        cases: Sequence[tuple[Design, Loss]],
        records: int | None,
        planner: Callable[[PublicFacts, SolverOptions], Plan] = make_plan,
    ) -> Plan:
        """Plan the first of some possible cases that has a plan.

        Guarantee: settings are refused if no case has a plan. Unknown n (`records` None) means each of `TRIED_RECORDS`.
        """
        known = records is not None or not self.relation.n_is_public
        refusals = []
        for number in (records,) if known else TRIED_RECORDS:
            for design, loss in cases:
                try:
                    return self.plan(design, number, loss, planner)
                except InputError as error:
                    refusals.append(error)
        raise refusals[0]

    def facts(self, table: Table, invalid_rows: str, *, units: bool) -> list[PublicFact]:
        """What every fit takes as public, and on whose word; n is the number of units if there are.

        Types of columns are those that a library gave them, which a record may have decided.
        """
        facts = [PublicFact("columns", list(table.names), "assumed")]
        if table.column_types:
            facts.append(PublicFact("column types", dict(table.column_types), "assumed"))
        if self.relation.n_is_public:
            facts.append(PublicFact(f"number of {'units' if units else 'records'}", "n", "assumed"))
        else:
            facts.append(PublicFact("n_at_least", self.n_at_least, "declared"))
        facts += [PublicFact(name, value, "declared") for name, value in to_plain(table.reading).items()]
        if units:
            facts.append(PublicFact("estimand", MANY_ROWS.format(unit=self.unit), "declared"))
        return [*facts, PublicFact(VALID, True, "assumed")] if invalid_rows == "error" else facts


def check_settings(
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    budget: Budget | None = None,
    relation: str | Relation = Relation.REPLACE_ONE,
    unit: str = "row",
    n_at_least: int | None = None,
    solver: Any = "auto",
    output: str | None = None,
    iterations: int | None = None,
    step_size: float | None = None,
    sampling: str | None = None,
    batch_size: int | None = None,
    sample_rate: Any = None,
    max_passes: int | None = None,
    radius: float | None = None,
    l2: float | None = None,
    prior_mean: Sequence[float] | None = None,
    constraint: Any = None,
    penalize_intercept: bool = False,
    clip: float | None = None,
    noise_multiplier: float | None = None,
    warm_start: Any = None,
    statistics: Any = None,
    inference: bool | None = None,
    invalid_rows: str | None = None,
    random_state: int | None = None,
) -> Settings:
    """Check every setting that needs neither a design nor a table.

    `inference` None means yes, unless the loss has no intervals, or a penalty, a constraint or a solver is asked for.
    """
    warm_start = None if warm_start is False else warm_start
    if warm_start is not None:
        require_start(warm_start)
    by_default = inference is None
    if inference is None:
        by_hand = any(it is not None for it in (prior_mean, radius, constraint, clip, noise_multiplier, warm_start))
        free = not l2 and not by_hand
        inference = free and isinstance(solver, str) and solver in INTERVALS_BY_DEFAULT
    options = SolverOptions(
        solver,
        output,
        iterations,
        step_size,
        max_passes,
        bool(inference),
        l2=l2,
        clip=clip,
        noise_multiplier=noise_multiplier,
        sampling=sampling,
        batch_size=batch_size,
        sample_rate=sample_rate,
        statistics=checked_statistics(statistics),
    )
    require_solver(solver)
    if invalid_rows is not None:
        one_of("invalid_rows", invalid_rows, CHOICES)
    return Settings(
        budget=make_budget(epsilon, delta, budget, options),
        relation=Relation.parse(relation),
        unit=unit,
        n_at_least=None if n_at_least is None else whole("n_at_least", n_at_least, 2),
        penalty=_penalty(l2, prior_mean, radius, constraint, intercept=penalize_intercept),
        options=options,
        invalid_rows=invalid_rows,
        seed=None if random_state is None else whole("random_state", random_state, 0),
        intervals_by_default=by_default,
    )


def settings_of(given: Mapping[str, Any], **further: Any) -> Settings:
    """Check those that are settings of the given parameters of an estimator or of `glm`."""
    names = inspect.signature(check_settings).parameters
    return check_settings(**{name: value for name, value in {**given, **further}.items() if name in names})


def make_budget(
    epsilon: float | None, delta: float | None, budget: Budget | None, options: SolverOptions | None = None
) -> Budget:
    """One budget from epsilon and delta, the budget that was given in their place, or what hand-set noise costs."""
    if options is not None and options.noise_multiplier is not None:
        if epsilon is None and budget is None:
            mu = math.sqrt(options.iterations or 1) / options.noise_multiplier
            # Rounded up, so that the exact cost is within it.
            return Budget(mu=mu * (1 + 2.0**-50), delta=delta)
        if make_budget(epsilon, delta, budget).is_infinite:
            raise BudgetError("epsilon=inf asks for no noise: leave noise_multiplier out, or epsilon.")
    if budget is not None:
        if epsilon is not None or delta is not None:
            raise BudgetError("Give either budget=… or epsilon=… (and delta=…), not both.")
        if not isinstance(budget, Budget):
            raise BudgetError("budget must be a tacit.Budget, for example Budget(mu=0.3).")
        return budget
    if epsilon is None:
        raise BudgetError("epsilon has no default: declare epsilon=… (for example 1.0), or budget=…")
    return Budget(epsilon=epsilon, delta=delta)


def _penalty(
    l2: float | None, prior_mean: Sequence[float] | None, radius: float | None, constraint: Any, *, intercept: bool
) -> Penalty:
    prior = None
    if prior_mean is not None:
        values = np.asarray(prior_mean, dtype=np.float64)
        if values.ndim != 1 or not (np.abs(values) <= LARGEST_PENALTY).all():
            raise SettingError("prior_mean must be a sequence of moderate numbers, one a column.")
        prior = tuple(values.tolist())
    if constraint is not None and not isinstance(constraint, Region):
        raise SettingError("constraint must be one of tacit.constraints.region: Box, L1Ball, …")
    if radius is not None:
        radius = within("radius", radius, 1 / LARGEST_PENALTY, LARGEST_PENALTY)
    l2 = within("l2", 0.0 if l2 is None else l2, 0.0, LARGEST_PENALTY)
    # Where nothing is penalised, so is the intercept.
    kind = FullPenalty if intercept and (l2 > 0.0 or radius is not None) else Penalty
    return kind(l2, prior, radius, constraint)


@dataclass(frozen=True)
class Declared:
    """Public limits of weights, units and exposures, which `fit` is given as separate arrays.

    The arrays are private and only ever pass through: what is seen is which of them were given.
    """

    max_weight: float | None = None
    max_rows_per_unit: int | None = None
    exposure_bounds: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if self.max_weight is not None:
            require_positive("max_weight", self.max_weight)
        if self.max_rows_per_unit is not None:
            whole("max_rows_per_unit", self.max_rows_per_unit)

    def require(self, given: Collection[str]) -> None:
        """Refuse arrays whose limit is not declared, and a limit on units that are not given."""
        if WEIGHT in given and self.max_weight is None:
            limit = "the largest weight a record may have is public, and it is never read off the weights."
            raise SettingError(f"sample_weight needs max_weight=…: {limit} Larger ones count as max_weight.")
        if UNIT in given and self.max_rows_per_unit is None:
            raise SettingError("units need max_rows_per_unit=…: how many records of one unit are kept is public.")
        if self.max_rows_per_unit is not None and UNIT not in given:
            raise SettingError("max_rows_per_unit needs fit(…, units=…): whose record each one is.")
        if ORDER in given and UNIT not in given:
            raise SettingError("order says which records of a unit are kept: it needs units=…")
        if EXPOSURE in given and self.exposure_bounds is None:
            ends = "exposure_bounds=(lower, upper), which are public and never read off the exposures"
            raise BoundsError(f"exposure needs {ends}. Values outside act as if they stood on them.")

    def attached(self, columns: Mapping[str, str], class_weights: tuple[float, ...] | None) -> AttachedColumns:
        """Declarations of the columns that were given, by the names they go by."""
        weighting = offset = unit = None
        if WEIGHT in columns or class_weights is not None:
            maximum = float(self.max_weight or 1.0) if WEIGHT in columns else 1.0
            weighting = Weighting(columns.get(WEIGHT), maximum, class_weights)
        if EXPOSURE in columns:
            lower, upper = two_ends("exposure_bounds", self.exposure_bounds, "positive")
            offset = Offset(columns[EXPOSURE], math.log(lower), math.log(upper), exposure=True)
        if self.max_rows_per_unit is not None:
            unit = Unit(columns.get(UNIT, UNIT), int(self.max_rows_per_unit), columns.get(ORDER))
        return AttachedColumns(weighting, offset, unit)

    def facts(self, given: Collection[str]) -> list[PublicFact]:
        """What the certificate says of them."""
        facts: dict[str, Any] = {}
        if WEIGHT in given:
            facts["sample_weight"] = {"max_weight": float(self.max_weight or 1.0), "larger weights": "capped"}
        if EXPOSURE in given:
            facts["exposure_bounds"] = list(two_ends("exposure_bounds", self.exposure_bounds, "positive"))
        if UNIT in given:
            facts["max_rows_per_unit"] = self.max_rows_per_unit
        return [PublicFact(name, value, "declared") for name, value in facts.items()]

    def warnings(self, given: Collection[str]) -> list[str]:
        """Say that weights are capped, whether or not one is: that would tell of the records."""
        if WEIGHT not in given:
            return []
        return [f"Weights above the declared max_weight={self.max_weight:g} are capped at it."]


def unit_name(given: Mapping[str, Any]) -> str:
    """What the guarantee is for: a row, or the name of the column of units where it has one."""
    if UNIT not in given:
        return "row"
    name = given[UNIT] if isinstance(given[UNIT], str) else getattr(given[UNIT], "name", None)
    return name if isinstance(name, str) and name.strip() else UNIT


def two_ends(name: str, bounds: Any, kind: Literal["finite", "positive"]) -> tuple[float, float]:
    """Declared public bounds: two numbers of that kind, the lower one first."""
    try:
        lower, upper = bounds
    except (TypeError, ValueError):
        lower = upper = None
    least = 0.0 if kind == "positive" else -math.inf
    if not (is_number(lower) and is_number(upper) and least < lower < upper < math.inf):
        raise BoundsError(f"{name} must be two {kind} numbers, the lower one first.")
    return float(lower), float(upper)


def class_weights(weights: Any, classes: Sequence[Any]) -> tuple[float, ...] | None:
    """Weights of the classes in their order; 1 where a class has none. Fixed by the user alone."""
    if weights is None:
        return None
    if not isinstance(weights, Mapping):
        balanced = 'Weights that balance the classes ("balanced") would be read off the data, which costs budget.'
        raise SettingError(f"class_weight must be a dictionary from label to weight. {balanced}")
    plain = {label.item() if isinstance(label, np.generic) else label: weights[label] for label in weights}
    if not set(plain) <= set(classes):
        raise SettingError("class_weight names a label that is not among the classes.")
    values = [plain.get(label, 1.0) for label in classes]
    if not all(is_number(value) for value in values):
        raise SettingError("Class weights must be numbers.")
    return tuple(float(value) for value in values)
