"""The gate has one verb, and progress is told of public steps."""

import inspect

from tacit.contract.gate import Gate, Progress, silent
from tacit.engine.gate import OpenGate, PlannedGate


def test_a_gate_can_be_asked_and_nothing_else() -> None:
    def verbs(kind: type) -> set[str]:
        return {name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")}

    assert verbs(Gate) == {"ask"}
    assert verbs(PlannedGate) >= {"ask"} <= verbs(OpenGate)


def test_nobody_is_told_by_default() -> None:
    told: Progress = silent
    assert told(1, 2, "descent") is None  # type: ignore[func-returns-value]
