"""Plans over a grid that straddles every threshold of the planner, field by field.

A threshold of the planner is a value of the signal n·μ/d, of n·μ, of n·d or of d. The grid has a
point just below and just above each of them, for every loss, and fewer points for the other
settings: intervals, relation, solver, weights, private bounds.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import tacit
from tacit.accounting import gaussian
from tacit.constraints.region import L1Ball
from tacit.design.design import Design
from tacit.errors import TacitError
from tacit.estimators.settings import settings_of
from tacit.losses.loss import Code
from tacit.privacy.budget import Budget
from tacit.solvers import staged_gradient as staged
from tacit.solvers.choice import plan_warnings
from tacit.solvers.evaluation import OF_LABELS, OF_NUMBERS, plan_evaluation
from tacit.solvers.moments import predicted_error
from tacit.solvers.solver import PublicFacts
from tools.golden import block_plans, family_plans, network_plans

SIGNALS = (0.5, 0.9, 1, 1.1, 4, 5, 15, 20, 25, 30, 60, 100, 200, 250, 1000)
"""Values of n·μ/d at which some rule changes."""
N_MU = (25.0, 40.0, 80.0)
"""Values of n·μ at which some rule changes."""
AROUND = (0.97, 1.03)
SHAPES = ((600, 3), (5000, 10), (40_000, 50))
WIDE = ((30_000, 55), (30_000, 62), (30_000, 66), (30_000, 75), (2_000, 300), (9_000, 500))
WIDE_LABELS = ((2_000, 230), (2_000, 290))
LARGE_AND_WIDE = ((200_000, 60),)
"""n·d above 10^7, where fits of labels may end with Newton steps."""
LARGE = ((850_000, 10), (990_000, 10), (1_010_000, 10), (1_150_000, 10), (5_000_000, 30), (10**9, 5))
SMALLEST_MU, LARGEST_MU = 0.002, 30.0

Settings = Mapping[str, Any]

MODELS: Mapping[str, tuple[Callable[..., Any], Settings]] = {
    "logistic": (tacit.LogisticRegression, {"classes": (0, 1)}),
    "softmax": (tacit.LogisticRegression, {"classes": (0, 1, 2)}),
    "linear": (tacit.LinearRegression, {"y_bounds": (-1, 1)}),
    "huber": (tacit.HuberRegressor, {"y_bounds": (-1, 1)}),
    "quantile": (tacit.QuantileRegressor, {"y_bounds": (-1, 1)}),
    "poisson": (tacit.PoissonRegressor, {"y_max": 20}),
    "svm": (tacit.LinearSVC, {"classes": (0, 1)}),
    "mean": (tacit.GaussianMean, {}),
}
INTERVALS = ("logistic", "linear", "huber", "poisson")
SOLVERS = (
    "gradient",
    "whitened-gradient",
    "moments",
    "newton",
    "majorised-newton",
    "objective-perturbation",
    "objective-perturbation-kst",
    "output-perturbation",
    "adassp",
    "double-noise-newton",
    "stochastic",
)
PERTURBED = ("objective-perturbation", "objective-perturbation-kst", "stochastic")
"""Solvers without a mu, whose budget is given in epsilon."""
COVARIANCE: Mapping[str, tuple[Callable[..., Any], Settings]] = {"covariance": (tacit.Covariance, {})}


def _slope(margin: float, label: float) -> float:
    return margin - label if abs(margin - label) < 1.0 else math.copysign(1.0, margin - label)


def _value(margin: float, label: float) -> float:
    residual = abs(margin - label)
    return residual * residual / 2 if residual < 1.0 else residual - 0.5


OWN: Mapping[str, tuple[Callable[..., Any], Settings]] = {
    "own": (partial(tacit.MarginRegressor, loss=tacit.own_loss(_slope, _value, lipschitz=1.0)), {"y_bounds": (-1, 1)})
}


@dataclasses.dataclass(frozen=True)
class Evaluated:
    """A plan of scores in the place of a fit: all that a response has, or by default one."""

    model: Any
    scores: tuple[str, ...] | None
    max_weight: None = None

    def plan(self, n: int, d: int) -> Any:
        """Plan the scores of coefficients 0."""
        fitted = self.model.plan(n=n, d=d)
        settings = settings_of(self.model.get_params(), unit="row")
        theta = (0.0,) * fitted.design.width
        return plan_evaluation(settings.public_facts(fitted.design, n, fitted.loss), theta, self.scores)


def _evaluated(estimator: Callable[..., Any], *, scores: tuple[str, ...] | None = None, **settings: Any) -> Evaluated:
    return Evaluated(estimator(**settings), scores)


EVALUATED: Mapping[str, tuple[Callable[..., Any], Settings]] = {
    "evaluated labels": (partial(_evaluated, tacit.LogisticRegression), {"classes": (0, 1)}),
    "evaluated numbers": (partial(_evaluated, tacit.LinearRegression), {"y_bounds": (-1, 1)}),
}


def cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every plan by its name; plans are made when they are called for."""
    tables = MODELS, COVARIANCE, OWN, EVALUATED, block_plans.MODELS, family_plans.MODELS, network_plans.MODELS
    models = {name: made for table in tables for name, made in table.items()}
    for name, model, n, d, settings in (*_grid(), *block_plans.cases(), *family_plans.cases(), *network_plans.cases()):
        factory, own = models[model]
        chosen = {"bounds": (-1, 1), **own, **settings}
        yield name, partial(_plan, factory, chosen, n, d)


def _plan(factory: Callable[..., Any], settings: Settings, n: int, d: int) -> Any:
    return plan_of(factory(**settings), n, d)


def plan_of(model: Any, n: int, d: int) -> Any:
    """Return the plan of a fit; with `max_weight` of one that is given weights."""
    if model.max_weight is None:
        return model.plan(n=n, d=d)
    response = model._response("y", None)  # noqa: SLF001 - a plan of weights needs an array
    names, columns = [f"x{j}" for j in range(d)], {"sample_weight": "w"}
    design = model._design(names, response, columns=columns, sparse=False)  # noqa: SLF001
    return model._settings("row").plan(design, n, model._loss(response))  # noqa: SLF001


def described(plan: Callable[[], Any]) -> dict[str, Any]:
    """Every field of a plan by its path; a refusal is a field too."""
    try:
        made = plan()
    except TacitError as error:
        return {"refused": f"{type(error).__name__}: {error}"}
    more = {"solver.name": made.solver.name, "warnings": list(plan_warnings(made))}
    fields = {**dict(_fields("", made)), **more, "predicted error": _predicted_error(made)}
    if made.loss.code is Code.OWN:
        # The address of a function is another one in every process.
        for name in ("shape", "slope", "value"):
            del fields[f"loss.{name}"]
    # A pickled program has other bytes with other versions of what it is made of.
    fields.pop("solver.function.program", None)
    if not made.statistics:
        del fields["statistics"]
    return fields


def _grid() -> Iterator[tuple[str, str, int, int, Settings]]:
    for model in MODELS:
        yield from _named(model, _points(SHAPES, SIGNALS), {})
        yield from _named(model, _points(LARGE_AND_WIDE, SIGNALS), {})
        yield from _named(model, _few(), {"relation": "zero-out"})
        yield from _named(model, _few(), {"relation": "add-remove", "n_at_least": 2000})
        yield from _named(model, _few(), {"bounds": "private"})
        yield from _named(model, _noisy_counts(), {"bounds": "private"})
        yield from _named(model, _subsampled(), {})
        yield from _named(model, _large(), {})
    yield from _special()
    yield from _pure_and_by_hand()
    yield from _batches()
    yield from _selections()
    yield from _scores()
    for model in INTERVALS:
        yield from _named(model, _subsampled(), {"inference": True})
        yield from _named(model, _points(SHAPES, SIGNALS), {"inference": True})
        yield from _named(model, _large(), {"inference": True})
        yield from _named(model, _few(), {"inference": True, "relation": "zero-out"})
        private_n = {"inference": True, "relation": "add-remove", "n_at_least": 2000}
        yield from _named(model, _few(), private_n)
    for model in ("logistic", "linear", "poisson"):
        for solver in SOLVERS:
            yield from _named(model, _few(), {"solver": solver})
        for solver in ("moments", "double-noise-newton"):
            yield from _named(model, _few(), {"solver": solver, "inference": True})
        for limit in (1, 3, 10, 40, 200):
            yield from _named(model, _few(), {"max_passes": limit})
        yield from _named(model, _few(), {"l2": 0.1})
        yield from _named(model, _few(), {"radius": 2.0})
        yield from _named(model, _few(), {"max_weight": 3.0})
        yield from _named(model, _few(), {"max_rows_per_unit": 4})


def _special() -> Iterator[tuple[str, str, int, int, Settings]]:
    """Plans that straddle rules which the rest of the grid does not reach."""
    yield from _named("logistic", _points(WIDE_LABELS, (15, 17, 19, 21, 23, 25)), {})
    # Two labels below a signal of 1, with few records a column, and with n·μ and n·μ/d around the ends of rules.
    few = [(400, 200, mu) for mu in (0.05, 0.06, 0.065, 0.1)] + [(n, 60, 0.2) for n in (110, 120, 130, 140)]
    few += [(n, 10, 0.9) for n in (140, 160, 175, 190, 400, 420, 450, 480)] + [(n, 10, 2.0) for n in (270, 330)]
    few += [(n, 30, 1.5) for n in (370, 390, 410, 430)] + [(n, 60, 0.6) for n in (740, 800, 840, 900)]
    yield from _named("logistic", iter(few), {})
    for model in ("logistic", "softmax", "linear", "poisson"):
        # Around the width from which columns are standardised, and the signal up to which their integers are short.
        yield from _named(model, _points(((9_000, 186), (9_000, 197)), (8, 30)), {})
        yield from _named(model, _points(((30_000, 300),), (200, 300, 400)), {})
        yield from _named(model, _points(((4_000, 990), (4_000, 1_050)), (4,)), {})
        yield from _named(model, _points(((9_000, 200),), (30,)), {"max_passes": 4})
    yield from _named("logistic", _points(((9_000, 200),), (30, 60)), {"inference": True})
    yield from _named("logistic", _points(((9_000, 200),), (30,)), {"max_rows_per_unit": 4})
    yield from _named("logistic", _large(), {"solver": "gradient"})
    newton = [(4000, 3, 0.1), (10**12, 3, 1.0), *((n, 3, 1.0) for n in (360, 3300, 3900, 4100, 4700))]
    yield from _named("logistic", iter(newton), {"solver": "newton"})
    yield from _named("poisson", iter([(4_000_000, 6, 1.0)]), {"solver": "majorised-newton"})
    for solver in ("newton", "majorised-newton"):
        yield from _named("logistic", iter([(10**12, 3, 1.0)]), {"solver": solver, "max_passes": 500})
        for length in (0.9, 1.1):
            yield from _named("logistic", _few(), {"solver": solver, "step_size": length})
    for norm in (1.47, 1.69):
        yield from _named("linear", iter([(40_000, 6, 1.0)]), {"inference": True, "row_norm": norm})
    narrow = {"solver": "newton", "relation": "zero-out", "fit_intercept": False}
    for threshold in (1.345, 2.0, 4.0):
        yield from _named("huber", iter([(4000, 1, 0.1)]), {**narrow, "threshold": threshold})
    for epsilon in (0.01, 450.0, 550.0):
        spent = Budget(epsilon=epsilon, delta=0.01 if epsilon < 1 else 1e-6)
        perturbed = {"solver": "objective-perturbation", "inference": False}
        yield (f"logistic perturbed epsilon={epsilon:g}", "logistic", 4000, 3, {"budget": spent, **perturbed})
    for quantile in (0.05, 0.1, 0.12, 0.5, 0.9):
        yield from _named("quantile", _few(), {"quantile": quantile})


def _pure_and_by_hand() -> Iterator[tuple[str, str, int, int, Settings]]:
    """Second moments, own losses, pure budgets, and noise that is set by hand."""
    for name in ("covariance", "own"):
        yield from _named(name, _few(), {})
    yield from _named("own", iter([(400, 5, 0.1)]), {})
    yield from _named("covariance", iter([(1_000_000, d, 1.0) for d in (200, 300, 400, 600)]), {})
    for model in ("logistic", "linear"):
        for solver in ("objective-perturbation", "output-perturbation"):
            pure = {"budget": Budget(epsilon=1.0, delta=0.0), "solver": solver, "inference": False}
            yield f"{model} pure {solver}", model, 4000, 3, pure
            yield f"{model} pure {solver} ridge", model, 4000, 3, {**pure, "l2": 0.1}
    for l2 in (1e-9, 1.2e-9):
        small = {"solver": "output-perturbation", "l2": l2, "bounds": (-0.5, 0.5)}
        yield from _named("logistic", iter([(4000, 3, 1.0)]), small)
    yield "mean pure", "mean", 4000, 3, {"budget": Budget(epsilon=1.0, delta=0.0)}
    for excess in (0.007, 0.009, 0.011, 0.013):
        by_hand = {"iterations": 100, "clip": 0.8, "noise_multiplier": 25.0, "solver": "gradient"}
        spent = Budget(mu=0.4 * (1 + excess), delta=1e-6)
        yield f"logistic by hand {excess:g}", "logistic", 4000, 3, {"budget": spent, **by_hand}


def _scores() -> Iterator[tuple[str, str, int, int, Settings]]:
    """Every score of labels and of numbers, and the one that a search goes by."""
    for model, scores in (("evaluated labels", OF_LABELS), ("evaluated numbers", OF_NUMBERS)):
        for relation in ("replace-one", "add-remove"):
            private = {"n_at_least": 2000} if relation == "add-remove" else {}
            for asked in (None, scores):
                settings = {"scores": asked, "relation": relation, **private}
                yield from _named(model, iter([(2000, 5, 0.3)]), settings)


def _batches() -> Iterator[tuple[str, str, int, int, Settings]]:
    """Passes that leave several moment queries, small batches, more steps than are taken, and a cap that excludes."""
    for passes in (7, 8):
        given: Settings = {"budget": Budget(epsilon=1.0, delta=1e-6), "max_passes": passes}
        yield f"logistic of {passes} passes", "logistic", 20_000, 5, given
    for more in ({"max_passes": 6}, {"max_passes": 7}, {"batch_size": 20}, {"batch_size": 1}):
        yield from _named("logistic", iter([(20_000, 5, 1.0)]), {"solver": "stochastic", **more})


def _selections() -> Iterator[tuple[str, str, int, int, Settings]]:
    """Grids, posteriors, vertices and differences, at their ends and between."""
    for epsilon, delta in ((1.0, 1e-6), (20.0, 1e-6), (1.0, 0.0)):
        budget = Budget(epsilon=epsilon, delta=delta)
        for model in ("logistic", "linear", "svm"):
            for n, d in (
                (200, 1),
                (4000, 1),
                (4000, 2),
                (50_000, 2),
                (10**6, 1),
                (10**6, 2),
                (4000, 3),
                (4000, 9),
                (99, 10),
            ):
                given = {"budget": budget, "solver": "exponential", "inference": False}
                yield f"{model} n={n} d={d} {epsilon:g} {delta:g} exponential", model, n, d, given
            for n, d in ((300, 5), (2000, 600), (50_000, 30), (10**6, 100)):
                given = {"budget": budget, "solver": "frank-wolfe", "inference": False, "constraint": L1Ball(2.0)}
                yield f"{model} n={n} d={d} {epsilon:g} {delta:g} frank-wolfe", model, n, d, given
                for name, own in (("no intercept", {"fit_intercept": False}), ("few passes", {"max_passes": 9})):
                    held = {**given, **own}
                    yield f"{model} n={n} d={d} {epsilon:g} {delta:g} frank-wolfe {name}", model, n, d, held
    for model in ("logistic", "linear"):
        yield from _named(model, _few(), {"solver": "zeroth-order"})


def _points(shapes: tuple[tuple[int, int], ...], signals: tuple[float, ...]) -> Iterator[tuple[int, int, float]]:
    for n, d in shapes:
        values = [signal * d / n for signal in signals] + [limit / n for limit in N_MU]
        for value in values:
            for side in AROUND:
                if SMALLEST_MU <= value * side <= LARGEST_MU:
                    yield n, d, value * side


def _few() -> Iterator[tuple[int, int, float]]:
    for n, d in ((2000, 5), (40_000, 50)):
        for signal in (2.0, 40.0, 400.0):
            yield n, d, signal * d / n


def _noisy_counts() -> Iterator[tuple[int, int, float]]:
    """Budgets at which the noise of a count of private bounds passes 0.4% and 1/16 of n."""
    for n, d in ((2000, 5), (40_000, 50)):
        for noise in (0.0033, 0.0045, 0.05, 0.06, 0.065, 0.07, 0.08):
            yield n, d, math.sqrt(20 * 2 * d / 0.1) / (n * noise)


def _subsampled() -> Iterator[tuple[int, int, float]]:
    """Budgets around those at which early queries read a quarter of a large table."""
    for n, d in ((1_000_000, 20), (82_000, 20 + 180), (4_200_000, 1_000)):
        for power in range(-12, 5):
            yield n, d, 1.3**power


def _large() -> Iterator[tuple[int, int, float]]:
    for n, d in (*WIDE, *LARGE):
        for mu in (0.05, 1.0):
            yield n, d, mu


def _named(
    model: str, points: Iterator[tuple[int, int, float]], settings: Settings
) -> Iterator[tuple[str, str, int, int, Settings]]:
    said = " ".join(f"{name}={value}" for name, value in settings.items())
    for n, d, mu in points:
        # As a user would write it: four digits, so that the name says all.
        rounded = float(f"{mu:.4g}")
        budget = Budget(mu=rounded, delta=1e-6)
        if settings.get("solver") in PERTURBED:
            # It has no mu, so a budget of the same worth is given in epsilon.
            budget = Budget(epsilon=float(f"{gaussian.epsilon(rounded, 1e-6):.4g}"), delta=1e-6)
        name = f"{model} n={n} d={d} mu={rounded:g} {said}".strip()
        yield name, model, n, d, {"budget": budget, **settings}


def _predicted_error(plan: Any) -> str | None:
    if not isinstance(plan.solver, staged.Staged) or plan.loss.code is not Code.SQUARED:
        return None
    facts = PublicFacts(plan.design, plan.records, plan.relation, plan.unit, plan.budget, plan.penalty, plan.loss)
    return repr(predicted_error(facts, plan))


def _fields(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Design):
        yield f"{path}.width", value.width
        yield f"{path}.feature_norm", repr(float(value.feature_norm))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield path or "plan", type(value).__name__
        for field in dataclasses.fields(value):
            inner = f"{path}.{field.name}" if path else field.name
            yield from _fields(inner, getattr(value, field.name))
    elif isinstance(value, tuple | list) and any(map(_is_nested, value)):
        for index, item in enumerate(value):
            yield from _fields(f"{path}[{index}]", item)
    else:
        yield path, _written(value)


def _is_nested(value: Any) -> bool:
    return dataclasses.is_dataclass(value)


def _written(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, np.ndarray):
        return [repr(item) for item in value.ravel().tolist()]
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple | list):
        return [_written(item) for item in value]
    if isinstance(value, float):
        return repr(value)
    return value if isinstance(value, int | str | bool | None) else str(value)
