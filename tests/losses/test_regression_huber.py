"""Huber's loss against its piecewise formula."""

from typing import Any

import pytest

from tacit.losses import regression
from tests.losses.loss_identities import Case, check_constants, check_degree, check_derivatives, check_signs


def case(threshold: float) -> Case:
    def formula(z: Any, y: float) -> Any:
        r = abs(z - y)
        return r**2 / 2 if r <= threshold else threshold * r - threshold**2 / 2

    def kinks(y: float) -> tuple[float, ...]:
        return (y - threshold, y + threshold)

    return Case(regression.huber(threshold), formula, (-0.7, 0.0, 1.3), kinks)


@pytest.mark.parametrize("threshold", [regression.EFFICIENT, 0.1, 3.0])
def test_identities(threshold: float) -> None:
    check_derivatives(case(threshold))
    check_constants(case(threshold))
    check_signs(case(threshold))
    check_degree(case(threshold), lambda c: regression.huber(c * threshold))
