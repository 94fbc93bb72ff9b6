"""Targets of a study, and what they need: the least n, ε or number of steps for which a forecast meets a target."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scipy import special

from tacit.display import Displayed
from tacit.errors import SettingError
from tacit.planning.forecast import FitForecast
from tacit.validate import between, one_of, positive

MEASURES = ("half-width", "power", "error", "excess")
UNKNOWNS = ("n", "epsilon", "iterations")
LIMITS = {"n": (10.0, 1e9), "epsilon": (1e-3, 10.0), "iterations": (1.0, 10_000.0)}
"""Where an unknown is sought. An ε above 10 is hardly any protection."""
NAMED = 12
"""Coefficients that a refusal names."""
FACTOR = 4.0
"""Of the steps by which a search begins."""
PRECISION = {"n": 1.02, "epsilon": 1.02, "iterations": 1.05}
"""Ratio of the ends at which a search stops; forecasts are no more precise."""


@dataclass(frozen=True)
class Target(Displayed):
    """What a fit shall achieve.

    Parameters
    ----------
    measure
        "half-width": of an interval, in the user's units. "power": probability that the test of an effect rejects.
        "error": root mean square error of all slopes, each per deviation of its column. "excess": excess risk.
    value
        The largest half-width, error or excess, or the least power.
    term
        Which coefficient; without one, the widest interval of all slopes.
    effect
        The true coefficient that a test shall find, for "power".
    """

    measure: str
    value: float
    term: str | None = None
    effect: float | None = None

    def __post_init__(self) -> None:
        one_of("target", self.measure, MEASURES)
        if self.measure == "power":
            between("power", self.value, 0, 1)
            if self.effect is None or self.term is None:
                raise SettingError("power needs effect=…, the coefficient to be found, and term=…, whose it is.")
        else:
            positive(self.measure, self.value)
        if self.effect is not None:
            if self.measure != "power":
                raise SettingError('effect is for a target of "power".')
            positive("effect", self.effect)

    def largest(self, level: float) -> float:
        """The largest value that meets the target, on the scale of `reached`.

        A two-sided test at level α finds an effect with power at least p if effect / s ≥ z(1 - α/2) + z(p), so that the
        half-width z(1 - α/2)·s is at most effect·z(1 - α/2) / (z(1 - α/2) + z(p)).
        """
        if self.measure != "power":
            return self.value
        quantile = float(-special.ndtri((1 - level) / 2))
        needed = quantile + float(special.ndtri(self.value))
        if needed <= 0:
            raise SettingError(f"Every test of level {1 - level:.3g} has a power of {self.value:g}: ask for more.")
        return float(self.effect or 0.0) * quantile / needed

    def reached(self, found: FitForecast) -> float:
        """The forecast of the measure; infinite where no interval will be offered."""
        if self.measure in {"error", "excess"}:
            return found.coefficient_error if self.measure == "error" else found.excess_risk
        return max(math.inf if width is None else width for width in self._widths(found))

    def floor(self, found: FitForecast) -> float:
        """The same for the fit without privacy, which no ε goes below."""
        if self.measure == "error":
            return found.statistical_error
        if self.measure == "excess":
            return found.statistical_excess
        terms = found.slopes if self.term is None else (found.term(self.term),)
        return max(term.half_width_without_privacy for term in terms)

    def _widths(self, found: FitForecast) -> list[float | None]:
        terms = found.slopes if self.term is None else (found.term(self.term),)
        return [term.half_width for term in terms]

    def __str__(self) -> str:
        """The target in words."""
        of = "" if self.term is None else f" of {self.term}"
        if self.measure == "power":
            return f"power of {self.value:g} for {self.term} = {self.effect:g}"
        return f"{self.measure}{of} of {self.value:g}"


@dataclass(frozen=True)
class Requirement(Displayed):
    """The least value of an unknown that meets a target, or None and why not."""

    unknown: str
    value: float | None
    reason: str | None = None


def least(unknown: str, target: Target, forecast_at: Callable[[float], FitForecast], start: float) -> Requirement:
    """Find the least n, ε or number of steps whose forecast meets a target, by bisection on a logarithmic scale.

    Raises `SettingError` where the target lies below the floor of the fit without privacy and n is fixed: no budget
    and no number of steps would help. Where no value within the limits is enough, the requirement says so.
    """
    one_of("solve", unknown, UNKNOWNS)
    low, high = LIMITS[unknown]
    seen: dict[float, FitForecast] = {}

    def meets(value: float) -> bool:
        try:
            seen[value] = forecast_at(value)
        except SettingError:
            # Settings that no plan can honour at this value, such as too small a table.
            return False
        return target.reached(seen[value]) <= target.largest(seen[value].level)

    at = min(max(start, low), high)
    below, above = (None, at) if meets(at) else (at, None)
    if unknown != "n" and seen:
        require_possible(target, next(iter(seen.values())))
    # Away from the start until there is one end of each kind, or a limit.
    while (above is None and at < high) or (below is None and at > low):
        at = min(at * FACTOR, high) if above is None else max(at / FACTOR, low)
        below, above = (below, at) if meets(at) else (at, above)
    if above is None:
        return Requirement(unknown, None, _no_answer(unknown, high, target, seen.get(high)))
    while below is not None and above / below > PRECISION[unknown]:
        middle = math.sqrt(below * above)
        if unknown != "epsilon" and (middle := float(round(middle))) in {below, above}:
            break
        below, above = (below, middle) if meets(middle) else (middle, above)
    return Requirement(unknown, rounded_up(above, whole=unknown != "epsilon"))


def require_possible(target: Target, found: FitForecast) -> None:
    """Refuse a target that lies below what the fit without privacy reaches at this n: the minimax floor."""
    floor, largest = target.floor(found), target.largest(found.level)
    if largest < floor:
        n, power = found.plan.records, 1 if target.measure == "excess" else 2
        least_n = rounded_up(n * (floor / largest) ** power, whole=True)
        whose = ""
        if target.term is None and target.measure == "half-width":
            widest = max(found.slopes, key=lambda term: term.half_width_without_privacy)
            names = ", ".join(term.name for term in found.slopes[:NAMED])
            more = f" and {len(found.slopes) - NAMED} more" if len(found.slopes) > NAMED else ""
            whose = f" It is that of {widest.name}, the widest; term=… asks for one of {names}{more}."
        raise SettingError(
            f"A {target} is below the floor at n = {n:,}: without any privacy the fit would reach {floor:.3g} where "
            f"{largest:.3g} is needed, and for large n no method does better. Even without privacy it takes "
            f"n = {least_n:,.0f}.{whose} All this under the guesses made: {found.assumption}."
        )


def _no_answer(unknown: str, high: float, target: Target, found: FitForecast | None) -> str:
    name = {"n": f"n = {high:,.0f}", "epsilon": f"epsilon = {high:g}", "iterations": f"{high:,.0f} iterations"}[unknown]
    if found is not None and math.isinf(target.reached(found)):
        return f"Up to {name} no interval would be offered. {cannot_tell(found)}"
    reached = "no plan" if found is None else f"{target.reached(found):.3g}"
    return f"Not within limits: even {name} is forecast to reach {reached}."


def cannot_tell(found: FitForecast) -> str:
    """Why a forecast has no interval, and that it rests on guesses, where it does."""
    why = found.withheld or "those of the term asked for were withheld in most simulated fits"
    if found.withheld is not None and not found.unsure:
        return f"{why[0].upper()}{why[1:]}."
    return (
        f"That is so under the guesses made, and says nothing certain of your table: {why}. State what you know of it "
        "by tacit.Assumptions(…)."
    )


def rounded_up(value: float, *, whole: bool) -> float:
    """Round up to three digits, or to a whole number."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    found = math.ceil(value / unit - 1e-9) * unit
    return float(max(1, round(found))) if whole else float(f"{found:.3g}")


def target_of(words: str, term: str | None = None, effect: float | None = None) -> Target:
    """Read "half-width=0.1"."""
    name, _, text = words.partition("=")
    try:
        value: Any = float(text)
    except ValueError:
        raise SettingError(
            f'A target is NAME=VALUE with a NAME of {", ".join(MEASURES)}, for example "half-width=0.1"; got {words!r}.'
        ) from None
    return Target(name.strip().replace("_", "-"), value, term, effect)
