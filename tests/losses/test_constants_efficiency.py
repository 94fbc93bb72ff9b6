"""What a smooth Huber score of normal errors comes to, against mpmath's integrals."""

import math

import mpmath
import pytest

from tacit.losses.constants import SMALLEST, best_threshold, expected_curvature, variance


@pytest.mark.parametrize("threshold", [0.4, 1.345, 5.0])
def test_means_are_integrals(threshold: float) -> None:
    def root(z: mpmath.mpf) -> mpmath.mpf:
        return mpmath.sqrt(1 + 4 * (z / threshold) ** 2)

    ends = [-9, 0, 9]
    bend = mpmath.quad(lambda z: mpmath.npdf(z) * 2 / (root(z) * (1 + root(z))), ends)
    square = mpmath.quad(lambda z: mpmath.npdf(z) * (2 * z / (1 + root(z))) ** 2, ends)
    assert expected_curvature(threshold) == pytest.approx(float(bend), rel=1e-6)
    expected = (float(square) + 0.7 * threshold**2) / float(bend) ** 2
    assert variance(threshold, 0.7) == pytest.approx(expected, rel=1e-6)


def test_noise_alone_leaves_that_of_a_median() -> None:
    assert math.sqrt(variance(0.05, 1e9) / 1e9) == pytest.approx(math.sqrt(math.pi / 2), rel=0.05)


def test_the_threshold_falls_with_noise() -> None:
    found = [best_threshold(noise, 1.345) for noise in (0.0, 0.03, 0.085, 100.0)]
    assert found == sorted(found, reverse=True)
    assert found[0] == 1.345
    assert found[-1] == pytest.approx(SMALLEST * 1.345)
