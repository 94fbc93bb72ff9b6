"""Two neighbouring simulated tables behind one gate: what each query shows of the difference.

The solver gets the noised answers of one table. Every query it asks is also answered without noise on both tables, so
the shift between them, and the log-likelihood ratio of all answers, are known. Tables are simulated, never a user's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.audit.answer_laws import AuditedTable, Kept, law_of
from tacit.audit.shift import Shift
from tacit.contract.checked_query import PART
from tacit.contract.plan import Plan
from tacit.contract.query import Answer, Gate, Query
from tacit.design.design import Design
from tacit.engine.gate import PlannedGate
from tacit.engine.interruptible_run import completed
from tacit.errors import SettingError
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source
from tacit.rows.storage.record_store import MemoryStore
from tacit.rows.storage.store import Store

Program = Callable[[Gate, Plan], Any]
"""What asks the queries of a plan."""


@dataclass(frozen=True)
class Records:
    """A simulated table and its response (None for a mean)."""

    X: NDArray[np.float64]
    y: Any
    attached: Mapping[str, Any] = field(default_factory=dict)

    def admitted(self, design: Design, *, exact: bool = False) -> Store:
        """Prepare the records by a design, in float64 if `exact`; a record with NaN contributes nothing."""
        source = open_source(self.X, self.y, attached=self.attached, fewest=0)
        dtype = np.float64 if exact else np.float32
        return admit(source, design, invalid_rows="zero", fewest=0, draw=_subsample, dtype=dtype)


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


class TwinGate:
    """A gate to one of two tables, which notes what both would have answered.

    `log_ratio` is log P₁ / P₀ of all noised answers so far. `shifts` are what they showed, where that is `compared`.
    """

    def __init__(
        self, plan: Plan, noised: AuditedTable, exact: Sequence[AuditedTable], *, compared: bool = True
    ) -> None:
        self._relation, self._compared = plan.relation, compared
        self._noised, self._exact = noised, exact
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
        law = law_of(query, step.price, self._exact)
        self.log_ratio += law.log_ratio(answer)
        if self._compared:
            self.shifts += law.shifts(answer, self._relation, step.size)
        return answer

    def prepare(self, design: Design) -> None:
        """Rescale the records of all stores by bounds that were found."""
        for responder in (self._noised, *self._exact):
            responder.prepare_with(design)


@dataclass(frozen=True)
class Transcript:
    """All of one run: the result, the log-likelihood ratio of its answers, and what each query showed."""

    solution: Any
    """Of the solver, or what the program returned."""
    log_ratio: float
    shifts: tuple[Shift, ...]

    @property
    def realised(self) -> Fraction:
        """Sum of what the queries showed: the μ² that this run has cost, or its ε."""
        return sum((shift.realised for shift in self.shifts), Fraction(0))

    @property
    def within_paid(self) -> bool:
        """Whether no query showed more than was paid for it."""
        return all(shift.realised <= shift.paid for shift in self.shifts)


@dataclass(frozen=True)
class TwinTables:
    """A plan, and two neighbouring tables to run it on; `program` asks in the place of the plan's solver."""

    plan: Plan
    pair: Pair
    prepared: tuple[Store, Store]
    program: Program | None = None
    kept: tuple[Kept, Kept] = field(default_factory=lambda: ({}, {}), compare=False, repr=False)
    """What both tables keep from run to run."""

    @classmethod
    def of(cls, plan: Plan, pair: Pair, program: Program | None = None) -> TwinTables:
        """Prepare both tables by the plan's design; for programs in float64, as their session does."""
        stores = [each.admitted(plan.design, exact=program is not None) for each in (pair.first, pair.second)]
        return cls(plan, pair, (stores[0], stores[1]), program)

    def run(self, world: int, seed: int | None, *, compared: bool = True) -> Transcript:
        """Run the plan once on one of the tables; what its queries show is computed where it is `compared`."""
        noised = AuditedTable(self._store(world), self.kept[world], noised=True, seed=seed)
        exact = [AuditedTable(self._store(each), self.kept[each]) for each in (0, 1)]
        gate = TwinGate(self.plan, noised, exact, compared=compared)
        plan = completed(self.plan, gate, gate.prepare)
        solution = (self.program or plan.solver.run)(gate, plan)
        return Transcript(solution, gate.log_ratio, tuple(gate.shifts))

    def _store(self, world: int) -> Store:
        """A store of its own for a run, which may change its coordinates."""
        store = self.prepared[world]
        if not isinstance(store, MemoryStore):
            return self.pair[world].admitted(self.plan.design, exact=self.program is not None)
        blocks = [np.array(store.block(index)) for index in range(store.block_count)]
        return MemoryStore(store.layout, blocks, store.subsample)
