"""What intervals are for: the estimator's own value on a population, from ten million records.

Where the score has mean zero given the features at the true coefficients, they are the value. Under
a misspecified model it depends on the row weights, hence on n·μ/d. All values of a
population are found from the same records, drawn block by block: roots on the first million, then
one Newton step on all of them.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage.cells import Cell, plan_of, row_bound
from benchmarks.coverage.designs import Design
from benchmarks.coverage.plain import Sample, loss_of, root, sums_of

RECORDS, FIRST, BLOCK = 10_000_000, 1_000_000, 50_000

Matrix = NDArray[np.float64]


def key_of(cell: Cell) -> str:
    """Cells with the same population and weights share their target."""
    return f"{cell.design.words}/{cell.n if cell.family == 'poisson' else ''}/{cell.signal:g}"


def block_of(design: Design, index: int) -> tuple[Matrix, Matrix]:
    """One block of the population, always the same."""
    seed = zlib.crc32(f"population/{design.words}".encode())
    return design.draw(BLOCK, np.random.default_rng([seed, index]))


def population_values(cells: Sequence[Cell], records: int = RECORDS) -> dict[str, list[float]]:
    """Targets of cells of one population, by their key."""
    design = cells[0].design
    blocks = [block_of(design, k) for k in range(max(1, min(FIRST, records) // BLOCK))]
    X, y = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    found = {}
    for cell in cells:
        plan = plan_of(cell)
        sample = Sample.of(X, y, row_bound(plan))
        loss = loss_of(cell.family, plan, sample)
        found[key_of(cell)] = (row_bound(plan), loss, root(loss, sample, design.coefficients()))
    del X, y, blocks, sample
    gradients = {key: np.zeros(design.d) for key in found}
    curvatures = {key: np.zeros((design.d, design.d)) for key in found}
    for index in range(records // BLOCK):
        rows, responses = block_of(design, index)
        for key, (bound, loss, theta) in found.items():
            sums = sums_of(loss, Sample.of(rows, responses, bound), theta)
            gradients[key] += sums.gradient
            curvatures[key] += sums.curvature
    return {
        key: (theta - np.linalg.solve(curvatures[key], gradients[key])).tolist() for key, (_, _, theta) in found.items()
    }


class Targets:
    """Targets kept in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, list[float]] = {}
        if path.exists():
            self._known = json.loads(path.read_text(encoding="utf-8"))

    def __getitem__(self, cell: Cell) -> Matrix:
        if cell.design.is_centred:
            return cell.design.coefficients()
        return np.array(self._known[key_of(cell)])

    def __contains__(self, cell: Cell) -> bool:
        return cell.design.is_centred or key_of(cell) in self._known

    def missing(self, cells: Iterable[Cell]) -> list[list[Cell]]:
        """Cells without a target, one for each, population by population."""
        groups: dict[Design, dict[str, Cell]] = {}
        for cell in cells:
            if cell not in self:
                groups.setdefault(cell.design, {}).setdefault(key_of(cell), cell)
        return [list(group.values()) for group in groups.values()]

    def add(self, values: dict[str, list[float]]) -> None:
        """Keep targets, on disk at once."""
        self._known.update({key: [round(v, 7) for v in each] for key, each in values.items()})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f" {json.dumps(key)}: {json.dumps(each)}" for key, each in self._known.items()]
        self.path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
