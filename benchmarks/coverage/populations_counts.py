"""Populations with counts and the family "poisson": the target is the quasi-likelihood's."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from benchmarks.coverage.population import (
    RESPONSE,
    Draw,
    Generator,
    Matrix,
    Outcome,
    Population,
    feature_terms,
    features,
    normal,
    numeric,
    plain_population,
    truth_of,
)
from benchmarks.coverage.populations_binary import separated
from benchmarks.coverage.populations_linear import slopes

PART = 0.5
"""Log rates vary half as much as log odds."""


def counted(mean: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    """Poisson counts with these means."""
    return generator.poisson(mean).astype(float), mean


def counts(
    name: str, about: str, beta: Sequence[float], *, largest: int = 100, reach: float = 10.0, clean: bool = False
) -> Population:
    """A Poisson model that is right; the intercept first."""
    weights = np.array(beta[1:], dtype=float)

    def outcome(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
        return counted(np.exp(beta[0] + X @ weights), generator)

    return plain_population(
        name,
        about,
        "poisson",
        len(weights),
        outcome,
        response=numeric(0, largest),
        draw=normal,
        bounds=(-reach, reach),
        truth=beta,
        clean=clean,
    )


def _overdispersed(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    mean = np.exp(0.7 + X @ (PART * slopes(3)))
    return generator.poisson(mean * generator.gamma(1.0, 1.0, len(X))).astype(float), mean


def _inflated(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    rate = np.exp(1.0 + X @ (PART * slopes(3)))
    never = 1 / (1 + np.exp(0.8 - 0.5 * X[:, 0]))
    y = np.where(generator.random(len(X)) < never, 0, generator.poisson(rate))
    return y.astype(float), (1 - never) * rate


def _softplus(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    return counted(np.logaddexp(0.0, 1.0 + X @ slopes(3)), generator)


def _never(X: Matrix, _generator: Generator) -> tuple[Matrix, Matrix]:
    return np.zeros(len(X)), np.zeros(len(X))


def _always_two(X: Matrix, _generator: Generator) -> tuple[Matrix, Matrix]:
    return np.full(len(X), 2.0), np.full(len(X), 2.0)


def _counted_by(predictor: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    return counted(np.exp(predictor), generator)


def _exposed() -> Population:
    terms, beta = feature_terms(3), (-0.5, 0.4, -0.3, 0.25)

    def sample(n: int, generator: Generator) -> Draw:
        X = normal(n, 3, generator)
        years = np.clip(np.exp(0.6 * generator.standard_normal(n)), 0.1, 20)
        y, mean = counted(years * np.exp(beta[0] + X @ np.array(beta[1:])), generator)
        return Draw({**features(X), "years": years, RESPONSE: y}, mean)

    columns = {**{term.text: numeric(-10, 10) for term in terms}, "years": numeric(0.1, 20), RESPONSE: numeric(0, 200)}
    truth = truth_of(terms, beta)
    about = "years of exposure from 0.1 to 20"
    return Population("pois_expo", about, "poisson", terms, columns, sample, truth, exposure="years")


def _special() -> list[Population]:
    kinds: tuple[tuple[str, str, Outcome, int, tuple[float, ...] | None], ...] = (
        ("negbin", "negative binomial, variance m + m²", _overdispersed, 300, (0.7, *(PART * slopes(3)))),
        ("zip", "zero-inflated, the share depends on x0", _inflated, 200, None),
        ("wrong_link_pois", "softplus in place of exp", _softplus, 100, None),
        ("const_pois", "every count is 0", _never, 100, (-math.inf, 0.0, 0.0, 0.0)),
        ("const2_pois", "every count is 2", _always_two, 100, (math.log(2), 0.0, 0.0, 0.0)),
    )
    return [
        plain_population(name, about, "poisson", 3, outcome, response=numeric(0, largest), draw=normal, truth=truth)
        for name, about, outcome, largest, truth in kinds
    ]


def populations() -> list[Population]:
    """All of this family."""
    clean = [counts(f"pois{d}", f"{k} slopes", (0.7, *(PART * slopes(k))), clean=True) for d, k in ((4, 3), (8, 7))]
    wide = (PART / 2) * slopes(20)
    return [
        *clean,
        counts("pois20", "20 slopes", (0.7, *wide), clean=True),
        counts("null_pois", "mean 1, 7 slopes of zero", (0.0, *[0.0] * 7), clean=True),
        counts("pois_mean40", "mean 40", (3.65, 0.2, -0.15, 0.1), largest=1000),
        counts("pois_wide", "far too wide public bounds", (0.7, *(PART * slopes(3))), largest=10_000, reach=100.0),
        *_special(),
        _exposed(),
        separated("sep_pois", "poisson", _counted_by),
    ]
