"""The softmax loss of K classes: derivatives of its value, and bounds that are attained."""

import math

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special

from tacit.losses import classification
from tools import loss_pictures

RNG = np.random.default_rng(3)


def exact(z: NDArray[np.float64], y: int) -> mpmath.mpf:
    return mpmath.log(mpmath.fsum(mpmath.exp(mpmath.mpf(float(each))) for each in z)) - float(z[y])


def values(z: NDArray[np.float64], y: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(special.logsumexp(z, axis=1) - np.take_along_axis(z, y[:, None], 1)[:, 0])


def value(z: NDArray[np.float64], y: int) -> float:
    return float(values(z[None], np.array([y]))[0])


def gradient(z: NDArray[np.float64], y: int) -> NDArray[np.float64]:
    return np.asarray(classification.softmax_probability(z[None])[0] - np.eye(len(z))[y])


def hessian(z: NDArray[np.float64]) -> NDArray[np.float64]:
    p = classification.softmax_probability(z[None])[0]
    return np.diag(p) - np.outer(p, p)


@pytest.mark.parametrize("classes", [2, 3, 5, 10])
def test_derivatives_are_those_of_the_value(classes: int) -> None:
    step = 1e-5
    for _ in range(5):
        z, y = 2 * RNG.normal(size=classes), int(RNG.integers(classes))
        assert value(z, y) == pytest.approx(float(exact(z, y)), rel=1e-13)
        by_value = [(value(z + step * e, y) - value(z - step * e, y)) / (2 * step) for e in np.eye(classes)]
        by_slope = [(gradient(z + step * e, y) - gradient(z - step * e, y)) / (2 * step) for e in np.eye(classes)]
        np.testing.assert_allclose(gradient(z, y), by_value, atol=1e-9)
        np.testing.assert_allclose(hessian(z), by_slope, atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3, 5, 10])
def test_constants_are_attained_and_never_exceeded(classes: int) -> None:
    far = np.full(classes, -800.0)
    wrong, even = far.copy(), far.copy()
    wrong[1], even[:2] = 800.0, 0.0
    tried = [10 ** RNG.uniform(-2, 2) * RNG.normal(size=classes) for _ in range(200)]
    norms = [np.linalg.norm(gradient(z, y)) for z in [*tried, wrong, even] for y in (0, 1)]
    eigenvalues = np.linalg.eigvalsh(np.array([hessian(z) for z in [*tried, wrong, even]]))
    assert max(norms) == pytest.approx(classification.SOFTMAX.lipschitz) == pytest.approx(math.sqrt(2))
    assert max(norms) <= classification.SOFTMAX.lipschitz * (1 + 1e-15)
    assert eigenvalues.max() == pytest.approx(classification.SOFTMAX.smoothness) == pytest.approx(0.5)
    assert eigenvalues.max() <= classification.SOFTMAX.smoothness * (1 + 1e-15)
    assert eigenvalues.min() >= -1e-15


def test_two_classes_are_the_logistic_loss() -> None:
    z = RNG.normal(size=(50, 2))
    y = RNG.integers(0, 2, 50)
    margin = z[:, 1] - z[:, 0]
    np.testing.assert_allclose(values(z, y), loss_pictures.value(classification.LOGISTIC, margin, y.astype(float)))
    np.testing.assert_allclose(classification.softmax_probability(z)[:, 1], classification.logistic_probability(margin))


def test_nothing_overflows() -> None:
    z = np.array([[8e307, -8e307, 0.0], [0.0, 0.0, 0.0]])
    assert np.isfinite(values(z, np.array([1, 2]))).all()
    np.testing.assert_allclose(classification.softmax_probability(z), [[1.0, 0.0, 0.0], [1 / 3] * 3])
