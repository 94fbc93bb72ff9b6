"""The smooth Huber loss against the published form of Ostrovskii and Bach."""

from typing import Any

import mpmath
import pytest

from tacit.losses import regression
from tests.losses.loss_identities import (
    Case,
    check_constants,
    check_degree,
    check_derivatives,
    check_self_concordance,
    check_signs,
)


def case(threshold: float) -> Case:
    def formula(z: Any, y: float) -> Any:
        v = (z - y) / threshold
        if v == 0:
            return v
        q = mpmath.sqrt(1 + 4 * v**2)
        return mpmath.mpf(threshold) ** 2 / 2 * (q - 1 + mpmath.log((q - 1) / (2 * v**2)))

    labels = (-0.7, 0.0, 1.3)
    return Case(regression.smooth_huber(threshold), formula, labels, extremes=(*labels, -1e7, 1e7, 1e300))


@pytest.mark.parametrize("threshold", [0.5, 1.345, 3.0])
def test_identities(threshold: float) -> None:
    check_derivatives(case(threshold))
    check_constants(case(threshold))
    check_signs(case(threshold))
    check_degree(case(threshold), lambda c: regression.smooth_huber(c * threshold))


def test_self_concordance() -> None:
    check_self_concordance(case(1.345), (-400.0, 400.0))
