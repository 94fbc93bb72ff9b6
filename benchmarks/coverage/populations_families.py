"""Populations with the families "gamma", "negative-binomial", "probit" and "cloglog", right means and wrong ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from benchmarks.coverage.population import (
    BINARY,
    RESPONSE,
    Draw,
    Family,
    Generator,
    Matrix,
    Outcome,
    Population,
    expit,
    feature_terms,
    features,
    normal,
    numeric,
    plain_population,
    truth_of,
)
from benchmarks.coverage.populations_binary import coin
from benchmarks.coverage.populations_linear import slopes

PART = 0.5
"""Logarithms of means, and margins, vary half as much as log odds."""
AMOUNTS, COUNTS = numeric(0, 200), numeric(0, 300)
BETA = (0.7, *(PART * slopes(3)))
NULLS = (0.7, *(PART * slopes(3)), 0.0, 0.0, 0.0, 0.0)


def _amounts(shape: float, beta: Sequence[float]) -> Outcome:
    def outcome(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
        mean = np.exp(beta[0] + X @ np.array(beta[1:]))
        return generator.gamma(shape, mean / shape), mean

    return outcome


def _lognormal_amounts(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    mean = np.exp(BETA[0] + X @ np.array(BETA[1:]))
    return mean * np.exp(generator.standard_normal(len(X)) - 0.5), mean


def _softplus_amounts(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    mean = 0.2 + np.logaddexp(0.0, 1.0 + X @ slopes(3))
    return generator.gamma(2.0, mean / 2.0), mean


def _mixed_counts(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    mean = np.exp(BETA[0] + X @ np.array(BETA[1:]))
    return generator.poisson(mean * generator.gamma(1.0, 1.0, len(X))).astype(float), mean


def _null_counts(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    mean = np.exp(NULLS[0] + X @ np.array(NULLS[1:]))
    return generator.poisson(mean * generator.gamma(1.0, 1.0, len(X))).astype(float), mean


def _even_counts(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    mean = np.exp(BETA[0] + X @ np.array(BETA[1:]))
    return generator.poisson(mean).astype(float), mean


def _softplus_counts(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    mean = np.logaddexp(0.0, 1.0 + X @ slopes(3))
    return generator.poisson(mean * generator.gamma(2.0, 0.5, len(X))).astype(float), mean


def _labels(family: Family, beta: Sequence[float]) -> Outcome:
    def outcome(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
        z = beta[0] + X @ np.array(beta[1:])
        chance = special.ndtr(z) if family == "probit" else -np.expm1(-np.exp(z))
        return coin(chance, generator), chance

    return outcome


def _logistic_labels(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    chance = expit(-0.5 + X @ (1.5 * slopes(3)))
    return coin(chance, generator), chance


def _exposed() -> Population:
    terms, beta = feature_terms(3), (0.5, 0.4, -0.3, 0.25)

    def sample(n: int, generator: Generator) -> Draw:
        X = normal(n, 3, generator)
        years = np.clip(np.exp(0.6 * generator.standard_normal(n)), 0.1, 20)
        mean = years * np.exp(beta[0] + X @ np.array(beta[1:]))
        return Draw({**features(X), "years": years, RESPONSE: generator.gamma(2.0, mean / 2.0)}, mean)

    columns = {**{term.text: numeric(-10, 10) for term in terms}, "years": numeric(0.1, 20), RESPONSE: numeric(0, 500)}
    about = "gamma amounts over years of exposure from 0.1 to 20"
    return Population("gam_expo", about, "gamma", terms, columns, sample, truth_of(terms, beta), exposure="years")


def _links(family: Family, short: str) -> list[Population]:
    start = 0.2 if family == "probit" else -0.5
    rare = -1.645 if family == "probit" else -2.97
    right, none = (start, *(PART * slopes(3))), (rare, 0.0, 0.0)

    def made(
        name: str, about: str, truth: Sequence[float] | None, outcome: Outcome, count: int, *, clean: bool = False
    ) -> Population:
        return plain_population(
            f"{short}{name}", about, family, count, outcome, response=BINARY, draw=normal, truth=truth, clean=clean
        )

    eight = (start, *(PART * slopes(3)), 0.0, 0.0, 0.0, 0.0)
    return [
        made("4", "3 slopes", right, _labels(family, right), 3, clean=True),
        made("8", "3 slopes and 4 of zero", eight, _labels(family, eight), 7, clean=True),
        made("_rare5", "5% ones, both slopes zero", none, _labels(family, none), 2),
        made("_wrong", "logistic link with large slopes", None, _logistic_labels, 3),
    ]


def populations() -> list[Population]:
    """All of these families."""
    kinds: tuple[tuple[str, Family, str, Outcome, int, Sequence[float] | None, bool], ...] = (
        ("gam4", "gamma", "shape 2, 3 slopes", _amounts(2.0, BETA), 3, BETA, True),
        ("gam8", "gamma", "exponential, 3 slopes and 4 of zero", _amounts(1.0, NULLS), 7, NULLS, True),
        ("gam_logn", "gamma", "lognormal of deviation 1, right mean", _lognormal_amounts, 3, BETA, False),
        ("gam_wrong", "gamma", "softplus in place of exp", _softplus_amounts, 3, None, False),
        ("nb4", "negative-binomial", "variance m + m², 3 slopes", _mixed_counts, 3, BETA, True),
        ("nb8", "negative-binomial", "variance m + m², 3 slopes and 4 of zero", _null_counts, 7, NULLS, True),
        ("nb_pois", "negative-binomial", "Poisson counts: the variance is wrong", _even_counts, 3, BETA, False),
        ("nb_wrong", "negative-binomial", "softplus in place of exp", _softplus_counts, 3, None, False),
    )
    return [
        *(
            plain_population(
                name,
                about,
                family,
                count,
                outcome,
                response=AMOUNTS if family == "gamma" else COUNTS,
                draw=normal,
                truth=truth,
                clean=clean,
            )
            for name, family, about, outcome, count, truth, clean in kinds
        ),
        _exposed(),
        *_links("probit", "probit"),
        *_links("cloglog", "cloglog"),
    ]
