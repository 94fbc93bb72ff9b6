"""Five faults that other libraries shipped, seeded into Tacit: the audit refutes each, and not the sound mechanism.

All at confidence 1 - 1e-6: a sound mechanism is refuted by chance with at most this probability. 10,000 runs a world
for single answers; fewer where a run is a minimisation or a whole fit.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit import audit
from tacit.contract import sensitivity
from tacit.mechanisms import gaussian_sum, gradient, laplace_sum, objective_perturbation
from tacit.mechanisms.certified_minimum import Objective
from tacit.noise.gaussian import rounded_gaussian
from tacit.noise.laplace import discrete_laplace

RARE = 1e-6
RUNS = 10_000
BATCH = 2
EPSILON = 0.5
"""Of pure noise: its inverse is four times as large."""


def refuted(name: str, mu: float, runs: int = RUNS) -> bool:
    return audit.run(name, mu=mu, runs=runs, confidence=1 - RARE).refuted


def halve_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half the noise that is paid for."""
    monkeypatch.setattr(
        gaussian_sum, "rounded_gaussian", lambda size, bits, entropy: rounded_gaussian(size, bits - 1, entropy)
    )


def leave_rows_unclipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gradient of up to four times the clip is added as it is."""
    sound = gradient.gradients
    monkeypatch.setattr(
        gradient,
        "gradients",
        lambda layout, query, bound: sound(layout, replace(query, clip=4 * query.clip), 4 * bound),
    )


def forget_the_intercept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ridge of a perturbed objective leaves the intercept almost free: only a millionth of it is left there."""

    def minimum(objective: Objective) -> NDArray[np.float64]:
        lost = np.zeros(objective.store.width)
        lost[-1] = objective.ridge * (1 - 1e-6)
        theta = np.zeros(objective.store.width)
        for _ in range(400):
            slope = np.array([float(entry) for entry in objective.gradient(theta)]) - lost * theta
            curvature = objective.curvature(theta) - np.diag(lost)
            # Shortened steps: far out the curvature is small, and full ones would overshoot.
            step = np.linalg.solve(curvature, slope)
            length, reach = float(np.linalg.norm(step)), 1.0 + float(np.linalg.norm(theta))
            theta = theta - step * min(1.0, reach / max(length, 1e-12))
            if length < 1e-9 * reach:
                break
        return theta

    monkeypatch.setattr(objective_perturbation, "find_minimum", minimum)


def shrink_sensitivity(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sensitivity is divided by a batch size, as if a sum were a mean over the batch."""
    sound = sensitivity.squared_sensitivity

    def shrunk(*given: Any, **named: Any) -> Fraction:
        return Fraction(sound(*given, **named), BATCH**2)

    monkeypatch.setattr(sensitivity, "squared_sensitivity", shrunk)


def invert_laplace_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise of scale ε for sums of sensitivity 1, in the place of 1/ε."""
    monkeypatch.setattr(
        laplace_sum,
        "discrete_laplace",
        lambda size, scale, entropy: discrete_laplace(size, Fraction(scale) * Fraction(EPSILON) ** 2, entropy),
    )


FAULTS = {
    "half noise": (halve_noise, "GradientSum", 1.0),
    "half noise in moments": (halve_noise, "SecondMoments", 1.0),
    "half noise in counts": (halve_noise, "ColumnCounts:add-remove", 1.0),
    "unclipped row": (leave_rows_unclipped, "GradientSum", 1.0),
    "unregularised intercept": (forget_the_intercept, "PerturbedMinimum:zero-out", 0.5),
    "batch-shrunk sensitivity": (shrink_sensitivity, "GradientSum", 1.0),
    "batch-shrunk sensitivity of means": (shrink_sensitivity, "BoundedSums", 1.0),
    "inverted Laplace scale": (invert_laplace_scale, "GradientSum:pure", EPSILON),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_seeded_fault_is_refuted_and_the_sound_mechanism_is_not(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seed, name, mu = FAULTS[fault]
    # A minimum is computed anew in every run, and a third of the runs are enough.
    runs = 3000 if name.startswith("PerturbedMinimum") else RUNS
    assert not refuted(name, mu, runs)
    seed(monkeypatch)
    assert refuted(name, mu, runs)


def test_half_noise_is_refuted_by_the_coefficients_of_an_estimator(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 fits a world."""
    assert not refuted("LogisticRegression", 1.0, 1000)
    halve_noise(monkeypatch)
    assert refuted("LogisticRegression", 1.0, 1000)


def test_half_noise_is_refuted_by_the_answers_of_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 runs a world."""
    assert not refuted("mean", 1.0, 1000)
    halve_noise(monkeypatch)
    assert refuted("mean", 1.0, 1000)


@pytest.mark.parametrize("fault", [leave_rows_unclipped, shrink_sensitivity])
def test_replayed_transcripts_show_sums_that_move_too_far(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "whitened-gradient" if fault is leave_rows_unclipped else "gradient"
    assert audit.replay(name, pairs=5).exceeded == 0
    fault(monkeypatch)
    found = audit.replay(name, pairs=5)
    assert found.refuted
    assert found.largest_query_share > 1
    assert math.isfinite(found.largest_share)
