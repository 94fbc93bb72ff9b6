"""Generalised linear models without privacy, in a few lines of numpy: the reference of the study.

Nothing of the library enters, so that a fault of it cannot hide here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage import plain_links
from benchmarks.coverage.plain_links import OTHERS
from benchmarks.coverage.population import Draw, Family, Matrix, Population

ROUNDS, NEAR, HALVINGS = 60, 1e-10, 30
FARTHEST = 30.0
"""Standardised coefficients beyond this mean that a maximum does not exist."""
LEAST_PIVOT = 1e-9
ROUNDING = 1e-11
"""Residuals below this, beside the responses, are none."""


@dataclass(frozen=True)
class PlainFit:
    """Estimates and robust standard errors; NaN where the sample has none."""

    values: Matrix
    errors: Matrix


def means(family: Family, predictor: Matrix) -> tuple[Matrix, Matrix]:
    """Means and their derivatives by the linear predictor."""
    match family:
        case "gaussian":
            return predictor, np.ones_like(predictor)
        case "binomial":
            chance = 1 / (1 + np.exp(-np.clip(predictor, -700, 700)))
            return chance, chance * (1 - chance)
    rate = np.exp(np.minimum(predictor, 300))
    return rate, rate


def derivatives(family: Family, predictor: Matrix, y: Matrix) -> tuple[Matrix, Matrix]:
    """Minus the first derivative of minus the log-likelihood by the predictor, and the second."""
    if family in OTHERS:
        return plain_links.derivatives(family, predictor, y)
    mean, slope = means(family, predictor)
    return y - mean, slope


def deviance(family: Family, predictor: Matrix, y: Matrix, weights: Matrix | float = 1.0) -> float:
    """Minus the log-likelihood, up to what does not depend on the predictor."""
    if family in OTHERS:
        return float(np.sum(weights * plain_links.minus_log_likelihood(family, predictor, y)))
    match family:
        case "gaussian":
            return float(np.sum(weights * (y - predictor) ** 2) / 2)
        case "binomial":
            return float(np.sum(weights * (np.logaddexp(0, predictor) - y * predictor)))
    return float(np.sum(weights * (np.exp(np.minimum(predictor, 300)) - y * predictor)))


def person_shares(persons: NDArray[np.int64] | None) -> Matrix | float:
    """The weight of every row: every person counts once, so 1 / k for each of k rows."""
    if persons is None:
        return 1.0
    _, places, counts = np.unique(persons, return_inverse=True, return_counts=True)
    return np.asarray(1.0 / counts[places])


def scaling(Z: Matrix) -> Matrix:
    """A map R with Z R orthonormal but for √n: raw powers are then as harmless as any column.

    Raises LinAlgError where a column depends on others.
    """
    scale = np.sqrt(np.mean(Z**2, axis=0))
    safe = np.where(scale > 0, scale, 1.0)
    triangle = np.linalg.qr(Z / safe, mode="r") / np.sqrt(len(Z))
    pivots = np.abs(np.diagonal(triangle))
    if pivots.min() < LEAST_PIVOT:
        raise np.linalg.LinAlgError("The columns depend on each other.")
    return np.asarray(np.linalg.inv(triangle) / safe[:, None])


def solve(
    family: Family,
    Z: Matrix,
    y: Matrix,
    offset: Matrix | float = 0.0,
    start: Matrix | None = None,
    weights: Matrix | float = 1.0,
) -> Matrix:
    """The plain estimate, by damped Newton steps; NaN where there is none."""
    theta = np.zeros(Z.shape[1]) if start is None else start
    best = deviance(family, Z @ theta + offset, y, weights)
    for _ in range(ROUNDS):
        residual, slope = derivatives(family, Z @ theta + offset, y)
        gradient, curvature = Z.T @ (weights * residual), (Z * (weights * slope)[:, None]).T @ Z
        try:
            step = np.linalg.solve(curvature, gradient)
        except np.linalg.LinAlgError:
            return np.full(len(theta), np.nan)
        for _ in range(HALVINGS):
            value = deviance(family, Z @ (theta + step) + offset, y, weights)
            if value <= best + 1e-12 * abs(best):
                break
            step = step / 2
        theta, best = theta + step, value
        if family != "gaussian" and np.abs(theta).max() > FARTHEST:
            return np.full(len(theta), np.nan)
        if np.abs(step).max() < NEAR:
            return theta
    return np.full(len(theta), np.nan)


def fit_rows(
    family: Family, Z: Matrix, y: Matrix, offset: Matrix | float = 0.0, persons: NDArray[np.int64] | None = None
) -> PlainFit:
    """Estimates with HC0 errors, clustered by persons where there are some, each of whom counts once."""
    nothing = np.full(Z.shape[1], np.nan)
    try:
        to_user = scaling(Z)
    except np.linalg.LinAlgError:
        return PlainFit(nothing, nothing)
    W = Z @ to_user
    start = np.linalg.solve(to_user, np.eye(Z.shape[1])[0] * _level(family, y, offset))
    weights = person_shares(persons)
    theta = solve(family, W, y, offset, start, weights)
    if not np.isfinite(theta).all():
        return PlainFit(nothing, nothing)
    residual, slope = derivatives(family, W @ theta + offset, y)
    scores = W * (weights * residual)[:, None]
    if np.abs(scores).max() <= ROUNDING * (1 + np.abs(y).max()):
        return PlainFit(to_user @ theta, np.zeros(len(theta)))
    if persons is not None:
        _, places = np.unique(persons, return_inverse=True)
        sums = np.zeros((places.max() + 1, Z.shape[1]))
        np.add.at(sums, places, scores)
        scores = sums
    inverse = np.linalg.inv((W * (weights * slope)[:, None]).T @ W)
    covariance = to_user @ inverse @ (scores.T @ scores) @ inverse @ to_user.T
    return PlainFit(to_user @ theta, np.sqrt(np.maximum(np.diagonal(covariance), 0.0)))


def _level(family: Family, y: Matrix, offset: Matrix | float) -> float:
    """The intercept of a model without slopes."""
    mean = float(np.mean(y))
    if family in OTHERS:
        return plain_links.level(family, mean, offset)
    match family:
        case "gaussian":
            return mean
        case "binomial":
            inside = min(max(mean, 1e-4), 1 - 1e-4)
            return float(np.log(inside / (1 - inside)))
    return float(np.log(max(mean, 1e-4) / np.mean(np.exp(offset))))


def plain_fit(population: Population, draw: Draw) -> PlainFit:
    """Fit to a draw. What has an infinite truth is left out, with the rows that only tell of it."""
    Z, y = population.rows(draw), draw.response
    if population.classes:
        from benchmarks.coverage.plain_classes import fit_classes, shares_of

        return fit_classes(Z, shares_of(population, y))
    endless = [
        place for place, name in enumerate(population.names) if not np.isfinite((population.truth or {}).get(name, 0.0))
    ]
    if not endless:
        offset = population.offset(draw)
        return fit_rows(population.family, Z, y, offset, draw.persons)
    nothing = np.full(population.d, np.nan)
    values, errors = nothing.copy(), nothing.copy()
    if 0 in endless:
        return PlainFit(values, errors)
    kept = [place for place in range(population.d) if place not in endless]
    rest = (Z[:, endless] == 0).all(axis=1)
    found = fit_rows(population.family, Z[np.ix_(rest, kept)], y[rest])
    values[kept], errors[kept] = found.values, found.errors
    return PlainFit(values, errors)
