"""The plan: every query with its price, fixed from public facts before a record is read."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Any

from tacit.accounting import gaussian
from tacit.accounting.composition import guarantee_of
from tacit.constraints.region import Region
from tacit.contract.guarantee_caveats import premise_of
from tacit.contract.query import Kind
from tacit.contract.sensitivity import AnyPrice, events_of
from tacit.design.design import Design
from tacit.errors import SettingError
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.event import Event, Repeated
from tacit.privacy.relation import Relation

SMALLEST_SIGNAL = 15.0
"""n·μ/√d below which even the best plan returns mostly noise."""
LEAST_EVIDENCE = 25.0
"""n·μ/d below which intervals mean nothing and are not offered."""
LARGEST_COUNT_NOISE = 1 / 16
"""Noise of a count, as a share of the records, beyond which found bounds are often far off."""


@dataclass(frozen=True)
class Step:
    """`times` answers of one kind, each at the same price; no price means no noise (ε = ∞).

    `size` is the number of counts in one answer, and 1 for the other kinds.
    """

    kind: Kind
    price: AnyPrice | None
    times: int
    label: str
    size: int = 1


@dataclass(frozen=True)
class Locating:
    """Bounds are found first, by counts: of which columns, in how many rounds.

    `columns` are places in the stored record, the response's the width of the design. The rounds
    for location and for scale have a price each; `noise` is the standard deviation of a count of
    the latter, as a share of the records.
    """

    columns: tuple[int, ...]
    location_rounds: int
    scale_rounds: int
    noise: float = 0.0


@dataclass(frozen=True)
class Whitening:
    """Looks at the second moments: how many, the ridge in noise edges, the later looks' bound.

    With `steepest` the ridge is at least what keeps a whitened curvature below it, where noise
    hides that much.
    """

    rounds: int
    ridge: float
    row_factor: float
    steepest: float | None = None
    late_ridge: float | None = None
    """Ridge from the third look on, where directions that no look has seen would be blown up."""
    every: int = 1
    """Looks after the first read one record in so many."""


@dataclass(frozen=True)
class Standardising:
    """Counts that centre and scale columns before they are whitened; no value is clipped.

    `columns` are places in the stored record, the response's the width of the design.
    """

    columns: tuple[int, ...]
    medians: int
    radii: int


@dataclass(frozen=True)
class Placing:
    """Counts that place the response: its median, the radius around it, and its mean or not."""

    medians: int
    radii: int
    mean: bool = False


@dataclass(frozen=True)
class Recalibrating:
    """Level and slope of the result are asked for at the end, with n·μ of each as declared."""

    evidence: float


@dataclass(frozen=True)
class Counting:
    """The number of records is asked for first, or the sum of their prepared weights.

    It is private where records are weighted, or added and removed.
    """


@dataclass(frozen=True)
class LabelStart:
    """The share of the second label is asked for first, and the intercept starts there.

    Where it `lengthens`, steps are longer by what uneven labels take from the curvature.
    """

    lengthens: bool = False


@dataclass(frozen=True)
class Descent:
    """Noisy gradient descent: how many steps, how long, how clipped, what is reported.

    `clip_factor` times the root of the effective dimension is the clip in whitened coordinates;
    without whitening the clip is the bound on a row's gradient, and nothing is ever clipped.

    Before a stage the residuals may be asked for: their mean size (one of `scale_rounds`) or the
    radius that holds most of them (several), and their quantile (`shift_rounds`). Clip and loss
    are then in those units. `averaged` is the share of the iterates behind output "tail".
    With `balanced` both labels of a row are bounded alike. With `calmest` steps are shortened where
    the margins would otherwise have a noise variance beyond it.
    """

    iterations: int
    step_size: float
    momentum: float
    clip_factor: float | None
    output: str
    averaged: float = 0.5
    scale_rounds: int = 0
    shift_rounds: int = 0
    balanced: bool = False
    calmest: float | None = None
    follows: bool = False
    """Whether clip and steps go by what the records came to, where they were counted."""
    every: int = 1
    """One record in so many is read by a step."""

    @property
    def first_averaged(self) -> int:
        """Index of the first iterate that enters the output."""
        return _first_averaged(self.iterations, self.output, self.averaged)


@dataclass(frozen=True)
class Finishing:
    """Newton steps that end a descent: the curvature is asked for once, where the descent stopped.

    `ridge` is in noise edges, and `averaged` the number of last iterates behind the output.
    """

    iterations: int
    ridge: float
    averaged: int


@dataclass(frozen=True)
class OneStep:
    """Intervals are paid for.

    Rows are downweighted beyond norm `clip_factor`·√d, and after the descent curvature, score and
    one more gradient are asked for, at its result. After `Rounds` it is curvature and score alone.
    """

    clip_factor: float


@dataclass(frozen=True)
class Rounds:
    """Noisy steps θ ← θ - η P g on downweighted rows: one step size η a round.

    P is by `curvature` the inverse of what was released in "each" round, of a bound on it that was
    released "once", or at "no" time: a number that the level of the response gives. With `scaled`
    every round also asks for the residuals' squares, and their scale moves along; `dispersed` is
    the number of rounds after which the dispersion of counts is asked for. From round `pooled_from`
    on curvatures are averaged with those before. `averaged` is the share of the iterates behind
    output "tail". `threshold` is that of the bounded score of numbers, in deviations of the
    residuals, where it is not the usual one.
    """

    step_sizes: tuple[float, ...]
    curvature: str
    clip_factor: float
    output: str
    averaged: float = 0.5
    scaled: bool = False
    dispersed: int | None = None
    pooled_from: int = 0
    threshold: float | None = None

    @property
    def first_averaged(self) -> int:
        """Index of the first iterate that enters the output."""
        return _first_averaged(len(self.step_sizes), self.output, self.averaged)


def _first_averaged(iterates: int, output: str, tail: float) -> int:
    share = {"average": 1.0, "tail": tail, "last": 0.0}[output]
    return iterates - max(1, math.ceil(iterates * share - 1e-9))


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
        """Refuse two regions at once."""
        if self.radius is not None and self.constraint is not None:
            raise SettingError("Give either radius=… or constraint=…, not both.")


@dataclass(frozen=True)
class Forecast:
    """What the planner expects of the excess loss, and on which assumption about the truth."""

    excess_loss: float
    assumption: str


@dataclass(frozen=True)
class PublicFact:
    """Something taken as public, and on whose word: "declared" by the user or "assumed"."""

    name: str
    value: Any
    source: str


@dataclass(frozen=True)
class Plan:
    """Solver, prices and settings of one fit. Holds no record and nothing read from one."""

    solver: str
    loss: Loss
    design: Design
    records: int
    relation: Relation
    unit: str
    budget: Budget
    steps: tuple[Step, ...]
    stages: tuple[Descent, ...]
    whitening: Whitening | None
    penalty: Penalty
    forecast: Forecast | None
    inference: OneStep | None = None
    rounds: Rounds | None = None
    locating: Locating | None = None
    placing: Placing | None = None
    standardising: Standardising | None = None
    label_start: LabelStart | None = None
    counting: Counting | None = None
    recalibrating: Recalibrating | None = None
    finishing: Finishing | None = None
    total: float | None = None
    """What counting came to, noise included, in the plan of a run that has counted."""
    shrinkage: float = 0.0
    """How much of the noise's share is taken off the result, by blocks; 0 for none."""
    facts: tuple[PublicFact, ...] = ()

    @property
    def private(self) -> bool:
        """Whether noise is added at all."""
        return not self.budget.is_infinite

    @property
    def count(self) -> float:
        """What a sum over the records is divided by: as counted, or else as declared."""
        return float(self.records) if self.total is None else self.total

    @property
    def queries(self) -> int:
        """Number of answers, hence of passes over the records."""
        return sum(step.times for step in self.steps)

    @property
    def evidence(self) -> float:
        """n·μ/d, by which intervals are judged; infinite where there is no noise.

        n is declared before a run, and what it was counted as after one that counts.
        """
        mu = self.strength
        return math.inf if mu is None else self.count * mu / self.design.width

    def events(self) -> tuple[Event, ...]:
        """Return the facts that running this plan leaves behind, step by step."""
        return tuple(
            Repeated(event, step.times)
            for step in self.steps
            if step.price is not None
            for event in events_of(step.kind, step.price, self.relation, step.size)
        )

    def gathered(self) -> tuple[Step, ...]:
        """Steps by label, for a reader: answers that take turns are counted together.

        Prices within a label may differ; that of its first step is shown.
        """
        found: dict[tuple[str, Kind], Step] = {}
        for step in self.steps:
            key = step.label, step.kind
            times = found[key].times if key in found else 0
            found[key] = replace(found.get(key, step), times=times + step.times)
        return tuple(found.values())

    def guarantee(self) -> Guarantee:
        """Return the total over all steps, rounded against us; it is added up once."""
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

    def warnings(self) -> tuple[str, ...]:
        """Return what a user should know before spending, from public facts alone."""
        mu = self.strength
        if mu is None:
            return ()
        texts = []
        signal = self.records * mu / math.sqrt(self.design.width)
        if signal < SMALLEST_SIGNAL:
            texts.append(
                f"The budget is small for this table: n·μ/√d is {signal:.2g}, and below "
                f"{SMALLEST_SIGNAL:g} a fit is mostly noise. Use a larger epsilon, more records or "
                "fewer columns."
            )
        evidence = self.evidence
        if self.inference is not None and evidence < LEAST_EVIDENCE:
            texts.append(
                f"Intervals will not be offered: n·μ/d is {evidence:.2g}, and below "
                f"{LEAST_EVIDENCE:g} they would mean nothing. Use a larger epsilon, more records "
                "or fewer columns, or inference=False, which spends all on the coefficients."
            )
        if self.locating is not None and self.locating.noise > LARGEST_COUNT_NOISE:
            texts.append(
                "The budget is too small to find bounds reliably: a count of records has noise of "
                f"{self.locating.noise:.0%} of them. Declare bounds, or use a larger epsilon, more "
                "records or fewer columns."
            )
        return tuple(texts)

    def __str__(self) -> str:
        """Read the plan aloud: route, queries, price, forecast."""
        lines = [f"{self.solver} on {self.records} records, {self.design.width} coefficients"]
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
    # Kept, because events without a μ take a transform to price.
    return guarantee_of(events, delta=delta, relation=relation, unit=unit)
