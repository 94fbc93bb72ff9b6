"""All methods by name, in the order of the tables."""

from __future__ import annotations

from benchmarks.rivals.adassp import Published, Tuned
from benchmarks.rivals.descent import NoisyDescent
from benchmarks.rivals.foreign_library import STRENGTHS, Diffprivlib, Workers
from benchmarks.rivals.method import Method
from benchmarks.rivals.non_private import NonPrivate
from benchmarks.rivals.objective import ObjectivePerturbation
from benchmarks.rivals.ours import Tacit

WORKERS = Workers()
OURS, WIDE, BASELINE = "tacit", "tacit-wide", "non-private"


def methods() -> dict[str, Method]:
    """Every method that can be compared."""
    every: list[Method] = [
        Tacit(OURS),
        Tacit(WIDE, "Tacit, bounds ten times too wide", epsilons=(1.0,), shrunk=10.0),
        NonPrivate(BASELINE),
        NoisyDescent(),
        ObjectivePerturbation(),
        Tuned(),
        Published(),
        Diffprivlib(WORKERS, "diffprivlib-tuned", "diffprivlib, tuned", kinds=("classification",), strengths=STRENGTHS),
        Diffprivlib(WORKERS),
    ]
    return {method.name: method for method in every}
