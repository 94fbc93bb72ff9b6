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
from tacit.contract.release import Release, Sandwich
from tacit.inference.reliability import judge, not_offered
from tacit.privacy.budget import Budget

MODELS: Mapping[str, tuple[Callable[..., Any], Mapping[str, Any]]] = {
    "logistic": (tacit.LogisticRegression, {"classes": (0, 1)}),
    "linear": (tacit.LinearRegression, {"y_bounds": (-1, 1)}),
    "poisson": (tacit.PoissonRegressor, {"y_max": 9}),
}
NOISES = (0.3, 0.45, 0.55, 0.9, 1.1, 2.0)
"""Relative noise of the curvature."""
LEVELS = (0.01, 0.09, 0.11, 0.2, 0.24, 0.26, 0.5, 0.9, 1.1, 3.0)
"""Share of the rarer class, or mean count."""


def cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every statement by its name."""
    for model in MODELS:
        for signal in (23.0, 27.0, 90.0, 110.0, 130.0, 180.0, 220.0, 400.0):
            for width in (3, 9, 12, 16):
                yield _named(model, signal, width, {})
        for noise in NOISES:
            curvature = {"curvature_noise": noise * 0.2 / np.sqrt(2 * 4)}
            yield _named(model, 400.0, 4, curvature)
        for level in LEVELS:
            yield _named(model, 110.0, 4, {"level": level})
        for dispersion in (0.1, 0.18, 0.22, 1.0):
            for signal in (150.0, 180.0, 220.0, 250.0):
                yield _named(model, signal, 4, {"dispersion": dispersion, "level": 5.0})
        for flag in ("lifted", "capped", "far", "rare"):
            yield _named(model, 400.0, 4, {flag: True})
        for total in (0.05, 0.09, 0.11, 0.2):
            yield _named(model, 4000.0, 4, {}, total)


def _named(
    model: str, signal: float, width: int, numbers: Mapping[str, Any], total: float | None = None
) -> tuple[str, Callable[[], Any]]:
    said = " ".join(f"{name}={value:.4g}" for name, value in numbers.items())
    counted = "" if total is None else f" total={total:g}"
    name = f"{model} signal={signal:g} d={width} {said}{counted}".strip()
    return name, partial(_release, model, signal, width, numbers, total)


def _release(
    model: str, signal: float, width: int, numbers: Mapping[str, Any], total: float | None
) -> Release:
    factory, own = MODELS[model]
    budget = Budget(mu=1.0, delta=1e-6)
    estimator = factory(budget=budget, bounds=(-1, 1), inference=True, **own)
    plan = estimator.plan(round(signal * width), width - 1)
    if total is not None:
        plan = dataclasses.replace(plan, total=total * plan.records)
    matrix = 0.2 * np.eye(width)
    sandwich = Sandwich(
        curvature=matrix,
        score=matrix,
        to_user=np.eye(width),
        lifted=False,
        capped=False,
        step_noise=0.01,
        curvature_noise=0.001,
        score_noise=0.02,
        level=0.5,
    )
    sandwich = dataclasses.replace(sandwich, **numbers)
    return Release(plan, np.linspace(-1.0, 1.0, width), sandwich=sandwich)


def described(make: Callable[[], Release]) -> dict[str, Any]:
    """The statement of a release, and whether intervals are offered."""
    release = make()
    assert release.sandwich is not None
    judgement = judge(release, release.sandwich)
    return {
        **dataclasses.asdict(judgement),
        "safe": bool(judgement.safe),
        "not offered": not_offered(release.plan),
    }
