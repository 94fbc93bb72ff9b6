"""What a run costs by every accountant: the numbers, a table and a document."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from tacit.accounting.accountants import AccountantPrice
from tacit.accounting.best_epsilon import best, compare
from tacit.accounting.classical import TradeOff, power_at
from tacit.accounting.clt_forecast import Forecast
from tacit.accounting.composition import Composition, compose
from tacit.accounting.interpretation import Reading, trade_off
from tacit.accounting.rounding import float_up
from tacit.accounting.training_run import Run
from tacit.documents.canonical_json import plain
from tacit.privacy.event import Repeated
from tacit.privacy.relation import Relation
from tacit.text_table import Table, rounded

FALSE_ALARM = 0.05

_MEANING = {
    "basic": "epsilons add up",
    "advanced": "Dwork, Rothblum and Vadhan",
    "optimal": "Kairouz, Oh and Viswanath",
    "zcdp": "zero-concentrated",
    "tcdp": "truncated concentrated",
    "rdp": "Rényi, the moments accountant",
    "gdp": "Gaussian, exact",
    "gdp-clt": "central limit: no guarantee",
    "pld": "privacy-loss distributions",
}


@dataclass(frozen=True)
class PricedEvents:
    """A composition and its price by every accountant."""

    delta: float
    prices: Mapping[str, AccountantPrice | Forecast | None]
    composition: Composition
    trade_off: TradeOff

    @property
    def relation(self) -> Relation | None:
        """For which neighbours it holds; None where the events do not depend on that."""
        return self.composition.relation

    @property
    def description(self) -> str:
        """What is released, in one line."""
        number = sum(times for _, times in self.composition.releases)
        return "Gaussian releases, composed exactly" if self.composition.mu is not None else f"{number:,} releases"

    @property
    def smallest(self) -> AccountantPrice:
        """The least price that is a guarantee, never a forecast; the exact one, if it is that up to rounding."""
        sound = {it.accountant: it for it in self.prices.values() if isinstance(it, AccountantPrice)}
        least = min(reversed(sound.values()), key=lambda it: it.epsilon)
        exact = sound.get("gdp", least)
        return exact if exact.epsilon <= least.epsilon * (1.0 + 1e-12) else least

    @property
    def forecast(self) -> Forecast | None:
        """The forecast, where there is one."""
        return next((it for it in self.prices.values() if isinstance(it, Forecast)), None)

    @property
    def reading(self) -> Reading:
        """The most that an attacker detects at 5% false alarms."""
        return Reading(FALSE_ALARM, power_at(FALSE_ALARM, self.trade_off))

    def epsilon(self, accountant: str) -> float | None:
        """What an accountant says, forecasts included; None where it has no price."""
        found = self.prices[accountant]
        if isinstance(found, Forecast):
            return found.approximate_epsilon(self.delta)
        return None if found is None else found.epsilon


@dataclass(frozen=True)
class Account(PricedEvents):
    """A run, its price by every accountant, and why one fell back on another (`note`)."""

    run: Run
    note: str = ""

    @property
    def relation(self) -> Relation:
        """For which neighbours the run is priced."""
        return self.run.relation

    @property
    def description(self) -> str:
        """What is released, in one line."""
        return run_line(self.run)

    @property
    def noise(self) -> float:
        """The noise over the clip bound, as a float that is not below it."""
        return float_up(Fraction(self.run.noise))


def priced(composition: Composition, delta: float) -> PricedEvents:
    """Price a composition by every accountant."""
    events = [Repeated(event, times) for event, times in composition.releases]
    prices = compare(events, delta=delta, relation=composition.relation)
    return PricedEvents(float(delta), prices, composition, trade_off(composition))


def account_of(run: Run, delta: float) -> Account:
    """Price a run by every accountant; what none can price, or an amplification that does not hold, is refused."""
    # First, because it refuses what no accountant can price and says when it fell back.
    note = best([run.event], delta=delta, relation=run.relation).note.removesuffix(". Use best(), which falls back")
    prices, composition = compare([run.event], delta=delta, relation=run.relation), compose([run.event], run.relation)
    return Account(float(delta), prices, composition, trade_off(composition), run, note)


def account_table(account: Account) -> Table:
    """Every accountant and its epsilon, rounded up; the smallest and the forecast are marked."""
    cells = rounded_up([account.epsilon(name) for name in account.prices])
    marks = dict.fromkeys(account.prices, "") | {account.smallest.accountant: "smallest"}
    marks |= {name: "forecast" for name, price in account.prices.items() if isinstance(price, Forecast)}
    rows = [
        (f"{name:<9} {_MEANING[name]}", cell, marks[name]) for name, cell in zip(account.prices, cells, strict=True)
    ]
    return Table(("accountant", "ε", ""), tuple(rows))


def rounded_up(numbers: list[float | None]) -> tuple[str, ...]:
    """Write numbers with the same decimals, none below what it stands for."""
    least = min((it for it in numbers if it is not None and 0.0 < it < math.inf), default=1.0)
    decimals = min(max(2 - math.floor(math.log10(least)), 3), 9)
    return tuple("no price" if it is None else _up(it, decimals) for it in numbers)


def _up(number: float, decimals: int) -> str:
    if math.isinf(number):
        return "inf"
    exact = Decimal(repr(number))
    if number >= 1e7:
        return f"{float(Context(prec=5, rounding=ROUND_CEILING).create_decimal(exact)):.4e}"
    return str(exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_CEILING))


def few_digits(number: float, *, up: bool = True) -> str:
    """Write a number with six digits, rounded up or down."""
    if not 0.0 < number < math.inf:
        return f"{number:g}"
    return rounded(number, 6, ROUND_CEILING if up else ROUND_FLOOR)


def run_line(run: Run) -> str:
    """What is released, in one sentence."""
    sums = "1 noisy sum" if run.steps == 1 else f"{run.steps:,} noisy sums"
    noise, sample = few_digits(float_up(Fraction(run.noise))), "the whole table"
    if run.sample_rate is not None:
        where = "" if run.population is None else f" of {run.population:,} records"
        scheme = f"samples {run.sampling.replace('-', ' ')}{where}"
        kind = "Poisson samples" if run.sampling == "poisson" else scheme
        sample = f"{kind}, rate {float(run.sample_rate):.6g}"
    return f"{sums} over {sample}, noise {noise} times the clip bound"


def account_document(account: Account) -> dict[str, Any]:
    """The account as plain data: infinity is "inf", no price is null."""
    run, smallest, found = account.run, account.smallest, account.reading
    return {
        "epsilon": plain({name: account.epsilon(name) for name in account.prices}),
        "noise": account.noise,
        "steps": run.steps,
        "delta": account.delta,
        "sample_rate": None if run.sample_rate is None else float_up(Fraction(run.sample_rate)),
        "sampling": None if run.sample_rate is None else run.sampling,
        "records": run.population,
        "relation": str(run.relation),
        "smallest": {name: plain(getattr(smallest, name)) for name in ("accountant", "epsilon", "lower")},
        "no_guarantee": [name for name, it in account.prices.items() if isinstance(it, Forecast)],
        "reading": {"false_alarm": found.false_alarm, "detection": found.detection, "statement": str(found)},
        "fallback": account.note or None,
    }
