"""Two neighbouring simulated tables behind one gate: what each query shows of the difference.

The solver gets the noised answers of one table. Every query it asks is also answered without noise on both tables, so
the shift between them, and the log-likelihood ratio of all answers, are known. Tables are simulated, never a user's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.audit.bounds import Floats
from tacit.contract.plan import Plan, Solution
from tacit.contract.query import PART, Answer, GradientSum, PerturbedMinimum, Query, QueryKind, SecondMoments, Weights
from tacit.contract.sensitivity import AnyPrice, MinimumPrice, Price, events_of, ridge_of
from tacit.design.design import Design
from tacit.engine.gate import PlannedGate
from tacit.engine.table import completed
from tacit.errors import SettingError
from tacit.mechanisms.query_responder import Responder
from tacit.privacy.event import Gaussian, ObjectivePerturbation
from tacit.privacy.relation import Relation
from tacit.rows.admission.admit_rows import admit
from tacit.rows.admission.clip_and_scale import rescale
from tacit.rows.sources.opening import open_source
from tacit.rows.storage.record_store import MemoryStore
from tacit.rows.storage.store import Store

FINE = Price(2**50, 0)
"""Lattice of gradients and curvatures of a perturbed objective, without noise."""
ROUNDED = 2.0**-4
"""How far a sum over its lattice step may be from a whole number: sums of few records are below 2^48."""


@dataclass(frozen=True)
class Records:
    """A simulated table and its response (None for a mean)."""

    X: NDArray[np.float64]
    y: Any
    attached: Mapping[str, Any] = field(default_factory=dict)

    def admitted(self, design: Design) -> Store:
        """Prepare the records by a design; a record with NaN contributes nothing."""
        source = open_source(self.X, self.y, attached=self.attached, fewest=0)
        return admit(source, design, invalid_rows="zero", fewest=0, draw=_subsample)


@dataclass(frozen=True)
class Pair:
    """Two tables that differ in one record."""

    first: Records
    second: Records

    def __getitem__(self, world: int) -> Records:
        return (self.first, self.second)[world]


def _subsample(count: int) -> NDArray[np.uint8]:
    """Bytes that put every fourth record into the subsample, counted from the last one.

    Tables differ in their first record, so all others are in the subsample of both or of neither. The first one is in
    it where the number of records is a multiple of four plus one.
    """
    return np.where(np.arange(count)[::-1] % PART == 0, 0, 255).astype(np.uint8)


class Noiseless(Responder):
    """Answers without noise, on the records that a private run would have."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, private=False, seed=None)

    def prepare_with(self, design: Design) -> None:
        """Rescale raw records as a private run does: in float32."""
        self._store = rescale(self._store, design, np.float32)


@dataclass(frozen=True)
class Shift:
    """What one query showed: the squared shift over the variance, and how much of that was paid for."""

    kind: QueryKind
    realised: Fraction
    paid: Fraction


class TwinGate:
    """A gate to one of two tables, which notes what both would have answered; `stores` are that one and both.

    `log_ratio` is log P₁ / P₀ of all noised answers so far.
    """

    def __init__(self, plan: Plan, stores: tuple[Store, Store, Store], seed: int | None) -> None:
        asked, *both = stores
        self._relation = plan.relation
        self._noised = Responder(asked, private=True, seed=seed)
        self._exact = [Noiseless(store) for store in both]
        self._gate = PlannedGate(plan, self._noised)
        self._schedule = iter([step for step in plan.steps for _ in range(step.times)])
        self.log_ratio = 0.0
        self.shifts: list[Shift] = []

    def ask(self, query: Query) -> Answer:
        """Answer the next planned query on one table, and compare it with both."""
        answer = self._gate.ask(query)
        step = next(self._schedule)
        if step.price is None:
            raise SettingError("A plan without noise cannot be audited.")
        if isinstance(query, PerturbedMinimum):
            assert isinstance(step.price, MinimumPrice)  # noqa: S101 - for the type checker
            self._note_minimum(query, step.price, answer)
        else:
            exact = [each.answer(query, step.price).value for each in self._exact]
            self._note_sum(step.kind, step.price, step.size, exact, answer)
        return answer

    def prepare(self, design: Design) -> None:
        """Rescale the records of all stores by bounds that were found."""
        for responder in (self._noised, *self._exact):
            responder.prepare_with(design)

    def _note_sum(self, kind: QueryKind, price: AnyPrice, size: int, exact: list[Floats], answer: Answer) -> None:
        self.log_ratio += gaussian_log_ratio(exact[0], exact[1], answer)
        # noise_scale is 2^bits lattice steps.
        first, second = (on_lattice(value * (2.0**price.bits / answer.noise_scale)) for value in exact)
        square = sum((two - one) ** 2 for one, two in zip(first, second, strict=True))
        (event,) = events_of(kind, price, self._relation, size)
        assert isinstance(event, Gaussian)  # noqa: S101 - for the type checker
        self.shifts.append(Shift(kind, Fraction(square, 4**price.bits), event.mu_squared))

    def _note_minimum(self, query: PerturbedMinimum, price: MinimumPrice, answer: Answer) -> None:
        found = MinimumDensities.at(answer.value, query, price, self._exact)
        self.log_ratio += found.log_ratio
        event, cover = events_of(QueryKind.MINIMUM, price, self._relation)
        assert isinstance(event, ObjectivePerturbation) and isinstance(cover, Gaussian)  # noqa: S101, PT018
        factor = 4 if self._relation is Relation.REPLACE_ONE else 1
        slack = Fraction(1 + 2.0**-20)
        scale = price.bound / (query.clip * 2.0**price.bits)
        shift = Fraction(float(np.sum(found.shift**2)) * scale**2)
        self.shifts.append(Shift(QueryKind.MINIMUM, shift, factor * Fraction(price.bound**2, 4**price.bits) * slack))
        jacobian = Fraction(abs(found.log_volume))
        self.shifts.append(Shift(QueryKind.MINIMUM, jacobian, Fraction(math.log1p(float(price.ratio))) * slack))


@dataclass(frozen=True)
class MinimumDensities:
    """The densities of two perturbed minima at one point.

    b = -(∇ + λθ) is the linear noise that gives θ, and log p = log det(H + λI) - ‖b‖² / (2s²). `shift` is the
    difference of the two b, `log_volume` that of the two log det.
    """

    log_ratio: float
    shift: Floats
    log_volume: float

    @classmethod
    def at(
        cls, theta: Floats, query: PerturbedMinimum, price: MinimumPrice, tables: list[Noiseless]
    ) -> MinimumDensities:
        """Compare the densities of the minimum of either table at theta."""
        ridge, scale = ridge_of(price, query.clip, query.loss), query.clip * 2.0**price.bits / price.bound
        gradient = GradientSum(theta, query.clip, None, True, query.loss)
        curvature = SecondMoments(query.clip, None, theta, Weights.CURVATURE, query.loss)
        tilts, volumes = [], []
        for table in tables:
            tilts.append(-(table.answer(gradient, FINE).value + ridge * theta))
            moments = table.answer(curvature, FINE).value * query.loss.smoothness
            volumes.append(float(np.linalg.slogdet(moments + ridge * np.eye(len(theta)))[1]))
        pull = float(tilts[0] @ tilts[0] - tilts[1] @ tilts[1]) / (2 * scale**2)
        return cls(volumes[1] - volumes[0] + pull, tilts[1] - tilts[0], volumes[1] - volumes[0])


def on_lattice(steps: Floats) -> list[int]:
    """The whole numbers that were rounded to floats when a sum was divided by its unit."""
    whole = np.rint(steps)
    if not (np.abs(steps - whole) <= ROUNDED).all():
        raise AssertionError("An exact sum is not on the lattice of its noise.")
    return [int(entry) for entry in whole.ravel()]


def gaussian_log_ratio(first: Floats, second: Floats, answer: Answer) -> float:
    """Logarithm of P₁ / P₀ of a noised answer whose exact values are `first` and `second`."""
    difference = second - first
    return float(np.sum((answer.value - (first + second) / 2) * difference)) / answer.noise_scale**2


@dataclass(frozen=True)
class Transcript:
    """All of one run: the result, the log-likelihood ratio of its answers, and what each query showed."""

    solution: Solution
    log_ratio: float
    shifts: tuple[Shift, ...]

    @property
    def realised(self) -> Fraction:
        """Sum of the squared shifts over variances: the μ² that this run has cost."""
        return sum((shift.realised for shift in self.shifts), Fraction(0))

    @property
    def within_paid(self) -> bool:
        """Whether no query showed more than was paid for it."""
        return all(shift.realised <= shift.paid for shift in self.shifts)


@dataclass(frozen=True)
class TwinTables:
    """A plan, and two neighbouring tables to run it on."""

    plan: Plan
    pair: Pair
    prepared: tuple[Store, Store]

    @classmethod
    def of(cls, plan: Plan, pair: Pair) -> TwinTables:
        """Prepare both tables by the plan's design."""
        return cls(plan, pair, (pair.first.admitted(plan.design), pair.second.admitted(plan.design)))

    def run(self, world: int, seed: int | None) -> Transcript:
        """Run the plan once on one of the tables."""
        stores = self._store(world), self._store(0), self._store(1)
        gate = TwinGate(self.plan, stores, seed)
        plan = completed(self.plan, gate, gate.prepare)
        solution = plan.solver.run(gate, plan)
        return Transcript(solution, gate.log_ratio, tuple(gate.shifts))

    def _store(self, world: int) -> Store:
        """A store of its own for a run, which may change its coordinates."""
        store = self.prepared[world]
        if not isinstance(store, MemoryStore):
            return self.pair[world].admitted(self.plan.design)
        blocks = [np.array(store.block(index)) for index in range(store.block_count)]
        return MemoryStore(store.layout, blocks, store.subsample)
