"""A charged run that a lost cluster may interrupt, and that can go on under the same charge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

from tacit.contract.cluster import Cluster
from tacit.contract.plan import Plan
from tacit.contract.query import Answer, Gate, Progress, Query
from tacit.contract.release import Release
from tacit.design.design import Design
from tacit.engine.gate import OpenGate, PlannedGate
from tacit.errors import ClusterLost, PlanViolation
from tacit.mechanisms.query_responder import Responder
from tacit.rows.storage.store import Store
from tacit.solvers.counting import count_records
from tacit.solvers.fit_statistics import ask_statistics
from tacit.solvers.locating import locate


class RecordedGate:
    """A gate that keeps its answers, which were paid for, and gives them again to a run that starts over.

    Guarantee: every reserved step is answered once. A run that starts over gets the same answers, and goes on where
    they end; one that asks for something else on the way is refused.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate, self._given, self._next = gate, list[tuple[type, Answer]](), 0

    def __reduce__(self) -> NoReturn:
        raise PlanViolation("A gate cannot be copied: a copy would answer what is paid for once again.")

    def start_over(self) -> None:
        """Begin with the first answer again."""
        self._next = 0

    def ask(self, query: Query) -> Answer:
        """Answer as before, or for the first time."""
        if self._next == len(self._given):
            self._given.append((type(query), self._gate.ask(query)))
        kind, answer = self._given[self._next]
        if kind is not type(query):
            raise PlanViolation("A run that starts over must ask what it asked before.")
        self._next += 1
        return answer


class InterruptibleRun:
    """One run of a plan over a store: gate, noise and answers so far; it is charged before it begins."""

    def __init__(self, store: Store, plan: Plan, seed: int | None, progress: Progress | None) -> None:
        self._store, self._plan, self._seeded = store, plan, seed is not None
        self._prepared = self._complete = False
        self._responder = Responder(store, private=plan.private, seed=seed, progress=progress)
        if plan.private:
            gate: Gate = PlannedGate(plan, self._responder, progress)
        else:
            # The lattice must hold all records, however few of them were declared.
            actual = replace(plan, records=max(plan.records, store.length))
            gate = OpenGate(actual, self._responder, progress)
        self._gate = RecordedGate(gate)

    def release(self) -> Release:
        """Run the plan; a lost cluster ends in an error from which it can go on."""
        self._gate.start_over()
        try:
            with self._responder:
                plan = completed(self._plan, self._gate, self._prepare)
                found = plan.solver.run(self._gate, plan)
                statistics = ask_statistics(self._gate, plan, found)
        except ClusterLost as lost:
            raise ClusterLost(f"{lost} {GOES_ON}", self._again) from None
        rest = (found.sandwich, found.moments, found.decrements, found.iterates)
        self._complete = True
        return Release(plan, found.theta, self._seeded, *rest, statistics=statistics)

    def _again(self, cluster: Any) -> Release:
        if self._complete:
            raise PlanViolation("The run is complete: it was paid for once, and is not run again.")
        moved = getattr(self._store, "moved", None)
        if moved is not None:
            moved(Cluster.of(cluster))
        return self.release()

    def _prepare(self, design: Design) -> None:
        if not self._prepared:
            self._responder.prepare_with(design)
            self._prepared = True


GOES_ON = (
    "No coefficient was released. What was charged stays charged, and pays for the rest of this fit: call "
    "run_again(cluster) of this error, which goes on where the answers so far end."
)


def completed(plan: Plan, gate: Gate, prepare: Callable[[Design], object]) -> Plan:
    """Ask for bounds and for the number of records where that is planned, and return the plan with what was found.

    `prepare` rescales the records by the bounds that were found.
    """
    if plan.locating is not None:
        # The bounds are an answer of the gate; the rest of the plan goes by them.
        plan = replace(plan, design=locate(gate, plan))
        prepare(plan.design)
    return count_records(gate, plan) if plan.counting else plan
