"""What every solver shares: public facts, the user's options, requirements, priced steps.

A solver is one file. It has frozen settings with a `run(gate, plan)`, the `REQUIRES` of its fits,
and a function `plan(facts, options, allowed)` that prices its steps within `allowed`, a μ².
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tacit.contract.plan import Forecast, Penalty, Plan, Purpose, Solver, Step
from tacit.contract.query import PART, QueryKind
from tacit.contract.sensitivity import price_for
from tacit.design.design import Column, Design
from tacit.design.response import Absent, Continuous
from tacit.errors import SettingError, TacitError
from tacit.losses import classification
from tacit.losses.loss import Code, Loss
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.solvers.rules import TABLES
from tacit.validate import one_of, positive, whole, within

OUTPUTS = ("average", "tail", "last")
LARGEST_RATIO = 1e50
"""Of the response's scale to a column's: intervals square variances, which floats must hold."""
LARGEST_START = 1e60
"""A prior mean's size in prepared coordinates."""
SMALLEST_NORM = 1e-6
"""Of a prepared row, whose columns lie in [-1, 1]."""
PRIVATE_SCALES = 2.0**-64, 2.0**72
"""What private bounds can come to."""


@dataclass(frozen=True)
class SolverOptions:
    """What the user fixed of the plan; None leaves it to the solver."""

    solver: str = "auto"
    output: str | None = None
    iterations: int | None = None
    step_size: float | None = None
    max_passes: int | None = None
    inference: bool = False

    def __post_init__(self) -> None:
        """Refuse what no plan can honour."""
        if self.output is not None:
            one_of("output", self.output, OUTPUTS)
        for name in ("iterations", "max_passes"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else whole(name, value))
        if self.step_size is not None:
            within("step_size", positive("step_size", self.step_size), 1e-30, 1e30)


@dataclass(frozen=True)
class PublicFacts:
    """The public facts a plan is made from. `records` is n, or n_at_least where n is private."""

    design: Design
    records: int
    relation: Relation
    unit: str
    budget: Budget
    penalty: Penalty
    loss: Loss = classification.LOGISTIC

    @property
    def coordinates(self) -> int:
        """Number of coefficients of all linear predictors."""
        return self.design.width * self.design.outputs

    @property
    def is_large(self) -> bool:
        """Whether passes over the data are capped by default."""
        return self.records * self.design.width >= TABLES.large

    @property
    def counts(self) -> int:
        """Answers needed to know the number of records: 0 where it is public, else 1.

        It is private where records are weighted, or added and removed.
        """
        return int(self.design.attached.weighting is not None or not self.relation.n_is_public)

    @property
    def sensitivity(self) -> float:
        """What one record can change in a sum of vectors of norm 1."""
        return 2.0 if self.relation is Relation.REPLACE_ONE else 1.0


@dataclass(frozen=True)
class Requirement:
    """A property of loss, relation, design or options that a solver needs.

    `missing` is the refusal; `{solver}` and `{loss}` stand for what was asked for.
    """

    holds: Callable[[PublicFacts, SolverOptions], bool]
    missing: str
    error: type[TacitError] = SettingError


def require(requirements: Sequence[Requirement], facts: PublicFacts, options: SolverOptions) -> None:
    """Refuse a fit that misses a property, and name the first that is missing."""
    for requirement in requirements:
        if not requirement.holds(facts, options):
            said = {"solver": repr(options.solver), "loss": facts.loss.name}
            raise requirement.error(requirement.missing.format(**said))


def loss_is(*codes: Code) -> Callable[[PublicFacts, SolverOptions], bool]:
    """Return the property that the loss is one of these."""
    return lambda facts, _: facts.loss.code in codes


def declared_bounds(facts: PublicFacts, _: SolverOptions) -> bool:
    """Whether no bounds have to be found."""
    return not facts.design.open_places


def public_n(facts: PublicFacts, _: SolverOptions) -> bool:
    """Whether the number of records is public."""
    return facts.relation.n_is_public


def no_penalty(facts: PublicFacts, _: SolverOptions) -> bool:
    """Whether the coefficients are free."""
    return facts.penalty == Penalty()


def no_units(facts: PublicFacts, _: SolverOptions) -> bool:
    """Whether a record is a unit of its own."""
    return facts.design.attached.unit is None


def no_intervals(_: PublicFacts, options: SolverOptions) -> bool:
    """Whether no intervals are asked for."""
    return not options.inference


def leaves_out(name: str) -> Callable[[PublicFacts, SolverOptions], bool]:
    """Return the property that an option is left to the solver."""
    return lambda _, options: getattr(options, name) is None


def require_moderate_scales(facts: PublicFacts) -> None:
    """Refuse public scales that would leave the range of floats in some run of a plan."""
    design = facts.design
    if design.feature_norm < SMALLEST_NORM:
        raise SettingError("row_norm is far below the size of the columns; declare a larger one.")
    if isinstance(design.response, Absent):
        return
    least, most = _scales(design.response) if isinstance(design.response, Continuous) else (1, 1)
    ends = [_scales(column) for column in design.columns]
    if any(most / low > LARGEST_RATIO or high / least > LARGEST_RATIO for low, high in ends):
        raise SettingError("The bounds of response and columns are too far apart; rescale them.")
    prior = facts.penalty.prior_mean or (0.0,) * len(ends)
    sizes = (abs(mean) * high / least for mean, (_, high) in zip(prior, ends, strict=True))
    if any(size > LARGEST_START for size in sizes):
        raise SettingError("prior_mean is too large for the bounds of its columns.")


def _scales(column: Column | Continuous) -> tuple[float, float]:
    return PRIVATE_SCALES if column.is_open else (column.scale, column.scale)


def passes_allowed(facts: PublicFacts, options: SolverOptions) -> int:
    """Return the public cap on passes over the data, of which counting the records may take one."""
    usual = TABLES.passes_of_large if facts.is_large else TABLES.passes
    return (options.max_passes or usual) - facts.counts


def require_passes(options: SolverOptions, others: int, each: int = 1) -> None:
    """Refuse a cap that leaves no step of descent, of `each` answers, beside the `others`."""
    least = others + (options.iterations or 1) * each
    if options.max_passes is not None and options.max_passes < least:
        raise SettingError(f"max_passes must be at least {least} for this plan.")


def one_in(facts: PublicFacts, tolerated: float) -> int:
    """Return 1, or 4 where an early query of a large table may read one record in four.

    `tolerated` is the least share of the records whose noise the query can stand, inverted. A
    sample must have enough records a column that its own error counts for nothing.
    """
    if not facts.is_large:
        return 1
    enough = min(tolerated, facts.records / (TABLES.records_a_column * facts.design.width))
    return PART if enough >= PART else 1


def one_in_of_moments(facts: PublicFacts, mu: float, row_factor: float) -> int:
    """Subsample of second moments of price μ and rows of norm `row_factor`·√d.

    The noise norm is √(2d)·√2·row_factor²·d / μ. Where that is a small share of the records read,
    more records buy nothing: the query is for the shape of the coordinates.
    """
    width = facts.design.width
    noise_norm = 2 * row_factor**2 * width * math.sqrt(width) / (mu * facts.records)
    return one_in(facts, TABLES.noise_norm / noise_norm)


def one_in_of_steps(facts: PublicFacts, mu: float, clip_factor: float) -> int:
    """Subsample of first steps of price μ that clip at `clip_factor`·√d.

    The noise of a step of length 1 is 2·clip_factor·d / (μ n). First steps only have to come near.
    """
    noise = 2 * clip_factor * facts.design.width / (mu * facts.records)
    return one_in(facts, TABLES.step_noise / noise)


def priced(
    facts: PublicFacts, kind: QueryKind, mu_squared: Fraction, times: int, purpose: Purpose, size: int = 1
) -> Step:
    """`times` answers that cost at most `mu_squared` together."""
    # A unit's integers for second moments are those of all its rows; a curvature has those of all classes.
    rows = 1 if kind is QueryKind.GRADIENT else facts.design.unit_rows
    rows *= facts.design.outputs**2 if kind is QueryKind.SANDWICH else 1
    price = price_for(
        kind,
        mu_squared / times,
        facts.relation,
        records=facts.records,
        width=facts.coordinates if kind is QueryKind.GRADIENT else facts.design.width * rows,
        size=size,
    )
    return Step(kind, price, times, purpose, size)


def assembled(facts: PublicFacts, solver: Solver, steps: Sequence[Step], forecast: Forecast | None = None) -> Plan:
    """Return the plan of these steps."""
    return Plan(
        solver=solver,
        loss=facts.loss,
        design=facts.design,
        records=facts.records,
        relation=facts.relation,
        unit=facts.unit,
        budget=facts.budget,
        steps=tuple(steps),
        penalty=facts.penalty,
        forecast=forecast,
    )
