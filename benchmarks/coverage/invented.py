"""Populations that a sceptic thought of without having read how intervals are made.

Each is a table that an analyst could bring. None was tuned, and none was dropped, after a look at
its coverage.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from benchmarks.coverage.population import (
    BINARY,
    RESPONSE,
    Draw,
    Generator,
    Matrix,
    Population,
    expit,
    factor,
    levels_of,
    number,
    numeric,
    power,
    product,
    truth_of,
)
from benchmarks.coverage.populations_binary import coin
from benchmarks.coverage.populations_counts import counted
from benchmarks.coverage.populations_linear import choice

FLAG = numeric(0, 1)
SCHOOL = (9.0, 10.0, 12.0, 13.0, 16.0, 18.0)
SCHOOL_SHARES = (0.08, 0.22, 0.30, 0.10, 0.22, 0.08)
DOSES, STRAINS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0), ("a", "b", "c")
ITEMS = 10
ANSWER_SHARES = (0.014, 0.031, 0.091, 0.285)
"""Of the answers 1 to 4; the others are 5."""
PLANS = ("managed", "free", "none")
MONTHS = tuple(f"m{month:02}" for month in range(1, 13))
MONTH_SHARES = (0.02, 0.02, 0.05, 0.09, 0.12, 0.14, 0.16, 0.15, 0.12, 0.08, 0.03, 0.02)
MONTH_DEGREES = np.array([-3.0, -1.0, 4.0, 10.0, 16.0, 21.0, 25.0, 24.0, 19.0, 12.0, 5.0, 0.0])
MONTH_LEVELS = np.array([0.0, 0.0, 0.1, 0.2, 0.3, 0.2, -0.1, -0.2, 0.2, 0.2, 0.0, -0.4])
GRAVITY = (-27.62, 0.8, 0.7, -0.9, 0.5, 0.4, 0.0)


def flags(chance: Matrix | float, n: int, generator: Generator) -> Matrix:
    """Zeros and ones."""
    return coin(np.zeros(n) + chance, generator)


def picked(values: Sequence[float], shares: Sequence[float], n: int, gen: Generator) -> Matrix:
    """Numbers with these shares."""
    return gen.choice(np.array(values), n, p=np.array(shares) / sum(shares))


def rounded(values: Matrix, unit: Matrix | float) -> Matrix:
    """The nearest multiples."""
    return np.asarray(np.round(values / unit) * unit)


def _incomes() -> Population:
    names = ("female", "part_time", "own_firm")
    terms = (number("school"), number("exper"), power("exper", 2), *map(number, names))

    def sample(n: int, generator: Generator) -> Draw:
        school = picked(SCHOOL, SCHOOL_SHARES, n, generator)
        exper = np.floor(46 * generator.beta(1.3, 1.6, n))
        female = flags(0.48, n, generator)
        part = flags(0.1 + 0.3 * female, n, generator)
        own = flags(0.08, n, generator)
        level = 9.2 + 0.08 * school + 0.045 * exper - 0.0008 * exper**2
        level = level - 0.15 * female - 0.7 * part
        spread = 0.4 + 0.02 * (school - 9) + 0.4 * own
        income = np.exp(level + spread * generator.standard_normal(n))
        unit = picked((1.0, 1000.0, 5000.0), (0.3, 0.5, 0.2), n, generator)
        table = {"school": school, "exper": exper}
        table |= dict(zip(names, (female, part, own), strict=True))
        # Units are small beside the spread: rounding leaves the mean as it is.
        return Draw({**table, RESPONSE: rounded(income, unit)}, np.exp(level + spread**2 / 2))

    columns = {"school": numeric(0, 25), "exper": numeric(0, 60), RESPONSE: numeric(0, 20_000_000)}
    return Population(
        "incomes",
        "incomes by schooling: lognormal, heaped, spread by school, the self-employed apart",
        "gaussian",
        terms,
        columns | dict.fromkeys(names, FLAG),
        sample,
    )


def _twin_units() -> Population:
    names = ("celsius", "fahrenheit", "year", "humidity")
    terms = tuple(map(number, names))
    beta = (-46_000.0, -90.0, 0.0, 25.0, 6.0)

    def sample(n: int, generator: Generator) -> Draw:
        celsius = rounded(np.clip(generator.normal(12, 8, n), -30, 40), 0.1)
        humidity = rounded(100 * generator.beta(4, 2, n), 5.0)
        year = generator.integers(2010, 2024, n).astype(float)
        fahrenheit = np.round(32 + 1.8 * celsius)
        columns = (celsius, fahrenheit, year, humidity)
        mean = beta[0] + np.column_stack(columns) @ np.array(beta[1:])
        spread = 300 * np.exp(0.03 * (12 - celsius))
        y = mean + spread * generator.standard_normal(n)
        return Draw({**dict(zip(names, columns, strict=True)), RESPONSE: y}, mean)

    columns = {
        "celsius": numeric(-60, 60),
        "fahrenheit": numeric(-100, 150),
        "year": numeric(1900, 2100),
        "humidity": numeric(0, 100),
        RESPONSE: numeric(0, 50_000),
    }
    about = "one temperature in two units, a calendar year, spread by temperature"
    truth = truth_of(terms, beta)
    return Population("twin_units", about, "gaussian", terms, columns, sample, truth, ("fahrenheit",))


def _claims() -> Population:
    names = ("age", "malus", "power", "urban", "diesel")
    terms = tuple(map(number, names))

    def sample(n: int, generator: Generator) -> Draw:
        age = np.floor(18 + 72 * generator.beta(1.8, 2.8, n))
        some = generator.random(n) < 0.4
        malus = np.where(some, np.minimum(50 + np.ceil(generator.exponential(40, n)), 350), 50.0)
        engine = np.minimum(4.0 + generator.geometric(0.35, n) - 1, 15)
        urban, diesel = flags(0.35, n, generator), flags(0.5, n, generator)
        chance = expit(-3 + 0.012 * (malus - 50) - 0.01 * (age - 45) + 0.3 * urban)
        level, spread = 6.6 + 0.05 * engine + 0.2 * urban, 1.3
        claim = np.exp(level + spread * generator.standard_normal(n))
        y = flags(chance, n, generator) * np.minimum(claim, 2_000_000)
        table = dict(zip(names, (age, malus, engine, urban, diesel), strict=True))
        return Draw({**table, RESPONSE: y}, chance * np.exp(level + spread**2 / 2))

    columns = {
        "age": numeric(16, 100),
        "malus": numeric(50, 350),
        "power": numeric(0, 30),
        "urban": FLAG,
        "diesel": FLAG,
        RESPONSE: numeric(0, 2_000_000),
    }
    about = "claims of insured cars: 93% zeros, else lognormal with deviation 1.3 of logs"
    # Independent of all else, so of no weight in any model.
    return Population("claims", about, "gaussian", terms, columns, sample, nulls=("diesel",))


def _few_firms() -> Population:
    def sample(n: int, generator: Generator) -> Draw:
        firm = flags(0.03, n, generator)
        level, spread = 8.1 + 3.2 * firm, 0.5 + 0.3 * firm
        usage = np.exp(level + spread * generator.standard_normal(n))
        usage = np.round(np.clip(usage, 1, 5_000_000))
        mean = np.where(firm > 0, 2000 + 0.18 * usage, 120 + 0.32 * usage)
        y = mean * (1 + 0.1 * generator.standard_normal(n))
        return Draw({"usage": usage, RESPONSE: y}, mean)

    columns = {"usage": numeric(0, 5_000_000), RESPONSE: numeric(0, 2_000_000)}
    about = "bills by usage: 3% of the customers use 25 times as much, at another price"
    return Population("few_firms", about, "gaussian", (number("usage"),), columns, sample)


def _fraud() -> Population:
    foreign_term, new_term = number("foreign"), number("new_device")
    interaction = product(foreign_term, new_term)
    terms = (number("cents"), foreign_term, number("night"), new_term, interaction)

    def sample(n: int, generator: Generator) -> Draw:
        cents = np.exp(8.5 + 1.3 * generator.standard_normal(n))
        cents = np.round(np.clip(cents, 1, 50_000_000))
        foreign, night = flags(0.04, n, generator), flags(0.1, n, generator)
        new = flags(0.03 + 0.17 * foreign, n, generator)
        chance = expit(
            -5.2 + 0.8 * np.log1p(cents / 20_000) + 1.5 * foreign + 0.6 * night + (2.5 - 0.3 * foreign) * new
        )
        table = {"cents": cents, "foreign": foreign, "night": night, "new_device": new}
        return Draw({**table, RESPONSE: coin(chance, generator)}, chance)

    columns = {
        "cents": numeric(0, 50_000_000),
        **dict.fromkeys(("foreign", "night", "new_device"), FLAG),
        RESPONSE: BINARY,
    }
    about = "1.5% fraud: raw lognormal amounts, rare flags and an interaction in 0.8%"
    return Population("fraud", about, "binomial", terms, columns, sample)


def _mislabelled_dose() -> Population:
    dose_term, strain_term = number("dose"), factor("strain", STRAINS)
    terms = (dose_term, strain_term, number("male"), product(dose_term, strain_term))

    def sample(n: int, generator: Generator) -> Draw:
        dose = picked(DOSES, (1,) * len(DOSES), n, generator)
        strain = choice(STRAINS, (0.6, 0.3, 0.1), n, generator)
        male = flags(0.5, n, generator)
        second, third = strain == "b", strain == "c"
        slope = 1.3 + 0.5 * second - 0.9 * third
        chance = expit(-4 + slope * dose + 0.5 * second - 0.3 * third + 0.4 * male)
        mean = 0.98 * chance + 0.02 * (1 - chance)
        table = {"dose": dose, "strain": strain, "male": male}
        return Draw({**table, RESPONSE: coin(mean, generator)}, mean)

    columns = {"dose": numeric(0, 20), "strain": levels_of(STRAINS), "male": FLAG, RESPONSE: BINARY}
    about = "six doses that nearly separate, slopes by strain, 2% of the outcomes mislabelled"
    return Population("mislabelled_dose", about, "binomial", terms, columns, sample)


def _survey_items() -> Population:
    items = tuple(f"item{k}" for k in range(1, ITEMS + 1))
    terms = (*map(number, items), number("arm"), number("late"))
    cuts = ndtri(np.cumsum(ANSWER_SHARES))

    def sample(n: int, generator: Generator) -> Draw:
        halo = generator.standard_normal((n, 1))
        latent = 0.8 * halo + 0.6 * generator.standard_normal((n, ITEMS))
        answers = 1.0 + (latent[:, :, None] > cuts).sum(axis=2)
        arm, late = flags(0.5, n, generator), flags(0.03, n, generator)
        chance = expit(-2.5 + 0.9 * answers.min(axis=1) + 0.03 * arm - 0.8 * late)
        table = {name: np.ascontiguousarray(answers[:, k]) for k, name in enumerate(items)}
        table |= {"arm": arm, "late": late}
        return Draw({**table, RESPONSE: coin(chance, generator)}, chance)

    columns = {**dict.fromkeys(items, numeric(1, 5)), "arm": FLAG, "late": FLAG, RESPONSE: BINARY}
    about = "ten ordinal answers, mostly 5, with a halo; the worst one decides; a tiny effect"
    return Population("survey_items", about, "binomial", terms, columns, sample)


def _visits() -> Population:
    terms = (number("age"), number("chronic"), number("female"), factor("plan", PLANS))

    def sample(n: int, generator: Generator) -> Draw:
        age = np.floor(18 + 77 * generator.beta(1.6, 2.0, n))
        chronic = np.minimum(generator.poisson(0.5 * np.exp(0.03 * (age - 50))), 8).astype(float)
        female, plan = flags(0.53, n, generator), choice(PLANS, (0.6, 0.35, 0.05), n, generator)
        short = generator.random(n) < expit(-1.2 + 0.5 * chronic)
        days = np.where(short, generator.integers(1, 365, n), 365).astype(float)
        predictor = -5.6 + 0.35 * np.minimum(chronic, 4) + 0.01 * (age - 50) + 0.2 * female
        rate = days * np.exp(predictor - 0.5 * (plan == "none"))
        never = expit(-0.4 - 0.8 * chronic)
        frequent = flags(0.015, n, generator)
        shift = generator.gamma(1.0, 1.0, n) * (1 + 9 * frequent)
        y = generator.poisson(rate * shift) * (generator.random(n) >= never)
        table = {"age": age, "chronic": chronic, "female": female, "plan": plan, "days": days}
        mean = rate * (1 - never) * (1 + 9 * 0.015)
        return Draw({**table, RESPONSE: y.astype(float)}, mean)

    columns = {
        "age": numeric(18, 100),
        "chronic": numeric(0, 20),
        "female": FLAG,
        "plan": levels_of(PLANS),
        "days": numeric(1, 365),
        RESPONSE: numeric(0, 2000),
    }
    about = "visits in 1 to 365 days: the sick leave early, many never come, 1.5% always do"
    return Population(
        "visits",
        about,
        "poisson",
        terms,
        columns,
        sample,
        # Like the first plan, and plans are independent of all else.
        nulls=("C(plan)[T.free]",),
        exposure="days",
    )


def _bike_months() -> Population:
    names = ("degrees", "weekend", "rain")
    terms = (factor("month", MONTHS), *map(number, names))

    def sample(n: int, generator: Generator) -> Draw:
        place = generator.choice(12, n, p=np.array(MONTH_SHARES) / sum(MONTH_SHARES))
        degrees = rounded(MONTH_DEGREES[place] + 4 * generator.standard_normal(n), 0.5)
        weekend, rain = flags(2 / 7, n, generator), flags(0.08, n, generator)
        predictor = 5.2 - 0.004 * (degrees - 22) ** 2 + MONTH_LEVELS[place]
        predictor = predictor + (0.02 * degrees - 0.1) * weekend - 0.6 * rain
        mean = np.exp(predictor)
        y, _ = counted(mean * generator.gamma(1.5, 1 / 1.5, n), generator)
        table = dict(zip(names, (degrees, weekend, rain), strict=True))
        return Draw({"month": np.array(MONTHS)[place], **table, RESPONSE: y}, mean)

    columns = {
        "month": levels_of(MONTHS),
        "degrees": numeric(-40, 60),
        "weekend": FLAG,
        "rain": FLAG,
        RESPONSE: numeric(0, 20_000),
    }
    about = "hourly rentals by month and temperature, whose hump is left out; winter is rare"
    return Population("bike_months", about, "poisson", terms, columns, sample)


def _gravity() -> Population:
    names = ("log_from", "log_to", "log_km", "border", "language", "treaty")
    terms = tuple(map(number, names))

    def sample(n: int, generator: Generator) -> Draw:
        size = np.clip(generator.normal(24, 1.5, (n, 2)), 15, 32)
        border = flags(0.02, n, generator)
        km = np.clip(generator.normal(8.2 - 1.5 * border, 0.8), 4, 9.9)
        language = flags(0.1 + 0.4 * border, n, generator)
        treaty = flags(expit(-1.4 - 1.5 * (km - 8.2)), n, generator)
        parts = np.column_stack([size, km, border, language, treaty])
        mean = np.exp(GRAVITY[0] + parts @ np.array(GRAVITY[1:]))
        y, _ = counted(mean * np.exp(0.9 * generator.standard_normal(n) - 0.405), generator)
        table = {name: np.ascontiguousarray(parts[:, j]) for j, name in enumerate(names)}
        return Draw({**table, RESPONSE: y}, mean)

    columns = {
        "log_from": numeric(15, 32),
        "log_to": numeric(15, 32),
        "log_km": numeric(4, 10),
        **dict.fromkeys(names[3:], FLAG),
        RESPONSE: numeric(0, 10_000_000),
    }
    about = "trade between countries: means over four orders of magnitude, lognormal spread"
    truth = truth_of(terms, GRAVITY)
    return Population("gravity", about, "poisson", terms, columns, sample, truth, ("treaty",))


def populations() -> list[Population]:
    """All ten."""
    return [
        _incomes(),
        _twin_units(),
        _claims(),
        _few_firms(),
        _fraud(),
        _mislabelled_dose(),
        _survey_items(),
        _visits(),
        _bike_months(),
        _gravity(),
    ]
