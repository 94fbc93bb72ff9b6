"""Five populations with long rows, and one that was looked at before, for the rules that say which rows are long.

Savings, saturation, kinks, alarms and breakdowns were written down before any of them was run, and before these rules
were frozen; in two the model is right for rows far out, in three it is wrong. Queues is the case by which rules of
counts were set: it is no test of them.
"""

from __future__ import annotations

import numpy as np

from benchmarks.coverage.population import RESPONSE, Draw, Generator, Population, number, numeric, truth_of
from benchmarks.coverage.populations_binary import coin
from benchmarks.coverage.populations_counts import counted


def _savings() -> Population:
    terms = (number("income"), number("children"))

    def sample(n: int, generator: Generator) -> Draw:
        income = np.exp(1.1 + 0.6 * generator.standard_normal(n)).clip(0, 40)
        children = generator.poisson(1.1, n).astype(float).clip(0, 8)
        mean = 2 + 1.5 * income - 1.2 * children
        y = mean + (1.5 + 0.3 * income) * generator.standard_normal(n)
        return Draw({"income": income, "children": children, RESPONSE: y.clip(-30, 120)}, mean)

    columns = {"income": numeric(0, 50), "children": numeric(0, 10), RESPONSE: numeric(-30, 120)}
    about = "savings by lognormal income: the line is right, spread grows with income"
    truth = truth_of(terms, (2, 1.5, -1.2))
    return Population("savings", about, "gaussian", terms, columns, sample, truth)


def _saturation() -> Population:
    terms = (number("flow"), number("slope"), number("wet"))

    def sample(n: int, generator: Generator) -> Draw:
        flow = (4 * generator.pareto(3.5, n)).clip(0, 60)
        slope = generator.standard_normal(n).clip(-5, 5)
        wet = coin(np.full(n, 0.3), generator)
        mean = 30 + 12 * np.log1p(flow) + 3 * slope - 5 * wet
        y = mean + 9 * generator.standard_normal(n)
        table = {"flow": flow, "slope": slope, "wet": wet}
        return Draw({**table, RESPONSE: y.clip(-40, 160)}, mean)

    columns = {"flow": numeric(0, 60), "slope": numeric(-5, 5), "wet": numeric(0, 1), RESPONSE: numeric(-40, 160)}
    about = "a logarithm of a Pareto flow, a raw plane is fitted"
    return Population("saturation", about, "gaussian", terms, columns, sample)


def _kinks() -> Population:
    terms = (number("gap"), number("wait"), number("age"))

    def sample(n: int, generator: Generator) -> Draw:
        gap = generator.standard_t(5, n).clip(-12, 12)
        wait, age = generator.exponential(2.0, n).clip(0, 25), generator.uniform(18, 80, n)
        mean = 10 + 4 * np.abs(gap) + np.maximum(wait - 3, 0) + 0.05 * age
        y = mean + 5 * generator.laplace(size=n)
        return Draw({"gap": gap, "wait": wait, "age": age, RESPONSE: y.clip(-60, 120)}, mean)

    columns = {"gap": numeric(-12, 12), "wait": numeric(0, 30), "age": numeric(18, 80), RESPONSE: numeric(-60, 120)}
    about = "a corner in a t feature of 5 degrees and one in an exponential wait, a plane is fitted"
    return Population("kinks", about, "gaussian", terms, columns, sample)


def _alarms() -> Population:
    terms = (number("traffic"), number("night"))

    def sample(n: int, generator: Generator) -> Draw:
        traffic = np.exp(0.7 * generator.standard_normal(n)).clip(0, 20)
        night = coin(np.full(n, 0.35), generator)
        # Alarms grow in proportion to the traffic, and its exponential is fitted.
        mean = (0.4 + 0.6 * traffic) * np.exp(-0.4 * night)
        y, _ = counted(mean, generator)
        return Draw({"traffic": traffic, "night": night, RESPONSE: y.clip(0, 60)}, mean)

    columns = {"traffic": numeric(0, 20), "night": numeric(0, 1), RESPONSE: numeric(0, 60)}
    about = "Poisson counts in proportion to lognormal traffic, its exponential is fitted"
    return Population("alarms", about, "poisson", terms, columns, sample)


def _breakdowns() -> Population:
    terms = (number("age"), number("load"))

    def sample(n: int, generator: Generator) -> Draw:
        age, load = generator.gamma(1.5, 2.0, n).clip(0, 20), generator.standard_normal(n).clip(-5, 5)
        mean = np.exp(-0.4 + 0.12 * age + 0.2 * load)
        y, _ = counted(mean, generator)
        return Draw({"age": age, "load": load, RESPONSE: y.clip(0, 80)}, mean)

    columns = {"age": numeric(0, 20), "load": numeric(-5, 5), RESPONSE: numeric(0, 80)}
    about = "Poisson counts by a gamma age: the model is right"
    return Population("breakdowns", about, "poisson", terms, columns, sample, truth_of(terms, (-0.4, 0.12, 0.2)))


def _queues() -> Population:
    terms = (number("load"), number("open"))

    def sample(n: int, generator: Generator) -> Draw:
        load = generator.exponential(1.0, n).clip(0, 15)
        hours = generator.uniform(0, 12, n)
        # Rates grow like a root of the load, and its exponential is fitted.
        mean = 1.2 * np.sqrt(0.2 + load) * np.exp(-0.05 * hours)
        y, _ = counted(mean, generator)
        return Draw({"load": load, "open": hours, RESPONSE: y.clip(0, 60)}, mean)

    columns = {"load": numeric(0, 15), "open": numeric(0, 12), RESPONSE: numeric(0, 60)}
    about = "queues: Poisson counts, the root of an exponential load in place of its exponential"
    return Population("queues", about, "poisson", terms, columns, sample)


def populations() -> list[Population]:
    """Five that nobody had looked at, and queues."""
    return [_savings(), _saturation(), _kinks(), _alarms(), _breakdowns(), _queues()]
