"""Langevin draws: near the posterior, behind `certified=False`, with no ε and no place in a ledger."""

import math

import numpy as np
import pytest

import tacit
from tacit.errors import SettingError, TacitError

X = np.linspace(-1, 1, 400).reshape(-1, 1)
Y = X[:, 0] > 0.2
INF = float("inf")


def model(**settings: object) -> tacit.LogisticRegression:
    draw = tacit.Langevin(mu=1.0, certified=False, **settings)  # type: ignore[arg-type]
    return tacit.LogisticRegression(epsilon=INF, bounds=(-1, 1), classes=[False, True], solver=draw)


def test_nobody_certifies_it() -> None:
    for certified in ({}, {"certified": True}):
        with pytest.raises(SettingError, match="certified=False"):
            tacit.Langevin(mu=1.0, **certified)
    for wrong in ({"mu": 0.0}, {"mu": 1.0, "steps": 0}):
        with pytest.raises(SettingError):
            tacit.Langevin(certified=False, **wrong)  # type: ignore[arg-type]


def test_no_epsilon_is_stated_and_a_ledger_refuses_it() -> None:
    fitted = model(steps=50, random_state=1).fit(X, Y)
    assert not fitted.certificate_.private
    assert fitted.certificate_.document["solver"] == "own: langevin"
    with pytest.raises(SettingError, match="No ε can be stated"):
        model().set_params(epsilon=1.0, delta=1e-6).fit(X, Y)
    with tacit.Ledger(budget=tacit.Budget(epsilon=1.0, delta=1e-6), law="rdp") as ledger, pytest.raises(TacitError):
        model(steps=50).fit(X, Y)
    assert not ledger.charges()


def test_losses_without_a_bounded_curvature_and_several_classes_are_refused() -> None:
    draw = tacit.Langevin(mu=1.0, certified=False)
    several = tacit.LogisticRegression(epsilon=INF, bounds=(-1, 1), classes=[0, 1, 2], solver=draw)
    with pytest.raises(SettingError, match="one linear predictor"):
        several.plan(100, 1)


def test_draws_have_the_moments_of_the_posterior() -> None:
    """400 walks; mean and deviation of each coefficient against quadrature, 6 standard errors: 1e-6 in all.

    The bias of the steps is of order h·β, far below that. Shown to fail with a ridge of four times the size.
    """
    draws = np.array([model(steps=150, random_state=seed).fit(X, Y).release_.theta for seed in range(400)])
    sides = np.linspace(-8, 8, 161)
    grid = np.stack(np.meshgrid(sides, sides, indexing="ij"), axis=-1).reshape(-1, 2)
    margins = grid @ np.column_stack([X[:, 0], np.ones(len(X))]).T
    energy = np.sum(np.logaddexp(0, margins) - Y * margins, axis=1)
    # Replace-one, rows of norm √2 and slopes of at most 1.
    energy += (2 * math.sqrt(2)) ** 2 / 2 * np.sum(grid**2, axis=1)
    weight = np.exp(energy.min() - energy)
    weight /= weight.sum()
    mean = weight @ grid
    deviation = np.sqrt(weight @ (grid - mean) ** 2)
    assert np.abs(draws.mean(axis=0) - mean).max() < 6 * deviation.max() / math.sqrt(400)
    assert np.abs(draws.std(axis=0) / deviation - 1).max() < 6 / math.sqrt(800) + 0.05
