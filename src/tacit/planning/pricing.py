"""Putting a plan together: priced steps and the facts they rest on."""

from __future__ import annotations

from fractions import Fraction

from tacit.contract.plan import Descent, Forecast, Plan, Step, Whitening
from tacit.contract.query import Kind
from tacit.contract.sensitivity import price_for
from tacit.planning.wishes import Facts


def priced(
    facts: Facts, kind: Kind, mu_squared: Fraction, times: int, label: str, size: int = 1
) -> Step:
    """`times` answers that cost at most `mu_squared` together."""
    # A unit's integers for second moments are those of all its rows.
    rows = 1 if kind is Kind.GRADIENT else facts.design.unit_rows
    price = price_for(
        kind,
        mu_squared / times,
        facts.relation,
        records=facts.records,
        width=facts.coordinates if kind is Kind.GRADIENT else facts.design.width * rows,
        size=size,
    )
    return Step(kind, price, times, label, size)


def assembled(
    facts: Facts,
    solver: str,
    steps: tuple[Step, ...],
    *,
    stages: tuple[Descent, ...] = (),
    whitening: Whitening | None = None,
    forecast: Forecast | None = None,
) -> Plan:
    """Return the plan of these steps."""
    return Plan(
        solver=solver,
        loss=facts.loss,
        design=facts.design,
        records=facts.records,
        relation=facts.relation,
        unit=facts.unit,
        budget=facts.budget,
        steps=steps,
        stages=stages,
        whitening=whitening,
        penalty=facts.penalty,
        forecast=forecast,
    )


def between(value: float, low: float, high: float) -> float:
    """Keep a value within two ends."""
    return min(max(value, low), high)
