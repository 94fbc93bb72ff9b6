"""One replication of the plain study: a table is drawn and fitted as users would, and noted."""

from __future__ import annotations

import hashlib
import json
import math
import time
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import tacit
from benchmarks.coverage.plain_fit import plain_fit
from benchmarks.coverage.population import Draw, Matrix, Population
from benchmarks.coverage.populations import POPULATIONS
from tacit.errors import TacitError
from tacit.ledger import uncharged

NORMAL = 1.959963984540054
WITHHELD, UNSAID = "withheld", "unsaid"
DIGITS, STAMP_DIGITS = 7, 4


@dataclass(frozen=True)
class PlainCell:
    """A population with a number of records (persons, where these are the unit) and an ε."""

    population: str
    n: int
    epsilon: float

    @property
    def words(self) -> str:
        """The name of the cell."""
        return f"{self.population}/{self.n}/{self.epsilon:g}"

    def seed(self, replication: int) -> int:
        """A seed that depends on what is run, and on nothing else."""
        return zlib.crc32(f"plain/{self.words}/{replication}".encode())


def drawn(cell: PlainCell, replication: int) -> Draw:
    """The records of a replication."""
    generator = np.random.default_rng(cell.seed(replication))
    return POPULATIONS[cell.population].sample(cell.n, generator)


def fitted(population: Population, draw: Draw, epsilon: float, seed: int) -> tacit.Fit:
    """A fit by the public function with every default; the seed makes it repeatable."""
    # Records are simulated: no ledger that this process has entered is meant.
    with uncharged("simulated records"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tacit.glm(
            population.formula,
            pa.table(draw.table),
            population.schema,
            population.family,
            epsilon=epsilon,
            random_state=seed,
        )


def said(fit: tacit.Fit, names: Sequence[str]) -> dict[str, list[Any]]:
    """Estimate, interval, p-value and label of each coefficient, as a summary shows them."""
    lines = {line.name: line for line in fit.summary().lines}
    found = [lines[name] for name in names]
    ends = [(_finite(line.lower), _finite(line.upper)) for line in found]
    labels = [
        WITHHELD if None in both or line.statement == WITHHELD else line.statement or UNSAID
        for line, both in zip(found, ends, strict=True)
    ]
    offered = [label != WITHHELD for label in labels]
    return {
        "estimate": [_finite(line.coef) for line in found],
        "lower": [both[0] if kept else None for both, kept in zip(ends, offered, strict=True)],
        "upper": [both[1] if kept else None for both, kept in zip(ends, offered, strict=True)],
        "pvalue": [_finite(line.pvalue) if kept else None for line, kept in zip(found, offered, strict=True)],
        "label": labels,
    }


def joint_test(fit: tacit.Fit, names: Sequence[str], values: Sequence[float]) -> dict[str, Any]:
    """The test that coefficients have these values at once; None where it is refused."""
    asked = [f"{name} = {float(value)!r}" for name, value in zip(names, values, strict=True) if math.isfinite(value)]
    try:
        found = fit.wald_test(asked)
    except TacitError:
        return {"joint": None, "joint_label": WITHHELD, "joint_df": len(asked)}
    silent = _finite(found.pvalue) is None or found.statement == WITHHELD
    return {
        "joint": None if silent else _finite(found.pvalue),
        "joint_label": WITHHELD if silent else found.statement,
        "joint_df": len(asked),
    }


def refused(population: Population, error: TacitError) -> dict[str, Any]:
    """What is noted of a fit that was refused: nothing is offered."""
    columns = ("estimate", "lower", "upper", "pvalue")
    return {
        **{name: [None] * population.d for name in columns},
        "label": [WITHHELD] * population.d,
        "joint": None,
        "joint_label": WITHHELD,
        "joint_df": population.d - 1,
        "error": str(error),
    }


def _finite(value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{DIGITS}g}")


def replicate(cell: PlainCell, target: Matrix, replication: int) -> dict[str, Any]:
    """A row of the study."""
    population = POPULATIONS[cell.population]
    draw = drawn(cell, replication)
    plain = plain_fit(population, draw)
    start = time.perf_counter()
    try:
        fit = fitted(population, draw, cell.epsilon, cell.seed(replication))
        values = dict(zip(population.names, target.tolist(), strict=True))
        joint = joint_test(fit, population.slopes, [values[name] for name in population.slopes])
        found = {**said(fit, population.names), **joint}
    except TacitError as error:
        found = refused(population, error)
    except Exception as error:
        error.add_note(f"in {cell.words}, replication {replication}")
        raise
    return {
        "population": cell.population,
        "n": cell.n,
        "epsilon": cell.epsilon,
        "replication": replication,
        "seed": cell.seed(replication),
        "d": population.d,
        **found,
        "target": [float(f"{value:.{DIGITS}g}") for value in target],
        "plain": [_finite(value) for value in plain.values.tolist()],
        "hc0": [_finite(2 * NORMAL * value) for value in plain.errors.tolist()],
        "seconds": round(time.perf_counter() - start, 4),
    }


def rules_stamp(first: Mapping[str, Any]) -> str:
    """A digest of what the first replication of a cell came to: it changes with every rule that the cell knows."""
    said = {name: first[name] for name in ("label", "joint_label")}
    numbers = [
        None if value is None else f"{value:.{STAMP_DIGITS}g}"
        for name in ("estimate", "lower", "upper")
        for value in first[name]
    ]
    return hashlib.sha256(json.dumps([said, numbers]).encode()).hexdigest()[:12]


def rules_today(cell: PlainCell, target: Matrix) -> str:
    """The stamp that rows of a cell get now."""
    return rules_stamp(replicate(cell, target, 0))


def run_replications(cell: PlainCell, target: Matrix, replications: Sequence[int]) -> list[dict[str, Any]]:
    """Rows of several replications, one after the other, with the stamp of the rules by which they were made."""
    rows = [replicate(cell, target, each) for each in replications]
    first = next((row for row in rows if row["replication"] == 0), None)
    stamp = rules_today(cell, target) if first is None else rules_stamp(first)
    return [{**row, "rules": stamp} for row in rows]
