"""What every solver shares: public facts, the user's options, priced steps, a bound on descent.

A solver is one file. It has frozen settings with a `run(gate, plan)`, the `REQUIRES` of its fits (`requirements.py`),
and a function `plan(facts, options, allowed)` that prices its steps within `allowed`, a μ².
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from tacit.contract.batches import Sampling
from tacit.contract.checked_query import PART
from tacit.contract.plan import Forecast, Penalty, Plan, Solver, Step, signal
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import FINEST_BOUND, price_for
from tacit.design.design import Column, Design
from tacit.design.response import Absent, Continuous
from tacit.errors import PassesError, SettingError
from tacit.losses import classification
from tacit.losses.loss import Loss
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

    solver: Any = "auto"
    """A name, or an object with `plan` and `run` (`own_solver.py`)."""
    output: str | None = None
    iterations: int | None = None
    step_size: float | None = None
    max_passes: int | None = None
    inference: bool = False
    l2: float | None = field(default=None, compare=False)
    """The ridge as it was given, 0 included; None where it was left out. Solvers go by the penalty of the facts."""
    clip: float | None = None
    noise_multiplier: float | None = None
    start: tuple[float, ...] | None = None
    """Prepared coefficients to begin at, class after class for every row: public, or released before."""
    sampling: str | None = None
    batch_size: int | None = None
    sample_rate: float | Fraction | None = None
    statistics: tuple[str, ...] = ()
    """Of the finished fit, by name; the rest of a plan is made without them."""

    @property
    def asks_for_batches(self) -> bool:
        """Whether an option is given that only batches have."""
        return (self.sampling, self.batch_size, self.sample_rate) != (None,) * 3

    def __post_init__(self) -> None:
        """Refuse what no plan can honour."""
        self._check_batches()
        if self.output is not None:
            one_of("output", self.output, OUTPUTS)
        for name in ("iterations", "max_passes"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else whole(name, value))
        if self.step_size is not None:
            within("step_size", positive("step_size", self.step_size), 1e-30, 1e30)
        for name in ("clip", "noise_multiplier"):
            value = getattr(self, name)
            if value is not None:
                value = within(name, positive(name, value), 1e-30, 1e30)
            object.__setattr__(self, name, value)
        if self.noise_multiplier is not None and self.iterations is None:
            why = "the budget is μ = √iterations / noise_multiplier"
            raise SettingError(f"noise_multiplier needs iterations=…: {why}, and is computed from both.")

    def _check_batches(self) -> None:
        if self.sampling is not None:
            one_of("sampling", self.sampling, list(Sampling))
        if self.sample_rate is not None:
            rate = within("sample_rate", positive("sample_rate", self.sample_rate), 0.0, 1.0)
            if self.batch_size is not None:
                raise SettingError(f"Give either batch_size=… or sample_rate=… ({rate:g}), not both.")
        if self.batch_size is not None:
            object.__setattr__(self, "batch_size", whole("batch_size", self.batch_size))


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

    def n_mu(self, allowed: Fraction) -> float:
        """Return n·μ at a budget of μ² = `allowed`, n as it is declared: the signal of a single number."""
        return signal(self.records, math.sqrt(allowed), 1)

    def signal(self, allowed: Fraction) -> float:
        """Return the signal n·μ/d, by which almost every rule goes."""
        return signal(self.records, math.sqrt(allowed), self.design.width)

    def interval_signal(self, allowed: Fraction) -> float:
        """Return n·μ/d with the coefficients of all classes but one as d: what intervals go by."""
        return signal(self.records, math.sqrt(allowed), self.design.identified)

    def passes_allowed(self, options: SolverOptions) -> int:
        """Return the public cap on passes over the data, of which counting the records may take one."""
        usual = TABLES.passes_of_large if self.is_large else TABLES.passes
        return (options.max_passes or usual) - self.counts

    def _one_in(self, tolerated: float) -> int:
        """Return 1, or 4 where an early query of a large table may read one record in four.

        `tolerated` is the least share of the records whose noise the query can stand, inverted. A
        sample must have enough records a column that its own error counts for nothing.
        """
        if not self.is_large:
            return 1
        enough = min(tolerated, self.records / (TABLES.records_a_column * self.design.width))
        return PART if enough >= PART else 1

    def one_in_of_moments(self, mu: float, row_factor: float) -> int:
        """Subsample of second moments of price μ and rows of norm `row_factor`·√d.

        The noise norm is √(2d)·√2·row_factor²·d / μ. Where that is a small share of the records read,
        more records buy nothing: the query is for the shape of the coordinates.
        """
        width = self.design.width
        noise_norm = 2 * row_factor**2 * width * math.sqrt(width) / (mu * self.records)
        return self._one_in(TABLES.noise_norm / noise_norm)

    def one_in_of_steps(self, mu: float, clip_factor: float) -> int:
        """Subsample of first steps of price μ that clip at `clip_factor`·√d.

        The noise of a step of length 1 is 2·clip_factor·d / (μ n). First steps only have to come near.
        """
        noise = 2 * clip_factor * self.design.width / (mu * self.records)
        return self._one_in(TABLES.step_noise / noise)

    @property
    def sensitivity(self) -> float:
        """What one record can change in a sum of vectors of norm 1."""
        return 2.0 if self.relation is Relation.REPLACE_ONE else 1.0


class CoefficientSolver:
    """Solvers of coefficients alone, who map rows unless they say otherwise."""

    intervals: ClassVar[bool] = False
    maps_rows: ClassVar[bool] = True


LARGEST_PENALISED = 32_768
"""Coefficients with a penalty: a square matrix of them takes 8 GiB."""


def require_moderate_scales(facts: PublicFacts) -> None:
    """Refuse public scales that would leave the range of floats in some run of a plan."""
    design = facts.design
    if design.width > LARGEST_PENALISED and facts.penalty != Penalty():
        raise SettingError(
            f"A penalty or a constraint on {design.width:,} coefficients needs a square matrix of them; up to "
            f"{LARGEST_PENALISED:,} are possible. Leave out l2=…, radius=… and constraint=…, or use fewer columns."
        )
    if design.columns and design.feature_norm < SMALLEST_NORM:
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


def require_passes(options: SolverOptions, others: int, each: int = 1) -> None:
    """Refuse a cap that leaves no step of descent, of `each` answers, beside the `others`."""
    least = others + (options.iterations or 1) * each
    if options.max_passes is not None and options.max_passes < least:
        raise PassesError(f"max_passes must be at least {least} for this plan.")


def priced(
    facts: PublicFacts,
    kind: QueryKind,
    mu_squared: Fraction,
    times: int,
    purpose: Purpose,
    size: int = 1,
    largest_bound: int = FINEST_BOUND,
) -> Step:
    """`times` answers that cost at most `mu_squared` together, of integer bounds of at most `largest_bound`."""
    # A unit's integers for second moments are those of all its rows; a curvature has those of all classes.
    rows = 1 if kind is QueryKind.GRADIENT else facts.design.unit_rows
    # A unit has one vector of values and squares.
    rows = 2 if kind is QueryKind.COLUMN_MOMENTS else rows
    rows *= facts.design.outputs**2 if kind is QueryKind.SANDWICH else 1
    price = price_for(
        kind,
        mu_squared / times,
        facts.relation,
        records=facts.records,
        width=facts.coordinates if kind is QueryKind.GRADIENT else facts.design.width * rows,
        size=size,
        largest_bound=largest_bound,
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


def excess_bound(
    noise: float, width: int, *, radius: float, time: float, step_size: float, smoothness: float, output: str
) -> float | None:
    """Return the bound on descent's excess loss for an output, or None where none is proven; `noise` is c.

    For a smooth convex loss (smoothness β), n·gradient noised
    with a budget of μ over T steps, η ≤ 1/β, s = ηT, c = sensitivity / (n μ) and ‖θ*‖ ≤ R,

        E‖θ_{t+1} - θ*‖² ≤ E‖θ_t - θ*‖² - 2η E(f(θ_{t+1}) - f*) + (1 + ηβ) η² d c² T,

    and the sum over the iterates that are averaged gives

        average of all     R² / (2s) + (1 + ηβ)/2 · s d c²
        second half        R² / s    + (1 + ηβ)   · s d c²

    The last iterate has no such bound.
    """
    if output == "last":
        return None
    spread = (1 + step_size * smoothness) / 2 * time * width * noise**2
    average = radius**2 / (2 * time) + spread
    return average if output == "average" else 2 * average


def best_time(noise: float, width: int, radius: float) -> float:
    """Return the s = ηT that minimises R² / (2s) + s d c²."""
    return radius / (noise * math.sqrt(2 * width))
