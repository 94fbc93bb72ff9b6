"""The capped Poisson loss against e^z - y z, continued along its tangent."""

import math
from typing import Any

import mpmath
import pytest

from tacit.losses import poisson
from tests.losses.loss_identities import Case, check_constants, check_derivatives, check_self_concordance, check_signs


def case(cap: float, largest: float) -> Case:
    def formula(z: Any, y: float) -> Any:
        low = min(z, mpmath.mpf(cap))
        return mpmath.exp(low) * (1 + z - low) - y * z

    labels = (0.0, 1.0, largest)
    return Case(poisson.loss(cap, largest), formula, labels, lambda _: (cap,), extremes=(-1e3, 1e300))


@pytest.mark.parametrize(("cap", "largest"), [(2.0, 5.0), (0.5, 20.0), (1.5, 3.0)])
def test_identities(cap: float, largest: float) -> None:
    check_derivatives(case(cap, largest))
    # The joint bound of 2 is attained where the cap, not the largest count, bounds the slope.
    steepest = max(math.exp(cap), largest)
    check_constants(case(cap, largest), joint=1 + (largest_at_cap(cap, largest) / steepest) ** 4)
    check_signs(case(cap, largest))


def largest_at_cap(cap: float, largest: float) -> float:
    """The largest |slope| at the cap, over the labels of a case."""
    return max(abs(math.exp(cap) - y) for y in (0.0, 1.0, largest))


def test_self_concordance() -> None:
    check_self_concordance(case(5.0, 20.0), (-4.0, 4.9))
