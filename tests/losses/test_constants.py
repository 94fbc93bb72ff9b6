"""Constants of bounded-influence losses, against maximisation and quadrature in numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, stats

from tacit.errors import SettingError
from tacit.losses import classification, poisson, regression
from tacit.losses.constants import efficiency, expected_square, influence, largest_at_zero, self_concordance
from tacit.losses.loss import Code, Loss

ROW_BOUND = 1.7
COUNTS = poisson.bounded(2.5, 0.5, 3.25)
BOUNDED = [
    pytest.param(regression.huber(1.345), (0.0,), id="huber"),
    pytest.param(regression.smooth_huber(1.345), (0.0,), id="smooth-huber"),
    pytest.param(classification.LOGISTIC, (0.0, 1.0), id="logistic"),
    pytest.param(COUNTS, (0.0, 1.0, 3.0, 4.0, 40.0), id="bounded-poisson"),
]


def derivatives(loss: Loss, z: np.ndarray, y: float) -> tuple[np.ndarray, np.ndarray]:
    """Slopes and curvatures of the library, not compiled: the switch would take long to build."""
    shape = np.array(loss.shape)
    threshold, highest = float(shape[0]), float(shape[1])
    forms: dict[Code, tuple[Callable[[float], float], Callable[[float], float]]] = {
        Code.LOGISTIC: (
            lambda m: classification.logistic_slope.py_func(m, y),
            classification.logistic_curvature.py_func,
        ),
        Code.HUBER: (
            lambda m: regression.huber_slope.py_func(m, y, threshold),
            lambda m: regression.huber_curvature.py_func(m, y, threshold),
        ),
        Code.SMOOTH_HUBER: (
            lambda m: regression.smooth_huber_slope.py_func(m, y, threshold),
            lambda m: regression.smooth_huber_curvature.py_func(m, y, threshold),
        ),
        Code.POISSON: (
            lambda m: poisson.slope.py_func(m, y, threshold, highest),
            lambda m: poisson.curvature.py_func(m, threshold, highest),
        ),
        Code.BOUNDED_POISSON: (
            lambda m: poisson.bounded_slope.py_func(m, y, shape),
            lambda m: poisson.bounded_curvature.py_func(m, y, shape),
        ),
    }
    slope, bend = forms[loss.code]
    margins = z.tolist()
    return np.array([slope(m) for m in margins]), np.array([bend(m) for m in margins])


@pytest.mark.parametrize(("loss", "labels"), BOUNDED)
def test_bounds_are_the_largest_pulls_of_a_record(loss: Loss, labels: tuple[float, ...]) -> None:
    # Rows of every length, margins of every size: the suprema of ‖w a x‖ and ‖w h x x'‖.
    margins = np.append(np.linspace(-9.0, 9.0, 1801), [0.0, 1e4, -1e4, math.log(3.25)])
    length = np.geomspace(0.1, 100.0, 401)
    weight = np.minimum(1.0, (ROW_BOUND / length) ** 2)
    found = influence(loss, ROW_BOUND)
    steepest = max(np.abs(derivatives(loss, margins, y)[0]).max() for y in labels)
    bent = max(derivatives(loss, margins, y)[1].max() for y in labels)
    score = float((weight * length).max() * steepest)
    curvature = float((weight * length**2).max() * bent)
    assert 0.98 * found.score < score <= found.score * (1 + 1e-12)
    assert 0.98 * found.curvature < curvature <= found.curvature * (1 + 1e-12)


@pytest.mark.parametrize("mean", [0.3, 2.4, 2.5, 20.0])
@pytest.mark.parametrize("dispersion", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("grown", [1.0, 1.3, 1.6])
def test_counts_stay_within_their_closed_bound(mean: float, dispersion: float, grown: float) -> None:
    top = mean * grown
    loss = poisson.bounded(mean, dispersion, top)
    # Just below the top the weight is still whole: there the slope is largest.
    margins = math.log(top) + np.linspace(-0.06, 0.06, 201)
    steepest = max(np.abs(derivatives(loss, margins, y)[0]).max() for y in (0.0, 500.0))
    bent = max(derivatives(loss, margins, y)[1].max() for y in np.rint(top + np.arange(-2.0, 3.0)))
    assert steepest <= loss.lipschitz <= poisson.slope_bound(dispersion, top)
    assert bent <= loss.smoothness
    if dispersion == 0.0:
        assert poisson.slope_bound(0.0, top) < 1.07 * steepest


@pytest.mark.parametrize(
    ("loss", "label"),
    [
        (classification.LOGISTIC, 1.0),
        (regression.smooth_huber(1.345), 0.0),
        (regression.smooth_huber(0.5), 0.0),
        (poisson.loss(20.0, 100.0), 3.0),
    ],
)
def test_self_concordance_is_the_smallest_constant(loss: Loss, label: float) -> None:
    known = self_concordance(loss)
    assert known is not None
    z = np.concatenate([np.linspace(-8.0, 8.0, 801), np.linspace(20.0, 400.0, 100) * loss.degree])
    step = 1e-4
    third = (derivatives(loss, z + step, label)[1] - derivatives(loss, z - step, label)[1]) / (2 * step)
    second = derivatives(loss, z, label)[1]
    usable = second > 1e-9
    ratio = np.abs(third[usable]) / second[usable] ** (known.power / 2)
    assert 0.99 * known.constant < ratio.max() < known.constant * (1 + 1e-4)


def test_losses_that_bend_abruptly_have_no_self_concordance() -> None:
    assert self_concordance(regression.huber(1.0)) is None
    assert self_concordance(COUNTS) is None
    known = self_concordance(regression.SQUARED)
    assert known is not None
    assert known.constant == 0.0


@pytest.mark.parametrize("threshold", [0.3, 1.345, 2.5])
def test_consistency_and_efficiency_against_quadrature(threshold: float) -> None:
    normal = stats.norm.pdf

    def mean(of: object) -> float:
        cuts = [-threshold, threshold]
        return float(integrate.quad(lambda r: of(r) * normal(r), -12, 12, points=cuts)[0])  # type: ignore[operator]

    assert expected_square(threshold) == pytest.approx(mean(lambda r: min(r * r, threshold**2)))
    kept = mean(lambda r: abs(r) < threshold)
    assert efficiency(threshold) == pytest.approx(kept**2 / expected_square(threshold))

    def smooth(r: float) -> float:
        return float(regression.smooth_huber_slope.py_func(r, 0.0, threshold))

    def bent(r: float) -> float:
        return float(regression.smooth_huber_curvature.py_func(r, 0.0, threshold))

    square = mean(lambda r: smooth(r) ** 2)
    assert efficiency(threshold, smooth=True) == pytest.approx(mean(bent) ** 2 / square)


def test_wide_thresholds_are_those_of_the_mean() -> None:
    assert expected_square(50.0) == pytest.approx(1.0)
    assert efficiency(50.0) == pytest.approx(1.0)
    assert efficiency(math.inf) == pytest.approx(1.0)


def test_influence_on_the_estimate_and_refusals() -> None:
    found = influence(regression.huber(1.345), 2.0)
    assert found.on_estimate(0.5) == pytest.approx(2 * 2.69)
    with pytest.raises(SettingError, match="least_curvature must be a positive finite number"):
        found.on_estimate(0.0)
    with pytest.raises(SettingError, match="no bound on its slope"):
        influence(regression.SQUARED, 1.0)
    with pytest.raises(SettingError, match="row_bound must be a positive finite number"):
        influence(classification.LOGISTIC, math.inf)
    with pytest.raises(SettingError, match="above 0"):
        efficiency(0.0)


@pytest.mark.parametrize(
    ("loss", "classes", "values"),
    [
        (classification.LOGISTIC, 1, [math.log(2)]),
        (classification.SOFTMAX, 5, [math.log(5)]),
        (classification.hinge(0.5), 1, [1.0]),
        (classification.hinge(3.0), 1, [16 / 12]),
        (regression.huber(2.0), 1, [0.5]),
        (regression.huber(0.25), 1, [0.25 - 0.03125]),
        (regression.pinball(0.8, 0.1), 1, [0.8, 0.2]),
    ],
)
def test_no_loss_at_margin_zero_is_larger(loss: Loss, classes: int, values: list[float]) -> None:
    """Values at the labels or at responses of ±1, where they are largest; the bound is within a tenth of them."""
    bound = largest_at_zero(loss, classes)
    assert max(values) <= bound * (1 + 1e-15)
    assert bound <= 1.11 * max(values)
    with pytest.raises(SettingError, match="no known bound"):
        largest_at_zero(regression.SQUARED)
