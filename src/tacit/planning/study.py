"""A study: one model, and what its fit would cost and achieve at any n, ε and number of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tacit.contract.plan import Plan
from tacit.display import Displayed, Shown
from tacit.errors import SettingError
from tacit.planning.assumptions import Assumptions
from tacit.planning.forecast import FitForecast, forecast
from tacit.planning.surrogate import Surrogate
from tacit.planning.targets import Requirement, Target, least, require_possible
from tacit.privacy.budget import Budget

PlanAt = Callable[[int, Budget, int | None], Plan]
QUICK = 12
"""Simulated fits at a point of a search or a picture; all points share their randomness."""


@dataclass(frozen=True, repr=False)
class Study(Displayed):
    """A planned fit and its forecast; nothing is read and nothing is spent.

    Examples
    --------
    >>> from tacit import LogisticRegression
    >>> study = LogisticRegression(epsilon=1.0, bounds=(0, 1), inference=True).study(n=20_000, d=3)
    >>> study.plan.solver.name
    'one-step'
    >>> study.required("n", half_width=0.5).value > 1000
    True
    """

    plan_at: PlanAt = field(repr=False)
    n: int
    budget: Budget
    assumptions: Assumptions = field(default_factory=Assumptions)
    level: float = 0.95

    def _shown(self) -> Shown:
        return Shown(f"Study: {self.n:,} records", (("Budget", str(self.budget)), ("Assumed", str(self.assumptions))))

    @cached_property
    def plan(self) -> Plan:
        """The plan at the given n and budget: solver, queries and prices."""
        return self.plan_at(self.n, self.budget, None)

    @cached_property
    def surrogate(self) -> Surrogate:
        """The public rows on which the plans are run."""
        return Surrogate.simulated(self.plan.design, self.assumptions)

    @cached_property
    def forecast(self) -> FitForecast:
        """Excess risk, coefficient errors and interval widths of the fit."""
        return self._forecast(self.plan)

    def at(
        self, *, n: int | None = None, epsilon: float | None = None, iterations: int | None = None, runs: int = QUICK
    ) -> FitForecast:
        """A quick forecast at another n, ε or number of steps."""
        budget = self.budget if epsilon is None else Budget(epsilon=epsilon, delta=self.budget.delta)
        return self._forecast(self.plan_at(self.n if n is None else n, budget, iterations), runs)

    def required(
        self,
        unknown: str,
        *,
        half_width: float | None = None,
        error: float | None = None,
        excess: float | None = None,
        power: float | None = None,
        effect: float | None = None,
        term: str | None = None,
    ) -> Requirement:
        """The least "n", "epsilon" or "iterations" for which the forecast meets one target, everything else fixed."""
        given = {"half-width": half_width, "error": error, "excess": excess, "power": power}
        asked = [(name, value) for name, value in given.items() if value is not None]
        if len(asked) != 1:
            raise SettingError("Give one target: half_width=…, error=…, excess=… or power=…")
        return self.least(unknown, Target(*asked[0], term, effect))

    def least(self, unknown: str, target: Target) -> Requirement:
        """The same for a `Target`."""
        if target.term is not None:
            self.forecast.term(target.term)
        if unknown == "epsilon" and self.budget.epsilon is None:
            raise SettingError("An epsilon is sought from a budget of epsilon and delta, not of mu or rho.")
        start = {"n": float(self.n), "epsilon": self.budget.epsilon or 1.0}.get(unknown, 50.0)

        def forecast_at(value: float) -> FitForecast:
            return self.at(**{unknown: value if unknown == "epsilon" else round(value)})  # type: ignore[arg-type]

        return least(unknown, target, forecast_at, start)

    def meets(self, target: Target) -> bool:
        """Whether the fit is forecast to meet a target; one below the floor of the fit without privacy is refused."""
        require_possible(target, self.forecast)
        return target.reached(self.forecast) <= target.largest(self.level)

    def grid(self, sizes: Sequence[int], epsilons: Sequence[float]) -> list[list[FitForecast | None]]:
        """Quick forecasts at every size (rows) and ε (columns); None where there is no plan."""
        return [[self._tried(n, epsilon) for epsilon in epsilons] for n in sizes]

    def _tried(self, n: int, epsilon: float) -> FitForecast | None:
        try:
            return self.at(n=n, epsilon=epsilon)
        except SettingError:
            return None

    def _forecast(self, plan: Plan, runs: int | None = None) -> FitForecast:
        return forecast(plan, self.assumptions, surrogate=self.surrogate, runs=runs, level=self.level)
