"""A run that starts over gets the answers it was given, and only asks for the rest."""

import copy
import pickle

import numpy as np
import pytest

from tacit.contract.query import Answer, GradientSum, Query, SecondMoments
from tacit.engine.interruptible_run import RecordedGate
from tacit.errors import ClusterLost, PlanViolation


class Counting:
    """A gate that counts, and is lost at the third question, once."""

    def __init__(self) -> None:
        self.asked, self.lost = 0, False

    def ask(self, query: Query) -> Answer:
        if self.asked == 2 and not self.lost:
            self.lost = True
            raise ClusterLost("gone")
        self.asked += 1
        return Answer(np.full(2, float(self.asked)), 1.0)


def test_answers_are_given_again_and_asked_for_once() -> None:
    inner = Counting()
    gate = RecordedGate(inner)
    query = GradientSum(np.zeros(2), 1.0)
    first = [gate.ask(query) for _ in range(2)]
    with pytest.raises(ClusterLost):
        gate.ask(query)
    gate.start_over()
    again = [gate.ask(query) for _ in range(4)]
    assert again[:2] == first
    assert inner.asked == 4


def test_a_run_that_asks_for_something_else_is_refused() -> None:
    gate = RecordedGate(Counting())
    gate.ask(GradientSum(np.zeros(2), 1.0))
    gate.start_over()
    with pytest.raises(PlanViolation, match="what it asked before"):
        gate.ask(SecondMoments(1.0))


def test_the_gate_is_not_copied() -> None:
    for leave in (pickle.dumps, copy.copy):
        with pytest.raises(PlanViolation, match="copied"):
            leave(RecordedGate(Counting()))
