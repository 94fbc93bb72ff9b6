"""What is said of intervals, over releases whose numbers straddle every threshold.

No records are read: plans are made, and the released matrices are written down.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

import tacit
from tacit.contract.purpose import Purpose
from tacit.contract.release import Release, Sandwich
from tacit.inference.reliability import StepJudgement, judge, not_offered
from tacit.privacy.budget import Budget

MODELS: Mapping[str, tuple[Callable[..., Any], Mapping[str, Any]]] = {
    "logistic": (tacit.LogisticRegression, {"classes": (0, 1)}),
    "linear": (tacit.LinearRegression, {"y_bounds": (-1, 1)}),
    "poisson": (tacit.PoissonRegressor, {"y_max": 9}),
}
WIDTH = 4


def cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every statement by its name."""
    for model in MODELS:
        yield from _stepped(model)


def _stepped(model: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Statements after one step: each number over the thresholds that it decides by."""
    plain = {
        "visible": 0.02,
        "step_noise": 0.004,
        "pilot_error": 1e-3,
        "hidden_size": 0.01,
        "asymmetry": 0.0 if model == "linear" else 1.0,
    }
    numbers: list[tuple[float, dict[str, Any]]] = [
        *((signal, {}) for signal in (90.0, 110.0)),
        *((400.0, {"bias": value}) for value in np.geomspace(1e-3, 0.1, 60).tolist()),
        *((400.0, {"curvature_noise": value}) for value in np.geomspace(0.01, 10, 90).tolist()),
        *((400.0, {"pilot_error": value}) for value in np.geomspace(1e-3, 4, 100).tolist()),
        *((400.0, {"asymmetry": 1e-6, "pilot_error": value**2}) for value in np.geomspace(0.5, 2.5, 25).tolist()),
        *((400.0, {"visible": 0.15, "hidden_size": value}) for value in np.geomspace(1e-4, 0.1, 90).tolist()),
        *((400.0, {"curvature_noise": value, "first": 0.05}) for value in (0.004, 0.005, 0.006, 0.007, 0.008)),
        *((400.0, {"curvature_noise": 0.02, "first": value}) for value in (0.05, 0.06, 0.065, 0.07, 0.075, 0.09)),
        *((400.0, {flag: True}) for flag in ("capped", "flat")),
        *((400.0, {"level": value}) for value in np.geomspace(0.005, 0.05, 22).tolist()),
        *((signal, {"lifted": True}) for signal in (90.0, 110.0)),
        *((signal, {"flat": True, "bias": 1e-3}) for signal in (330.0, 390.0, 410.0, 470.0)),
        (330.0, {"flat": True, "bias": 0.05}),
        (400.0, {"flat": True, "score_noise": 3.0}),
        (400.0, {"visible": 9.0}),
    ]
    for signal, chosen in numbers:
        said = " ".join(f"{name}={value:.4g}" for name, value in chosen.items())
        name = f"step {model} signal={signal:g} d={WIDTH} {said}".strip()
        least = chosen.pop("first", 0.1)
        step = {"step": np.array([0.01, 0.0, -0.01, 0.0]), "curvature": np.diag([least, 0.2, 0.2, 0.2])}
        yield name, partial(_release, model, signal, {**plain, **chosen, **step})


def _release(model: str, signal: float, numbers: Mapping[str, Any]) -> Release:
    factory, own = MODELS[model]
    budget = Budget(mu=1.0, delta=1e-6)
    estimator = factory(budget=budget, bounds=(-1, 1), inference=True, **own)
    plan = estimator.plan(round(signal * WIDTH), WIDTH - 1)
    matrix = 0.2 * np.eye(WIDTH)
    sandwich = Sandwich(
        curvature=matrix,
        score=matrix,
        to_user=np.eye(WIDTH),
        lifted=False,
        capped=False,
        step_noise=0.01,
        curvature_noise=0.001,
        score_noise=0.02,
        level=0.5,
        level_noise=sum(it.noise_share(plan.count) for it in plan.steps if it.purpose is Purpose.LABEL_SHARE),
    )
    sandwich = dataclasses.replace(sandwich, **numbers)
    return Release(plan, np.linspace(-1.0, 1.0, WIDTH), sandwich=sandwich)


def described(make: Callable[[], Release]) -> dict[str, Any]:
    """The statement of a release, and whether intervals are offered."""
    release = make()
    assert release.sandwich is not None
    judgement = judge(release, release.sandwich)
    assert isinstance(judgement, StepJudgement)
    names = release.plan.design.terms
    everyone, flat = np.eye(len(names)), release.sandwich.flat
    found = judgement.covariance.scatter(everyone)
    # The law of a joint test takes a while: one case of each model has one.
    tail = judgement.covariance.simulated_tail(everyone[:2], 5.0) if flat else None
    joint = np.ravel(judgement.covariance.joint(everyone[:2])).tolist() if flat else None
    return {
        "words": list(judgement.of(names, everyone)),
        "notes": judgement.notes(names),
        "not offered": not_offered(release.plan),
        "variances": np.ravel(found.sampling + found.privacy).tolist(),
        "joint": [tail, joint],
    }
