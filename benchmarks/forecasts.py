"""Forecasts against fits: excess risk and interval widths, on data from the surrogate and on real tables.

`python -m benchmarks forecasts [--fits 50]`. A forecast is compared with the median over so many fits, each with fresh
noise and, where data are simulated, fresh records. The factor is the larger of forecast / median and its inverse.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tacit
from benchmarks.accuracy.catalogue import CATALOGUE
from benchmarks.record import RESULTS, Figure, write
from tacit.planning.assumptions import Assumptions
from tacit.planning.demo_table import CLINIC_FORMULA, CLINIC_SCHEMA
from tacit.planning.forecast import FitForecast
from tacit.planning.surrogate import Surrogate
from tacit.report.forecast import plot_study
from tacit.schema.schema import Schema

Floats = NDArray[np.float64]
TABLES = ("adult", "diabetes130", "covertype", "acs_gov")
EPSILON, DELTA = 1.0, 1e-6
FEW = 8
"""Columns of a table of which intervals are asked for: with all of them none are offered at ε = 1."""
LEAST_EIGENVALUE, LEAST_SPREAD = 0.25, 0.15
"""Of the correlations of these columns, and of each: a level of 2% of the records or more."""
ASKED = {
    "surrogate": ("data from the surrogate", 1.3),
    "moments": ("tables and simulated designs, given their second moments", 1.5),
    "public": ("four classification tables, public facts alone", 3.0),
    "width, simulated": ("interval widths, simulated designs", 1.25),
    "width, tables": ("interval widths, four tables", 2.0),
}
"""What is measured, and the factor asked for."""


@dataclass(frozen=True)
class Compared:
    """One forecast and the median of what was measured."""

    group: str
    name: str
    forecast: float
    measured: float

    @property
    def factor(self) -> float:
        """How far the forecast is off, at least 1."""
        ratio = self.forecast / self.measured
        return max(ratio, 1 / ratio)


@dataclass(frozen=True)
class Design:
    """A simulated study: an estimator with its settings, and its size."""

    name: str
    make: Callable[..., Any]
    n: int
    d: int
    settings: dict[str, Any]

    def model(self, **more: Any) -> Any:
        """The estimator at ε, or at what is given."""
        return self.make(**{"epsilon": EPSILON, "delta": DELTA, "bounds": (-1, 1), **self.settings, **more})


_LABELS = {"classes": [0, 1]}
DESIGNS = (
    Design("logistic, 5 columns", tacit.LogisticRegression, 10_000, 5, _LABELS),
    Design("logistic, 20 columns", tacit.LogisticRegression, 50_000, 20, _LABELS),
    Design("linear, 10 columns", tacit.LinearRegression, 20_000, 10, {"y_bounds": (-1, 1)}),
    Design("Poisson, 5 columns", tacit.PoissonRegressor, 20_000, 5, {"y_max": 20}),
)


def mean_loss(model: Any, X: Floats, y: Floats) -> float:
    """The loss that an estimator minimises, without what does not depend on its coefficients."""
    eta = np.asarray(X @ np.ravel(model.coef_) + model.intercept_, dtype=np.float64).ravel()
    if isinstance(model, tacit.LogisticRegression):
        return float(np.mean(np.logaddexp(0.0, eta) - y * eta))
    if isinstance(model, tacit.PoissonRegressor):
        return float(np.mean(np.exp(eta) - y * eta))
    return float(np.mean((y - eta) ** 2) / 2)


def half_widths(fit: Any) -> Floats:
    """Half-widths of all slopes; NaN where none is offered."""
    ends = np.asarray(fit.conf_int())
    slopes = (ends[:, 1] - ends[:, 0])[-fit.n_features_in_ :] / 2
    return np.where(np.isfinite(slopes), slopes, np.nan)


def simulated(design: Design, fits: int, *, moments: bool) -> Compared:
    """Excess risk over the best coefficients of a population that is the surrogate itself, on fresh samples of it.

    With `moments` the population is another one, with correlated columns, and the forecast knows second moments that a
    sample of it released with the same ε.
    """
    generator = np.random.default_rng(7)
    study = design.model().study(design.n, design.d)
    population = study.surrogate
    if moments:
        population = _correlated(study.plan.design, generator)
    X, y = population.rows[:, : design.d], population.response
    if moments:
        drawn = generator.integers(0, len(y), design.n)
        known = Assumptions(moments=released(X[drawn], y[drawn], design))
        study = tacit.planning.study.Study(study.plan_at, study.n, study.budget, known)
    best = mean_loss(design.model(epsilon=np.inf).fit(X, y), X, y)
    found = []
    for _ in range(fits):
        drawn = generator.integers(0, len(y), design.n)
        found.append(mean_loss(design.model().fit(X[drawn], y[drawn]), X, y) - best)
    group = "moments" if moments else "surrogate"
    return Compared(group, design.name, study.forecast.excess_risk, float(np.median(found)))


def released(X: Floats, y: Floats, design: Design) -> Floats:
    """Second moments of (1, columns, response), privately."""
    low, high = {"y_max": (0.0, 20.0), "classes": (0.0, 1.0)}.get(next(iter(design.settings)), (-1.0, 1.0))
    ends = np.array([*[-1.0] * design.d, low]), np.array([*[1.0] * design.d, high])
    found = tacit.Covariance(epsilon=EPSILON, delta=DELTA, bounds=ends).fit(np.column_stack([X, y]))
    mean = np.append(1.0, found.location_)
    moments = np.outer(mean, mean)
    moments[1:, 1:] += found.covariance_
    return moments


def _correlated(design: Any, generator: np.random.Generator) -> Surrogate:
    """A population unlike the surrogate: a common factor, unequal spreads, a few large slopes."""
    rows, d = 20_000, len(design.columns)
    common = generator.standard_normal((rows, 1))
    spread = np.geomspace(0.1, 0.5, d)
    X = np.clip(spread * (0.7 * common + 0.7 * generator.standard_normal((rows, d))), -1, 1)
    eta = X @ np.where(np.arange(d) % 3 == 0, 2.0, -0.3)
    name = type(design.response).__name__
    if name == "Binary":
        y = (generator.random(rows) < 1 / (1 + np.exp(-eta))).astype(float)
    elif name == "Count":
        y = np.minimum(generator.poisson(np.exp(eta / 2)), 20).astype(float)
    else:
        y = np.clip(0.2 * eta + 0.2 * generator.standard_normal(rows), -1, 1)
    return Surrogate(design, np.column_stack([X, np.ones(rows)]), y)


def of_table(name: str, fits: int) -> list[Compared]:
    """Excess loss on a table's own records, forecast from public facts alone and from its second moments."""
    table = CATALOGUE[name].load()
    X, y = np.asarray(table.features, float), table.y_train.astype(int)
    settings: dict[str, Any] = {"row_norm": table.feature_norm, "bounds": (-1, 1), "classes": [0, 1]}
    model = tacit.LogisticRegression(epsilon=EPSILON, delta=DELTA, **settings)
    best = mean_loss(tacit.LogisticRegression(epsilon=np.inf, **settings).fit(X, y), X, y)
    found = float(np.median([mean_loss(model.fit(X, y), X, y) - best for _ in range(fits)]))
    study = model.study(*X.shape)
    joint = np.column_stack([np.ones(len(y)), X, y])
    known = tacit.forecast(study.plan, Assumptions(moments=joint.T @ joint / len(y)))
    few = tacit.LogisticRegression(epsilon=EPSILON, delta=DELTA, bounds=(-1, 1), classes=[0, 1], inference=True)
    chosen = X[:, independent(X)]
    return [
        Compared("public", name, study.forecast.excess_loss, found),
        Compared("moments", name, known.excess_loss, found),
        *widths(f"{name}, {FEW} columns", "width, tables", few, few.study(len(y), FEW).forecast, (chosen, y), fits),
    ]


def independent(X: Floats) -> list[int]:
    """The first columns of a table, without rare levels and without what the ones before nearly determine."""
    found: list[int] = []
    for j in np.flatnonzero(X.std(axis=0) > LEAST_SPREAD).tolist():
        tried = np.corrcoef(X[:, [*found, j]].T).reshape(len(found) + 1, -1)
        if np.linalg.eigvalsh(tried)[0] > LEAST_EIGENVALUE:
            found.append(j)
        if len(found) == FEW:
            break
    return found


def widths(
    name: str, group: str, model: Any, forecast: FitForecast, rows: tuple[Floats, Any], fits: int
) -> list[Compared]:
    """The median half-width over all slopes with an interval, forecast and measured."""
    measured = np.array([half_widths(model.fit(*rows)) for _ in range(fits)])
    own = [term.half_width for term in forecast.terms if not term.name.endswith("Intercept")]
    predicted = np.array([np.nan if width is None else width for width in own])
    usual = np.array([np.nanmedian(each) if np.isfinite(each).mean() > 0.5 else np.nan for each in measured.T])
    there = np.isfinite(predicted) & np.isfinite(usual)
    if not there.any():
        return []
    return [Compared(group, name, float(np.median(predicted[there])), float(np.median(usual[there])))]


def simulated_widths(design: Design, fits: int) -> list[Compared]:
    """Half-widths of a fit with intervals to records of the surrogate."""
    model = design.model(inference=True)
    study = model.study(design.n, design.d)
    drawn = np.random.default_rng(8).integers(0, len(study.surrogate.response), design.n)
    rows = study.surrogate.rows[drawn, : design.d], study.surrogate.response[drawn]
    return widths(design.name, "width, simulated", model, study.forecast, rows, fits)


def speeds() -> dict[str, float]:
    """Seconds of processor time of a plan, and of a full picture, for the clinic's formula."""
    schema = Schema.parse(CLINIC_SCHEMA)
    start = time.process_time()
    study = tacit.plan(CLINIC_FORMULA, schema, n=20_000, epsilon=1.0, inference=True)
    _ = study.plan
    planned = time.process_time() - start
    start = time.process_time()
    plot_study(study)
    return {"plan": planned, "picture": time.process_time() - start}


def page(rows: Sequence[Compared], seconds: dict[str, float], fits: int) -> str:
    """The table of all comparisons."""
    lines = [
        "# Forecasts against fits",
        "",
        f"Written by `python -m benchmarks forecasts`. ε = {EPSILON:g}, δ = {DELTA:g}; medians over {fits} fits with",
        "fresh noise. Excess risk is over the best coefficients of the population that records are drawn from; for a",
        "table it is the excess loss on its own records over the fit without privacy. Second moments are",
        "released with the same ε on simulated designs, and exact for the tables.",
        "",
        "| what | case | forecast | measured | factor | asked |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        words, asked = ASKED[row.group]
        lines.append(
            f"| {words} | {row.name} | {row.forecast:.3g} | {row.measured:.3g} | {row.factor:.2f} | {asked:g} |"
        )
    lines += [
        "",
        f"A plan took {seconds['plan']:.3f} s of processor time, the full picture {seconds['picture']:.1f} s.",
        "",
    ]
    return "\n".join(lines)


def run(arguments: Sequence[str] = ()) -> None:
    """Compare everything, and write the page and the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks forecasts", description=__doc__)
    parser.add_argument("--fits", type=int, default=50)
    fits = parser.parse_args(list(arguments)).fits
    found: list[Compared] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = speeds()
        for design in DESIGNS:
            found += [simulated(design, fits, moments=False), simulated(design, fits, moments=True)]
            found += simulated_widths(design, fits)
            print(f"  {design.name}", *(f"{it.group} {it.factor:.2f}" for it in found[-3:]))
        for name in TABLES:
            found += of_table(name, fits)
            print(f"  {name}", *(f"{it.group} {it.factor:.2f}" for it in found[-3:]))
    figures = []
    for group, (words, asked) in ASKED.items():
        worst = max((row.factor for row in found if row.group == group), default=np.inf)
        figures.append(Figure(f"{words}: worst factor", worst, "", f"at most {asked:g}", worst <= asked))
    figures += [
        Figure("a plan", seconds["plan"], "s", "below 0.2", seconds["plan"] < 0.2),
        Figure("the full picture", seconds["picture"], "s", "below 10", seconds["picture"] < 10),
    ]
    found.sort(key=lambda row: list(ASKED).index(row.group))
    (RESULTS / "forecasts.md").write_text(page(found, seconds, fits), encoding="utf-8")
    write("forecasts", figures, {"fits": fits, "rows": [asdict(row) | {"factor": row.factor} for row in found]})
