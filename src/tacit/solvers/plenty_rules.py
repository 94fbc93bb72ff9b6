"""Rules of fits with intervals where n·μ is so large that noise costs hardly anything."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from tacit.contract.plan import Plan
from tacit.solvers.rules import COVERAGE, TABLES, Growth, between, rule


@dataclass(frozen=True)
class Plenty:
    """What a fit does with plenty of budget: it comes nearer to the fit without noise."""

    study: ClassVar[str] = COVERAGE
    records: tuple[float, float] = rule((20_000.0, 80_000.0), "n·μ where plenty begins, and where it is whole")
    signal: tuple[float, float] = rule((1000.0, 4000.0), "the same of n·μ/d")
    steps: int = rule(6, "Newton steps before the last where it is whole: the square of what they correct is left")
    straight: int = rule(
        1, "the same of least squares: the noise of a curvature lets some of the pilot's error through"
    )
    near: tuple[int, int] = rule((2, 3), "parts for gradient and curvature of each")
    longest: float = rule(0.5, "longest of them, in predictor units: curvature is small far out")
    pilot: float = rule(0.05, "share of the pilot: steps correct it")
    step: float = rule(3.0, "times its part for the last step: its noise is what is left")
    curved: float = rule(
        0.25,
        "curvature that a row of labels may have at least; gradient and matrix have the same, so no step is too long",
    )
    sandwich: float = rule(2.0, "times its part for curvature and score")
    tail: float = rule(3.0, "times its part for the mean of large gradient norms")
    label_rows: Growth = rule(
        Growth(1.3, 3000.0, 0.18, 0.8, 1.4), "bound of rows over the quantile of their norms, two labels"
    )
    rows: float = rule(1.6, "the same of counts, at most")
    squared_rows: float = rule(3.0, "the same of numbers: hardly any weighs less")
    top: float = rule(0.7, "times the rate where weights fall, counts")
    held: float = rule(0.996, "share of gradients within their quantile: a tail is then hardly extrapolated")
    safety: float = rule(1.0, "factor on the bias when the clip is chosen")


PLENTY = Plenty()


def plenty_of(n_mu: float, signal: float, cells: float) -> float:
    """How far plenty has come, from 0 to 1, by public facts; 0 for tables of so many cells that passes are capped."""
    if cells >= TABLES.large:
        return 0.0

    def part(value: float, ends: tuple[float, float]) -> float:
        low, high = ends
        return between(math.log(max(value, low) / low) / math.log(high / low), 0.0, 1.0)

    return min(part(n_mu, PLENTY.records), part(signal, PLENTY.signal))


def plenty_at(plan: Plan) -> float:
    """The same of a plan; 0 without noise."""
    if not plan.private:
        return 0.0
    design = plan.design
    return plenty_of(plan.signal * design.identified, plan.signal, plan.records * design.width)


def grown(factor: float, plenty: float) -> float:
    """A factor that comes in with plenty."""
    return float(factor**plenty)
