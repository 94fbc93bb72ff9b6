"""The plan: every query with its price, fixed from public facts before a record is read."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.accounting import gaussian
from tacit.accounting.composition import guarantee_of
from tacit.constraints.region import Region
from tacit.contract.batches import BatchPrice
from tacit.contract.channel_map import ChannelMap
from tacit.contract.purpose import Purpose
from tacit.contract.query import BLOCK_KINDS, Gate, QueryKind
from tacit.contract.selection_price import SELECTIONS, SelectionPrice
from tacit.contract.sensitivity import BATCHED, AnyPrice, events_of
from tacit.design.design import Design
from tacit.display import Displayed, Shown
from tacit.errors import SettingError
from tacit.losses.loss import Loss
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.event import Event, Repeated
from tacit.privacy.relation import Relation
from tacit.text_table import Table

if TYPE_CHECKING:
    from tacit.contract.release import Sandwich

# Cached, because events without a μ take a transform to price.
_stated = functools.lru_cache(maxsize=64)(guarantee_of)

VALID = "every record is valid"
"""Assumed by a fit that refuses invalid records: by not refusing it tells that there are none."""
PREPROCESSING = "preprocessing fitted on the same data"
CHOICES = "scores and choices of scikit-learn on the same data"
"""Assumed public where they stand around a fit: no ε of it covers them."""
SOME_WEIGHT = "some record has a weight above 0"
"""Assumed by a fit that refuses weights that are all zero."""
MANY_ROWS = (
    "Every {unit} counts once: each of its k rows has weight 1/k. Where effects go with the number of rows, a fit "
    "of all rows without these weights has another target."
)
"""Which estimand is meant where units have several rows."""
ONE_RECORD = "each unit has at most one record"
"""Assumed where no column names the unit of a record: nothing else bounds its records."""

NO_SUMS = frozenset(
    {QueryKind.MINIMUM, QueryKind.NOISY_MINIMUM, QueryKind.DIRECTION, QueryKind.POSTERIOR, *SELECTIONS, *BLOCK_KINDS}
)
"""Kinds of answers that are no sums over the records."""


@dataclass(frozen=True)
class Step:
    """`times` answers of one kind and price (None: no noise); `size` counts in each, 1 for the other kinds."""

    kind: QueryKind
    price: AnyPrice | None
    times: int
    purpose: Purpose
    size: int = 1

    @property
    def label(self) -> str:
        """The purpose in words."""
        return str(self.purpose)

    @property
    def passes(self) -> Fraction:
        """Passes over the records, in expectation: a batch counts as the share of them that it reads."""
        return self.times * (self.price.batches.rate if isinstance(self.price, BatchPrice) else Fraction(1))

    def noise_share(self, records: float) -> float:
        """Standard deviation of a count's noise, as a share of the records; 0 without noise."""
        if self.price is None or isinstance(self.price, SelectionPrice):
            return 0.0
        return float(2.0**self.price.bits / (self.price.bound * records))


@dataclass(frozen=True)
class Locating:
    """Private bounds: of which columns, by how many rounds of counts for location and for scale.

    The response's column is the width of the design. `noise` is the deviation of a count for the
    scale, as a share of the records.
    """

    columns: tuple[int, ...]
    location_rounds: int
    scale_rounds: int
    noise: float = 0.0


@dataclass(frozen=True)
class Penalty:
    """(l2 / 2)·‖coef - prior_mean‖², and ‖coef‖ ≤ radius or coef in a region; user's scale, the intercept is free."""

    l2: float = 0.0
    prior_mean: tuple[float, ...] | None = None
    radius: float | None = None
    constraint: Region | None = None
    covers_intercept: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.radius is not None and self.constraint is not None:
            raise SettingError("Give either radius=… or constraint=…, not both.")


@dataclass(frozen=True)
class FullPenalty(Penalty):
    """The same with the intercept, as the user sees it, inside both norms; a region holds slopes alone."""

    kind: ClassVar[str] = "intercept included"
    covers_intercept: ClassVar[bool] = True


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
class Whole:
    """What a plan was but a part of, such as a search: its name, all its events, and its δ."""

    name: str
    events: tuple[Event, ...]
    delta: float


@dataclass(frozen=True)
class Solution:
    """Coefficients of the prepared row, and what intervals or a covariance are made of."""

    theta: NDArray[np.float64]
    sandwich: Sandwich | None = None
    moments: NDArray[np.float64] | None = None
    decrements: tuple[float, ...] = ()
    iterates: NDArray[np.float64] | None = None
    """Prepared coefficients after each of the plan's last answers, where they are released."""
    channel_map: ChannelMap | None = None


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


LEVEL_ONLY = "Only the level of the response is released: slopes would be noise, and all of them are 0."


def signal(records: float, mu: float, width: int) -> float:
    """Return n·μ/d: how many records, in units of the noise, there are for each coefficient."""
    return records * mu / width


@dataclass(frozen=True, repr=False)
class Plan(Displayed):
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
    intervals_declined: bool = False
    """Whether intervals were asked for where they would mean nothing: none are paid for."""
    statistics: tuple[str, ...] = ()
    """What is asked for beside the fit, after it, at the coefficients that are released."""
    whole: Whole | None = None
    """What this plan was a part of: its guarantee is that of the whole, which is weaker than its own price."""

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
        """Number of answers, each a pass over the records unless it reads a batch."""
        return sum(step.times for step in self.steps)

    @property
    def passes(self) -> Fraction:
        """Passes over the records, in expectation; a whole number where no batches are drawn."""
        return sum((step.passes for step in self.steps), Fraction(0))

    @property
    def draws_batches(self) -> bool:
        """Whether steps read batches, which are drawn from the table in its own order."""
        return any(step.kind in BATCHED for step in self.steps)

    @property
    def level_only(self) -> bool:
        """Whether the level of the response alone is released: all slopes will be 0."""
        return bool(getattr(self.solver, "level_only", False)) and bool(self.design.columns)

    @property
    def requires_whole_table(self) -> bool:
        """Whether some answer is no sum over the records: partial sums do not give it."""
        return any(it.kind in NO_SUMS for it in self.steps)

    @property
    def signal(self) -> float:
        """n·μ/d with n = `count`, by which intervals are judged; infinite without noise."""
        mu = self.strength
        return math.inf if mu is None else signal(self.count, mu, self.design.identified)

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
            first = found.setdefault((step.purpose, step.kind), replace(step, times=0))
            found[step.purpose, step.kind] = replace(first, times=first.times + step.times)
        return tuple(found.values())

    def guarantee(self) -> Guarantee:
        """Return the total over all steps, or of the whole that they are a part of, rounded against us."""
        return self._priced if self.whole is None else self._stated_for(self.whole.events, self.whole.delta)

    @functools.cached_property
    def _priced(self) -> Guarantee:
        """What the steps alone would guarantee."""
        return self._stated_for(self.events(), self.budget.delta)

    def _stated_for(self, events: tuple[Event, ...], delta: float | None) -> Guarantee:
        if not self.private or delta is None:
            return Guarantee(self.relation, self.unit, math.inf, 1.0, None)
        stated = _stated(events, delta=delta, relation=self.relation, unit=self.unit)
        return replace(stated, premise=premise_of([fact.name for fact in self.facts]))

    @property
    def strength(self) -> float | None:
        """μ of the steps, or of a Gaussian release of the same ε at δ; None without privacy.

        A plan that perturbs its objective has no μ: this is for judging it, and no guarantee. A pure one is judged by
        the Gaussian noise that has the variance of Laplace noise of the same ε: μ = ε/√2.
        """
        guarantee = self._priced
        if guarantee.mu is not None or not self.private:
            return guarantee.mu
        if self.budget.is_pure:
            return guarantee.epsilon / math.sqrt(2)
        return gaussian.mu(guarantee.epsilon, guarantee.delta)

    def cautions(self) -> tuple[str, ...]:
        """Warnings before the plan is paid for; none where no privacy was asked for."""
        if not self.private:
            return ()
        total = self.guarantee()
        return cautions(total.epsilon, total.delta, self.records, n_is_public=self.relation.n_is_public)

    def __str__(self) -> str:
        """Read the plan aloud: solver, queries, price, forecast."""
        lines = [f"{self.solver.name} on {self.records} records, {self.design.width} coefficients"]
        lines.extend(f"  {step.times} × {step.purpose} ({step.kind})" for step in self.gathered())
        if self.level_only:
            lines.append(f"  {LEVEL_ONLY}")
        of = "" if self.whole is None else f" of the {self.whole.name}"
        lines.append(f"  price{of}: {self.guarantee()}")
        if (forecast := self.forecast) is not None:
            lines.append(f"  expected excess loss at most {forecast.excess_loss:.3g}, if {forecast.assumption}")
        return "\n".join(lines)

    def _shown(self) -> Shown:
        steps = tuple((str(step.purpose), str(step.kind), f"{step.times:,}") for step in self.gathered())
        level = (LEVEL_ONLY,) if self.level_only else ()
        title = f"Plan: {self.solver.name} on {self.records:,} records, {self.design.width} coefficients"
        facts = [("Price", str(self.guarantee()))]
        if (forecast := self.forecast) is not None:
            facts.append(("Expected excess loss", f"at most {forecast.excess_loss:.3g}, if {forecast.assumption}"))
        return Shown(title, tuple(facts), Table(("step", "query", "times"), steps), (*level, *self.cautions()))

    def with_facts(self, *facts: PublicFact) -> Plan:
        """Return the plan with further facts that it takes as public."""
        return replace(self, facts=(*self.facts, *facts))


def premise_of(names: Collection[str]) -> str | None:
    """What must hold for the unit of a guarantee, by the names of the public facts."""
    return "each has at most one record" if ONE_RECORD in names else None


def cautions(epsilon: float, delta: float, records: int, *, n_is_public: bool = True) -> tuple[str, ...]:
    """Warnings about a stated total: δ ≥ 1/n, and ε > 10, where e^ε is above 22,000.

    Publishing one record of n, drawn at random, is (0, 1/n)-differentially private: a δ of 1/n
    allows it. `records` is n, or its declared lower bound where n is private.

    Guarantee: they are a function of the stated total and the stated number of records.
    """
    texts = []
    if delta * records >= 1.0:
        word = "n" if n_is_public else "n_at_least"
        texts.append(
            f"δ = {delta:.4g} is not below 1/{word} = {1 / records:.4g}: publishing one record drawn at random would "
            f"satisfy such a δ. Choose delta far below it, for example {min(1e-6, records**-1.5):.0e}."
        )
    if 10 < epsilon < math.inf:
        texts.append(
            f"ε = {epsilon:.4g} is above 10: what is concluded about one person may be e^{epsilon:.4g} times as likely "
            "because of that person's record, which is hardly any protection. Choose a smaller budget, say ε = 1."
        )
    return tuple(texts)
