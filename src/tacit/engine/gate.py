"""The gates: how a solver's queries reach the records, and the plan they may not leave."""

from __future__ import annotations

import os
from threading import Lock
from typing import NoReturn, Protocol

from tacit.contract.plan import Plan
from tacit.contract.query import KIND_OF, Answer, Progress, Query
from tacit.contract.sensitivity import LARGEST_TOTAL, AnyPrice, Price
from tacit.errors import ClusterError, PlanViolation


class AnyResponder(Protocol):
    """Holds records and answers queries at a price."""

    def answer(self, query: Query, price: AnyPrice) -> Answer:
        """Answer a query; the plan it belongs to has been reserved before."""


class PlannedGate:
    """Answers the plan's steps in their order, each as often as it was reserved, and no more.

    Guarantee: a query of another kind than the next step, or beyond the last, is refused before a record is touched.
    There is one count of the answers: a gate cannot be copied, is refused in a forked process, and answers one query at
    a time.
    """

    def __init__(self, plan: Plan, responder: AnyResponder, progress: Progress | None = None) -> None:
        self._responder, self._progress, self._asked = responder, progress, 0
        self._schedule = [step for step in plan.steps for _ in range(step.times)]
        self._process, self._lock = os.getpid(), Lock()

    def __reduce__(self) -> NoReturn:
        """Refuse copies and pickles, which would have a count of their own."""
        raise PlanViolation("A gate cannot be copied: a copy would answer what is paid for once again.")

    def ask(self, query: Query) -> Answer:
        """Answer the next reserved step."""
        if os.getpid() != self._process:
            raise PlanViolation("A gate answers in the process that opened it: a fork would be answered for free.")
        if not self._lock.acquire(blocking=False):
            raise PlanViolation("A gate answers one query at a time.")
        try:
            answer, label, asked = self._next(query)
        finally:
            self._lock.release()
        if self._progress is not None:
            self._progress(asked, len(self._schedule), label)
        return answer

    def _next(self, query: Query) -> tuple[Answer, str, int]:
        """Return the next answer, its label and its number."""
        if self._asked >= len(self._schedule):
            raise PlanViolation("The plan is used up: no further query was reserved.")
        step = self._schedule[self._asked]
        if KIND_OF.get(type(query)) is not step.kind or step.price is None:
            raise PlanViolation(f"The plan reserved {step.kind} at this point, not this query.")
        if getattr(query, "size", 1) != step.size:
            raise PlanViolation("The plan reserved another number of counts at this point.")
        self._asked += 1
        try:
            answer = self._responder.answer(query, step.price)
        except ClusterError:
            # No answer left: the step is still to be answered, once, should the run go on.
            self._asked -= 1
            raise
        return answer, step.label, self._asked


class OpenGate:
    """Answers anything without noise, on a fixed lattice: for ε = ∞ alone."""

    def __init__(self, plan: Plan, responder: AnyResponder, progress: Progress | None = None) -> None:
        if plan.private:
            raise PlanViolation("A private plan cannot be run through the open gate.")
        self._responder, self._progress, self._asked = responder, progress, 0
        # Products may round, by no more than a float's precision.
        finest = max(1, min(2**50, 2 * LARGEST_TOTAL // plan.records))
        # A power of two, so that a count is the whole number that it is.
        self._price = Price(1 << (finest.bit_length() - 1), 0)

    def ask(self, query: Query) -> Answer:
        """Answer exactly, up to the rounding of the lattice."""
        self._asked += 1
        answer = self._responder.answer(query, self._price)
        if self._progress is not None:
            self._progress(self._asked, self._asked, str(KIND_OF[type(query)]))
        return answer
