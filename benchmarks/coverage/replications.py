"""One batch of samples of a cell: fits with intervals, beside the same estimator without noise."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage.cells import Cell, plan_of, row_bound
from benchmarks.coverage.plain import Sample, fit
from tacit.contract.release import Sandwich
from tacit.engine.table import Table
from tacit.inference.results import Results

NORMAL = 1.959963984540054

Matrix = NDArray[np.float64]


def released(cell: Cell, X: Matrix, y: Matrix, seed: int) -> Results:
    """One private fit. The plan is priced once a cell: it does not depend on the records."""
    plan = plan_of(cell)
    with Table(X, y) as table:
        table.admit(plan.design, invalid_rows="error", exact=False)
        return Results(table.run(plan, seed=seed))


def relative_noise(sandwich: Sandwich) -> float:
    """√(2d)·s_M over the smallest eigenvalue of M: how much of the curvature is noise."""
    smallest = float(np.linalg.eigvalsh(sandwich.curvature).min())
    noise_norm = math.sqrt(2 * len(sandwich.curvature)) * sandwich.curvature_noise
    return noise_norm / smallest if smallest > 0 else math.inf


def run_batch(cell: Cell, target: Matrix, batch: int, size: int) -> dict[str, Any]:
    """Counts and means over the samples of a batch, a number for each coefficient."""
    start = time.perf_counter()
    plan = plan_of(cell)
    generator = np.random.default_rng(cell.seed(batch))
    seeds = np.random.default_rng(cell.seed(batch) + 1).integers(0, 2**62, size)
    zeros = np.zeros(cell.d)
    names = (
        "covered",
        "nominal",
        "nominal_covered",
        "plain_covered",
        "width",
        "plain_width",
        "full_weight_width",
        "z",
        "z_squared",
    )
    sums = {name: zeros.copy() for name in names}
    noise, ratios, flagged = [], [], 0
    for seed in seeds.tolist():
        X, y = cell.design.draw(cell.n, generator)
        results = released(cell, X, y, seed)
        sandwich = results.release.sandwich
        if sandwich is None:
            raise ValueError("The plan pays for no intervals.")
        found = results.coefficients
        ends = found.conf_int()
        plain = fit(cell.family, plan, Sample.of(X, y, row_bound(plan)), target)
        covered = (ends[:, 0] <= target) & (target <= ends[:, 1])
        nominal = np.array([said == "nominal" for said in found.statements])
        width = ends[:, 1] - ends[:, 0]
        z = (found.values - target) / found.std_errors
        noise.append(relative_noise(sandwich))
        ratios.append(float(np.mean(width / (2 * NORMAL * plain.unweighted))))
        flagged += sandwich.lifted or sandwich.capped
        for name, value in zip(
            names,
            (
                covered,
                nominal,
                nominal & covered,
                np.abs(plain.values - target) <= NORMAL * plain.errors,
                width,
                2 * NORMAL * plain.errors,
                2 * NORMAL * plain.unweighted,
                z,
                z**2,
            ),
            strict=True,
        ):
            sums[name] += value
    counts = ("covered", "nominal", "nominal_covered", "plain_covered")
    return {
        "samples": size,
        **{name: sums[name].astype(int).tolist() for name in counts},
        **{name: (sums[name] / size).tolist() for name in names if name not in counts},
        "median_ratio": float(np.median(ratios)),
        "relative_noise": float(np.median(noise)),
        "largest_relative_noise": float(np.max(noise)),
        "flagged": int(flagged),
        "seconds": (time.perf_counter() - start) / size,
    }
