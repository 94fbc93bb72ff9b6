"""Plain targets: what a model without privacy would find in ever more records.

Where the model's mean is right they are its coefficients. Elsewhere they are the root of the
population's score, from four million records drawn block by block, with expected responses in the
place of drawn ones where these are known.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import numpy as np

from benchmarks.coverage.plain_classes import fit_classes, shares_of
from benchmarks.coverage.plain_fit import derivatives, fit_rows, person_shares, scaling
from benchmarks.coverage.population import Draw, Matrix, Population
from benchmarks.record import RESULTS

RECORDS, BLOCK, FIRST, ROUNDS = 4_000_000, 100_000, 3, 3
CLASS_BLOCKS = 10
"""Blocks for the target of several classes: with expected shares a million records are enough."""
PATH = RESULTS / "coverage-plain-targets.json"


def block_of(population: Population, index: int, size: int = BLOCK) -> Draw:
    """A block of the population, always the same."""
    seed = zlib.crc32(f"plain/{population.name}".encode())
    return population.sample(size, np.random.default_rng([seed, index]))


def population_value(population: Population, records: int = RECORDS, block: int = BLOCK) -> Matrix:
    """The root of the score over so many records, by Newton steps from that of the first blocks."""
    count = max(1, records // block)
    if population.classes:
        draws = [block_of(population, k, block) for k in range(min(CLASS_BLOCKS, count))]
        shares = [shares_of(population, it.response) if it.mean is None else it.mean for it in draws]
        return fit_classes(np.concatenate([population.rows(it) for it in draws]), np.concatenate(shares)).values
    few = [_parts(population, block_of(population, k, block)) for k in range(min(FIRST, count))]
    Z, y = np.concatenate([each[0] for each in few]), np.concatenate([each[1] for each in few])
    offset = np.concatenate([each[2] for each in few])
    to_user = scaling(Z)
    theta = np.linalg.solve(to_user, fit_rows(population.family, Z, y, offset).values)
    for _ in range(1 if population.family == "gaussian" else ROUNDS):
        gradient, curvature = np.zeros(population.d), np.zeros((population.d, population.d))
        for index in range(count):
            draw = block_of(population, index, block)
            (Z, y, offset), weights = _parts(population, draw), person_shares(draw.persons)
            W = Z @ to_user
            residual, slope = derivatives(population.family, W @ theta + offset, y)
            gradient += W.T @ (weights * residual)
            curvature += (W * (weights * slope)[:, None]).T @ W
        theta = theta + np.linalg.solve(curvature, gradient)
    return np.asarray(to_user @ theta)


def _parts(population: Population, draw: Draw) -> tuple[Matrix, Matrix, Matrix]:
    y = draw.response if draw.mean is None else draw.mean
    return population.rows(draw), y, np.zeros(len(y)) + population.offset(draw)


def target_of(population: Population, path: Path = PATH) -> Matrix:
    """The target, from the truth, from the file, or computed and kept there."""
    if population.truth is not None:
        return np.array([population.truth[name] for name in population.names])
    known = read_targets(path)
    if population.name not in known:
        found = population_value(population)
        known = {**read_targets(path), population.name: [float(f"{v:.9g}") for v in found]}
        lines = [f" {json.dumps(key)}: {json.dumps(known[key])}" for key in sorted(known)]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return np.array(known[population.name])


def read_targets(path: Path = PATH) -> dict[str, list[float]]:
    """Targets that were kept."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
