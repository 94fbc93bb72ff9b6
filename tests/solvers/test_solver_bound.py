"""The bounds on the excess loss hold where the excess can be computed exactly."""

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize

from tacit.solvers.solver import best_time, excess_bound


def exact_excess(
    curvatures: NDArray[np.float64], radius: float, noise: float, step: float, steps: int, tail: bool
) -> float:
    """Expected excess of the averaged iterates on ½ Σ c_j (θ_j - θ*_j)², all R in each direction.

    θ_t - θ* = (1 - ηc)^t (θ_0 - θ*) - η Σ_s (1 - ηc)^(t-s) noise_s; the average is linear in both.
    Noise of a step has variance T·c² (the budget is shared by T steps).
    """
    times = np.arange(1, steps + 1)
    chosen = times[steps // 2 :] if tail else times
    excess = 0.0
    for curvature in curvatures:
        shrink = 1 - step * curvature
        bias = np.mean(shrink**chosen) * radius / np.sqrt(len(curvatures))
        powers = np.where(chosen[:, None] >= times, shrink ** np.maximum(chosen[:, None] - times, 0), 0.0)
        weights = -step * powers.mean(axis=0)
        variance = np.sum(weights**2) * steps * noise**2
        excess += curvature / 2 * (bias**2 + variance)
    return float(excess)


@pytest.mark.parametrize("output", ["average", "tail"])
@pytest.mark.parametrize("smoothness", [0.25, 2.0])
def test_the_bound_is_above_the_exact_excess_of_quadratics(output: str, smoothness: float) -> None:
    grid = itertools.product((1, 2, 10, 101), (0.1, 0.5, 1.0), (0.01, 1.0, 50.0), (1e-4, 0.1, 3.0))
    for steps, share, radius, per_unit in grid:
        noise = per_unit
        step = share / smoothness
        bound = excess_bound(
            noise, 3, radius=radius, time=step * steps, step_size=step, smoothness=smoothness, output=output
        )
        assert bound is not None
        for worst in (smoothness, smoothness / steps, 1e-3 * smoothness):
            curvatures = np.array([worst, smoothness, worst])
            exact = exact_excess(curvatures, radius, noise, step, steps, output == "tail")
            assert exact <= bound * (1 + 1e-12)


def test_the_last_iterate_has_no_bound() -> None:
    noise = 0.1
    settings: dict[str, Any] = {"radius": 1.0, "time": 4.0, "step_size": 1.0, "smoothness": 0.25}
    assert excess_bound(noise, 3, **settings, output="last") is None


@pytest.mark.parametrize(("per_unit", "width", "radius"), [(1e-3, 4, 10.0), (0.5, 100, 0.1)])
def test_the_best_time_minimises_the_bound(per_unit: float, width: int, radius: float) -> None:
    noise = per_unit
    found = optimize.minimize_scalar(lambda t: radius**2 / (2 * np.exp(t)) + np.exp(t) * width * per_unit**2, tol=1e-12)
    assert best_time(noise, width, radius) == pytest.approx(np.exp(found.x), rel=1e-4)


def test_bounds_fall_with_the_noise() -> None:
    settings: dict[str, Any] = {"radius": 1.0, "time": 4.0, "step_size": 1.0, "smoothness": 0.25}
    values = [excess_bound(per_unit, 3, **settings, output="average") for per_unit in (1.0, 0.1, 0.01)]
    assert values == sorted(values, key=lambda value: -(value or 0.0))
