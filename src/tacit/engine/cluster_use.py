"""What a fit on a cluster owes before anything is charged: that workers can answer it, and compute the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.contract.plan import Plan
from tacit.contract.query import BLOCK_KINDS, GradientSum, QueryKind, SecondMoments
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.errors import SettingError
from tacit.losses import classification, regression
from tacit.losses.black_box import BlackBoxLoss
from tacit.mechanisms.gradient import gradients
from tacit.mechanisms.moments import second_moments
from tacit.rows.cluster.handshake import Probe
from tacit.rows.cluster.partitions import require_files
from tacit.rows.sources.source import Source

PROBED_RECORDS, PROBED_COLUMNS = 1000, 7


def require_supported(plan: Plan, source: Source) -> None:
    """Refuse, by name, what is no integer sum over records, and tables in memory.

    Guarantee: nothing is spent, and no record is read.
    """
    require_files(source)
    if isinstance(plan.loss, BlackBoxLoss):
        raise SettingError("A black-box loss is a Python function of single records, and is not sent to a cluster.")
    kinds = {step.kind for step in plan.steps}
    if kinds & (BLOCK_KINDS | {QueryKind.POSTERIOR}):
        raise SettingError(
            f'solver="{plan.solver.name}" reads records one by one in one process, and is not run on a cluster. '
            'Sums are: use solver="auto", or fit without cluster=.'
        )
    if QueryKind.BATCH_GRADIENT in kinds and plan.design.attached.unit is not None:
        raise SettingError(
            f'solver="{plan.solver.name}" draws batches of units by their place in one table, which a cluster does not '
            'have. Use solver="auto", or fit without cluster=.'
        )


def public_probe() -> Probe:
    """Public records and sums of them, on which every worker must get the bits of this process."""
    i, j = np.ogrid[:PROBED_RECORDS, :PROBED_COLUMNS]
    # Whole numbers over a power of two: the same everywhere. A few records are tiny, or beyond their bounds.
    X = ((i * 7919 + j * 104_729 + i * j * 31) % 4096 - 2048) / 1024.0
    X[::97] *= 2.0**-30
    y = ((i[:, 0] * 31) % 7 < 3).astype(np.int64)
    names = [f"x{k}" for k in range(PROBED_COLUMNS)]
    design = matrix_design(names, Binary("y", (0, 1)), bounds=(-1.9, 1.7), row_norm=2.0, intercept=True)
    width = design.width
    row, column = np.ogrid[:width, :width]
    matrix = np.triu(((row * 5 + column * 3) % 8 + 1) / 7.0)
    theta = ((np.arange(width) - 3.0) / 5.0).astype(np.float64)
    sums: list[tuple[Callable[..., Any], Any, int]] = [
        (gradients, GradientSum(theta, 1.0, loss=classification.LOGISTIC), 1 << 20),
        (gradients, GradientSum(theta, 1.0, loss=regression.SQUARED), 1 << 20),
        (gradients, GradientSum(theta, 1.0, balanced=True), 1 << 40),
        (second_moments, SecondMoments(1.5), 1 << 12),
    ]
    return Probe(X, y, design, matrix, sums)
