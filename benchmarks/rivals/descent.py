"""Noisy gradient descent in the coordinates of the public bounds: clip, step and length tuned.

Full batch, clipped per record, Nesterov momentum 0.9, average of the last half, exact accounting:
T steps at sensitivity 2C (one record replaced) with σ = 2C√T/μ. Many settings run at once, so that
each block of rows is read once for all of them.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.table import Kind, Table
from benchmarks.rivals.calibration import mu_of
from benchmarks.rivals.method import DELTA, Fit, Setting
from benchmarks.rivals.scaling import back, unit_response, unit_rows

MOMENTUM, BLOCK = 0.9, 4096
CLIPS = (0.03, 0.1, 0.3, 1.0)
STEPS: dict[Kind, tuple[float, ...]] = {
    "classification": (0.5, 1.5, 5.0, 15.0, 45.0),
    "regression": (0.1, 0.3, 1.0, 3.0, 10.0),
}
LENGTHS = (30.0, 100.0, 300.0)
# Small tables can afford to arrive where the columns are close to collinear.
LONGEST, SMALL = 1000.0, 2_000_000
Single = NDArray[np.float32]


def noise_scale(mu: float, clip: float, length: int) -> float:
    """Standard deviation of the noise on each sum of clipped gradients."""
    return 2.0 * clip * math.sqrt(length) / mu


def clipped_sum(X: Single, y: Single, reach: Single, theta: Single, clips: Single, kind: Kind) -> Single:
    """Sums over records of gradients clipped to norm `clips`, one column per setting.

    `reach` is 1/‖row‖: a gradient is a slope times its row, so its slope is clipped at clip·reach.
    """
    total = np.zeros_like(theta)
    for first in range(0, len(X), BLOCK):
        block = slice(first, first + BLOCK)
        slopes = X[block] @ theta
        if kind == "classification":
            slopes = (np.tanh(slopes / 2) + 1) / 2
        slopes -= y[block, None]
        limits = clips * reach[block, None]
        total += X[block].T @ np.clip(slopes, -limits, limits)
    return total


def descend(X: Single, y: Single, kind: Kind, mu: float, settings: Sequence[Setting], seed: int) -> Single:
    """Averages of the last half of the iterates, one column per setting; one length for all."""
    rng = np.random.default_rng(seed)
    reach = 1 / np.sqrt(np.einsum("ij,ij->i", X, X))
    length = int(settings[0]["length"])
    clips = np.array([setting["clip"] for setting in settings], dtype=np.float32)
    steps = np.array([setting["step"] for setting in settings], dtype=np.float32) / len(X)
    scales = np.array([noise_scale(mu, setting["clip"], length) for setting in settings])
    theta = np.zeros((X.shape[1], len(settings)), dtype=np.float32)
    velocity, average = np.zeros_like(theta), np.zeros_like(theta)
    for t in range(length):
        gradient = clipped_sum(X, y, reach, theta + MOMENTUM * velocity, clips, kind)
        # One draw for all settings: they are compared on the same noise.
        noise = rng.standard_normal((X.shape[1], 1)) * scales
        velocity = MOMENTUM * velocity - steps * (gradient + noise.astype(np.float32))
        theta = theta + velocity
        if t >= length // 2:
            average += theta / np.float32(length - length // 2)
    return average


@dataclass(frozen=True)
class NoisyDescent:
    """Noisy gradient descent, tuned on the test rows."""

    name: str = "noisy-descent"
    label: str = "noisy gradient descent, tuned"
    kinds: tuple[Kind, ...] = ("classification", "regression")
    epsilons: tuple[float, ...] | None = None
    version: str = "1"

    def settings(self, table: Table, epsilon: float) -> Sequence[Setting]:  # noqa: ARG002
        """Clip, step and number of steps."""
        lengths = (*LENGTHS, LONGEST) if table.X_train.size < SMALL else LENGTHS
        return [
            {"clip": clip, "step": step, "length": length}
            for clip, step, length in itertools.product(CLIPS, STEPS[table.kind], lengths)
        ]

    def fits(self, table: Table, epsilon: float, settings: Sequence[Setting], seed: int) -> list[Fit]:
        """All settings of one length at once; the seconds of a batch are shared evenly."""
        X = unit_rows(table.X_train, table.row_norm, np.float32)
        test = unit_rows(table.X_test, table.row_norm)
        regression = table.kind == "regression"
        y = (unit_response(table) if regression else table.y_train).astype(np.float32)
        mu = mu_of(epsilon, DELTA)
        fits: dict[int, Fit] = {}
        for length in sorted({setting["length"] for setting in settings}):
            places = [k for k, setting in enumerate(settings) if setting["length"] == length]
            start = time.perf_counter()
            batch = [settings[k] for k in places]
            thetas = descend(X, y, table.kind, mu, batch, seed)
            seconds = (time.perf_counter() - start) / len(places)
            margins = np.asarray(test @ thetas, dtype=np.float64)
            for column, place in enumerate(places):
                found = margins[:, column]
                fits[place] = Fit(back(table, found) if regression else found, seconds)
        return [fits[place] for place in range(len(settings))]
