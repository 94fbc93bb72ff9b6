"""What is measured: a population, a number of records, a budget and public bounds."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from benchmarks.coverage.designs import FAMILIES, LARGEST_COUNT, RESPONSE_BOUND, SCENARIOS, Design, Family, Scenario
from tacit import Budget, LinearRegression, LogisticRegression, PoissonRegressor
from tacit.contract.plan import Plan
from tacit.solvers.newton import Newton
from tacit.solvers.one_step import OneStep

SIZES = (500, 1000, 4000, 16000)
WIDTHS = (4, 10)
BUDGETS = (0.5, 1.0, 2.0)
USUAL_BOUND = 10.0
BOUNDS = (3.0, USUAL_BOUND, 100.0, 1000.0)
LEAST_SIGNAL = 100.0
"""n·μ/d from which nominal coverage is claimed; cells below are not run."""
GRID = SCENARIOS[:4]
HARD_SIZES = (
    (500, 4, 1.0),
    (1000, 4, 0.5),
    (1000, 10, 1.0),
    (1000, 4, 1.0),
    (4000, 10, 0.5),
    (2000, 4, 1.0),
    (4000, 4, 1.0),
    (4000, 10, 1.0),
    (16000, 4, 1.0),
)


@dataclass(frozen=True)
class Cell:
    """One cell of the study; `d` counts the intercept."""

    family: Family
    scenario: Scenario
    n: int
    d: int
    mu: float
    bound: float = USUAL_BOUND

    @property
    def design(self) -> Design:
        """The population."""
        return Design(self.family, self.scenario, self.d)

    @property
    def signal(self) -> float:
        """The signal n·μ/d."""
        return self.n * self.mu / self.d

    @property
    def words(self) -> str:
        """Name of the cell, by which rows are kept."""
        words = f"{self.design.words}/{self.n}/{self.mu:g}"
        return words if self.bound == USUAL_BOUND else f"{words}/{self.bound:g}"

    def seed(self, batch: int) -> int:
        """A seed that depends on what is run, and on nothing else."""
        return zlib.crc32(f"{self.words}/{batch}".encode())


@lru_cache(maxsize=64)
def plan_of(cell: Cell) -> Plan:
    """The plan of the cell's fits; the records of a sample do not enter it."""
    settings: dict[str, Any] = {"budget": Budget(mu=cell.mu), "bounds": (-cell.bound, cell.bound), "inference": True}
    model: LogisticRegression | LinearRegression | PoissonRegressor
    match cell.family:
        case "logistic":
            model = LogisticRegression(classes=(0, 1), **settings)
        case "linear":
            reach = max(cell.bound, RESPONSE_BOUND)
            model = LinearRegression(y_bounds=(-reach, reach), **settings)
        case _:
            model = PoissonRegressor(y_max=LARGEST_COUNT, **settings)
    return model.plan(cell.n, cell.d - 1)


def row_bound(plan: Plan) -> float:
    """C of the row weights min(1, (C / ‖z‖)²)."""
    match plan.solver:
        case OneStep(clip_factor=factor):
            return factor * math.sqrt(plan.design.width)
        case Newton(start=start):
            return start.clip_factor * math.sqrt(plan.design.width)
    raise TypeError("The plan pays for no intervals.")


def grid(families: Sequence[Family] = FAMILIES, scenarios: Sequence[Scenario] = GRID) -> Iterator[Cell]:
    """Cells with signal enough: few records first, which are quick and near the line."""
    for n in SIZES:
        for scenario in scenarios:
            for d in WIDTHS:
                for mu in BUDGETS:
                    for family in families:
                        cell = Cell(family, scenario, n, d, mu)
                        if cell.signal >= LEAST_SIGNAL:
                            yield cell


def hard_cells(families: Sequence[Family] = FAMILIES) -> list[Cell]:
    """Rare outcomes and heavy tails, near the line and above it."""
    return [Cell(family, "rare", *size) for size in HARD_SIZES for family in families]


def width_cells(families: Sequence[Family] = FAMILIES) -> list[Cell]:
    """Cells in which widths are compared: loose and tight public bounds."""
    return [Cell(family, "clean", 16000, 4, 1.0, bound) for bound in BOUNDS for family in families]
