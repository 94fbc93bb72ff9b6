"""The path of a descent: what was spent rises to the whole, and its means are the outputs."""

import math
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.contract.path import Path
from tacit.errors import SettingError
from tacit.solvers import gradient

RNG = np.random.default_rng(3)
X = RNG.uniform(-2, 4, (3000, 2))
Y = (RNG.random(3000) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
WARDS = (X[:, 0] > 0).astype(int) + (X[:, 1] > 2)


def fitted(y: Any = Y, **settings: Any) -> Any:
    chosen = {"epsilon": 1.0, "bounds": (-2, 4), "solver": "gradient", "iterations": 9, "random_state": 1, **settings}
    return tacit.LogisticRegression(**chosen).fit(X, y)


@pytest.mark.parametrize("y", [Y, WARDS], ids=["two classes", "three"])
@pytest.mark.parametrize("output", ["last", "tail", "average"])
def test_the_means_of_the_path_are_the_outputs(output: str, y: Any) -> None:
    model = fitted(y, output=output)
    path = model.release_.path
    coefficients = model.release_.coefficients().T.ravel()
    np.testing.assert_allclose(getattr(path, output), coefficients, rtol=1e-12)
    assert (len(path), len(path.names)) == (9, len(coefficients))


def test_a_regression_is_on_the_scale_of_its_response() -> None:
    numbers = tacit.LinearRegression(
        epsilon=1.0, bounds=(-2, 4), y_bounds=(3, 9), clip=0.5, iterations=9, output="last", random_state=1
    ).fit(X, X[:, 0] + 5)
    np.testing.assert_allclose(numbers.release_.path.last[1:], numbers.coef_, rtol=1e-12)
    assert numbers.release_.path.last[0] == pytest.approx(numbers.intercept_)


@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
def test_what_was_spent_rises_to_the_whole(relation: str) -> None:
    model = fitted(relation=relation)
    path, total = model.release_.path, model.plan_.guarantee()
    assert (np.diff(path.mu) > 0).all()
    assert (np.diff(path.epsilon) > 0).all()
    assert path.mu[-1] == pytest.approx(total.mu, rel=1e-12)
    assert path.epsilon[-1] == pytest.approx(total.epsilon, rel=1e-6)
    np.testing.assert_allclose(path.mu**2, total.mu**2 * np.arange(1, 10) / 9, rtol=1e-12)


def test_without_noise_everything_is_told() -> None:
    path = Path(("a",), np.zeros((2, 1)), np.full(2, math.inf), 1e-6)
    assert np.isinf(path.epsilon).all()
    assert np.isinf(Path(("a",), np.zeros((2, 1)), np.ones(2), None).epsilon).all()


def test_a_path_that_is_too_long_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradient, "LARGEST_PATH", 9 * 3 - 1)
    with pytest.raises(SettingError, match="short enough"):
        _ = fitted().release_.path


def test_other_solvers_keep_none() -> None:
    with pytest.raises(SettingError, match="keeps no path"):
        _ = fitted(solver="whitened-gradient").release_.path
