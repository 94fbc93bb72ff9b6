"""The gate has one verb."""

import inspect

from tacit.contract.query import Gate
from tacit.engine.gate import OpenGate, PlannedGate


def test_a_gate_can_be_asked_and_nothing_else() -> None:
    def verbs(kind: type) -> set[str]:
        return {name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")}

    assert verbs(Gate) == {"ask"}
    assert verbs(PlannedGate) >= {"ask"} <= verbs(OpenGate)
