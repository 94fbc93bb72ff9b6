import mpmath
import numpy as np
import pytest
from scipy import special

from tacit.accounting.pld.pairs.pair import tail_error


def test_normal_tails_are_within_their_error() -> None:
    points = np.concatenate([np.linspace(-8.0, 37.0, 400), [1e-9, 0.5, 1.0]])
    tails = special.ndtr(-points)
    errors = tail_error(tails)
    with mpmath.workdps(60):
        for point, tail, error in zip(points, tails, errors, strict=True):
            exact = mpmath.erfc(mpmath.mpf(float(point)) / mpmath.sqrt(2)) / 2
            # A quarter of the error is kept for the sums and products around a tail.
            assert abs(mpmath.mpf(float(tail)) - exact) <= 0.75 * float(error)


def test_a_single_precision_tail_would_be_noticed() -> None:
    tail = float(np.float32(special.ndtr(-3.0)))
    assert abs(tail - special.ndtr(-3.0)) > 1e3 * tail_error(np.array([tail]))[0]


@pytest.mark.parametrize("tail", [0.0, 1e-320, 1.0])
def test_error_is_finite_everywhere(tail: float) -> None:
    assert 0.0 <= tail_error(np.array([tail]))[0] < 1e-13
