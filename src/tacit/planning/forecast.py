"""Forecasts: how far a planned fit will be off, and how wide its intervals, by running the plan on a public surrogate.

The plan's own solver asks a simulated gate, whose noise is that of the plan's prices. So a forecast has no formula to
be wrong, and is as good as the surrogate. A surrogate of a few thousand rows stands for any number of records.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import special
from threadpoolctl import ThreadpoolController

from tacit.contract.plan import Plan
from tacit.contract.release import Release
from tacit.design.design import INTERCEPT, Design
from tacit.design.response import Continuous
from tacit.display import Displayed, Shown
from tacit.engine.interruptible_run import completed
from tacit.errors import SettingError
from tacit.inference.reliability import judge, not_offered
from tacit.inference.results import Results
from tacit.planning.assumptions import Assumptions
from tacit.planning.row_sums import Matrix, RowSums, Vector
from tacit.planning.simulated_gate import ExactGate, SimulatedGate
from tacit.planning.surrogate import Surrogate
from tacit.privacy.budget import Budget
from tacit.solvers.exact import minimise
from tacit.solvers.exact_intervals import deviation_of
from tacit.solvers.locating import with_bounds
from tacit.solvers.residual_scale import in_units
from tacit.text_table import Table, columns_of_numbers

FEWEST, MOST, VARIANCE = 12, 100, 500
"""Runs of a forecast: the excess of d coefficients varies by √(2/d), and its median by 8% with 500/d runs."""
NODES, NODE_WEIGHTS = (0.5 + np.polynomial.legendre.leggauss(12)[0] / 2, np.polynomial.legendre.leggauss(12)[1] / 2)
"""Where and how gradients are weighed on the way to the minimum."""


@dataclass(frozen=True)
class TermForecast:
    """One coefficient: root mean square error and half-width of its interval, and both without privacy."""

    name: str
    error: float
    half_width: float | None
    error_without_privacy: float
    half_width_without_privacy: float


@dataclass(frozen=True, repr=False)
class FitForecast(Displayed):
    """What a fit will achieve, if the assumption holds; medians over simulated fits.

    `excess_loss` is the mean loss above that of the fit without privacy, on the same records. `statistical_excess` is
    what that fit loses itself, on new records, against the best coefficients: tr(M⁻¹Q) / 2n. `excess_risk` is their
    sum. `coefficient_error` is the root mean square error of all slopes, each per deviation of its column.
    """

    plan: Plan = field(repr=False)
    excess_loss: float
    statistical_excess: float
    coefficient_error: float
    statistical_error: float
    terms: tuple[TermForecast, ...]
    level: float
    runs: int
    assumption: str
    withheld: str | None = None
    """Why there will be no intervals, where they were asked for."""
    unsure: bool = False
    """Whether it is for what was assumed, and not for the plan, that there will be none."""

    def _shown(self) -> Shown:
        numbers = columns_of_numbers(
            *zip(*((it.error, it.half_width, it.error_without_privacy) for it in self.terms), strict=True)
        )
        rows = tuple(zip((term.name for term in self.terms), *numbers, strict=True))
        facts = (("Excess loss", f"{self.excess_loss:.3g}"), ("Assumed", self.assumption))
        table = Table(("", "error", "half-width", "error without privacy"), rows)
        notes = () if self.withheld is None else (f"No intervals: {self.withheld}",)
        return Shown(f"Forecast: {self.plan.solver.name}", facts, table, notes)

    @property
    def excess_risk(self) -> float:
        """Excess over the best coefficients on new records: privacy and sampling together."""
        return self.excess_loss + self.statistical_excess

    @property
    def half_widths(self) -> Mapping[str, float | None]:
        """Half-widths of the intervals by term; None where none will be offered."""
        return {term.name: term.half_width for term in self.terms}

    @property
    def slopes(self) -> tuple[TermForecast, ...]:
        """The coefficients but intercepts; all where there is nothing else."""
        own = tuple(term for term in self.terms if not term.name.endswith(INTERCEPT))
        return own or self.terms

    def term(self, name: str) -> TermForecast:
        """The forecast of one coefficient."""
        for term in self.terms:
            if term.name == name:
                return term
        known = ", ".join(term.name for term in self.terms[:12])
        raise SettingError(f"There is no coefficient {name!r}; there are {known}.")


def forecast(
    plan: Plan,
    assumptions: Assumptions | None = None,
    *,
    surrogate: Surrogate | None = None,
    runs: int | None = None,
    level: float = 0.95,
) -> FitForecast:
    """Forecast a plan by running it on a public surrogate. Reads no record and spends nothing.

    Parameters
    ----------
    plan
        Of an estimator, `LogisticRegression(…).plan(n, d)`, or of `tacit.plan`.
    assumptions
        About the table, or second moments that have been released.
    surrogate
        Public rows in place of simulated ones.
    runs
        Simulated fits; by default 500 over the number of coefficients, between 12 and 100.
    """
    if not plan.private:
        raise SettingError("A forecast is of a private plan: without noise there is nothing to forecast.")
    known = assumptions or Assumptions()
    # Products are small: threads would wait for each other.
    with _blas().limit(limits=1, user_api="blas"):
        public = surrogate or Surrogate.simulated(plan.design, known)
        fits = _Simulation(plan, public, level)
        count = runs or int(min(max(VARIANCE / plan.design.identified, FEWEST), MOST))
        found = [fits.run(np.random.default_rng([known.seed, 1 + run])) for run in range(count)]
    return fits.summary(found, known.of(plan.design))


@functools.cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


@dataclass(frozen=True)
class _Run:
    excess: float
    errors: Vector
    half_widths: Vector
    why: str = ""
    """Why intervals of this fit are withheld."""


class _Simulation:
    """A plan on public rows: their minimum without privacy once, then one fit after another."""

    def __init__(self, plan: Plan, surrogate: Surrogate, level: float) -> None:
        self.plan, self.level = plan, level
        self._raw = surrogate
        # Bounds that a fit has to find are those of the surrogate's own scale here.
        self._design = _closed(plan.design)
        rows, response = _prepared(plan.design, self._design, surrogate)
        self.sums = RowSums.standing_for(plan.records, rows, response, surrogate.offset)
        exact = replace(plan, design=self._design, budget=Budget(epsilon=math.inf), locating=None, counting=False)
        self._exact = exact
        try:
            self.best = minimise(ExactGate(self.sums), exact)
        except np.linalg.LinAlgError:
            raise SettingError("The public rows have no finite fit without privacy: a level separates them.") from None
        self.loss = plan.loss
        if plan.loss.relative:
            self.loss = in_units(plan.loss, deviation_of(ExactGate(self.sums), exact, self.best))
        self._to_user = self._design.to_user()
        self._statistics()

    def _statistics(self) -> None:
        """Sampling covariance of the coefficients and the excess of the fit without privacy."""
        rows, loss, n = self.sums.rows, self.loss, self.plan.records
        slope, second = self.sums.derivatives(loss, self.best, rows)
        if slope.ndim > 1:
            width, classes = rows.shape[1], slope.shape[1]
            stacked = np.einsum("ik,ij->ikj", slope, rows).reshape(len(rows), -1)
            score = stacked.T @ stacked / len(rows)
            curvature = np.empty((classes, width, classes, width))
            for a in range(classes):
                for b in range(classes):
                    curvature[a, :, b] = (rows.T * (second[:, a] * ((a == b) - second[:, b]))) @ rows / len(rows)
            curvature = curvature.reshape(score.shape)
            to_user = np.kron(np.eye(classes), self._to_user)
        else:
            curvature = (rows.T * second) @ rows / len(rows)
            score = (rows.T * slope**2) @ rows / len(rows)
            to_user = self._to_user
        inverse = np.linalg.pinv(curvature, rcond=1e-10, hermitian=True)
        self.statistical_excess = float(np.sum(inverse * score) / (2 * n))
        covariance = to_user @ inverse @ score @ inverse @ to_user.T / n
        self.sampling = np.maximum(np.diag(covariance), 0.0)

    def run(self, generator: np.random.Generator) -> _Run:
        """One simulated fit."""
        raw = self._raw
        gate = SimulatedGate(self.plan, raw.rows, raw.response, generator, self.plan.records, raw.offset)

        def prepare(design: Design) -> None:
            rows, response = _prepared(self.plan.design, design, self._raw)
            gate.sums = RowSums.standing_for(self.plan.records, rows, response, raw.offset)

        found_plan = completed(self.plan, gate, prepare)
        found = found_plan.solver.run(gate, found_plan)
        release = Release(found_plan, found.theta, True, found.sandwich, found.moments)
        user = release.coefficients()
        best = Release(self._exact, self.best).coefficients()
        half, why = np.full(best.size, math.nan), ""
        if found.sandwich is not None and not_offered(found_plan) is None:
            own = Results(release).coefficients
            ends = own.conf_int(self.level)
            half = np.where(own.offered, (ends[:, 1] - ends[:, 0]) / 2, math.nan)
            if not all(own.offered):
                why = judge(release, found.sandwich).why(np.eye(len(half))[~np.array(own.offered)])
        return _Run(self.excess(user), (user - best).T.ravel(), half, why)

    def excess(self, user: Vector) -> float:
        """Mean loss of coefficients above the least, by the gradient on the straight way there."""
        prepared = np.linalg.lstsq(self._to_user, (user.T - self._design.shift()).T, rcond=None)[0]
        step = prepared - self.best
        rows, total = self.sums.rows, 0.0
        along = rows @ step
        for node, weight in zip(NODES, NODE_WEIGHTS, strict=True):
            slope = self.sums.derivatives(self.loss, self.best + node * step, rows)[0]
            total += weight * float(np.sum(slope * along)) / len(rows)
        return max(total, 0.0)

    def summary(self, runs: list[_Run], assumption: str) -> FitForecast:
        """Medians and root mean squares over the runs."""
        errors = np.sqrt(np.mean([run.errors**2 for run in runs], axis=0) + self.sampling)
        half = np.array([run.half_widths for run in runs])
        offered = np.mean(~np.isnan(half), axis=0) >= 0.5
        widths = [
            float(np.median(own[~np.isnan(own)])) if there else None for own, there in zip(half.T, offered, strict=True)
        ]
        quantile = float(-special.ndtri((1 - self.level) / 2))
        plain = np.sqrt(self.sampling)
        names = self.plan.design.terms
        terms = tuple(
            TermForecast(name, float(error), width, float(alone), quantile * float(alone))
            for name, error, width, alone in zip(names, errors, widths, plain, strict=True)
        )
        units = self._units()
        return FitForecast(
            self.plan,
            excess_loss=float(np.median([run.excess for run in runs])),
            statistical_excess=self.statistical_excess,
            coefficient_error=float(np.sqrt(np.sum((errors * units) ** 2))),
            statistical_error=float(np.sqrt(np.sum((plain * units) ** 2))),
            terms=terms,
            level=self.level,
            runs=len(runs),
            assumption=assumption,
            withheld=self._withheld(offered, [run.why for run in runs if run.why]),
            unsure=bool(self.plan.solver.intervals and not_offered(self.plan) is None and not offered.any()),
        )

    def _units(self) -> Vector:
        """Deviation of each column in the user's units, 0 for an intercept."""
        design = self._design
        count = len(design.columns)
        scales = np.array([column.scale for column in design.columns]) * self.sums.rows[:, :count].std(axis=0)
        own = np.concatenate([np.zeros(int(design.reports_intercept)), scales])
        return np.tile(own, len(self.plan.design.terms) // len(own))

    def _withheld(self, offered: Vector, reasons: list[str]) -> str | None:
        if self.plan.intervals_declined or (self.plan.solver.intervals and not offered.any()):
            usual = max(sorted(set(reasons)), key=reasons.count) if reasons else "the simulated fits offered none"
            return not_offered(self.plan) or usual
        return None


def _closed(design: Design) -> Design:
    """The design with bounds: where a fit has to find them, those at ±3 deviations of the surrogate."""
    if not design.open_places:
        return design
    ends = [3.0] * len(design.open_places)
    return with_bounds(design, design.open_places, -np.array(ends), np.array(ends))


def _prepared(raw: Design, design: Design, surrogate: Surrogate) -> tuple[Matrix, Vector]:
    """Rows and responses in the coordinates of bounds that were found; as they are where bounds are declared."""
    rows, response = surrogate.rows, surrogate.response
    if not raw.open_places:
        return rows, response
    own = design.columns
    values = np.clip(rows[:, : len(own)], [c.lower for c in own], [c.upper for c in own])
    values = (values - [c.center for c in own]) / [c.scale for c in own]
    values = values * np.minimum(1.0, design.feature_norm / np.maximum(np.linalg.norm(values, axis=1), 1e-300))[:, None]
    answer = design.response
    if raw.width in raw.open_places and isinstance(answer, Continuous):
        response = (np.clip(response, answer.lower, answer.upper) - answer.center) / answer.scale
    return (np.column_stack([values, np.ones(len(values))]) if design.intercept else values), response
