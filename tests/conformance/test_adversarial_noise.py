"""Attacks by noise: no draw makes a solver fail after the charge, or ask more or less than planned.

The sampler is replaced by one that draws zeros, or nine deviations down, or up and down at random.
Tables with the same public facts must then have the same plan, warnings and number of queries.
"""

from __future__ import annotations

import importlib
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tacit
from tacit.contract.query import Measure, Weights
from tacit.engine.gate import PlannedGate
from tacit.solvers import solver
from tacit.solvers.rules import TABLES

ROUTES: dict[str, tuple[Any, dict[str, Any]]] = {
    "perturbed": (tacit.LogisticRegression, {"solver": "objective-perturbation"}),
    "perturbed classes": (tacit.LogisticRegression, {"solver": "objective-perturbation", "classes": (0, 1, 2)}),
    "perturbed hinge": (tacit.LinearSVC, {"solver": "objective-perturbation"}),
    "perturbed response": (tacit.LinearRegression, {"solver": "objective-perturbation", "l2": 1e-4}),
    "perturbed as in 2012": (tacit.HuberRegressor, {"solver": "objective-perturbation-kst", "scale": 0.1}),
    "perturbed, pure": (tacit.LogisticRegression, {"solver": "objective-perturbation", "delta": 0}),
    "output": (tacit.LogisticRegression, {"solver": "output-perturbation"}),
    "double noise": (tacit.LogisticRegression, {"solver": "double-noise-newton"}),
    "newton": (tacit.LogisticRegression, {"solver": "newton"}),
    "newton of counts": (tacit.PoissonRegressor, {"solver": "newton"}),
    "newton with a scale": (tacit.HuberRegressor, {"solver": "newton"}),
    "majorised": (tacit.LinearRegression, {"solver": "majorised-newton"}),
    "descent": (tacit.HuberRegressor, {"solver": "gradient"}),
    "recalibrated": (tacit.LinearRegression, {"epsilon": 200.0}),
    "finished": (tacit.LogisticRegression, {}),
}
FACTS: dict[Any, dict[str, Any]] = {
    tacit.LogisticRegression: {"classes": (0, 1)},
    tacit.LinearSVC: {"classes": (0, 1)},
    tacit.LinearRegression: {"y_bounds": (0, 1)},
    tacit.HuberRegressor: {"y_bounds": (0, 1)},
    tacit.PoissonRegressor: {"y_max": 4},
}
MECHANISMS = ("gaussian_sum", "newton_direction", "objective_perturbation", "output_perturbation")
DRAWS = ("zeros", "down", "signs")
RNG = np.random.default_rng(11)


def tables(n: int, width: int) -> dict[str, tuple[Any, Any]]:
    signs = np.sign(RNG.normal(size=(n, width)))
    return {
        "zeros": (np.zeros((n, width)), np.zeros(n, dtype=int)),
        "one row": (np.full((n, width), 0.7), np.arange(n) % 2),
        "separable": (signs, (signs[:, 0] > 0).astype(int)),
    }


@pytest.fixture(params=DRAWS)
def asked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The queries of a run whose noise is as bad as it gets."""
    rng = np.random.default_rng(3)

    def draw(size: int, bits: int, _entropy: object) -> NDArray[np.int64]:
        signs = {"zeros": 0, "down": -1}.get(request.param)
        chosen = rng.choice([-1, 1], size) if signs is None else np.full(size, signs)
        return (9 * chosen).astype(np.int64) << bits

    for name in MECHANISMS:
        module = importlib.import_module(f"tacit.mechanisms.{name}")
        monkeypatch.setattr(module, "rounded_gaussian", draw)
    found: list[Any] = []
    ask = PlannedGate.ask

    def asking(gate: Any, query: Any) -> Any:
        found.append(query)
        return ask(gate, query)

    monkeypatch.setattr(PlannedGate, "ask", asking)
    return found


@pytest.mark.parametrize("route", ROUTES)
def test_t40_no_noise_is_too_much(route: str, asked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    always = replace(TABLES, large=500, records_a_column=1, noise_norm=1e9)
    monkeypatch.setattr(solver, "TABLES", always)
    make, options = ROUTES[route]
    for epsilon, n, width in ((0.01, 2, 3), (50.0, 400, 4)):
        seen = set()
        for X, y in tables(n, width).values():
            asked.clear()
            facts = {"epsilon": epsilon, "delta": 1e-6, "bounds": (-1, 1), **FACTS[make]}
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model = make(**{**facts, **options}).fit(X, y)
            plan = model.release_.plan
            assert np.isfinite(model.coef_).all()
            assert len(asked) == plan.queries
            assert plan.guarantee().epsilon <= plan.budget.epsilon
            told = tuple(str(warning.message) for warning in caught)
            seen.add((repr(plan), told))
        assert len(seen) == 1
    if route == "recalibrated":
        assert any(getattr(query, "measure", None) is Measure.TILT for query in asked)
        assert any(getattr(query, "every", 1) > 1 for query in asked)
    if route == "finished":
        assert any(getattr(query, "weights", None) is Weights.CURVATURE for query in asked)
