"""Runs of solvers on scripted answers: what they ask, and what they make of it.

No records are read. A script gives the shares of counts, the size of gradients and the noise, so
that caps, floors and fallbacks act that an ordinary table seldom reaches.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tacit
from tacit.contract.plan import Plan
from tacit.contract.query import (
    Answer,
    ColumnCounts,
    CurvatureAndScore,
    GradientNorm,
    GradientSum,
    Measure,
    Query,
    ResidualSize,
    SecondMoments,
)
from tacit.privacy.budget import Budget
from tacit.solvers.counting import count_records
from tacit.solvers.locating import locate
from tools.golden import family_plans
from tools.golden.plans import plan_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Script:
    """How answers are made.

    Columns are normal around `center` with deviation `spread`, but for a share `atom` at one value.
    Residuals have `residual` for a deviation; other sums over residuals are `share` of the records.
    Norms of gradients are those of a normal variable with deviation `norm`; `excess` is their mean share of the way
    from a quantile to where it is cut, and `unfitted` the share of records beyond the last end.
    `noise` is on a count, over the records, and on the other answers in their own units.
    """

    center: float = 0.1
    spread: float = 0.2
    atom: float = 0.0
    atom_at: float = 0.0
    residual: float = 0.1
    share: float = 0.3
    gradient: float = 0.05
    curvature: float = 0.1
    norm: float = 0.1
    excess: float = 0.01
    unfitted: float = 0.0
    noise: float = 1e-3
    total: float = 1.0


SCRIPTS: Mapping[str, Script] = {
    "ordinary": Script(),
    "noisy": Script(noise=0.15),
    "drowned": Script(noise=2.0, gradient=1.0),
    "long": Script(gradient=30.0, share=0.9, curvature=1e-4),
    "none": Script(share=0.0, residual=1e-7, gradient=1e-4, center=-0.98, spread=0.004),
    "all": Script(share=1.0, residual=3.0, center=0.97, spread=0.9),
    "few": Script(atom=0.955, total=0.45, spread=0.5),
    "fewer": Script(atom=0.9, total=0.55, noise=0.03),
    "rare column": Script(atom=0.955, spread=0.5),
    "less rare column": Script(atom=0.942, spread=0.5),
    "nearly zero": Script(atom=0.9995, atom_at=0.00088),
    "hardly zero": Script(atom=0.9995, atom_at=0.00108),
    "one value": Script(atom=0.955, atom_at=0.25, noise=0.0051),
    "hardly one value": Script(atom=0.955, atom_at=0.25, noise=0.0042),
    "alone": Script(atom=0.95, atom_at=0.25, noise=0.045),
    "hardly alone": Script(atom=0.95, atom_at=0.25, noise=0.037),
    "counted": Script(atom=0.83, atom_at=0.25, noise=0.07),
    "hardly counted": Script(atom=0.8, atom_at=0.25, noise=0.07),
    "hardly any": Script(total=0.001),
    "doubted": Script(noise=0.11),
    "hardly doubted": Script(noise=0.09),
    "rare": Script(atom=0.97, total=0.3, spread=0.7, noise=0.012),
}


class ScriptedGate:
    """Answers by a script, and writes down what it was asked."""

    def __init__(self, plan: Plan, script: Script) -> None:
        self.count, self.script = plan.records * script.total, script
        self.rng = np.random.default_rng(12)
        self.asked: list[list[str]] = []

    def ask(self, query: Query) -> Answer:
        """Return the next answer."""
        self.asked.append([type(query).__name__, *_numbers(query)])
        script, count = self.script, self.count
        match query:
            case ColumnCounts():
                shares = np.array([self._below(end) for end in query.upper])
                shares -= np.array([self._below(end) for end in query.lower])
                return self._noised(shares * count, count * script.noise)
            case ResidualSize() | GradientNorm():
                share = self._norms(query) if isinstance(query, GradientNorm) else self._residuals(query)
                return self._noised(np.array([share]) * count, count * script.noise)
            case GradientSum():
                value = self.rng.normal(size=query.theta.shape) * query.clip * script.gradient
                return self._noised(value * count, query.clip * count * script.noise)
            case SecondMoments():
                unit = query.row_bound**2 * count
                return self._noised(self._matrix(query.row_bound) * count, unit * script.noise)
            case CurvatureAndScore():
                pair = np.stack([self._matrix(query.row_bound), self._matrix(query.row_bound)])
                return self._noised(pair * count, query.row_bound**2 * count * script.noise)
        width = len(getattr(query, "theta", ())) or len(getattr(query, "matrix", ()))
        size = 1 if type(query).__name__ == "CurvatureTrace" else width
        return self._noised(self.rng.normal(size=size) * script.gradient * 9, script.noise)

    def _below(self, end: float) -> float:
        script = self.script
        return script.atom * (end >= script.atom_at) + (1 - script.atom) * NormalDist(script.center, script.spread).cdf(
            end
        )

    def _residuals(self, query: ResidualSize) -> float:
        if query.measure is not Measure.WITHIN:
            return self.script.share
        law = NormalDist(0.0, self.script.residual)
        return law.cdf(query.start + query.cap) - law.cdf(query.start)

    def _norms(self, query: GradientNorm) -> float:
        if query.shortened:
            return self.script.unfitted
        if query.measure is Measure.SHARE:
            return self.script.excess
        law = NormalDist(0.0, self.script.norm)
        return law.cdf(query.start + query.cap) - law.cdf(query.start)

    def _matrix(self, bound: float) -> Array:
        width = self.width
        half = self.rng.normal(size=(width, width))
        unit = self.script.curvature * bound**2 / width**2
        return np.asarray(half @ half.T * unit)

    width = 0

    def _noised(self, value: Array, noise: float) -> Answer:
        drawn = self.rng.normal(size=value.shape)
        if value.ndim > 1 and value.shape[-1] == value.shape[-2]:
            drawn = (drawn + np.swapaxes(drawn, -1, -2)) / 2
        return Answer(value + noise * drawn, noise)


def _numbers(query: Query) -> list[str]:
    """Numbers of a query, short enough to be stored."""
    found = []
    for field in dataclasses.fields(query):
        value = getattr(query, field.name)
        if isinstance(value, np.ndarray):
            found.append(f"{field.name} {float(np.cos(np.arange(value.size)) @ value.ravel())!r}")
        elif isinstance(value, float | int) and not isinstance(value, bool):
            found.append(f"{field.name} {value!r}")
    return found


LABELS: Mapping[str, Any] = {"classes": (0, 1)}
NUMBERS: Mapping[str, Any] = {"y_bounds": (-1, 1)}
MODELS: Mapping[str, tuple[Callable[..., Any], Mapping[str, Any]]] = {
    "logistic": (tacit.LogisticRegression, LABELS),
    "linear": (tacit.LinearRegression, NUMBERS),
    "huber": (tacit.HuberRegressor, NUMBERS),
    "quantile": (tacit.QuantileRegressor, NUMBERS),
    "poisson": (tacit.PoissonRegressor, {"y_max": 30}),
    "mean": (tacit.GaussianMean, {}),
    "covariance": (tacit.Covariance, {}),
}
INTERVALS = ("logistic", "linear", "huber", "poisson")
CLEAR: Mapping[str, Any] = {"budget": Budget(epsilon=8.0, delta=1e-6)}
"""With few records a column labels are then fitted in public coordinates."""
SMALL = {"linear": 0.0005, "poisson": 0.3}
"""Shares that make residuals no larger than the norms of gradients say."""


def cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every run by its name."""
    for name, model, n, settings in _settings():
        for script in SCRIPTS:
            yield f"{name} {script}", partial(_run, model, n, 6, settings, SCRIPTS[script])
    for name, model, n, settings in family_plans.runs():
        for script in family_plans.SCRIPTS:
            yield f"{name} {script}", partial(_run, model, n, 6, settings, SCRIPTS[script])
    for name, model, n, settings, rare in (*_special(), *_lengths(), *_levels(), *_flat()):
        yield name, partial(_run, model, n, 6, settings, rare)
    for script in ("ordinary", "noisy", "few", "fewer"):
        for name, model, n, d, settings in _larger():
            yield f"{name} {script}", partial(_run, model, n, d, settings, SCRIPTS[script])


def _settings() -> Iterator[tuple[str, str, int, Mapping[str, Any]]]:
    for model in MODELS:
        for n in (300, 4000, 100_000):
            yield f"{model} n={n}", model, n, {}
        if model == "covariance":
            continue
        yield f"{model} max_weight", model, 4000, {"max_weight": 3.0}
        yield f"{model} private bounds", model, 4000, {"bounds": "private"}
    yield "logistic large", "logistic", 4_000_000, {}
    yield "logistic uneven", "logistic", 400_000, {}
    for n in (20, 100, 200):
        for model in ("logistic", "linear", "quantile", "poisson"):
            yield f"{model} few n={n}", model, n, {}
    for model in INTERVALS:
        for more in ({}, {"max_weight": 3.0}):
            yield f"{model} intervals {more}", model, 4000, {"inference": True, **more}
    for n in (300, 100_000):
        yield f"poisson newton n={n}", "poisson", n, {"solver": "newton"}
        yield f"linear newton n={n}", "linear", n, {"solver": "newton"}
    yield "logistic few records", "logistic", 200, CLEAR
    yield "adassp", "linear", 4000, {"solver": "adassp"}
    yield "double noise", "logistic", 4000, {"solver": "double-noise-newton"}


def _special() -> Iterator[tuple[str, str, int, Mapping[str, Any], Script]]:
    """Runs that straddle one rule each."""
    last = {"iterations": 900, "output": "last"}
    yield "logistic many steps", "logistic", 9000, last, Script()
    weighted = {"inference": True, "max_weight": 3.0}
    yield "logistic next to nobody", "logistic", 300, weighted, Script(total=0.001, noise=1e-4)
    newton = {"solver": "newton", "max_weight": 3.0}
    alone = Script(center=0.1, spread=0.02, atom=0.76, atom_at=0.25, noise=0.045)
    yield "linear newton of a counted column", "linear", 4000, newton, alone
    for model in INTERVALS:
        yield f"{model} intervals of very many", model, 10**9, {"inference": True}, Script()
    yield "poisson newton of very many", "poisson", 10**9, {"solver": "newton"}, Script()
    for model in ("linear", "poisson"):
        for unfitted in (5e-4, 7e-4, 8e-4, 9e-4, 9.5e-4, 1e-3, 1.05e-3, 1.1e-3, 1.2e-3, 1.4e-3, 1.7e-3, 2.2e-3):
            some = Script(unfitted=unfitted, share=SMALL[model], noise=5e-4)
            yield f"{model} unfitted {unfitted:g}", model, 100_000, {"inference": True}, some
        for excess in (0.03, 0.1, 0.13, 0.14, 0.15, 0.16, 0.18, 0.2, 0.4):
            for n in (4000, 10**9):
                heavy = Script(excess=excess, share=SMALL[model], noise=1e-4, norm=0.01)
                yield f"{model} heavy tail {excess:g} n={n}", model, n, {"inference": True}, heavy
    for norm in np.geomspace(1e-3, 6e-3, 22).tolist():
        small = Script(norm=norm, share=SMALL["linear"], noise=1e-4)
        yield f"linear norms of {norm:.3g}", "linear", 100_000, {"inference": True}, small
    for spread in np.geomspace(0.03, 0.09, 13).tolist():
        narrow = Script(spread=spread, noise=1e-4)
        yield f"logistic columns of {spread:.3g}", "logistic", 100_000, {"inference": True}, narrow
    for share in (0.0, 0.6):
        wide = {"solver": "newton", "y_bounds": (-50, 50)}
        yield f"linear newton scale {share:g}", "linear", 4000, wide, Script(share=share, spread=0.9)
    for gradient in (0.0105, 0.0118, 0.0132):
        name = f"poisson far step {gradient:g}"
        yield name, "poisson", 100_000, {"inference": True}, Script(gradient=gradient)


def _lengths() -> Iterator[tuple[str, str, int, Mapping[str, Any], Script]]:
    """Lengths of margins within a few sampling errors of what the labels tell."""
    for share in np.linspace(0.42, 0.58, 17).tolist():
        yield f"logistic length by {share:.2f}", "logistic", 200, CLEAR, Script(share=share, noise=1e-4)


def _levels() -> Iterator[tuple[str, str, int, Mapping[str, Any], Script]]:
    """Levels whose two means agree or do not, and levels of much noise."""
    for share in np.linspace(0.05, 0.95, 19).tolist():
        yield f"linear level of {share:.2g}", "linear", 400, {}, Script(share=share, noise=0.04)
    for noise in (0.2, 0.22, 0.25, 0.28):
        yield f"linear level of noise {noise:g}", "linear", 100, {}, Script(share=1.0, noise=noise)


def _flat() -> Iterator[tuple[str, str, int, Mapping[str, Any], Script]]:
    """Responses that hardly vary; without an intercept columns are not looked at."""
    for spread in np.geomspace(0.0025, 0.0045, 13).tolist():
        given = {"inference": True, "fit_intercept": False}
        yield f"linear responses of {spread:.3g}", "linear", 100_000, given, Script(0.0, spread, noise=1e-4)
    ranges = [(spread, 4e-3) for spread in np.geomspace(0.0035, 0.008, 14).tolist()]
    ranges += [(0.004, norm) for norm in np.geomspace(4e-3, 0.02, 18).tolist()]
    for spread, norm in ranges:
        wide = Script(0.0, spread, norm=norm, share=SMALL["linear"], noise=1e-4)
        yield f"linear responses of {spread:.3g} norms of {norm:.3g}", "linear", 100_000, given, wide


def _larger() -> Iterator[tuple[str, str, int, int, Mapping[str, Any]]]:
    for model in ("linear", "quantile", "poisson"):
        yield f"{model} wide", model, 1500, 60, {}
        yield f"{model} many", model, 40_000, 30, {}
        yield f"{model} large", model, 4_000_000, 6, {}
    yield "poisson intervals large", "poisson", 4_000_000, 6, {"inference": True}
    weights = {"max_weight": 3.0}
    yield "logistic large max_weight", "logistic", 4_000_000, 6, weights
    yield "softmax max_weight", "logistic", 400_000, 6, {"classes": (0, 1, 2), **weights}


def _run(model: str, n: int, d: int, settings: Mapping[str, Any], script: Script) -> Any:
    factory, own = {**family_plans.MODELS, **MODELS}[model]
    budget = Budget(epsilon=0.5, delta=1e-6)
    chosen = {"budget": budget, "bounds": (-1, 1), "inference": False, **own, **settings}
    if model in {"mean", "covariance"}:
        del chosen["inference"]
    plan = plan_of(factory(**chosen), n, d)
    gate = ScriptedGate(plan, script)
    gate.width = plan.design.width
    if plan.locating is not None:
        plan = dataclasses.replace(plan, design=locate(gate, plan))
    if plan.counting:
        plan = count_records(gate, plan)
    return plan, gate, plan.solver.run(gate, plan)


def described(run: Callable[[], Any]) -> dict[str, Any]:
    """Queries and coefficients of a run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan, gate, solution = run()
    found: dict[str, Any] = {
        "asked": [_digest(one) for one in gate.asked],
        "theta": [float(one) for one in np.ravel(solution.theta)],
        "scales": [float(column.scale) for column in plan.design.columns],
    }
    if solution.sandwich is not None:
        for field in dataclasses.fields(solution.sandwich):
            value = getattr(solution.sandwich, field.name)
            if isinstance(value, np.ndarray):
                value = float(np.cos(np.arange(value.size)) @ value.ravel())
            found[f"sandwich.{field.metadata.get('stored_as', field.name)}"] = value
    return found


def _digest(numbers: list[str]) -> list[Any]:
    return [numbers[0], *(float(one.rsplit(" ", 1)[1]) for one in numbers[1:])]
