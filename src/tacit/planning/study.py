"""A study: one model, and what its fit would cost and achieve at any n, ε and number of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from tacit.contract.plan import Plan
from tacit.display import Displayed, Shown
from tacit.errors import SettingError
from tacit.planning.assumptions import SINGLE, Assumptions
from tacit.planning.forecast import FitForecast, forecast
from tacit.planning.surrogate import Surrogate
from tacit.planning.targets import LIMITS, NAMED, Requirement, Target, least, require_possible, rounded_up
from tacit.privacy.budget import Budget

PlanAt = Callable[[int, Budget, int | None], Plan]
QUICK = 12
"""Simulated fits at a point of a search or a picture; all points share their randomness."""
CONFIRMED, RAISED = 6, 1.1
"""Forecasts by many fits of a value that a search has found, and the factor by which it grows from one to the next."""


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
    open: str | None = None
    """"n" or "epsilon" if it was not given: a target finds it, and the search begins at the value here."""

    def _shown(self) -> Shown:
        sought = 'to be found by required("{}", half_width=…)'
        records = f"records {sought.format('n')}" if self.open == "n" else f"{self.n:,} records"
        budget = sought.format("epsilon") if self.open == "epsilon" else str(self.budget)
        return Shown(f"Study: {records}", (("Budget", budget), ("Assumed", self.assumptions.of(self._start.design))))

    @cached_property
    def plan(self) -> Plan:
        """The plan at the given n and budget: solver, queries and prices."""
        if self.open is not None:
            raise SettingError(
                f"{self.open}=… was not given. required({self.open!r}, half_width=…) finds the least that is enough; a "
                "plan and a forecast need both."
            )
        return self._start

    @cached_property
    def _start(self) -> Plan:
        return self.plan_at(self.n, self.budget, None)

    @cached_property
    def surrogate(self) -> Surrogate:
        """The public rows on which the plans are run."""
        return Surrogate.simulated(self._start.design, self.assumptions)

    @cached_property
    def forecast(self) -> FitForecast:
        """Excess risk, coefficient errors and interval widths of the fit."""
        return self._forecast(self.plan)

    def at(
        self,
        *,
        n: int | None = None,
        epsilon: float | None = None,
        iterations: int | None = None,
        runs: int | None = QUICK,
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
        if self.open not in {None, unknown}:
            raise SettingError(f"{self.open} was not given, so it is what can be sought: required({self.open!r}, …).")
        self.require_term(target)
        if unknown == "epsilon" and self.budget.epsilon is None:
            raise SettingError("An epsilon is sought from a budget of epsilon and delta, not of mu or rho.")
        if unknown != "n":
            # The floor needs no simulated fits, and is known at once.
            require_possible(target, self._forecast(self._start, 1))
        start = {"n": float(self.n), "epsilon": self.budget.epsilon or 1.0}.get(unknown, 50.0)

        def forecast_at(value: float) -> FitForecast:
            return self.at(**{unknown: value if unknown == "epsilon" else round(value)})  # type: ignore[arg-type]

        return self._confirmed(least(unknown, target, forecast_at, start), target)

    def _confirmed(self, found: Requirement, target: Target) -> Requirement:
        """A value that a few fits have found, raised until the forecast by many meets the target too."""
        whole = found.unknown != "epsilon"
        for _ in range(CONFIRMED if found.value is not None else 0):
            value = round(found.value or 0.0) if whole else found.value
            reached = target.reached(self.at(**{found.unknown: value, "runs": None}))  # type: ignore[arg-type]
            if reached <= target.largest(self.level):
                break
            raised = min(RAISED * (found.value or 0.0), LIMITS[found.unknown][1])
            found = replace(found, value=rounded_up(raised, whole=whole))
        return found

    def meets(self, target: Target) -> bool:
        """Whether the fit is forecast to meet a target; one below the floor of the fit without privacy is refused."""
        self.require_term(target)
        require_possible(target, self._forecast(self.plan, 1))
        return target.reached(self.forecast) <= target.largest(self.level)

    def require_term(self, target: Target) -> None:
        """Refuse a target of a coefficient that the model has not, before anything is simulated."""
        names = self._start.design.terms
        if target.term is not None and target.term not in names:
            raise SettingError(f"There is no coefficient {target.term!r}; there are {', '.join(names[:NAMED])}.")

    def under_other_guesses(self) -> list[tuple[str, FitForecast]]:
        """Quick forecasts under other guesses of what nobody stated, each with what differs: "share = 0.03"."""
        found = []
        for other in self.assumptions.others(self._start.design):
            differs = next(name for name in SINGLE if getattr(other, name) != getattr(self.assumptions, name))
            try:
                found.append((f"{differs} = {getattr(other, differs):.2g}", replace(self, assumptions=other).at()))
            except SettingError:
                continue
        return found

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
