"""Simulated wide tables: columns of every kind of common spread, and slopes along it or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Made = tuple[Floats, Floats]
"""Rows, and slopes up to their length."""
TESTED = 8000
"""Records on which a fit is scored."""
LENGTH = {"linear": 1.5, "Poisson": 0.7, "logistic": 1.5}
"""Deviation of the true linear predictors."""


@dataclass(frozen=True)
class Wide:
    """A table to fit and records to score it on: rows, responses, true linear predictors, bounds of the columns."""

    X: Floats
    y: NDArray[Any]
    predictors: Floats
    bound: float


def _independent(rng: np.random.Generator, n: int, d: int) -> Made:
    return rng.standard_normal((n, d)), rng.standard_normal(d)


def _autoregressive(along: bool) -> Callable[[np.random.Generator, int, int], Made]:
    def make(rng: np.random.Generator, n: int, d: int) -> Made:
        X, steps = np.empty((n, d)), rng.standard_normal((n, d))
        X[:, 0] = steps[:, 0]
        for j in range(1, d):
            X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1 - 0.81) * steps[:, j]
        slopes = rng.standard_normal(d)
        spread = 0.9 ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
        return X, spread @ slopes if along else slopes

    return make


def _factors(along: bool, count: int = 5, scaled: bool = False) -> Callable[[np.random.Generator, int, int], Made]:
    def make(rng: np.random.Generator, n: int, d: int) -> Made:
        loads = rng.standard_normal((count, d))
        loads /= np.sqrt((loads**2).sum(axis=0))
        X = np.sqrt(0.5) * (rng.standard_normal((n, count)) @ loads + rng.standard_normal((n, d)))
        slopes = loads.T @ rng.standard_normal(count) if along else rng.standard_normal(d)
        scales = np.exp(rng.standard_normal(d)) if scaled else np.ones(d)
        return X * scales, slopes / scales

    return make


def _unequal(rng: np.random.Generator, n: int, d: int) -> Made:
    scales = np.exp(rng.standard_normal(d))
    return rng.standard_normal((n, d)) * scales + 3 * rng.standard_normal(d), rng.standard_normal(d) / scales


def _blocks(along: bool) -> Callable[[np.random.Generator, int, int], Made]:
    """Neighbouring columns in groups of ten, each with a share of 0.7 in common."""

    def make(rng: np.random.Generator, n: int, d: int) -> Made:
        group = np.arange(d) // 10
        common, signs = rng.standard_normal((n, group[-1] + 1)), rng.choice([-1.0, 1.0], d)
        X = signs * (np.sqrt(0.7) * common[:, group] + np.sqrt(0.3) * rng.standard_normal((n, d)))
        slopes = signs * rng.standard_normal(group[-1] + 1)[group] if along else rng.standard_normal(d)
        return X, slopes

    return make


def _decaying(rng: np.random.Generator, n: int, d: int) -> Made:
    """A spectrum that falls as 1 / j in a random basis, and slopes along its ten widest directions."""
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
    widths = 1 / np.sqrt(np.arange(1, d + 1))
    widths *= np.sqrt(d / np.sum(widths**2))
    return rng.standard_normal((n, d)) * widths @ basis.T, basis[:, :10] @ rng.standard_normal(10)


def _heavy(rng: np.random.Generator, n: int, d: int) -> Made:
    """Tails of Student's t with 4 degrees, one factor in common, a tenth of the slopes not zero."""
    X = 0.6 * rng.standard_normal((n, 1)) + 0.8 * rng.standard_t(4, (n, d)) / np.sqrt(2)
    return X, rng.standard_normal(d) * (rng.random(d) < 0.1)


def _flags(rng: np.random.Generator, n: int, d: int) -> Made:
    """Columns of zeros and ones, each one in a fiftieth to a half of the records."""
    return (rng.random((n, d)) < np.exp(rng.uniform(np.log(0.02), np.log(0.5), d))).astype(float), rng.standard_normal(
        d
    )


def _clusters(rng: np.random.Generator, n: int, d: int) -> Made:
    """Records around four centres, and slopes along the lines between them."""
    centers = rng.standard_normal((4, d))
    X = 0.7 * centers[rng.integers(0, 4, n)] + 0.7 * rng.standard_normal((n, d))
    return X, (centers - centers.mean(axis=0)).T @ rng.standard_normal(4)


def _curves(rng: np.random.Generator, n: int, d: int) -> Made:
    """Smooth curves read at d places: twenty waves whose sizes fall, a little noise, and slopes that are a wave too."""
    places, waves = np.linspace(0, 1, d), np.arange(1, 21)
    shapes = np.cos(np.pi * waves[:, None] * places)
    X = rng.standard_normal((n, 20)) / np.sqrt(waves) @ shapes / 1.3 + 0.3 * rng.standard_normal((n, d))
    return X, np.cos(np.pi * 4 * places) + 0.5 * np.cos(np.pi * 9 * places)


def _against(rng: np.random.Generator, n: int, d: int) -> Made:
    """One factor that all columns share, and slopes across it."""
    X = np.sqrt(0.5) * (rng.standard_normal((n, 1)) + rng.standard_normal((n, d)))
    slopes = rng.standard_normal(d)
    return X, slopes - slopes.mean()


CHOSEN: Mapping[str, Callable[[np.random.Generator, int, int], Made]] = {
    "independent": _independent,
    "autoregressive": _autoregressive(along=False),
    "autoregressive, along": _autoregressive(along=True),
    "five factors": _factors(along=False),
    "five factors, along": _factors(along=True),
    "unequal scales": _unequal,
    "five factors, unequal scales, along": _factors(along=True, scaled=True),
}
"""Designs on which rules were chosen."""
INVENTED: Mapping[str, Callable[[np.random.Generator, int, int], Made]] = {
    "blocks of ten": _blocks(along=False),
    "blocks of ten, along": _blocks(along=True),
    "decaying spectrum, along": _decaying,
    "heavy tails, few slopes": _heavy,
    "flags": _flags,
    "four clusters, along": _clusters,
    "twelve factors, along": _factors(along=True, count=12),
    "smooth curves, along": _curves,
    "one factor, across": _against,
}
"""Designs that were invented after the rules had been chosen."""


def wide_table(model: str, design: str, n: int, d: int, seed: int) -> Wide:
    """Draw a table of n records to fit, with further ones to score it on."""
    place = [*CHOSEN, *INVENTED].index(design)
    rng = np.random.default_rng([seed, place, n, d])
    X, slopes = {**CHOSEN, **INVENTED}[design](rng, n + TESTED, d)
    bound = 30.0 if "unequal" in design else 10.0
    X = np.clip(X, -bound, bound)
    predictors = X @ slopes
    predictors = (predictors - predictors.mean()) / predictors.std() * LENGTH[model]
    if model == "linear":
        return Wide(X, np.clip(predictors + rng.standard_normal(len(X)), -10, 10), predictors, bound)
    if model == "Poisson":
        return Wide(X, np.minimum(rng.poisson(np.exp(0.5 + predictors)), 50), 0.5 + predictors, bound)
    return Wide(X, (rng.random(len(X)) < 1 / (1 + np.exp(-predictors))).astype(int), predictors, bound)
