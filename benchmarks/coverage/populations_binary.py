"""Populations with a 0/1 response and the family "binomial"."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from benchmarks.coverage.population import (
    BINARY,
    PERSON,
    RESPONSE,
    Draw,
    Family,
    Features,
    Generator,
    Matrix,
    Outcome,
    Population,
    correlated,
    expit,
    factor,
    feature_terms,
    features,
    heavy,
    levels_of,
    logarithm,
    lognormal,
    normal,
    number,
    numeric,
    plain_population,
    spline,
    truth_of,
)
from benchmarks.coverage.populations_linear import (
    AGES,
    MIXED,
    MIXED_COLUMNS,
    START,
    choice,
    mixed_table,
    mixed_terms,
    slopes,
)

SHARES_OF_ONES = {"rare03": 0.003, "rare1": 0.01, "rare3": 0.03, "rare5": 0.05, "rare10": 0.10, "half50": 0.50}
SKEWED = (0.4, -0.3, 0.25)
SKEWED_STARTS = {"pos3_logit": -4.7985, "pos10_logit": -3.1746}
"""Intercepts with which 3% and 10% of the responses are 1."""
LARGEST_PERSON = 5


def coin(chance: Matrix, generator: Generator) -> Matrix:
    """Ones with these chances."""
    return (generator.random(len(chance)) < chance).astype(float)


def logistic(
    name: str,
    about: str,
    beta: Sequence[float],
    *,
    draw: Features = normal,
    bounds: tuple[float, float] = (-10.0, 10.0),
    clean: bool = False,
) -> Population:
    """A logistic model that is right; the intercept first."""
    weights = np.array(beta[1:], dtype=float)

    def outcome(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
        chance = expit(beta[0] + X @ weights)
        return coin(chance, generator), chance

    return plain_population(
        name,
        about,
        "binomial",
        len(weights),
        outcome,
        response=BINARY,
        draw=draw,
        bounds=bounds,
        truth=beta,
        clean=clean,
    )


def _arctangent(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    chance = 0.5 + np.arctan(1.5 * (0.3 + X @ np.array([0.8, -0.6, 0.5]))) / math.pi
    return coin(chance, generator), chance


def _log_log(X: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    chance = -np.expm1(-np.exp(-0.1 + X @ slopes(3)))
    return coin(chance, generator), chance


def _never(X: Matrix, _generator: Generator) -> tuple[Matrix, Matrix]:
    return np.zeros(len(X)), np.zeros(len(X))


def _spline() -> Population:
    terms = (spline("age", (35, 50, 65), AGES), number("x0"))
    beta = (-1.0, 0.3, 0.8, 1.6, 1.2, 0.4, 1.5, 0.5)

    def sample(n: int, generator: Generator) -> Draw:
        table = {"age": generator.uniform(*AGES, n), "x0": generator.standard_normal(n)}
        parts = np.column_stack([term.values(table) for term in terms])
        chance = expit(beta[0] + parts @ np.array(beta[1:]))
        return Draw({**table, RESPONSE: coin(chance, generator)}, chance)

    columns = {"age": numeric(*AGES), "x0": numeric(-10, 10), RESPONSE: BINARY}
    about = "a cubic spline in age with three knots"
    return Population("spline_logit", about, "binomial", terms, columns, sample, truth_of(terms, beta))


def _log() -> Population:
    terms = (logarithm("dose"), number("x0"))
    beta = (0.2, 0.7, -0.5)

    def sample(n: int, generator: Generator) -> Draw:
        dose = np.exp(0.8 * generator.standard_normal(n))
        table = {"dose": dose, "x0": generator.standard_normal(n)}
        chance = expit(beta[0] + beta[1] * np.log(dose) + beta[2] * table["x0"])
        return Draw({**table, RESPONSE: coin(chance, generator)}, chance)

    columns = {"dose": numeric(0.01, 100), "x0": numeric(-10, 10), RESPONSE: BINARY}
    about = "the logarithm of a dose"
    return Population("log_logit", about, "binomial", terms, columns, sample, truth_of(terms, beta))


def _mixed() -> Population:
    def sample(n: int, generator: Generator) -> Draw:
        table, predictor = mixed_table(n, generator)
        chance = expit(predictor)
        return Draw({**table, RESPONSE: coin(chance, generator)}, chance)

    terms = mixed_terms()
    truth = truth_of(terms, MIXED)
    return Population(
        "mixed_logit",
        "two numbers, factors of 4 and 3 levels, and the factors' interaction",
        "binomial",
        terms,
        {**MIXED_COLUMNS, RESPONSE: BINARY},
        sample,
        truth,
        tuple(name for name, value in truth.items() if value == 0.0),
    )


def _rare_indicator() -> Population:
    terms = (number("x0"), number("x1"))
    beta = (-0.3, 0.5, 0.8)

    def sample(n: int, generator: Generator) -> Draw:
        some = (generator.random(n) < 0.03).astype(float)
        table = {"x0": generator.standard_normal(n), "x1": some}
        chance = expit(beta[0] + beta[1] * table["x0"] + beta[2] * some)
        return Draw({**table, RESPONSE: coin(chance, generator)}, chance)

    columns = {"x0": numeric(-10, 10), "x1": numeric(0, 1), RESPONSE: BINARY}
    about = "an indicator that is 1 in 3% of the records"
    return Population("rarebin_logit", about, "binomial", terms, columns, sample, truth_of(terms, beta))


LEVELS = ("a", "b", "c", "d")


def separated(name: str, family: Family, respond: Outcome) -> Population:
    """In the level d, 8% of the records, every response is 0; elsewhere the model is right."""
    terms = (number("x0"), factor("g", LEVELS))
    beta = (0.2, 0.5, 0.4, -0.3)

    def sample(n: int, generator: Generator) -> Draw:
        labels = choice(LEVELS, (0.5, 0.27, 0.15, 0.08), n, generator)
        table = {"x0": generator.standard_normal(n), "g": labels}
        parts = np.column_stack([term.values(table) for term in terms])
        predictor = beta[0] + parts[:, :-1] @ np.array(beta[1:])
        y, mean = respond(np.where(labels == "d", -np.inf, predictor), generator)
        return Draw({**table, RESPONSE: y}, mean)

    response = BINARY if family == "binomial" else numeric(0, 100)
    columns = {"x0": numeric(-10, 10), "g": levels_of(LEVELS), RESPONSE: response}
    about = "a level in which every response is 0"
    truth = truth_of(terms, (*beta, -math.inf))
    return Population(name, about, family, terms, columns, sample, truth)


def _coin_of(predictor: Matrix, generator: Generator) -> tuple[Matrix, Matrix]:
    chance = np.where(np.isneginf(predictor), 0.0, expit(predictor))
    return coin(chance, generator), chance


def persons(name: str, family: Family) -> Population:
    """Persons of 1 to 5 records, the more the higher their level: the target is that of every person once."""
    terms = feature_terms(2)

    def sample(n: int, generator: Generator) -> Draw:
        level = generator.standard_normal(n)
        counts = 1 + generator.binomial(LARGEST_PERSON - 1, expit(level))
        person = np.repeat(np.arange(n), counts)
        X = normal(len(person), 2, generator)
        predictor = -0.3 + X @ np.array([0.6, -0.4]) + 0.8 * level[person]
        if family == "binomial":
            mean = expit(predictor)
            y = coin(mean, generator)
        else:
            mean, y = predictor, predictor + generator.standard_normal(len(person))
        return Draw({**features(X), RESPONSE: y, PERSON: person}, mean)

    response = BINARY if family == "binomial" else numeric(-20, 20)
    columns = {"x0": numeric(-10, 10), "x1": numeric(-10, 10), RESPONSE: response}
    return Population(
        name,
        "persons of 1 to 5 records, the more the higher their level; every person counts once",
        family,
        terms,
        columns,
        sample,
        largest_person=LARGEST_PERSON,
    )


def _wrong() -> list[Population]:
    kinds = (
        ("misspec_logit", "t features of 4 degrees, arctangent link", _arctangent, heavy, 60.0),
        ("wrong_link_logit", "complementary log-log link", _log_log, normal, 10.0),
    )
    return [
        plain_population(name, about, "binomial", 3, outcome, response=BINARY, draw=draw, bounds=(-reach, reach))
        for name, about, outcome, draw, reach in kinds
    ]


def populations() -> list[Population]:
    """All of this family."""
    clean = [
        logistic(f"logit{d}", f"{k} slopes", (START, *slopes(k)), clean=True)
        for d, k in ((4, 3), (8, 7), (10, 9), (20, 20))
    ]
    rare = [
        logistic(
            name,
            f"{share:.1%} ones, both slopes zero",
            (math.log(share / (1 - share)), 0.0, 0.0),
            clean=name == "half50",
        )
        for name, share in SHARES_OF_ONES.items()
    ]
    skewed = [
        logistic(name, f"{name[3:-6]}% ones, lognormal features", (start, *SKEWED), draw=lognormal, bounds=(0.0, 200.0))
        for name, start in SKEWED_STARTS.items()
    ]
    return [
        *clean,
        *rare,
        *skewed,
        *_wrong(),
        logistic("corr_logit", "correlations .8", (START, *slopes(3)), draw=correlated),
        logistic("skew_logit", "lognormal features", (-0.5, *SKEWED), draw=lognormal, bounds=(0.0, 200.0)),
        logistic("strong_logit", "strong effects", (0.5, 3.0, -2.0, 1.5)),
        logistic("null_logit", "7 slopes of zero", (START, *[0.0] * 7), clean=True),
        _spline(),
        _log(),
        _mixed(),
        _rare_indicator(),
        separated("sep_logit", "binomial", _coin_of),
        persons("person_logit", "binomial"),
        persons("person_lin", "gaussian"),
        plain_population(
            "const_logit",
            "every response is 0",
            "binomial",
            2,
            _never,
            response=BINARY,
            draw=normal,
            truth=(-math.inf, 0.0, 0.0),
        ),
    ]
