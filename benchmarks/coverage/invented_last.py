"""Four populations that were thought of after the step before the last, and one price that was looked at before.

Exams, delays, churn and accidents were written down before any of them was run; no rule was changed after a look at
their coverage. One price for all is the right model for the table of `few_firms`: rules were set while looking at it.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from benchmarks.coverage.population import (
    BINARY,
    RESPONSE,
    Draw,
    Generator,
    Population,
    expit,
    factor,
    levels_of,
    number,
    numeric,
)
from benchmarks.coverage.populations_binary import coin
from benchmarks.coverage.populations_counts import counted
from benchmarks.coverage.populations_linear import choice

SCHOOLS, SCHOOL_SHARES = ("state", "church", "private", "boarding"), (0.6, 0.25, 0.12, 0.03)
SCHOOL_LEVELS = {"state": 0.0, "church": 2.0, "private": 6.0, "boarding": 9.0}
CARRIERS, CARRIER_SHARES = ("blue", "red", "green"), (0.5, 0.35, 0.15)
CARRIER_LATE = {"blue": 0.15, "red": 0.22, "green": 0.35}
PLANS, PLAN_SHARES = ("prepaid", "contract", "family"), (0.45, 0.5, 0.05)
PLAN_LEVELS = {"prepaid": 0.0, "contract": -0.9, "family": -1.4}
REGIONS, REGION_SHARES = ("coast", "plain", "hills", "city", "island"), (0.3, 0.28, 0.2, 0.18, 0.04)
REGION_LEVELS = {"coast": 0.0, "plain": 0.1, "hills": 0.25, "city": 0.4, "island": -0.5}


def _exams() -> Population:
    terms = (number("hours"), number("pupils"), factor("school", SCHOOLS), number("repeats"))

    def sample(n: int, generator: Generator) -> Draw:
        hours = np.round(generator.gamma(2.0, 4.0, n), 1).clip(0, 60)
        pupils = generator.integers(8, 35, n).astype(float)
        school = choice(SCHOOLS, SCHOOL_SHARES, n, generator)
        repeats = coin(np.full(n, 0.06), generator)
        level = np.array([SCHOOL_LEVELS[name] for name in school])
        center = 60 + 9 * np.log1p(hours) - 0.3 * pupils + level - 8 * repeats
        # Nobody has more than all points: the mean is Σ P(y ≥ k).
        y = np.floor(center + 14 * generator.standard_normal(n) + 0.5).clip(0, 100)
        mean = sum(ndtr((center - points + 0.5) / 14) for points in range(1, 101))
        return Draw({"hours": hours, "pupils": pupils, "school": school, "repeats": repeats, RESPONSE: y}, mean)

    columns = {
        "hours": numeric(0, 80),
        "pupils": numeric(1, 40),
        "school": levels_of(SCHOOLS),
        "repeats": numeric(0, 1),
        RESPONSE: numeric(0, 100),
    }
    about = "points of exams: 4% at the end of the scale, the logarithm of hours left out, a school with 3%"
    return Population("exams", about, "gaussian", terms, columns, sample)


def _delays() -> Population:
    terms = (number("hour"), number("miles"), factor("carrier", CARRIERS))

    def sample(n: int, generator: Generator) -> Draw:
        hour = np.floor(24 * generator.beta(4, 3, n))
        miles = np.round(np.exp(6.6 + 0.6 * generator.standard_normal(n))).clip(60, 6000)
        carrier = choice(CARRIERS, CARRIER_SHARES, n, generator)
        late = np.array([CARRIER_LATE[name] for name in carrier]) * (0.5 + hour / 24)
        mean = -4 + 0.001 * miles + late * (20 + 2 * hour)
        held = generator.random(n) < late
        wait = generator.exponential(20 + 2 * hour)
        y = -4 + 0.001 * miles + 6 * generator.standard_normal(n) + np.where(held, wait, 0.0)
        return Draw({"hour": hour, "miles": miles, "carrier": carrier, RESPONSE: y.clip(-60, 900)}, mean)

    columns = {
        "hour": numeric(0, 24),
        "miles": numeric(0, 10_000),
        "carrier": levels_of(CARRIERS),
        RESPONSE: numeric(-60, 900),
    }
    about = "minutes of delay: a fifth waits, exponentially, more and longer in the evening"
    return Population("delays", about, "gaussian", terms, columns, sample)


def _churn() -> Population:
    terms = (number("months"), number("calls"), factor("plan", PLANS), number("abroad"))

    def sample(n: int, generator: Generator) -> Draw:
        months = np.ceil(generator.exponential(20, n)).clip(1, 120)
        calls = generator.negative_binomial(0.8, 0.4, n).astype(float).clip(0, 40)
        plan = choice(PLANS, PLAN_SHARES, n, generator)
        abroad = coin(np.full(n, 0.02), generator)
        level = np.array([PLAN_LEVELS[name] for name in plan])
        # Calls matter less and less, and a line is fitted.
        chance = expit(-2.2 - 0.02 * months + 0.8 * np.log1p(calls) + level + 0.7 * abroad)
        table = {"months": months, "calls": calls, "plan": plan, "abroad": abroad}
        return Draw({**table, RESPONSE: coin(chance, generator)}, chance)

    columns = {
        "months": numeric(0, 240),
        "calls": numeric(0, 60),
        "plan": levels_of(PLANS),
        "abroad": numeric(0, 1),
        RESPONSE: BINARY,
    }
    about = "8% leave: exponential months, many without a call, a plan with 5%, a flag in 2%, a curved effect"
    return Population("churn", about, "binomial", terms, columns, sample)


def _accidents() -> Population:
    terms = (number("age"), number("log_miles"), factor("region", REGIONS), number("night"))

    def sample(n: int, generator: Generator) -> Draw:
        age = np.floor(18 + 62 * generator.beta(1.6, 2.0, n))
        miles = 2.2 + 0.7 * generator.standard_normal(n)
        region = choice(REGIONS, REGION_SHARES, n, generator)
        night = coin(np.full(n, 0.15), generator)
        level = np.array([REGION_LEVELS[name] for name in region])
        # The young and the old have more, and a line is fitted.
        mean = np.exp(-3.2 + 0.6 * miles + level + 0.5 * night + 0.0012 * (age - 45) ** 2)
        y, _ = counted(mean * generator.gamma(1.5, 1 / 1.5, n), generator)
        table = {"age": age, "log_miles": miles, "region": region, "night": night, RESPONSE: y.clip(0, 60)}
        return Draw(table, mean)

    columns = {
        "age": numeric(16, 100),
        "log_miles": numeric(-3, 8),
        "region": levels_of(REGIONS),
        "night": numeric(0, 1),
        RESPONSE: numeric(0, 60),
    }
    about = "accidents: mostly none, dispersion 1/1.5, both ends of age left out, a region with 4%"
    return Population("accidents", about, "poisson", terms, columns, sample)


def _one_price() -> Population:
    def sample(n: int, generator: Generator) -> Draw:
        firm = coin(np.full(n, 0.03), generator)
        usage = np.exp(8.1 + 3.2 * firm + 0.5 * generator.standard_normal(n)).clip(1, 500_000)
        mean = 120 + 0.32 * usage
        y = (mean + 200 * generator.standard_normal(n)).clip(0, 200_000)
        return Draw({"usage": usage, RESPONSE: y}, mean)

    columns = {"usage": numeric(0, 500_000), RESPONSE: numeric(0, 200_000)}
    about = "bills by usage: 3% of the customers use 25 times as much, at the same price"
    return Population("one_price", about, "gaussian", (number("usage"),), columns, sample)


def populations() -> list[Population]:
    """Exams, delays, churn and accidents, and one price for all."""
    return [_exams(), _delays(), _churn(), _accidents(), _one_price()]
