"""The plan: every query with its price, fixed from public facts before a record is read."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.accounting import gaussian
from tacit.accounting.composition import guarantee_of
from tacit.constraints.region import Region
from tacit.contract.gate import Gate
from tacit.contract.guarantee_caveats import premise_of
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import AnyPrice, events_of
from tacit.design.design import Design
from tacit.errors import SettingError
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.event import Event, Repeated
from tacit.privacy.relation import Relation

if TYPE_CHECKING:
    from tacit.contract.release import Sandwich


class Purpose(StrEnum):
    """What a step of a plan is for: solvers find their steps by it, and people read its value."""

    LOCATION = "location"
    SCALE = "scale"
    RECORD_COUNT = "number of records"
    WEIGHT_SUM = "sum of the weights"
    LABEL_SHARE = "share of labels"
    RESPONSE_LOCATION = "median and scale of the response"
    RESPONSE_MEAN = "mean of the response"
    RESPONSE_LEVEL = "level of the response"
    STANDARDISING = "location and scale"
    SECOND_MOMENTS = "second moments"
    DESCENT = "gradient descent"
    RESIDUAL_SIZE = "size of residuals"
    RESIDUAL_QUANTILE = "quantile of residuals"
    LEVEL_AND_SLOPE = "level and slope"
    SLOPE = "slope"
    CURVATURE = "curvature"
    NEWTON_STEPS = "Newton's steps"
    RESIDUALS = "residuals"
    CURVATURE_AND_SCORE = "curvature and score"
    LAST_STEP = "last step"
    GRADIENT = "gradient"
    SQUARED_RESIDUALS = "squared residuals"
    CURVATURE_BOUND = "bound on the curvature"
    PERTURBED_MINIMUM = "perturbed minimum"
    CURVATURE_TRACE = "trace of the curvature"
    DIRECTION = "direction"
    ROW_SUM = "sum of the rows"


@dataclass(frozen=True)
class Step:
    """`times` answers of one kind, each at the same price; no price means no noise (ε = ∞).

    `size` is the number of counts in one answer, and 1 for the other kinds.
    """

    kind: QueryKind
    price: AnyPrice | None
    times: int
    purpose: Purpose
    size: int = 1

    @property
    def label(self) -> str:
        """The purpose in words."""
        return str(self.purpose)

    def noise_share(self, records: float) -> float:
        """Standard deviation of a count's noise, as a share of the records; 0 without noise."""
        if self.price is None:
            return 0.0
        return float(2.0**self.price.bits / (self.price.bound * records))


@dataclass(frozen=True)
class Locating:
    """Private bounds: of which columns, by how many rounds of counts for location and for scale.

    `columns` are places in the stored record, the response's is the width of the design. `noise`
    is the standard deviation of a count for the scale, as a share of the records.
    """

    columns: tuple[int, ...]
    location_rounds: int
    scale_rounds: int
    noise: float = 0.0


@dataclass(frozen=True)
class Penalty:
    """(l2 / 2)·‖coef - prior_mean‖², and ‖coef‖ ≤ radius or coef in a region.

    All on the user's scale; the intercept is free.
    """

    l2: float = 0.0
    prior_mean: tuple[float, ...] | None = None
    radius: float | None = None
    constraint: Region | None = None

    def __post_init__(self) -> None:
        if self.radius is not None and self.constraint is not None:
            raise SettingError("Give either radius=… or constraint=…, not both.")


@dataclass(frozen=True)
class Forecast:
    """The expected excess loss, and the assumption about the truth that it rests on."""

    excess_loss: float
    assumption: str


@dataclass(frozen=True)
class PublicFact:
    """Something taken as public, and on whose word: "declared" by the user or "assumed"."""

    name: str
    value: Any
    source: str


@dataclass(frozen=True)
class Solution:
    """Coefficients of the prepared row, and what intervals or a covariance are made of."""

    theta: NDArray[np.float64]
    sandwich: Sandwich | None = None
    moments: NDArray[np.float64] | None = None
    decrements: tuple[float, ...] = ()


class Solver(Protocol):
    """Frozen settings of one solver: a member of the sum type `Plan.solver`."""

    @property
    def name(self) -> str:
        """Name in certificates and reports."""

    @property
    def intervals(self) -> bool:
        """Whether the plan pays for intervals."""

    @property
    def maps_rows(self) -> bool:
        """Whether rows are multiplied by a dense matrix, which wide sparse rows cannot be."""

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask the plan's queries, in their order, and return the coefficients."""


def signal(records: float, mu: float, width: int) -> float:
    """Return n·μ/d: how many records, in units of the noise, there are for each coefficient."""
    return records * mu / width


@dataclass(frozen=True)
class Plan:
    """Solver, prices and settings of one fit. Holds no record and nothing read from one."""

    solver: Solver
    loss: Loss
    design: Design
    records: int
    relation: Relation
    unit: str
    budget: Budget
    steps: tuple[Step, ...]
    penalty: Penalty
    forecast: Forecast | None = None
    locating: Locating | None = None
    counting: bool = False
    """Whether the records, or the sum of their weights, are counted first: they are private."""
    total: float | None = None
    """The noisy count, in the plan of a run that has counted."""
    facts: tuple[PublicFact, ...] = ()

    @property
    def private(self) -> bool:
        """Whether noise is added at all."""
        return not self.budget.is_infinite

    @property
    def count(self) -> float:
        """What a sum over the records is divided by: the noisy count, or else the declared n."""
        return float(self.records) if self.total is None else self.total

    @property
    def queries(self) -> int:
        """Number of answers, hence of passes over the records."""
        return sum(step.times for step in self.steps)

    @property
    def requires_whole_table(self) -> bool:
        """Whether some answer is no sum over the records: partial sums do not give it."""
        return not all(step.kind.is_sum for step in self.steps)

    @property
    def signal(self) -> float:
        """n·μ/d, by which intervals are judged; infinite where there is no noise.

        n is declared before a run, and the noisy count after one that counts.
        """
        mu = self.strength
        return math.inf if mu is None else signal(self.count, mu, self.design.width)

    def step(self, purpose: Purpose) -> Step:
        """Return the first step of a purpose."""
        for step in self.steps:
            if step.purpose is purpose:
                return step
        raise SettingError(f"The plan pays for no {purpose}.")

    def events(self) -> tuple[Event, ...]:
        """Return the privacy events of running this plan, step by step."""
        return tuple(
            Repeated(event, step.times)
            for step in self.steps
            if step.price is not None
            for event in events_of(step.kind, step.price, self.relation, step.size)
        )

    def gathered(self) -> tuple[Step, ...]:
        """Steps by purpose, for a reader: times are summed, the price is that of the first step."""
        found: dict[tuple[Purpose, QueryKind], Step] = {}
        for step in self.steps:
            key = step.purpose, step.kind
            times = found[key].times if key in found else 0
            found[key] = replace(found.get(key, step), times=times + step.times)
        return tuple(found.values())

    def guarantee(self) -> Guarantee:
        """Return the total over all steps, rounded against us; it is computed once."""
        return self._guarantee

    @functools.cached_property
    def _guarantee(self) -> Guarantee:
        if not self.private or self.budget.delta is None:
            return Guarantee(self.relation, self.unit, math.inf, 1.0, None)
        stated = _stated(self.events(), self.budget.delta, self.relation, self.unit)
        return replace(stated, premise=premise_of([fact.name for fact in self.facts]))

    @property
    def strength(self) -> float | None:
        """μ of the plan, or of a Gaussian release of the same ε at δ; None without privacy.

        A plan that perturbs its objective has no μ: this is for judging it, and no guarantee.
        """
        guarantee = self.guarantee()
        if guarantee.mu is not None or not self.private:
            return guarantee.mu
        return gaussian.mu(guarantee.epsilon, guarantee.delta)

    def __str__(self) -> str:
        """Read the plan aloud: solver, queries, price, forecast."""
        lines = [f"{self.solver.name} on {self.records} records, {self.design.width} coefficients"]
        lines.extend(f"  {step.times} × {step.label} ({step.kind})" for step in self.gathered())
        lines.append(f"  price: {self.guarantee()}")
        if self.forecast is not None:
            lines.append(
                f"  expected excess loss at most {self.forecast.excess_loss:.3g}, "
                f"if {self.forecast.assumption}"
            )
        return "\n".join(lines)

    def with_facts(self, *facts: PublicFact) -> Plan:
        """Return the plan with further facts that it takes as public."""
        return replace(self, facts=(*self.facts, *facts))


@functools.lru_cache(maxsize=64)
def _stated(events: tuple[Event, ...], delta: float, relation: Relation, unit: str) -> Guarantee:
    # Cached, because events without a μ take a transform to price.
    return guarantee_of(events, delta=delta, relation=relation, unit=unit)
