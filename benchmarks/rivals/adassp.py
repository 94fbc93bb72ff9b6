"""Linear regression from noisy second moments: AdaSSP (Wang 2018), and the same made stronger."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.table import Kind, Table, Vector
from benchmarks.rivals.calibration import mu_of
from benchmarks.rivals.method import DELTA, UNTUNED, Fit, Setting
from benchmarks.rivals.scaling import back, unit_response, unit_rows

FAILURE = 0.05  # ϱ of the paper


def symmetric(rng: np.random.Generator, width: int) -> NDArray[np.float64]:
    """Symmetric noise, independent on and above the diagonal, variance 1 each."""
    upper = np.triu(rng.standard_normal((width, width)))
    return np.asarray(upper + np.triu(upper, 1).T)


def isometric(rng: np.random.Generator, width: int) -> NDArray[np.float64]:
    """Symmetric noise that is spherical in the Frobenius norm: off-diagonal variance 1/2."""
    full = rng.standard_normal((width, width))
    return np.asarray((full + full.T) / 2.0)


def scales(mu: float, share: float) -> tuple[float, float]:
    """Noise of X'X and of X'y, rows and responses of norm 1, one record replaced.

    X'X moves by at most √2 in the Frobenius norm, X'y by at most 2.
    """
    return math.sqrt(2.0) / (mu * math.sqrt(share)), 2.0 / (mu * math.sqrt(1.0 - share))


def solve(gram: NDArray[np.float64], cross: Vector, ridge: float) -> Vector:
    """Solution of the ridge equations; the noisy matrix may be indefinite."""
    return np.asarray(np.linalg.lstsq(gram + ridge * np.eye(len(gram)), cross, rcond=None)[0])


def solve_lifted(gram: NDArray[np.float64], cross: Vector, ridge: float) -> Vector:
    """The same with negative eigenvalues lifted to 0, which is free and never blows up."""
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(vectors @ ((vectors.T @ cross) / (np.maximum(values, 0.0) + ridge)))


@dataclass(frozen=True)
class Published:
    """AdaSSP by the formulas of the paper: three Gaussians of (ε/3, δ/3), add-remove.

    Add-remove is the weaker promise here: it needs less noise than replace-one.
    """

    name: str = "adassp"
    label: str = "AdaSSP, as published"
    kinds: tuple[Kind, ...] = ("regression",)
    epsilons: tuple[float, ...] | None = None
    version: str = "1"

    def settings(self, table: Table, epsilon: float) -> Sequence[Setting]:  # noqa: ARG002
        """Nothing to tune."""
        return UNTUNED

    def fits(self, table: Table, epsilon: float, settings: Sequence[Setting], seed: int) -> list[Fit]:
        """Ridge adapted to a noisy smallest eigenvalue."""
        rng = np.random.default_rng(seed)
        start = time.perf_counter()
        X, y = unit_rows(table.X_train, table.row_norm), unit_response(table)
        gram, cross, width = X.T @ X, X.T @ y, X.shape[1]
        log_term = math.log(6.0 / DELTA)
        noise = math.sqrt(log_term) / (epsilon / 3.0)
        smallest = float(np.linalg.eigvalsh(gram)[0])
        smallest += noise * rng.standard_normal() - log_term / (epsilon / 3.0)
        wanted = math.sqrt(width * math.log(2.0 * width**2 / FAILURE)) * noise
        ridge = max(0.0, wanted - max(0.0, smallest))
        noisy_gram = gram + noise * symmetric(rng, width)
        theta = solve(noisy_gram, cross + noise * rng.standard_normal(width), ridge)
        seconds = time.perf_counter() - start
        margins = back(table, unit_rows(table.X_test, table.row_norm) @ theta)
        return [Fit(margins, seconds)] * len(settings)


@dataclass(frozen=True)
class Tuned:
    """Noisy second moments with exact accounting; ridge and shares tuned on the test rows."""

    name: str = "adassp-tuned"
    label: str = "AdaSSP, exact and tuned"
    kinds: tuple[Kind, ...] = ("regression",)
    epsilons: tuple[float, ...] | None = None
    version: str = "2"

    def settings(self, table: Table, epsilon: float) -> Sequence[Setting]:  # noqa: ARG002
        """Share of μ² for X'X, and the ridge in edges √(2d)·s of its noise."""
        return [
            {"share": share, "ridge": ridge}
            for share, ridge in itertools.product((0.2, 0.4, 0.6, 0.8), (0.03, 0.1, 0.3, 0.6, 1.0, 1.5, 3.0, 10.0))
        ]

    def fits(self, table: Table, epsilon: float, settings: Sequence[Setting], seed: int) -> list[Fit]:
        """Both moments by the Gaussian mechanism, replace-one."""
        start = time.perf_counter()
        X, y = unit_rows(table.X_train, table.row_norm), unit_response(table)
        test = unit_rows(table.X_test, table.row_norm)
        gram, cross, width = X.T @ X, X.T @ y, X.shape[1]
        shared = time.perf_counter() - start
        rng = np.random.default_rng(seed)
        gram_noise, cross_noise = isometric(rng, width), rng.standard_normal(width)
        mu, fits = mu_of(epsilon, DELTA), []
        for setting in settings:
            start = time.perf_counter()
            scale, cross_scale = scales(mu, setting["share"])
            ridge = setting["ridge"] * math.sqrt(2.0 * width) * scale
            noisy = gram + scale * gram_noise
            theta = solve_lifted(noisy, cross + cross_scale * cross_noise, ridge)
            seconds = shared + time.perf_counter() - start
            fits.append(Fit(back(table, test @ theta), seconds))
        return fits
