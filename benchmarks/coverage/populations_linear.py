"""Populations with a numeric response and the family "gaussian": the target is least squares'."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import ndtr

from benchmarks.coverage.population import (
    RESPONSE,
    Draw,
    Features,
    Generator,
    Matrix,
    Population,
    Term,
    correlated,
    expit,
    factor,
    features,
    levels_of,
    normal,
    number,
    numeric,
    plain_population,
    power,
    product,
    truth_of,
)

SLOPES = (0.8, -0.6, 0.5, -0.4, 0.3, -0.3, 0.2, -0.2, 0.1, 0.0)
START = 0.3
AGES = (18.0, 90.0)
SHARES = (0.30, 0.22, 0.17, 0.12, 0.09, 0.06, 0.03, 0.01)
EFFECTS = (0.3, -0.4, 0.6, -0.2, 0.8, -0.7, 0.5)

Errors = Callable[[Matrix, Generator], Matrix]


def slopes(count: int) -> Matrix:
    """So many slopes, the same again after ten."""
    return np.resize(np.array(SLOPES), count)


def gaussian_errors(X: Matrix, generator: Generator) -> Matrix:
    """Standard normal errors."""
    return generator.standard_normal(len(X))


def linear(
    name: str,
    about: str,
    count: int,
    errors: Errors,
    *,
    reach: float = 20.0,
    draw: Features = normal,
    null: bool = False,
    clean: bool = False,
) -> Population:
    """A linear mean with errors of mean zero given the features: the truth is known."""
    beta = np.zeros(count) if null else slopes(count)

    def outcome(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
        mean = START + X @ beta
        return mean + errors(X, generator), mean

    return plain_population(
        name,
        about,
        "gaussian",
        count,
        outcome,
        response=numeric(-reach, reach),
        draw=draw,
        truth=(START, *beta),
        clean=clean,
    )


def _exponential(X: Matrix, generator: Generator) -> Matrix:
    return generator.exponential(size=len(X)) - 1


def _lognormal(X: Matrix, generator: Generator) -> Matrix:
    spread = np.exp(0.3 * X[:, 0])
    return np.asarray(0.7 * spread * (generator.lognormal(size=len(X)) - np.exp(0.5)))


def _heavy(X: Matrix, generator: Generator) -> Matrix:
    return np.asarray(np.exp(0.3 * X[:, 0]) * generator.standard_t(2.5, len(X)))


def _gamma_cost(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    mean = 3000 * np.exp(X @ np.array([0.4, -0.3, 0.2]))
    return mean * generator.gamma(1.2, 1 / 1.2, len(X)), mean


def _zero_one(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    mean = expit(-0.4 + X @ np.array([0.8, -0.6, 0.5]))
    return (generator.random(len(X)) < mean).astype(float), mean


def _likert(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    latent = 0.5 + X @ np.array([0.7, -0.4, 0.3])
    cuts = np.array([-1.5, -0.7, 0.2, 1.0])
    above = latent[:, None] + generator.standard_normal((len(X), 1)) > cuts
    return 1.0 + above.sum(axis=1), 1.0 + ndtr(latent[:, None] - cuts).sum(axis=1)


def _zero_heavy(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    chance = expit(-0.22 + X @ np.array([0.5, -0.3, 0.0]))
    level, spread = 0.5 + X @ np.array([0.3, 0.0, 0.2]), 0.8
    amount = np.exp(level + spread * generator.standard_normal(len(X)))
    mean = chance * np.exp(level + spread**2 / 2)
    return np.where(generator.random(len(X)) < chance, amount, 0.0), mean


def _contaminated(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    mean = START + X @ slopes(3)
    chance = expit(-2.3 + 0.4 * X[:, 1])
    struck = generator.random(len(X)) < chance
    shift = 8 + generator.standard_normal(len(X))
    return mean + generator.standard_normal(len(X)) + struck * shift, mean + 8 * chance


def _saturating(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    mean = 2 * np.tanh(0.2 + X @ slopes(3))
    return mean + generator.standard_normal(len(X)), mean


def ages(n: int, generator: Generator) -> Matrix:
    """Ages from 18 to 90, most of them around 50."""
    return AGES[0] + (AGES[1] - AGES[0]) * generator.beta(2.0, 2.5, n)


def raw_polynomial(coefficients: Sequence[float]) -> Matrix:
    """Coefficients in powers of age from those in powers of (age − 50) / 20."""
    inner = np.polynomial.Polynomial([-2.5, 1 / 20])
    return np.asarray(np.polynomial.Polynomial(coefficients)(inner).coef, dtype=float)


def cubic(name: str, about: str, coefficients: Sequence[float], reach: float) -> Population:
    """A raw cubic in age."""
    terms = (number("age"), power("age", 2), power("age", 3))
    raw = raw_polynomial(coefficients)

    def sample(n: int, generator: Generator) -> Draw:
        age = ages(n, generator)
        mean = np.polynomial.Polynomial(raw)(age)
        return Draw({"age": age, RESPONSE: mean + generator.standard_normal(n)}, mean)

    columns = {"age": numeric(*AGES), RESPONSE: numeric(-reach, reach)}
    return Population(name, about, "gaussian", terms, columns, sample, truth_of(terms, raw))


def _square() -> Population:
    terms = (number("x0"), power("x0", 2), number("x1"))
    beta = (START, 0.5, 0.3, -0.4)

    def sample(n: int, generator: Generator) -> Draw:
        X = normal(n, 2, generator)
        mean = beta[0] + beta[1] * X[:, 0] + beta[2] * X[:, 0] ** 2 + beta[3] * X[:, 1]
        return Draw({**features(X), RESPONSE: mean + generator.standard_normal(n)}, mean)

    columns = {"x0": numeric(-10, 10), "x1": numeric(-10, 10), RESPONSE: numeric(-50, 50)}
    about = "a feature and its square"
    return Population("poly2_lin", about, "gaussian", terms, columns, sample, truth_of(terms, beta))


def choice(levels: Sequence[str], shares: Sequence[float], n: int, generator: Generator) -> Matrix:
    """Labels with these shares."""
    return generator.choice(np.array(levels), n, p=np.array(shares) / sum(shares))


def _factor() -> Population:
    levels = tuple("abcdefgh")
    terms = (number("x0"), factor("g", levels))
    beta = (START, 0.5, *EFFECTS)

    def sample(n: int, generator: Generator) -> Draw:
        table = {"x0": generator.standard_normal(n), "g": choice(levels, SHARES, n, generator)}
        mean = beta[0] + beta[1] * table["x0"] + terms[1].values(table) @ np.array(EFFECTS)
        return Draw({**table, RESPONSE: mean + generator.standard_normal(n)}, mean)

    columns = {"x0": numeric(-10, 10), "g": levels_of(levels), RESPONSE: numeric(-20, 20)}
    about = "a factor of 8 levels, the rarest 1%"
    return Population("factor8_lin", about, "gaussian", terms, columns, sample, truth_of(terms, beta))


GROUPS, ARMS = ("a", "b", "c", "d"), ("p", "q", "r")
MIXED = (0.2, 0.5, -0.4, 0.3, -0.3, 0.5, 0.4, -0.2, 0.3, 0.0, -0.4, 0.2, 0.0, 0.5)


def mixed_terms() -> tuple[Term, ...]:
    """Two numbers, two factors and their interaction."""
    groups, arms = factor("g", GROUPS), factor("h", ARMS)
    return number("x0"), number("x1"), groups, arms, product(groups, arms)


def mixed_table(n: int, generator: Generator) -> tuple[dict[str, Matrix], Matrix]:
    """Predictors, and their sum weighed by MIXED."""
    table = {
        **features(normal(n, 2, generator)),
        "g": choice(GROUPS, (0.4, 0.3, 0.2, 0.1), n, generator),
        "h": choice(ARMS, (0.5, 0.3, 0.2), n, generator),
    }
    parts = np.column_stack([term.values(table) for term in mixed_terms()])
    return table, MIXED[0] + parts @ np.array(MIXED[1:])


MIXED_COLUMNS = {"x0": numeric(-10, 10), "x1": numeric(-10, 10), "g": levels_of(GROUPS), "h": levels_of(ARMS)}


def _mixed() -> Population:
    def sample(n: int, generator: Generator) -> Draw:
        table, mean = mixed_table(n, generator)
        return Draw({**table, RESPONSE: mean + generator.standard_normal(n)}, mean)

    terms = mixed_terms()
    truth = truth_of(terms, MIXED)
    return Population(
        "mixed_lin",
        "two numbers, factors of 4 and 3 levels, and the factors' interaction",
        "gaussian",
        terms,
        {**MIXED_COLUMNS, RESPONSE: numeric(-20, 20)},
        sample,
        truth,
        tuple(name for name, value in truth.items() if value == 0.0),
    )


def _rare_number() -> Population:
    terms = (number("x0"), number("x1"))
    beta = (START, 0.5, 0.8)

    def sample(n: int, generator: Generator) -> Draw:
        some = generator.random(n) < 0.04
        table = {"x0": generator.standard_normal(n), "x1": some * generator.uniform(0.5, 2, n)}
        mean = beta[0] + beta[1] * table["x0"] + beta[2] * table["x1"]
        return Draw({**table, RESPONSE: mean + generator.standard_normal(n)}, mean)

    columns = {"x0": numeric(-10, 10), "x1": numeric(0, 10), RESPONSE: numeric(-20, 20)}
    about = "a number that is zero but in 4% of the records"
    return Population("rarenum_lin", about, "gaussian", terms, columns, sample, truth_of(terms, beta))


def _constant(X: Matrix, _generator: Generator) -> tuple[Matrix, Matrix]:
    return np.full(len(X), 3.0), np.full(len(X), 3.0)


def _wide() -> list[Population]:
    """Skewed and discrete responses; the mean is not linear unless said."""
    kinds = (
        ("gamma_cost", "skewed costs, spread and mean grow together", _gamma_cost, (0, 200_000)),
        ("lpm", "a 0/1 outcome, by least squares", _zero_one, (0, 1)),
        ("likert", "an answer from 1 to 5", _likert, (1, 5)),
        ("semicont", "55% zeros, else lognormal", _zero_heavy, (0, 300)),
        ("contam", "10% of the responses shifted up by 8", _contaminated, (-30, 30)),
        ("wrong_link_lin", "a saturating mean", _saturating, (-20, 20)),
    )
    return [
        plain_population(name, about, "gaussian", 3, outcome, response=numeric(*ends), draw=normal)
        for name, about, outcome, ends in kinds
    ]


def populations() -> list[Population]:
    """All of this family."""
    clean = [
        linear(f"lin{count}", f"{k} slopes, normal errors", k, gaussian_errors, clean=True)
        for count, k in ((4, 3), (8, 7), (10, 9), (20, 20))
    ]
    return [
        *clean,
        *_wide(),
        linear("exp_err", "exponential errors", 3, _exponential, reach=30),
        linear("logn_het", "lognormal errors, spread varies", 3, _lognormal, reach=500),
        linear("het_t25", "t errors of 2.5 degrees, spread varies", 3, _heavy, reach=1000),
        linear("corr_lin", "correlations .8", 3, gaussian_errors, draw=correlated),
        linear("null_lin", "7 slopes of zero", 7, gaussian_errors, null=True, clean=True),
        _square(),
        cubic("poly3_lin", "a raw cubic in age", (0.5, 0.5, -0.3, 0.15), 20),
        cubic("poly3_big", "a raw cubic in age with strong effects", (1.0, 3.0, -2.0, 1.5), 100),
        _factor(),
        _mixed(),
        _rare_number(),
        plain_population(
            "const_lin",
            "every response is 3",
            "gaussian",
            2,
            _constant,
            response=numeric(-10, 10),
            draw=normal,
            truth=(3.0, 0.0, 0.0),
        ),
    ]
