"""Vectors of Gamma norm and uniform direction. Oracle: scipy's laws; each check alarms below 1e-6."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tacit.errors import SettingError
from tacit.noise.entropy import SeededEntropy, SystemEntropy
from tacit.noise.gamma_direction import gamma_directions

FALSE_ALARM = 1e-6
DRAWS = 100_000


def norm_check(drawn: NDArray[np.float64], scale: float) -> float:
    """Kolmogorov-Smirnov test of the norms."""
    law = stats.gamma(drawn.shape[1], scale=scale)
    return float(stats.kstest(np.linalg.norm(drawn, axis=1), law.cdf).pvalue)


def direction_check(drawn: NDArray[np.float64], _scale: float) -> float:
    """Kolmogorov-Smirnov tests of the first and the last coordinate of the direction; the lesser, doubled."""
    unit = drawn / np.linalg.norm(drawn, axis=1)[:, np.newaxis]
    if drawn.shape[1] == 1:
        return float(stats.binomtest(int((unit > 0).sum()), len(unit)).pvalue)
    law = stats.beta((drawn.shape[1] - 1) / 2, (drawn.shape[1] - 1) / 2, loc=-1, scale=2)
    return 2 * min(float(stats.kstest(unit[:, column], law.cdf).pvalue) for column in (0, -1))


def independence_check(drawn: NDArray[np.float64], _scale: float) -> float:
    """Spearman correlation of norm and first coordinate of the direction, and of neighbours; the lesser, doubled."""
    norms = np.linalg.norm(drawn, axis=1)
    first = np.abs(drawn[:, 0]) / norms
    return 2 * min(
        float(stats.spearmanr(norms, first).pvalue) if drawn.shape[1] > 1 else 1.0,
        float(stats.spearmanr(norms[1:], norms[:-1]).pvalue),
    )


CHECKS = (norm_check, direction_check, independence_check)


@pytest.mark.parametrize(("width", "scale"), [(1, 1.0), (2, 1e-9), (5, 3.0), (60, 1e12)])
def test_t17_law(width: int, scale: float) -> None:
    """n = 100 000; false alarm 1e-6 over the three checks."""
    drawn = gamma_directions(DRAWS, width, scale, SeededEntropy(width))
    assert min(check(drawn, scale) for check in CHECKS) > FALSE_ALARM / len(CHECKS)


def test_one_coordinate_is_the_laplace_law() -> None:
    """n = 100 000, Kolmogorov-Smirnov at 1e-6."""
    drawn = gamma_directions(DRAWS, 1, 2.0, SeededEntropy(7))[:, 0]
    assert stats.kstest(drawn, stats.laplace(scale=2.0).cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("fault", ["inverted", "one short", "cube", "shared"])
def test_t18_the_checks_reject_broken_samplers(fault: str) -> None:
    """n = 100 000 at width 5 and scale 3, where the true sampler passes."""
    drawn = gamma_directions(DRAWS, 5, 1 / 3 if fault == "inverted" else 3.0, SeededEntropy(8))
    if fault == "one short":
        drawn *= (np.linalg.norm(gamma_directions(DRAWS, 4, 3.0, SeededEntropy(9)), axis=1))[:, np.newaxis]
        drawn /= np.linalg.norm(gamma_directions(DRAWS, 5, 3.0, SeededEntropy(8)), axis=1)[:, np.newaxis]
    if fault == "cube":
        corner = np.random.default_rng(0).uniform(-1, 1, drawn.shape)
        drawn = corner * (np.linalg.norm(drawn, axis=1) / np.linalg.norm(corner, axis=1))[:, np.newaxis]
    if fault == "shared":
        drawn[1::2] = drawn[::2]
    assert min(check(drawn, 3.0) for check in CHECKS) < FALSE_ALARM


def test_seeded_draws_repeat_and_system_draws_do_not() -> None:
    first, second = (gamma_directions(3, 4, 1.0, SeededEntropy(1)) for _ in range(2))
    assert np.array_equal(first, second)
    fresh = [gamma_directions(3, 4, 1.0, SystemEntropy()) for _ in range(2)]
    assert not np.isin(fresh[0], fresh[1]).any()
    assert gamma_directions(0, 4, 1.0, SystemEntropy()).shape == (0, 4)


@pytest.mark.parametrize(
    ("count", "width", "scale"), [(-1, 1, 1.0), (1, 0, 1.0), (1, 1, 0.0), (1, 1, float("inf")), (1, 1, float("nan"))]
)
def test_settings_out_of_range_are_refused(count: int, width: int, scale: float) -> None:
    with pytest.raises(SettingError):
        gamma_directions(count, width, scale, SystemEntropy())
