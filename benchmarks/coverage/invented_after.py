"""Twelve populations, thought of after rows were shortened in place of weighed down, written before any was run.

They are rare, skewed, collinear, misspecified, tiny or wide, with heavy-tailed features, semicontinuous responses,
exposures and interactions. `cohort` is like a table whose intervals were known to be too wide before.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

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
)
from benchmarks.coverage.populations_binary import coin
from benchmarks.coverage.populations_counts import counted
from benchmarks.coverage.populations_linear import choice

BANDS, BAND_SHARES = ("35", "45", "55", "65", "75"), (0.42, 0.26, 0.17, 0.10, 0.05)
BAND_RATES = {"35": 0.0, "45": 0.6, "55": 1.1, "65": 1.5, "75": 1.9}
WARDS, WARD_SHARES = ("general", "surgery", "heart", "burns"), (0.5, 0.3, 0.17, 0.03)
WARD_LEVELS = {"general": 0.0, "surgery": -0.3, "heart": 0.5, "burns": 0.2}
SHOPS, SHOP_SHARES = ("web", "street", "mall"), (0.55, 0.35, 0.10)
SHOP_LEVELS = {"web": 0.0, "street": 0.4, "mall": -0.6}
MONTHS, MONTH_SHARES = ("jan", "mar", "may", "jul", "sep", "nov"), (0.1, 0.15, 0.2, 0.25, 0.2, 0.1)
MONTH_RATES = {"jan": 0.0, "mar": 0.2, "may": 0.5, "jul": 0.9, "sep": 0.4, "nov": -0.1}


def _levels(values: Matrix, table: dict[str, float]) -> Matrix:
    return np.array([table[name] for name in values])


def _cohort() -> Population:
    terms = (factor("band", BANDS), number("smoke"))

    def sample(n: int, generator: Generator) -> Draw:
        band, smoke = choice(BANDS, BAND_SHARES, n, generator), coin(np.full(n, 0.4), generator)
        years = np.clip(generator.gamma(2.0, 4.0, n), 0.1, 40)
        mean = years * np.exp(-4.2 + _levels(band, BAND_RATES) + 0.4 * smoke)
        y, _ = counted(mean, generator)
        return Draw({"band": band, "smoke": smoke, "years": years, RESPONSE: y.clip(0, 40)}, mean)

    columns = {"band": levels_of(BANDS), "smoke": numeric(0, 1), "years": numeric(0.1, 40), RESPONSE: numeric(0, 40)}
    about = "cases by age band and smoking, 0.1 to 40 person-years"
    return Population("cohort", about, "poisson", terms, columns, sample, exposure="years")


def _readmission() -> Population:
    terms = (number("days"), number("visits"), number("age"), factor("ward", WARDS))

    def sample(n: int, generator: Generator) -> Draw:
        days = np.ceil(np.exp(1.2 + 0.9 * generator.standard_normal(n))).clip(1, 120)
        visits = generator.negative_binomial(0.5, 0.3, n).astype(float).clip(0, 30)
        age = np.floor(generator.uniform(18, 95, n))
        ward = choice(WARDS, WARD_SHARES, n, generator)
        # Long stays and many visits matter less and less, the young and the old come again.
        z = -2.9 + 0.5 * np.log(days) + 0.6 * np.sqrt(visits) + 0.0006 * (age - 55) ** 2 + _levels(ward, WARD_LEVELS)
        chance = expit(z)
        table = {"days": days, "visits": visits, "age": age, "ward": ward}
        return Draw({**table, RESPONSE: coin(chance, generator)}, chance)

    columns = {
        "days": numeric(0, 200),
        "visits": numeric(0, 50),
        "age": numeric(18, 100),
        "ward": levels_of(WARDS),
        RESPONSE: BINARY,
    }
    about = "20% come again: lognormal days and zero-heavy visits with curved effects, a hump of age left out"
    return Population("readmission", about, "binomial", terms, columns, sample)


def _fires() -> Population:
    terms = (number("heat"), number("dryness"), number("wind"))

    def sample(n: int, generator: Generator) -> Draw:
        heat = 18 + 8 * generator.standard_normal(n)
        dryness = (0.5 * heat + 3 * generator.standard_t(4, n)).clip(-60, 80)
        wind = generator.weibull(1.3, n) * 6
        chance = expit(-6.6 + 0.05 * heat + 0.05 * dryness + 0.06 * wind)
        table = {"heat": heat.clip(-30, 60), "dryness": dryness, "wind": wind.clip(0, 60)}
        return Draw({**table, RESPONSE: coin(chance, generator)}, chance)

    columns = {"heat": numeric(-30, 60), "dryness": numeric(-60, 80), "wind": numeric(0, 60), RESPONSE: BINARY}
    about = "1% fires: heat and dryness go together, t errors of 4 degrees, skewed wind"
    return Population("fires", about, "binomial", terms, columns, sample)


def _crossing() -> Population:
    terms = (number("x0"), number("x1"), number("x2"))

    def sample(n: int, generator: Generator) -> Draw:
        X = (generator.standard_t(5, (n, 3)) * np.sqrt(3 / 5)).clip(-12, 12)
        z = -0.4 + 0.7 * X[:, 0] - 0.5 * X[:, 1] + 0.35 * X[:, 0] * X[:, 1] + 0.25 * np.abs(X[:, 2])
        chance = expit(z)
        table = {f"x{j}": X[:, j] for j in range(3)}
        return Draw({**table, RESPONSE: coin(chance, generator)}, chance)

    columns = {**{f"x{j}": numeric(-12, 12) for j in range(3)}, RESPONSE: BINARY}
    about = "t features of 5 degrees, an interaction and a kink left out"
    return Population("crossing", about, "binomial", terms, columns, sample)


def _trial() -> Population:
    terms = (number("treated"),)

    def sample(n: int, generator: Generator) -> Draw:
        treated = coin(np.full(n, 0.5), generator)
        chance = np.where(treated > 0, 0.22, 0.30)
        return Draw({"treated": treated, RESPONSE: coin(chance, generator)}, chance)

    columns = {"treated": numeric(0, 1), RESPONSE: BINARY}
    return Population("trial", "one 0/1 column, 22% and 30% ones", "binomial", terms, columns, sample)


def _wages() -> Population:
    terms = (number("school"), number("years"), power("years", 2), number("union"))

    def sample(n: int, generator: Generator) -> Draw:
        school = generator.integers(8, 21, n).astype(float)
        years = np.floor(generator.gamma(2.0, 8.0, n)).clip(0, 55)
        union = coin(np.full(n, 0.12), generator)
        mean = 1.0 + 0.08 * school + 0.03 * years - 0.0005 * years**2 + 0.1 * union
        y = mean + (0.3 + 0.01 * years) * generator.standard_t(6, n)
        table = {"school": school, "years": years, "union": union, RESPONSE: y.clip(-3, 9)}
        return Draw(table, mean)

    columns = {"school": numeric(0, 25), "years": numeric(0, 60), "union": numeric(0, 1), RESPONSE: numeric(-3, 9)}
    about = "log wages: years and their raw square, t errors of 6 degrees, spread by years"
    return Population("wages", about, "gaussian", terms, columns, sample)


def _donations() -> Population:
    terms = (number("income"), number("asked"), factor("shop", SHOPS))

    def sample(n: int, generator: Generator) -> Draw:
        income = np.exp(3.4 + 0.6 * generator.standard_normal(n)).clip(2, 600)
        asked = coin(np.full(n, 0.5), generator)
        shop = choice(SHOPS, SHOP_SHARES, n, generator)
        chance = expit(-2.2 + 0.5 * np.log(income / 30) + 0.7 * asked + _levels(shop, SHOP_LEVELS))
        size = 12 * (income / 30) ** 0.7
        y = np.where(generator.random(n) < chance, size * np.exp(0.8 * generator.standard_normal(n) - 0.32), 0.0)
        table = {"income": income, "asked": asked, "shop": shop, RESPONSE: y.clip(0, 400)}
        return Draw(table, chance * size)

    columns = {"income": numeric(0, 600), "asked": numeric(0, 1), "shop": levels_of(SHOPS), RESPONSE: numeric(0, 400)}
    about = "85% give nothing, else lognormal gifts that grow with lognormal incomes"
    return Population("donations", about, "gaussian", terms, columns, sample)


def _ratings() -> Population:
    old, rural = number("old"), number("rural")
    terms = (number("price"), old, rural, product(old, rural))

    def sample(n: int, generator: Generator) -> Draw:
        price = generator.gamma(3.0, 10.0, n).clip(0, 200)
        old, rural = coin(np.full(n, 0.2), generator), coin(np.full(n, 0.2), generator)
        center = 7.5 - 0.02 * price - 0.4 * old + 0.2 * rural - 0.8 * old * rural
        y = np.floor(center + 2.2 * generator.standard_normal(n) + 0.5).clip(0, 10)
        mean = sum(ndtr((center - k + 0.5) / 2.2) for k in range(1, 11))
        return Draw({"price": price, "old": old, "rural": rural, RESPONSE: y}, mean)

    columns = {"price": numeric(0, 200), "old": numeric(0, 1), "rural": numeric(0, 1), RESPONSE: numeric(0, 10)}
    about = "ratings from 0 to 10 with heaps at both ends, an interaction in 4%"
    return Population("ratings", about, "gaussian", terms, columns, sample)


def _pollution() -> Population:
    terms = (number("traffic"), number("rain"))

    def sample(n: int, generator: Generator) -> Draw:
        traffic = np.exp(0.8 * generator.standard_normal(n)).clip(0, 40)
        rain = generator.exponential(1.0, n).clip(0, 15)
        mean = 20 + 10 * np.sqrt(traffic) - 3 * rain + 0.15 * rain**2
        y = mean * (1 + 0.2 * generator.standard_normal(n))
        return Draw({"traffic": traffic, "rain": rain, RESPONSE: y.clip(-20, 200)}, mean)

    columns = {"traffic": numeric(0, 50), "rain": numeric(0, 20), RESPONSE: numeric(-20, 200)}
    about = "lognormal traffic with a curved effect, a raw line is fitted"
    return Population("pollution", about, "gaussian", terms, columns, sample)


def _panel() -> Population:
    terms = tuple(number(f"q{j}") for j in range(16))
    weights = np.array([0.3, -0.2, 0.15, 0.1] + [0.0] * 12)

    def sample(n: int, generator: Generator) -> Draw:
        mood = generator.standard_normal(n)
        items = np.floor(3 + 0.7 * mood[:, None] + 0.8 * generator.standard_normal((n, 16)) + 0.5).clip(1, 5)
        mean = 2 + items @ weights
        y = mean + generator.standard_normal(n)
        return Draw({**{f"q{j}": items[:, j] for j in range(16)}, RESPONSE: y.clip(-10, 15)}, mean)

    columns = {**{f"q{j}": numeric(1, 5) for j in range(16)}, RESPONSE: numeric(-10, 15)}
    truth = dict(zip(["Intercept", *(term.text for term in terms)], [2.0, *weights.tolist()], strict=True))
    nulls = tuple(f"q{j}" for j in range(4, 16))
    about = "sixteen answers from 1 to 5 that share a mood, twelve without an effect"
    return Population("panel", about, "gaussian", terms, columns, sample, truth, nulls)


def _rentals() -> Population:
    terms = (factor("month", MONTHS), number("warmth"), number("holiday"))

    def sample(n: int, generator: Generator) -> Draw:
        month = choice(MONTHS, MONTH_SHARES, n, generator)
        warmth = 0.6 * _levels(month, MONTH_RATES) + 0.5 * generator.standard_normal(n)
        holiday = coin(np.full(n, 0.03), generator)
        mean = 1.5 * np.logaddexp(
            0.0, 0.5 + _levels(month, MONTH_RATES) + 0.6 * warmth - 0.3 * warmth**2 + 0.5 * holiday
        )
        y, _ = counted(mean * generator.gamma(3.0, 1 / 3.0, n), generator)
        return Draw({"month": month, "warmth": warmth.clip(-4, 4), "holiday": holiday, RESPONSE: y.clip(0, 60)}, mean)

    columns = {"month": levels_of(MONTHS), "warmth": numeric(-4, 4), "holiday": numeric(0, 1), RESPONSE: numeric(0, 60)}
    about = "rentals by month and warmth, which go together; softplus, dispersion 1/3, 3% holidays"
    return Population("rentals", about, "poisson", terms, columns, sample)


def _repairs() -> Population:
    terms = (number("age"), number("load"))

    def sample(n: int, generator: Generator) -> Draw:
        age = generator.gamma(2.0, 3.0, n).clip(0, 40)
        load = generator.standard_t(5, n).clip(-10, 10)
        mean = 3 + 0.5 * age + np.exp(0.3 * load)
        y = mean * np.exp(0.7 * generator.standard_normal(n) - 0.245)
        return Draw({"age": age, "load": load, RESPONSE: y.clip(0.01, 300)}, mean)

    columns = {"age": numeric(0, 40), "load": numeric(-10, 10), RESPONSE: numeric(0, 300)}
    about = "lognormal costs, a mean that is a sum in place of a product"
    return Population("repairs", about, "gamma", terms, columns, sample)


def populations() -> list[Population]:
    """All twelve."""
    return [
        _cohort(), _readmission(), _fires(), _crossing(), _trial(), _wages(),
        _donations(), _ratings(), _pollution(), _panel(), _rentals(), _repairs(),
    ]  # fmt: skip
